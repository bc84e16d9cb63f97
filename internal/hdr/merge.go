package hdr

import (
	"fmt"
	"math"
	"math/big"
	"slices"
)

// Merge adds the values of o to h. The result is the same, counter by counter,
// as if h had recorded them itself, in any order of merging. It fails and
// changes nothing if the two have different shapes, or if the total would
// exceed 2^63-1 values, which only decoded input can bring about.
func (h *Histogram) Merge(o *Histogram) error {
	if h.config != o.config {
		return fmt.Errorf("merge histograms: shapes differ, %+v and %+v", h.config, o.config)
	}
	if o.count > math.MaxInt64-h.count {
		return fmt.Errorf("merge histograms: %d and %d values exceed the range of a count", h.count, o.count)
	}
	h.overflow += o.overflow
	h.clockErrs += o.clockErrs
	if o.count == 0 {
		return nil
	}
	from, to := o.firstIndex(), o.lastIndex()+1
	into := h.counts[from:to]
	for i, n := range o.cells()[from:to] {
		if n != 0 { // adding zero would make untouched pages resident
			into[i] += n
		}
	}
	h.count += o.count
	h.min = min(h.min, o.min)
	h.max = max(h.max, o.max)
	h.moments.merge(&o.moments)
	h.estimated = h.estimated || o.estimated
	return nil
}

// Reset empties the histogram for reuse. It clears only the cells between the
// smallest and the largest value, so that it costs what was used.
func (h *Histogram) Reset() {
	if h.count > 0 {
		clear(h.counts[h.firstIndex() : h.lastIndex()+1])
	}
	*h = Histogram{layout: h.layout, config: h.config, counts: h.counts, min: math.MaxInt64}
}

// Copy returns an independent copy.
func (h *Histogram) Copy() *Histogram {
	c := *h
	c.packed, c.counts = nil, make([]int64, h.layout.length)
	if h.count > 0 {
		from, to := h.firstIndex(), h.lastIndex()+1
		copy(c.counts[from:to], h.cells()[from:to])
	}
	return &c
}

// Equal reports whether h and o have the same shape, counters and totals.
func (h *Histogram) Equal(o *Histogram) bool {
	if h.config != o.config || h.Summary() != o.Summary() {
		return false
	}
	if h.count == 0 {
		return true
	}
	from, to := h.firstIndex(), h.lastIndex()+1
	return slices.Equal(h.cells()[from:to], o.cells()[from:to])
}

// Summary is what the V2 format does not carry: the exact totals beside the
// cells. Store it with an encoded histogram and give it to
// [Histogram.Restore] after decoding. Values are in the histogram's unit; the
// sums are decimal integers, since they may exceed 64 bits.
type Summary struct {
	Count       int64  `json:"count"`
	Min         int64  `json:"min"`
	Max         int64  `json:"max"`
	Overflow    int64  `json:"overflow,omitempty"`
	ClockErrors int64  `json:"clock_errors,omitempty"`
	Sum         string `json:"sum"`
	SumSquares  string `json:"sum_squares"`
}

// Summary returns the exact totals.
func (h *Histogram) Summary() Summary {
	return Summary{
		Count:       h.count,
		Min:         h.Min(),
		Max:         h.max,
		Overflow:    h.overflow,
		ClockErrors: h.clockErrs,
		Sum:         wide(h.moments.sum[:]).String(),
		SumSquares:  wide(h.moments.squares[:]).String(),
	}
}

// Restore gives a decoded histogram its exact totals back. It fails and
// changes nothing if s does not fit the cells: another count, or an extreme
// outside the outermost cells.
func (h *Histogram) Restore(s Summary) error {
	m, err := parseMoments(s)
	if err != nil {
		return fmt.Errorf("restore histogram totals: %w", err)
	}
	if err := h.checkSummary(s); err != nil {
		return fmt.Errorf("restore histogram totals: %w", err)
	}
	h.overflow, h.clockErrs, h.estimated = s.Overflow, s.ClockErrors, false
	if h.count > 0 {
		h.min, h.max, h.moments = s.Min, s.Max, m
	}
	return nil
}

// checkSummary reports how s contradicts the cells.
func (h *Histogram) checkSummary(s Summary) error {
	switch {
	case s.Count != h.count:
		return fmt.Errorf("%d values in the summary, %d in the cells", s.Count, h.count)
	case s.Overflow < 0 || s.Overflow > s.Count || s.ClockErrors < 0:
		return fmt.Errorf("impossible overflow %d or clock errors %d", s.Overflow, s.ClockErrors)
	case h.count == 0:
		return nil
	case s.Min < 0 || h.clampedIndex(s.Min) != h.firstIndex():
		return fmt.Errorf("minimum %d is not in the lowest cell", s.Min)
	case s.Max < s.Min || h.clampedIndex(s.Max) != h.lastIndex():
		return fmt.Errorf("maximum %d is not in the highest cell", s.Max)
	}
	return nil
}

// parseMoments reads the sums of s and checks that values between the
// extremes can have them.
func parseMoments(s Summary) (moments, error) {
	var m moments
	sum, ok := parseWide(s.Sum, m.sum[:])
	if !ok {
		return m, fmt.Errorf("sum %.60q is not a whole number in range", s.Sum)
	}
	squares, ok := parseWide(s.SumSquares, m.squares[:])
	if !ok {
		return m, fmt.Errorf("sum of squares %.60q is not a whole number in range", s.SumSquares)
	}
	n := big.NewInt(s.Count)
	low := new(big.Int).Mul(n, big.NewInt(s.Min))
	high := new(big.Int).Mul(n, big.NewInt(s.Max))
	if sum.Cmp(low) < 0 || sum.Cmp(high) > 0 {
		return m, fmt.Errorf("sum %s is not that of %d values from %d to %d", s.Sum, s.Count, s.Min, s.Max)
	}
	// n*S2 >= S1^2 for any values (Cauchy-Schwarz); else the variance would
	// be negative.
	if squares.Mul(squares, n).Cmp(sum.Mul(sum, sum)) < 0 {
		return m, fmt.Errorf("sum of squares %s is too small for the sum %s", s.SumSquares, s.Sum)
	}
	return m, nil
}

// parseWide reads a decimal integer into words. The length is checked first
// because the time to parse grows with its square.
func parseWide(s string, words []uint64) (*big.Int, bool) {
	if len(s) > 60 {
		return nil, false
	}
	x, ok := new(big.Int).SetString(s, 10)
	if !ok || !split(x, words) {
		return nil, false
	}
	return x, true
}
