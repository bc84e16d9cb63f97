package analyse

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"prony/internal/result"
)

// jvmRules look at managed runtimes (methods 3.4 and 7.4). A run without one
// has nothing to judge.
func jvmRules() []rule {
	return []rule{
		{"target-gc", "GC1", targetGC},
		{"compiling", "W2", compiling},
	}
}

// targetGC is rule GC1: the share of the window in which the virtual machine
// stood still for its collector, or a tail that coincides with it.
func targetGC(v view) answer {
	var a answer
	for _, o := range v.things(result.OfJVM) {
		paused, known := v.mean(o, result.GCTime)
		if !known {
			a.lack("gc_ratio of " + place(o) + " is not known")
			continue
		}
		slow, usual, seconds := v.slowSecondsWith(o, result.GCTime)
		tail := seconds >= 3 && slow >= v.t.GCTail && usual <= v.t.GCTail/5
		if paused < v.t.GCPaused && !tail {
			a.cleared = append(a.cleared, fmt.Sprintf("garbage collection of %s (%s of the time)", place(o), percent(paused)))
			continue
		}
		f := result.Finding{Severity: result.Note, Where: place(o),
			Evidence:  figures{"gc": paused, "slow_seconds_with": slow, "other_seconds_with": usual},
			Threshold: figures{"gc": v.t.GCPaused, "slow_seconds_with": v.t.GCTail, "gc_limit": v.t.GCLimit},
			Message:   fmt.Sprintf("garbage collection stopped %s for %s of the time", place(o), percent(paused)),
			Advice:    "give it more heap (-Xms and -Xmx equal), another collector, or make less garbage; -Xlog:gc* says which"}
		if tail {
			f.Confidence = result.Hint
			f.Message += fmt.Sprintf("; the tail is GC: it ran in %s of the slowest seconds and in %s of the others", percent(slow), percent(usual))
		}
		a.findings = append(a.findings, f)
		if paused >= v.t.GCLimit {
			a.limits = append(a.limits, limit{what: "garbage-collection", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Likely, full: paused})
		}
	}
	return a
}

// slowSecondsWith is the share of the slowest seconds (the twentieth with the
// highest p99) and of the others in which a metric was above zero, and how many
// the slowest are.
func (v view) slowSecondsWith(o *result.Observed, m result.Metric) (slow, others float64, n int) {
	window := slices.Clone(v.window())
	if len(window) < 20 {
		return 0, 0, 0
	}
	slices.SortStableFunc(window, func(a, b result.Interval) int {
		return cmp.Compare(b.Response.P99(), a.Response.P99())
	})
	n = len(window) / 20
	for i, iv := range window {
		if x, ok := valueIn(o, m, iv); !ok || x <= 0 {
			continue
		}
		if i < n {
			slow++
		} else {
			others++
		}
	}
	return ratio(slow, float64(n)), ratio(others, float64(len(window)-n)), n
}

// valueIn is the value of the sample that lies for the most part in an
// interval; of several the largest.
func valueIn(o *result.Observed, m result.Metric, iv result.Interval) (x float64, ok bool) {
	series := o.Series[m]
	from, _ := slices.BinarySearch(o.AtUS, iv.StartUS)
	for i := from; i < min(len(series), len(o.AtUS), len(o.LengthUS)); i++ {
		middle := o.AtUS[i] - o.LengthUS[i]/2
		if middle >= iv.StartUS+iv.LengthUS {
			break
		}
		if middle >= iv.StartUS && !math.IsNaN(series[i]) && (!ok || series[i] > x) {
			x, ok = series[i], true
		}
	}
	return x, ok
}

// compiling asks whether a virtual machine was warm, by the part of its CPU that
// compilation still took inside the window (method 3.4).
func compiling(v view) answer {
	var a answer
	for _, o := range v.things(result.OfJVM) {
		used, known := v.compilerCores(o)
		if !known {
			a.lack("compile_cores of " + place(o) + " is not known")
			continue
		}
		all := v.jvmCores(o)
		if all <= 0 {
			a.lack("how many cores " + place(o) + " may use is not known")
			continue
		}
		if share := used / all; share >= v.t.Compiling {
			f := result.Finding{Severity: result.SuspectLevel, Where: place(o),
				Evidence:  figures{"compile_cores": used, "allowed_cores": all, "share": share},
				Threshold: figures{"share": v.t.Compiling, "share_limit": v.t.CompilingLimit},
				Message: fmt.Sprintf("%s was still compiling: its just-in-time compiler used %.2g of %s inside the window, so it was not warm",
					place(o), used, cores(all)),
				Advice: "warm up longer, by CPU time and not by the clock: under a small quota a minute holds few CPU seconds"}
			a.findings = append(a.findings, f)
			if share >= v.t.CompilingLimit {
				a.limits = append(a.limits, limit{what: "compiling", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Likely, full: share})
			}
		}
	}
	return a
}

// compilerCores is the CPU of the just-in-time compiler: that of its threads,
// or where they were not seen the time that the machine itself counts. That is
// time by the clock, which goes on while a quota holds the compiler back.
func (v view) compilerCores(o *result.Observed) (cores float64, known bool) {
	cores, known = v.mean(o, result.CompileTime)
	threads, seen := 0.0, false
	for _, t := range v.things(result.OfThread) {
		if serviceOf(t) == serviceOf(o) && t.Instance == o.Instance && strings.Contains(t.Name, "CompilerThre") {
			used, ok := v.mean(t, result.CPUCores)
			threads, seen = threads+used, seen || ok
		}
	}
	if seen {
		return threads, true
	}
	return cores, known
}

// jvmCores is what the instance of a virtual machine may use.
func (v view) jvmCores(o *result.Observed) float64 {
	for _, s := range v.things(result.OfService) {
		if serviceOf(s) == serviceOf(o) && s.Instance == o.Instance {
			return v.allowed(s)
		}
	}
	return v.allowed(o)
}
