package web

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"prony/internal/result"
)

// view is a trial in so much detail.
func (d detail) view(t *result.Trial) (trialView, error) {
	v := trialView{Trial: *t, Validity: t.Validity, Observed: d.observed(t.Observed), Environment: &t.Environment, Plan: t.Run.Plan}
	if d.grave {
		v.Environment, v.Plan = nil, nil // the typical trial's and the experiment's plan say it
		v.Validity.Findings = slices.DeleteFunc(slices.Clone(t.Validity.Findings), func(f result.Finding) bool { return f.Severity == result.Info })
	}
	var err error
	if v.Load, err = d.load(&t.Load); err != nil {
		return v, err
	}
	for i := range t.Also {
		l, err := d.load(&t.Also[i])
		if err != nil {
			return v, err
		}
		v.Also = append(v.Also, l)
	}
	return v, nil
}

func (d detail) load(l *result.Load) (loadView, error) {
	v := loadView{Load: *l}
	h := l.Latency
	for _, one := range []struct {
		into *any
		from result.Histogram
		main bool
	}{{&v.Latency.Response, h.Response, true}, {&v.Latency.Service, h.Service, false}, {&v.Latency.Lag, h.Lag, false},
		{&v.Latency.Dispatch, h.Dispatch, false}, {&v.Latency.FirstByte, h.FirstByte, false}, {&v.Latency.Failed, h.Failed, false}} {
		if !d.noHistograms && (one.main || !d.responseOnly) {
			*one.into = one.from
			continue
		}
		b, err := briefOf(one.from)
		if err != nil {
			return v, fmt.Errorf("summarise latency: %w", err)
		}
		*one.into = b
	}
	if d.noSeconds {
		return v, nil
	}
	merged, err := mergeSeconds(l.Intervals, d.most)
	if err != nil {
		return v, fmt.Errorf("merge seconds: %w", err)
	}
	for _, iv := range merged {
		v.Intervals = append(v.Intervals, d.second(iv))
	}
	return v, nil
}

func (d detail) second(iv result.Interval) intervalView {
	v := intervalView{Interval: iv}
	switch {
	case d.secondsBare:
		v.Response = briefly(iv.Response)
	default:
		v.Response = iv.Response
	}
	if d.secondsBrief || d.secondsBare {
		// The service time is drawn nowhere by the second.
		v.Lag = briefly(iv.Lag)
		return v
	}
	v.Service, v.Lag, v.Errors = iv.Service, iv.Lag, iv.Errors
	return v
}

// mergeSeconds makes at most so many intervals of more, by merging neighbours of
// the same phase: counts add up, histograms are merged, and the number in flight
// is the one at the end. 0 keeps all.
func mergeSeconds(all []result.Interval, most int) ([]result.Interval, error) {
	if most <= 0 || len(all) <= most {
		return all, nil
	}
	group := (len(all) + most - 1) / most
	var merged []result.Interval
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && n < group && all[i+n].Warmup == all[i].Warmup && all[i+n].Drain == all[i].Drain {
			n++
		}
		one, err := mergeOne(all[i : i+n])
		if err != nil {
			return nil, err
		}
		merged = append(merged, one)
		i += n
	}
	return merged, nil
}

func mergeOne(all []result.Interval) (result.Interval, error) {
	m := all[0]
	var err error
	for _, iv := range all[1:] {
		m.LengthUS = iv.StartUS + iv.LengthUS - m.StartUS
		m.Started += iv.Started
		m.Planned += iv.Planned
		m.Completed += iv.Completed
		m.Failed += iv.Failed
		m.BytesIn += iv.BytesIn
		m.InFlight = iv.InFlight
	}
	for _, of := range []func(*result.Interval) *result.Packed{
		func(i *result.Interval) *result.Packed { return &i.Response },
		func(i *result.Interval) *result.Packed { return &i.Service },
		func(i *result.Interval) *result.Packed { return &i.Lag },
		func(i *result.Interval) *result.Packed { return &i.Errors },
	} {
		if *of(&m), err = mergePacked(all, of); err != nil {
			return m, err
		}
	}
	return m, nil
}

func mergePacked(all []result.Interval, of func(*result.Interval) *result.Packed) (result.Packed, error) {
	sum, err := of(&all[0]).Unpack()
	if err != nil {
		return result.Packed{}, err
	}
	for i := range all[1:] {
		h, err := of(&all[i+1]).Unpack()
		if err != nil {
			return result.Packed{}, err
		}
		switch {
		case h == nil:
		case sum == nil:
			sum = h
		default:
			if err := sum.Merge(h); err != nil {
				return result.Packed{}, err
			}
		}
	}
	return result.Pack(sum), nil
}

// observed keeps what was watched in so much detail.
func (d detail) observed(all []result.Observed) []result.Observed {
	if d.noObserved {
		return nil
	}
	if !d.keyMetrics && d.most <= 0 {
		return all
	}
	var kept []result.Observed
	for _, o := range all {
		o.Series = keep(o.Series, d.keyMetrics)
		o = mergeSamples(o, d.most)
		if len(o.Series) > 0 || len(o.Facts) > 0 || len(o.Unknown) > 0 {
			kept = append(kept, o)
		}
	}
	return kept
}

// drawn are the metrics that have a chart; web/src/data/series.ts has the same.
func drawn() []result.Metric {
	return []result.Metric{
		result.CPUCores, result.Throttled, result.HostBusy, result.CoreBusyMax, result.HostSteal, result.PSICPUSome, result.OwnPSICPU,
		result.ThreadMax, result.ResidentSet, result.MemoryUsed, result.BytesIn, result.BytesOut, result.RetransSegments, result.AcceptQueue,
		result.HeapUsed, result.HeapCapacity, result.GCTime, result.SafepointTime, result.LiveThreads, result.Runnable, result.Blocked,
		result.CompileTime, result.ServerRequests, result.ServerActive, result.ServerWaiting,
	}
}

func keep(all map[result.Metric]result.Values, drawnOnly bool) map[result.Metric]result.Values {
	if !drawnOnly {
		return all
	}
	kept := map[result.Metric]result.Values{}
	for _, m := range drawn() {
		if v, ok := all[m]; ok {
			kept[m] = v
		}
	}
	return kept
}

// mergeSamples makes at most so many samples of more. Rates and levels become
// their mean over the time; the largest of something stays the largest.
func mergeSamples(o result.Observed, most int) result.Observed {
	n := len(o.AtUS)
	if most <= 0 || n <= most || len(o.LengthUS) != n {
		return o
	}
	group := (n + most - 1) / most
	series := map[result.Metric]result.Values{}
	var at, length []float64
	for i := 0; i < n; i += group {
		end := min(i+group, n)
		at = append(at, o.AtUS[end-1])
		total := 0.0
		for _, l := range o.LengthUS[i:end] {
			total += l
		}
		length = append(length, total)
		for m, v := range o.Series {
			if len(v) == n {
				series[m] = append(series[m], mergeValues(v[i:end], o.LengthUS[i:end], strings.Contains(string(m), "max")))
			}
		}
	}
	o.AtUS, o.LengthUS, o.Series = at, length, series
	return o
}

func mergeValues(v, weights []float64, largest bool) float64 {
	sum, weight, most := 0.0, 0.0, math.Inf(-1)
	for i, x := range v {
		if !math.IsNaN(x) {
			sum, weight, most = sum+x*weights[i], weight+weights[i], max(most, x)
		}
	}
	switch {
	case weight == 0:
		return math.NaN()
	case largest:
		return most
	}
	return sum / weight
}
