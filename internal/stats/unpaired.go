package stats

import (
	"math"
	"slices"
)

// Estimate is a shift or a ratio with its interval. Without enough values there
// is no interval at the level: then Coverage and K are 0, and Low and High are
// the extremes of what was seen.
type Estimate struct {
	Value float64
	Interval
	// K is the rank of the interval's ends among the pairs, from either side.
	K int
}

// MannWhitney tests whether the values of b tend to be larger or smaller than
// those of a (Mann and Whitney, 1947). It is exact up to 400 pairs, with ties
// over the permutations of the ranks as they are; beyond, see
// [MannWhitneyNormal]. Without values P is 1.
func MannWhitney(a, b []float64) Test {
	if len(a) == 0 || len(b) == 0 {
		return Test{P: 1, Method: Exact}
	}
	if len(a)*len(b) > exactPairs {
		return MannWhitneyNormal(a, b)
	}
	ranks, ties := doubledRanks(slices.Concat(a, b))
	sum := 0
	for _, r := range ranks[len(a):] {
		sum += r
	}
	method := Exact
	if ties > 0 {
		method = Permutation
	}
	return Test{Statistic: statisticU(sum, len(b)), P: twoSided(countSubsets(ranks, len(b)), sum), Method: method}
}

// statisticU turns a doubled sum of ranks into U.
func statisticU(sum, n int) float64 { return float64(sum)/2 - float64(n*(n+1))/2 }

// MannWhitneyNormal is the same test by the normal law, with corrections for
// continuity and ties. Without values P is 1.
func MannWhitneyNormal(a, b []float64) Test {
	if len(a) == 0 || len(b) == 0 {
		return Test{P: 1, Method: Normal}
	}
	ranks, ties := doubledRanks(slices.Concat(a, b))
	sum := 0
	for _, r := range ranks[len(a):] {
		sum += r
	}
	n, m := float64(len(a)), float64(len(b))
	u := statisticU(sum, len(b))
	variance := n * m / 12 * (n + m + 1 - ties/((n+m)*(n+m-1)))
	return Test{Statistic: u, P: normalP(u-n*m/2, 0.5, variance), Method: Normal}
}

// Shift is by how much b lies above a: the median of all differences (Hodges and
// Lehmann, 1963) with the interval of Moses, whose ends are the k-th smallest
// and largest of them, for the largest k whose tails are at most alpha/2 each.
func Shift(a, b []float64, alpha float64) Estimate {
	var differences []float64
	for _, x := range a {
		for _, y := range b {
			differences = append(differences, y-x)
		}
	}
	k, tail := unpairedRank(len(a), len(b), alpha)
	return rankEstimate(differences, k, tail)
}

// rankEstimate is the median of the values, with the k-th from either side.
func rankEstimate(values []float64, k int, tail float64) Estimate {
	if len(values) == 0 {
		return Estimate{}
	}
	slices.Sort(values)
	n := len(values)
	e := Estimate{Value: Median(values), Interval: Interval{Low: values[0], High: values[n-1]}}
	if k > 0 {
		e.K, e.Interval = k, Interval{Low: values[k-1], High: values[n-k], Coverage: 1 - 2*tail}
	}
	return e
}

// unpairedRank is k of the interval of Moses; counted up to 400 pairs, beyond by
// the normal law.
func unpairedRank(n, m int, alpha float64) (k int, tail float64) {
	if n == 0 || m == 0 {
		return 0, 0
	}
	if n*m > exactPairs {
		mean, sd := float64(n*m)/2, math.Sqrt(float64(n*m*(n+m+1))/12)
		return max(int(mean-z(alpha/2)*sd), 0), alpha / 2
	}
	ranks := make([]int, n+m)
	for i := range ranks {
		ranks[i] = i + 1
	}
	return critical(countSubsets(ranks, m), m*(m+1)/2, 1, alpha/2)
}

// A12 is the probability that a value of b is larger than one of a, ties half
// (Vargha and Delaney, 2000). Cliff's delta is 2·A12-1. NaN without values.
func A12(a, b []float64) float64 {
	wins := 0.0
	for _, x := range a {
		for _, y := range b {
			switch {
			case y > x:
				wins++
			case y == x:
				wins += 0.5
			}
		}
	}
	return wins / float64(len(a)*len(b))
}

// DeltaWord says how large Cliff's delta is (Romano et al., 2006). It is for
// showing and decides nothing.
func DeltaWord(delta float64) string {
	switch d := math.Abs(delta); {
	case d < 0.147:
		return "negligible"
	case d < 0.33:
		return "small"
	case d < 0.474:
		return "medium"
	}
	return "large"
}
