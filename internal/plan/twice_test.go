package plan_test

import (
	"testing"

	"prony/internal/plan"
	"prony/internal/schedule"
)

func TestTwice(t *testing.T) {
	open := plan.Load{Arrivals: schedule.Rate(100)}
	e := &plan.Experiment{Seed: 7, Variants: []plan.Variant{{Name: "x"}, {Name: "y"}}, Trials: []plan.Trial{
		{Variant: "x"}, {Variant: "y", Plan: plan.Plan{Name: "of y", Load: open}}}}
	twice, err := e.Twice("y", 4)
	if err != nil {
		t.Fatal(err)
	}
	if len(twice.Trials) != 8 || twice.Baseline != "A" || twice.Repeat.Times != 4 {
		t.Fatalf("got %d trials, baseline %s, %d times", len(twice.Trials), twice.Baseline, twice.Repeat.Times)
	}
	for b := range 4 {
		first, second := twice.Trials[2*b], twice.Trials[2*b+1]
		if first.Block != b || second.Block != b || first.Variant == second.Variant {
			t.Errorf("block %d: got %s in %d and %s in %d", b, first.Variant, first.Block, second.Variant, second.Block)
		}
		if first.Plan.Name != "of y" || first.Plan.Load.Seed != second.Plan.Load.Seed || first.Plan.Load.Arrivals.Seed != first.Plan.Load.Seed {
			t.Errorf("block %d: got plan %s, seeds %d and %d", b, first.Plan.Name, first.Plan.Load.Seed, second.Plan.Load.Seed)
		}
	}
	if twice.Trials[0].Plan.Load.Seed == twice.Trials[2].Plan.Load.Seed {
		t.Error("two blocks have the same seed")
	}
	if _, err := e.Twice("z", 1); err == nil {
		t.Error("a variant that is not there was taken")
	}
}
