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
	if !v.shared() {
		return nothing()
	}
	return found(result.Finding{Severity: result.Note, Evidence: figures{"shared": 1}, Threshold: figures{"shared": 0},
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
