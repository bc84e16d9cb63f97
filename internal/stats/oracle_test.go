package stats_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"prony/internal/stats"
)

// TestMannWhitneyCounted holds p against all ways to deal the values out.
func TestMannWhitneyCounted(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		n, m := 1+random.IntN(5), 1+random.IntN(5)
		all := make([]float64, n+m)
		for i := range all {
			all[i] = float64(random.IntN(8)) // ties abound
		}
		got := stats.MannWhitney(all[:n], all[n:])
		if want := dealt(all, n); math.Abs(got.P-want) > 1e-12 {
			t.Errorf("%v: got p %v, want %v", all, got.P, want)
		}
		if u := stats.A12(all[:n], all[n:]) * float64(n*m); math.Abs(u-got.Statistic) > 1e-12 {
			t.Errorf("%v: got U %v, want %v", all, got.Statistic, u)
		}
	}
}

// dealt is twice the smaller tail over all choices of the second set.
func dealt(all []float64, n int) float64 {
	observed := stats.A12(all[:n], all[n:])
	below, above, ways := 0.0, 0.0, 0.0
	for mask := range 1 << len(all) {
		var a, b []float64
		for i, v := range all {
			if mask>>i&1 == 0 {
				a = append(a, v)
			} else {
				b = append(b, v)
			}
		}
		if len(a) != n {
			continue
		}
		ways++
		if w := stats.A12(a, b); w <= observed+1e-9 {
			below++
			if w >= observed-1e-9 {
				above++
			}
		} else {
			above++
		}
	}
	return min(1, 2*min(below, above)/ways)
}

// TestSignedRankCounted holds p against all ways to choose the signs.
func TestSignedRankCounted(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		d := make([]float64, 1+random.IntN(8))
		for i := range d {
			d[i] = float64(random.IntN(9) - 4) // ties and zeros
		}
		got := stats.SignedRank(d)
		if want := signed(d); math.Abs(got.P-want) > 1e-12 {
			t.Errorf("%v: got p %v, want %v", d, got.P, want)
		}
	}
}

func signed(d []float64) float64 {
	d = slices.DeleteFunc(slices.Clone(d), func(x float64) bool { return x == 0 })
	sum := func(mask int) float64 { // of ranks with a set bit
		total := 0.0
		for i, x := range d {
			if mask>>i&1 == 0 {
				continue
			}
			rank := 0.5
			for _, y := range d {
				switch {
				case math.Abs(y) < math.Abs(x):
					rank++
				case math.Abs(y) == math.Abs(x):
					rank += 0.5
				}
			}
			total += rank
		}
		return total
	}
	mine := 0
	for i, x := range d {
		if x > 0 {
			mine |= 1 << i
		}
	}
	observed, below, above := sum(mine), 0.0, 0.0
	for mask := range 1 << len(d) {
		if w := sum(mask); w <= observed {
			below++
		}
		if w := sum(mask); w >= observed {
			above++
		}
	}
	return min(1, 2*min(below, above)/math.Exp2(float64(len(d))))
}

// TestNormalMeetsExact: just below the bounds of what is counted, both agree.
func TestNormalMeetsExact(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	a, b, d := make([]float64, 20), make([]float64, 20), make([]float64, 50)
	for i := range a {
		a[i], b[i] = random.NormFloat64(), random.NormFloat64()+0.6
	}
	for i := range d {
		d[i] = random.NormFloat64() + 0.3
	}
	near(t, "unpaired", stats.MannWhitneyNormal(a, b).P, stats.MannWhitney(a, b).P, 0.002)
	near(t, "paired", stats.SignedRankNormal(d).P, stats.SignedRank(d).P, 0.005)
	if k, n := stats.Shift(a, b, 0.05).K, stats.Shift(append(a, 0), b, 0.05).K; n < k || n > k+12 {
		t.Errorf("got k=%d counted for 20 and 20, and %d by the normal law for 21 and 20", k, n)
	}
	if k, n := stats.PairedShift(d, 0.05).K, stats.PairedShift(append(d, 0.1), 0.05).K; n < k || n > k+25 {
		t.Errorf("got k=%d counted for 50, and %d by the normal law for 51", k, n)
	}
}

// TestPartitionIsOptimal: no other cut of a short series is cheaper.
func TestPartitionIsOptimal(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		y := make([]float64, 24)
		for i := range y {
			y[i] = 1000 + 4*random.NormFloat64()
			if i >= 11 {
				y[i] += float64(random.IntN(2)) * 30
			}
		}
		got := stats.ChangePoints(y)
		best := price(y, got.Points, got.Noise)
		for p := 5; p <= 19; p++ {
			if c := price(y, []int{p}, got.Noise); c < best-1e-9 {
				t.Errorf("%v: a cut at %d costs %v, less than %v of %v", y, p, c, best, got.Points)
			}
			for q := p + 5; q <= 19; q++ {
				if c := price(y, []int{p, q}, got.Noise); c < best-1e-9 {
					t.Errorf("%v: cuts at %d and %d cost %v, less than %v of %v", y, p, q, c, best, got.Points)
				}
			}
		}
	}
}

// price is what the segmentation minimises, on the winsorised series.
func price(y []float64, points []int, noise float64) float64 {
	total := 5 * math.Log(float64(len(y))) * float64(len(points))
	from := 0
	for _, to := range append(slices.Clone(points), len(y)) {
		mean, n := 0.0, float64(to-from)
		var z []float64
		for i := from; i < to; i++ {
			centre := stats.Median(y[max(0, i-5):min(len(y), i+6)]) / noise
			z = append(z, min(max(y[i]/noise, centre-5), centre+5))
			mean += z[len(z)-1] / n
		}
		for _, v := range z {
			total += (v - mean) * (v - mean)
		}
		from = to
	}
	return total
}
