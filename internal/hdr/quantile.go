package hdr

import (
	"math"
	"math/bits"
	"strconv"
)

// Quantile is a share of the values in millionths: 990000 is p99. An integer,
// so that the rank it selects is computed exactly.
type Quantile int64

// The usual quantiles.
const (
	P50   Quantile = 500_000
	P75   Quantile = 750_000
	P90   Quantile = 900_000
	P95   Quantile = 950_000
	P99   Quantile = 990_000
	P999  Quantile = 999_000
	P9999 Quantile = 999_900
	P100  Quantile = 1_000_000 // the exact maximum
)

// Percent returns the quantile for a percentage, rounded to the nearest
// millionth: Percent(99.9) is [P999]. Values outside 0 to 100 and NaN are
// clamped.
func Percent(p float64) Quantile {
	if !(p > 0) {
		return 0
	}
	return Quantile(math.Round(min(p, 100) * 1e4))
}

// String returns the usual name: "p50", "p99.9".
func (q Quantile) String() string {
	return "p" + strconv.FormatFloat(float64(q)/1e4, 'f', -1, 64)
}

// Rank returns the place, from 1, of the quantile among n sorted values:
// max(1, ceil(q*n)), computed without rounding; 0 for n = 0. q is clamped to
// 0 to [P100].
func (q Quantile) Rank(n int64) int64 {
	if n <= 0 {
		return 0
	}
	q = min(max(q, 0), P100)
	hi, lo := bits.Mul64(uint64(q), uint64(n))
	lo, carry := bits.Add64(lo, uint64(P100)-1, 0)
	rank, _ := bits.Div64(hi+carry, lo, uint64(P100))
	return max(1, int64(rank))
}

// Beyond returns how many of n values lie beyond the quantile. Mark a quantile
// with fewer than 10 values beyond it, and print none with fewer than 1: it
// would rest on chance.
func (q Quantile) Beyond(n int64) int64 {
	if n <= 0 {
		return 0
	}
	return n - q.Rank(n)
}

// Value returns the quantile by nearest rank: the highest value of the cell
// that holds the value of rank max(1, ceil(q*n)), but never more than the
// exact maximum. [P100] is the exact maximum. It returns 0 if the histogram is
// empty. There is no interpolation.
func (h *Histogram) Value(q Quantile) int64 {
	s := scan{h: h, counts: h.cells()}
	return s.value(q)
}

// Values returns [Histogram.Value] for each of qs. It passes over the cells
// once if qs ascend; other orders are right too, but slower.
func (h *Histogram) Values(qs []Quantile) []int64 {
	values := make([]int64, len(qs))
	s := scan{h: h, counts: h.cells()}
	for i, q := range qs {
		values[i] = s.value(q)
	}
	return values
}

// scan walks the cells upward and remembers where it stands, so that the next
// rank continues from there.
type scan struct {
	h      *Histogram
	counts []int64
	index  int   // cells below it have been counted
	seen   int64 // values in those cells
}

// value returns one quantile, going on from the last or starting again.
func (s *scan) value(q Quantile) int64 {
	h := s.h
	if h.count == 0 {
		return 0
	}
	rank := q.Rank(h.count)
	if rank == h.count { // its value is known, not only its cell
		return h.max
	}
	if rank <= s.seen || s.index == 0 {
		s.index, s.seen = h.firstIndex(), 0
	}
	for s.seen+s.counts[s.index] < rank {
		s.seen += s.counts[s.index]
		s.index++
	}
	return min(h.layout.cell(s.index).Highest, h.max)
}
