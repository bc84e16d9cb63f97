package schedule_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"prony/internal/schedule"
)

// randomPlan draws a valid plan that ends, with a few segments of any shape.
func randomPlan(r *schedule.SplitMix64) schedule.Arrivals {
	a := schedule.Arrivals{Process: schedule.Process(r.Uint64n(2)), Seed: r.Uint64()}
	for range 1 + r.Uint64n(5) {
		s := schedule.Segment{From: 500 * r.Float64(), To: 500 * r.Float64()}
		switch r.Uint64n(4) {
		case 0:
			s.To = s.From
		case 1:
			s.From = 0
		case 2:
			s.To = 0
		}
		s.Duration = time.Duration(1 + r.Uint64n(uint64(2*time.Second)))
		a.Segments = append(a.Segments, s)
	}
	return a
}

func TestPartsMergeToTheSamePlan(t *testing.T) {
	r := schedule.SplitMix64(1)
	for i := range 60 {
		a := randomPlan(&r)
		if i%10 == 9 {
			a = schedule.Replay(plan(a, 1000))
		}
		if a.Validate() != nil {
			continue // a single segment from 0 to 0
		}
		want := plan(a, math.MaxInt)
		for n := 1; n <= 9; n++ {
			t.Run(fmt.Sprintf("plan %d in %d", i, n), func(t *testing.T) {
				sameTimes(t, merge(a, n, len(want)), want)
			})
		}
		if !slices.IsSorted(want) {
			t.Errorf("plan %d is not ascending", i)
		}
	}
}

// merge takes all times of n parts in turns, and one more than total if there is.
func merge(a schedule.Arrivals, n, total int) []int64 {
	tables := make([]*schedule.Timetable, n)
	for k := range tables {
		tables[k] = a.Shard(k, n)
	}
	var times []int64
	for i := range total + n {
		if at, ok := tables[i%n].Next(); ok {
			times = append(times, at)
		}
	}
	return times
}

func TestPeekIsTheComingNext(t *testing.T) {
	for _, a := range []schedule.Arrivals{
		schedule.Ramp(0, 100, time.Second),
		poisson(schedule.Ramp(100, 0, time.Second), 3),
		schedule.Replay([]int64{0, 5, 5, 9}),
		{},
	} {
		table := a.Shard(0, 2)
		for more := true; more; {
			peekAt, peekOK := table.Peek()
			at, ok := table.Next()
			if at != peekAt || ok != peekOK {
				t.Fatalf("%v: Peek %d, %v and then Next %d, %v", a.Segments, peekAt, peekOK, at, ok)
			}
			more = ok
		}
		if at, ok := table.Next(); ok {
			t.Errorf("%v: Next after the end: got %d, true", a.Segments, at)
		}
	}
}

func TestPlans(t *testing.T) {
	const ms = int64(time.Millisecond)
	flat := func(rate float64, d time.Duration) schedule.Segment {
		return schedule.Segment{From: rate, To: rate, Duration: d}
	}
	for _, tc := range []struct {
		name string
		plan schedule.Arrivals
		want []int64
	}{
		{"zero value", schedule.Arrivals{}, nil},
		{"zero value, poisson", schedule.Arrivals{Process: schedule.Poisson}, nil},
		{"end is not in the plan", schedule.Steps(30*time.Millisecond, 100), []int64{0, 10 * ms, 20 * ms}},
		{"a low rate", schedule.Steps(30*time.Second, 0.1), []int64{0, 10000 * ms, 20000 * ms}},
		{"a fraction left at the end is one more", schedule.Steps(31*time.Millisecond, 100), []int64{0, 10 * ms, 20 * ms, 30 * ms}},
		{"a fraction carries into the next step", schedule.Steps(15*time.Millisecond, 100, 200), []int64{0, 10 * ms, 17500000, 22500000, 27500000}},
		{"a pause holds the arrival due at its beginning back", schedule.Steps(30*time.Second, 0.1, 0, 0.1),
			[]int64{0, 10000 * ms, 20000 * ms, 60000 * ms, 70000 * ms, 80000 * ms}},
		{"steps, then without end", schedule.Arrivals{Segments: []schedule.Segment{flat(100, 20*time.Millisecond), flat(1000, 0)}},
			[]int64{0, 10 * ms, 20 * ms, 21 * ms, 22 * ms, 23 * ms}},
		{"a ramp from nothing after a pause", schedule.Arrivals{Segments: []schedule.Segment{
			flat(1, 2*time.Second), flat(0, time.Second), {From: 0, To: 2, Duration: time.Second}}}, []int64{0, 1000 * ms, 3000 * ms}},
		{"nothing, without end", schedule.Arrivals{Segments: []schedule.Segment{flat(100, 20*time.Millisecond), flat(0, 0)}}, []int64{0, 10 * ms}},
		{"halves of a nanosecond go up", schedule.Rate(400e6), []int64{0, 3, 5, 8, 10, 13}},
		{"one arrival a nanosecond", schedule.Rate(schedule.MaxRate), []int64{0, 1, 2, 3, 4, 5}},
		{"a time that rounds to the end stays before it", schedule.Steps(4, 799e6), []int64{0, 1, 3, 3}},
		{"the end of time", schedule.Rate(0x1p-32), []int64{0, 1e9 << 32}},
		{"after the end of time", poisson(schedule.Arrivals{Segments: []schedule.Segment{flat(0, 1<<62), flat(1e-300, 0)}}, 1), nil},
		{"replay", schedule.Replay([]int64{7, 7, 9}), []int64{7, 7, 9}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sameTimes(t, plan(tc.plan, 6), tc.want)
		})
	}
}

