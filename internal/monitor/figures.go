package monitor

import (
	"slices"
	"time"

	"prony/internal/result"
)

// Result gives the figures of a window that began at start. It may be called
// before [SelfWatch.Stop], then of what has been sampled so far, and again
// after it. CPUUSPerRequest is left for those who counted the requests.
//
// A figure that samples do not cover for nine tenths of the window is zero and
// in Unknown. Series have one value a period from the start of the window; a
// rest of less than half a period belongs to the last one.
func (w *SelfWatch) Result(start time.Time, length time.Duration) result.Generator {
	w.mu.Lock()
	defer w.mu.Unlock()
	from := start.Sub(w.epoch)
	rss, files := w.last.peakRSS, w.last.fileLimit
	if w.sources != nil {
		rss, files = w.sources.peakRSS(), w.sources.fileLimit()
	}
	f := figures{
		samples: w.samples,
		window:  span{from, from + length},
		period:  w.period,
		facts:   w.facts,
		bounds:  w.bounds,
	}
	f.MaxRSSBytes = f.whole("max_rss_bytes", rss)
	f.FileLimit = f.whole("file_limit", files)
	f.fill()
	slices.Sort(f.Unknown)
	return f.Generator
}

// figures is a generator's section in the making.
type figures struct {
	result.Generator
	samples []sample
	window  span
	period  time.Duration
	facts   facts
	bounds  bounds
}

// bounds are the buckets of the tallies.
type bounds struct {
	pauses, latencies []float64 // in seconds
	hiccups           []float64 // in microseconds
}

func (f *figures) fill() {
	f.fillCPU()
	f.fillThreads()
	f.fillHost()
	f.fillGo()
	f.fillLimits()
	f.MonitorCPU = f.rate("monitor_cpu", monitorCPU)
	f.Throttled = f.ratio("throttled", throttled, periods)
	f.CPUPressure = min(1, f.rate("cpu_pressure", pressure))
	f.ClockReadNS = f.facts.clockReadNS
	f.ClockSource = f.facts.clockSource
	if f.ClockSource == "" {
		f.unknown("clock_source")
	}
}

// unknown notes figures that could not be read.
func (f *figures) unknown(keys ...string) { f.Unknown = append(f.Unknown, keys...) }

// whole passes a number on, and notes it as unknown if it is 0.
func (f *figures) whole(key string, n int64) int64 {
	if n <= 0 {
		f.unknown(key)
		return 0
	}
	return n
}

// curve is a counter over time, if it can speak for the window.
func (f *figures) curve(c counter, keys ...string) (curve, bool) {
	v := curveOf(f.samples, c)
	if !v.knows(f.window) {
		f.unknown(keys...)
		return curve{}, false
	}
	return v, true
}

// rate is the growth of a counter per second of the window.
func (f *figures) rate(key string, c counter) float64 {
	v, _ := f.curve(c, key)
	return v.rate(f.window)
}

// ratio is the growth of one counter by that of another, 0 if neither grew.
func (f *figures) ratio(key string, part, all counter) float64 {
	a, ok := f.curve(all, key)
	whole := a.grown(f.window)
	if !ok || whole <= 0 {
		return 0
	}
	return min(1, curveOf(f.samples, part).grown(f.window)/whole)
}

// highest is the highest value of a gauge in the window; if no sample fell into
// it, the value of the sample that is nearest to its start.
func (f *figures) highest(key string, g gauge) int64 {
	var most, nearest int64
	inside, distance := false, time.Duration(-1)
	for i := range f.samples {
		s := &f.samples[i]
		if !s.hasGauge(g) {
			continue
		}
		if s.at >= f.window.from && s.at <= f.window.to {
			most, inside = max(most, s.gauges[g]), true
		}
		if d := (s.at - f.window.from).Abs(); distance < 0 || d < distance {
			nearest, distance = s.gauges[g], d
		}
	}
	switch {
	case inside:
		return most
	case distance < 0 || !f.sampled():
		f.unknown(key)
		return 0
	}
	return nearest
}

// sampled reports whether there are samples for the window at all: every one
// of them has this counter.
func (f *figures) sampled() bool { return curveOf(f.samples, monitorCPU).knows(f.window) }

