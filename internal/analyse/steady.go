package analyse

import (
	"fmt"
	"math"
	"slices"

	"prony/internal/result"
)

// steadyRules ask whether the window shows one state (method 3).
func steadyRules() []rule {
	return []rule{
		{"steady", "W1", steady},
		{"growing-memory", "W3", growingMemory},
	}
}

// steady compares the two halves of the window: the rate of a closed load, the
// median time of an open one, second by second. It fires when the medians of the
// halves differ by more than chance explains (3.2: 2·1.2533·s·√(2/h), at least
// 5 %) and the series also has a trend (Mann-Kendall at 1 %). Both are robust
// against single bad seconds; the classes with their change points are those of
// section 3.3 and need more than this.
func steady(v view) answer {
	if v.open() && !v.sustained() {
		return nothing() // rate-sustained has said it
	}
	series := v.course()
	if len(series) < v.t.SteadySeconds {
		return lacks(fmt.Sprintf("%d whole seconds are too few, it takes %d", len(series), v.t.SteadySeconds))
	}
	half := len(series) / 2
	first, last := median(series[:half]), median(series[len(series)-half:])
	change := ratio(last, first) - 1
	allowed := max(v.t.SteadyChange, 2*1.2533*noise(series)*math.Sqrt(2/float64(half)))
	z := mannKendall(series)
	if first == 0 || math.Abs(change) <= allowed || math.Abs(z) < v.t.TrendZ {
		return nothing()
	}
	what, better := "rate", change > 0
	if v.open() {
		what, better = "median response time", change < 0
	}
	message, advice := "it slowed down", "look for what grows with time: memory, a log, a table, heat; measure longer, and give the course beside the number"
	if better {
		message, advice = "it was still warming up", "warm up longer (-w), until the rate stands"
	}
	return found(result.Finding{Severity: result.SuspectLevel, Confidence: result.Likely,
		Evidence:  figures{"first_half": first, "second_half": last, "change": change, "trend_z": z, "seconds": float64(len(series))},
		Threshold: figures{"change": allowed, "trend_z": v.t.TrendZ},
		Message:   fmt.Sprintf("no steady state: from the first half of the window to the second the %s changed by %s: %s", what, signed(change), message),
		Advice:    advice})
}

// course is what should stand still, for each whole second of the window.
func (v view) course() []float64 {
	var all []float64
	for _, iv := range v.window() {
		switch {
		case iv.LengthUS < 0.9e6:
		case v.open():
			all = append(all, iv.Response.P50())
		default:
			all = append(all, float64(iv.Completed)/iv.LengthUS*1e6)
		}
	}
	return all
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// noise is the relative noise from one value to the next, by the median of the
// absolute differences (method 3.2).
func noise(series []float64) float64 {
	steps := make([]float64, 0, len(series))
	for i := 1; i < len(series); i++ {
		steps = append(steps, math.Abs(series[i]-series[i-1]))
	}
	return ratio(median(steps)/(0.6745*math.Sqrt2), math.Abs(median(series)))
}

// mannKendall is the z of the trend test of Mann (1945) and Kendall, with the
// correction for ties.
func mannKendall(series []float64) float64 {
	n, s := len(series), 0
	for i := range series {
		for _, later := range series[i+1:] {
			switch {
			case later > series[i]:
				s++
			case later < series[i]:
				s--
			}
		}
	}
	variance := float64(n*(n-1)*(2*n+5)) / 18
	for _, ties := range tied(series) {
		variance -= float64(ties*(ties-1)*(2*ties+5)) / 18
	}
	if variance <= 0 || s == 0 {
		return 0
	}
	return (float64(s) - math.Copysign(1, float64(s))) / math.Sqrt(variance)
}

// tied are the sizes of the groups of equal values.
func tied(series []float64) []int {
	var groups []int
	sorted := slices.Sorted(slices.Values(series))
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		if j-i > 1 {
			groups = append(groups, j-i)
		}
		i = j
	}
	return groups
}

// growingMemory hints at a leak: memory that rises through the window by more
// than a tenth, with a trend at 1 % (method 3.3).
func growingMemory(v view) answer {
	var a answer
	for _, o := range v.things(result.OfService) {
		series := v.in(o, result.ResidentSet)
		if len(series) < v.t.SteadySeconds {
			continue
		}
		fifth := len(series) / 5
		first, last := median(series[:fifth]), median(series[len(series)-fifth:])
		growth := ratio(last, first) - 1
		if first <= 0 || growth <= v.t.MemoryGrowth || mannKendall(series) < v.t.TrendZ {
			continue
		}
		a.findings = append(a.findings, result.Finding{Severity: result.Note, Confidence: result.Hint, Where: place(o),
			Evidence:  figures{"rss_first_bytes": first, "rss_last_bytes": last, "growth": growth},
			Threshold: figures{"growth": v.t.MemoryGrowth, "trend_z": v.t.TrendZ},
			Message:   fmt.Sprintf("the memory of %s grew by %s inside the window", place(o), percent(growth)),
			Advice:    "measure longer and see if it ends; if not, it is a leak or a cache without a bound"})
	}
	return a
}
