package generator

import (
	"fmt"
	"maps"
	"math"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"prony/internal/audit"
	"prony/internal/plan"
	"prony/internal/result"
)

// measured is what a program printed, on its way into a result.
type measured struct {
	Program
	l       plan.Load
	b       audit.Block
	e       ending
	text    string
	version string
}

// load is the result. What the program did not print stays empty: its zero is
// not a measurement, and With says whose it is.
func (m measured) load() *result.Load {
	window := m.e.at
	if m.Can.OwnWarmup {
		window = window.Add(m.l.Warmup)
	}
	r := &result.Load{Name: m.l.Name, Model: string(m.l.Model), Protocol: "http/1.1", Engine: m.Name, EngineReason: m.version, With: m.Name,
		Threads: int(m.b.Threads.V), StartedUS: window.UnixMicro(), DurationUS: m.duration(), WarmupUS: float64(m.l.Warmup.Microseconds()),
		Failures: map[string]int64{}, Statuses: map[string]int64{}, Rate: m.b.Rate.V, SendGapKS: -1, Intervals: []result.Interval{},
		Loopback: loopback(m.l.Requests[0].URL), Printed: m.printed(), Output: m.text}
	if m.Can.HTTP10 {
		r.Protocol = "http/1.0"
	}
	if m.Name == "ab" {
		r.Threads = 1
	}
	r.Connections.Asked = m.l.Connections
	if m.l.Arrivals.Open() {
		rate := m.l.Arrivals.Segments[0].From
		r.OfferedRate = &rate
	}
	for code, n := range m.b.Statuses {
		if code != "0" && code != "others" { // no answer at all
			r.Statuses[code] = n
		}
	}
	switch n := int64(m.b.Bytes.V); m.b.BytesAre {
	case "wire":
		r.BytesIn = n
	case "body":
		r.BodyBytes = n
	}
	r.PerThreadRate = moments(m.b.ThreadRate)
	m.ledger(r)
	r.EndedBy = m.endedBy(r)
	return r
}

// duration is how long the window was, in microseconds: as printed, or by the
// count over the rate where that has more digits. bombardier's rate is no such
// quotient, and h2load's printed time holds its warm-up.
func (m measured) duration() float64 {
	b := m.b
	printed := b.DurationPrinted.Known && !m.Can.OwnWarmup
	switch {
	case printed && b.DurationPrinted.Half*finer < b.DurationPrinted.V:
		return b.DurationPrinted.V
	case b.Rate.Known && b.Rate.V > 0 && b.Requests.V > 0 && m.Name != "bombardier":
		return b.Requests.V / b.Rate.V * 1e6
	case printed:
		return b.DurationPrinted.V
	case m.l.Count == 0 && !m.e.interrupted:
		return float64(m.l.Duration.Microseconds())
	}
	return float64(m.e.end.Sub(m.e.at).Microseconds())
}

// finer is by how much a printed time must exceed its last digit to be taken.
const finer = 5000

func (m measured) endedBy(r *result.Load) string {
	switch {
	case m.e.interrupted:
		return "interrupt"
	case m.e.late:
		return "stall"
	case m.l.Count > 0 && r.Requests.Unsent == 0:
		return "count"
	}
	return "duration"
}

// counted lists the kinds of errors that are among the requests of the tool; the
// others are failures beside them.
func counted(tool, kind string) bool {
	switch tool {
	case "wrk":
		return kind == "status" || kind == "timeout"
	case "oha":
		return kind != "cut off"
	}
	return true
}

// ledger puts the counts into the books, so that they balance. ab counts one
// request under several failures, so that no more of them can be failed than
// there were.
func (m measured) ledger(r *result.Load) {
	done := int64(m.b.Requests.V)
	bad, beside := int64(0), int64(0)
	for _, kind := range slices.Sorted(maps.Keys(m.b.Errors)) {
		switch n := m.b.Errors[kind]; {
		case kind == "cut off":
			r.Requests.CutOff += n
			continue
		case kind == "connect":
			r.Connections.Failed += n
		case counted(m.Name, kind):
			bad += n
		default:
			beside += n
		}
		m.fail(r, kind, m.b.Errors[kind])
	}
	if m.Name == "h2load" {
		m.statusesOfH2load(r)
	}
	bad = min(bad, done)
	q := &r.Requests
	q.Completed, q.Failed = done-bad, bad+beside
	q.Started = q.Completed + q.Failed + q.CutOff
	q.Asked = q.Started
	if m.l.Count > q.Asked {
		q.Unsent = m.l.Count - q.Asked
		q.Asked = m.l.Count
	}
	q.InWindow = q.Completed + min(r.Failures[result.HTTPStatus.String()], bad)
}

