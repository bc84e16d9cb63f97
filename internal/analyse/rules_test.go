package analyse_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"prony/internal/analyse"
	"prony/internal/hdr"
	"prony/internal/result"
	"prony/internal/schedule"
)

// ruleCase is a run and what one rule makes of it.
type ruleCase struct {
	rule, name string
	base       func() *result.Run
	change     func(r *result.Run, l *result.Load, g *result.Generator)
	want       string // a severity, "not run", or "" for nothing
}

type (
	run  = *result.Run
	load = *result.Load
	gen  = *result.Generator
)

func unknown(key string) func(run, load, gen) {
	return func(_ run, _ load, g gen) { g.Unknown = append(g.Unknown, key) }
}

func same(run, load, gen) {}

func bookCases() []ruleCase {
	return []ruleCase{
		{"ledger", "balanced", closed, same, ""},
		{"ledger", "one request too many", closed, func(_ run, l load, _ gen) { l.Requests.Asked++ }, "invalid"},
		{"ledger", "an answer without a time", closed, func(_ run, l load, _ gen) { l.Latency.Response = times(79_999, 8*time.Millisecond) }, "invalid"},
		{"clock", "forward", closed, same, ""},
		{"clock", "backward once", closed, func(_ run, l load, _ gen) { l.Latency.Lag = times(1, -1) }, "invalid"},
		{"clock", "a slow one", closed, func(_ run, _ load, g gen) { g.ClockReadNS = 900 }, "note"},
		{"clock", "cost unread", closed, unknown("clock_read_ns"), "not run"},
		{"nothing-succeeded", "all failed", closed, func(r run, _ load, _ gen) { fail(r, "connect-refused", 80_000, time.Millisecond) }, "invalid"},
		{"nothing-succeeded", "one good answer", closed, func(r run, _ load, _ gen) { fail(r, "reset", 79_999, time.Millisecond) }, ""},
		{"nothing-succeeded", "nothing planned", closed, func(_ run, l load, _ gen) { l.Requests = result.Requests{} }, "invalid"},
		{"little", "exact", closed, same, ""},
		{"little", "1.5 % off", closed, func(_ run, l load, _ gen) { l.InFlight = 65 }, "note"},
		{"little", "10 % off", closed, func(_ run, l load, _ gen) { l.InFlight = 71 }, "invalid"},
		{"little", "not measured", closed, func(_ run, l load, _ gen) { l.InFlight = 0 }, "not run"},
		{"little", "never sent", closed, func(_ run, l load, _ gen) { l.Requests.Unsent, l.Requests.Asked = 5, 80_005 }, "not run"},
		{"little", "cut off after a stall", closed, stalledAtTheEnd, "note"},
		{"little", "slow across the end", closed, slowAcrossTheEnd, "note"},
		{"little", "stalled across the start", closed, stalledAtTheStart, "note"},
		{"impossible-rate", "at the bound", closed, same, ""},
		{"impossible-rate", "twice the bound", closed, func(_ run, l load, _ gen) { l.Rate = 16_000 }, "invalid"},
		{"impossible-rate", "twice, in a pipeline of two", closed, func(r run, l load, _ gen) { l.Rate = 16_000; r.Plan.Load.Pipeline = 2 }, ""},
		{"impossible-rate", "fast failures", closed, func(r run, l load, _ gen) { fail(r, "http-status", 8000, time.Microsecond); l.Rate = 16_000 }, ""},
		{"ended-early", "in time", closed, same, ""},
		{"ended-early", "interrupted", closed, func(_ run, l load, _ gen) { l.EndedBy = "interrupt" }, "note"},
		{"ended-early", "given up", closed, func(_ run, l load, _ gen) { l.EndedBy = "abort" }, "suspect"},
		{"overflow", "none", closed, same, ""},
		{"overflow", "two hours", closed, func(_ run, l load, _ gen) { l.Latency.Failed = times(1, 2*time.Hour) }, "note"},
		{"merged-intervals", "whole seconds", closed, same, ""},
		{"merged-intervals", "two in one", closed, func(_ run, l load, _ gen) { l.Intervals[3].LengthUS = 2e6 }, "note"},
		{"short-run", "ten seconds", closed, same, ""},
		{"short-run", "two seconds", closed, func(_ run, l load, _ gen) { l.DurationUS = 2e6 }, "note"},
		{"short-run", "few answers", closed, few(999), "note"},
		{"tail-samples", "enough for p99.9", open, same, "info"},
		{"tail-samples", "enough for p99.99", closed, func(_ run, l load, _ gen) { l.Latency.Response = times(100_000, time.Millisecond) }, ""},
		{"tail-samples", "too few for p99", closed, few(999), "note"},
		{"tail-samples", "just enough for p99", closed, few(1000), "info"},
	}
}

