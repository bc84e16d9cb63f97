package stats

import (
	"math"
	"sort"
)

// ClopperPearson is the two-sided interval of a share that was hit k times in n
// at a level such as 0.95: exact, never too narrow (Clopper and Pearson, 1934).
// Its Coverage is the level, which is the least. Without trials it is 0 to 1.
func ClopperPearson(k, n int64, level float64) Interval {
	alpha := 1 - level
	return Interval{Low: 1 - ShareAtMost(n-k, n, 1-alpha/2), High: ShareAtMost(k, n, 1-alpha/2), Coverage: level}
}

// ShareAtMost is the one-sided upper bound, at a level such as 0.95, of a share
// that was hit k times in n. Without trials it is 1.
func ShareAtMost(k, n int64, level float64) float64 {
	switch {
	case n <= 0 || k >= n:
		return 1
	case k <= 0:
		return -math.Expm1(math.Log1p(-level) / float64(n)) // 1-(1-level)^(1/n)
	}
	return betaQuantile(float64(k+1), float64(n-k), level)
}

// QuantileRanks are the places, from 1, of the two of n sorted values between
// which the quantile q lies with 95 %: the binomial tails outside are at most
// 2.5 % each. Low is 0 and high is n+1 where there is no such value.
//
// It holds for independent values only. Latencies of a queue are not: there the
// interval of p99 covers it in 21 to 71 % of the cases (method, section 4.3). A
// percentile of a run is judged over runs, with [MedianInterval], and that of a
// single run with [WithinRun].
func QuantileRanks(n int, q float64) (low, high int) {
	// P(X < low) ≤ 2.5 %, P(X ≥ high) ≤ 2.5 %
	low = sort.Search(n+1, func(l int) bool { return atMost(l, n, q) > 0.025 })
	high = sort.Search(n+1, func(u int) bool { return atMost(u, n, q) >= 0.975 }) + 1
	return low, min(high, n+1)
}

// QuantileNeeds is the least number of independent values that bound the
// quantile q from above with a tail of 2.5 %.
func QuantileNeeds(q float64) int { return int(math.Ceil(math.Log(0.025) / math.Log(q))) }

// withinBlocks is the number of time blocks of a single run.
const withinBlocks = 12

// WithinRun is the interval of a percentile from a single run, whose window was
// cut into equal blocks of time with the percentile taken in each: (3,10) of 12
// blocks. It is approximate, since blocks are not runs: it covers 80 to 94 %
// for p99 (method, section 4.3) and says nothing of how runs differ. Ok is
// false with fewer than 12 blocks; each should be 5 s and hold 10/(1-q)
// requests.
func WithinRun(blocks []float64) (i Interval, ok bool) {
	if len(blocks) < withinBlocks {
		return Interval{}, false
	}
	return MedianInterval(blocks), true
}
