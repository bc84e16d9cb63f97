package analyse

import (
	"fmt"
	"math"
	"slices"

	"prony/internal/hdr"
	"prony/internal/result"
)

// little holds the three ways of counting against each other: requests in
// flight, rate and time (Little 1961; method 6). N̄·T is the sum of all times in
// flight inside the window, and the histograms hold the same times; the two
// differ only by the requests that the window's edges cut.
//
// Beyond max(1 %, edges·p99/(N̄·T)) there is a note. The result is invalid if
// the difference is above 5 % and also more than the cut requests can hold at
// all, even if they were the slowest: a stall at the edge of the window is the
// target's fault, not the clock's.
func little(v view) answer {
	q, n := v.l.Requests, v.l.InFlight
	switch {
	case q.Unsent > 0:
		return lacks("requests that were never sent waited for an unknown time")
	case v.ended() == 0:
		return nothing()
	case n <= 0 || v.l.DurationUS <= 0:
		return lacks("in_flight was not measured")
	}
	window := v.l.DurationUS * 1e3
	times := sum(v.l.Latency.Response) + sum(v.l.Latency.Failed)
	off := math.Abs(n*window-times) / (n * window)
	tolerance := max(v.t.LittleNote, float64(v.l.InFlightEdges)*v.edgeP99()/(n*window))
	if off <= tolerance {
		return nothing()
	}
	severity := result.Note
	if off > v.t.LittleInvalid && off*n*window > v.edgesAtMost() && !v.hungConnects() {
		severity = result.InvalidLevel
	}
	x, r := float64(v.ended())/v.seconds(), times/float64(v.ended())
	return found(result.Finding{Severity: severity,
		Evidence:  figures{"in_flight": n, "rate": x, "response_mean_us": r / 1e3, "rate_times_response": times / window, "difference": off},
		Threshold: figures{"difference": tolerance, "difference_invalid": v.t.LittleInvalid},
		Message: fmt.Sprintf("Little's law is off by %s: %.4g requests were in flight on average, but %s times %s makes %.4g",
			percent(off), n, rate(x), nanos(r), times/window),
		Advice: littleAdvice(severity)})
}

// hungConnects reports whether requests hung in their connect: with a connection
// for each request and a full accept queue some wait for it longer than the
// window, and no histogram has their times.
func (v view) hungConnects() bool {
	return v.plan.NoKeepAlive && slices.ContainsFunc(v.targetHosts(), func(o *result.Observed) bool {
		over, ok := v.total(o, result.ListenOverflows)
		return ok && over > 0
	})
}

func littleAdvice(s result.Severity) string {
	if s == result.InvalidLevel {
		return "a clock, a counter or an outcome is wrong: please report it with the result file"
	}
	return "measure longer: requests at the window's edges weigh less"
}

// sum is the sum of all times of h, in nanoseconds.
func sum(h result.Histogram) float64 {
	if h.Histogram == nil {
		return 0
	}
	return h.Sum()
}

// edgeP99 is the 99th percentile of all response times, in nanoseconds.
func (v view) edgeP99() float64 {
	var p99 int64
	for _, h := range []result.Histogram{v.l.Latency.Response, v.l.Latency.Failed} {
		if !h.Empty() {
			p99 = max(p99, h.Value(hdr.P99))
		}
	}
	return float64(p99)
}

// edgesAtMost is the most time, in nanoseconds, by which the requests that the
// window's edges cut can move the sum: those cut off by their age, the others
// as if they had been the slowest of all; and those that came from the warm-up,
// whose times no histogram has, by the slowest of the warm-up and by the time
// that the window lost at its beginning.
func (v view) edgesAtMost() float64 {
	q := v.l.Requests
	edges := float64(v.l.InFlightEdges)
	most := float64(q.CutOff)*q.CutOffOldestUS*1e3 + v.slowest(v.l.InFlightEdges)
	if v.l.WarmupUS > 0 {
		most += edges * (v.warmupMaxUS() + v.lateStartUS()) * 1e3
	}
	return most
}