// fillCPU is the cost in CPU time, and its share of the cores we may use.
func (f *figures) fillCPU() {
	f.CPUs = f.facts.cpus
	if procs := f.highest("cpus", goProcs); procs > 0 {
		f.CPUs = min(f.CPUs, float64(procs))
	}
	if !f.facts.cpusOK && !slices.Contains(f.Unknown, "cpus") {
		f.unknown("cpus")
	}
	v, ok := f.curve(processCPU, "cpu_us", "mean_busy", "peak_busy")
	if !ok || f.CPUs <= 0 {
		return
	}
	f.CPUUS = v.grown(f.window) * 1e6
	f.MeanBusy = v.rate(f.window) / f.CPUs
	f.BusySeries = series(v, steps(f.window, f.period))
	for i := range f.BusySeries {
		f.BusySeries[i] /= f.CPUs
	}
	f.PeakBusy = slices.Max(f.BusySeries)
}

// fillThreads is the busiest worker thread.
func (f *figures) fillThreads() {
	if v, ok := f.curve(threadBusy, "peak_thread_busy"); ok {
		f.ThreadSeries = series(v, steps(f.window, f.period))
		f.PeakThreadBusy = slices.Max(f.ThreadSeries)
	}
}

// fillHost is what all processes did to the host.
func (f *figures) fillHost() {
	f.HostBusy = f.ratio("host_busy", hostBusy, hostTotal)
	f.Steal = f.ratio("steal", hostSteal, hostTotal)
	v, ok := f.curve(coreBusy, "core_series", "softirq_peak_core")
	if !ok {
		return
	}
	at := steps(f.window, f.period)
	f.CoreSeries = series(v, at)
	f.SoftIRQ = slices.Max(series(curveOf(f.samples, coreSoftIRQ), at))
}

// fillGo is what the runtime did to us.
func (f *figures) fillGo() {
	f.GCCPUShare = f.ratio("gc_cpu_share", gcCPU, goCPU)
	f.GCPauseP99US = 1e6 * f.p99("gc_pause_p99_us", f.bounds.pauses, func(s *sample) tally { return s.pauses })
	f.SchedP99US = 1e6 * f.p99("sched_latency_p99_us", f.bounds.latencies, func(s *sample) tally { return s.latencies })
	f.HiccupP99US = f.p99("hiccup_p99_us", f.bounds.hiccups, func(s *sample) tally { return s.hiccups })
}

// fillLimits is what may run out besides CPU.
func (f *figures) fillLimits() {
	f.OpenFiles = f.highest("open_files_peak", openFiles)
	f.PortsUsed = f.highest("ports_used_peak", portsUsed)
	f.Ports = f.whole("ports", f.facts.ports)
}

// p99 is the 99th percentile of the events of the window.
func (f *figures) p99(key string, bounds []float64, of func(*sample) tally) float64 {
	if len(bounds) < 2 || !f.sampled() {
		f.unknown(key)
		return 0
	}
	return f.events(of).quantile(bounds, 0.99)
}

// events sums the tallies of the window. Events are known by the sample they
// were read with; an interval between samples counts if half of it lies in the
// window, or if the whole window lies in it.
func (f *figures) events(of func(*sample) tally) tally {
	var sum tally
	for i := 1; i < len(f.samples); i++ {
		between := span{f.samples[i-1].at, f.samples[i].at}
		common := between.overlap(f.window)
		if common > 0 && (2*common >= between.length() || common == f.window.length()) {
			sum = sum.plus(of(&f.samples[i]))
		}
	}
	return sum
}

// steps cuts a window into periods. A rest of at least half a period is a step
// of its own, a shorter one is part of the last.
func steps(window span, period time.Duration) []span {
	n := max(1, int((window.length()+period/2)/period))
	all := make([]span, n)
	for i := range all {
		from := window.from + time.Duration(i)*period
		all[i] = span{from, from + period}
	}
	all[n-1].to = window.to
	return all
}

// series is the rate of a counter in each step. Steps that are not covered are
// left out; at the edges only, since the window was found to be covered.
func series(v curve, at []span) []float64 {
	values := make([]float64, 0, len(at))
	for _, s := range at {
		if v.covered(s).length() > 0 {
			values = append(values, v.rate(s))
		}
	}
	return values
}

// Unknown lists the figures, by the keys of [result.Generator], that could not
// be read so far. A figure that only fails to cover a window is listed in that
// window's Generator.
func (w *SelfWatch) Unknown() []string {
	w.mu.Lock()
	if len(w.samples) < 2 {
		w.sample() // nothing grows in one sample
	}
	from, to := w.samples[0].at, w.samples[len(w.samples)-1].at
	w.mu.Unlock()
	return w.Result(w.epoch.Add(from), to-from).Unknown
}
