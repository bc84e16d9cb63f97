package lab

import (
	"testing"
	"testing/synctest"
	"time"

	"prony/internal/result"
	"prony/internal/topology"
)

// TestOpening: what the services have used is read when the window opens, not
// when the load begins.
func TestOpening(t *testing.T) {
	for _, tt := range []struct {
		name string
		at   []time.Duration // in which windows were said to open
		ends time.Duration
		want []time.Duration // of the readings
	}{
		{"it never opened", nil, 10 * time.Second, nil},
		{"it opened", []time.Duration{3 * time.Second}, 10 * time.Second, []time.Duration{3 * time.Second}},
		{"it ended before", []time.Duration{30 * time.Second}, 10 * time.Second, nil},
		{"it was moved", []time.Duration{3 * time.Second, 5 * time.Second}, 10 * time.Second, []time.Duration{5 * time.Second}},
		{"it opened again", []time.Duration{0, 5 * time.Second}, 10 * time.Second, []time.Duration{0, 5 * time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				var read []time.Duration
				o := opening{read: func() topology.Costs {
					read = append(read, time.Since(begun))
					return topology.Costs{}
				}}
				for _, d := range tt.at {
					o.at(begun.Add(d))
					if d == 0 {
						<-time.After(time.Second)
					}
				}
				<-time.After(tt.ends - time.Since(begun))
				if got := o.costs(); (got == nil) != (tt.want == nil) {
					t.Errorf("got costs %v, want %t", got, tt.want != nil)
				}
				if len(read) != len(tt.want) {
					t.Fatalf("read after %v, want %v", read, tt.want)
				}
				for i := range read {
					if read[i] != tt.want[i] {
						t.Errorf("read after %v, want %v", read, tt.want)
					}
				}
			})
		})
	}
}

// TestAnswered: a service has answered what ended in the window or behind it.
func TestAnswered(t *testing.T) {
	load := func(inWindow, drained int64) result.Load {
		return result.Load{Requests: result.Requests{InWindow: inWindow, WarmupCompleted: 1000}, Intervals: []result.Interval{
			{Warmup: true, Completed: 1000}, {Completed: inWindow}, {Drain: true, Completed: drained}}}
	}
	if got := answered(&result.Run{Load: load(100, 7), Also: []result.Load{load(20, 0)}}, true); got != 127 {
		t.Errorf("got %d, want 127", got)
	}
}
