package stats

import "math"

// Class says how a window behaved.
type Class string

const (
	Flat        Class = "flat"        // steady throughout
	Warming     Class = "warmup"      // worse before it became steady
	Slowdown    Class = "slowdown"    // better before it became steady
	Unsteady    Class = "unsteady"    // its last level did not last
	Oscillating Class = "oscillating" // it changed to and fro
	TooShort    Class = "too short"   // to be judged

	// Of several runs that do not agree: good if each became steady at its best
	// level, bad otherwise (after Barrett et al., 2017).
	GoodInconsistent Class = "inconsistent, good"
	BadInconsistent  Class = "inconsistent, bad"
)

// Overall is the class of several runs of the same thing. Those that are
// TooShort have no say.
func Overall(runs []Class) Class {
	overall, good, same := TooShort, true, true
	for _, c := range runs {
		if c == TooShort {
			continue
		}
		if overall == TooShort {
			overall = c
		}
		same = same && c == overall
		good = good && (c == Flat || c == Warming)
	}
	switch {
	case same:
		return overall
	case good:
		return GoodInconsistent
	}
	return BadInconsistent
}

// Levels that count as the same, as a ratio (method, section 3.3).
const (
	RateTolerance = 0.02 // throughput, p50
	TailTolerance = 0.05 // p99
)

const (
	seriesLeast    = 30   // values of a series that can be judged
	steadyLeast    = 20   // values of a steady part
	reversalsLeast = 3    // changes of direction of what oscillates
	cutShareMost   = 0.25 // of the window that a warm-up may take
)

// Steadiness is the answer for one series.
type Steadiness struct {
	Class Class
	// Trend is, of a series that is not flat, Warming or Slowdown: whether what
	// came before the last level was worse or better.
	Trend Class
	// From is where the steady part begins, from 0.
	From    int
	Medians []float64 // of the segments
	Changes
}

// Series says how to read values: by how much levels may differ and still be
// the same (a ratio, [RateTolerance] by default), and whether less is better.
type Series struct {
	Tolerance     float64
	LowerIsBetter bool
}

// Steady classifies a window of one-second values, without its first and last
// part seconds, in the manner of Barrett et al. (2017): segments are represented
// by their medians, and the steady part is the last one with all before it that
// are within the tolerance of it. Fewer than 30 values are TooShort.
func (s Series) Steady(y []float64) Steadiness {
	if len(y) < seriesLeast {
		return Steadiness{Class: TooShort}
	}
	if s.Tolerance == 0 {
		s.Tolerance = RateTolerance
	}
	r := Steadiness{Changes: ChangePoints(y)}
	parts := segments(len(y), r.Points)
	for _, p := range parts {
		r.Medians = append(r.Medians, Median(y[p[0]:p[1]]))
	}
	last := len(parts) - 1
	k := last
	for k > 0 && !s.differ(r.Medians[k-1], r.Medians[last]) {
		k--
	}
	r.From = parts[k][0]
	r.Class, r.Trend = s.class(y, r)
	return r
}

// differ reports whether two levels are further apart than the tolerance.
func (s Series) differ(a, b float64) bool {
	return math.Abs(a-b) > s.Tolerance*math.Abs(b)
}

func (s Series) class(y []float64, r Steadiness) (class, trend Class) {
	if r.From > 0 {
		trend = Warming
		if (Median(y[:r.From]) > Median(y[r.From:])) != s.LowerIsBetter {
			trend = Slowdown
		}
	}
	switch {
	case s.reversals(r.Medians) >= reversalsLeast:
		return Oscillating, trend
	case r.From == 0:
		return Flat, ""
	case len(y)-r.From < steadyLeast:
		return Unsteady, trend
	}
	return trend, trend
}

// reversals counts the changes of direction among the steps that matter.
func (s Series) reversals(medians []float64) int {
	n, before := 0, 0.0
	for i := 1; i < len(medians); i++ {
		if !s.differ(medians[i-1], medians[i]) {
			continue
		}
		step := sign(medians[i] - medians[i-1])
		if before != 0 && step != before {
			n++
		}
		before = step
	}
	return n
}

// Usable reports whether the window can be analysed from its steady part on: a
// warm-up of at most a quarter of the n values. The report states the cut.
func (s Steadiness) Usable(n int) bool {
	return s.Class == Flat || s.Class == Warming && float64(s.From) <= cutShareMost*float64(n)
}

// mserBatch is the number of values of a batch of MSER-5.
const mserBatch = 5

// MSER5 is where to cut a series so that the standard error of what remains is
// least (White, 1997; Spratt, 1998), a second opinion on [Series.Steady]. Ok is
// false when the best cut is at the bound of half the series: then there is no
// point of truncation, and the series is to be taken for unsteady.
func MSER5(y []float64) (cut int, ok bool) {
	m := len(y) / mserBatch
	batches := make([]float64, m)
	for j := range batches {
		batches[j], _ = moments(y[j*mserBatch : (j+1)*mserBatch])
	}
	least, best := math.Inf(1), 0
	for d := 0; d <= m/2; d++ {
		rest := batches[d:]
		_, variance := moments(rest)
		n := float64(len(rest))
		if e := variance * (n - 1) / (n * n); e < least {
			least, best = e, d
		}
	}
	return best * mserBatch, m >= 2 && best < m/2
}
