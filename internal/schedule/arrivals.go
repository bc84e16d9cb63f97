package schedule

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"
)

// MaxRate is the highest rate a segment may have, per second: one arrival in
// each nanosecond, which is the resolution of a plan.
const MaxRate = 1e9

// maxMistakes bounds the mistakes reported for one plan or one replay file.
const maxMistakes = 20

// Process is the kind of randomness of the arrivals of a plan.
type Process int

const (
	// Constant arrivals are as regular as the rate: they hide queueing, and serve
	// the validation of a generator and comparisons with tools that know no other.
	Constant Process = iota
	// Poisson arrivals have independent exponential gaps, as the requests of many
	// independent users have.
	Poisson
)

// String gives the name of p as experiment files spell it.
func (p Process) String() string {
	switch p {
	case Constant:
		return "constant"
	case Poisson:
		return "poisson"
	}
	return fmt.Sprintf("process(%d)", int(p))
}

// MarshalText gives the name of p, and an error for a process that does not exist.
func (p Process) MarshalText() ([]byte, error) {
	if p != Constant && p != Poisson {
		return nil, fmt.Errorf("encode arrival process: unknown process %d", int(p))
	}
	return []byte(p.String()), nil
}

// UnmarshalText takes "constant" or "poisson", and is an error for anything else.
func (p *Process) UnmarshalText(text []byte) error {
	switch string(text) {
	case "constant":
		*p = Constant
	case "poisson":
		*p = Poisson
	default:
		return fmt.Errorf("arrival process %q: want constant or poisson", text)
	}
	return nil
}

// Segment is a stretch of time in which the rate changes linearly.
type Segment struct {
	// From and To are the rates at its beginning and end, per second.
	From float64 `json:"from"`
	To   float64 `json:"to"`
	// Duration is its length. Zero, allowed in the last segment only, means
	// without end, and then From and To are equal.
	Duration time.Duration `json:"duration_ns"`
}

// Arrivals describes the timetable of an open model. The zero value plans no
// arrivals at all, which is the closed model.
type Arrivals struct {
	// Process says how arrivals scatter around the rate of the Segments. A replay
	// ignores it.
	Process Process `json:"process"`
	// Segments is the rate function, from the origin of the load on: a flat rate
	// or a ramp is one segment, steps are many.
	Segments []Segment `json:"segments,omitempty"`
	// Times are planned times to replay as they are, in nanoseconds from the
	// origin, ascending. They exclude Segments. They are read only, and shared.
	Times []int64 `json:"times_ns,omitempty"`
	// Seed starts the random numbers of a Poisson plan.
	Seed uint64 `json:"seed,omitempty"`
}

// Rate plans arrivals at a flat rate per second, without end.
func Rate(perSecond float64) Arrivals {
	return Arrivals{Segments: []Segment{{From: perSecond, To: perSecond}}}
}

// Ramp plans arrivals at a rate that goes from a to b, both per second, in d,
// and ends there.
func Ramp(a, b float64, d time.Duration) Arrivals {
	return Arrivals{Segments: []Segment{{From: a, To: b, Duration: d}}}
}

// Steps plans arrivals at the given rates per second, each held for the given
// time, one after the other. The plan ends with the last step.
func Steps(each time.Duration, perSecond ...float64) Arrivals {
	segments := make([]Segment, len(perSecond))
	for i, rate := range perSecond {
		segments[i] = Segment{From: rate, To: rate, Duration: each}
	}
	return Arrivals{Segments: segments}
}

// Replay plans arrivals at the given times, in nanoseconds from the origin of
// the load, ascending. It keeps times and does not copy them.
func Replay(times []int64) Arrivals {
	return Arrivals{Times: times}
}

// Open reports whether a plans arrivals, and so describes an open model.
func (a Arrivals) Open() bool {
	return len(a.Segments) > 0 || len(a.Times) > 0
}

// Validate reports every mistake in a, joined, and nil if there is none. The
// zero value is valid.
func (a Arrivals) Validate() error {
	var errs []error
	if a.Process != Constant && a.Process != Poisson {
		errs = append(errs, fmt.Errorf("arrivals: unknown process %d", int(a.Process)))
	}
	if len(a.Segments) > 0 && len(a.Times) > 0 {
		errs = append(errs, errors.New("arrivals: segments and replayed times exclude each other"))
	}
	errs = append(errs, checkSegments(a.Segments)...)
	errs = append(errs, checkTimes(a.Times)...)
	return errors.Join(bounded(errs)...)
}