func few(n int64) func(run, load, gen) {
	return func(_ run, l load, _ gen) {
		l.Requests.Asked, l.Requests.Completed = n, n
		l.Latency.Response = times(n, time.Millisecond)
	}
}

// stalledAtTheEnd: the target stops answering 2 s before the end. 64 requests
// are cut off, and their 128 s are in no histogram.
func stalledAtTheEnd(_ run, l load, _ gen) {
	l.Requests.Asked, l.Requests.Completed, l.Requests.CutOff, l.Requests.CutOffOldestUS = 64_064, 64_000, 64, 3e6
	l.Latency.Response = times(64_000, 8*time.Millisecond)
}

// slowAcrossTheEnd: the last 64 requests take 2 s, one of which is behind the
// window; the 99th percentile knows nothing of them.
func slowAcrossTheEnd(_ run, l load, _ gen) {
	l.Requests.Asked, l.Requests.Completed = 72_064, 72_064
	l.Latency.Response = times(72_000, 8*time.Millisecond)
	l.Latency.Response.RecordN(int64(2*time.Second), 64)
}

// stalledAtTheStart: requests from the warm-up hold every connection for the
// first second.
func stalledAtTheStart(_ run, l load, _ gen) {
	l.Requests.Asked, l.Requests.Completed = 72_000, 72_000
	l.Latency.Response = times(72_000, 8*time.Millisecond)
	l.Intervals[0].Completed = 0
}

