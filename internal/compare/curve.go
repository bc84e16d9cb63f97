package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"prony/internal/capacity"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/stats"
)

// Curves sets how the throughput of an experiment grows along each axis whose
// values are all numbers above zero, and whether its goals over variants are
// met. Invalid trials count for nothing (method, sections 5.3 and 6).
func Curves(e *result.Experiment) {
	e.Curves, e.Goals = nil, nil
	if e.Plan == nil {
		return
	}
	for _, axis := range axes(e.Plan) {
		e.Curves = append(e.Curves, along(e, axis)...)
	}
	for _, g := range e.Plan.Goals {
		e.Goals = append(e.Goals, met(g, e.Curves))
	}
}

// axes are those with at least two numbers, in the order of their names.
func axes(p *plan.Experiment) (all []string) {
	values := map[string]map[float64]bool{}
	words := map[string]bool{}
	for _, v := range p.Variants {
		for axis, text := range v.Values {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil || !(n > 0) {
				words[axis] = true
				continue
			}
			if values[axis] == nil {
				values[axis] = map[float64]bool{}
			}
			values[axis][n] = true
		}
	}
	for axis, seen := range values {
		if len(seen) > 1 && !words[axis] {
			all = append(all, axis)
		}
	}
	slices.Sort(all)
	return all
}

// along makes a curve for each combination of the other axes.
func along(e *result.Experiment, axis string) (curves []result.Curve) {
	groups := map[string]map[float64][]result.Trial{}
	var order []string
	for _, v := range e.Plan.Variants {
		at, err := strconv.ParseFloat(v.Values[axis], 64)
		if err != nil {
			continue
		}
		group := others(v.Values, axis)
		if groups[group] == nil {
			groups[group] = map[float64][]result.Trial{}
			order = append(order, group)
		}
		for _, t := range e.Of(v.Name) {
			if t.Validity.Verdict != result.Invalid {
				groups[group][at] = append(groups[group][at], t)
			}
		}
	}
	for _, group := range order {
		c := result.Curve{Axis: axis, Group: group}
		c.Points = points(groups[group])
		if len(c.Points) < 2 {
			continue
		}
		c.Fit = fit(groups[group])
		if axis == "load.connections" {
			c.Knee = knee(groups[group], c.Points)
		}
		curves = append(curves, c)
	}
	return curves
}

// others names the values of the axes but one.
func others(values map[string]string, axis string) string {
	var parts []string
	for name, value := range values {
		if name != axis {
			parts = append(parts, name+"="+value)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

func points(trials map[float64][]result.Trial) (all []result.CurvePoint) {
	for at, group := range trials {
		rates := rates(group)
		if len(rates) == 0 {
			continue
		}
		i := stats.MedianInterval(rates)
		all = append(all, result.CurvePoint{Value: at, Rate: stats.Median(rates), Low: i.Low, High: i.High, Runs: len(rates)})
	}
	slices.SortFunc(all, func(a, b result.CurvePoint) int { return int(math.Copysign(1, a.Value-b.Value)) })
	for i := range all {
		all[i].Efficiency = stats.Efficiency(all[0].Rate, all[i].Rate, all[i].Value/all[0].Value)
	}
	return all
}

func rates(trials []result.Trial) (all []float64) {
	for _, t := range trials {
		rate := t.Load.Rate
		if t.Capacity != nil {
			rate = t.Capacity.Rate
		}
		if rate > 0 {
			all = append(all, rate)
		}
	}
	return all
}

// fit is the scalability law through all runs; nil where there are too few.
func fit(trials map[float64][]result.Trial) *result.CurveFit {
	var all []stats.Point
	for at, group := range trials {
		for _, x := range rates(group) {
			all = append(all, stats.Point{N: at, X: x})
		}
	}
	slices.SortFunc(all, func(a, b stats.Point) int {
		if a.N != b.N {
			return int(math.Copysign(1, a.N-b.N))
		}
		return int(math.Copysign(1, a.X-b.X))
	})
	f, err := stats.FitUSL(all, stats.AutoWeights)
	if err != nil {
		return nil
	}
	c := &result.CurveFit{Gamma: f.Gamma, Alpha: f.Alpha, Beta: f.Beta, Unproven: f.Unproven}
	if n, _ := f.Peak(); f.Unproven == "" && !math.IsInf(n, 0) && n <= 2*f.Largest {
		c.PeakAt = n
	}
	return c
}

// knee is where the asymptotes meet, from the highest throughput and the
// response time of the fewest connections per connection.
func knee(trials map[float64][]result.Trial, points []result.CurvePoint) float64 {
	most := 0.0
	for _, p := range points {
		most = max(most, p.Rate)
	}
	first := points[0]
	if first.Value != 1 {
		return 0 // the response time of one user was not measured
	}
	var times []float64
	for _, t := range trials[first.Value] {
		if h := t.Load.Latency.Service; !h.Empty() {
			times = append(times, h.Mean()/1e9)
		}
	}
	if len(times) == 0 {
		return 0
	}
	return capacity.TwoDigits(capacity.Asymptote(most, stats.Median(times), 0))
}

// met holds a goal against the curves of its axis: the worst of them counts, at
// its largest value.
func met(g plan.Goal, curves []result.Curve) result.Expectation {
	x := result.Expectation{Text: g.Text, Reason: "no two values of " + g.Axis + " have usable trials"}
	found := false
	for _, c := range curves {
		if c.Axis != g.Axis {
			continue
		}
		last := c.Points[len(c.Points)-1]
		if found && last.Efficiency >= x.Actual {
			continue
		}
		found = true
		x.Actual = last.Efficiency
		x.Reason = fmt.Sprintf("%.3g at %s=%g", last.Efficiency, g.Axis, last.Value)
		if c.Group != "" {
			x.Reason += " with " + c.Group
		}
	}
	x.Met = found && g.Holds(x.Actual)
	return x
}
