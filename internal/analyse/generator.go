package analyse

import (
	"fmt"
	"math"
	"strconv"

	"prony/internal/plan"
	"prony/internal/result"
)

// generatorRules ask whether the generator itself was the limit or was held
// back (method 7.2).
func generatorRules() []rule {
	return []rule{
		{"generator-cpu", "G1", generatorCPU},
		{"generator-thread", "G2", generatorThread},
		{"generator-core", "G2", generatorCore},
		{"garbage-collector", "G4", collectorShare},
		{"collector-pause", "G4", collectorPause},
		{"goroutine-scheduling", "G4", goroutineScheduling},
		{"headroom", "G5", headroom},
		{"throttled", "T1", throttled},
		{"open-files", "G7", openFiles},
		{"monitor-cost", "M0", monitorCost},
	}
}

// polled is why the CPU use of a generator that polls says nothing.
const polled = "the threads polled for answers, so their CPU use does not say how full they were"

// generatorCPU is rule G1: nearly all of the CPU that the generator may use was
// used, in a fifth of the seconds. If not, it says how full it was: no rate is
// printed without that.
func generatorCPU(v view) answer {
	if v.l.With != "" {
		return otherCPU(v)
	}
	series := v.g.BusySeries
	switch why := v.unread("busy_series", "mean_busy", "peak_busy", "cpus"); {
	case why != "":
		return lacks(why)
	case len(series) == 0 || v.g.CPUs <= 0:
		return lacks("busy_series holds no second")
	case v.l.Spun:
		return lacks(polled)
	}
	full, near := share(series, v.t.BusyInvalid), share(series, v.t.BusySuspect)
	f := result.Finding{Severity: result.Info,
		Evidence:  figures{"mean_busy": v.g.MeanBusy, "peak_busy": v.g.PeakBusy, "cpus": v.g.CPUs, "seconds_suspect": near, "seconds_invalid": full},
		Threshold: figures{"busy": v.t.BusySuspect, "busy_invalid": v.t.BusyInvalid, "seconds": v.t.BusyShare},
		Message:   fmt.Sprintf("the generator used %s of its %s on average, %s at most", percent(v.g.MeanBusy), cores(v.g.CPUs), percent(v.g.PeakBusy)),
	}
	limit, seconds := v.t.BusySuspect, near
	switch {
	case full >= v.t.BusyShare:
		f.Severity, limit, seconds = result.InvalidLevel, v.t.BusyInvalid, full
	case near >= v.t.BusyShare:
		f.Severity = result.SuspectLevel
	default:
		return found(f)
	}
	f.Message = fmt.Sprintf("the generator was full: it used at least %s of its %s in %s of the seconds, so the rate is its own and not the target's",
		percent(limit), cores(v.g.CPUs), percent(seconds))
	f.Advice = "run it on a machine with more cores, or spread the load over several"
	return found(f)
}

// otherCPU is rule G1 for another program, of which only the CPU time of the
// whole run is known, its start with it: so the mean decides, and not alone
// makes a result invalid.
func otherCPU(v view) answer {
	if why := v.unread("mean_busy", "cpus"); why != "" {
		return lacks(why)
	}
	if v.g.CPUs <= 0 || v.g.CPUUS <= 0 {
		return lacks("the CPU time of " + v.l.With + " is not known")
	}
	f := result.Finding{Severity: result.Info, Evidence: figures{"mean_busy": v.g.MeanBusy, "cpus": v.g.CPUs}, Threshold: figures{"busy": v.t.BusySuspect},
		Message: fmt.Sprintf("%s used %s of its %s on average", v.l.With, percent(v.g.MeanBusy), cores(v.g.CPUs))}
	if v.g.MeanBusy >= v.t.BusySuspect {
		f.Severity = result.SuspectLevel
		f.Message = fmt.Sprintf("the generator was full: %s used at least %s of its %s, so the rate is its own and not the target's", v.l.With, percent(v.t.BusySuspect), cores(v.g.CPUs))
		f.Advice = "give it more cores, or take a generator that needs less: prony"
	}
	return found(f)
}

// share is the part of the values that reach a limit.
func share(series []float64, limit float64) float64 {
	n := 0
	for _, x := range series {
		if x >= limit {
			n++
		}
	}
	return ratio(float64(n), float64(len(series)))
}

// generatorThread is rule G2 with proof: one worker had no time left, which
// the mean over all cores hides. It is invalid if the dispatch lag confirms it.
func generatorThread(v view) answer {
	switch why := v.unread("thread_series", "peak_thread_busy"); {
	case why != "":
		return lacks(why)
	case len(v.g.ThreadSeries) == 0:
		return lacks("thread_series holds no second")
	case v.l.Spun:
		return lacks(polled)
	}
	full := share(v.g.ThreadSeries, v.t.OneCore)
	if full < v.t.BusyShare || v.fired(generatorCPU) {
		return nothing()
	}
	severity := result.SuspectLevel
	if v.fired(dispatchLag) {
		severity = result.InvalidLevel
	}
	return found(result.Finding{Severity: severity,
		Evidence:  figures{"seconds": full, "peak_thread_busy": v.g.PeakThreadBusy, "mean_busy": v.g.MeanBusy, "threads": float64(v.l.Threads)},
		Threshold: figures{"thread_busy": v.t.OneCore, "seconds": v.t.BusyShare},
		Message: fmt.Sprintf("a generator thread was full: at least %s of a core in %s of the seconds, while all of its %s were used to %s",
			percent(v.t.OneCore), percent(full), cores(v.g.CPUs), percent(v.g.MeanBusy)),
		Advice: fmt.Sprintf("use more threads, e.g. -t %d, if there are cores for them", max(2*v.l.Threads, 2))})
}

