package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
)

// Quantity is a metric and how it is read.
type Quantity struct {
	// Name in the words of goals: "rate", "p99", "service.p50", "errors"; and
	// "cpu.NAME", "memory.NAME" for a service, "cpu", "memory" for all of them.
	Name string `json:"name"`
	// Unit of the values: "us", "per second", "ratio", "bytes", "count".
	Unit          string `json:"unit"`
	LowerIsBetter bool   `json:"lower_is_better"`
	// Absolute quantities are compared by difference, since they may be zero;
	// the others by ratio.
	Absolute bool `json:"absolute,omitempty"`
	// Margin is the difference that does not matter, a ratio or, of what is
	// Absolute, in its unit.
	Margin float64 `json:"margin"`
}

// Margins by default (method, section 4.4): what matters of a rate and of CPU,
// of the middle of the latencies, of their tail, and of a share of requests.
const (
	rateMargin   = 0.02
	middleMargin = 0.05
	tailMargin   = 0.10
	memoryMargin = 0.05
	shareMargin  = 0.001
)

// tailSamples must lie beyond a percentile for it to be used.
const tailSamples = 10

// Parse reads the name of a metric: those of goals that have a better and a
// worse, and cpu and memory of services. Counts of failures are taken as shares
// of the requests.
//
// Margins are 2 % for rates and CPU per request, 5 % for percentiles below p99,
// mean, min and memory, 10 % for p99, max and what is above, and 0.1 percentage
// points for shares.
func Parse(name string) (Quantity, error) {
	for _, kind := range []string{"cpu", "memory"} {
		if name == kind || strings.HasPrefix(name, kind+".") && len(name) > len(kind)+1 {
			return ofService(name, kind), nil
		}
	}
	e, err := plan.ParseExpectation(name + " >= 0")
	if err != nil {
		return Quantity{}, fmt.Errorf("metric %q: %w", name, inner(err))
	}
	q := Quantity{Name: e.Metric}
	if e.Of != "" && e.Of != "response" {
		q.Name = e.Of + "." + e.Metric
	}
	switch {
	case e.Of != "":
		q.Unit, q.LowerIsBetter, q.Margin = "us", true, middleMargin
		if p, ok := e.Percentile(); ok && p >= 99 || e.Metric == "max" {
			q.Margin = tailMargin
		}
	case e.Metric == "rate" || e.Metric == "goodput":
		q.Unit, q.Margin = "per second", rateMargin
	case e.Metric == "completed":
		q.Unit, q.Margin = "count", rateMargin
	case slices.Contains([]string{"asked", "started", "connections"}, e.Metric):
		return Quantity{}, fmt.Errorf("metric %q: more of it is neither better nor worse", name)
	default:
		q.Unit, q.LowerIsBetter, q.Absolute, q.Margin = "ratio", true, true, shareMargin
	}
	return q, nil
}

// inner is the error without the goal that the name was wrapped in.
func inner(err error) error {
	if e := errors.Unwrap(err); e != nil {
		return e
	}
	return err
}

func ofService(name, kind string) Quantity {
	if kind == "memory" {
		return Quantity{Name: name, Unit: "bytes", LowerIsBetter: true, Margin: memoryMargin}
	}
	return Quantity{Name: name, Unit: "us", LowerIsBetter: true, Margin: rateMargin}
}

// value is a metric of one run.
type value struct {
	x float64
	// missing says why there is none.
	missing string
	// endless marks a percentile whose request was never answered: x is the
	// longest time that was waited for one.
	endless bool
}

// Of is the value of the quantity in a run, in its unit, or why there is none.
// Percentiles are those of all planned requests, so that requests without a good
// answer take as long as the load waited.
func (q Quantity) Of(r *result.Run) (x float64, missing string) {
	v := q.of(r)
	return v.x, v.missing
}

