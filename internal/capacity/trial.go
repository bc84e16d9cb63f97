package capacity

import (
	"math"
	"time"

	"prony/internal/stats"
)

// What is added to the goals of the user, and the rests between trials (method,
// section 5.1).
const (
	// LeastAnswered is the share of the planned requests that must be answered
	// well.
	LeastAnswered = 0.99
	// Pause is the rest between trials, once nothing is in flight any more.
	Pause = 2 * time.Second
	// RecoverWithin is how long to wait for a system to come back after a trial
	// that failed. One that does not is a finding of its own.
	RecoverWithin = 30 * time.Second
)

// BacklogGrows reports whether more requests are in flight in the last fifth of
// a trial than in its second fifth, beyond what chance does: then the rate is not
// sustained, whatever the percentiles say.
func BacklogGrows(second, last float64) bool { return last > 1.5*second+10 }

// BacklogLimit is the number of requests in flight at which a trial is given up
// as failed: λ·max(1 s, 10·SLO), for the longest time that a goal allows.
func BacklogLimit(rate float64, slo time.Duration) float64 {
	return rate * max(time.Second, 10*slo).Seconds()
}

// Recovered reports whether a median at a low rate is within 10 % of its first
// value.
func Recovered(first, now float64) bool { return math.Abs(now-first) <= 0.1*first }

// Steps are evenly spaced rates from 10 % to 110 % of a throughput, for the whole
// curve of throughput and latency. The usual number is 8, of 30 s each. Fewer
// than 2 are taken for 2.
func Steps(throughput float64, n int) []float64 {
	n = max(n, 2)
	rates := make([]float64, n)
	for i := range rates {
		rates[i] = throughput * (0.1 + float64(i)/float64(n-1))
	}
	return rates
}

// AIMD hovers at the limit: a step up after each trial that passed, a cut after
// each that failed (additive increase, multiplicative decrease).
type AIMD struct {
	Start float64 // rate of the first trial
	Step  float64 // usually 5 % of the throughput of the probe
	Cut   float64 // factor after a failure; default 0.8

	rate   float64
	begun  bool
	passed float64 // last rate that passed, 0 after a failure
	tops   []float64
}

// topsUsed is how many of the last rates before a failure make the capacity.
const topsUsed = 10

// Next is the rate to try.
func (a *AIMD) Next() float64 {
	if !a.begun {
		return a.Start
	}
	return a.rate
}

// Record takes the outcome of the rate that Next gave.
func (a *AIMD) Record(passed bool) {
	a.rate, a.begun = a.Next(), true
	if passed {
		a.passed = a.rate
		a.rate += a.Step
		return
	}
	if a.passed > 0 {
		a.tops = append(a.tops, a.passed)
		a.tops = a.tops[max(0, len(a.tops)-topsUsed):]
	}
	cut := a.Cut
	if cut == 0 {
		cut = 0.8
	}
	a.passed, a.rate = 0, a.rate*cut
}

// Capacity is the median of the last 10 rates that passed just before one that
// failed; 0 before the first failure.
func (a *AIMD) Capacity() float64 { return stats.Median(a.tops) }