// fired reports whether a rule found something that lowers the verdict.
func (v view) fired(check func(view) answer) bool {
	for _, f := range check(v).findings {
		if gravity(f.Severity) >= gravity(result.SuspectLevel) {
			return true
		}
	}
	return false
}

// generatorCore is the rest of rule G2: some core of the host was full though
// no thread of the generator was.
func generatorCore(v view) answer {
	switch why := v.unread("core_series", "mean_busy", "softirq_peak_core"); {
	case why != "":
		return lacks(why)
	case len(v.g.CoreSeries) == 0:
		return lacks("core_series holds no second")
	}
	full := share(v.g.CoreSeries, v.t.OneCore)
	if full < v.t.BusyShare || v.g.MeanBusy >= v.t.MeanLow || v.l.Spun || v.fired(generatorThread) {
		return nothing()
	}
	f := result.Finding{Severity: result.SuspectLevel,
		Evidence:  figures{"seconds": full, "mean_busy": v.g.MeanBusy, "softirq": v.g.SoftIRQ},
		Threshold: figures{"core_busy": v.t.OneCore, "seconds": v.t.BusyShare, "mean_busy": v.t.MeanLow, "softirq": v.t.SoftIRQ}}
	seconds := percent(full)
	switch {
	case v.l.Loopback:
		f.Severity = result.Info
		f.Message = fmt.Sprintf("one core of this machine was full in %s of the seconds; the target, which shares it, may have filled it", seconds)
		f.Advice = "put target and generator on different cores (taskset -c) or machines"
	case v.g.SoftIRQ >= v.t.SoftIRQ:
		f.Message = fmt.Sprintf("interrupts of the network filled one core of the generator's machine (%s of it) in %s of the seconds", percent(v.g.SoftIRQ), seconds)
		f.Advice = "spread the network's receive queues over the cores: ethtool -L IF combined N, or set rps_cpus"
	default:
		f.Message = fmt.Sprintf("one core of the generator's machine was full in %s of the seconds while the generator used %s of its %s", seconds, percent(v.g.MeanBusy), cores(v.g.CPUs))
		f.Advice = "look what runs on that core (mpstat -P ALL 1), or whether the generator is pinned to it (taskset -p PID)"
	}
	return found(f)
}

func collectorShare(v view) answer {
	if why := v.unread("gc_cpu_share"); why != "" {
		return lacks(why)
	}
	if v.g.GCCPUShare <= v.t.GCShare {
		return nothing()
	}
	return found(result.Finding{Severity: result.SuspectLevel, Evidence: figures{"gc_cpu_share": v.g.GCCPUShare}, Threshold: figures{"gc_cpu_share": v.t.GCShare},
		Message: fmt.Sprintf("the generator spent %s of its CPU time on garbage collection", percent(v.g.GCCPUShare)),
		Advice:  collectorAdvice(v)})
}

// collectorAdvice: the engine itself makes no garbage, scripts do.
func collectorAdvice(v view) string {
	if v.plan.Script != nil {
		return "set GOGC=400, or do without the script"
	}
	return "set GOGC=400, and give the generator a core of its own"
}

// collectorPause: a pause stops every worker.
func collectorPause(v view) answer {
	if why := v.unread("gc_pause_p99_us"); why != "" {
		return lacks(why)
	}
	severity, ok := exceeds(v.g.GCPauseP99US, us(v.t.PauseSuspect), us(v.t.PauseInvalid))
	if !ok {
		return nothing()
	}
	return found(result.Finding{Severity: severity, Evidence: figures{"gc_pause_p99_us": v.g.GCPauseP99US},
		Threshold: figures{"gc_pause_p99_us": us(v.t.PauseSuspect), "gc_pause_invalid_us": us(v.t.PauseInvalid)},
		Message:   fmt.Sprintf("the generator's garbage collector stopped it for up to %s (p99)", micros(v.g.GCPauseP99US)),
		Advice:    collectorAdvice(v)})
}

