package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts the p-values of a family so that a false alarm anywhere in it
// has at most the level's probability (Holm, 1979). They keep their order.
func Holm(p []float64) []float64 {
	adjusted := make([]float64, len(p))
	most := 0.0
	for i, k := range ascending(p) {
		most = max(most, min(1, float64(len(p)-i)*p[k]))
		adjusted[k] = most
	}
	return adjusted
}

// BenjaminiHochberg turns p-values into q-values: of those at most q, a share of
// about q is false (Benjamini and Hochberg, 1995). They keep their order.
func BenjaminiHochberg(p []float64) []float64 {
	adjusted := make([]float64, len(p))
	order := ascending(p)
	least := 1.0
	for i := len(order) - 1; i >= 0; i-- {
		k := order[i]
		least = min(least, float64(len(p))/float64(i+1)*p[k])
		adjusted[k] = least
	}
	return adjusted
}

// ascending are the places of the values, from the smallest value to the largest.
func ascending(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	return order
}

// PairsToReach is the least number of pairs whose signed-rank test can reach the
// level alpha: its smallest p is 2^(1-n).
func PairsToReach(alpha float64) int {
	n := 1
	for math.Exp2(float64(1-n)) > alpha && n < exactDifferences {
		n++
	}
	return n
}

// RunsToReach is the least number of runs on each side whose U-test can reach
// the level alpha: its smallest p is 2/C(2n, n).
func RunsToReach(alpha float64) int {
	n, ways := 1, 2.0
	for 2/ways > alpha && n < exactDifferences {
		n++
		ways *= float64(2*n) * float64(2*n-1) / float64(n*n)
	}
	return n
}
