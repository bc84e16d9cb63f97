package analyse

import (
	"fmt"
	"math"
	"strings"

	"prony/internal/result"
)

// waitingRules look for what has no counter: a target that waits instead of
// working (method 7.4, L1 and L2).
func waitingRules() []rule {
	return []rule{
		{"pool", "L2", pool},
		{"thread-pool", "L3", threadPool},
		{"waiting", "L1", waiting},
	}
}

// pool is rule L2: the connections to the next tier stand still at a number
// below the requests in flight, so that a pool of that size is full while
// requests queue before it.
func pool(v view) answer {
	next := v.nextTiers()
	if len(next) == 0 {
		return nothing()
	}
	var a answer
	for _, name := range next {
		open, known := v.socketsOf(name)
		if !known {
			a.lack("established_count of " + name + " is not known")
			continue
		}
		size, part := plateauOf(open, v.t.FlatVariation)
		if size < 1 || part < v.t.PoolShare || v.queueBefore(size) < v.t.PoolQueue*size || v.l.InFlight <= 0 {
			continue
		}
		f := result.Finding{Severity: result.Note, Where: name,
			Evidence:  figures{"connections": size, "seconds": part, "in_flight": v.l.InFlight, "backlog": float64(v.backlog())},
			Threshold: figures{"seconds": v.t.PoolShare, "variation": v.t.FlatVariation, "in_flight": (1 + v.t.PoolQueue) * size},
			Message: fmt.Sprintf("a pool of %.0f connections to %s was full: it stood at that number for %s of the time while %.4g requests were in flight",
				size, name, percent(part), v.l.InFlight),
			Advice: "raise the size of the pool if what is behind it has time; if not, that is the limit" + defaultOf(size/float64(max(v.instancesOf(name), 1)))}
		if used, ok := v.useOf(name); ok {
			f.Evidence["backend_cpu"] = used
			f.Message += fmt.Sprintf(", and %s used %s of its CPU", name, percent(used))
		}
		a.findings = append(a.findings, f)
		a.limits = append(a.limits, limit{what: "pool", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Likely, full: part})
	}
	return a
}

// instancesOf is how many instances of a service were watched.
func (v view) instancesOf(name string) int {
	n := 0
	for _, o := range v.things(result.OfService) {
		if serviceOf(o) == name {
			n++
		}
	}
	return n
}

// defaultOf says whose default a number of connections is; "" of one that is
// nobody's.
func defaultOf(size float64) string {
	for _, known := range []struct {
		size float64
		of   string
	}{
		{2, "Apache HttpClient 4 has 2 connections a route by default (maxConnPerRoute)"},
		{5, "Apache HttpClient 5 has 5 connections a route by default (maxConnPerRoute)"},
		{20, "Zuul 1 has 20 connections a route by default (zuul.host.maxPerRouteConnections), and Apache HttpClient 4 has 20 in all"},
		{200, "Zuul 1 has 200 connections in all by default (zuul.host.maxTotalConnections)"},
		{500, "Reactor Netty, in Spring Cloud Gateway, has 500 connections a route by default"},
		{1024, "Envoy has 1024 connections, pending requests and requests a cluster by default"},
	} {
		if size == known.size {
			return ". " + known.of
		}
	}
	return ""
}

// nextTiers are the services behind the one that the load meets.
func (v view) nextTiers() []string {
	var all []string
	if v.r.Plan == nil {
		return nil
	}
	for _, s := range v.r.Plan.Services {
		for _, up := range s.Upstream {
			if !contains(all, up) {
				all = append(all, up)
			}
		}
	}
	return all
}

func contains(all []string, s string) bool {
	for _, x := range all {
		if x == s {
			return true
		}
	}
	return false
}

// socketsOf adds up the established connections of a service's instances, for
// each sample.
func (v view) socketsOf(name string) (sum result.Values, known bool) {
	for _, o := range v.things(result.OfService) {
		if serviceOf(o) != name {
			continue
		}
		values := v.in(o, result.Sockets)
		if len(values) == 0 {
			return nil, false
		}
		if sum == nil {
			sum = make(result.Values, len(values))
		}
		for i := range min(len(sum), len(values)) {
			sum[i] += values[i]
		}
		sum = sum[:min(len(sum), len(values))]
	}
	return sum, len(sum) > 0
}

// plateauOf is the largest value and the share of the samples within a
// variation of it.
func plateauOf(values result.Values, variation float64) (size, share float64) {
	size = values.Max()
	if math.IsNaN(size) {
		return 0, 0
	}
	return size, values.Share(size * (1 - variation))
}

// queueBefore is how many requests were in flight beyond what a pool holds.
func (v view) queueBefore(size float64) float64 {
	return max(v.l.InFlight, float64(v.backlog())) - size
}

