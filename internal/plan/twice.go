package plan

import (
	"fmt"
	"slices"
)

// Twice is an A/A experiment: one variant against itself, so many times, in the
// order that two variants would have. What it finds to differ is the noise of
// the lab.
func (e *Experiment) Twice(variant string, times int) (*Experiment, error) {
	i := slices.IndexFunc(e.Trials, func(t Trial) bool { return t.Variant == variant })
	if i < 0 {
		return nil, fmt.Errorf("plan variant %q twice: there is no such variant", variant)
	}
	first := e.Trials[i].Plan
	twice := *e
	twice.Question = fmt.Sprintf("What differs when nothing was changed? (%s against itself)", variant)
	twice.Variants = []Variant{{Name: "A"}, {Name: "B"}}
	twice.Baseline, twice.Repeat, twice.Goals, twice.Trials = "A", Repeat{Times: times}, nil, nil
	for b, row := range blocks(2, times, e.Seed, e.Order) {
		for _, v := range row {
			p := first
			p.Seed = seedOf(e.Seed, b, 0)
			p.Load = reseeded(p.Load, e.Seed, b, 0)
			p.Also = slices.Clone(p.Also)
			for k, l := range p.Also {
				p.Also[k] = reseeded(l, e.Seed, b, k+1)
			}
			twice.Trials = append(twice.Trials, Trial{Block: b, Variant: twice.Variants[v].Name, Plan: p})
		}
	}
	return &twice, nil
}

// reseeded gives a load the seed of a block.
func reseeded(l Load, seed uint64, block, load int) Load {
	l.Seed = seedOf(seed, block, load)
	l.Arrivals.Seed = 0
	if l.Arrivals.Open() {
		l.Arrivals.Seed = l.Seed
	}
	return l
}
