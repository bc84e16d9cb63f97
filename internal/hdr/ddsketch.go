package hdr

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// DDSketch is a sketch with a bound on the relative error, for exchange with
// systems that use one. It is not for recording or verdicts: a [Histogram] has
// a tighter bound and takes every value of its range. Source: Masson, Rim and
// Lee, "DDSketch", VLDB 2019.
//
// Values x > 0 fall into bin ceil(log_gamma x) with gamma = (1+alpha)/(1-alpha).
type DDSketch struct {
	Bins      map[int]int64 // counts by index
	Zero      int64         // values too small to index
	Collapsed bool          // the source had merged its low bins: low quantiles are without guarantee

	alpha    float64
	gamma    float64
	logGamma float64
}

// NewDDSketch returns an empty sketch with relative accuracy alpha, which must
// lie between 0 and 1; 0.01 is usual.
func NewDDSketch(alpha float64) (*DDSketch, error) {
	gamma := (1 + alpha) / (1 - alpha)
	if !(alpha > 0 && alpha < 1) || gamma <= 1 || math.IsInf(gamma, 1) {
		return nil, fmt.Errorf("sketch: relative accuracy %g must lie between 0 and 1", alpha)
	}
	return &DDSketch{
		Bins:     map[int]int64{},
		alpha:    alpha,
		gamma:    gamma,
		logGamma: math.Log1p(2 * alpha / (1 - alpha)),
	}, nil
}

// Alpha returns the relative accuracy.
func (s *DDSketch) Alpha() float64 { return s.alpha }

// Gamma returns the ratio of the bounds of a bin.
func (s *DDSketch) Gamma() float64 { return s.gamma }

// Index returns the bin of x, which must be positive.
func (s *DDSketch) Index(x float64) int {
	return int(math.Ceil(math.Log(x) / s.logGamma))
}

// Value returns the value that stands for a bin, within alpha of each value in
// it.
func (s *DDSketch) Value(index int) float64 {
	return 2 * math.Exp(float64(index)*s.logGamma) / (s.gamma + 1)
}

// Merge adds the counts of o. It fails if the accuracies differ.
func (s *DDSketch) Merge(o *DDSketch) error {
	if s.gamma != o.gamma {
		return fmt.Errorf("merge sketches: accuracies differ, %g and %g", s.alpha, o.alpha)
	}
	for index, n := range o.Bins {
		s.Bins[index] += n
	}
	s.Zero += o.Zero
	s.Collapsed = s.Collapsed || o.Collapsed
	return nil
}

// DDSketch exports the histogram with relative accuracy alpha. Each cell goes
// to the bin of its middle, which adds at most half a cell (0.05 % with three
// digits) to the error.
func (h *Histogram) DDSketch(alpha float64) (*DDSketch, error) {
	s, err := NewDDSketch(alpha)
	if err != nil {
		return nil, err
	}
	for cell, n := range h.Cells() {
		if v := cell.middle(); cell.Lowest == 0 {
			s.Zero += n
		} else {
			s.Bins[s.Index(float64(v))] += n
		}
	}
	return s, nil
}

// Histogram imports the sketch: the count of each bin is recorded at the
// value that stands for it. Totals are estimates, so [Histogram.Exact] is
// false. It fails on an impossible shape, a negative count, or more than 2^63-1
// values.
func (s *DDSketch) Histogram(c Config) (*Histogram, error) {
	h, err := New(c)
	if err != nil {
		return nil, err
	}
	h.estimated = true
	if s.Zero < 0 {
		return nil, fmt.Errorf("import sketch: %d values near zero", s.Zero)
	}
	h.RecordN(0, s.Zero)
	for _, index := range slices.Sorted(maps.Keys(s.Bins)) {
		n := s.Bins[index]
		if n < 0 || n > math.MaxInt64-h.count {
			return nil, fmt.Errorf("import sketch: bin %d holds %d values", index, n)
		}
		v := min(math.Round(s.Value(index)), math.MaxInt64/2)
		h.RecordN(int64(v), n)
	}
	return h, nil
}
