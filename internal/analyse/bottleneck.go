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
		return b
	}
	if v.r.Validity.Verdict == result.Invalid || v.l.Requests.Completed == 0 {
		return nil
	}
	if v.open() {
		return v.openLimit()
	}
	return v.closedLimit()
}

// ownLimit is a limit on the generator's side, by the findings that show it.
func (v view) ownLimit() *result.Bottleneck {
	for _, c := range []struct {
		rule, what string
		from       result.Severity
	}{
		{"generator-cpu", "generator-cpu", result.SuspectLevel}, {"generator-thread", "generator-cpu", result.SuspectLevel},
		{"throttled", "generator-quota", result.InvalidLevel},
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
// the target, or the pool of connections to it, was at one.
func (v view) openLimit() *result.Bottleneck {
	if v.l.OfferedRate == nil || v.errorShare() >= v.t.ErrorsSuspect {
		return nil
	}
	evidence := figures{"asked_rate": *v.l.OfferedRate, "rate": v.l.Rate}
	if v.sustained() {
		return &result.Bottleneck{What: "rate", Where: "plan", Evidence: evidence,
			Message: fmt.Sprintf("the asked rate of %s: no limit reached at this load", rate(*v.l.OfferedRate))}
	}
	c := v.l.Connections
	if !v.poolFull() {
		return nil
	}
	evidence["connections"], evidence["connections_needed"] = float64(c.Asked), v.needed()
	return &result.Bottleneck{What: "connections", Where: "pool", Evidence: evidence,
		Message: fmt.Sprintf("target or pool: with all %s in use, answers taking %s on average allow no more; the rate that was asked needs %.0f at this time",
			many(int64(c.Asked), "connection"), nanos(v.l.Latency.Service.Mean()), v.needed())}
}

// closedLimit: with every place always in flight and a generator that was not
// full, the time of an answer sets the rate, by Little's law. That is a fact
// about this concurrency and not yet a limit: only more connections that add
// nothing would show one.
func (v view) closedLimit() *result.Bottleneck {
	places := float64(v.places())
	if places == 0 || v.l.InFlight < v.t.FullConcurrency*places {
		return v.thinkLimit(places)
	}
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
	evidence["answer_time_us"] = mean * 1e6
	return &result.Bottleneck{What: "target-or-path", Where: "target", Message: message, Evidence: evidence}
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