// waiting is rule L1: at a plateau nothing that was looked at is used up. What
// is left is waiting: a lock, a pool, a sleep, something outside that nobody
// watched. It is a hint, and no limiter is named by it. One run cannot know a
// plateau, so that the rule needs the others of the experiment.
func waiting(v view) answer {
	if v.open() || len(v.things(result.OfService)) == 0 {
		return nothing()
	}
	if !v.others.known {
		return lacks("whether more connections add anything is known only from another run with more")
	}
	if !v.others.plateau || len(v.found.limits) > 0 || !v.idleTargets() {
		return nothing()
	}
	f := result.Finding{Severity: result.Note, Confidence: result.Hint, Evidence: figures{"connections": float64(v.l.Connections.Asked), "gain": v.others.gain},
		Threshold: figures{"gain": v.t.Plateau, "cpu": v.t.WaitingCPU},
		Message:   "limiter not identified; waiting, not working: more connections add nothing, and no CPU, link, disk or memory that was watched is used up" + v.asIf(),
		Advice:    "look for a lock, a pool or a slow dependency: a thread dump (jstack, SIGQUIT), offcputime, or the wait channels in /proc/PID/task/*/wchan"}
	if len(v.things(result.OfJVM)) > 0 && len(v.things(result.OfPool)) == 0 {
		f.Advice = "let Prony read what the threads of the Java service do (thread_dumps: 5s), or " + f.Advice
	}
	if before, now, ok := v.switching(); ok {
		f.Evidence["switches_per_request_before"], f.Evidence["switches_per_request"] = before, now
		f.Threshold["switches_ratio"] = v.t.Switching
		if now >= v.t.Switching*before {
			f.Message += fmt.Sprintf("; threads gave up their core %.1f times for a request, %.1f at a lower load, which is the sign of a lock", now, before)
		}
	}
	return found(f)
}

// idleTargets reports whether every watched instance used less than a share of
// what it may.
func (v view) idleTargets() bool {
	for _, o := range v.things(result.OfService) {
		used, ok := v.mean(o, result.CPUCores)
		if all := v.allowed(o); !ok || all <= 0 || used >= v.t.WaitingCPU*all {
			return false
		}
	}
	return true
}

// asIf says how many requests the target seems to serve at once: the rate at the
// plateau times the time of an answer when nobody queued (Little's law).
func (v view) asIf() string {
	low := v.others.low
	if low == nil || low.Load.Latency.Service.Empty() {
		return ""
	}
	n := v.l.Rate * low.Load.Latency.Service.Mean() / 1e9
	if n < 0.7 || n > 0.9*float64(v.places()) {
		return ""
	}
	if n < 1.5 {
		return "; it behaves as if one request was served at once and the others queued, as behind a lock"
	}
	return fmt.Sprintf("; it behaves as if %.3g requests were served at once and the others queued, as before a pool of that size", n)
}

// switching are the voluntary context switches per request at the lower load
// and now, over all instances.
func (v view) switching() (before, now float64, ok bool) {
	if v.others.low == nil {
		return 0, 0, false
	}
	before, ok = newView(v.others.low, v.t).switchesPerRequest()
	now, both := v.switchesPerRequest()
	return before, now, ok && both && before > 0
}

func (v view) switchesPerRequest() (n float64, ok bool) {
	for _, o := range v.things(result.OfService) {
		if x, known := v.total(o, result.Voluntary); known {
			n, ok = n+x, true
		}
	}
	return ratio(n, float64(v.l.Requests.InWindow)), ok && v.l.Requests.InWindow > 0
}

// exonerated says what was looked at and is not the limit, for people.
func (v view) exonerated() []string {
	all := v.found.cleared
	if v.watched() && !v.l.Spun && v.g.PeakBusy < v.t.BusySuspect {
		all = append([]string{fmt.Sprintf("generator (at most %s of its CPU)", percent(v.g.PeakBusy))}, all...)
	}
	return all
}

// notIdentified is the honest blank: the load was at a limit, and nothing that
// was watched shows which.
func (v view) notIdentified() *result.Bottleneck {
	b := &result.Bottleneck{What: "not-identified", Where: "target", Confidence: result.Hint, Exonerated: v.exonerated(),
		Message: "limiter not identified", Evidence: figures{"rate": v.l.Rate, "in_flight": v.l.InFlight}}
	if f, ok := v.finding("waiting"); ok {
		b.Message = f.Message
	}
	if len(b.Exonerated) > 0 && !strings.Contains(b.Message, "waiting") {
		b.Message += "; not " + strings.Join(b.Exonerated[:min(4, len(b.Exonerated))], ", not ")
	}
	return b
}
