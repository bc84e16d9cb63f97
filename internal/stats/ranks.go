package stats

import (
	"cmp"
	"math"
	"slices"
)

// How a p-value came about.
const (
	Exact       = "exact"       // counted, without ties
	Permutation = "permutation" // counted over the ranks as they are, with ties
	Normal      = "normal"      // approximated, with corrections for ties and continuity
)

// Test is the answer of a two-sided rank test.
type Test struct {
	// Statistic is U of the second set (pairs in which it is larger, ties half),
	// or the sum of the ranks of the positive differences.
	Statistic float64 `json:"statistic"`
	P         float64 `json:"p"`
	Method    string  `json:"method"` // Exact, Permutation or Normal
}

// Bounds of what is counted: pairs of values for two sets, differences for one.
const (
	exactPairs       = 400
	exactDifferences = 50
)

// doubledRanks gives each value twice its rank from 1, so that the mean ranks of
// ties are whole, and the sum of t³-t over the ties.
func doubledRanks(values []float64) (ranks []int, ties float64) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(values[i], values[j]) })
	ranks = make([]int, len(values))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			ranks[k] = i + 1 + j
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	return ranks, ties
}

// countSubsets is, by sum, the number of subsets of the given size; of any size
// where size is negative.
func countSubsets(ranks []int, size int) []float64 {
	if size < 0 {
		return countSums(ranks)
	}
	total := 0
	for _, r := range ranks {
		total += r
	}
	ways := make([][]float64, size+1)
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	reached := 0
	for i, r := range ranks {
		reached += r
		for k := min(i+1, size); k >= 1; k-- {
			for sum := reached; sum >= r; sum-- {
				ways[k][sum] += ways[k-1][sum-r]
			}
		}
	}
	return ways[size]
}

func countSums(ranks []int) []float64 {
	ways := []float64{1}
	for _, r := range ranks {
		ways = append(ways, make([]float64, r)...)
		for sum := len(ways) - 1; sum >= r; sum-- {
			ways[sum] += ways[sum-r]
		}
	}
	return ways
}

// twoSided is twice the smaller tail at an observed sum, at most 1.
func twoSided(ways []float64, observed int) float64 {
	var all, below, above float64
	for sum, n := range ways {
		all += n
		if sum <= observed {
			below += n
		}
		if sum >= observed {
			above += n
		}
	}
	return min(1, 2*min(below, above)/all)
}

// critical is the largest k whose k smallest sums have at most the given share,
// and that share. Sums go in the given step; k counts from 0, which is none.
func critical(ways []float64, first, step int, share float64) (k int, tail float64) {
	var all, below float64
	for _, n := range ways {
		all += n
	}
	for sum := first; sum < len(ways); sum += step {
		below += ways[sum]
		if below/all > share {
			break
		}
		k, tail = k+1, below/all
	}
	return k, tail
}

// normalP is the two-sided p of a distance from the mean, with continuity
// correction of half a step.
func normalP(distance, half, variance float64) float64 {
	if variance <= 0 {
		return 1
	}
	z := max(math.Abs(distance)-half, 0) / math.Sqrt(variance)
	return min(1, 2*above(z))
}
