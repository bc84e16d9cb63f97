package store_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"prony/internal/store"
)

// noisy are n values around a level with a relative deviation, from a seed.
func noisy(seed uint64, n int, level, deviation float64) []float64 {
	random := rand.New(rand.NewPCG(seed, 7))
	values := make([]float64, n)
	for i := range values {
		values[i] = level * (1 + deviation*random.NormFloat64())
	}
	return values
}

func TestSegments(t *testing.T) {
	flat := noisy(1, 30, 1000, 0.01)
	outliers := slices.Clone(flat)
	outliers[7], outliers[18], outliers[29] = 5000, 10, 9000
	for _, c := range []struct {
		name   string
		values []float64
		want   []int
	}{
		{"nothing", nil, []int{0}},
		{"one run", flat[:1], []int{0}},
		{"too few for a change", []float64{1, 1, 1, 1, 9, 9, 9, 9, 9}, []int{0}},
		{"five and five", []float64{1, 1.01, 1.02, 0.99, 0.98, 9, 9.1, 9.2, 8.9, 8.8}, []int{0, 5}},
		{"four and six", []float64{1, 1.01, 1.02, 0.99, 9, 9.1, 9.2, 8.9, 8.8, 9.3}, []int{0}},
		{"all equal", slices.Repeat([]float64{5}, 40), []int{0}},
		{"two values", slices.Concat(slices.Repeat([]float64{5}, 10), slices.Repeat([]float64{6}, 10)), []int{0, 10}},
		{"noise", flat, []int{0}},
		{"lucky and unlucky runs", outliers, []int{0}},
		{"a step", slices.Concat(flat, noisy(2, 12, 900, 0.01)), []int{0, 30}},
		{"a step in noise as large", slices.Concat(noisy(3, 40, 1000, 0.05), noisy(4, 40, 900, 0.05)), []int{0, 40}},
		{"up and down again", slices.Concat(flat, noisy(5, 15, 1100, 0.01), noisy(6, 30, 1000, 0.01)), []int{0, 30, 45}},
		{"a staircase", slices.Concat(flat[:15], noisy(7, 15, 1100, 0.01), noisy(8, 15, 1210, 0.01)), []int{0, 15, 30}},
		{"real and too small", slices.Concat(noisy(9, 40, 1000, 0.001), noisy(10, 40, 1010, 0.001)), []int{0}},
		{"too small beside a large one", slices.Concat(noisy(9, 40, 1000, 0.001), noisy(10, 40, 1010, 0.001), noisy(11, 10, 1500, 0.001)), []int{0, 80}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := store.Segments(c.values, "rate")
			near := func(a, b int) bool { return a-b <= 1 && b-a <= 1 } // noise may move a step by one
			if !slices.EqualFunc(got, c.want, near) {
				t.Errorf("got segments from %v, want %v", got, c.want)
			}
			if again := store.Segments(c.values, "rate"); !slices.Equal(got, again) {
				t.Errorf("got %v the second time, want %v", again, got)
			}
		})
	}
}

// TestFalseAlarms: series without a change show one in about a hundredth of the
// cases, however they are distributed.
func TestFalseAlarms(t *testing.T) {
	const series = 300
	for name, draw := range map[string]func(*rand.Rand) float64{
		"normal":     func(r *rand.Rand) float64 { return 1000 * (1 + 0.05*r.NormFloat64()) },
		"long tails": func(r *rand.Rand) float64 { return 1000 * math.Exp(r.NormFloat64()) },
		"two modes":  func(r *rand.Rand) float64 { return 1000 + 500*float64(r.IntN(2)) + r.Float64() },
	} {
		random, alarms := rand.New(rand.NewPCG(11, 13)), 0
		for range series {
			values := make([]float64, 24)
			for i := range values {
				values[i] = draw(random)
			}
			if len(store.Segments(values, "rate")) > 1 {
				alarms++
			}
		}
		// Binomial (300, 0.01): more than 9 has a probability below 0.1 %.
		if alarms > 9 {
			t.Errorf("%s: got %d false alarms in %d series, want about 3", name, alarms, series)
		}
	}
}

// TestRankSum holds the statistic against values worked out by hand: U of
// separated groups of 5 is 0, its variance 5*5*11/12, and z 2.6112; the tie in
// the second case takes 6/(10*9) off the 11.
func TestRankSum(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		k      int
		want   float64
	}{
		{"apart", []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5, 12.5 / math.Sqrt(275.0/12)},
		{"apart, the other way", []float64{6, 7, 8, 9, 10, 1, 2, 3, 4, 5}, 5, 12.5 / math.Sqrt(275.0/12)},
		{"a tie across", []float64{1, 2, 3, 4, 5, 5, 7, 8, 9, 10}, 5, 12 / math.Sqrt(25.0/12*(11-6.0/90))},
		{"mixed", []float64{1, 4, 2, 3}, 2, 0},
		{"equal", []float64{3, 3, 3, 3}, 2, 0},
	} {
		if got := store.RankSum(c.values, c.k); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestChanceOfTwo holds the permutation test against the exact one: for groups
// of 5 wholly apart 2 of the 252 ways to part ten values are as extreme.
func TestChanceOfTwo(t *testing.T) {
	apart := store.ChanceOfTwo([]float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10})
	if math.Abs(apart-2.0/252) > 0.002 {
		t.Errorf("got %v, want %v within what %d permutations allow", apart, 2.0/252, 9999)
	}
	if same := store.ChanceOfTwo([]float64{1, 3, 5, 7, 9}, []float64{2, 4, 6, 8, 10}); same < 0.3 {
		t.Errorf("got %v for groups that mix, want no small probability", same)
	}
}

func BenchmarkSegments(b *testing.B) {
	values := slices.Concat(noisy(1, 100, 1000, 0.01), noisy(2, 100, 900, 0.01))
	for b.Loop() {
		store.Segments(values, "rate")
	}
}
