package stats

import (
	"math"
	"slices"
)

// Warmup decides online when to begin to measure: it is fed one value a second,
// the rate of a closed load or the median response of an open one, and is done
// when the last seconds neither differ between their halves nor drift, several
// seconds in a row. The zero value has the defaults of the method (section 3.2).
//
// It cannot foresee a step after a plateau that is longer than its window;
// [Series.Steady] on the measured window has the last word.
type Warmup struct {
	Window int // values that are looked at; default 20
	InARow int // seconds that must agree; default 3
	Least  int // values before it may end

	recent []float64
	seen   int
	agreed int
}

// Limits of the online rule: never stricter than the first, never laxer than
// the second, between them as the noise asks.
const (
	halvesLeast, halvesMost = 0.02, 0.05
	driftLeast, driftMost   = 0.03, 0.10
)

// Feed takes the next value and reports whether the warm-up may end. It keeps
// looking after that: a later answer may be false again.
func (w *Warmup) Feed(value float64) bool {
	window, inARow := w.Window, w.InARow
	if window == 0 {
		window = 20
	}
	if inARow == 0 {
		inARow = 3
	}
	w.seen++
	w.recent = append(w.recent, value)
	if len(w.recent) > window {
		w.recent = slices.Delete(w.recent, 0, len(w.recent)-window)
	}
	if len(w.recent) < window || !settled(w.recent) {
		w.agreed = 0
		return false
	}
	w.agreed++
	return w.agreed >= inARow && w.seen >= w.Least
}

// Seen is how many values were fed.
func (w *Warmup) Seen() int { return w.seen }

// settled holds a window against both limits. The constants are the errors of a
// difference of medians and of a slope of Theil and Sen for independent noise.
func settled(y []float64) bool {
	n := len(y)
	middle := math.Abs(Median(y))
	if middle == 0 {
		return false
	}
	h := n / 2
	noise := diffNoise(y) / middle
	first, last := Median(y[:h]), Median(y[n-h:])
	halves := math.Abs(last/first - 1)
	drift := math.Abs(TheilSen(y)) * float64(n-1) / middle
	halvesLimit := min(halvesMost, max(halvesLeast, 2*1.2533*noise*math.Sqrt(2/float64(h))))
	driftLimit := min(driftMost, max(driftLeast, 2*1.2*noise*math.Sqrt(12/float64(n))))
	return halves <= halvesLimit && drift <= driftLimit
}
