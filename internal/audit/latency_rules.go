package audit

import (
	"fmt"

	"prony/internal/result"
)

// blockRules returns the rules for one result in the order in which they are
// told.
func blockRules() []rule[view] {
	return []rule[view]{
		{"E1", "littles-law", littlesLaw},
		{"E2", "impossible-percentile", impossiblePercentile},
		{"E3", "thread-sum", threadSum},
		{"E4", "unequal-duration", ownDuration},
		{"E5", "short-run", shortRun},
		{"E6", "link-rate", linkRate},
		{"E7", "generator-saturated", generatorSaturated},
		{"E8", "ab-single-thread", abSingleThread},
		{"E9", "sampling-too-short", samplingTooShort},
		{"E10", "hardware-mismatch", hardwareMismatch},
		{"E11", "not-the-same-answer", notTheAnswer},
		{"E12", "baseline-missing", groupBaseline},
		{"E16", "overlap", groupOverlap},
		{"E17", "handshake-ladder", handshakeLadder},
		{"E18", "cfs-throttled", cfsThrottled},
		{"E20", "warm-up-by-clock", warmupByClock},
		{"E21", "runtime-blind-to-quota", blindToQuota},
		{"E22", "label-is-not-the-system", wrongLabel},
		{"E23", "shared-host", sharedHost},
		{"E24", "failures-not-shown", failuresNotShown},
		{"E26", "connection-model", connectionModel},
		{"E27", "gateway-cost", gatewayCost},
		{"E28", "units", ratePerMinute},
		{"E30", "swap-or-vm", swapOrVM},
	}
}

// inFlight is how many requests the load kept in flight: N of Little's law.
func (b *Block) inFlight() Value {
	if b.Pipeline.positive() {
		return product(b.Connections, b.Pipeline)
	}
	return b.Connections
}

// closed reports whether N requests were in flight all the time.
func (b *Block) closed() bool { return b.Model == closedModel }

// trueMean is N/X, the mean that a closed loop must have, in microseconds.
func (b *Block) trueMean() Value {
	if !b.closed() {
		return Value{}
	}
	return quotient(b.inFlight(), b.Rate).times(1e6)
}

// corrected reports whether a tool adds made-up samples after long stalls: wrk
// 4 does, for each sample of at least two intervals of a connection.
func (b *Block) corrected() bool { return b.Tool == "wrk" }

// littlesLaw is E1. A closed loop of N connections that are busy all the time
// has X*R = N (Little, 1961).
func littlesLaw(v view) answer {
	switch {
	case v.Model == openModel && !v.Connections.Known:
		return nothing() // an open load has no N
	case !v.Rate.positive():
		return lacks("the rate")
	case !v.Latency.Mean.Known || v.Requests.Known && v.Requests.V == 0:
		return lacks("the mean latency")
	case !v.Connections.positive():
		return lacks("how many connections or users (--connections)")
	case v.Latency.Mean.Half > 0.1*v.Latency.Mean.V:
		return lacks(fmt.Sprintf("a finer mean: %s is printed in steps of %s", us(v.Latency.Mean.V), us(2*v.Latency.Mean.Half)))
	}
	n, xr := v.inFlight(), product(v.Rate, v.Latency.Mean.times(1e-6))
	ratio := quotient(xr, n)
	say := fmt.Sprintf("rate x mean = %s x %s = %s requests in flight, %s were possible: ratio %s",
		rate(v.Rate.V), trimmed(v.Latency.Mean.V/1e3, 3)+"ms", trimmed(xr.V, 1), trimmed(n.V, 0), digits3(ratio.V))
	if n.V != v.Connections.V {
		say += fmt.Sprintf(" (%s connections x %s)", trimmed(v.Connections.V, 0), trimmed(v.Pipeline.V, 0))
	}
	evidence := figures{"rate": v.Rate.V, "mean_us": v.Latency.Mean.V, "in_flight": xr.V, "connections": n.V, "ratio": ratio.V}
	switch {
	case v.Tool == "prony" && ratio.V >= v.t.LittleImpossible && ratio.V < 1:
		return nothing() // its result knows what was in flight, and has judged it
	case ratio.High() < v.t.LittleLow && v.closed():
		return found(v.tooFew(say, evidence))
	case ratio.Low() > v.t.LittleHigh:
		return found(v.tooMany(say, evidence))
	}
	return nothing()
}

