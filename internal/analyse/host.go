package analyse

import (
	"fmt"

	"prony/internal/plan"
	"prony/internal/result"
)

// hostRules ask whether the generator's machine was quiet (method 4.6).
func hostRules() []rule {
	return []rule{
		{"co-located", "Q1", coLocated},
		{"steal", "S1", steal},
		{"foreign-cpu", "Q2", foreignCPU},
		{"cpu-pressure", "Q3", cpuPressure},
		{"hiccups", "Q4", hiccups},
	}
}

// coLocated notes a shared machine. Which cores target and generator used is
// not fully known, so that it stays a note; what the two did to each other
// shows in the rules that follow.
func coLocated(v view) answer {
	if !v.l.Loopback {
		return nothing()
	}
	return found(result.Finding{Severity: result.Note, Evidence: figures{"loopback": 1}, Threshold: figures{"loopback": 0},
		Message: "generator and target shared this machine and its cores: the rate is what both reach together, not the capacity of the server alone",
		Advice:  "for absolute capacity run the generator on another machine; for comparisons pin both (taskset -c)"})
}

// steal is rule S1: on the generator's machine, and on every other that was
// watched.
func steal(v view) answer {
	var a answer
	if why := v.unread("steal"); why != "" {
		a.missing = why
	} else {
		v.stolen(&a, "", v.g.Steal)
	}
	for _, o := range v.things(result.OfHost) {
		if share, ok := v.mean(o, result.HostSteal); ok && o.Name != "" {
			v.stolen(&a, o.Name, share)
		}
	}
	return a
}

func (v view) stolen(a *answer, host string, share float64) {
	severity, ok := graded(share, v.t.StealSuspect, v.t.StealInvalid)
	if !ok {
		return
	}
	a.findings = append(a.findings, result.Finding{Severity: severity, Confidence: result.Definite, Where: machine(host), Evidence: figures{"steal": share},
		Threshold: figures{"steal": v.t.StealSuspect, "steal_invalid": v.t.StealInvalid},
		Message:   fmt.Sprintf("the hypervisor gave %s of the CPU time of %s to others", percent(share), machine(host)),
		Advice:    "use a machine with cores of its own (dedicated or bare metal)"})
}

// foreignCPU is what ran beside the generator and the services, on each machine
// whose parties are all known. A target on the same machine of which nobody
// knows would be counted, so that then the rule cannot run.
func foreignCPU(v view) answer {
	var a answer
	for _, o := range v.things(result.OfHost) {
		if own, known := v.ownCores(o.Name); known && (o.Name != "" || v.l.Loopback || v.serves("")) {
			v.foreignOn(&a, o, own)
		}
	}
	if own, known := v.ownCores(""); known && own > 0 && v.host("") != nil && (v.l.Loopback || v.serves("")) {
		return a
	}
	switch why := v.unread("host_busy", "mean_busy", "cpus"); {
	case why != "":
		a.missing = why
	case v.l.Loopback || v.serves(""):
		a.missing = "the target ran on this machine, and its CPU use is not known"
	case v.r.Environment.CPUs <= 0:
		a.missing = "the machine's number of cores is not in the result"
	default:
		all := float64(v.r.Environment.CPUs)
		v.foreign(&a, "", v.g.HostBusy*all-v.g.MeanBusy*v.g.CPUs, v.g.HostBusy)
	}
	return a
}

// ownCores is what the parties of the run used of a machine; known is false if
// one of them is not known, or if there is none.
func (v view) ownCores(host string) (cores float64, known bool) {
	watched := 0
	for _, o := range v.things(result.OfService) {
		if o.Host != host {
			continue
		}
		used, ok := v.mean(o, result.CPUCores)
		if !ok {
			return 0, false
		}
		cores, watched = cores+used, watched+1
	}
	planned := 0
	for _, s := range v.r.Services {
		if s.Host == host {
			planned++
		}
	}
	if watched == 0 || watched < planned || v.outside(host) {
		return 0, false
	}
	cores += v.r.WatchCores
	if host == "" {
		if v.unread("mean_busy", "cpus") != "" {
			return 0, false
		}
		cores += v.g.MeanBusy * v.g.CPUs
	}
	return cores, true
}

// outside reports whether a service that runs already may be on the host.
func (v view) outside(host string) bool {
	if v.r.Plan == nil {
		return v.l.Loopback && host == ""
	}
	for _, s := range v.r.Plan.Services {
		if s.Kind == plan.External && s.Host == host && (host != "" || v.l.Loopback) {
			return true
		}
	}
	return false
}

