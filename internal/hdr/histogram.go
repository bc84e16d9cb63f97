package hdr

import "math"

// Histogram counts values in cells of bounded relative width. Make one with
// [New] or [MustNew]; the zero Histogram is not usable. It has one writer and
// is not safe for concurrent use.
type Histogram struct {
	layout layout
	config Config // with defaults filled in
	counts []int64
	packed []byte // the counts in the form of V2, in place of them

	count     int64
	min, max  int64 // exact, also beyond config.Highest; math.MaxInt64 and 0 when empty
	moments   moments
	overflow  int64
	clockErrs int64
	estimated bool // min, max and moments were derived from cells
}

// New returns an empty histogram of the given shape. It fails if the shape is
// impossible: a negative or zero range, fewer than 1 or more than 5 digits.
func New(c Config) (*Histogram, error) {
	c = c.effective()
	if err := c.check(); err != nil {
		return nil, err
	}
	l := newLayout(c)
	// A fresh large slice is not written to, so that only the pages a
	// workload really uses become resident.
	return &Histogram{layout: l, config: c, counts: make([]int64, l.length), min: math.MaxInt64}, nil
}

// MustNew is [New] for a shape written down in the program. It panics on an
// impossible one, which is a mistake of the programmer.
func MustNew(c Config) *Histogram {
	h, err := New(c)
	if err != nil {
		panic(err)
	}
	return h
}

// Record counts one value. A value above Highest goes to the top cell and
// counts as overflow; a negative one only counts as a clock error.
//
// It is the hot path: no allocation, no error, and one comparison that sorts
// out both kinds of value that need more care.
func (h *Histogram) Record(v int64) {
	if uint64(v) > uint64(h.config.Highest) {
		h.recordOutside(v, 1)
		return
	}
	h.counts[h.layout.index(v)]++
	h.count++
	if v < h.min {
		h.min = v
	}
	if v > h.max {
		h.max = v
	}
	h.moments.add(uint64(v))
}

// RecordN counts n values of v, as n calls of [Histogram.Record] would. It
// does nothing for n <= 0.
func (h *Histogram) RecordN(v, n int64) {
	if n <= 0 {
		return
	}
	if uint64(v) > uint64(h.config.Highest) {
		h.recordOutside(v, n)
		return
	}
	h.counts[h.layout.index(v)] += n
	h.account(v, n)
}

// recordOutside keeps n values that lie outside the range.
func (h *Histogram) recordOutside(v, n int64) {
	if v < 0 {
		h.clockErrs += n
		return
	}
	h.overflow += n
	h.counts[h.layout.index(h.config.Highest)] += n
	h.account(v, n)
}

// account keeps the exact totals for n values of v.
func (h *Histogram) account(v, n int64) {
	h.count += n
	h.min = min(h.min, v)
	h.max = max(h.max, v)
	h.moments.addN(uint64(v), uint64(n))
}

// Config returns the shape, with defaults filled in.
func (h *Histogram) Config() Config { return h.config }

// Count returns how many values were recorded, overflow included and clock
// errors not.
func (h *Histogram) Count() int64 { return h.count }

// Min returns the smallest value recorded, 0 if there is none.
func (h *Histogram) Min() int64 {
	if h.count == 0 {
		return 0
	}
	return h.min
}

// Max returns the largest value recorded, 0 if there is none. It is the value
// itself, not the top of its cell, and may exceed Highest.
func (h *Histogram) Max() int64 { return h.max }

// Overflow returns how many values exceeded Highest. They sit in the top cell,
// so that a quantile that reaches it is only a lower bound. Print it if it is
// not zero.
func (h *Histogram) Overflow() int64 { return h.overflow }

// ClockErrors returns how many negative values were offered. One is enough to
// make a run invalid: some clock went backwards.
func (h *Histogram) ClockErrors() int64 { return h.clockErrs }

// Sum returns the sum of the values, rounded to a float64 from an exact
// integer.
func (h *Histogram) Sum() float64 {
	sum, _ := wide(h.moments.sum[:]).Float64()
	return sum
}

// Mean returns the arithmetic mean, 0 if the histogram is empty.
func (h *Histogram) Mean() float64 { return h.moments.mean(h.count) }

// StdDev returns the standard deviation of the population (divisor n), 0 if
// the histogram is empty. The HdrHistogram libraries give this form, from
// their cells.
func (h *Histogram) StdDev() float64 { return h.moments.stdDev(h.count, h.count) }

// SampleStdDev returns the standard deviation of a sample (divisor n-1), the
// form that wrk prints; 0 below two values.
func (h *Histogram) SampleStdDev() float64 { return h.moments.stdDev(h.count, h.count-1) }

// Exact reports whether minimum, maximum, sum and deviations are those of the
// recorded values. It is false after decoding any value, since the V2 format stores
// cells only, and for whatever such a histogram was merged into; see
// [Histogram.Restore].
func (h *Histogram) Exact() bool { return !h.estimated }
