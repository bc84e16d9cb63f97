package store

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"prony/internal/stats"
)

// How changes of a series are found.
//
// A series has one value a run. A change is a split into what came before and
// what came after, found in the manner of E-divisive (Matteson and James 2014;
// for performance histories Daly et al., ICPE 2020, and Fleming et al., Hunter,
// ICPE 2023): take the best split, ask by permutation whether shuffled values
// would give one as good, and if not, go on in both halves. Differences, each
// against a way to be fooled:
//
//   - The statistic is the standardised Mann-Whitney U, of ranks: how far an
//     outlier lies outside does not matter, so that no single lucky run makes a
//     change. Each side has at least BaselineRuns values.
//   - It is taken over the seeded intervals of Kovács et al. (Biometrika 2023) and
//     not over the whole alone, so that a rise followed by a fall does not hide
//     itself. The permutations take the same maximum, and with it pay for the
//     number of splits that were tried.
//   - The level is 1 %: a history is looked at again after every run.
//   - Neighbours whose medians differ by less than the metric's margin are put
//     together again: what is real but too small to matter moves nothing.
//
// The permutations are seeded: the same values give the same answer.

const (
	changeLevel = 0.01
	permuteSeed = 0x70726f6e79 // "prony"
	permuteFew  = 999
	permuteMany = 9999
)

// split is a place where a series may change.
type split struct {
	at    int     // index of the first value after it
	score float64 // |z|
}

// span is a part of a series, from inclusive to exclusive.
type span struct{ from, to int }

// segments cuts a series where it changes; p[i] is the p-value of the split at
// the start of segment i (p[0] is 0).
func segments(values []float64, differ func(before, after float64) bool) (spans []span, p []float64) {
	found := map[int]float64{}
	divide(values, 0, found)
	return join(values, found, differ)
}

// divide finds the splits of a part that begins at an offset.
func divide(values []float64, offset int, found map[int]float64) {
	best := bestSplit(values)
	if best.score == 0 {
		return
	}
	p := chance(values, best.score, func(shuffled []float64) float64 { return bestSplit(shuffled).score })
	if p > changeLevel {
		return
	}
	found[offset+best.at] = p
	divide(values[:best.at], offset, found)
	divide(values[best.at:], offset+best.at, found)
}

// join makes spans of splits, and puts neighbours together, the most similar
// first, until all differ.
func join(values []float64, found map[int]float64, differ func(before, after float64) bool) ([]span, []float64) {
	cuts := []int{0}
	for at := range found {
		cuts = append(cuts, at)
	}
	slices.Sort(cuts)
	for {
		spans := spansOf(cuts, len(values))
		drop, least := 0, math.Inf(1)
		for i := 1; i < len(spans); i++ {
			before, after := stats.Median(values[spans[i-1].from:spans[i-1].to]), stats.Median(values[spans[i].from:spans[i].to])
			if d := math.Abs(after - before); !differ(before, after) && d < least {
				drop, least = i, d
			}
		}
		if drop == 0 {
			p := make([]float64, len(cuts))
			for i, at := range cuts {
				p[i] = found[at]
			}
			return spans, p
		}
		cuts = slices.Delete(cuts, drop, drop+1)
	}
}

func spansOf(cuts []int, n int) []span {
	spans := make([]span, len(cuts))
	for i, at := range cuts {
		spans[i] = span{at, n}
		if i > 0 {
			spans[i-1].to = at
		}
	}
	return spans
}

// bestSplit is the best one of all seeded intervals: the whole, and ever shorter
// ones that overlap by half.
func bestSplit(values []float64) split {
	var best split
	n := len(values)
	for length := n; length >= 2*BaselineRuns; length = (length + 1) / 2 {
		for from := 0; ; from += max(length/2, 1) {
			from = min(from, n-length)
			if s := bestOf(values[from : from+length]); s.score > best.score {
				best = split{at: from + s.at, score: s.score}
			}
			if from == n-length {
				break
			}
		}
	}
	return best
}

// bestOf is the best split of exactly these values.
func bestOf(values []float64) split {
	ranks, ties := midranks(values)
	n := float64(len(values))
	var best split
	sum := 0.0
	for i, r := range ranks {
		sum += r
		k := float64(i + 1)
		if i+1 < BaselineRuns || len(values)-i-1 < BaselineRuns {
			continue
		}
		if z := standardised(sum, k, n, ties); z > best.score {
			best = split{at: i + 1, score: z}
		}
	}
	return best
}

// standardised is |z| of a rank sum of the first k of n values, with the
// correction for ties (sum of t^3 - t over groups of t equal values). It is 0
// when all values are equal.
func standardised(sum, k, n, ties float64) float64 {
	variance := k * (n - k) / 12 * ((n + 1) - ties/(n*(n-1)))
	if variance <= 0 {
		return 0
	}
	return math.Abs(sum-k*(n+1)/2) / math.Sqrt(variance)
}

// midranks are the ranks from 1; equal values share the middle of theirs.
func midranks(values []float64) (ranks []float64, ties float64) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	ranks = make([]float64, len(values))
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && values[order[to]] == values[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = float64(from+1+to) / 2
		}
		t := float64(to - from)
		ties += t*t*t - t
		from = to
	}
	return ranks, ties
}

// chance is the probability that shuffled values score as high: (1 + how many
// did) / (1 + how many were tried). It stops early where the answer is clear.
func chance(values []float64, score float64, of func([]float64) float64) float64 {
	shuffled := slices.Clone(values)
	random := rand.New(rand.NewPCG(permuteSeed, uint64(len(values))))
	high := 0
	for tried := 1; ; tried++ {
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if of(shuffled) >= score-1e-9 { // sums of halves are exact, their roots are not
			high++
		}
		p := float64(1+high) / float64(1+tried)
		hopeless := high > 10 && p > 5*changeLevel
		clear := tried == permuteFew && (p <= changeLevel/2 || p > 2*changeLevel)
		if hopeless || clear || tried == permuteMany {
			return p
		}
	}
}

// chanceOfTwo is the same for two given groups.
func chanceOfTwo(before, after []float64) float64 {
	all := slices.Concat(before, after)
	score := func(values []float64) float64 {
		ranks, ties := midranks(values)
		sum := 0.0
		for _, r := range ranks[:len(before)] {
			sum += r
		}
		return standardised(sum, float64(len(before)), float64(len(values)), ties)
	}
	return chance(all, score(all), score)
}

// trailing counts the values at the end that all lie above, or all below,
// everything before them, of which there must be BaselineRuns; up is the side.
func trailing(values []float64) (n int, up bool) {
	for k := 1; k < BaselineRuns && len(values)-k >= BaselineRuns; k++ {
		before, after := values[:len(values)-k], values[len(values)-k:]
		switch {
		case slices.Min(after) > slices.Max(before):
			n, up = k, true
		case slices.Max(after) < slices.Min(before):
			n, up = k, false
		}
	}
	return n, up
}
