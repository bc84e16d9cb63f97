package stats

import (
	"math"
	"slices"
)

// Trend is whether a series rises or falls, whatever its shape.
type Trend struct {
	S        float64 // rising pairs less falling ones
	Variance float64 // of S, with ties
	Z, P     float64 // with continuity correction, two-sided
	Slope    float64 // Theil and Sen, per step
}

// MannKendall tests for a trend (Mann, 1945; Kendall, 1975) and measures it.
func MannKendall(y []float64) Trend {
	t := mannKendall(y)
	t.Slope = TheilSen(y)
	return t
}

// mannKendall is the test alone: slopes of an hour of seconds are many.
func mannKendall(y []float64) Trend {
	t := Trend{P: 1}
	for i := range y {
		for j := i + 1; j < len(y); j++ {
			t.S += sign(y[j] - y[i])
		}
	}
	n := float64(len(y))
	t.Variance = n * (n - 1) * (2*n + 5)
	sorted := slices.Sorted(slices.Values(y))
	for i := 0; i < len(sorted); {
		j := i
		for j < len(sorted) && sorted[j] == sorted[i] {
			j++
		}
		k := float64(j - i)
		t.Variance -= k * (k - 1) * (2*k + 5)
		i = j
	}
	t.Variance /= 18
	if t.Variance > 0 {
		t.Z = (t.S - sign(t.S)) / math.Sqrt(t.Variance)
		t.P = min(1, 2*above(math.Abs(t.Z)))
	}
	return t
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// TheilSen is the median of the slopes between all pairs, per step; 0 of fewer
// than two values.
func TheilSen(y []float64) float64 {
	slopes := make([]float64, 0, len(y)*len(y)/2)
	for i := range y {
		for j := i + 1; j < len(y); j++ {
			slopes = append(slopes, (y[j]-y[i])/float64(j-i))
		}
	}
	return Median(slopes)
}

// Growing reports whether a series rose by more than a share of its first fifth
// over its length, with a trend at 1 %: memory that is not given back.
func Growing(y []float64, share float64) bool {
	fifth := len(y) / 5
	if fifth == 0 {
		return false
	}
	first, last := Median(y[:fifth]), Median(y[len(y)-fifth:])
	if !(first > 0) || last/first-1 <= share {
		return false
	}
	t := mannKendall(y)
	return t.S > 0 && t.P < 0.01
}

// Drift is the relative difference between the medians of the second and the
// first half of the values, in the order in which they were measured; the middle
// one of an odd number belongs to neither. NaN of fewer than two values or a
// median of zero.
func Drift(values []float64) float64 {
	h := len(values) / 2
	if h == 0 {
		return math.NaN()
	}
	first := Median(values[:h])
	if first == 0 {
		return math.NaN()
	}
	return Median(values[len(values)-h:])/first - 1
}

// OrderBias is the difference, mean of 'B' less mean of 'A', that a drift of the
// machine gives two equal variants measured in an order such as "ABBA"; drift is
// the value in a slot, from 0. A good order gives 0 for the drifts to be feared.
func OrderBias(order string, drift func(slot int) float64) float64 {
	var sum [2]float64
	var n [2]float64
	for slot, letter := range []byte(order) {
		i := 0
		if letter == 'B' {
			i = 1
		}
		sum[i] += drift(slot)
		n[i]++
	}
	return sum[1]/n[1] - sum[0]/n[0]
}