func paceCases() []ruleCase {
	ms := time.Millisecond
	dispatch := func(d time.Duration) func(run, load, gen) {
		return func(_ run, l load, _ gen) { l.Latency.Dispatch = times(10_000, d) }
	}
	seconds := func(n int, by int64) func(run, load, gen) {
		return func(_ run, l load, _ gen) {
			for i := range n {
				l.Intervals[i].Planned += by
			}
		}
	}
	ks := func(d float64) func(run, load, gen) { return func(_ run, l load, _ gen) { l.SendGapKS = d } }
	return []ruleCase{
		{"dispatch-lag", "closed", closed, same, ""},
		{"dispatch-lag", "at 5 % of the response", open, dispatch(400 * time.Microsecond), ""},
		{"dispatch-lag", "above", open, dispatch(420 * time.Microsecond), "suspect"},
		{"dispatch-lag", "four times that", open, dispatch(1700 * time.Microsecond), "invalid"},
		{"dispatch-lag", "a late tail only", open, func(_ run, l load, _ gen) {
			l.Latency.Dispatch = times(9_800, time.Microsecond)
			l.Latency.Dispatch.RecordN(int64(ms), 200)
		}, "suspect"},
		{"dispatch-lag", "not measured", open, func(_ run, l load, _ gen) { l.Latency.Dispatch = result.Histogram{} }, "not run"},
		{"dispatched", "all", open, same, ""},
		{"dispatched", "99.5 %", open, func(_ run, l load, _ gen) { l.Requests.Asked = 9950 }, "suspect"},
		{"dispatched", "98 %", open, func(_ run, l load, _ gen) { l.Requests.Asked = 9800 }, "invalid"},
		{"dispatched", "closed", closed, same, ""},
		{"dispatched", "random arrivals", poisson, same, "not run"},
		{"dispatched", "interrupted", open, func(_ run, l load, _ gen) { l.EndedBy = "interrupt" }, "not run"},
		{"dispatched", "no timetable", open, func(r run, _ load, _ gen) { r.Plan = nil }, "not run"},
		{"dispatch-seconds", "as planned", open, same, ""},
		{"dispatch-seconds", "5 % off in one", open, seconds(1, 50), ""},
		{"dispatch-seconds", "6 % off in one of ten", open, seconds(1, -60), "invalid"},
		{"dispatch-seconds", "a chance of Poisson", poisson, seconds(1, -120), ""},
		{"dispatch-seconds", "no chance of Poisson", poisson, seconds(1, -130), "invalid"},
		{"dispatch-seconds", "one of fifty", open, func(_ run, l load, _ gen) { stretch(l, 50); l.Intervals[7].Planned = 0 }, "suspect"},
		{"dispatch-seconds", "no intervals", open, func(_ run, l load, _ gen) { l.Intervals = nil }, "not run"},
		{"send-gaps", "exponential", poisson, same, ""},
		{"send-gaps", "rounded", poisson, ks(0.06), "suspect"},
		{"send-gaps", "regular", poisson, ks(0.63), "invalid"},
		{"send-gaps", "not measured", poisson, ks(-1), "not run"},
		{"send-gaps", "constant plan", open, ks(0.63), ""},
		{"send-gaps", "a ramp", poisson, func(r run, _ load, _ gen) {
			r.Plan.Load.Arrivals.Segments = schedule.Ramp(10, 20, time.Minute).Segments
		}, "not run"},
		{"rate-sustained", "met", open, same, ""},
		{"rate-sustained", "slow but steady", open, func(_ run, l load, _ gen) { grow(l, 2000, 0) }, ""},
		{"rate-sustained", "a growing queue", open, func(_ run, l load, _ gen) { grow(l, 0, 200) }, "suspect"},
		{"rate-sustained", "never sent", open, func(_ run, l load, _ gen) { l.Requests.Unsent = 3; l.Requests.Asked += 3 }, "suspect"},
		{"rate-sustained", "given up", open, func(_ run, l load, _ gen) { l.EndedBy = "overload" }, "suspect"},
		{"rate-sustained", "two seconds", open, func(_ run, l load, _ gen) { l.Intervals = l.Intervals[:2] }, "not run"},
		{"rate-sustained", "two seconds, a pile", open, func(_ run, l load, _ gen) { l.Intervals = l.Intervals[:2]; grow(l, 0, 300) }, "suspect"},
		{"rate-sustained", "two seconds, slow answers", open, func(_ run, l load, _ gen) {
			l.Intervals = l.Intervals[:2]
			l.Latency.Service = times(10_000, 600*time.Millisecond)
			grow(l, 0, 300)
		}, "not run"},
		{"rate-sustained", "rate unknown", open, func(_ run, l load, _ gen) { l.OfferedRate = nil }, "not run"},
		{"rate-sustained", "a ramp", open, func(_ run, l load, _ gen) {
			for i := range l.Intervals {
				l.Intervals[i].Planned, l.Intervals[i].InFlight = int64(100*(i+1)), int64(200*(i+1))
			}
		}, ""},
		{"client-wait", "none", open, same, ""},
		{"client-wait", "for a connection", open, func(_ run, l load, _ gen) { l.Latency.Lag = times(10_000, 5*ms) }, "note"},
		{"client-wait", "the generator's own", open, func(_ run, l load, _ gen) {
			l.Latency.Lag, l.Latency.Dispatch = times(10_000, 5*ms), times(10_000, 5*ms)
		}, ""},
	}
}

