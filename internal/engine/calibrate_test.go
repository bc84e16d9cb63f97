package engine

import (
	"runtime"
	"testing"
	"time"

	"prony/internal/plan"
	"prony/internal/schedule"
)

// TestSpinSlack: where no core can be spared, a worker polls for a twentieth of
// the gaps between its sends at most.
func TestSpinSlack(t *testing.T) {
	all := runtime.NumCPU()
	for _, tt := range []struct {
		name string
		load plan.Load
		want time.Duration
	}{
		{"closed", plan.Load{Model: plan.Closed, Threads: all}, 0},
		{"long gaps", plan.Load{Model: plan.Open, Threads: all, Arrivals: schedule.Rate(10)}, 100 * time.Microsecond},
		{"short gaps", plan.Load{Model: plan.Open, Threads: all, Arrivals: schedule.Rate(float64(all) * 10_000)}, 5 * time.Microsecond},
		{"a ramp counts by its end", plan.Load{Model: plan.Open, Threads: all, Arrivals: schedule.Ramp(1, float64(all)*10_000, time.Second)}, 5 * time.Microsecond},
		{"a timetable without a rate", plan.Load{Model: plan.Open, Threads: all, Arrivals: schedule.Arrivals{Times: []int64{1, 2}}}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := time.Duration(spinSlack(&run{load: tt.load})); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}
