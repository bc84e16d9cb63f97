package analyse

import (
	"fmt"
	"math"
	"strings"

	"prony/internal/hdr"
	"prony/internal/result"
)

// cpuRules ask whether a service had CPU left (method 7.4).
func cpuRules() []rule {
	return []rule{
		{"cpu-quota", "T1", cpuQuota},
		{"one-thread", "K1", oneThread},
		{"target-cpu", "K2", targetCPU},
		{"host-cpu", "K2", hostCPU},
	}
}

// eachService applies a rule to every watched instance.
func (v view) eachService(check func(*answer, *result.Observed)) answer {
	all := v.things(result.OfService)
	if len(all) == 0 {
		return lacks(unwatched)
	}
	var a answer
	for _, o := range all {
		check(&a, o)
	}
	return a
}

// cpuQuota is rule T1: the share of the quota's periods in which the instance
// was held back. A mean below the quota proves nothing: a burst uses up 100 ms
// worth of quota in a few, and waits for the rest.
func cpuQuota(v view) answer {
	if len(v.things(result.OfService)) == 0 {
		return v.quotaOfCosts()
	}
	return v.eachService(func(a *answer, o *result.Observed) {
		held, known := v.heldBack(o)
		if !known {
			if v.quota(o) > 0 {
				a.lack("throttled_ratio of " + place(o) + " is not known")
			}
			return
		}
		used, _ := v.mean(o, result.CPUCores)
		waited, _ := v.mean(o, result.ThrottledFor)
		v.judgeQuota(a, place(o), held, used, v.quota(o), waited)
	})
}

// quotaOfCosts uses the counters that were read at the two ends of the load.
func (v view) quotaOfCosts() answer {
	if len(v.r.Services) == 0 {
		return lacks(unwatched)
	}
	var a answer
	for _, s := range v.r.Services {
		used := ratio(s.CPUUS, v.l.DurationUS+v.l.WarmupUS)
		if s.Limits.CPUs > 0 {
			v.judgeQuota(&a, instance(s.Name, s.Instance), s.ThrottledRatio, used, s.Limits.CPUs, 0)
		}
	}
	return a
}

// heldBack is the share of quota periods in which an instance was throttled.
func (v view) heldBack(o *result.Observed) (share float64, known bool) {
	n, ok := v.total(o, result.ThrottledN)
	periods, both := v.total(o, result.Periods)
	if ok && both {
		return ratio(n, periods), true
	}
	if share, known = v.mean(o, result.Throttled); known {
		return share, true
	}
	if s := v.costs(o); s != nil && s.Limits.CPUs > 0 {
		return s.ThrottledRatio, true
	}
	return 0, false
}

func (v view) judgeQuota(a *answer, where string, held, used, quota, waited float64) {
	if held < v.t.QuotaNote {
		if quota > 0 {
			a.cleared = append(a.cleared, fmt.Sprintf("CPU quota of %s (held back in %s of its periods)", where, percent(held)))
		}
		return
	}
	f := result.Finding{Severity: result.Note, Confidence: result.Definite, Where: where,
		Evidence:  figures{"throttled": held, "cpu_cores": used, "quota_cores": quota, "throttled_cores": waited},
		Threshold: figures{"throttled": v.t.QuotaNote, "throttled_limit": v.t.QuotaLimit},
		Message:   fmt.Sprintf("the CPU quota of %s held it back in %s of its periods", where, percent(held)),
		Advice:    "raise the quota, or give it whole cores instead (cpuset); let the runtime know it (GOMAXPROCS, -XX:ActiveProcessorCount)"}
	if quota > 0 {
		f.Message += fmt.Sprintf(", at a mean use of %.3g of %s", used, cores(quota))
	}
	if n, ok := v.periodMultiple(); ok {
		f.Message += fmt.Sprintf("; the p99 of %s is %d of the quota's periods of 100 ms", nanos(float64(v.l.Latency.Response.Value(hdr.P99))), n)
		f.Evidence["p99_periods"] = float64(n)
	}
	a.findings = append(a.findings, f)
	if held >= v.t.QuotaLimit {
		a.limits = append(a.limits, limit{what: "cpu-quota", where: where, message: f.Message, evidence: f.Evidence, sure: result.Definite, full: held})
	}
}