// checkSegments gives the mistakes of each segment, and of all together.
func checkSegments(segments []Segment) (errs []error) {
	var length time.Duration
	for i, s := range segments {
		for _, err := range s.check(i == len(segments)-1) {
			errs = append(errs, fmt.Errorf("arrivals segment %d: %w", i+1, err))
		}
		if s.Duration > forever-length {
			errs = append(errs, fmt.Errorf("arrivals segment %d: the plan gets longer than %v", i+1, time.Duration(forever)))
			return errs
		}
		length += max(s.Duration, 0)
	}
	if len(segments) > 0 && len(errs) == 0 && idle(segments) {
		errs = append(errs, errors.New("arrivals: every rate is zero, so nothing would ever be sent"))
	}
	return errs
}

// check gives the mistakes of one segment.
func (s Segment) check(last bool) (errs []error) {
	for _, rate := range []float64{s.From, s.To} {
		if !(rate >= 0 && rate <= MaxRate) {
			errs = append(errs, fmt.Errorf("rate %v/s: want 0 to %v", rate, float64(MaxRate)))
		}
	}
	switch {
	case s.Duration < 0:
		errs = append(errs, fmt.Errorf("duration %v is negative", s.Duration))
	case s.Duration == 0 && !last:
		errs = append(errs, errors.New("no duration: only the last segment may be without end"))
	case s.Duration == 0 && s.From != s.To:
		errs = append(errs, fmt.Errorf("a ramp from %v/s to %v/s needs a duration", s.From, s.To))
	}
	return errs
}

// idle reports whether no segment has a rate.
func idle(segments []Segment) bool {
	return !slices.ContainsFunc(segments, func(s Segment) bool { return s.From > 0 || s.To > 0 })
}

// checkTimes gives the mistakes of replayed times.
func checkTimes(times []int64) (errs []error) {
	before := int64(0)
	for i, at := range times {
		if at < before {
			errs = append(errs, fmt.Errorf("arrivals time %d: %v is before %v", i+1, time.Duration(at), time.Duration(before)))
		}
		if len(errs) > maxMistakes {
			break
		}
		before = max(before, at)
	}
	return errs
}

// bounded cuts a list of mistakes that nobody would read to its end.
func bounded(errs []error) []error {
	if len(errs) <= maxMistakes {
		return errs
	}
	return append(errs[:maxMistakes:maxMistakes], fmt.Errorf("more than %d mistakes, the rest is not shown", maxMistakes))
}

// Length returns how long the plan is, and false if it has no end. A replay is
// as long as its last time; the zero value has the length 0.
func (a Arrivals) Length() (length time.Duration, finite bool) {
	if n := len(a.Times); n > 0 {
		return time.Duration(a.Times[n-1]), true
	}
	for _, s := range a.Segments {
		if s.Duration == 0 {
			return 0, false
		}
		length += s.Duration
	}
	return length, true
}

// Expected returns Λ(until), the number of arrivals expected before until. For
// constant plans [Arrivals.Count] is the whole number that goes with it; for a
// replay it is exact.
func (a Arrivals) Expected(until time.Duration) float64 {
	if len(a.Times) > 0 {
		return float64(timesBefore(a.Times, int64(until)))
	}
	return ratePieces(a.Segments).expected(int64(until))
}

// Count returns how many arrivals are planned before until, exactly, for
// constant plans and replays. A Poisson plan does not know without being walked
// through; then ok is false.
func (a Arrivals) Count(until time.Duration) (n int64, ok bool) {
	if len(a.Times) > 0 {
		return timesBefore(a.Times, int64(until)), true
	}
	if a.Process != Constant {
		return 0, false
	}
	return ratePieces(a.Segments).count(int64(until)), true
}

// RateAt returns the planned rate at a time in nanoseconds from the origin, per
// second. It is 0 before the origin and after the end of the plan. Where two
// segments meet, the later one counts. A replay has no rate function; its rate
// is the number of arrivals in the second around the time.
func (a Arrivals) RateAt(at int64) float64 {
	if len(a.Times) > 0 {
		half := int64(time.Second / 2)
		from, to := max(at, math.MinInt64+half)-half, min(at, math.MaxInt64-half)+half
		return float64(timesBefore(a.Times, to) - timesBefore(a.Times, from))
	}
	return ratePieces(a.Segments).rateAt(at)
}

// timesBefore counts the ascending times that are before at.
func timesBefore(times []int64, at int64) int64 {
	return int64(sort.Search(len(times), func(i int) bool { return times[i] >= at }))
}
