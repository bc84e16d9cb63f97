package analyse

import (
	"fmt"
	"math"
	"time"

	"prony/internal/hdr"
	"prony/internal/result"
	"prony/internal/schedule"
)

// paceRules ask whether an open load left by its timetable (method 1.6), and
// tell a generator that was late from a target that was.
func paceRules() []rule {
	return []rule{
		{"dispatch-lag", "G3", dispatchLag},
		{"dispatched", "G3", dispatched},
		{"dispatch-seconds", "G3", dispatchSeconds},
		{"send-gaps", "G3", sendGaps},
		{"rate-sustained", "G3", rateSustained},
		{"client-wait", "G3", clientWait},
	}
}

// dispatchLag compares how late the generator itself was with the response
// times it measured.
func dispatchLag(v view) answer {
	if !v.open() {
		return nothing()
	}
	lag, response := v.l.Latency.Dispatch, v.l.Latency.Response
	if lag.Empty() || response.Empty() {
		return lacks("dispatch lag was not measured")
	}
	worst, which := result.Info, hdr.P50
	evidence, threshold := figures{}, figures{}
	for _, c := range []struct {
		q     hdr.Quantile
		floor time.Duration
	}{{hdr.P50, v.t.LagP50}, {hdr.P99, v.t.LagP99}} {
		late, limit := float64(lag.Value(c.q)), v.lagLimit(c.q, c.floor)
		name := "dispatch_" + c.q.String() + "_us"
		evidence[name], threshold[name] = late/1e3, limit/1e3
		if s, ok := exceeds(late, limit, limit*v.t.LagFactor); ok && graver(s, worst) {
			worst, which = s, c.q
		}
	}
	if worst == result.Info {
		return nothing()
	}
	late := float64(lag.Value(which))
	return found(result.Finding{Severity: worst, Evidence: evidence, Threshold: threshold,
		Message: fmt.Sprintf("generator-bound: it sent requests %s late by its own fault (%s); beside a response time of %s no more than %s would do",
			nanos(late), which, nanos(float64(response.Value(which))), micros(threshold["dispatch_"+which.String()+"_us"])),
		Advice: "give the generator more cores or threads (-t), lower the rate, or move it to an idle machine"})
}

// lagLimit is the valid dispatch lag at q, in nanoseconds.
func (v view) lagLimit(q hdr.Quantile, floor time.Duration) float64 {
	return max(float64(floor), v.t.LagShare*float64(v.l.Latency.Response.Value(q)))
}

func graver(a, b result.Severity) bool { return gravity(a) > gravity(b) }

func gravity(s result.Severity) int {
	switch s {
	case result.InvalidLevel:
		return 3
	case result.SuspectLevel:
		return 2
	case result.Note:
		return 1
	}
	return 0
}

// dispatched compares the requests taken from the timetable with those it
// holds. Requests that the target or the pool kept from being sent are not the
// dispatcher's.
func dispatched(v view) answer {
	if !v.open() {
		return nothing()
	}
	planned, why := v.planned()
	if why != "" {
		return lacks(why)
	}
	if planned <= 0 {
		return nothing()
	}
	share := float64(v.l.Requests.Asked) / planned
	severity, ok := exceeds(-share, -v.t.SentValid, -v.t.SentSuspect)
	if !ok {
		return nothing()
	}
	return found(result.Finding{Severity: severity, Evidence: figures{"dispatched": float64(v.l.Requests.Asked), "planned": planned, "share": share},
		Threshold: figures{"share": v.t.SentValid, "share_invalid": v.t.SentSuspect},
		Message:   fmt.Sprintf("generator-bound: of %s requests planned it took %s", count(int64(planned)), percent(share)),
		Advice:    "give the generator more cores or threads (-t), or lower the rate"})
}

