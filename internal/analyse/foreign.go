package analyse

import (
	"fmt"
	"slices"

	"prony/internal/plan"
	"prony/internal/result"
)

// foreignCPU is what ran beside the generator and the services, on each machine
// whose parties are all known. A target on the same machine of which nobody
// knows would be counted, so that then the rule cannot run.
func foreignCPU(v view) answer {
	var a answer
	judged := map[string]bool{}
	for _, o := range v.things(result.OfHost) {
		first := v.kin(o.Name)[0]
		if own, known := v.ownCores(o.Name); known && !judged[first] && (first != "" || v.shared()) {
			judged[first] = true
			v.foreignOn(&a, o, own)
		}
	}
	if own, known := v.ownCores(""); known && own > 0 && v.host("") != nil && v.shared() {
		return a
	}
	switch why := v.unread("host_busy", "mean_busy", "cpus"); {
	case why != "":
		a.missing = why
	case v.shared():
		a.missing = "the target ran on this machine, and its CPU use is not known"
	case v.r.Environment.CPUs <= 0:
		a.missing = "the machine's number of cores is not in the result"
	default:
		all := float64(v.r.Environment.CPUs)
		v.foreign(&a, "", v.g.HostBusy*all-v.g.MeanBusy*v.g.CPUs, v.g.HostBusy)
	}
	return a
}

// shared reports whether the generator's machine has services too.
func (v view) shared() bool {
	return v.l.Loopback || slices.ContainsFunc(v.kin(""), v.serves)
}

// kin are the hosts that are one machine with this one, itself among them and
// in a fixed order: containers and network namespaces have names of their own,
// and the cores of their kernel, which one boot id tells.
func (v view) kin(host string) []string {
	id := v.boot(host)
	if id == "" {
		return []string{host}
	}
	var all []string
	for name := range v.r.Hosts {
		if name != "" && v.boot(name) == id {
			all = append(all, name)
		}
	}
	if v.boot("") == id {
		all = append(all, "")
	}
	slices.Sort(all)
	return all
}

// boot is the id of the start of a host's kernel; empty if it is not known.
func (v view) boot(host string) string {
	e := v.r.Hosts[host]
	if host == "" {
		e = v.r.Environment
	}
	return e.Sysctl["kernel.random.boot_id"]
}

// ownCores is what the parties of the run used of the machine of a host; known
// is false if one of them is not known, or if there is none.
func (v view) ownCores(host string) (cores float64, known bool) {
	kin := v.kin(host)
	watched := 0
	for _, name := range kin {
		used, n, ok := v.serviceCores(name)
		if !ok || v.outside(name) {
			return 0, false
		}
		cores, watched = cores+used+v.r.WatchCores, watched+n
	}
	if watched == 0 {
		return 0, false
	}
	if slices.Contains(kin, "") {
		if v.unread("mean_busy", "cpus") != "" {
			return 0, false
		}
		cores += v.g.MeanBusy * v.g.CPUs
	}
	return cores, true
}

// serviceCores is what the services of a host used, and how many instances that
// are; known is false if one of them was not watched.
func (v view) serviceCores(host string) (cores float64, watched int, known bool) {
	for _, o := range v.things(result.OfService) {
		if o.Host != host {
			continue
		}
		used, ok := v.mean(o, result.CPUCores)
		if !ok {
			return 0, 0, false
		}
		cores, watched = cores+used, watched+1
	}
	planned := 0
	for _, s := range v.r.Services {
		if s.Host == host {
			planned++
		}
	}
	return cores, watched, watched >= planned
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
