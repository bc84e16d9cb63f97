package analyse

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"prony/internal/result"
)

// connectionRules look at the way to the target (method 7.3).
func connectionRules() []rule {
	return []rule{
		{"connections-opened", "F4", connectionsOpened},
		{"connects-failed", "F5", connectsFailed},
		{"ports", "P1", ports},
		{"churn", "CH1", churn},
	}
}

// connectionsOpened: fewer connections than asked are another load. An open
// model opens what it needs, so that only a failure is worth a word there.
func connectionsOpened(v view) answer {
	c := v.l.Connections
	if v.open() || c.Asked == 0 || c.Peak >= c.Asked || v.plan.NoKeepAlive && c.Opened >= c.Asked {
		return nothing()
	}
	f := result.Finding{Severity: result.SuspectLevel,
		Evidence:  figures{"asked": float64(c.Asked), "opened": float64(c.Opened), "peak": float64(c.Peak), "failed": float64(c.Failed)},
		Threshold: figures{"peak": float64(c.Asked)},
		Message: fmt.Sprintf("of %s asked for, %s opened, and at most %s were open at once: this was a smaller load than asked",
			many(int64(c.Asked), "connection"), count(int64(c.Opened)), count(int64(c.Peak))),
		Advice: "see why connects fail; the target may limit its connections or its backlog (ss -ltn: Send-Q)"}
	if v.plan.NoKeepAlive {
		f.Severity = result.Note
	}
	return found(f)
}

// connectsFailed tells of connects that did not come about, by kind.
func connectsFailed(v view) answer {
	c := v.l.Connections
	if c.Failed == 0 {
		return nothing()
	}
	part := ratio(float64(c.Failed), float64(c.Failed+c.Connects))
	severity := result.Note
	if part >= v.t.ErrorsSuspect {
		severity = result.SuspectLevel
	}
	kinds := connectKinds(v.l)
	if kinds == "" {
		kinds = "of unknown kind"
	}
	return found(result.Finding{Severity: severity, Where: v.sideOfConnects(), Evidence: figures{"failed": float64(c.Failed), "connects": float64(c.Connects), "share": part},
		Threshold: figures{"share_suspect": v.t.ErrorsSuspect},
		Message:   fmt.Sprintf("%s of a connection failed: %s", many(c.Failed, "attempt"), kinds),
		Advice:    "refused: the target does not listen or its backlog is full; timed out: a firewall, or SYNs dropped by a full accept queue (nstat -az TcpExtListenOverflows)"})
}

// sideOfConnects is "generator" where every connection that failed did so for
// want of a local port or file, which is nothing of the target's; else "", the
// target.
func (v view) sideOfConnects() string {
	own := v.l.Failures[result.NoPorts.String()] + v.l.Failures[result.FileLimit.String()]
	var all int64
	for k := result.NoFailure; k < result.FailureKinds; k++ {
		if k.Connecting() {
			all += v.l.Failures[k.String()]
		}
	}
	if own > 0 && own == all {
		return "generator"
	}
	return ""
}

// connectKinds lists the kinds of failed connects with their counts, by name.
func connectKinds(l *result.Load) string {
	var parts []string
	for k := result.NoFailure; k < result.FailureKinds; k++ {
		if n := l.Failures[k.String()]; n > 0 && k.Connecting() {
			parts = append(parts, fmt.Sprintf("%s × %s", k, count(n)))
		}
	}
	return strings.Join(parts, ", ")
}

