package analyse

import (
	"fmt"
	"math"
	"strings"

	"prony/internal/result"
)

// resourceRules look at memory, disks and files of targets and their hosts
// (method 7.4).
func resourceRules() []rule {
	return []rule{
		{"out-of-memory", "M1", outOfMemory},
		{"memory-limit", "M1", memoryLimit},
		{"host-memory", "M1", hostMemory},
		{"io-pressure", "PSI", ioPressure},
		{"disk", "D1", disk},
		{"target-files", "FD1", targetFiles},
	}
}

// outOfMemory is rule M1 at its worst: the kernel killed something, so that the
// target of the end was not the target of the beginning.
func outOfMemory(v view) answer {
	var a answer
	seen := map[string]bool{}
	report := func(where string, kills float64) {
		if kills > 0 && !seen[where] {
			seen[where] = true
			a.findings = append(a.findings, result.Finding{Severity: result.InvalidLevel, Confidence: result.Definite, Where: where,
				Evidence: figures{"oom_kills": kills}, Threshold: figures{"oom_kills": 0},
				Message: fmt.Sprintf("the kernel killed %s of %s for want of memory", many(int64(kills), "process"), where),
				Advice:  "raise the memory limit, or lower the heap, caches or connections of the service"})
		}
	}
	for _, o := range v.things(result.OfService) {
		if kills, ok := v.total(o, result.OOMKills); ok {
			report(place(o), math.Round(kills))
		}
	}
	for _, s := range v.r.Services {
		report(instance(s.Name, s.Instance), float64(s.OOMKills))
	}
	if len(v.r.Services) == 0 && len(v.things(result.OfService)) == 0 {
		return lacks(unwatched)
	}
	return a
}

// memoryLimit is rule M1 for the memory limit of an instance. A group at its
// limit gives back the page cache, which is usual and harmless; it is a limit
// only while something also waited for memory.
func memoryLimit(v view) answer {
	return v.eachService(func(a *answer, o *result.Observed) {
		events, known := v.total(o, result.MemoryEvents)
		if !known {
			for _, l := range v.limitsOf(o) {
				if l.Memory > 0 {
					a.lack("memory_events of " + place(o) + " is not known")
					return
				}
			}
			return
		}
		if events == 0 {
			a.cleared = append(a.cleared, "memory limit of "+place(o))
			return
		}
		full, waited := v.mean(o, result.OwnPSIMemory)
		faults, paged := v.mean(o, result.ServiceFault)
		f := result.Finding{Severity: result.Note, Confidence: result.Definite, Where: place(o), Evidence: figures{"memory_events": events},
			Threshold: figures{"memory_events": 0, "memory_pressure_full": v.t.MemoryFull, "major_faults_rate": v.t.MajorFaults},
			Message:   fmt.Sprintf("%s ran into its memory limit %s", place(o), times(events)),
			Advice:    "raise the limit, or lower the heap, caches or connections of the service"}
		if waited {
			f.Evidence["memory_pressure_full"] = full
		}
		if paged {
			f.Evidence["major_faults_rate"] = faults
		}
		a.findings = append(a.findings, f)
		if waited && full >= v.t.MemoryFull || paged && faults > v.t.MajorFaults {
			f.Message += ", and waited for memory"
			a.limits = append(a.limits, limit{what: "memory", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Definite, full: full})
		}
	})
}

// hostMemory is rule M1 for a machine: hardly any left, or pages go to and fro.
func hostMemory(v view) answer {
	return v.eachHost(v.things(result.OfHost), func(a *answer, o *result.Observed) {
		free, ok := v.mean(o, result.MemoryAvailable)
		all, known := v.mean(o, result.MemoryTotal)
		if !ok || !known {
			a.lack("memory_available of " + place(o) + " is not known")
			return
		}
		evidence := figures{"available": ratio(free, all)}
		threshold := figures{"available": v.t.MemoryFree}
		var signs []string
		if ratio(free, all) < v.t.MemoryFree {
			signs = append(signs, fmt.Sprintf("%s of its memory was left", percent(ratio(free, all))))
		}
		thrashing := false
		for _, c := range []struct {
			metric result.Metric
			limit  float64
			says   string
			unit   float64
		}{
			{result.SwapRate, v.t.SwapRate, "%.0f pages a second were swapped", 1},
			{result.MajorFaults, v.t.MajorFaults, "%.0f pages a second came from disk", 1},
			{result.PSIMemoryFull, v.t.MemoryFull, "in %.2g%% of the time everything waited for memory", 100},
			{result.PSIMemorySome, v.t.MemorySome, "in %.2g%% of the time something waited for memory", 100},
		} {
			if x, ok := v.mean(o, c.metric); ok && x >= c.limit {
				evidence[string(c.metric)], threshold[string(c.metric)] = x, c.limit
				signs = append(signs, fmt.Sprintf(c.says, c.unit*x))
				thrashing = thrashing || c.metric == result.SwapRate || c.metric == result.PSIMemoryFull
			}
		}
		if len(signs) == 0 {
			a.cleared = append(a.cleared, "memory of "+place(o))
			return
		}
		f := result.Finding{Severity: result.Note, Where: place(o), Evidence: evidence, Threshold: threshold,
			Message: fmt.Sprintf("%s was short of memory: %s", place(o), strings.Join(signs, ", ")),
			Advice:  "see who holds it (ps -eo rss,args --sort -rss | head), turn swap off, or use a machine with more"}
		a.findings = append(a.findings, f)
		if thrashing {
			a.limits = append(a.limits, limit{what: "memory", where: f.Where, message: f.Message, evidence: evidence, sure: result.Likely, full: 1 - ratio(free, all)})
		}
	})
}

