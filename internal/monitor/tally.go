package monitor

import (
	"math"
	"slices"
	"sort"
)

// tally is a histogram of few events: the cells that are not empty, in rising
// order of their buckets. The bounds of the buckets are kept elsewhere, once
// for all tallies of a kind.
type tally []cell

type cell struct {
	bucket uint16
	count  uint64
}

// plus is the sum of two tallies; neither is changed.
func (t tally) plus(o tally) tally {
	switch {
	case len(o) == 0:
		return t
	case len(t) == 0:
		return o
	}
	sum := make(tally, 0, len(t)+len(o))
	for len(t) > 0 && len(o) > 0 {
		switch {
		case t[0].bucket < o[0].bucket:
			sum, t = append(sum, t[0]), t[1:]
		case t[0].bucket > o[0].bucket:
			sum, o = append(sum, o[0]), o[1:]
		default:
			sum = append(sum, cell{t[0].bucket, t[0].count + o[0].count})
			t, o = t[1:], o[1:]
		}
	}
	return append(append(sum, t...), o...)
}

// add counts one event; it is for tallies that are still being made.
func (t tally) add(bucket int) tally {
	b := uint16(min(bucket, math.MaxUint16))
	i := sort.Search(len(t), func(i int) bool { return t[i].bucket >= b })
	if i < len(t) && t[i].bucket == b {
		t[i].count++
		return t
	}
	return slices.Insert(t, i, cell{b, 1})
}

// tallyDelta is what a histogram of counts grew by.
func tallyDelta(before, after []uint64) tally {
	var t tally
	for i, n := range after {
		if i < len(before) {
			n -= before[i]
		}
		if n > 0 {
			t = append(t, cell{uint16(i), n})
		}
	}
	return t
}

// quantile is the value below which the share q of the events lies, 0 without
// events. Bucket i reaches from bounds[i] to bounds[i+1]; within the bucket of
// the event of rank ceil(q*n), events are taken to lie evenly. A bucket without
// an end is answered by the bound it has.
func (t tally) quantile(bounds []float64, q float64) float64 {
	var n uint64
	for _, c := range t {
		n += c.count
	}
	rank := max(1, uint64(math.Ceil(q*float64(n))))
	var below uint64
	for _, c := range t {
		if below+c.count >= rank {
			return within(bounds, int(c.bucket), float64(rank-below)/float64(c.count))
		}
		below += c.count
	}
	return 0
}

func within(bounds []float64, bucket int, share float64) float64 {
	if bucket+1 >= len(bounds) {
		return bounds[len(bounds)-1]
	}
	low, high := bounds[bucket], bounds[bucket+1]
	switch {
	case math.IsInf(low, -1):
		return max(0, high)
	case math.IsInf(high, 1):
		return low
	}
	return low + share*(high-low)
}
