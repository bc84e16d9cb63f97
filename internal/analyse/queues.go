package analyse

import (
	"fmt"
	"math"

	"prony/internal/result"
)

// queueRules look at the kernel's queues and tables for connections, on every
// host of the run (method 7.3).
func queueRules() []rule {
	return []rule{
		{"time-wait", "P2", timeWait},
		{"accept-queue", "B1", acceptQueue},
		{"syn-queue", "B2", synQueue},
		{"conntrack", "C1", conntrack},
		{"softirq-skew", "I1", softIRQSkew},
	}
}

// defaultPorts is the size of Linux's default range of local ports.
const defaultPorts = 28232

// eachHost applies a rule to every watched host.
func (v view) eachHost(hosts []*result.Observed, check func(*answer, *result.Observed)) answer {
	if len(hosts) == 0 {
		return lacks(unwatched)
	}
	var a answer
	for _, o := range hosts {
		check(&a, o)
	}
	return a
}

// timeWait is rule P2: closed connections rest on the side that closed first.
func timeWait(v view) answer {
	return v.eachHost(v.things(result.OfHost), func(a *answer, o *result.Observed) {
		resting, known := v.peak(o, result.TimeWait)
		over, _ := v.total(o, result.TimeWaitOver)
		if !known {
			a.lack("tcp_time_wait of " + place(o) + " is not known")
			return
		}
		ports := float64(defaultPorts)
		if o.Name == "" && v.g.Ports > 0 {
			ports = float64(v.g.Ports)
		}
		if resting <= v.t.TimeWaitShare*ports && over == 0 {
			return
		}
		f := result.Finding{Severity: result.Note, Where: place(o),
			Evidence:  figures{"time_wait": resting, "ports": ports, "overflows": over},
			Threshold: figures{"time_wait": v.t.TimeWaitShare * ports, "overflows": 0},
			Message:   fmt.Sprintf("on %s up to %s rested (TIME_WAIT), beside %s local ports", place(o), many(int64(resting), "closed connection"), count(int64(ports))),
			Advice:    "keep connections alive; the side that closes first keeps the rest"}
		if over > 0 {
			f.Confidence = result.Definite
			f.Message += fmt.Sprintf("; %s found no place (tcp_max_tw_buckets)", count(int64(over)))
		}
		a.findings = append(a.findings, f)
	})
}

// acceptQueue is rule B1: connections that the kernel finished and the program
// did not take in time. A full queue drops the SYN, and the client tries again
// after 1, 3 and 7 seconds.
func acceptQueue(v view) answer {
	return v.eachHost(v.targetHosts(), func(a *answer, o *result.Observed) {
		over, known := v.total(o, result.ListenOverflows)
		drops, both := v.total(o, result.ListenDrops)
		if !known {
			a.lack("tcp_listen_overflows of " + place(o) + " is not known")
			return
		}
		other := 0.0
		if both {
			other = max(drops-over, 0)
		}
		if over == 0 && other == 0 {
			a.cleared = append(a.cleared, "accept queue of "+place(o))
			return
		}
		f := result.Finding{Severity: result.Note, Confidence: result.Definite, Where: place(o),
			Evidence: figures{"overflows": over, "other_drops": other}, Threshold: figures{"overflows": 0, "other_drops": 0},
			Message: fmt.Sprintf("the accept queue of %s was full %s: those clients waited 1 s, 3 s or 7 s for their next try", v.listener(o), times(over)),
			Advice:  "raise the backlog of the server and net.core.somaxconn (ss -ltn: Recv-Q near Send-Q), and let it accept faster"}
		if other > 0 {
			f.Message += fmt.Sprintf("; %s dropped for another reason (memory)", many(int64(math.Round(other)), "more connection"))
		}
		a.findings = append(a.findings, f)
		if over > 0 {
			a.limits = append(a.limits, limit{what: "accept-queue", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Definite, full: over})
		}
	})
}

func times(n float64) string {
	if n == 1 {
		return "once"
	}
	return count(int64(math.Round(n))) + " times"
}

// listener names the service of a host whose accept queue was full, if one was
// seen so, else the host.
func (v view) listener(host *result.Observed) string {
	for _, o := range v.things(result.OfService) {
		waiting, ok := v.peak(o, result.AcceptQueue)
		most, known := v.peak(o, result.AcceptLimit)
		if o.Host == host.Name && ok && known && waiting >= most {
			return fmt.Sprintf("%s (%.0f places)", place(o), most)
		}
	}
	return place(host)
}

