package analyse

import (
	"fmt"
	"math"

	"prony/internal/plan"
	"prony/internal/result"
)

// chainRules look at gateways and what is behind them (method 7.5).
func chainRules() []rule {
	return []rule{
		{"which-tier", "X1", whichTier},
		{"upstream-reuse", "X2", upstreamReuse},
		{"admission", "X3", admission},
		{"amplification", "X4", amplification},
	}
}

// gateways are the planned services that have others behind them.
func (v view) gateways() []plan.Service {
	var all []plan.Service
	if v.r.Plan == nil {
		return nil
	}
	for _, s := range v.r.Plan.Services {
		if len(s.Upstream) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// limitOf is the first CPU limit of a service's instances that shows in this
// run; nil if none does.
func (v view) limitOf(service string) *limit {
	for _, check := range []func(view) answer{cpuQuota, oneThread, targetCPU} {
		for _, l := range check(v).limits {
			for _, o := range v.things(result.OfService) {
				if serviceOf(o) == service && place(o) == l.where {
					return &l
				}
			}
		}
	}
	return nil
}

// useOf is the largest share of its CPU that an instance of a service used;
// known is false if one of them is not known.
func (v view) useOf(service string) (share float64, known bool) {
	for _, o := range v.things(result.OfService) {
		if serviceOf(o) != service {
			continue
		}
		used, ok := v.mean(o, result.CPUCores)
		all := v.allowed(o)
		if !ok || all <= 0 {
			return 0, false
		}
		share, known = max(share, used/all), true
	}
	return share, known
}

// whichTier is rule X1 as far as one run can tell: the gateway is full and what
// is behind it is not, or the other way. What the backend can do alone is known
// only to the experiment.
func whichTier(v view) answer {
	var a answer
	for _, g := range v.gateways() {
		for _, backend := range g.Upstream {
			v.tierOf(&a, g.Name, backend)
		}
	}
	return a
}

func (v view) tierOf(a *answer, gateway, backend string) {
	front, ok := v.useOf(gateway)
	back, known := v.useOf(backend)
	if !ok || !known {
		a.lack(fmt.Sprintf("cpu_cores of %s or %s is not known", gateway, backend))
		return
	}
	f := result.Finding{Severity: result.Note, Evidence: figures{"gateway_cpu": front, "backend_cpu": back}, Threshold: figures{"backend_cpu": v.t.BackendIdle}}
	frontLimit, backLimit := v.limitOf(gateway), v.limitOf(backend)
	switch {
	case frontLimit != nil && backLimit == nil && back < v.t.BackendIdle:
		f.Where = gateway
		f.Message = fmt.Sprintf("proxy-bound: %s is full, and %s behind it used %s of its CPU", gateway, backend, percent(back))
		f.Advice = "for more, give the gateway more CPU or workers; more backends add nothing"
	case backLimit != nil && frontLimit == nil:
		f.Where = backend
		f.Message = fmt.Sprintf("backend-bound: this measures %s and not %s, which used %s of its CPU", backend, gateway, percent(front))
		f.Advice = "to measure the gateway put at least twice the backend behind it"
	default:
		return
	}
	a.findings = append(a.findings, f)
}

// upstreamReuse is rule X2: new connections behind the gateway per request.
func upstreamReuse(v view) answer {
	var a answer
	requests := float64(v.l.Requests.InWindow)
	for _, g := range v.gateways() {
		opened, asked, known := v.upstream(g, requests)
		if !known && v.connectsHere(&a, g) {
			continue
		}
		if !known || v.sideBySide() {
			a.lack("how many connections " + g.Name + " opened to what is behind it is not known")
			continue
		}
		share := ratio(opened, asked)
		if asked <= 0 || share <= v.t.ReusedMost {
			a.cleared = append(a.cleared, "upstream connections of "+g.Name+" (reused)")
			continue
		}
		f := result.Finding{Severity: result.Note, Where: g.Name, Confidence: result.Definite,
			Evidence:  figures{"upstream_connections": opened, "requests": asked, "share": share},
			Threshold: figures{"share": v.t.ReusedMost, "share_not_reused": v.t.NotReused},
			Message:   fmt.Sprintf("upstream connections of %s were reused in part: %s new ones for %s (%s)", g.Name, count(int64(math.Round(opened))), many(int64(math.Round(asked)), "request"), percent(share)),
			Advice:    "raise its idle connections per upstream and the requests per connection on both sides (nginx: keepalive, keepalive_requests)"}
		if share >= v.t.NotReused {
			f = v.notReused(g.Name, opened, asked)
			a.limits = append(a.limits, limit{what: "upstream-connections", where: g.Name, message: f.Message + v.costOf(g.Name), evidence: f.Evidence, sure: result.Definite, full: share})
		}
		a.findings = append(a.findings, f)
	}
	return a
}

// mostInferred is how many connections for each request can still be the
// gateway's, when only the machine counted them.
const mostInferred = 1.5

// connectsHere is rule X2 where only the machine that all parties share counted
// accepted connections. Less the generator's own they are the gateway's, or of
// programs that are no part of the run: only about as many as there were requests
// prove something. It reports whether they did.
func (v view) connectsHere(a *answer, g plan.Service) bool {
	accepted, known := v.total(v.host(""), result.PassiveOpens)
	if !known || v.sideBySide() || len(v.gateways()) > 1 || !v.allHere() {
		return false
	}
	asked := float64(v.l.Requests.InWindow)
	opened := accepted - float64(v.l.Connections.Connects)
	share := ratio(opened, asked)
	if share < v.t.NotReused || share > mostInferred {
		return false
	}
	f := v.notReused(g.Name, opened, asked)
	f.Confidence = result.Likely
	f.Message += ", by what this machine accepted besides the generator's"
	a.findings = append(a.findings, f)
	a.limits = append(a.limits, limit{what: "upstream-connections", where: g.Name, message: f.Message + v.costOf(g.Name), evidence: f.Evidence, sure: result.Likely, full: share})
	return true
}

// allHere reports whether every service is on the generator's machine.
func (v view) allHere() bool {
	for _, s := range v.r.Plan.Services {
		if s.Host != "" || s.Kind == plan.External {
			return false
		}
	}
	return v.l.Loopback
}

// notReused is the finding of a gateway that connects for each request.
func (v view) notReused(gateway string, opened, asked float64) result.Finding {
	return result.Finding{Severity: result.Note, Where: gateway, Confidence: result.Definite,
		Evidence:  figures{"upstream_connections": opened, "requests": asked, "share": ratio(opened, asked)},
		Threshold: figures{"share": v.t.ReusedMost, "share_not_reused": v.t.NotReused},
		Message:   fmt.Sprintf("upstream connections of %s were not reused: %s new ones for %s", gateway, count(int64(math.Round(opened))), many(int64(math.Round(asked)), "request")),
		Advice:    "nginx: keepalive in upstream, proxy_http_version 1.1 and proxy_set_header Connection \"\"; Go: MaxIdleConnsPerHost (2 by default)"}
}

// costOf adds how full the gateway itself was.
func (v view) costOf(gateway string) string {
	if used, ok := v.useOf(gateway); ok {
		return fmt.Sprintf("; connecting is part of the %s of its CPU that it used", percent(used))
	}
	return ""
}

// upstream is how many connections a gateway opened to what is behind it, and
// for how many requests: by its own counters, by those of the services behind
// it, or by those of a host that only they are on.
func (v view) upstream(g plan.Service, requests float64) (opened, asked float64, known bool) {
	for _, o := range v.things(result.OfServer) {
		n, ok := v.total(o, result.UpstreamConnects)
		if serviceOf(o) == g.Name && ok {
			opened, known = opened+n, true
			if q, ok := v.total(o, result.UpstreamRequests); ok {
				asked += q
			}
		}
	}
	if known {
		if asked == 0 {
			asked = requests
		}
		return opened, asked, true
	}
	for _, name := range g.Upstream {
		n, ok := v.accepted(name)
		if !ok {
			return 0, 0, false
		}
		opened += n
	}
	return opened, requests, len(g.Upstream) > 0
}

// accepted is how many connections a service took.
func (v view) accepted(name string) (n float64, known bool) {
	hosts := map[string]bool{}
	for _, o := range v.things(result.OfService) {
		if serviceOf(o) != name {
			continue
		}
		hosts[o.Host] = true
		if x, ok := v.total(o, result.InService); ok {
			n, known = n+x, true
		}
	}
	if known {
		return n, true
	}
	for host := range hosts {
		x, ok := v.total(v.host(host), result.PassiveOpens)
		if !ok || host == "" || !v.alone(name, host) {
			return 0, false
		}
		n, known = n+x, true
	}
	return n, known
}

// alone reports whether no other service is on the host.
func (v view) alone(name, host string) bool {
	for _, s := range v.r.Services {
		if s.Host == host && s.Name != name {
			return false
		}
	}
	return true
}

// admission is rule X3: something that refuses on purpose is no capacity.
func admission(v view) answer {
	var a answer
	refused := v.l.Statuses["503"] + v.l.Statuses["429"]
	share := ratio(float64(refused), float64(v.ended()))
	var overflows float64
	for _, o := range v.things(result.OfServer) {
		n, _ := v.total(o, result.UpstreamOverflows)
		overflows += n
	}
	if overflows == 0 && share <= v.t.Refused {
		return a
	}
	f := result.Finding{Severity: result.Note, Evidence: figures{"refused": float64(refused), "share": share, "overflows": overflows},
		Threshold: figures{"share": v.t.Refused, "overflows": 0},
		Message:   fmt.Sprintf("a circuit breaker or limiter, not capacity: %s were refused with 503 or 429", many(refused, "request")),
		Advice:    "raise the limits of the gateway for a measurement of capacity (Envoy: circuit_breakers), or send less than they allow"}
	sure := result.Likely
	if overflows > 0 {
		sure = result.Definite
		f.Message = fmt.Sprintf("a circuit breaker or limiter, not capacity: the gateway counted %s", many(int64(math.Round(overflows)), "overflow"))
	}
	f.Confidence = sure
	a.findings = append(a.findings, f)
	if sure == result.Definite || share >= v.t.ErrorsSuspect { // statuses are counted, too
		a.limits = append(a.limits, limit{what: "admission", where: "target", message: f.Message, evidence: f.Evidence, sure: result.Definite, full: share})
	}
	return a
}

// behind is how many requests the services behind a gateway got, from the start
// of the load to its end, warm-up included; known is false if one cannot tell.
func (v view) behind(g plan.Service) (requests float64, known bool) {
	for _, name := range g.Upstream {
		for _, s := range v.r.Services {
			if s.Name != name {
				continue
			}
			if s.Requests == nil {
				return 0, false
			}
			requests, known = requests+float64(*s.Requests), true
		}
	}
	return requests, known
}

// sideBySide reports whether other loads ran beside this one: what services
// count is then of all of them.
func (v view) sideBySide() bool {
	return len(v.r.Also) > 0 || v.r.Plan != nil && len(v.r.Plan.Also) > 0
}

// sent is how many requests left the generator, warm-up included.
func (v view) sent() float64 {
	q := v.l.Requests
	return float64(q.Started + q.Warmup)
}

// amplification is rule X4: more requests behind the gateway than before it.
// Other loads of the run share the services, so that then nothing is known.
func amplification(v view) answer {
	var a answer
	for _, g := range v.gateways() {
		got, known := v.behind(g)
		if !known || v.sideBySide() {
			a.lack("how many requests came to what is behind " + g.Name + " is not known")
			continue
		}
		more := ratio(got, v.sent())
		if more <= v.t.Amplified || got-v.sent() < v.t.AmplifiedLeast {
			continue
		}
		a.findings = append(a.findings, result.Finding{Severity: result.SuspectLevel, Confidence: result.Definite, Where: g.Name,
			Evidence: figures{"behind": got, "sent": v.sent(), "ratio": more}, Threshold: figures{"ratio": v.t.Amplified},
			Message: fmt.Sprintf("%s sent %s for %s: retries or mirroring hide errors and cost", g.Name, many(int64(got), "request"), count(int64(v.sent()))),
			Advice:  "turn retries off for a measurement (nginx: proxy_next_upstream off; Envoy: retry_policy)"})
	}
	return a
}
