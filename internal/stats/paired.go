package stats

import (
	"errors"
	"fmt"
	"math"
)

// SignedRank tests whether differences lie around zero (Wilcoxon, 1945).
// Differences of zero are left out. It is exact up to 50 differences, with ties
// over the signs of the ranks as they are; beyond, or if that is asked for, it
// is the normal law with corrections for continuity and ties.
func SignedRank(differences []float64) Test {
	ranks, positive, ties := signedRanks(differences)
	if len(ranks) > exactDifferences {
		return signedRankNormal(ranks, positive, ties)
	}
	method := Exact
	if ties > 0 {
		method = Permutation
	}
	return Test{Statistic: float64(positive) / 2, P: twoSided(countSubsets(ranks, -1), positive), Method: method}
}

// SignedRankNormal is [SignedRank] by the normal law, whatever the number.
func SignedRankNormal(differences []float64) Test { return signedRankNormal(signedRanks(differences)) }

// signedRanks gives doubled ranks by size of what is not zero, and the sum of
// those of the positive ones.
func signedRanks(differences []float64) (ranks []int, positive int, ties float64) {
	var sizes, signed []float64
	for _, d := range differences {
		if d != 0 {
			sizes, signed = append(sizes, math.Abs(d)), append(signed, d)
		}
	}
	ranks, ties = doubledRanks(sizes)
	for i, d := range signed {
		if d > 0 {
			positive += ranks[i]
		}
	}
	return ranks, positive, ties
}

func signedRankNormal(ranks []int, positive int, ties float64) Test {
	n := float64(len(ranks))
	w := float64(positive) / 2
	variance := n*(n+1)*(2*n+1)/24 - ties/48
	return Test{Statistic: w, P: normalP(w-n*(n+1)/4, 0.5, variance), Method: Normal}
}

// PairedShift is the centre of differences: the median of the means of all
// pairs of them, each with itself too (Walsh averages; Hodges and Lehmann,
// 1963), with the interval between the k-th smallest and largest of those, for
// the largest k whose tails are at most alpha/2 each.
func PairedShift(differences []float64, alpha float64) Estimate {
	var walsh []float64
	for i, x := range differences {
		for _, y := range differences[i:] {
			walsh = append(walsh, x/2+y/2)
		}
	}
	k, tail := pairedRank(len(differences), alpha)
	return rankEstimate(walsh, k, tail)
}

func pairedRank(n int, alpha float64) (k int, tail float64) {
	if n == 0 {
		return 0, 0
	}
	if n > exactDifferences {
		m := float64(n)
		return max(int(m*(m+1)/4-z(alpha/2)*math.Sqrt(m*(m+1)*(2*m+1)/24)), 0), alpha / 2
	}
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	return critical(countSubsets(ranks, -1), 0, 1, alpha/2)
}

// Ratio is b over a, by [Shift] on logarithms. Values must be above zero.
func Ratio(a, b []float64, alpha float64) (Estimate, error) {
	la, err := logs(a)
	if err != nil {
		return Estimate{}, err
	}
	lb, err := logs(b)
	if err != nil {
		return Estimate{}, err
	}
	return Shift(la, lb, alpha).exp(), nil
}

// PairedRatio is b over a where b[i] belongs to a[i], by [PairedShift] on the
// differences of logarithms. Values must be above zero, and as many on each
// side.
func PairedRatio(a, b []float64, alpha float64) (Estimate, error) {
	d, err := LogRatios(a, b)
	if err != nil {
		return Estimate{}, err
	}
	return PairedShift(d, alpha).exp(), nil
}

// LogRatios are ln(b[i]/a[i]). Values must be above zero, and as many on each
// side.
func LogRatios(a, b []float64) ([]float64, error) {
	if len(a) != len(b) {
		return nil, fmt.Errorf("pair values: %d on one side and %d on the other", len(a), len(b))
	}
	for _, side := range [][]float64{a, b} {
		if _, err := logs(side); err != nil {
			return nil, err
		}
	}
	d := make([]float64, len(a))
	for i := range a {
		d[i] = math.Log(b[i] / a[i])
	}
	return d, nil
}

var errLog = errors.New("a ratio needs values above zero")

func logs(values []float64) ([]float64, error) {
	all := make([]float64, len(values))
	for i, v := range values {
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("take the logarithm of value %d, %g: %w", i+1, v, errLog)
		}
		all[i] = math.Log(v)
	}
	return all, nil
}

// exp turns an estimate of logarithms into one of ratios.
func (e Estimate) exp() Estimate {
	e.Value, e.Low, e.High = math.Exp(e.Value), math.Exp(e.Low), math.Exp(e.High)
	return e
}
