package analyse

import (
	"fmt"

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

func steal(v view) answer {
	if why := v.unread("steal"); why != "" {
		return lacks(why)
	}
	severity, ok := graded(v.g.Steal, v.t.StealSuspect, v.t.StealInvalid)
	if !ok {
		return nothing()
	}
	return found(result.Finding{Severity: severity, Evidence: figures{"steal": v.g.Steal}, Threshold: figures{"steal": v.t.StealSuspect, "steal_invalid": v.t.StealInvalid},
		Message: fmt.Sprintf("the hypervisor gave %s of this machine's CPU time to others", percent(v.g.Steal)),
		Advice:  "use a machine with cores of its own (dedicated or bare metal)"})
}

// foreignCPU is what ran beside the generator. A target on the same machine
// would be counted, so that then the rule cannot run.
func foreignCPU(v view) answer {
	switch why := v.unread("host_busy", "mean_busy", "cpus"); {
	case why != "":
		return lacks(why)
	case v.l.Loopback:
		return lacks("the target ran on this machine, and its CPU use is not known")
	case v.r.Environment.CPUs <= 0:
		return lacks("the machine's number of cores is not in the result")
	}
	all := float64(v.r.Environment.CPUs)
	foreign := v.g.HostBusy*all - v.g.MeanBusy*v.g.CPUs
	severity := result.SuspectLevel
	switch {
	case foreign < v.t.ForeignSuspect:
		return nothing()
	case foreign >= v.t.ForeignInvalid && foreign >= v.t.ForeignInvalidShare*all:
		severity = result.InvalidLevel
	}
	return found(result.Finding{Severity: severity, Evidence: figures{"foreign_cores": foreign, "host_busy": v.g.HostBusy, "host_cpus": all},
		Threshold: figures{"foreign_cores": v.t.ForeignSuspect, "foreign_cores_invalid": max(v.t.ForeignInvalid, v.t.ForeignInvalidShare*all)},
		Message:   fmt.Sprintf("other programs used %s of the %s of the generator's machine", cores(foreign), cores(all)),
		Advice:    "find them (top -o %CPU) and stop them"})
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
	return found(result.Finding{Severity: severity, Message: message, Evidence: figures{"cpu_pressure": v.g.CPUPressure},
		Threshold: figures{"cpu_pressure": v.t.PressureSuspect, "cpu_pressure_invalid": v.t.PressureInvalid},
		Advice:    "leave cores free: fewer threads (-t), another machine for the target, nothing else running"})
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
