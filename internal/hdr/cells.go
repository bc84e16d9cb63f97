package hdr

import (
	"iter"
	"math"
)

// firstIndex returns the index of the lowest cell in use. The histogram must
// not be empty.
func (h *Histogram) firstIndex() int { return h.clampedIndex(h.min) }

// lastIndex returns the index of the highest cell in use, 0 if there is none.
func (h *Histogram) lastIndex() int { return h.clampedIndex(h.max) }

// clampedIndex returns the cell that counts v, which is not negative.
func (h *Histogram) clampedIndex(v int64) int {
	return h.layout.index(min(v, h.config.Highest))
}

// Cells yields the cells that hold values, with their counts, in ascending
// order.
func (h *Histogram) Cells() iter.Seq2[Cell, int64] {
	return func(yield func(Cell, int64) bool) {
		if h.count == 0 {
			return
		}
		counts := h.cells()
		for i := h.firstIndex(); i <= h.lastIndex(); i++ {
			if n := counts[i]; n != 0 && !yield(h.layout.cell(i), n) {
				return
			}
		}
	}
}

// CountAbove returns how many values are known to exceed v: those in cells
// wholly above v, and the overflow for every v up to Highest. Values that
// share the cell of v are not counted; with three digits they differ from v
// by less than 0.1 %.
func (h *Histogram) CountAbove(v int64) int64 {
	switch {
	case h.count == 0 || v > h.config.Highest:
		return 0
	case v < h.min:
		return h.count
	}
	from, last := h.layout.index(v), h.lastIndex()
	if from == h.layout.index(h.config.Highest) {
		return h.overflow
	}
	above, counts := int64(0), h.cells()
	for i := from + 1; i <= last; i++ {
		above += counts[i]
	}
	return above
}

// CorrectOmission returns a copy to which the values are added that a client
// failed to record while it waited: for each v also v-interval, v-2*interval
// and so on, down to the interval. It is the HdrHistogram correction for
// coordinated omission.
//
// Use it for data from other tools only, and label the result "estimated":
// Prony's own open runs need no correction and its closed runs must not have
// one. Values are taken at the top of their cell, so the sums of the copy are
// estimates too and [Histogram.Exact] is false. An interval <= 0 corrects
// nothing, and correction stops where the count would exceed 2^63-1.
func (h *Histogram) CorrectOmission(interval int64) *Histogram {
	corrected := h.Copy()
	if interval <= 0 {
		return corrected
	}
	for cell, n := range h.Cells() {
		v := min(cell.Highest, h.max, h.config.Highest)
		corrected.fillBelow(v, n, interval)
	}
	return corrected
}

// fillBelow adds n values at v-interval, v-2*interval ... >= interval. It
// steps from cell to cell, not from value to value, so that a tiny interval
// costs no more than the cells there are.
func (h *Histogram) fillBelow(v, n, interval int64) {
	if v < interval {
		return
	}
	for v -= interval; v >= interval; {
		floor := max(h.layout.cell(h.layout.index(v)).Lowest, interval)
		steps := (v-floor)/interval + 1
		if steps > (math.MaxInt64-h.count)/n {
			return
		}
		h.RecordN(v, n*steps)
		h.estimated = true
		v -= steps * interval
	}
}
