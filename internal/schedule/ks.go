package schedule

import (
	"math"
	"slices"
)

// KSExp returns the Kolmogorov-Smirnov distance D of gaps, scaled by their own
// mean, to the exponential distribution: 0 is a perfect Poisson process, and
// 1 − 1/e = 0.632 a perfect metronome. It is the distance and not a p-value,
// because with many gaps every test rejects; what distance is still good is for
// the caller to say.
//
// The unit of the gaps does not matter. They are not changed. Without gaps D is
// NaN; if their mean is zero (everything at once) or not a number, D is 1.
func KSExp(gaps []float64) float64 {
	if len(gaps) == 0 {
		return math.NaN()
	}
	scaled, ok := scaledGaps(gaps)
	if !ok {
		return 1
	}
	n, worst := float64(len(scaled)), 0.0
	for i, gap := range scaled {
		f := -math.Expm1(-max(gap, 0))
		worst = max(worst, float64(i+1)/n-f, f-float64(i)/n)
	}
	return worst
}

// leastGap stands in for smaller gaps in [ADExp], in units of the mean: the
// logarithm of a gap of zero would drown all the others.
const leastGap = 1e-10

// ADExp returns the Anderson-Darling statistic A² of gaps, scaled by their own
// mean, against the exponential distribution. With the mean taken from the
// sample its 5 % point is 1.340 and its 1 % point 1.956. It looks at the tails
// more closely than [KSExp] does, so much that rounding to the ticks of a clock
// is enough to reject: a gap below 10⁻¹⁰ of the mean counts as that.
//
// Without gaps it is NaN; if their mean is zero or not a number, it is infinite.
// The gaps are not changed.
//
// Anderson and Darling, "A test of goodness of fit", JASA 49 (1954); points from
// Stephens, "EDF statistics for goodness of fit", JASA 69 (1974).
func ADExp(gaps []float64) float64 {
	if len(gaps) == 0 {
		return math.NaN()
	}
	scaled, ok := scaledGaps(gaps)
	if !ok {
		return math.Inf(1)
	}
	n, sum := len(scaled), 0.0
	for i, gap := range scaled {
		// ln F(x_i) + ln(1 − F(x_{n+1−i})), and ln(1 − F(x)) is just −x.
		sum += float64(2*i+1) * (math.Log(-math.Expm1(-max(gap, leastGap))) - scaled[n-1-i])
	}
	return -float64(n) - sum/float64(n)
}

// scaledGaps returns the gaps in units of their mean, ascending; ok is false if
// the mean is not a positive number.
func scaledGaps(gaps []float64) (scaled []float64, ok bool) {
	sum := 0.0
	for _, gap := range gaps {
		sum += gap
	}
	mean := sum / float64(len(gaps))
	if !(mean > 0) || math.IsInf(mean, 1) {
		return nil, false
	}
	scaled = slices.Clone(gaps)
	for i := range scaled {
		scaled[i] /= mean
	}
	slices.Sort(scaled)
	return scaled, true
}
