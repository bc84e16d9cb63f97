package analyse

import (
	"fmt"
	"math"

	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
)

// never stands for a time that did not end, since JSON has no infinity: a
// failed request counts as infinitely slow.
const never = math.MaxFloat64

// expectations holds the plan's goals against the result. Actual is in the base
// unit of the goal: nanoseconds, a ratio, per second or a count.
//
// Percentiles of the response time, and its maximum, are those of all planned
// requests: "p99 < 50ms" means that 99 % of them were answered well within
// 50 ms, so that failed, cut off and unsent ones count as infinitely slow
// (method 1.4.5). A percentile with too few samples is not met, whatever it is.
func (v view) expectations() []result.Expectation {
	if v.r.Plan == nil || len(v.r.Plan.Expect) == 0 {
		return nil
	}
	all := make([]result.Expectation, len(v.r.Plan.Expect))
	for i, e := range v.r.Plan.Expect {
		all[i] = v.expectation(e)
	}
	return all
}

func (v view) expectation(e plan.Expectation) result.Expectation {
	value, obstacle := v.measure(e)
	reason := "was " + v.says(e, value)
	if obstacle != "" {
		reason = obstacle
	}
	return result.Expectation{Text: e.Text, Actual: value, Met: obstacle == "" && e.Holds(value), Reason: reason}
}

// says prints a value, and why a time has no end.
func (v view) says(e plan.Expectation, value float64) string {
	if value < never {
		return e.Format(value)
	}
	q := v.l.Requests
	lost := q.Asked - q.Completed
	return fmt.Sprintf("infinite: %s (%s) without a good answer %s taken as infinitely slow",
		many(lost, "request"), percent(ratio(float64(lost), float64(q.Asked))), was(lost))
}

// measure returns the value of a goal's metric, or what stands in the way.
func (v view) measure(e plan.Expectation) (value float64, obstacle string) {
	if p, ok := e.Percentile(); ok {
		return v.quantile(hdr.Percent(p), e.Of)
	}
	if value, ok := v.counted(e.Metric); ok {
		return value, ""
	}
	switch e.Metric {
	case "max":
		return v.quantile(hdr.P100, e.Of)
	case "mean", "min":
		return v.moment(e)
	case "errors":
		if v.ended() == 0 {
			return 0, "no request ended, so there is no share of errors"
		}
		return v.errorShare(), ""
	case "rate":
		return v.l.Rate, ""
	case "goodput":
		return v.goodput(), ""
	}
	return 0, fmt.Sprintf("nothing is called %q in a result", e.Metric)
}

// counted returns the value of a metric that is a count.
func (v view) counted(metric string) (value float64, ok bool) {
	q, c := v.l.Requests, v.l.Connections
	n, ok := map[string]int64{"asked": q.Asked, "started": q.Started, "completed": q.Completed, "failed": q.Failed,
		"cut-off": q.CutOff, "unsent": q.Unsent, "connections": int64(c.Opened), "reopened": c.Reopened}[metric]
	if ok {
		return float64(n), true
	}
	for k := result.NoFailure + 1; k < result.FailureKinds; k++ {
		if k.String() == metric {
			return float64(v.l.Failures[metric]), true
		}
	}
	return 0, false
}

// histogram is the one that a goal speaks of.
func (v view) histogram(of string) result.Histogram {
	switch of {
	case "service":
		return v.l.Latency.Service
	case "lag":
		return v.l.Latency.Lag
	}
	return v.l.Latency.Response
}

func isResponse(of string) bool { return of == "" || of == "response" }

// moment is the mean or the least time of the good answers; what a failure
// would add to a mean has no number.
func (v view) moment(e plan.Expectation) (float64, string) {
	h := v.histogram(e.Of)
	switch {
	case h.Empty():
		return 0, "no good answer was timed"
	case e.Metric == "min":
		return float64(h.Min()), ""
	}
	return h.Mean(), ""
}

func (v view) quantile(q hdr.Quantile, of string) (float64, string) {
	h := v.histogram(of)
	n := samples(h)
	if isResponse(of) {
		n = max(n, v.l.Requests.Asked)
	}
	if n == 0 {
		return 0, "no request was timed"
	}
	value := valueAt(h, q.Rank(n))
	if beyond := q.Beyond(n); q < hdr.P100 && beyond < v.t.TailSamples {
		return value, fmt.Sprintf("%s rests on chance: %s, of which %d lie beyond it; it needs %s",
			q, many(n, "request"), beyond, count(samplesFor(q, v.t.TailSamples)))
	}
	return value, ""
}

// valueAt is the value of a rank among the samples of h and, behind all of
// them, any number that never ended.
func valueAt(h result.Histogram, rank int64) float64 {
	n := samples(h)
	switch {
	case rank > n:
		return never
	case rank == n:
		return float64(h.Max())
	}
	var seen int64
	for cell, c := range h.Cells() {
		if seen += c; seen >= rank {
			return float64(min(cell.Highest, h.Max()))
		}
	}
	return never
}
