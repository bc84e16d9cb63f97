package analyse

import (
	"fmt"
	"math"

	"prony/internal/hdr"
	"prony/internal/result"
)

// rateSustained tells whether the target kept up with an open load. It did not
// if requests were never sent, or if the number of unfinished requests grew
// through the second half of the window by more than chance and the timetable
// explain. What was measured is real, but of a queue that was still growing:
// its percentiles are lower bounds.
func rateSustained(v view) answer {
	if !v.open() {
		return nothing()
	}
	if v.l.OfferedRate == nil {
		return lacks("the asked rate is not in the result")
	}
	growth, allowed, known := v.growth()
	if !known && !v.overloaded() {
		return lacks("too few seconds to see whether the queue grew")
	}
	if !v.overloaded() && growth <= allowed {
		return nothing()
	}
	backlog := v.backlog()
	return found(result.Finding{Severity: result.SuspectLevel,
		Evidence: figures{"asked_rate": *v.l.OfferedRate, "rate": v.l.Rate, "backlog": float64(backlog),
			"unsent": float64(v.l.Requests.Unsent), "growth": growth},
		Threshold: figures{"growth": allowed},
		Message: fmt.Sprintf("target rate not sustained: asked %s, got %s, backlog %s; the queue was still growing, so every percentile is a lower bound",
			rate(*v.l.OfferedRate), rate(v.l.Rate), many(backlog, "request")),
		Advice: fmt.Sprintf("lower the rate below %s, e.g. %s; latency at a rate that is not sustained only says how long you measured", rate(v.l.Rate), v.atShare(0.8))})
}

// atShare is the flag for a share of the measured rate.
func (v view) atShare(share float64) string {
	if r := v.l.Rate * share; r >= 10 {
		return fmt.Sprintf("-r %.0f/s", r)
	}
	return fmt.Sprintf("-r %.2g/s", v.l.Rate*share)
}

// overloaded reports whether planning was given up, or requests never went out.
func (v view) overloaded() bool { return v.l.EndedBy == "overload" || v.l.Requests.Unsent > 0 }

// sustained reports whether an open load is known to have met its rate.
func (v view) sustained() bool {
	growth, allowed, known := v.growth()
	return !v.overloaded() && (!known || growth <= allowed)
}

// backlog is how many requests waited, at the most that is known.
func (v view) backlog() int64 {
	n := max(v.l.BacklogPeak, v.l.Requests.Unsent)
	if w := v.window(); len(w) > 0 {
		n = max(n, w[len(w)-1].InFlight)
	}
	return n
}

// growth is by how many requests the unfinished ones grew in the second half
// of the window, beyond what a changing rate explains, and how many are
// allowed: a share of those planned, or four standard deviations of a random
// count, at least 10. Below four seconds only a pile is known.
func (v view) growth() (growth, allowed float64, known bool) {
	w := v.window()
	if len(w) < 4 {
		return v.pile(w)
	}
	mid := len(w)/2 - 1
	var planned float64
	for _, iv := range w[mid+1:] {
		planned += float64(iv.Planned)
	}
	before, after := w[mid], w[len(w)-1]
	scale := ratio(perSecond(after), perSecond(before))
	if scale == 0 {
		scale = 1
	}
	growth = float64(after.InFlight) - float64(before.InFlight)*scale
	return growth, max(v.t.Shortfall*planned, 4*math.Sqrt(planned), 10), true
}

// pile is what was unfinished at the end of a window too short to have halves,
// beyond twice what the service time explains by Little's law; twice, for a
// ramp ends at up to twice its mean. A small pile proves nothing, so that it is
// not known then.
func (v view) pile(w []result.Interval) (pile, allowed float64, known bool) {
	if len(w) == 0 || v.l.OfferedRate == nil || v.l.Latency.Service.Empty() {
		return 0, 0, false
	}
	asked, busy := float64(v.l.Requests.Asked), *v.l.OfferedRate*v.l.Latency.Service.Mean()/1e9
	pile = float64(w[len(w)-1].InFlight) - 2*busy
	allowed = max(v.t.Shortfall*asked, 4*math.Sqrt(asked), 10)
	return pile, allowed, pile > allowed
}

func perSecond(iv result.Interval) float64 { return ratio(float64(iv.Planned), iv.LengthUS/1e6) }

// clientWait tells of requests that were due and taken in time, but waited for
// a connection. That is part of the workload and of the response time; the
// question is whether the pool was too small or the target too slow.
func clientWait(v view) answer {
	lag, dispatch, response := v.l.Latency.Lag, v.l.Latency.Dispatch, v.l.Latency.Response
	if !v.open() || lag.Empty() || dispatch.Empty() || response.Empty() {
		return nothing() // dispatch-lag says what is missing
	}
	limit := v.lagLimit(hdr.P99, v.t.LagP99)
	own, all := float64(dispatch.Value(hdr.P99)), float64(lag.Value(hdr.P99))
	if own > limit || all-own <= limit {
		return nothing()
	}
	c, needed := v.l.Connections, v.needed()
	message := fmt.Sprintf("requests waited for a connection (p99 %s) while new ones were opened: %s of at most %s were in use",
		nanos(all-own), count(int64(c.Peak)), count(int64(c.Asked)))
	advice := "warm up (-w 5s), so that the connections stand before the window opens"
	if v.poolFull() {
		message = fmt.Sprintf("target overloaded or pool too small: all %s were in use and requests waited for one (p99 %s); at this rate and service time %.0f would be busy",
			many(int64(c.Asked), "connection"), nanos(all-own), math.Ceil(needed))
		advice = fmt.Sprintf("allow more connections (-c %d); if the wait stays, the target is the limit", 2*c.Asked)
	}
	return found(result.Finding{Severity: result.Note, Message: message, Advice: advice,
		Evidence:  figures{"client_wait_p99_us": (all - own) / 1e3, "connections_peak": float64(c.Peak), "connections_asked": float64(c.Asked), "connections_needed": needed},
		Threshold: figures{"client_wait_p99_us": limit / 1e3}})
}

// poolFull reports whether the limit on connections was reached.
func (v view) poolFull() bool {
	return v.l.Connections.Asked > 0 && v.l.Connections.Peak >= v.l.Connections.Asked
}

// needed is how many connections the asked rate keeps busy at the measured
// service time, by Little's law.
func (v view) needed() float64 {
	if v.l.OfferedRate == nil || v.l.Latency.Service.Empty() {
		return 0
	}
	return *v.l.OfferedRate * v.l.Latency.Service.Mean() / 1e9 / float64(max(v.plan.Pipeline, 1))
}