// periodMultiple reports whether the p99 lies on a multiple of the usual quota
// period, within 5 % of a period.
func (v view) periodMultiple() (n int64, ok bool) {
	const period = 100e6 // ns
	h := v.l.Latency.Response
	if h.Empty() {
		return 0, false
	}
	periods := float64(h.Value(hdr.P99)) / period
	n = int64(math.Round(periods))
	return n, n >= 1 && n <= 20 && math.Abs(periods-float64(n)) <= 0.05
}

// oneThread is rule K1: one thread has no time left, and more cores would not
// help it. That is so if cores of the host were idle; and also on a full host,
// if the threads of the instance did not wait for a core: then there was nothing
// that another core could have run.
func oneThread(v view) answer {
	return v.eachService(func(a *answer, o *result.Observed) {
		threads, used := v.in(o, result.ThreadMax), v.in(o, result.CPUCores)
		if len(threads) == 0 || len(used) == 0 {
			a.lack("thread_max_cores or cpu_cores of " + place(o) + " is not known")
			return
		}
		part := threads.Share(v.t.OneCore)
		if part < v.t.Sustained || used.Mean() >= v.t.OneThreadMost {
			return
		}
		idle, known := v.idle(o)
		waited, told := v.mean(o, result.RunDelay)
		delay := ratio(waited, used.Mean())
		if !known && !told {
			a.lack("whether " + place(o) + " could have had another core is not known")
			return
		}
		if (!known || idle < v.t.HostIdle) && (!told || delay >= v.t.RunDelay) {
			return // another thread would have had no core
		}
		f := result.Finding{Severity: result.Note, Where: place(o),
			Evidence: figures{"thread_cores": threads.Mean(), "cpu_cores": used.Mean(), "seconds": part, "idle": idle, "run_delay": delay},
			Threshold: figures{"thread_cores": v.t.OneCore, "seconds": v.t.Sustained, "cpu_cores": v.t.OneThreadMost, "idle": v.t.HostIdle,
				"run_delay": v.t.RunDelay},
			Message: fmt.Sprintf("one thread of %s%s was full (%s of a core), and the others had little to do: it uses one core and no more",
				place(o), v.threadName(o), percent(threads.Mean())),
			Advice: "let it use more threads, workers or processes; a lock or a single event loop keeps it on one core"}
		a.findings = append(a.findings, f)
		a.limits = append(a.limits, limit{what: "one-thread", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Likely, full: threads.Mean()})
	})
}

// idle is the idle share of the host of an instance.
func (v view) idle(o *result.Observed) (share float64, known bool) {
	busy, known := v.mean(v.host(o.Host), result.HostBusy)
	if !known {
		return 0, false
	}
	return 1 - busy, true
}