// tooFew is E1 below: less in flight than connections.
func (v view) tooFew(say string, evidence figures) result.Finding {
	limit := figures{"ratio_low": v.t.LittleLow, "ratio_impossible": v.t.LittleImpossible}
	if evidence["ratio"] < v.t.LittleImpossible && !v.excused() {
		return finding(result.InvalidLevel, result.Definite, evidence, limit,
			"Run it again and keep command and output together, unedited.",
			"impossible: %s. The output is not of this command, or most connections never carried a request", say)
	}
	return finding(result.SuspectLevel, result.Likely, evidence, limit,
		"Count the connections that were really open and busy (ss -tn), or name the pause between requests.",
		"%s: not all connections were busy all the time%s", say, v.excuse())
}

// excused reports whether connections may have been idle for a reason that is in
// sight: failures, or a script that may pause.
func (v view) excused() bool { return v.failed() > 0 || v.Facts.Script != "" }

// excuse names the reason.
func (v view) excuse() string {
	switch {
	case v.failed() > 0:
		return fmt.Sprintf("; %s failed", fixed(float64(v.failed()), 0))
	case v.Facts.Script != "":
		return fmt.Sprintf("; the script %s may pause", v.Facts.Script)
	}
	return ", or the generator took long between answer and request"
}

// tooMany is E1 above: more in flight than connections.
func (v view) tooMany(say string, evidence figures) result.Finding {
	limit := figures{"ratio_high": v.t.LittleHigh}
	mean := quotient(v.inFlight(), v.Rate).times(1e6)
	evidence["true_mean_us"] = mean.V
	switch {
	case v.corrected() && v.stalled(mean):
		return finding(result.SuspectLevel, result.Likely, evidence, limit,
			"Use N/X for the mean. Measure latency at a fixed rate below the limit.",
			"%s. wrk adds made-up samples after long stalls: average and percentiles are inflated; the true mean is N/X = %s", say, us(mean.V))
	case v.Model == openModel:
		return finding(result.SuspectLevel, result.Likely, evidence, limit,
			"Lower the rate until the latency stays level.",
			"%s. Requests waited before they were sent: the target did not keep up with the rate", say)
	case v.Tool == "k6":
		return finding(result.SuspectLevel, result.Hint, evidence, limit,
			"Say how many requests a user sends at once.", "%s. Users may have sent several requests at once (http.batch)", say)
	case v.Facts.Script != "":
		return finding(result.SuspectLevel, result.Hint, evidence, limit,
			"Say how many requests a connection had in flight (--pipeline).",
			"%s. The script %s may have sent several requests at once on each connection", say, v.Facts.Script)
	}
	return finding(result.InvalidLevel, result.Definite, evidence, limit,
		"Ask how many users there really were.",
		"impossible with that many: %s. There were about %s users, not %s", say, trimmed(evidence["in_flight"], 0), trimmed(evidence["connections"], 0))
}

// stalled reports whether some sample was long enough for wrk's correction: two
// intervals of a connection. Without a maximum or percentile it may have been.
func (v view) stalled(mean Value) bool {
	longest := v.Latency.Max.or(v.Latency.at(0.99))
	return !longest.Known || longest.High() >= 2*mean.Low()
}

// impossiblePercentile is E2: what is printed of one distribution must fit
// together, and the mean must be N/X in a closed loop.
func impossiblePercentile(v view) answer {
	l := v.Latency
	if f, bad := disordered(l); bad {
		return found(f)
	}
	if len(l.Percentiles) == 0 {
		return lacks("percentiles")
	}
	if !l.Max.Known {
		return lacks("the maximum")
	}
	low, high := l.meanBounds()
	mean := v.trueMean()
	evidence := figures{"mean_lowest_us": low, "mean_highest_us": high}
	limit := figures{"slack": v.t.MeanSlack}
	switch {
	case mean.Known && mean.Low() > high*(1+v.t.MeanSlack):
		return found(v.meanTooHigh(mean.V, high, evidence, limit))
	case !l.Mean.Known || v.Requests.Known && v.Requests.V < 1000:
		return nothing() // of few samples percentiles are too coarse
	case l.Mean.Low() > high*(1+v.t.MeanSlack) || l.Mean.High() < low*(1-v.t.MeanSlack):
		evidence["mean_us"] = l.Mean.V
		return found(finding(result.InvalidLevel, result.Definite, evidence, limit,
			"Look at the raw output again: figures of two runs may have been mixed.",
			"impossible: the mean is printed as %s, but with these percentiles it lies between %s and %s", us(l.Mean.V), us(low), us(high)))
	}
	return nothing()
}

