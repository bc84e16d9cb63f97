package main

import (
	"testing"
	"time"

	"prony/internal/plan"
)

func TestRemaining(t *testing.T) {
	trial := plan.Trial{Plan: plan.Plan{Load: plan.Load{Duration: 10 * time.Second}}}
	now := time.Unix(1000, 0)
	r := &remaining{plan: &plan.Experiment{Trials: []plan.Trial{trial, trial, trial, trial}}, now: func() time.Time { return now }}
	if got := r.from(1); got != "about 30s" { // the first was there already
		t.Errorf("at the start: got %s", got)
	}
	now = now.Add(20 * time.Second) // twice as long as planned
	if got := r.from(2); got != "about 40s" {
		t.Errorf("after one trial: got %s", got)
	}
}
