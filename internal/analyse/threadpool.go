package analyse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"prony/internal/result"
)

// pooled is a thread pool of an instance over the window.
type pooled struct {
	thing                           *result.Observed
	size, full                      float64 // threads; share of the samples with all busy
	running, inIO, blocked, waiting float64 // threads on average
}

// pooledIn reads what the threads of a pool did; ok is false if that is not
// known or their number did not stand still.
func (v view) pooledIn(o *result.Observed) (p pooled, ok bool) {
	threads, busy := v.in(o, result.PoolThreads), v.in(o, result.PoolBusy)
	size, still := plateauOf(threads, v.t.FlatVariation)
	if len(threads) == 0 || len(busy) != len(threads) || size < 2 || still < v.t.PoolShare {
		return p, false
	}
	p = pooled{thing: o, size: size}
	for i, n := range busy {
		if n >= v.t.PoolBusy*threads[i] {
			p.full++
		}
	}
	p.full /= float64(len(busy))
	for _, part := range []struct {
		metric result.Metric
		into   *float64
	}{{result.PoolRunning, &p.running}, {result.PoolInIO, &p.inIO}, {result.PoolBlocked, &p.blocked}} {
		mean, known := v.mean(o, part.metric)
		if !known {
			return p, false
		}
		*part.into = mean
	}
	p.waiting = max(0, busy.Mean()-p.running-p.inIO-p.blocked)
	return p, true
}

// threadPool is rule L3: all threads of a pool are in use, most of them wait, and
// requests wait for a thread. A pool whose threads run is as full as its cores,
// which other rules tell.
func threadPool(v view) answer {
	var a answer
	for _, o := range v.things(result.OfJVM) {
		if why := o.Unknown["thread_states"]; why != "" {
			a.lack("what the threads of " + place(o) + " do is not known: " + why)
		}
	}
	for _, o := range v.things(result.OfPool) {
		p, known := v.pooledIn(o)
		if !known || p.full < v.t.PoolShare || p.running > v.t.PoolRunning*p.size {
			continue
		}
		all := v.poolSizes(o)
		front := v.meetsLoad(o)
		if front && v.queueBefore(all) < v.t.PoolQueue*all {
			continue
		}
		f := result.Finding{Severity: result.Note, Where: place(o),
			Evidence: figures{"threads": p.size, "seconds": p.full, "in_flight": v.l.InFlight, "backlog": float64(v.backlog()), "running": p.running,
				"in_io": p.inIO, "blocked": p.blocked, "waiting": p.waiting},
			Threshold: figures{"busy": v.t.PoolBusy, "seconds": v.t.PoolShare, "running": v.t.PoolRunning * p.size},
			Message: fmt.Sprintf("the pool of %.0f threads of %s (%s) was full for %s of the time: %s",
				p.size, place(o), o.Name, percent(p.full), p.doing()),
			Advice: p.advice()}
		if !front {
			f.Confidence = result.Hint
			a.findings = append(a.findings, f)
			continue
		}
		f.Threshold["in_flight"] = (1 + v.t.PoolQueue) * all
		f.Message += fmt.Sprintf("; %.4g requests were in flight", v.l.InFlight)
		a.findings = append(a.findings, f)
		a.limits = append(a.limits, limit{what: "thread-pool", where: f.Where, message: f.Message, evidence: f.Evidence, sure: result.Likely, full: p.full})
	}
	return a
}

// poolSizes adds up the threads of the pools of one name of all instances of a
// service.
func (v view) poolSizes(o *result.Observed) (all float64) {
	for _, other := range v.things(result.OfPool) {
		if other.Name != o.Name || serviceOf(other) != serviceOf(o) {
			continue
		}
		if n, known := v.peak(other, result.PoolThreads); known {
			all += n
		}
	}
	return all
}

// meetsLoad reports whether the requests of the load go to the service itself.
func (v view) meetsLoad(o *result.Observed) bool {
	for _, q := range v.plan.Requests {
		if q.Service == serviceOf(o) {
			return true
		}
	}
	return false
}

// doing says what the threads did on average, the most first.
func (p pooled) doing() string {
	type part struct {
		n    float64
		what string
	}
	parts := []part{{p.inIO, "waited for a socket"}, {p.blocked, "were blocked by a monitor"}, {p.waiting, "waited for something else"}, {p.running, "ran"}}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(b.n, a.n) })
	var said []string
	for _, part := range parts {
		if part.n >= 0.5 {
			said = append(said, fmt.Sprintf("%.0f %s", part.n, part.what))
		}
	}
	return "on average " + strings.Join(said, ", ")
}

// advice is by what most of them wait for.
func (p pooled) advice() string {
	switch {
	case p.blocked >= p.inIO && p.blocked >= p.waiting:
		return "shorten what is done under the lock; more threads would only queue for it. A thread dump (jcmd PID Thread.print) says which lock"
	case p.inIO >= p.waiting:
		return "make what is behind it faster, or raise the pool if that has time (Tomcat: server.tomcat.threads.max); if not, that is the limit"
	}
	return "see what they wait for (jcmd PID Thread.print): a pool of connections that is too small, a lock, a sleep; raising the pool alone moves the queue there"
}