// meanTooHigh is E2 for a mean that the percentiles exclude.
func (v view) meanTooHigh(mean, high float64, evidence, limit figures) result.Finding {
	l := v.Latency
	last := l.Percentiles[0]
	for _, p := range l.Percentiles {
		if p.P > last.P {
			last = p
		}
	}
	tail := (mean - last.P*last.Value.V) / (1 - last.P)
	evidence["true_mean_us"], evidence["tail_us"], evidence["max_us"] = mean, tail, l.Max.V
	severity, word := result.InvalidLevel, "impossible: "
	if v.excused() {
		severity, word = result.SuspectLevel, "" // connections that failed carried nothing
	}
	return finding(severity, result.Definite, evidence, limit,
		"Run it again and keep command and output together, unedited.",
		"%sthe mean must be N/X = %s / %s = %s, but p%s is %s. That needs the slowest %s at %s and more, and the maximum is %s: no mean above %s is possible",
		word, trimmed(v.inFlight().V, 0), rate(v.Rate.V), us(mean), trimmed(last.P*100, 3), us(last.Value.V), percent(1-last.P), us(tail), us(l.Max.V), us(high))
}

// meanBounds are the least and the greatest mean that percentiles, minimum and
// maximum allow: each share lies between its neighbours.
func (l Latency) meanBounds() (low, high float64) {
	rows := sortedPercentiles(l)
	before, at := 0.0, max(l.Min.Low(), 0)
	for _, p := range rows {
		low += (p.P - before) * at
		high += (p.P - before) * p.Value.High()
		before, at = p.P, p.Value.Low()
	}
	return low + (1-before)*at, high + (1-before)*l.Max.High()
}

// named is a figure with its name.
type named struct {
	name  string
	value Value
}

// disordered finds figures of one distribution that cannot stand beside each
// other.
func disordered(l Latency) (result.Finding, bool) {
	rows := []named{{"the minimum", l.Min}}
	for _, p := range sortedPercentiles(l) {
		rows = append(rows, named{"p" + trimmed(p.P*100, 3), p.Value})
	}
	rows = append(rows, named{"the maximum", l.Max})
	for _, ladder := range [][]named{rows, {{"the minimum", l.Min}, {"the mean", l.Mean}, {"the maximum", l.Max}}} {
		if a, b, bad := descending(ladder); bad {
			return finding(result.InvalidLevel, result.Definite, figures{"lower_us": a.value.V, "upper_us": b.value.V}, nil,
				"Look at the raw output again: a figure is mistyped or of another run.",
				"impossible: %s is %s and %s is %s", a.name, us(a.value.V), b.name, us(b.value.V)), true
		}
	}
	return result.Finding{}, false
}

// descending finds the first two known figures that go down.
func descending(rows []named) (a, b named, bad bool) {
	for _, r := range rows {
		if !r.value.Known {
			continue
		}
		if a.value.Known && a.value.Low() > r.value.High() {
			return a, r, true
		}
		a = r
	}
	return a, b, false
}

// threadSum is E3: wrk's Req/Sec is per thread, so that threads times its
// average is the rate.
func threadSum(v view) answer {
	if v.Tool != "wrk" || !v.ThreadRate.Mean.Known {
		return nothing()
	}
	if !v.Threads.positive() || !v.Rate.positive() {
		return lacks("threads and rate")
	}
	if v.ThreadRate.Mean.V < 100 {
		return nothing() // it is cut to whole requests
	}
	sum := product(v.Threads, v.ThreadRate.Mean)
	ratio := quotient(sum, v.Rate)
	evidence := figures{"threads": v.Threads.V, "thread_rate": v.ThreadRate.Mean.V, "rate": v.Rate.V, "ratio": ratio.V,
		"threads_by_rate": v.Rate.V / v.ThreadRate.Mean.V}
	say := fmt.Sprintf("%s threads x %s = %s, but the rate is %s: ratio %s", trimmed(v.Threads.V, 0), rate(v.ThreadRate.Mean.V),
		rate(sum.V), rate(v.Rate.V), digits3(ratio.V))
	switch {
	case ratio.High() < v.t.ThreadImpossible:
		return found(finding(result.InvalidLevel, result.Definite, evidence, figures{"ratio_impossible": v.t.ThreadImpossible},
			"Compare with older versions of the text: command or output were edited.",
			"impossible: %s. It was run with %s threads", say, fixed(evidence["threads_by_rate"], 0)))
	case ratio.High() < v.t.ThreadLow:
		return found(finding(result.SuspectLevel, result.Likely, evidence, figures{"ratio_low": v.t.ThreadLow},
			"Run it again.", "%s, want 1", say))
	case ratio.Low() > v.t.ThreadHigh:
		return found(finding(result.SuspectLevel, result.Likely, evidence, figures{"ratio_high": v.t.ThreadHigh},
			"Look for pauses: garbage collection, throttling, lost connections.",
			"%s. wrk leaves out the tenths of a second without an answer: the target stood still for a part of the run", say))
	}
	return nothing()
}