func TestDecimalRatesLeaveNoDust(t *testing.T) {
	// 0.07 · 100 is 7.000000000000001 in binary fractions. The eighth arrival is
	// due when the pause is over, and not at its beginning.
	times := plan(schedule.Steps(100*time.Second, 0.07, 0, 0.07), math.MaxInt)
	if got, want := len(times), 14; got != want {
		t.Fatalf("got %d times, want %d", got, want)
	}
	if got, want := time.Duration(times[7]), 200*time.Second; got != want {
		t.Errorf("time 7: got %v, want %v", got, want)
	}
}

func TestPoissonIsTheExactTimeChange(t *testing.T) {
	// The same exponentials at a flat rate are the E_i; a ramp must put each at
	// the time the formula gives.
	const seed, n = 9, 4000
	unit := plan(poisson(schedule.Rate(1), seed), n)
	ramped := plan(poisson(schedule.Ramp(100, 300, 20*time.Second), seed), n)
	for i, at := range ramped {
		e := float64(unit[i]) / 1e9
		want := (-100 + math.Sqrt(100*100+2*e*10)) / 10 * 1e9
		near(t, fmt.Sprintf("time %d, ns", i), float64(at), want, 10)
	}
	if len(ramped) < 3800 || len(ramped) == n {
		t.Errorf("got %d arrivals, want about 4000 and an end", len(ramped))
	}
}

func TestPoissonDependsOnTheSeedAlone(t *testing.T) {
	a := poisson(schedule.Rate(100), 5)
	sameTimes(t, plan(a, 100), plan(a, 100))
	if slices.Equal(plan(a, 100), plan(poisson(a, 6), 100)) {
		t.Error("another seed gives the same plan")
	}
}

func TestShardRefuses(t *testing.T) {
	for _, tc := range []struct {
		name string
		plan schedule.Arrivals
		k, n int
		want string
	}{
		{"no parts", schedule.Rate(1), 0, 0, "part 0 of 0 parts"},
		{"a part too many", schedule.Rate(1), 2, 2, "part 2 of 2 parts"},
		{"a negative part", schedule.Rate(1), -1, 2, "part -1 of 2 parts"},
		{"an invalid plan", schedule.Rate(-1), 0, 1, "rate -1/s"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, tc.want) {
					t.Errorf("panic: got %q, want one with %q", got, tc.want)
				}
			}()
			tc.plan.Shard(tc.k, tc.n)
		})
	}
}

// benchPlans are one plan of each kind, with more times than a test takes.
func benchPlans() map[string]schedule.Arrivals {
	long := 1000 * time.Hour
	return map[string]schedule.Arrivals{
		"constant": schedule.Rate(12345),
		"ramp":     schedule.Ramp(0, 1e6, long),
		"falling":  schedule.Ramp(1e6, 0, long),
		"poisson":  poisson(schedule.Rate(12345), 1),
		"replay":   schedule.Replay(plan(schedule.Rate(1e6), 1<<16)),
	}
}

func TestNextAllocatesNothing(t *testing.T) {
	for name, a := range benchPlans() {
		table := a.Shard(1, 3)
		got := testing.AllocsPerRun(1000, func() {
			table.Peek()
			table.Next()
		})
		if got != 0 {
			t.Errorf("%s: got %v allocations a time, want 0", name, got)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for name, a := range benchPlans() {
		if len(a.Times) > 0 {
			continue // it ends too soon
		}
		for _, n := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/parts=%d", name, n), func(b *testing.B) {
				table := a.Shard(0, n)
				for b.Loop() {
					table.Next()
				}
			})
		}
	}
}
