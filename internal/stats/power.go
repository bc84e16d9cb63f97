package stats

import "math"

// Least numbers of runs for any inference: below them the smallest p of the
// exact test is above 5 %, or hardly below it (method, section 4.2).
const (
	LeastPairs = 6 // signed-rank: n=5 0.0625, n=6 0.03125
	LeastRuns  = 5 // U-test: n=4 0.0286, n=5 0.0079
)

// Constants of the sample size: the normal quantiles of 5 % two-sided and 80 %
// power, and the efficiency of rank tests under normality, 3/π.
const (
	powerSum       = 1.960 + 0.842
	rankEfficiency = 0.955
)

// RunsNeeded is the number of runs of each variant that shows a relative
// difference with a power of 80 % at a level of 5 %, for a coefficient of
// variation from run to run: 2·((z₀.₉₇₅+z₀.₈)·CV/Δ)²/0.955. The caller applies
// [LeastPairs] or [LeastRuns]. Without a difference to show, it is +Inf.
func RunsNeeded(cv, difference float64) float64 {
	if !(difference > 0) {
		return math.Inf(1)
	}
	return math.Ceil(2 * math.Pow(powerSum*cv/difference, 2) / rankEfficiency)
}

// Detectable is the inverse: the smallest relative difference that so many runs
// of each variant show with a power of 80 %. It is the noise floor of a lab whose
// runs vary by cv.
func Detectable(cv float64, runs int) float64 {
	if runs < 1 {
		return math.Inf(1)
	}
	return powerSum * cv * math.Sqrt(2/(rankEfficiency*float64(runs)))
}

// MoreNeeded is about how many runs in all would make the half-width of an
// interval as small as the margin: n·(half/margin)², at least one more than n.
func MoreNeeded(n int, half, margin float64) int {
	if !(margin > 0) || math.IsNaN(half) {
		return 0
	}
	return max(n+1, int(min(math.Ceil(float64(n)*math.Pow(half/margin, 2)), 1e6)))
}
