package stats_test

import (
	"math"
	"testing"

	"prony/internal/stats"
)

// The pairs and coverages of method.md 4.3.
func TestMedianIntervalCoverage(t *testing.T) {
	for _, tt := range []struct {
		n, low, high int
		coverage     float64
	}{{6, 1, 6, 96.9}, {7, 1, 7, 98.4}, {8, 1, 8, 99.2}, {9, 2, 8, 96.1}, {10, 2, 9, 97.9}, {11, 2, 10, 98.8}, {12, 3, 10, 96.1},
		{15, 4, 12, 96.5}, {20, 6, 15, 95.9}, {30, 10, 21, 95.7}} {
		values := make([]float64, tt.n)
		for i := range values {
			values[i] = float64((i*7)%tt.n + 1) // any order
		}
		if tt.n%7 == 0 {
			for i := range values {
				values[i] = float64(tt.n - i)
			}
		}
		got := stats.MedianInterval(values)
		if got.Low != float64(tt.low) || got.High != float64(tt.high) || math.Abs(100*got.Coverage-tt.coverage) > 0.06 {
			t.Errorf("n=%d: got %+v, want (%d, %d) with %.1f %%", tt.n, got, tt.low, tt.high, tt.coverage)
		}
	}
}

func TestFewValuesHaveARange(t *testing.T) {
	for n := range 6 {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64(n - i)
		}
		got := stats.MedianInterval(values)
		if got.Coverage != 0 || n > 0 && (got.Low != 1 || got.High != float64(n)) {
			t.Errorf("n=%d: got %+v, want the range without coverage", n, got)
		}
	}
}

func TestMedian(t *testing.T) {
	for want, values := range map[float64][]float64{0: nil, 3: {3}, 2.5: {4, 1, 2, 3}, 2: {9, 1, 2}} {
		if got := stats.Median(values); got != want {
			t.Errorf("Median(%v) = %v, want %v", values, got, want)
		}
	}
}