// stretch makes a run of so many seconds.
func stretch(l load, n int) {
	l.DurationUS = float64(n) * 1e6
	for i := len(l.Intervals); i < n; i++ {
		iv := l.Intervals[0]
		iv.StartUS = float64(i) * 1e6
		l.Intervals = append(l.Intervals, iv)
	}
}

// grow sets the requests in flight: so many at first, more with every second.
func grow(l load, first, more int64) {
	for i := range l.Intervals {
		l.Intervals[i].InFlight = first + more*int64(i+1)
	}
}

func TestRules(t *testing.T) {
	for _, c := range allCases() {
		t.Run(c.rule+"/"+c.name, func(t *testing.T) {
			r := c.base()
			c.change(r, &r.Load, &r.Generator)
			judge(r)
			if got := answer(r, c.rule); got != c.want {
				t.Errorf("got %q, want %q; findings: %+v; not run: %q", got, c.want, r.Validity.Findings, r.Validity.NotRun)
			}
			checkFindings(t, r)
		})
	}
}

// checkFindings holds every finding to the form that reports rely on.
func checkFindings(t *testing.T, r *result.Run) {
	t.Helper()
	worst := result.Valid
	for _, f := range r.Validity.Findings {
		if f.Message == "" || f.ID == "" || len(f.Evidence) == 0 || strings.Contains(f.Message, "%!") || strings.Contains(f.Message, "NaN") {
			t.Errorf("got finding %+v, want an id, evidence and a sentence", f)
		}
		checkFigures(t, f)
		if f.Severity == result.InvalidLevel {
			worst = result.Invalid
		}
		if f.Severity == result.SuspectLevel && worst == result.Valid {
			worst = result.Suspect
		}
	}
	if r.Validity.Verdict != worst {
		t.Errorf("got verdict %s, want %s by its findings", r.Validity.Verdict, worst)
	}
	if r.Validity.Verdict == result.Invalid && r.Bottleneck != nil && r.Bottleneck.Where != "generator" && r.Bottleneck.What != "foreign-cpu" {
		t.Errorf("got bottleneck %+v of an invalid result, want none but the generator", r.Bottleneck)
	}
}

// checkFigures wants numbers that JSON can hold, a place and a confidence.
func checkFigures(t *testing.T, f result.Finding) {
	t.Helper()
	for _, figures := range []map[string]float64{f.Evidence, f.Threshold} {
		for name, x := range figures {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("%s: got %g for %s, want a number", f.Rule, x, name)
			}
		}
	}
	if f.Where == "" || f.Confidence == "" {
		t.Errorf("%s: got where %q and confidence %q, want both", f.Rule, f.Where, f.Confidence)
	}
}

func allCases() []ruleCase {
	var all []ruleCase
	for _, cases := range [][]ruleCase{bookCases(), paceCases(), generatorCases(), hostCases(), answerCases(), connectionCases(),
		pathCases(), targetCases(), waitingCases()} {
		all = append(all, cases...)
	}
	return all
}

// TestEveryRuleHasCases guards the table: each rule must speak in some case and
// be silent in another, or say that it cannot run.
func TestEveryRuleHasCases(t *testing.T) {
	speaks, silent := map[string]bool{}, map[string]bool{}
	for _, c := range allCases() {
		if c.want == "" || c.want == "info" {
			silent[c.rule] = true
		} else {
			speaks[c.rule] = true
		}
	}
	for _, name := range analyse.RuleNames() {
		if (!speaks[name] || !silent[name]) && name != "waiting" { // it has its own tests, with other runs
			t.Errorf("rule %s: got speaks %t, silent %t, want a case of each", name, speaks[name], silent[name])
		}
	}
	if n := samplesBeyond(1000, hdr.P99); n != 10 {
		t.Errorf("got %d samples beyond p99 of 1000, want 10: the cases above count on it", n)
	}
}

func samplesBeyond(n int64, q hdr.Quantile) int64 { return q.Beyond(n) }