// fail counts failures under Prony's kinds; what the program called them is kept
// in the details.
func (m measured) fail(r *result.Load, kind string, n int64) {
	f := result.Failure{Kind: result.Other.String(), Phase: "wait", Count: n, Example: fmt.Sprintf("%s counted %d as %q", m.Name, n, kind)}
	switch kind {
	case "status":
		f.Kind, f.Phase = result.HTTPStatus.String(), "header"
	case "timeout":
		f.Kind = result.RequestTimeout.String()
	case "write":
		f.Kind, f.Phase = result.WriteFailed.String(), "write"
	case "connect":
		f.Kind, f.Phase = result.ConnectFailed.String(), "connect"
	}
	r.Failures[f.Kind] += n
	r.FailureDetails = append(r.FailureDetails, f)
}

// statusesOfH2load takes answers of 4xx and 5xx out of what h2load calls failed,
// where they are among the others.
func (m measured) statusesOfH2load(r *result.Load) {
	other := r.Failures[result.Other.String()]
	n := min(m.b.Statuses["4xx"]+m.b.Statuses["5xx"], other)
	if n == 0 {
		return
	}
	r.Failures[result.HTTPStatus.String()] += n
	if r.Failures[result.Other.String()] = other - n; other == n {
		delete(r.Failures, result.Other.String())
		r.FailureDetails = nil
	}
	r.FailureDetails = append(r.FailureDetails, result.Failure{Kind: result.HTTPStatus.String(), Phase: "header", Count: n,
		Example: fmt.Sprintf("h2load counted %d of 4xx and 5xx among the failed", n)})
}

// printed are the latencies as they were printed, in microseconds: mean, stdev,
// min, max, and p50 and so on. There are none without an answer.
func (m measured) printed() map[string]float64 {
	if m.b.Requests.V == 0 {
		return nil
	}
	all := map[string]float64{}
	put := func(name string, v audit.Value) {
		if v.Known {
			all[name] = v.V
		}
	}
	l := m.b.Latency
	put("mean", l.Mean)
	put("stdev", l.Stdev)
	put("min", l.Min)
	put("max", l.Max)
	for _, p := range l.Percentiles {
		put("p"+strconv.FormatFloat(math.Round(p.P*1e6)/1e4, 'f', -1, 64), p.Value)
	}
	return all
}

// moments are those of wrk's requests per second of a thread.
func moments(m audit.Moments) result.Moments {
	return result.Moments{Mean: m.Mean.V, StDev: m.Stdev.V, Max: m.Max.V, Within: m.Within.V}
}

// off is by which share figures that should agree may differ, for what wrk and
// Gatling round.
const off = 0.05

// doubts are what a reader of the figures has to know.
func (m measured) doubts() []string {
	var all []string
	say := func(is bool, format string, args ...any) {
		if is {
			all = append(all, fmt.Sprintf(format, args...))
		}
	}
	b := m.b
	say(m.Doubt != "", "%s", m.Doubt)
	say(m.e.killed, "%s did not end when it was interrupted and was killed", m.Name)
	say(m.e.late && !m.e.killed, "%s did not end in time and was interrupted", m.Name)
	say(m.e.code != 0 && !m.e.interrupted && !m.e.late, "%s ended with exit status %d", m.Name, m.e.code)
	say(b.Requests.V == 0, "%s got no answer", m.Name)
	say(b.Requests.V > 0 && b.Latency.Mean.Known && len(b.Latency.Percentiles) == 0, "%s printed no percentiles", m.Name)
	by := b.Requests.V / b.Rate.V * 1e6
	exact := b.Rate.V > 0 && b.DurationPrinted.V >= float64(time.Second.Microseconds()) && !(m.Can.OwnWarmup && m.l.Warmup > 0)
	say(exact && math.Abs(by/b.DurationPrinted.V-1) > off, "%s printed %.0f requests and %.2f/s, which are %.2f s, and a duration of %.2f s",
		m.Name, b.Requests.V, b.Rate.V, by/1e6, b.DurationPrinted.V/1e6)
	return append(all, b.Odd...)
}

// loopback reports whether an address is one of this machine.
func loopback(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	if strings.EqualFold(u.Hostname(), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.Unmap().IsLoopback()
}
