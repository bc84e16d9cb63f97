package stats_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"prony/internal/stats"
)

// near fails unless got is within a tolerance of want.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.9g, want %.9g", what, got, want)
	}
}

// lcg is the noise of the method, section 3.5: seed 42, -10 to 10.
type lcg uint64

func (x *lcg) next() float64 {
	*x = (1103515245**x + 12345) % (1 << 31)
	return 10 * (2*float64(*x)/(1<<31) - 1)
}

// noisy is a series of 100 values around a base.
func noisy(base func(i int) float64) []float64 {
	x := lcg(42)
	y := make([]float64, 100)
	for i := range y {
		y[i] = base(i) + x.next()
	}
	return y
}

// steps is a base that changes its level: (from, level) pairs.
func steps(pairs ...float64) func(i int) float64 {
	return func(i int) float64 {
		level := 0.0
		for k := 0; k < len(pairs); k += 2 {
			if float64(i) >= pairs[k] {
				level = pairs[k+1]
			}
		}
		return level
	}
}

func decay(length float64) func(i int) float64 {
	return func(i int) float64 { return 1000 - 400*math.Exp(-float64(i)/length) }
}

func jit() func(i int) float64 { return steps(0, 500, 10, 800, 25, 1000) }

func TestKAT16Noise(t *testing.T) {
	y := noisy(steps(0, 1000))
	sum := 0.0
	for _, v := range y {
		sum += v
	}
	for i, want := range []float64{1001.6462, 1000.3964, 999.3195} {
		near(t, fmt.Sprint("value ", i), y[i], want, 5e-5)
	}
	near(t, "sum", sum, 99931.4936, 5e-5)
}

func TestKAT16Segments(t *testing.T) {
	tests := []struct {
		name   string
		base   func(i int) float64
		points []int
		from   int
		class  stats.Class
		trend  stats.Class
	}{
		{"flat", steps(0, 1000), nil, 0, stats.Flat, ""},
		{"step", steps(0, 800, 20, 1000), []int{20}, 20, stats.Warming, stats.Warming},
		{"two steps", jit(), []int{10, 25}, 25, stats.Warming, stats.Warming},
		{"decay", decay(8), []int{5, 11, 19}, 19, stats.Warming, stats.Warming},
		{"slower from 60", steps(0, 1000, 60, 900), []int{60}, 60, stats.Slowdown, stats.Slowdown},
		{"slower from 90", steps(0, 1000, 90, 900), []int{90}, 90, stats.Unsteady, stats.Slowdown},
		{"a spike", func(i int) float64 {
			if i == 50 {
				return 400
			}
			return 1000
		}, nil, 0, stats.Flat, ""},
		{"a drift", func(i int) float64 { return 1000 * (1 - 0.001*float64(i)) }, []int{15, 39, 64, 84}, 84, stats.Unsteady, stats.Slowdown},
		{"less than matters", steps(0, 1000, 50, 1010), []int{51}, 0, stats.Flat, ""},
		{"to and fro", func(i int) float64 { return 1000 - float64(i/10%2)*100 },
			[]int{10, 20, 30, 40, 50, 60, 70, 80, 90}, 90, stats.Oscillating, stats.Slowdown},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := stats.Series{}.Steady(noisy(tt.base))
			if !slices.Equal(got.Points, tt.points) || got.Class != tt.class {
				t.Errorf("got %s with changes at %v, want %s at %v", got.Class, got.Points, tt.class, tt.points)
			}
			if tt.class != stats.Oscillating && (got.From != tt.from || got.Trend != tt.trend) {
				t.Errorf("got steady from %d (%s), want %d (%s)", got.From, got.Trend, tt.from, tt.trend)
			}
		})
	}
}

func TestKAT16Numbers(t *testing.T) {
	step := stats.Series{}.Steady(noisy(steps(0, 800, 20, 1000)))
	near(t, "median before", step.Medians[0], 800.360, 5e-4)
	near(t, "median after", step.Medians[1], 998.641, 5e-4)
	c := stats.ChangePoints(noisy(decay(8)))
	near(t, "correlation", c.Correlation, 0.2114, 5e-5)
	near(t, "noise before", c.FirstNoise, 8.394, 5e-4)
	near(t, "noise after", c.Noise, 16.332, 5e-4)
}

func TestKAT17Online(t *testing.T) {
	tests := []struct {
		name string
		base func(i int) float64
		rule stats.Warmup
		want int // 0: never
	}{
		{"flat", steps(0, 1000), stats.Warmup{}, 22},
		{"short decay", decay(8), stats.Warmup{}, 42},
		{"long decay", decay(20), stats.Warmup{}, 72},
		{"a drift", func(i int) float64 { return 1000 * (1 - 0.005*float64(i)) }, stats.Warmup{}, 0},
		{"two steps", jit(), stats.Warmup{}, 43},
		{"two steps, a window too short for them", jit(), stats.Warmup{Window: 10}, 21},
		{"not before the least", steps(0, 1000), stats.Warmup{Least: 60}, 60},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := 0
			for _, y := range noisy(tt.base) {
				if tt.rule.Feed(y) {
					got = tt.rule.Seen()
					break
				}
			}
			if got != tt.want {
				t.Errorf("got second %d, want %d", got, tt.want)
			}
		})
	}
}

func TestKAT18MSER5(t *testing.T) {
	tests := []struct {
		name string
		base func(i int) float64
		want int
		ok   bool
	}{
		{"step", steps(0, 800, 20, 1000), 20, true},
		{"flat", steps(0, 1000), 0, true},
		{"decay", decay(8), 30, true},
		{"two steps", jit(), 25, true},
		{"long decay", decay(20), 50, false},
		{"a drift", func(i int) float64 { return 1000 * (1 - 0.001*float64(i)) }, 50, false},
		{"a faster drift", func(i int) float64 { return 1000 * (1 - 0.005*float64(i)) }, 50, false},
	}
	for _, tt := range tests {
		if got, ok := stats.MSER5(noisy(tt.base)); got != tt.want || ok != tt.ok {
			t.Errorf("%s: got %d, %t, want %d, %t", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

func TestKAT19Trend(t *testing.T) {
	got := stats.MannKendall([]float64{10, 12, 11, 13, 14, 13, 15, 16, 15, 18})
	near(t, "S", got.S, 37, 0)
	near(t, "variance", got.Variance, 123, 1e-9)
	near(t, "z", got.Z, 3.2460, 5e-5)
	near(t, "p", got.P, 0.00117, 5e-6)
	near(t, "slope", got.Slope, 0.75, 1e-12)
}