// planned is the exact number of requests of the timetable inside the window,
// or why it is not known.
func (v view) planned() (n float64, why string) {
	a := v.plan.Arrivals
	switch {
	case !a.Open():
		return 0, "the timetable is not in the result"
	case v.l.EndedBy != "duration" && v.l.EndedBy != "schedule" && v.l.EndedBy != "overload":
		return 0, "the load did not run to its planned end"
	}
	from := time.Duration(v.l.WarmupUS * 1e3)
	until := from + v.plan.Duration
	if v.l.EndedBy != "overload" {
		until = from + time.Duration(v.l.DurationUS*1e3)
	}
	before, ok1 := a.Count(from)
	all, ok2 := a.Count(until)
	if !ok1 || !ok2 {
		return 0, "the exact number of arrivals of a random timetable is not kept"
	}
	return float64(all - before), ""
}

// dispatchSeconds counts the seconds in which the generator did not take what
// the timetable planned for them. Of a Poisson timetable only the mean is
// known, so four standard deviations are its own.
func dispatchSeconds(v view) answer {
	if !v.open() {
		return nothing()
	}
	a, window := v.plan.Arrivals, v.window()
	if !a.Open() || len(window) == 0 {
		return lacks("the timetable or the intervals are not in the result")
	}
	var off, worst, all float64
	for _, iv := range window {
		if v.l.EndedBy != "duration" && iv.StartUS+iv.LengthUS > v.l.DurationUS-1e6 {
			continue // the load stopped inside it
		}
		all++
		from := v.l.WarmupUS + iv.StartUS
		want := a.Expected(nanosOf(from+iv.LengthUS)) - a.Expected(nanosOf(from))
		allowed := max(v.t.SecondDeviation*want, 2)
		if a.Process == schedule.Poisson && len(a.Times) == 0 {
			allowed = max(allowed, 4*math.Sqrt(want))
		}
		if d := math.Abs(float64(iv.Planned) - want); d > allowed {
			off++
			worst = max(worst, ratio(d, want))
		}
	}
	severity, ok := exceeds(ratio(off, all), v.t.SecondsValid, v.t.SecondsSuspect)
	if !ok {
		return nothing()
	}
	return found(result.Finding{Severity: severity, Evidence: figures{"seconds_off": off, "seconds": all, "share": off / all, "worst_deviation": worst},
		Threshold: figures{"share": v.t.SecondsValid, "share_invalid": v.t.SecondsSuspect, "deviation": v.t.SecondDeviation},
		Message: fmt.Sprintf("generator-bound: in %.0f of %.0f seconds it took more than %s fewer or more requests than planned (at worst %s)",
			off, all, percent(v.t.SecondDeviation), percent(worst)),
		Advice: "give the generator more cores, or find what paused it (see the findings about its machine)"})
}

func nanosOf(us float64) time.Duration { return time.Duration(math.Round(us * 1e3)) }

// sendGaps judges how Poisson the sends of a Poisson plan were, by the
// Kolmogorov-Smirnov distance and not a p-value, since with many gaps every
// test rejects (method 1.6).
func sendGaps(v view) answer {
	if !v.open() || v.plan.Arrivals.Process != schedule.Poisson || len(v.plan.Arrivals.Times) > 0 {
		return nothing()
	}
	if len(v.plan.Arrivals.Segments) > 1 || changes(v.plan.Arrivals) {
		return lacks("gaps of a changing rate are not exponential")
	}
	d := v.l.SendGapKS
	if d < 0 {
		return lacks("too few sends for a distance to the exponential law")
	}
	severity, ok := exceeds(d, v.t.KSValid, v.t.KSSuspect)
	if !ok {
		return nothing()
	}
	return found(result.Finding{Severity: severity, Evidence: figures{"ks_distance": d},
		Threshold: figures{"ks_distance": v.t.KSValid, "ks_distance_invalid": v.t.KSSuspect},
		Message:   fmt.Sprintf("generator-bound: its sends were not the random arrivals that were planned (distance %.3f to the exponential law)", d),
		Advice:    "lower the rate or give the generator a spare core, so that it can wait exactly"})
}

// changes reports whether the rate of a timetable is not flat.
func changes(a schedule.Arrivals) bool {
	for _, s := range a.Segments {
		if s.From != s.To {
			return true
		}
	}
	return false
}
