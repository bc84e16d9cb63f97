package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"prony/internal/result"
	"prony/internal/unit"
)

// machinesMost bounds the virtual machines that a report tells of.
const machinesMost = 8

// machines are the virtual machines that were watched, each with a sentence
// about its window: heap, collector, threads.
func machines(r *result.Run, lang Lang) (all [][2]string) {
	for i := range r.Observed {
		o := &r.Observed[i]
		if o.Kind != result.OfJVM {
			continue
		}
		if len(all) == machinesMost {
			return append(all, [2]string{"", "…"})
		}
		if text := machine(r, o, lang); text != "" {
			all = append(all, [2]string{fmt.Sprintf("%s[%d]", cmp.Or(o.Service, o.Name), o.Instance), text})
		}
	}
	return all
}

// machine is the sentence; "" if nothing of it is known.
func machine(r *result.Run, o *result.Observed, lang Lang) string {
	in := func(m result.Metric) result.Values { return o.Window(m, r.Load.DurationUS) }
	var parts []string
	if used, most := in(result.HeapUsed).Max(), firstKnown(in(result.HeapMax).Max(), in(result.HeapCapacity).Max()); !math.IsNaN(used + most) {
		parts = append(parts, lang.say(phHeap, unit.FormatSize(used), unit.FormatSize(most)))
	}
	if share, most, within := in(result.GCTime).Mean(), 0.0, 0.0; !math.IsNaN(share) {
		most, within = longest(o, result.GCTime, r.Load.DurationUS)
		parts = append(parts, lang.say(phCollected, unit.FormatPercent(share), unit.FormatDuration(time.Duration(most*1000)), span(within)))
	}
	if threads := in(result.LiveThreads).Max(); !math.IsNaN(threads) {
		parts = append(parts, lang.say(phThreads, fmt.Sprintf("%.0f", threads)))
	}
	if states := in(result.Runnable); len(states) > 0 {
		parts = append(parts, lang.say(phStates, rounded(states), rounded(in(result.Blocked)), rounded(in(result.Waiting)), rounded(in(result.TimedWaiting))))
	}
	parts = append(parts, pools(r, o, lang)...)
	if name, cores := busiestThread(r, o); name != "" {
		parts = append(parts, lang.say(phBusiest, name, fmt.Sprintf("%.2g", cores)))
	}
	return strings.Join(parts, "; ")
}

func rounded(v result.Values) string { return fmt.Sprintf("%.0f", v.Mean()) }

func firstKnown(a, b float64) float64 {
	if math.IsNaN(a) {
		return b
	}
	return a
}

// longest is the sample with the most of a share of the time, in microseconds,
// and how long that sample is.
func longest(o *result.Observed, m result.Metric, window float64) (most, within float64) {
	for i, share := range o.Series[m] {
		if i >= len(o.AtUS) || i >= len(o.LengthUS) || math.IsNaN(share) {
			continue
		}
		if middle := o.AtUS[i] - o.LengthUS[i]/2; middle >= 0 && middle <= window && (within == 0 || share*o.LengthUS[i] > most) {
			most, within = share*o.LengthUS[i], o.LengthUS[i]
		}
	}
	// The samples of a second are a little more or less.
	return most, math.Round(within/1e5) * 1e5
}

// together reports whether two things are parts of one instance.
func together(a, b *result.Observed) bool {
	return a.Service == b.Service && a.Instance == b.Instance && a.Host == b.Host
}

// poolsMost bounds the pools that are told of.
const poolsMost = 2

// pools tells of the pools that had the most threads busy.
func pools(r *result.Run, o *result.Observed, lang Lang) (parts []string) {
	type pool struct {
		thing *result.Observed
		busy  result.Values
	}
	var all []pool
	for i := range r.Observed {
		p := pool{thing: &r.Observed[i]}
		if p.thing.Kind != result.OfPool || !together(p.thing, o) {
			continue
		}
		if p.busy = p.thing.Window(result.PoolBusy, r.Load.DurationUS); p.busy.Max() > 0 {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b pool) int { return cmp.Compare(b.busy.Mean(), a.busy.Mean()) })
	for _, p := range all[:min(len(all), poolsMost)] {
		size := p.thing.Window(result.PoolThreads, r.Load.DurationUS).Max()
		parts = append(parts, lang.say(phPool, p.thing.Name, rounded(p.busy), fmt.Sprintf("%.0f", size), fmt.Sprintf("%.0f", p.busy.Max())))
	}
	return parts
}

// busiestThread is the name of the thread that used the most of a core on
// average, and how much.
func busiestThread(r *result.Run, o *result.Observed) (name string, most float64) {
	for i := range r.Observed {
		t := &r.Observed[i]
		if t.Kind != result.OfThread || !together(t, o) {
			continue
		}
		if used := t.Window(result.ThreadMax, r.Load.DurationUS).Mean(); used > most {
			name, most = t.Name, used
		}
	}
	return name, most
}

// machines prints a paragraph for each virtual machine.
func (p *printer) machines(r *result.Run) {
	for _, m := range machines(r, English) {
		p.field("Java", "%s", strings.TrimPrefix(m[0]+": "+m[1], ": "))
	}
}

// machines is an item for each virtual machine.
func (m *markdown) machines(r *result.Run) {
	for _, one := range machines(r, m.lang) {
		m.item(strings.TrimSpace("Java "+esc(one[0])), esc(one[1]))
	}
}