func (q Quantity) of(r *result.Run) value {
	kind, service, _ := strings.Cut(q.Name, ".")
	if kind == "cpu" || kind == "memory" {
		return cost(r, kind, service)
	}
	e, err := plan.ParseExpectation(q.Name + " >= 0")
	if err != nil {
		return value{missing: "nothing is called " + q.Name}
	}
	if e.Of != "" {
		return latency(&r.Load, e, waited(r))
	}
	return counted(&r.Load, e.Metric)
}

// cost sums over the instances of a service, or of all.
func cost(r *result.Run, kind, service string) value {
	v, found := value{}, false
	for _, s := range r.Services {
		if service != "" && s.Name != service {
			continue
		}
		x := s.CPUUSPerRequest
		if kind == "memory" {
			x = float64(s.MaxRSSBytes)
		}
		if !(x > 0) {
			return value{missing: fmt.Sprintf("the %s of %s was not observed", kind, s.Name)}
		}
		v.x, found = v.x+x, true
	}
	if !found {
		return value{missing: "there is no such service"}
	}
	return v
}

func counted(l *result.Load, metric string) value {
	q := l.Requests
	share := func(n, of int64) value {
		if of == 0 {
			return value{missing: "there were no requests"}
		}
		return value{x: float64(n) / float64(of)}
	}
	switch metric {
	case "rate":
		return value{x: l.Rate}
	case "goodput": // as a goal counts it
		if l.DurationUS <= 0 {
			return value{missing: "the window has no length"}
		}
		return value{x: min(l.Rate, float64(q.Completed)/(l.DurationUS/1e6))}
	case "completed":
		return value{x: float64(q.Completed)}
	case "errors":
		return share(q.Failed, q.Completed+q.Failed)
	case "failed":
		return share(q.Failed, q.Asked)
	case "cut-off":
		return share(q.CutOff, q.Asked)
	case "unsent":
		return share(q.Unsent, q.Asked)
	case "reopened":
		return share(l.Connections.Reopened, q.Asked)
	}
	return share(l.Failures[metric], q.Asked)
}

// waited is the longest time, in microseconds, that a request of the run could
// have been waited for.
func waited(r *result.Run) float64 {
	us := r.Load.DurationUS + r.Load.DrainUS
	if r.Plan != nil {
		us = max(us, float64(r.Plan.Load.Timeouts.Request.Microseconds()))
	}
	return us
}

func latency(l *result.Load, e plan.Expectation, longest float64) value {
	h := map[string]result.Histogram{"response": l.Latency.Response, "service": l.Latency.Service, "lag": l.Latency.Lag}[e.Of]
	if h.Empty() {
		return value{missing: "no good answer was timed"}
	}
	switch e.Metric {
	case "mean":
		return value{x: h.Mean() / 1000}
	case "min":
		return value{x: float64(h.Min()) / 1000}
	}
	quantile := hdr.P100
	if p, ok := e.Percentile(); ok {
		quantile = hdr.Percent(p)
	}
	n := h.Count()
	if e.Of == "response" {
		n = max(n, l.Requests.Asked)
	}
	if beyond := quantile.Beyond(n); quantile < hdr.P100 && beyond < tailSamples {
		return value{missing: fmt.Sprintf("%s of %d requests rests on %d", quantile, n, beyond)}
	}
	return ranked(h.Histogram, quantile.Rank(n), longest)
}

// ranked is the value of a rank among the samples and, behind them, any number
// that took longest or more.
func ranked(h *hdr.Histogram, rank int64, longest float64) value {
	switch n := h.Count(); {
	case rank > n:
		return value{x: max(longest, float64(h.Max())/1000), endless: true}
	case rank == n:
		return value{x: float64(h.Max()) / 1000}
	}
	var seen int64
	for cell, c := range h.Cells() {
		if seen += c; seen >= rank {
			return value{x: float64(min(cell.Highest, h.Max())) / 1000}
		}
	}
	return value{x: math.Max(longest, 0), endless: true}
}