// ports is rule P1: a refusal for want of a local port is certain. The forecast
// adds up the connections of this load and the ports that rest for a minute
// because our side closed them (KAT-41). The host's count of sockets holds both
// ends and other programs too, so that it is a note, and only for a load that
// opens many.
func ports(v view) answer {
	if n := v.l.Failures[result.NoPorts.String()]; n > 0 {
		return found(result.Finding{Severity: result.SuspectLevel, Where: "generator", Evidence: figures{"failures": float64(n), "ports": float64(v.g.Ports)}, Threshold: figures{"failures": 0},
			Message: fmt.Sprintf("no local port was left for %s (EADDRNOTAVAIL): the generator's ports were the limit", many(n, "connection")), Advice: portAdvice})
	}
	if why := v.unread("ports", "ports_used_peak"); why != "" {
		return lacks(why)
	}
	if v.g.Ports <= 0 {
		return lacks("ports is not in the result")
	}
	all := float64(v.g.Ports) * float64(max(len(v.plan.Sources), 1))
	perSecond := v.restingPerSecond()
	own := float64(v.l.Connections.Peak) + perSecond*min(v.seconds(), v.t.TimeWait.Seconds())
	f := result.Finding{Severity: result.SuspectLevel, Where: "generator", Advice: portAdvice, Threshold: figures{"share": v.t.PortsNear},
		Evidence: figures{"ports": all, "ports_own": own, "ports_used": float64(v.g.PortsUsed), "new_connections_per_second": perSecond}}
	switch {
	case own >= v.t.PortsNear*all && perSecond*v.t.TimeWait.Seconds() >= v.t.PortsNear*all:
		f.Evidence["exhausted_after_s"], f.Evidence["warned_after_s"] = all/perSecond, v.t.PortsNear*all/perSecond
		f.Message = fmt.Sprintf("%.4g new connections a second, whose ports rest for %s, use up all %s local ports after %.1f s",
			perSecond, nanos(float64(v.t.TimeWait)), count(int64(all)), all/perSecond)
	case own >= v.t.PortsNear*all:
		f.Message = fmt.Sprintf("this load held %s of %s local ports: soon none is left", count(int64(own)), count(int64(all)))
	case float64(v.g.PortsUsed) >= v.t.PortsNear*all && (v.plan.NoKeepAlive || v.fired(churn)):
		f.Severity = result.Note
		f.Message = fmt.Sprintf("this machine had %s sockets, of both ends and all programs, beside %s local ports, and this load opens many", count(v.g.PortsUsed), count(int64(all)))
	default:
		return nothing()
	}
	return found(f)
}

const portAdvice = "keep connections alive, widen the range (sysctl -w net.ipv4.ip_local_port_range='1024 65535'), or use more source addresses (--source)"

// restingPerSecond is the rate of connections that our side closes: only those
// keep their port.
func (v view) restingPerSecond() float64 {
	c := v.l.Connections
	return ratio(float64(max(c.Connects-c.ClosedByPeer, 0)), (v.l.DurationUS+v.l.WarmupUS)/1e6)
}

// churn is rule CH1: connections that should have been kept were opened anew.
func churn(v view) answer {
	c, n := v.l.Connections, v.ended()+v.l.Requests.WarmupCompleted
	if v.plan.NoKeepAlive || n == 0 {
		return nothing()
	}
	part := float64(c.Reopened) / float64(n)
	if part <= v.t.Churn {
		return nothing()
	}
	closer, advice := "the target closed them", "raise the target's limit of requests per connection (nginx: keepalive_requests), or ask for --no-keepalive if this is meant"
	if 2*c.ClosedByPeer < c.Reopened {
		closer, advice = "most were given up here after failures"+after(v.l), "see the failures: a request that fails takes its connection with it"
	}
	return found(result.Finding{Severity: result.SuspectLevel,
		Evidence:  figures{"reopened": float64(c.Reopened), "requests": float64(n), "share": part, "closed_by_peer": float64(c.ClosedByPeer)},
		Threshold: figures{"share": v.t.Churn},
		Message: fmt.Sprintf("connections were not kept: %s were opened anew for %s (%s), and %s; the cost of connecting is in this number",
			count(c.Reopened), many(n, "request"), percent(part), closer),
		Advice: advice})
}

// after names the failures that end a connection, most frequent first.
func after(l *result.Load) string {
	kinds := slices.Sorted(maps.Keys(l.Failures))
	slices.SortStableFunc(kinds, func(a, b string) int { return int(min(max(l.Failures[b]-l.Failures[a], -1), 1)) })
	if len(kinds) == 0 || l.Failures[kinds[0]] == 0 {
		return ""
	}
	return " (" + kinds[0] + ")"
}
