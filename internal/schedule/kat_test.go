package schedule_test

import (
	"math"
	"testing"
	"time"

	"prony/internal/schedule"
)

// poisson makes the plan a Poisson one.
func poisson(a schedule.Arrivals, seed uint64) schedule.Arrivals {
	a.Process, a.Seed = schedule.Poisson, seed
	return a
}

// take returns up to n times of a timetable.
func take(t *schedule.Timetable, n int) []int64 {
	var times []int64
	for len(times) < n {
		at, ok := t.Next()
		if !ok {
			break
		}
		times = append(times, at)
	}
	return times
}

// plan returns up to n times of the whole plan.
func plan(a schedule.Arrivals, n int) []int64 { return take(a.Shard(0, 1), n) }

// gaps returns the differences of times, the first one to origin.
func gaps(origin int64, times []int64) []float64 {
	gs := make([]float64, len(times))
	for i, at := range times {
		gs[i] = float64(at - origin)
		origin = at
	}
	return gs
}

// near reports a number that is not within tolerance of what it should be.
func near(t *testing.T, name string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %v, want %v ± %v", name, got, want, tolerance)
	}
}

// sameTimes reports the first of the times that differs.
func sameTimes(t *testing.T, got, want []int64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("got %d times, want %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("time %d: got %d ns, want %d ns", i, got[i], want[i])
		}
	}
}

func TestKAT1ConstantPlan(t *testing.T) {
	times := plan(schedule.Rate(3), 3_000_001)
	sameTimes(t, times[:4], []int64{0, 333333333, 666666667, 1000000000})
	if got, want := times[3_000_000], int64(1_000_000*time.Second); got != want {
		t.Errorf("t_3000000: got %d ns, want %d ns", got, want)
	}
}

func TestKAT1FourShardsMakeNoBursts(t *testing.T) {
	const parts, each = 4, 5000
	tables := make([][]int64, parts)
	for k := range tables {
		tables[k] = take(schedule.Rate(1000).Shard(k, parts), each)
	}
	for i := range parts * each {
		got, want := tables[i%parts][i/parts], int64(i)*int64(time.Millisecond)
		if got != want {
			t.Fatalf("merged time %d: got %d ns, want %d ns: gaps must all be 1 ms", i, got, want)
		}
	}
}

func TestKAT2SplitMix64(t *testing.T) {
	r := schedule.SplitMix64(42)
	for i, want := range []uint64{13679457532755275413, 2949826092126892291, 5139283748462763858} {
		if got := r.Uint64(); got != want {
			t.Errorf("number %d: got %d, want %d", i, got, want)
		}
	}
}

func TestKAT2PoissonPlan(t *testing.T) {
	times := plan(poisson(schedule.Rate(1000), 42), 100_000)
	for i, want := range []int64{1353111, 1527357, 1853920, 2275806, 2314578, 4341261, 4587679, 6200282} {
		near(t, "planned time, ns", float64(times[i]), float64(want), 1)
	}
	near(t, "last time, ns", float64(times[len(times)-1]), 99_336_072_824, 10)
	mean, cv := moments(gaps(0, times))
	near(t, "mean gap, µs", mean/1e3, 993.3607, 0.00005)
	near(t, "coefficient of variation", cv, 0.998462, 0.0000005)
	first := gaps(0, times[:1000])
	near(t, "D", schedule.KSExp(first), 0.022936, 0.0000005)
	near(t, "A²", schedule.ADExp(first), 0.70567, 0.000005)
}

// moments returns the mean and the coefficient of variation.
func moments(xs []float64) (mean, cv float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	variance := 0.0
	for _, x := range xs {
		variance += (x - mean) * (x - mean) / float64(len(xs))
	}
	return mean, math.Sqrt(variance) / mean
}

func TestKAT3Ramp(t *testing.T) {
	for _, tc := range []struct {
		name  string
		a, b  float64
		d     time.Duration
		count int
		index int
		at    time.Duration
	}{
		{"from nothing", 0, 1000, 10 * time.Second, 5000, 1250, 5 * time.Second},
		{"from 100/s", 100, 300, 20 * time.Second, 4000, 1500, 10 * time.Second},
		{"falling, the mirror of from nothing", 1000, 0, 10 * time.Second, 5000, 3750, 5 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			ramp := schedule.Ramp(tc.a, tc.b, tc.d)
			times := plan(ramp, 10*tc.count)
			if len(times) != tc.count {
				t.Fatalf("requests: got %d, want %d", len(times), tc.count)
			}
			if n, ok := ramp.Count(tc.d); !ok || n != int64(tc.count) {
				t.Errorf("Count: got %d, %v, want %d", n, ok, tc.count)
			}
			if got := time.Duration(times[tc.index]); got != tc.at {
				t.Errorf("t_%d: got %v, want %v", tc.index, got, tc.at)
			}
			if times[0] != 0 {
				t.Errorf("t_0: got %d ns, want 0", times[0])
			}
		})
	}
}

func TestKAT6KSClasses(t *testing.T) {
	planned := plan(poisson(schedule.Rate(1000), 42), 1000)
	metronome := plan(schedule.Rate(1000), 1001)
	for _, tc := range []struct {
		name string
		gaps []float64
		want float64
	}{
		{"executed exactly", gaps(0, planned), 0.0229},
		{"on ticks of 100 µs", sendGaps(roundUp(planned, 100_000)), 0.0590},
		{"on ticks of 1 ms", sendGaps(roundUp(planned, 1_000_000)), 0.3934},
		{"constant", sendGaps(metronome), 0.6321},
	} {
		t.Run(tc.name, func(t *testing.T) {
			near(t, "D", schedule.KSExp(tc.gaps), tc.want, 0.00005)
		})
	}
}

// sendGaps returns the gaps between sends: one less than there are sends, as the
// origin is not one.
func sendGaps(times []int64) []float64 { return gaps(times[0], times[1:]) }

// roundUp moves times to the next tick.
func roundUp(times []int64, tick int64) []int64 {
	up := make([]int64, len(times))
	for i, at := range times {
		up[i] = (at + tick - 1) / tick * tick
	}
	return up
}
