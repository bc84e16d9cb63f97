package screen

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
)

// Bounds of the queues between those who tell and the drawing.
const (
	pointsWaiting   = 256
	rowsWaiting     = 1024
	findingsWaiting = 64
)

// feed is what was told and not yet drawn. Nothing here waits: what is one value
// is a pointer that is swapped, what is a sequence is a queue that loses its
// oldest.
type feed struct {
	trials   atomic.Int64
	trial    atomic.Pointer[begun]
	phase    atomic.Pointer[string]
	live     atomic.Pointer[[]result.Observed]
	points   chan point
	rows     chan row
	findings chan told
}

// begun is a trial that has begun; order counts them.
type begun struct {
	order      int64
	number, of int
	trial      plan.Trial
}

// point is an interval of a load, reduced to what is drawn.
type point struct {
	of              *begun  // nil for a single load
	at, length      float64 // seconds; at is the end, from the start of the load
	warm, drain     bool
	rate, errors    float64 // per second
	p50, p99, most  float64 // response, µs
	lag             float64 // p99, µs
	received        float64 // bytes per second
	busy            float64
	flight          int64
	open            int
	asked           int64
	completed, fail int64
	elapsed, total  time.Duration
}

// row is a finished trial.
type row struct {
	number, block       int
	variant, error      string
	verdict             result.Verdict
	rate, p50, p99, top float64
	failed              int64
	failures            string
	limit, limitLong    string // in a few words, and how it showed
}

// told is a finding with the trial it fired in.
type told struct {
	of *begun
	result.Finding
}

func newFeed() *feed {
	return &feed{points: make(chan point, pointsWaiting), rows: make(chan row, rowsWaiting), findings: make(chan told, findingsWaiting)}
}

// push puts a value into a queue and drops the oldest of a full one. Against
// others who do the same it gives up after some attempts.
func push[T any](queue chan T, value T) {
	for range 8 {
		select {
		case queue <- value:
			return
		default:
		}
		select {
		case <-queue:
		default:
		}
	}
}

func (f *feed) begin(number, of int, t plan.Trial) {
	f.phase.Store(nil)
	f.trial.Store(&begun{f.trials.Add(1), number, of, t})
}

func (f *feed) progress(p result.Progress, busy float64) {
	iv := &p.Interval
	q := point{of: f.trial.Load(), at: p.Elapsed.Seconds(), length: max(iv.LengthUS, 0) / 1e6, warm: iv.Warmup, drain: iv.Drain,
		p50: iv.Response.P50(), p99: iv.Response.P99(), most: iv.Response.Max(), lag: iv.Lag.P99(), busy: busy,
		flight: iv.InFlight, open: p.Open, asked: p.Asked, completed: p.Completed, fail: p.Failed, elapsed: p.Elapsed, total: p.Total}
	if q.length > 0 {
		q.rate, q.errors, q.received = float64(iv.Completed)/q.length, float64(iv.Failed)/q.length, float64(iv.BytesIn)/q.length
	}
	push(f.points, q)
}

func (f *feed) finding(one result.Finding) { push(f.findings, told{f.trial.Load(), one}) }

func (f *feed) finished(t result.Trial) {
	r := row{number: t.Number, block: t.Block, variant: t.Variant, error: t.Error, verdict: t.Validity.Verdict, rate: t.Load.Rate,
		failed: t.Load.Requests.Failed, failures: kinds(t.Load.Failures)}
	if h := t.Load.Latency.Response; !h.Empty() {
		v := h.Values([]hdr.Quantile{hdr.P50, hdr.P99})
		r.p50, r.p99, r.top = float64(v[0])/1e3, float64(v[1])/1e3, float64(h.Max())/1e3
	}
	if t.Bottleneck != nil {
		r.limit, r.limitLong = t.Bottleneck.Short(), t.Bottleneck.Message
	}
	push(f.rows, r)
}

// kinds lists the failures, most frequent first; the set of kinds is closed and
// small.
func kinds(failures map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(failures), func(a, b string) int {
		return cmp.Or(cmp.Compare(failures[b], failures[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, name := range names[:min(len(names), 8)] {
		if n := failures[name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", name, n))
		}
	}
	return strings.Join(parts, ", ")
}
