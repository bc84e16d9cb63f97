package schedule

import (
	"errors"
	"fmt"
	"time"
)

// Distribution is the kind of randomness of a think time.
type Distribution int

const (
	// Fixed think times are all equal to the mean.
	Fixed Distribution = iota
	// Exponential think times have no memory, like those of many different users.
	Exponential
	// Uniform think times are anywhere within the spread of the mean.
	Uniform
)

// String gives the name of d as experiment files spell it.
func (d Distribution) String() string {
	switch d {
	case Fixed:
		return "constant"
	case Exponential:
		return "exponential"
	case Uniform:
		return "uniform"
	}
	return fmt.Sprintf("distribution(%d)", int(d))
}

// MarshalText gives the name of d, and an error for one that does not exist.
func (d Distribution) MarshalText() ([]byte, error) {
	if d < Fixed || d > Uniform {
		return nil, fmt.Errorf("encode think time: unknown distribution %d", int(d))
	}
	return []byte(d.String()), nil
}

// UnmarshalText takes "constant", "exponential" or "uniform", and is an error
// for anything else.
func (d *Distribution) UnmarshalText(text []byte) error {
	switch string(text) {
	case "constant":
		*d = Fixed
	case "exponential":
		*d = Exponential
	case "uniform":
		*d = Uniform
	default:
		return fmt.Errorf("think time distribution %q: want constant, exponential or uniform", text)
	}
	return nil
}

// maxThink bounds the mean, so that mean and spread add up to a duration.
const maxThink = time.Duration(forever / 2)

// Think is the time a user of a closed model waits between an answer and the
// next request. The zero value does not wait.
type Think struct {
	// Mean is the mean think time.
	Mean time.Duration `json:"mean_ns"`
	// Distribution says how think times scatter around the mean.
	Distribution Distribution `json:"distribution"`
	// Spread is how far a Uniform think time may be from the mean, to either
	// side, and at most the mean. The others have none.
	Spread time.Duration `json:"spread_ns,omitempty"`
}

// Validate reports every mistake in t, joined, and nil if there is none.
func (t Think) Validate() error {
	var errs []error
	if t.Distribution < Fixed || t.Distribution > Uniform {
		errs = append(errs, fmt.Errorf("think time: unknown distribution %d", int(t.Distribution)))
	}
	if t.Mean < 0 || t.Mean > maxThink {
		errs = append(errs, fmt.Errorf("think time: mean %v: want 0 to %v", t.Mean, maxThink))
	}
	if t.Spread < 0 || t.Spread > max(t.Mean, 0) {
		errs = append(errs, fmt.Errorf("think time: spread %v: want 0 to the mean, %v", t.Spread, t.Mean))
	}
	if t.Spread != 0 && t.Distribution != Uniform {
		errs = append(errs, errors.New("think time: only a uniform one has a spread"))
	}
	return errors.Join(errs...)
}

// Next draws the next think time from r, in nanoseconds. It is never negative
// for a valid t. A Fixed one leaves r alone; the others take from it.
func (t Think) Next(r *SplitMix64) int64 {
	switch t.Distribution {
	case Exponential:
		return roundHalfUp(r.Exp() * float64(t.Mean))
	case Uniform:
		return int64(t.Mean-t.Spread) + int64(r.Uint64n(2*uint64(t.Spread)+1))
	}
	return int64(t.Mean)
}