// slowest is the sum of the n longest times, in nanoseconds.
func (v view) slowest(n int64) float64 {
	type group struct{ value, n int64 }
	var all []group
	for _, h := range []result.Histogram{v.l.Latency.Response, v.l.Latency.Failed} {
		if h.Empty() {
			continue
		}
		for cell, c := range h.Cells() {
			all = append(all, group{min(cell.Highest, h.Max()), c})
		}
		if h.Overflow() > 0 { // the top cell cannot say how long they were
			all = append(all, group{h.Max(), h.Overflow()})
		}
	}
	slices.SortFunc(all, func(a, b group) int { return int(min(max(b.value-a.value, -1), 1)) })
	var total float64
	for _, g := range all {
		k := min(n, g.n)
		total += float64(k) * float64(g.value)
		n -= k
	}
	return total
}

func (v view) warmupMaxUS() float64 {
	var most float64
	for _, iv := range v.l.Intervals {
		if iv.Warmup || iv.Drain {
			most = max(most, iv.Response.Max(), iv.Errors.Max())
		}
	}
	return most
}

// lateStartUS is the time in which the window had not yet reached its usual
// rate: a stall that began in the warm-up.
func (v view) lateStartUS() float64 {
	window := v.window()
	rates := make([]float64, len(window))
	for i, iv := range window {
		rates[i] = ratio(float64(iv.Completed+iv.Failed), iv.LengthUS)
	}
	if len(rates) == 0 {
		return v.l.DurationUS
	}
	sorted := slices.Sorted(slices.Values(rates))
	usual := sorted[len(sorted)/2]
	var lost float64
	for i, iv := range window {
		missing := 1 - ratio(rates[i], usual)
		if missing < 0.05 {
			break
		}
		lost += missing * iv.LengthUS
	}
	return lost
}

// window are the intervals that lie wholly inside the measurement window, to be
// read only.
func (v view) window() []result.Interval { return v.inside }

// insideWindow finds them.
func insideWindow(l *result.Load) []result.Interval {
	const slack = 1000 // µs
	in := make([]result.Interval, 0, len(l.Intervals))
	for _, iv := range l.Intervals {
		if !iv.Warmup && iv.LengthUS > 0 && iv.StartUS > -slack && iv.StartUS+iv.LengthUS <= l.DurationUS+slack {
			in = append(in, iv)
		}
	}
	return in
}

// impossibleRate holds the rate against its bound: with N places for requests
// no more than N/R_min answers a second can come, plus the N that were under
// way when the window opened (method 7.6, E6).
func impossibleRate(v view) answer {
	places := float64(v.places())
	fastest := v.fastestUS()
	if places == 0 || fastest <= 0 || v.l.DurationUS <= 0 {
		return nothing()
	}
	most := places/(fastest/1e6) + places/v.seconds()
	if v.l.Rate <= most*(1+v.t.LittleNote) {
		return nothing()
	}
	return found(result.Finding{Severity: result.InvalidLevel,
		Evidence:  figures{"rate": v.l.Rate, "places": places, "fastest_us": fastest},
		Threshold: figures{"rate": most},
		Message: fmt.Sprintf("an impossible rate: %s at %s requests in flight, none of them faster than %s, cannot be more than %s",
			rate(v.l.Rate), count(v.places()), micros(fastest), rate(most)),
		Advice: "a clock, a counter or an outcome is wrong: please report it with the result file"})
}

// places is the most requests that could be in flight: connections times
// pipeline.
func (v view) places() int64 {
	c := v.l.Connections
	n := c.Peak
	if !v.open() {
		n = max(n, c.Asked)
	}
	return int64(n) * int64(max(v.plan.Pipeline, 1))
}

// fastestUS is the shortest time from send to answer, in microseconds; 0 if
// there is none. Failures may have been faster, and some of them are answers.
func (v view) fastestUS() float64 {
	least := math.Inf(1)
	for _, h := range []result.Histogram{v.l.Latency.Service, v.l.Latency.Failed} {
		if !h.Empty() {
			least = min(least, float64(h.Min())/1e3)
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}
