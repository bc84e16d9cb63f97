package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"prony/internal/stats"
)

// TestRunsNeeded holds the table of the method, section 4.2.
func TestRunsNeeded(t *testing.T) {
	for _, tt := range []struct{ cv, difference, want float64 }{
		{.01, .01, 17}, {.01, .02, 5}, {.02, .01, 66}, {.02, .02, 17}, {.02, .05, 3}, {.03, .02, 37}, {.03, .05, 6}, {.05, .05, 17}, {.05, .10, 5}} {
		if got := stats.RunsNeeded(tt.cv, tt.difference); got != tt.want {
			t.Errorf("CV %v, difference %v: got %v, want %v", tt.cv, tt.difference, got, tt.want)
		}
	}
	if got := stats.RunsNeeded(.01, 0); !math.IsInf(got, 1) {
		t.Errorf("no difference: got %v, want infinity", got)
	}
	// The floor of so many runs needs so many runs.
	for _, n := range []int{6, 10, 30} {
		if got := stats.RunsNeeded(.02, stats.Detectable(.02, n)*1.0001); got != float64(n) {
			t.Errorf("floor of %d runs: got %v", n, got)
		}
	}
	if got := stats.MoreNeeded(10, 0.04, 0.02); got != 40 {
		t.Errorf("twice too wide: got %d, want 40", got)
	}
	if got := stats.MoreNeeded(10, 0.001, 0.02); got != 11 {
		t.Errorf("narrow already: got %d, want 11", got)
	}
	if got := stats.MoreNeeded(10, math.NaN(), 0.02); got != 0 {
		t.Errorf("no interval: got %d, want 0", got)
	}
}

func TestRatiosNeedPositiveValues(t *testing.T) {
	good := []float64{1, 2, 3}
	for name, bad := range map[string][]float64{"zero": {1, 0, 2}, "negative": {-1, 1, 2}, "NaN": {1, math.NaN(), 2}, "infinite": {1, 2, math.Inf(1)}} {
		if _, err := stats.Ratio(good, bad, 0.05); err == nil {
			t.Errorf("%s: got a ratio, want an error", name)
		}
		if _, err := stats.PairedRatio(bad, good, 0.05); err == nil {
			t.Errorf("%s: got a paired ratio, want an error", name)
		}
	}
	if _, err := stats.PairedRatio(good, good[:2], 0.05); err == nil {
		t.Error("unequal numbers: got a ratio, want an error")
	}
}

func TestNothingToTest(t *testing.T) {
	if got := stats.MannWhitney(nil, []float64{1}); got.P != 1 {
		t.Errorf("one side empty: got p %v, want 1", got.P)
	}
	if got := stats.SignedRank([]float64{0, 0, 0}); got.P != 1 {
		t.Errorf("no differences: got p %v, want 1", got.P)
	}
	same := []float64{5, 5, 5, 5, 5, 5}
	if got := stats.MannWhitney(same, same); got.P != 1 {
		t.Errorf("all the same: got p %v, want 1", got.P)
	}
	if got := stats.Shift(same[:3], same[:3], 0.05); got.Coverage != 0 || got.K != 0 {
		t.Errorf("three runs: got an interval %+v, want none", got)
	}
	if got := stats.PairedShift(nil, 0.05); got != (stats.Estimate{}) {
		t.Errorf("no pairs: got %+v", got)
	}
}

// TestBootstrapCovers: the interval of a difference of means holds the truth
// about as often as it says, and pairing makes use of common noise.
func TestBootstrapCovers(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	difference := func(g [][][]float64) float64 { return mean(g[1]) - mean(g[0]) }
	const trials = 60
	hit, narrower := 0, 0
	for trial := range trials {
		var groups [2][][]float64
		for range 10 {
			block := 5 * random.NormFloat64()
			for g := range groups {
				level := 100 + float64(g) + block + random.NormFloat64()
				windows := make([]float64, 4)
				for i := range windows {
					windows[i] = level + 0.3*random.NormFloat64()
				}
				groups[g] = append(groups[g], windows)
			}
		}
		b := stats.Bootstrap{Replicates: 400, Seed: uint64(trial), Paired: true}
		paired, err := b.Interval(groups[:], difference)
		if err != nil {
			t.Fatal(err)
		}
		b.Paired = false
		loose, err := b.Interval(groups[:], difference)
		if err != nil {
			t.Fatal(err)
		}
		if paired.Low <= 1 && 1 <= paired.High {
			hit++
		}
		if paired.High-paired.Low < loose.High-loose.Low {
			narrower++
		}
	}
	if hit < trials*85/100 || narrower < trials*95/100 {
		t.Errorf("got %d of %d that hold the truth and %d narrower when paired", hit, trials, narrower)
	}
}

func mean(runs [][]float64) float64 {
	sum, n := 0.0, 0.0
	for _, run := range runs {
		for _, v := range run {
			sum, n = sum+v, n+1
		}
	}
	return sum / n
}

