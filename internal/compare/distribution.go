package compare

import (
	"fmt"
	"iter"
	"math"

	"prony/internal/hdr"
	"prony/internal/result"
)

// Distribution is how all answers of one side differ from all of the other:
// where the curves lie apart, and by how much. It tells of the good answers
// only, and its runs are merged, not averaged.
type Distribution struct {
	CountA int64 `json:"count_a"`
	CountB int64 `json:"count_b"`
	// Shifts are the quantiles of both, as far as their tails hold 10 requests.
	Shifts []Shift `json:"shifts"`
	// Faster is the probability that a request of B is faster than one of A, ties
	// half.
	Faster float64 `json:"faster"`
	// Apart is the largest distance between the two curves (Kolmogorov and
	// Smirnov), a share, and ApartAtUS the time at which it is.
	Apart     float64 `json:"apart"`
	ApartAtUS float64 `json:"apart_at_us"`
}

// Shift is one quantile on both sides, microseconds.
type Shift struct {
	Quantile string  `json:"quantile"`
	A        float64 `json:"a_us"`
	B        float64 `json:"b_us"`
	Ratio    float64 `json:"ratio"`
	// Low and High are the interval of the ratio from the values of the runs,
	// whose coverage is Coverage; without one, 0.
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Coverage float64 `json:"coverage"`
}

func shiftQuantiles() []hdr.Quantile {
	return []hdr.Quantile{100_000, 250_000, hdr.P50, hdr.P75, hdr.P90, hdr.P95, hdr.P99, hdr.P999, hdr.P9999}
}

// distribution is nil where a side has no answers, or their histograms cannot be
// merged; then it warns.
func (m *match) distribution(alpha float64) *Distribution {
	a, errA := merged(results(m.a))
	b, errB := merged(results(m.b))
	for _, err := range []error{errA, errB} {
		if err != nil {
			m.c.Warnings = append(m.c.Warnings, "the whole distributions were not compared: "+err.Error())
			return nil
		}
	}
	if a == nil || b == nil || a.Config() != b.Config() {
		return nil
	}
	d := &Distribution{CountA: a.Count(), CountB: b.Count(), Shifts: []Shift{}}
	for _, q := range shiftQuantiles() {
		if min(q.Beyond(a.Count()), q.Beyond(b.Count())) < tailSamples {
			break
		}
		s := Shift{Quantile: q.String(), A: float64(a.Value(q)) / 1000, B: float64(b.Value(q)) / 1000}
		if s.A > 0 {
			s.Ratio = s.B / s.A
		}
		m.interval(&s, alpha)
		d.Shifts = append(d.Shifts, s)
	}
	d.curves(a, b)
	return d
}

// interval takes the quantile of each run. The ratio is that of all requests
// merged, and an interval that does not hold it would say less than none.
func (m *match) interval(s *Shift, alpha float64) {
	q, err := Parse(s.Quantile)
	if err != nil {
		return
	}
	if x := m.metric(q, alpha); x.Coverage > 0 && x.Low <= s.Ratio && s.Ratio <= x.High {
		s.Low, s.High, s.Coverage = x.Low, x.High, x.Coverage
	}
}

// merged adds up the response times of all runs.
func merged(runs []*result.Run) (*hdr.Histogram, error) {
	var sum *hdr.Histogram
	for _, r := range runs {
		h := r.Load.Latency.Response
		if h.Empty() {
			continue
		}
		if sum == nil {
			sum = h.Copy()
			continue
		}
		if err := sum.Merge(h.Histogram); err != nil {
			return nil, fmt.Errorf("merge the response times: %w", err)
		}
	}
	return sum, nil
}

// step is how many requests of each side end in one cell.
type step struct {
	cell hdr.Cell
	a, b int64
}

// curves walks both histograms at once.
func (d *Distribution) curves(a, b *hdr.Histogram) {
	nA, nB := float64(a.Count()), float64(b.Count())
	var belowA, belowB, wins float64
	for _, s := range together(a, b) {
		x, y := float64(s.a), float64(s.b)
		wins += x * (belowB + y/2)
		belowA, belowB = belowA+x, belowB+y
		if apart := math.Abs(belowA/nA - belowB/nB); apart > d.Apart+1e-12 {
			d.Apart, d.ApartAtUS = apart, float64(s.cell.Highest)/1000
		}
	}
	d.Faster = wins / nA / nB
}

// together merges the cells of two histograms of the same shape, in their order.
func together(a, b *hdr.Histogram) []step {
	var all []step
	nextB, stop := iter.Pull2(b.Cells())
	defer stop()
	cellB, nB, more := nextB()
	for cell, n := range a.Cells() {
		for more && cellB.Lowest < cell.Lowest {
			all = append(all, step{cell: cellB, b: nB})
			cellB, nB, more = nextB()
		}
		s := step{cell: cell, a: n}
		if more && cellB.Lowest == cell.Lowest {
			s.b = nB
			cellB, nB, more = nextB()
		}
		all = append(all, s)
	}
	for ; more; cellB, nB, more = nextB() {
		all = append(all, step{cell: cellB, b: nB})
	}
	return all
}