// synQueue is rule B2: half-open connections beyond what the kernel keeps.
func synQueue(v view) answer {
	return v.eachHost(v.targetHosts(), func(a *answer, o *result.Observed) {
		cookies, known := v.total(o, result.SynCookies)
		full, ok := v.total(o, result.RequestQFull)
		if !known && !ok {
			a.lack("tcp_syn_cookies of " + place(o) + " is not known")
			return
		}
		if cookies == 0 && full == 0 {
			return
		}
		f := result.Finding{Severity: result.Note, Confidence: result.Definite, Where: place(o),
			Evidence: figures{"syn_cookies": cookies, "queue_full": full}, Threshold: figures{"syn_cookies": 0, "queue_full": 0},
			Message: fmt.Sprintf("the queue of half-open connections of %s was full %s", place(o), times(max(cookies, full))),
			Advice:  "sysctl -w net.ipv4.tcp_max_syn_backlog=8192, raise net.core.somaxconn, and open connections more slowly"}
		a.findings = append(a.findings, f)
		a.limits = append(a.limits, limit{what: "syn-queue", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Definite, full: full})
	})
}

// conntrack is rule C1: the firewall's table of connections, where there is one.
func conntrack(v view) answer {
	return v.eachHost(v.things(result.OfHost), func(a *answer, o *result.Observed) {
		drops, _ := v.total(o, result.ConntrackDrops)
		used, known := v.peak(o, result.ConntrackUsed)
		most, both := v.peak(o, result.ConntrackMax)
		share := 0.0
		if known && both {
			share = ratio(used, most)
		}
		if drops == 0 && share < v.t.ConntrackNear {
			return // without the module there is no table and nothing to know
		}
		f := result.Finding{Severity: result.Note, Where: place(o), Evidence: figures{"entries": used, "most": most, "share": share, "drops": drops},
			Threshold: figures{"share": v.t.ConntrackNear, "drops": 0},
			Message:   fmt.Sprintf("the connection table of %s held %s of %s entries", place(o), count(int64(used)), count(int64(most))),
			Advice:    "sysctl -w net.netfilter.nf_conntrack_max=1048576, or exempt the port (iptables -t raw -A PREROUTING -p tcp --dport PORT -j NOTRACK)"}
		if drops > 0 {
			f.Confidence = result.Definite
			f.Message += fmt.Sprintf(" and refused %s", many(int64(math.Round(drops)), "connection"))
			a.limits = append(a.limits, limit{what: "conntrack", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Definite, full: share})
		}
		a.findings = append(a.findings, f)
	})
}

// softIRQSkew is rule I1: the interrupts of the network fill one core while the
// others have none.
func softIRQSkew(v view) answer {
	return v.eachHost(v.things(result.OfHost), func(a *answer, o *result.Observed) {
		most, median := v.in(o, result.CoreSoftIRQMax), v.in(o, result.CoreSoftIRQMed)
		if len(most) == 0 || len(median) == 0 {
			a.lack("core_softirq_max_ratio of " + place(o) + " is not known")
			return
		}
		part := most.Share(v.t.SoftIRQ)
		if v.hostCPUs(o.Name) == 1 || part < v.t.BusyShare || median.Mean() > v.t.SoftIRQMedian {
			return
		}
		f := result.Finding{Severity: result.Note, Where: place(o),
			Evidence:  figures{"softirq_max": most.Mean(), "softirq_median": median.Mean(), "seconds": part},
			Threshold: figures{"softirq_max": v.t.SoftIRQ, "softirq_median": v.t.SoftIRQMedian, "seconds": v.t.BusyShare},
			Message: fmt.Sprintf("the network's interrupts filled one core of %s to %s while the median core spent %s on them: packets are steered to one core",
				place(o), percent(most.Mean()), percent(median.Mean())),
			Advice: "spread the receive queues: ethtool -L IF combined N, or echo a mask of cores to /sys/class/net/IF/queues/rx-0/rps_cpus"}
		a.findings = append(a.findings, f)
		a.limits = append(a.limits, limit{what: "softirq", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Likely, full: most.Mean()})
	})
}