func TestBootstrapRefuses(t *testing.T) {
	six := [][]float64{{1}, {2}, {3}, {4}, {5}, {6}}
	value := func(g [][][]float64) float64 { return mean(g[0]) }
	if _, err := (stats.Bootstrap{}).Interval([][][]float64{six[:5]}, value); err == nil {
		t.Error("five runs: got an interval, want an error")
	}
	seven := append(six[:6:6], []float64{7})
	if _, err := (stats.Bootstrap{Paired: true}).Interval([][][]float64{six, seven}, value); err == nil {
		t.Error("pairs that are not complete: got an interval, want an error")
	}
	if _, err := (stats.Bootstrap{Replicates: 9}).Interval([][][]float64{six}, func([][][]float64) float64 { return math.NaN() }); err == nil {
		t.Error("a statistic without value: got an interval, want an error")
	}
	a, errA := (stats.Bootstrap{Seed: 3, Replicates: 200}).Interval([][][]float64{six}, value)
	b, errB := (stats.Bootstrap{Seed: 3, Replicates: 200}).Interval([][][]float64{six}, value)
	if errA != nil || errB != nil || a != b {
		t.Errorf("the same seed: got %+v and %+v", a, b)
	}
}

func TestGrowthAndDrift(t *testing.T) {
	if !stats.Growing(run(100, 1, 60), 0.10) {
		t.Error("100 to 159: got no growth")
	}
	if stats.Growing(run(1000, 1, 60), 0.10) || stats.Growing(noisy(steps(0, 1000)), 0.001) || stats.Growing(nil, 0.1) {
		t.Error("got growth of less than 10 %, of noise or of nothing")
	}
	near(t, "drift", stats.Drift([]float64{100, 100, 7, 110, 110}), 0.10, 1e-12)
	if !math.IsNaN(stats.Drift([]float64{1})) || !math.IsNaN(stats.CV([]float64{1})) || !math.IsNaN(stats.Deviation(nil)) {
		t.Error("too few values: want NaN")
	}
	near(t, "CV", stats.CV([]float64{98, 100, 102}), 0.02, 1e-12)
}

func TestWithinRun(t *testing.T) {
	i, ok := stats.WithinRun(run(1, 1, 12))
	if !ok || i.Low != 3 || i.High != 10 {
		t.Errorf("got %+v, want (3, 10)", i)
	}
	if _, ok := stats.WithinRun(run(1, 1, 11)); ok {
		t.Error("11 blocks: got an interval, want none")
	}
}

func TestSeriesEdges(t *testing.T) {
	if got := (stats.Series{}).Steady(run(1, 0, 29)); got.Class != stats.TooShort {
		t.Errorf("29 values: got %s, want too short", got.Class)
	}
	if got := (stats.Series{}).Steady(make([]float64, 40)); got.Class != stats.Flat || got.Noise != 0 {
		t.Errorf("zeros: got %+v, want flat", got)
	}
	// A latency that falls is a warm-up, a rate that falls a slowdown.
	falling := noisy(steps(0, 1200, 20, 1000))
	if got := (stats.Series{LowerIsBetter: true}).Steady(falling); got.Class != stats.Warming || !got.Usable(100) {
		t.Errorf("a latency that falls: got %s", got.Class)
	}
	if got := (stats.Series{}).Steady(falling); got.Class != stats.Slowdown || got.Usable(100) {
		t.Errorf("a rate that falls: got %s", got.Class)
	}
	if got := (stats.Series{}).Steady(noisy(steps(0, 800, 30, 1000))); got.Class != stats.Warming || got.Usable(100) {
		t.Errorf("a warm-up of 30 %%: got %s from %d, want one that is too long to cut", got.Class, got.From)
	}
	if got := (stats.Series{Tolerance: stats.TailTolerance}).Steady(noisy(steps(0, 1040, 50, 1000))); got.Class != stats.Flat {
		t.Errorf("4 %% of a p99: got %s, want flat", got.Class)
	}
	var w stats.Warmup
	for range 100 {
		if w.Feed(0) {
			t.Fatal("a load without answers was taken for warm")
		}
	}
}

func TestOverall(t *testing.T) {
	for _, tt := range []struct {
		runs []stats.Class
		want stats.Class
	}{
		{nil, stats.TooShort},
		{[]stats.Class{stats.Flat, stats.Flat}, stats.Flat},
		{[]stats.Class{stats.TooShort, stats.Slowdown, stats.TooShort}, stats.Slowdown},
		{[]stats.Class{stats.Flat, stats.Warming}, stats.GoodInconsistent},
		{[]stats.Class{stats.Flat, stats.Warming, stats.Unsteady}, stats.BadInconsistent},
	} {
		if got := stats.Overall(tt.runs); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.runs, got, tt.want)
		}
	}
}

// TestHourOfSeconds: a series of an hour is judged by the same rule, with its
// one step found.
func TestHourOfSeconds(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 32))
	y := make([]float64, 3600)
	for i := range y {
		y[i] = 1000 + 30*random.NormFloat64()
		if i < 400 {
			y[i] -= 200
		}
	}
	got := stats.Series{}.Steady(y)
	if got.Class != stats.Warming || got.From < 399 || got.From > 401 {
		t.Errorf("got %s from %d, want warmup until 400", got.Class, got.From)
	}
	if !stats.Growing(y, 0.1) {
		t.Error("got no growth of a series that rose by a quarter")
	}
}
