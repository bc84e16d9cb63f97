package capacity

import "time"

// Bound is what the trials of a load say about it.
type Bound string

const (
	Undecided Bound = "undecided"
	Lower     Bound = "lower" // the load holds
	Upper     Bound = "upper" // it does not
)

// Goal is when a load holds, in the terms of MLRsearch (RFC 9971).
type Goal struct {
	Duration time.Duration // of a trial of full length
	Sum      time.Duration // of trials that decide
	Loss     float64       // share lost in a trial that still passes
	Exceed   float64       // share of the time that may exceed the loss, below 1
}

// Measured is one trial of a load.
type Measured struct {
	Duration time.Duration
	Loss     float64
}

// rounding absorbs the error of sums of floating point seconds.
const rounding = 1e-9

// Classify follows the code of RFC 9971, which its own example table leaves at
// two points: short trials with too much loss count as far as short trials
// without do not balance them, and time that was not measured yet counts for
// neither side.
func (g Goal) Classify(trials []Measured) Bound {
	var full, short struct{ high, low float64 }
	for _, t := range trials {
		sum := &short
		if t.Duration >= g.Duration {
			sum = &full
		}
		if t.Loss > g.Loss {
			sum.high += t.Duration.Seconds()
		} else {
			sum.low += t.Duration.Seconds()
		}
	}
	balance := g.Exceed / (1 - g.Exceed)
	high := full.high + max(0, short.high-balance*short.low)
	whole := max(full.low+high, g.Sum.Seconds())
	limit := g.Exceed*whole + rounding
	pessimistic, optimistic := whole-full.low <= limit, high <= limit
	switch {
	case pessimistic && optimistic:
		return Lower
	case !pessimistic && !optimistic:
		return Upper
	}
	return Undecided
}