// threadName names the threads whose busiest one used the most CPU.
func (v view) threadName(o *result.Observed) string {
	name, most := "", 0.0
	for _, th := range v.things(result.OfThread) {
		if th.Service != serviceOf(o) || th.Instance != o.Instance {
			continue
		}
		used, ok := v.mean(th, result.ThreadMax)
		if !ok {
			used, ok = v.mean(th, result.CPUCores)
		}
		if ok && used > most {
			name, most = th.Name, used
		}
	}
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// targetCPU is rule K2: nearly all of the CPU that an instance may use was used,
// and its threads waited for more.
func targetCPU(v view) answer {
	return v.eachService(func(a *answer, o *result.Observed) {
		used, all := v.in(o, result.CPUCores), v.allowed(o)
		if len(used) == 0 || all <= 0 {
			a.lack("cpu_cores of " + place(o) + ", or how many it may use, is not known")
			return
		}
		share := used.Mean() / all
		full := used.Share(v.t.CPUFull * all)
		if full < v.t.Sustained {
			a.cleared = append(a.cleared, fmt.Sprintf("CPU of %s (%.3g of %s)", place(o), used.Mean(), cores(all)))
			return
		}
		delay, pressure, known := v.waits(o, used.Mean())
		if !known {
			a.lack("run_delay_cores of " + place(o) + " and the pressure of its host are not known")
			return
		}
		if delay < v.t.RunDelay && pressure < v.t.PressureLimit {
			return
		}
		f := result.Finding{Severity: result.Note, Where: place(o),
			Evidence:  figures{"cpu_cores": used.Mean(), "allowed_cores": all, "used": share, "seconds": full, "run_delay": delay, "cpu_pressure": pressure},
			Threshold: figures{"used": v.t.CPUFull, "seconds": v.t.Sustained, "run_delay": v.t.RunDelay, "cpu_pressure": v.t.PressureLimit},
			Message: fmt.Sprintf("the CPU of %s was full: %.3g of the %s that it may use, and its threads waited for more",
				place(o), used.Mean(), cores(all)),
			Advice: "give it more cores, or make a request cheaper; a profile says what it costs"}
		a.findings = append(a.findings, f)
		a.limits = append(a.limits, limit{what: "target-cpu", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Likely, full: share})
	})
}

// waits is how much the threads of an instance waited for a core: per running
// time, and as pressure of its group or host.
func (v view) waits(o *result.Observed, used float64) (delay, pressure float64, known bool) {
	waited, byThread := v.mean(o, result.RunDelay)
	pressure, byGroup := v.mean(o, result.OwnPSICPU)
	if !byGroup {
		pressure, byGroup = v.mean(v.host(o.Host), result.PSICPUSome)
	}
	if !byThread {
		waited = 0
	}
	if !byGroup {
		pressure = 0
	}
	return ratio(waited, used), pressure, byThread || byGroup
}

// hostCPU is rule K2 for a machine that several share: all of its cores are
// full though no single one of them filled its part.
func hostCPU(v view) answer {
	return v.eachHost(v.targetHosts(), func(a *answer, o *result.Observed) {
		busy := v.in(o, result.HostBusy)
		pressure, known := v.mean(o, result.PSICPUSome)
		queue, queued := v.mean(o, result.RunQueue)
		if len(busy) == 0 || !known && !queued {
			a.lack("cpu_busy_ratio of " + place(o) + " or what waited there is not known")
			return
		}
		part := busy.Share(v.t.OneCore)
		waiting := known && pressure >= v.t.PressureLimit || queued && queue > v.hostCPUs(o.Name) && v.hostCPUs(o.Name) > 0
		if part < v.t.Sustained || !waiting {
			a.cleared = append(a.cleared, fmt.Sprintf("CPU of %s (%s busy)", place(o), percent(busy.Mean())))
			return
		}
		f := result.Finding{Severity: result.Note, Where: place(o), Evidence: figures{"busy": busy.Mean(), "seconds": part},
			Threshold: figures{"busy": v.t.OneCore, "seconds": v.t.Sustained, "cpu_pressure": v.t.PressureLimit},
			Message:   fmt.Sprintf("all cores of %s were full%s", place(o), v.sharing(o)),
			Advice:    "give the parties cores of their own, more cores, or machines of their own"}
		if known {
			f.Evidence["cpu_pressure"] = pressure
		}
		if queued {
			f.Evidence["run_queue"] = queue
		}
		a.findings = append(a.findings, f)
		a.limits = append(a.limits, limit{what: "host-cpu", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Likely, full: busy.Mean()})
	})
}

// sharing lists who used the cores of a host, and how many of them.
func (v view) sharing(host *result.Observed) string {
	var parts []string
	if host.Name == "" && v.watched() {
		parts = append(parts, fmt.Sprintf("the generator used %.2g", v.g.MeanBusy*v.g.CPUs))
	}
	for _, o := range v.things(result.OfService) {
		if used, ok := v.mean(o, result.CPUCores); ok && o.Host == host.Name {
			parts = append(parts, fmt.Sprintf("%s %.2g", place(o), used))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf(": of %s %s", cores(v.hostCPUs(host.Name)), strings.Join(parts, ", "))
}
