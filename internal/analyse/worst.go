package analyse

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"prony/internal/result"
)

// worst returns the worst seconds of the window, by p99 and by rate, in their
// order, with what else was unusual in them.
func (v view) worst() []result.Moment {
	window := v.window()
	if len(window) < 4 {
		return nil
	}
	p99, rates := make([]float64, len(window)), make([]float64, len(window))
	for i, iv := range window {
		p99[i], rates[i] = iv.Response.P99(), ratio(float64(iv.Completed+iv.Failed), iv.LengthUS/1e6)
	}
	usualP99, usualRate := median(p99), median(rates)
	slow := v.extremes(p99, func(i int) float64 { return -p99[i] }, func(i int) bool { return usualP99 > 0 && p99[i] >= v.t.SlowFactor*usualP99 })
	few := v.extremes(rates, func(i int) float64 { return rates[i] }, func(i int) bool {
		return !v.open() && rates[i] < v.t.FewFactor*usualRate && window[i].LengthUS >= 0.5e6
	})
	both := slices.Compact(slices.Sorted(slices.Values(slices.Concat(slow, few))))
	signs := v.signs()
	var moments []result.Moment
	for _, i := range both {
		iv := window[i]
		moments = append(moments, result.Moment{StartUS: iv.StartUS, LengthUS: iv.LengthUS, P99US: p99[i], Rate: rates[i],
			Slow: slices.Contains(slow, i), Few: slices.Contains(few, i), With: v.with(signs, iv)})
	}
	return moments
}

// extremes are the first seconds by an order of those that qualify.
func (v view) extremes(values []float64, order func(int) float64, qualifies func(int) bool) []int {
	var all []int
	for i := range values {
		if qualifies(i) {
			all = append(all, i)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(order(a), order(b)) })
	return all[:min(len(all), v.t.WorstSeconds)]
}

// sign is a metric that tells when something happened, from a value on.
type sign struct {
	kind   string
	metric result.Metric
	from   float64
	says   string // with the value and the place
}

// signsOf lists what may have happened in a second.
func signsOf() []sign {
	return []sign{
		{result.OfJVM, result.GCTime, 0.02, "garbage collection of %[2]s for %.0[1]f%% of the time"},
		{result.OfJVM, result.SafepointTime, 0.05, "safepoints of %[2]s for %.0[1]f%% of the time"},
		{result.OfJVM, result.CompileTime, 0.2, "%[2]s compiled with %.2[1]f cores"},
		{result.OfService, result.Throttled, 0.01, "the quota held %[2]s back in %.0[1]f%% of its periods"},
		{result.OfService, result.RunDelay, 0.2, "threads of %[2]s waited for a core (%.2[1]f on average)"},
		{result.OfService, result.SleepD, 0.1, "threads of %[2]s were blocked on a disk (%.2[1]f on average)"},
		{result.OfService, result.ServiceFault, 10, "%[2]s read %.0[1]f pages from disk"},
		{result.OfService, result.MemoryEvents, 1, "%[2]s ran into its memory limit"},
		{result.OfHost, result.HostSteal, 0.01, "the hypervisor took %.0[1]f%% of %[2]s"},
		{result.OfHost, result.CoreSoftIRQMax, 0.6, "interrupts filled a core of %[2]s to %.0[1]f%%"},
		{result.OfHost, result.RunQueue, 4, "%.0[1]f tasks wanted to run on %[2]s"},
		{result.OfHost, result.PSICPUSome, 0.1, "tasks on %[2]s waited for a core in %.0[1]f%% of the time"},
		{result.OfHost, result.PSIIOSome, 0.1, "tasks on %[2]s waited for a disk in %.0[1]f%% of the time"},
		{result.OfHost, result.DiskBusyMax, 0.9, "a disk of %[2]s was busy for %.0[1]f%% of the time"},
		{result.OfHost, result.SwapRate, 10, "%[2]s swapped %.0[1]f pages"},
		{result.OfHost, result.RetransSegments, 5, "%[2]s sent %.0[1]f segments again"},
		{result.OfHost, result.TCPTimeouts, 1, "%.0[1]f retransmission timers of %[2]s ran out"},
		{result.OfHost, result.ListenOverflows, 1, "an accept queue of %[2]s was full %.0[1]f times"},
		{result.OfInterface, result.LinkDrops, 1, "%[2]s dropped %.0[1]f packets"},
		{result.OfServer, result.UpstreamOverflows, 1, "%[2]s refused %.0[1]f requests"},
	}
}

// watching is a sign on one thing, with what is usual there.
type watching struct {
	sign
	thing *result.Observed
	usual float64
}

// signs finds the signs that the run's watched things can give.
func (v view) signs() []watching {
	var all []watching
	for _, s := range signsOf() {
		for _, o := range v.things(s.kind) {
			if values := v.in(o, s.metric); len(values) > 0 {
				all = append(all, watching{s, o, median(values)})
			}
		}
	}
	return all
}

// with lists what was unusual in a second: above the level of its sign, and at
// least twice what is usual there.
func (v view) with(signs []watching, iv result.Interval) []string {
	all := v.ofGenerator(iv)
	for _, s := range signs {
		x, ok := valueIn(s.thing, s.metric, iv)
		if !ok || x < s.from || x < 2*s.usual {
			continue
		}
		if isRatio(s.metric) {
			x *= 100
		}
		all = append(all, fmt.Sprintf(s.says, x, place(s.thing)))
	}
	return all
}

func isRatio(m result.Metric) bool {
	const suffix = "_ratio"
	return len(m) > len(suffix) && string(m[len(m)-len(suffix):]) == suffix
}

// ofGenerator is what the generator itself knows of a second.
func (v view) ofGenerator(iv result.Interval) []string {
	var all []string
	if late := iv.Lag.P99(); v.open() && late > us(v.t.LagP99)*v.t.LagFactor {
		all = append(all, fmt.Sprintf("requests left up to %s late (p99)", micros(late)))
	}
	second := int(iv.StartUS / float64(time.Second/time.Microsecond))
	if second >= 0 && second < len(v.g.BusySeries) && !v.l.Spun && v.g.BusySeries[second] >= v.t.BusySuspect {
		all = append(all, fmt.Sprintf("the generator used %s of its CPU", percent(v.g.BusySeries[second])))
	}
	if iv.Failed > 0 {
		all = append(all, many(iv.Failed, "request")+" failed")
	}
	return all
}
