package lab

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/stats"
)

// warming is a target whose rate rises for a time and then stays.
type warming struct{ rises time.Duration }

func (w warming) Load(ctx context.Context, l plan.Load, tell Tell) (*result.Load, error) {
	begun := time.Now()
	r := &result.Load{Model: string(l.Model), StartedUS: begun.UnixMicro()}
	for elapsed := time.Second; elapsed <= l.Duration && ctx.Err() == nil; elapsed += time.Second {
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
		rate := 1000 * min(1, elapsed.Seconds()/max(w.rises.Seconds(), 1))
		iv := result.Interval{StartUS: float64((elapsed - time.Second).Microseconds()), LengthUS: 1e6, Completed: int64(rate)}
		r.Intervals = append(r.Intervals, iv)
		tell.Progress(result.Progress{Elapsed: elapsed, Total: l.Duration, Interval: iv})
		synctest.Wait() // a stop must be seen before the next second begins
	}
	r.DurationUS = float64(time.Since(begun).Microseconds())
	return r, nil
}

func TestWarmUntilSteady(t *testing.T) {
	w := &plan.Warmup{Least: 10 * time.Second, Most: 3 * time.Minute}
	for _, tt := range []struct {
		name        string
		rises       time.Duration
		least, most time.Duration
		steady      bool
	}{
		{"steady from the start", 0, 20 * time.Second, 25 * time.Second, true},
		{"rises for a minute", time.Minute, 70 * time.Second, 90 * time.Second, true},
		{"rises for longer than allowed", 10 * time.Minute, 3 * time.Minute, 3 * time.Minute, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &Campaign{Loader: warming{tt.rises}, Steady: func() Steady { return &stats.Warmup{} }}
				got, err := c.warm(t.Context(), plan.Plan{Warmup: w, Load: plan.Load{Model: plan.Closed}}, []plan.Load{{Model: plan.Closed}})
				if err != nil {
					t.Fatal(err)
				}
				if got.took < tt.least || got.took > tt.most || (got.note == "") != tt.steady {
					t.Errorf("got %v and %q, want %v to %v, steady %t", got.took, got.note, tt.least, tt.most, tt.steady)
				}
				const settling, between = 2e6, 300e3
				run := &result.Run{Load: result.Load{StartedUS: time.Now().UnixMicro() + settling + between, WarmupUS: settling,
					Intervals: []result.Interval{{StartUS: -settling, LengthUS: 1e6, Warmup: true}, {StartUS: 0, LengthUS: 1e6}}}}
				got.into(run)
				first := run.Load.Intervals[0]
				if want := -settling - between - float64(got.took.Microseconds()); !first.Warmup || first.StartUS != want || run.Load.WarmupUS != -want {
					t.Errorf("the first second is at %g (warm-up %t), the warm-up took %g; want %g", first.StartUS, first.Warmup, run.Load.WarmupUS, want)
				}
			})
		})
	}
}

// TestWarmByTheClock: a warm-up that is a load of its own for another reason
// asks nobody whether it is steady.
func TestWarmByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Campaign{Loader: warming{time.Hour}, Steady: func() Steady { panic("nobody asked") }}
		w := &plan.Warmup{Least: 7 * time.Second, Most: 7 * time.Second}
		got, err := c.warm(t.Context(), plan.Plan{Warmup: w, Load: plan.Load{Model: plan.Closed}}, []plan.Load{{Model: plan.Closed}})
		if err != nil {
			t.Fatal(err)
		}
		if got.took != w.Most || got.note != "" {
			t.Errorf("got %v and %q, want %v", got.took, got.note, w.Most)
		}
	})
}

func TestNoMeasuredWarmup(t *testing.T) {
	c := &Campaign{}
	for name, p := range map[string]plan.Plan{"none planned": {}, "a count": {Warmup: &plan.Warmup{}, Load: plan.Load{Count: 5}}} {
		got, err := c.warm(t.Context(), p, []plan.Load{p.Load})
		if got != nil || err != nil {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
		l := got.settled(plan.Load{Warmup: time.Minute})
		if l.Warmup != time.Minute {
			t.Errorf("%s: the load's own warm-up became %v", name, l.Warmup)
		}
	}
}
