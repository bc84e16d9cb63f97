package plan

import (
	"time"
)

// What a trial takes besides its load; guesses, and named so where they are
// printed.
const (
	startTime  = time.Second       // of one service
	stopTime   = time.Second / 2   // of one service
	readyMost  = time.Minute       // of a catalog entry, which knows it better
	searchTime = 460 * time.Second // of a search for capacity, by simulation
	searchMost = 30 * time.Minute
)

// Estimate is how long something takes: as a rule, and if everything takes as
// long as it may. Counted says that an exact number of requests comes on top,
// whose time depends on the target.
type Estimate struct {
	Likely  time.Duration `json:"likely_ns"`
	Most    time.Duration `json:"most_ns"`
	Counted bool          `json:"counted,omitempty"`
}

func (e Estimate) plus(other Estimate) Estimate {
	return Estimate{e.Likely + other.Likely, e.Most + other.Most, e.Counted || other.Counted}
}

// Estimate is the time of one trial, without the rest behind it.
func (p Plan) Estimate() Estimate {
	var e Estimate
	for _, s := range p.Services {
		if s.Started() {
			e.Likely += startTime + stopTime
			e.Most += max(s.Ready.Within, readyMost) + 10*stopTime
		}
	}
	if p.Capacity != nil {
		return e.plus(Estimate{Likely: searchTime, Most: searchMost})
	}
	if p.Warmup != nil {
		e = e.plus(Estimate{Likely: p.Warmup.Least, Most: p.Warmup.Most})
	}
	var longest Estimate
	for _, l := range append([]Load{p.Load}, p.Also...) {
		longest.Likely = max(longest.Likely, l.Warmup+l.Duration)
		longest.Most = max(longest.Most, l.Warmup+l.Duration+max(l.Drain, 0))
		longest.Counted = longest.Counted || l.Count > 0 && l.Duration == 0
	}
	return e.plus(longest)
}

// Estimate is the time of the whole experiment.
func (e *Experiment) Estimate() Estimate {
	var all Estimate
	for _, t := range e.Trials {
		all = all.plus(t.Plan.Estimate())
	}
	rests := e.Cooldown * time.Duration(max(len(e.Trials)-1, 0))
	return all.plus(Estimate{Likely: rests, Most: rests})
}