// ioPressure is rule PSI for input and output: the share of time in which
// something of the host waited for a disk.
func ioPressure(v view) answer {
	return v.eachHost(v.targetHosts(), func(a *answer, o *result.Observed) {
		some, known := v.mean(o, result.PSIIOSome)
		if !known {
			a.lack("psi_io_some_ratio of " + place(o) + " is not known")
			return
		}
		if some < v.t.IOPressure {
			return
		}
		a.findings = append(a.findings, result.Finding{Severity: result.Note, Where: place(o), Evidence: figures{"io_pressure": some},
			Threshold: figures{"io_pressure": v.t.IOPressure},
			Message:   fmt.Sprintf("in %s of the time something on %s waited for a disk", percent(some), place(o)),
			Advice:    "see which (iostat -x 1; pidstat -d 1); often it is the access log"})
	})
}

// disk is rule D1: threads of the target blocked on a disk, or a disk without
// time left. Either alone is a note; together they are a limit.
func disk(v view) answer {
	return v.eachService(func(a *answer, o *result.Observed) {
		blocked, known := v.mean(o, result.SleepD)
		if !known {
			a.lack("blocked_cores of " + place(o) + " is not known")
			return
		}
		host := v.host(o.Host)
		var full float64
		if host != nil {
			full = v.in(host, result.DiskBusyMax).Share(v.t.DiskFull)
		}
		queue, _ := v.mean(host, result.DiskQueueMax)
		pressure, _ := v.mean(host, result.PSIIOSome)
		busy := full >= v.t.Sustained && queue > 1
		if blocked < v.t.Blocked {
			a.cleared = append(a.cleared, "disk of "+place(o))
			return
		}
		f := result.Finding{Severity: result.Note, Where: place(o), Evidence: figures{"blocked_cores": blocked},
			Threshold: figures{"blocked_cores": v.t.Blocked, "disk_busy": v.t.DiskFull, "io_pressure": v.t.IOPressure},
			Message:   fmt.Sprintf("threads of %s were blocked on a disk: %.2g of them on average", place(o), blocked),
			Advice:    "turn the access log off or buffer it, and say so beside the result; use a faster disk"}
		if !math.IsNaN(full) {
			f.Evidence["disk_busy_seconds"], f.Evidence["disk_queue"] = full, queue
		}
		f.Evidence["io_pressure"] = pressure
		a.findings = append(a.findings, f)
		if busy || pressure >= v.t.IOPressure {
			a.limits = append(a.limits, limit{what: "disk", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Likely, full: blocked})
		}
	})
}

// targetFiles is rule FD1: open files of a target near its limit.
func targetFiles(v view) answer {
	return v.eachService(func(a *answer, o *result.Observed) {
		open, ok := v.peak(o, result.Files)
		most, known := v.peak(o, result.FilesMost)
		if !ok || !known || most <= 0 {
			a.lack("files_count or file_limit_count of " + place(o) + " is not known")
			return
		}
		if open/most < v.t.FilesNear {
			return
		}
		a.findings = append(a.findings, result.Finding{Severity: result.Note, Where: place(o),
			Evidence: figures{"open_files": open, "file_limit": most, "share": open / most}, Threshold: figures{"share": v.t.FilesNear},
			Message: fmt.Sprintf("%s had %s of %s allowed files open", place(o), count(int64(open)), count(int64(most))),
			Advice:  fmt.Sprintf("raise its limit: LimitNOFILE=, docker run --ulimit nofile=%.0f, worker_rlimit_nofile", max(65536, 2*most))})
	})
}
