package stats

import (
	"math"
	"slices"
)

// Interval is a symmetric order-statistic interval of the median. Without
// enough values there is none with 95 % coverage: then Low and High are the
// range, and Coverage is 0.
type Interval struct {
	Low, High float64
	// Coverage is the exact probability that the interval holds the median of
	// independent values, 0 to 1.
	Coverage float64
}

// Median of the values; 0 if there are none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

// MedianInterval is the narrowest symmetric pair of order statistics (l, n+1-l)
// that covers the median with at least 95 %. The coverage is
// 1 - 2 P(X < l) for X binomial (n, 1/2).
func MedianInterval(values []float64) Interval {
	if len(values) == 0 {
		return Interval{}
	}
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	best := Interval{Low: s[0], High: s[n-1]}
	tail := 0.0 // P(X < l)
	for l := 1; l <= n/2; l++ {
		tail += binomial(n, l-1)
		if coverage := 1 - 2*tail; coverage >= 0.95 {
			best = Interval{Low: s[l-1], High: s[n-l], Coverage: coverage}
		}
	}
	return best
}

// binomial is P(X = k) for X binomial (n, 1/2).
func binomial(n, k int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c - float64(n)*math.Ln2)
}