// foreignOn leaves out the time of interrupts, which belongs to nobody and
// comes with the load.
func (v view) foreignOn(a *answer, o *result.Observed, own float64) {
	busy, known := v.mean(o, result.HostBusy)
	all := v.hostCPUs(o.Name)
	if !known || all <= 0 {
		a.lack("cpu_busy_ratio of " + place(o) + " is not known")
		return
	}
	interrupts, ok := v.mean(o, result.HostSoftIRQ)
	if !ok {
		interrupts = 0
	}
	n := len(a.findings)
	v.foreign(a, o.Name, (busy-interrupts)*all-own, busy)
	if len(a.findings) == n || !v.crowded(o.Name) {
		return
	}
	f := a.findings[n]
	a.limits = append(a.limits, limit{what: "foreign-cpu", where: f.Where, message: f.Message + ", and services waited for a core",
		evidence: f.Evidence, sure: result.Likely, full: busy})
}

// crowded reports whether a service on the host waited for a core.
func (v view) crowded(host string) bool {
	for _, o := range v.things(result.OfService) {
		used, ok := v.mean(o, result.CPUCores)
		if !ok || o.Host != host {
			continue
		}
		if delay, pressure, known := v.waits(o, used); known && (delay >= v.t.RunDelay || pressure >= v.t.PressureLimit) {
			return true
		}
	}
	return false
}

func (v view) foreign(a *answer, host string, foreign, busy float64) {
	all := v.hostCPUs(host)
	severity := result.SuspectLevel
	switch {
	case foreign < v.t.ForeignSuspect:
		return
	case foreign >= v.t.ForeignInvalid && foreign >= v.t.ForeignInvalidShare*all:
		severity = result.InvalidLevel
	}
	a.findings = append(a.findings, result.Finding{Severity: severity, Where: machine(host),
		Evidence:  figures{"foreign_cores": foreign, "host_busy": busy, "host_cpus": all},
		Threshold: figures{"foreign_cores": v.t.ForeignSuspect, "foreign_cores_invalid": max(v.t.ForeignInvalid, v.t.ForeignInvalidShare*all)},
		Message:   fmt.Sprintf("other programs used %s of the %s of %s", cores(foreign), cores(all), v.machineOf(host)),
		Advice:    "find them (top -o %CPU) and stop them"})
}

// machineOf names a machine by its part in the run.
func (v view) machineOf(host string) string {
	if host == "" {
		return "the generator's machine"
	}
	return host
}

// cpuPressure is the share of time in which something waited for a core. On a
// shared machine the waiting may be the target's, which is one step milder.
func cpuPressure(v view) answer {
	if why := v.unread("cpu_pressure"); why != "" {
		return lacks(why)
	}
	severity, ok := graded(v.g.CPUPressure, v.t.PressureSuspect, v.t.PressureInvalid)
	if !ok {
		return nothing()
	}
	message := fmt.Sprintf("in %s of the time something on the generator's machine waited for a core", percent(v.g.CPUPressure))
	if v.l.Loopback {
		severity = milder(severity)
		message += ": the generator, the target or others"
	}
	// The kernel counts tasks that a quota holds back as waiting, though a core
	// be free; and so would every target with a quota make its generator suspect.
	if held := v.quotaHeld(); held != "" && severity == result.SuspectLevel {
		severity = result.Note
		message += "; tasks that the quota of " + held + " held back count as waiting here"
	}
	return found(result.Finding{Severity: severity, Message: message, Evidence: figures{"cpu_pressure": v.g.CPUPressure},
		Threshold: figures{"cpu_pressure": v.t.PressureSuspect, "cpu_pressure_invalid": v.t.PressureInvalid},
		Advice:    "leave cores free: fewer threads (-t), another machine for the target, nothing else running"})
}

// quotaHeld is a service on this machine that its CPU quota held back; "" if none
// was.
func (v view) quotaHeld() string {
	for _, o := range v.things(result.OfService) {
		if share, ok := v.mean(o, result.Throttled); ok && o.Host == "" && share >= v.t.QuotaNote {
			return place(o)
		}
	}
	return ""
}

// hiccups is by how much a short sleep came late: what the machine does to a
// thread that is ready to run.
func hiccups(v view) answer {
	if why := v.unread("hiccup_p99_us"); why != "" {
		return lacks(why)
	}
	severity, ok := exceeds(v.g.HiccupP99US, us(v.t.HiccupSuspect), us(v.t.HiccupInvalid))
	if !ok {
		return nothing()
	}
	if v.l.Loopback {
		severity = milder(severity)
	}
	return found(result.Finding{Severity: severity, Evidence: figures{"hiccup_p99_us": v.g.HiccupP99US},
		Threshold: figures{"hiccup_p99_us": us(v.t.HiccupSuspect), "hiccup_invalid_us": us(v.t.HiccupInvalid)},
		Message:   fmt.Sprintf("the generator's machine let threads that were ready wait up to %s (p99): differences below that say nothing", micros(v.g.HiccupP99US)),
		Advice:    "leave a core free for the generator, or use an idle machine"})
}
