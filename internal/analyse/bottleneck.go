package analyse

import (
	"fmt"

	"prony/internal/result"
)

// bottleneck names what stopped the result from being higher, or nil: not
// identified. A lone generator can prove its own limits; of the target it only
// knows the time its answers took. While anything makes the result invalid no
// target is named, and a limit is claimed only where the load was at one
// (method 7.1).
func (v view) bottleneck() *result.Bottleneck {
	if b := v.ownLimit(); b != nil {
		if taken := v.foreignLimit(); taken != nil && b.What == "generator" && v.foreignInvalid() {
			return taken
		}
		return b
	}
	if v.r.Validity.Verdict == result.Invalid {
		return v.foreignLimit()
	}
	switch {
	case v.l.Requests.Completed == 0:
		return nil
	case v.open():
		return v.openLimit()
	}
	return v.closedLimit()
}

// foreignLimit names what spoiled the run, if that also took its cores away: it
// is no target.
func (v view) foreignLimit() *result.Bottleneck {
	for _, l := range v.found.limits {
		if l.what == "foreign-cpu" {
			return l.bottleneck(nil)
		}
	}
	return nil
}

// foreignInvalid reports whether other programs took so many cores that they
// explain a generator that was late: it was ready and had none.
func (v view) foreignInvalid() bool {
	f, ok := v.finding("foreign-cpu")
	return ok && f.Severity == result.InvalidLevel
}

// ownLimit is a limit on the generator's side, by the findings that show it.
func (v view) ownLimit() *result.Bottleneck {
	for _, c := range []struct {
		rule, what string
		from       result.Severity
	}{
		{"throttled", "generator-quota", result.InvalidLevel}, // why the CPU it may use is full
		{"generator-cpu", "generator-cpu", result.SuspectLevel}, {"generator-thread", "generator-cpu", result.SuspectLevel},
		{"dispatch-lag", "generator", result.InvalidLevel}, {"dispatched", "generator", result.InvalidLevel},
		{"open-files", "file-limit", result.SuspectLevel}, {"ports", "ports", result.SuspectLevel},
	} {
		f, ok := v.finding(c.rule)
		forecast := c.what == "ports" && v.l.Failures[result.NoPorts.String()] == 0
		if ok && !forecast && gravity(f.Severity) >= gravity(c.from) {
			return &result.Bottleneck{What: c.what, Where: "generator", Message: f.Message, Evidence: f.Evidence}
		}
	}
	return nil
}

// finding is the first finding of a rule.
func (v view) finding(rule string) (result.Finding, bool) {
	for _, f := range v.r.Validity.Findings {
		if f.Rule == rule {
			return f, true
		}
	}
	return result.Finding{}, false
}

// openLimit: a rate that was met shows no limit; one that was not shows that
// the target, the path, or the pool of connections to it, was at one. Where too
// many requests failed the trial failed as well, but only what was counted is
// named.
func (v view) openLimit() *result.Bottleneck {
	if v.l.OfferedRate == nil {
		return nil
	}
	failed := v.errorShare() >= v.t.ErrorsSuspect
	evidence := figures{"asked_rate": *v.l.OfferedRate, "rate": v.l.Rate}
	if v.sustained() && !failed {
		return &result.Bottleneck{What: "rate", Where: "plan", Evidence: evidence,
			Message: fmt.Sprintf("the asked rate of %s: no limit reached at this load", rate(*v.l.OfferedRate))}
	}
	if l := v.leading(); l != nil {
		return v.named(l)
	}
	switch c := v.l.Connections; {
	case failed:
		return nil
	case v.poolFull():
		evidence["connections"], evidence["connections_needed"] = float64(c.Asked), v.needed()
		return &result.Bottleneck{What: "connections", Where: "pool", Evidence: evidence, Exonerated: v.exonerated(),
			Message: fmt.Sprintf("target or pool: with all %s in use, answers taking %s on average allow no more; the rate that was asked needs %.0f at this time",
				many(int64(c.Asked), "connection"), nanos(v.l.Latency.Service.Mean()), v.needed())}
	case len(v.things(result.OfService)) > 0:
		return v.notIdentified()
	}
	return nil
}

// closedLimit: users that pause set the rate themselves as long as some of them
// do. Without pauses the load is as high as its connections allow: what was used
// up is then the limit, unless another run with more connections went higher.
// Where nothing was, and no other run shows a plateau, the time of an answer
// sets the rate, by Little's law: a fact about this concurrency and not yet a
// limit.
func (v view) closedLimit() *result.Bottleneck {
	places := float64(v.places())
	busy := places > 0 && v.l.InFlight >= v.t.FullConcurrency*places
	if v.plan.Think.Mean > 0 && !busy {
		return v.thinkLimit(places)
	}
	if v.others.known && !v.others.plateau {
		return &result.Bottleneck{What: "concurrency", Where: "plan", Evidence: figures{"connections": float64(v.l.Connections.Asked), "gain": v.others.gain},
			Message: fmt.Sprintf("the number of connections: no limit reached at this load; %d of them gave %s", v.others.connections, signed(v.others.gain))}
	}
	if l := v.leading(); l != nil {
		return v.named(l)
	}
	if v.others.known {
		return v.notIdentified()
	}
	if !busy {
		return nil
	}
	return v.answerTime(places)
}

// answerTime is what a lone run can say when every place was always in flight.
func (v view) answerTime(places float64) *result.Bottleneck {
	evidence := figures{"in_flight": v.l.InFlight, "connections": float64(v.l.Connections.Asked), "rate": v.l.Rate}
	mean := ratio(v.l.InFlight, v.l.Rate)
	message := fmt.Sprintf("target or path: with %s always in flight the answer time of %s sets the rate; only a run with more (-c %d) shows if it is a limit",
		many(int64(places), "request"), nanos(mean*1e9), 2*v.l.Connections.Asked)
	switch {
	case !v.watched():
		message += "; how full the generator was is not known"
	case v.l.Spun:
		message += "; the generator polled, so its CPU use tells nothing"
	default:
		evidence["generator_peak_busy"] = v.g.PeakBusy
	}
	if len(v.things(result.OfService)) > 0 && v.idleTargets() {
		message += "; the services waited more than they worked"
	}
	evidence["answer_time_us"] = mean * 1e6
	return &result.Bottleneck{What: "target-or-path", Where: "target", Message: message, Evidence: evidence, Exonerated: v.exonerated()}
}

// thinkLimit: users that pause set the rate themselves.
func (v view) thinkLimit(places float64) *result.Bottleneck {
	if v.plan.Think.Mean <= 0 || places == 0 {
		return nil
	}
	return &result.Bottleneck{What: "think-time", Where: "plan",
		Evidence: figures{"in_flight": v.l.InFlight, "users": places, "think_us": us(v.plan.Think.Mean)},
		Message: fmt.Sprintf("the users' think time of %s: on average %.3g of %s waited for an answer; no limit reached at this load",
			nanos(float64(v.plan.Think.Mean)), v.l.InFlight, many(int64(places), "user"))}
}