// goroutineScheduling matters fully where goroutines carry the requests; the
// other engines' workers own their threads, and only helpers wait.
func goroutineScheduling(v view) answer {
	if why := v.unread("sched_latency_p99_us"); why != "" {
		return lacks(why)
	}
	severity, ok := exceeds(v.g.SchedP99US, us(v.t.PauseSuspect), us(v.t.PauseInvalid))
	if !ok {
		return nothing()
	}
	message := fmt.Sprintf("goroutines that were ready waited up to %s for a thread (p99)", micros(v.g.SchedP99US))
	if v.l.Engine != string(plan.Goroutines) {
		severity = result.Info
		message += "; the workers own their threads and did not"
	}
	return found(result.Finding{Severity: severity, Message: message, Evidence: figures{"sched_latency_p99_us": v.g.SchedP99US},
		Threshold: figures{"sched_latency_p99_us": us(v.t.PauseSuspect), "sched_latency_invalid_us": us(v.t.PauseInvalid)},
		Advice:    "give the generator more cores, or use an engine with threads of its own (--engine epoll)"})
}

// CalibratedRate is the fact of the generator that says, in requests per second,
// what it can do at most against a target that does nothing (method 8.2).
const CalibratedRate = "calibrated_rate"

// headroom is rule G5: the rate against the most that this generator can do. A
// closed load has no planned rate, so that nearness there is only suspect.
func headroom(v view) answer {
	most := v.calibrated()
	asked := v.l.Rate
	if v.l.OfferedRate != nil {
		asked = *v.l.OfferedRate
	}
	switch {
	case most <= 0 && !v.open():
		return nothing()
	case most <= 0:
		return lacks("no calibration of this generator yet")
	}
	severity, ok := exceeds(asked/most, v.t.HeadroomValid, v.t.HeadroomSuspect)
	if !v.open() {
		severity, ok = exceeds(asked/most, v.t.HeadroomSuspect, math.Inf(1))
	}
	if !ok {
		return nothing()
	}
	return found(result.Finding{Severity: severity, Evidence: figures{"rate": asked, "calibrated_rate": most, "share": asked / most},
		Threshold: figures{"share": v.t.HeadroomValid, "share_invalid": v.t.HeadroomSuspect},
		Message:   fmt.Sprintf("%s is %s of the %s that this generator reaches against a target that does nothing", rate(asked), percent(asked/most), rate(most)),
		Advice:    "give the generator more cores, or spread the load over several machines"})
}

// calibrated is the calibrated maximum of the generator; 0 if there is none.
func (v view) calibrated() float64 {
	for _, o := range v.things(result.OfGenerator) {
		if most, err := strconv.ParseFloat(o.Facts[CalibratedRate], 64); err == nil {
			return most
		}
	}
	return 0
}

func throttled(v view) answer {
	if why := v.unread("throttled"); why != "" {
		return lacks(why)
	}
	if v.g.Throttled <= 0 {
		return nothing()
	}
	severity := result.SuspectLevel
	if v.g.Throttled >= v.t.ThrottledInvalid {
		severity = result.InvalidLevel
	}
	return found(result.Finding{Severity: severity, Evidence: figures{"throttled": v.g.Throttled}, Threshold: figures{"throttled": 0, "throttled_invalid": v.t.ThrottledInvalid},
		Message: fmt.Sprintf("the CPU quota held the generator back in %s of its periods", percent(v.g.Throttled)),
		Advice:  "raise the quota of its container or service (docker run --cpus, CPUQuota=), or drop it and pin cores instead"})
}

// openFiles is rule G7: counted refusals are certain, a nearly reached limit is
// likely to be the next.
func openFiles(v view) answer {
	if n := v.l.Failures[result.FileLimit.String()]; n > 0 {
		return found(result.Finding{Severity: result.SuspectLevel, Evidence: figures{"failures": float64(n), "file_limit": float64(v.g.FileLimit)}, Threshold: figures{"failures": 0},
			Message: fmt.Sprintf("the limit on open files refused %s", many(n, "connection")),
			Advice:  fmt.Sprintf("raise it before the run: ulimit -n %d", max(65536, 2*v.l.Connections.Asked))})
	}
	if why := v.unread("open_files_peak", "file_limit"); why != "" {
		return lacks(why)
	}
	if v.g.FileLimit <= 0 {
		return lacks("file_limit is not in the result")
	}
	used := float64(v.g.OpenFiles) / float64(v.g.FileLimit)
	if used < v.t.FilesNear {
		return nothing()
	}
	return found(result.Finding{Severity: result.Note, Evidence: figures{"open_files": float64(v.g.OpenFiles), "file_limit": float64(v.g.FileLimit), "share": used},
		Threshold: figures{"share": v.t.FilesNear},
		Message:   fmt.Sprintf("%s of %s allowed files were open", count(v.g.OpenFiles), count(v.g.FileLimit)),
		Advice:    fmt.Sprintf("raise the limit before the run: ulimit -n %d", 2*v.g.FileLimit)})
}

func monitorCost(v view) answer {
	if why := v.unread("monitor_cpu"); why != "" {
		return lacks(why)
	}
	if v.g.MonitorCPU < v.t.MonitorCost {
		return nothing()
	}
	return found(result.Finding{Severity: result.Note, Evidence: figures{"monitor_cpu": v.g.MonitorCPU}, Threshold: figures{"monitor_cpu": v.t.MonitorCost},
		Message: fmt.Sprintf("watching the generator cost %s of a core, more than it should", percent(v.g.MonitorCPU)),
		Advice:  "nothing to do if cores were idle; else mind it when comparing"})
}
