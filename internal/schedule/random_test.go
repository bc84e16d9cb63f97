package schedule_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"prony/internal/schedule"
)

var _ rand.Source = new(schedule.SplitMix64)

func TestFloat64(t *testing.T) {
	r := schedule.SplitMix64(42)
	// The top 53 bits of the first number of KAT-2.
	if got, want := r.Float64(), float64(13679457532755275413>>11)/(1<<53); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	sum := 0.0
	for range 100_000 {
		u := r.Float64()
		if u < 0 || u >= 1 {
			t.Fatalf("got %v, want one in [0, 1)", u)
		}
		sum += u / 100_000
	}
	near(t, "mean", sum, 0.5, 0.005)
}

func TestExpIsInversion(t *testing.T) {
	r, s := schedule.SplitMix64(7), schedule.SplitMix64(7)
	for range 10_000 {
		near(t, "exponential", r.Exp(), -math.Log1p(-s.Float64()), 1e-14)
	}
}

func TestUint64n(t *testing.T) {
	r := schedule.SplitMix64(3)
	for _, n := range []uint64{0, 1} {
		if got := r.Uint64n(n); got != 0 {
			t.Errorf("n = %d: got %d, want 0", n, got)
		}
	}
	var counts [6]int
	for range 60_000 {
		counts[r.Uint64n(6)]++
	}
	for _, got := range counts {
		near(t, "times a face came", float64(got), 10_000, 400)
	}
	// Three quarters of all numbers: without rejection every third number would
	// come from two, and its neighbours from one.
	thirds := 0
	for range 30_000 {
		if r.Uint64n(3<<62)%3 == 0 {
			thirds++
		}
	}
	near(t, "multiples of three", float64(thirds), 10_000, 300)
}

func TestKSExpEdges(t *testing.T) {
	for _, tc := range []struct {
		name   string
		gaps   []float64
		d, aSq float64
	}{
		{"none", nil, math.NaN(), math.NaN()},
		{"all at once", []float64{0, 0, 0}, 1, math.Inf(1)},
		{"a gap without end", []float64{1, math.Inf(1)}, 1, math.Inf(1)},
		{"not a number", []float64{1, math.NaN()}, 1, math.Inf(1)},
		{"one", []float64{5}, 1 - 1/math.E, -1 - (math.Log(1-1/math.E) - 1)},
	} {
		d, aSq := schedule.KSExp(tc.gaps), schedule.ADExp(tc.gaps)
		if !close(d, tc.d) || !close(aSq, tc.aSq) {
			t.Errorf("%s: got %v and %v, want %v and %v", tc.name, d, aSq, tc.d, tc.aSq)
		}
	}
}

// close compares so that NaN and infinities are equal to themselves.
func close(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) < 1e-12
}

func TestKSExpLooksAtTheScaleFreeShape(t *testing.T) {
	gs := gaps(0, plan(poisson(schedule.Rate(1000), 42), 500))
	before := append([]float64(nil), gs...)
	scaled := make([]float64, len(gs))
	for i := range gs {
		scaled[i] = gs[i] / 1e9
	}
	near(t, "D in seconds", schedule.KSExp(scaled), schedule.KSExp(gs), 1e-12)
	near(t, "A² in seconds", schedule.ADExp(scaled), schedule.ADExp(gs), 1e-9)
	for i := range gs {
		if gs[i] != before[i] {
			t.Fatalf("gap %d was changed", i)
		}
	}
}

func TestADExpOnTicks(t *testing.T) {
	// At 100/s on ticks of 1 ms the coefficient of variation sees nothing, and A²
	// far too much.
	sent := roundUp(plan(poisson(schedule.Rate(100), 42), 1000), 1_000_000)
	_, cv := moments(sendGaps(sent))
	near(t, "coefficient of variation", cv, 1.005, 0.0005)
	near(t, "A²", schedule.ADExp(sendGaps(sent)), 65, 0.5)
}
