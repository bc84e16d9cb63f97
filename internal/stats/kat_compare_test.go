package stats_test

import (
	"fmt"
	"math"
	"testing"

	"prony/internal/stats"
)

func setA() []float64 { return []float64{10.2, 10.4, 9.9, 10.1, 10.3, 10.0, 10.6, 9.8, 10.5, 10.7} }

func setB() []float64 {
	return []float64{10.9, 11.1, 10.8, 11.0, 11.3, 10.55, 11.2, 10.95, 11.4, 11.05}
}

// run is a series from, from+step, …
func run(from, step float64, n int) []float64 {
	all := make([]float64, n)
	for i := range all {
		all[i] = from + step*float64(i)
	}
	return all
}

// estimate holds value, interval and rank.
func estimate(t *testing.T, what string, got stats.Estimate, value, low, high float64, k int) {
	t.Helper()
	near(t, what, got.Value, value, 5e-7)
	near(t, what+", low", got.Low, low, 5e-7)
	near(t, what+", high", got.High, high, 5e-7)
	if k > 0 && got.K != k {
		t.Errorf("%s: got k = %d, want %d", what, got.K, k)
	}
}

func TestKAT20Unpaired(t *testing.T) {
	a, b := setA(), setB()
	u := stats.MannWhitney(a, b)
	near(t, "U", u.Statistic, 98, 0)
	near(t, "exact p", u.P, 4.330035e-05, 5e-12)
	near(t, "normal p", stats.MannWhitneyNormal(a, b).P, 3.29839e-04, 5e-10)
	if u.Method != stats.Exact {
		t.Errorf("got method %s, want exact", u.Method)
	}
	shift := stats.Shift(a, b, 0.05)
	estimate(t, "shift", shift, 0.80, 0.50, 1.10, 24)
	near(t, "coverage", shift.Coverage, 0.95674, 5e-6)
	near(t, "A12", stats.A12(a, b), 0.98, 1e-12)
	ratio, err := stats.Ratio(a, b, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	estimate(t, "ratio", ratio, 1.076361, 1.047170, 1.106796, 24)
	if got := stats.DeltaWord(0.96); got != "large" {
		t.Errorf("got %q, want large", got)
	}
}

func TestKAT21Small(t *testing.T) {
	tests := []struct {
		name             string
		a, b             []float64
		p, hl, low, high float64
	}{
		{"five", run(1, 1, 5), run(6, 1, 5), 0.0079365, 5, 2, 8},
		{"four", run(1, 1, 4), run(5, 1, 4), 0.0285714, 4, 1, 7},
		{"half a step", run(100, 1, 6), run(100.5, 1, 6), 0.6991342, 0.5, -2.5, 3.5},
	}
	for _, tt := range tests {
		near(t, tt.name+": p", stats.MannWhitney(tt.a, tt.b).P, tt.p, 5e-8)
		estimate(t, tt.name, stats.Shift(tt.a, tt.b, 0.05), tt.hl, tt.low, tt.high, 0)
	}
	a, b := run(100, 1, 6), run(100.5, 1, 6)
	near(t, "U", stats.MannWhitney(a, b).Statistic, 21, 0)
	near(t, "A12", stats.A12(a, b), 0.58333, 5e-6)
}

func TestKAT21Ties(t *testing.T) {
	a, b := []float64{1, 2, 2, 3, 4, 4, 5}, []float64{2, 4, 4, 5, 6, 7, 7}
	got := stats.MannWhitney(a, b)
	near(t, "U", got.Statistic, 39.5, 0)
	near(t, "p", got.P, 0.0617716, 5e-8)
	near(t, "normal p", stats.MannWhitneyNormal(a, b).P, 0.0592676, 5e-8)
	if got.Method != stats.Permutation {
		t.Errorf("got method %s, want permutation", got.Method)
	}
}

// TestKAT21Ranks holds k of both intervals against the table of the method.
func TestKAT21Ranks(t *testing.T) {
	for n, k := range map[int]int{4: 1, 5: 3, 6: 6, 7: 9, 8: 14, 9: 18, 10: 24, 12: 38, 15: 65, 3: 0} {
		if got := stats.Shift(run(0, 1, n), run(0.5, 1.01, n), 0.05).K; got != k {
			t.Errorf("unpaired, n=%d: got k=%d, want %d", n, got, k)
		}
	}
	for n, k := range map[int]int{5: 0, 6: 1, 7: 3, 8: 4, 9: 6, 10: 9, 11: 11, 12: 14} {
		if got := stats.PairedShift(run(1, 1.01, n), 0.05).K; got != k {
			t.Errorf("paired, n=%d: got k=%d, want %d", n, got, k)
		}
	}
}

func TestKAT22Paired(t *testing.T) {
	a := []float64{100, 103, 98, 101, 105, 99, 102, 100}
	b := []float64{104, 106, 103, 103, 110, 104, 105, 103}
	d, err := stats.LogRatios(a, b)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "p", stats.SignedRank(d).P, 0.0078125, 1e-12)
	ratio, err := stats.PairedRatio(a, b, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	estimate(t, "ratio", ratio, 1.038403, 1.024888, 1.049318, 4)
	d = []float64{.5, .7, -.1, .4, .6, .3, .8, .2}
	near(t, "p", stats.SignedRank(d).P, 0.015625, 1e-12)
	estimate(t, "differences", stats.PairedShift(d, 0.05), 0.45, 0.15, 0.70, 4)
}

func TestKAT23QuantileRanks(t *testing.T) {
	for _, tt := range []struct {
		n         int
		q         float64
		low, high int
	}{{100, .5, 40, 61}, {1000, .99, 983, 997}, {10000, .99, 9880, 9920}, {10000, .999, 9983, 9997}, {100000, .999, 99880, 99920}, {30, .99, 28, 31}} {
		if low, high := stats.QuantileRanks(tt.n, tt.q); low != tt.low || high != tt.high {
			t.Errorf("n=%d q=%v: got (%d, %d), want (%d, %d)", tt.n, tt.q, low, high, tt.low, tt.high)
		}
	}
	for q, want := range map[float64]int{.5: 6, .9: 36, .95: 72, .99: 368, .999: 3688, .9999: 36887} {
		if got := stats.QuantileNeeds(q); got != want {
			t.Errorf("q=%v: got %d, want %d", q, got, want)
		}
		if _, high := stats.QuantileRanks(want, q); high != want {
			t.Errorf("q=%v: %d values have no upper bound", q, want)
		}
		if _, high := stats.QuantileRanks(want-1, q); high != want {
			t.Errorf("q=%v: %d values have an upper bound at %d, want none", q, want-1, high)
		}
	}
}

func TestKAT24Levels(t *testing.T) {
	l, err := stats.Variance([][]float64{{10.0, 10.2, 9.8, 10.1, 9.9}, {10.6, 10.8, 10.4, 10.7, 10.5},
		{9.7, 9.9, 9.5, 9.8, 9.6}, {10.3, 10.5, 10.1, 10.4, 10.2}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "S1²", l.Within, 0.025, 1e-9)
	near(t, "S2²", l.Between, 0.15, 1e-9)
	near(t, "T2²", l.Own, 0.145, 1e-9)
	near(t, "mean", l.Mean, 10.15, 1e-9)
	near(t, "half", l.Half, 0.616278, 5e-7)
	near(t, "ICC", l.ICC(), 0.852941, 5e-7)
	near(t, "design effect", l.DesignEffect(), 4.411765, 5e-7)
	near(t, "pooled", l.Pooled, 0.174785, 5e-7)
	near(t, "too narrow by", l.Half/l.Pooled, 3.53, 0.005)
	exact, windows := l.BestWindows(30)
	near(t, "windows at 30:1", exact, 2.274, 5e-4)
	if _, at60 := l.BestWindows(60); windows != 3 || at60 != 4 {
		t.Errorf("got %d and %d windows, want 3 and 4", windows, at60)
	}
}

func TestKAT24NegativeVariance(t *testing.T) {
	l, err := stats.Variance([][]float64{{9, 11, 10, 12, 8}, {10, 12, 9, 11, 8.5}, {9.5, 11.5, 10.5, 8, 12}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "S1²", l.Within, 2.375, 1e-9)
	near(t, "S2²", l.Between, 0.023333, 5e-7)
	near(t, "T2²", l.Own, -0.451667, 5e-7)
	if _, windows := l.BestWindows(30); l.ICC() != 0 || l.DesignEffect() != 1 || windows != 0 {
		t.Errorf("got ICC %v, design effect %v, %d windows; want 0, 1, 0", l.ICC(), l.DesignEffect(), windows)
	}
}

func TestKAT25Families(t *testing.T) {
	p := []float64{.001, .008, .039, .041, .042, .06, .074, .205}
	holm := []float64{.008, .056, .234, .234, .234, .234, .234, .234}
	q := []float64{.008, .032, .0672, .0672, .0672, .08, .0845714, .205}
	h, bh := stats.Holm(p), stats.BenjaminiHochberg(p)
	for i := range p {
		near(t, fmt.Sprint("Holm ", i), h[i], holm[i], 5e-7)
		near(t, fmt.Sprint("BH ", i), bh[i], q[i], 5e-7)
	}
	for _, tt := range []struct{ m, paired, unpaired int }{{1, 6, 4}, {10, 9, 6}} {
		alpha := 0.05 / float64(tt.m)
		if a, b := stats.PairsToReach(alpha), stats.RunsToReach(alpha); a != tt.paired || b != tt.unpaired {
			t.Errorf("m=%d: got %d pairs and %d runs, want %d and %d", tt.m, a, b, tt.paired, tt.unpaired)
		}
	}
	// The order in which the values come does not matter.
	if got := stats.Holm([]float64{.04, .001, .03}); got[0] != .06 || got[1] != .003 || got[2] != .06 {
		t.Errorf("got %v, want .06 .003 .06", got)
	}
}

func TestKAT26Orders(t *testing.T) {
	const sixteen = "ABBABAABBAABABBA"
	for _, tt := range []struct {
		order string
		power int
		want  float64
	}{{"AABB", 1, 2}, {"ABAB", 1, 1}, {"ABBA", 1, 0}, {"ABBA", 2, -2}, {"ABBABAAB", 2, 0}, {"ABBABAAB", 3, 12}, {sixteen, 3, 0}} {
		got := stats.OrderBias(tt.order, func(slot int) float64 { return math.Pow(float64(slot), float64(tt.power)) })
		near(t, fmt.Sprint(tt.order, " power ", tt.power), got, tt.want, 1e-9)
	}
}

func TestKAT29ClopperPearson(t *testing.T) {
	for _, tt := range []struct {
		k, n int64
		want float64
	}{{0, 3000, .000998}, {0, 10000, .0002995}, {5, 10000, .0010510}, {10, 10000, .0016956}} {
		near(t, fmt.Sprint(tt.k, "/", tt.n), stats.ShareAtMost(tt.k, tt.n, 0.95), tt.want, 6e-7)
	}
	i := stats.ClopperPearson(80, 100000, 0.95)
	near(t, "low", i.Low, .0006344, 5e-8)
	near(t, "high", i.High, .0009956, 5e-8)
	if i := stats.ClopperPearson(0, 10, 0.95); i.Low != 0 || i.High >= 1 {
		t.Errorf("0 of 10: got %+v", i)
	}
	if i := stats.ClopperPearson(0, 0, 0.95); i.Low != 0 || i.High != 1 {
		t.Errorf("no trials: got %+v, want all", i)
	}
	// Of no errors, 2,995 requests are needed to show less than 0.1 %.
	if stats.ShareAtMost(0, 2995, 0.95) >= .001 || stats.ShareAtMost(0, 2994, 0.95) < .001 {
		t.Error("2,995 requests are not the least")
	}
}
