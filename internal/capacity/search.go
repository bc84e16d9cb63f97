package capacity

import (
	"errors"
	"math"
	"time"
)

// Config says how to search. The zero value is the default of the method.
type Config struct {
	// Start is the rate of the first trial, per second; 0 takes a tenth of what
	// the probe gives.
	Start float64
	// Most is a rate that is never exceeded; 0 is no bound.
	Most float64
	// Within is how close the bounds must come, a ratio. Default 0.02.
	Within float64
	// Trial is the length of a trial, Settle that of the time before it at the
	// same load, Confirm of a trial that confirms. Default 10 s, 2 s, 30 s.
	Trial, Settle, Confirm time.Duration
	// Connections of the probe. Default 64.
	Connections int
}

func (c Config) defaults() Config {
	set := func(d *time.Duration, usual time.Duration) {
		if *d == 0 {
			*d = usual
		}
	}
	set(&c.Trial, 10*time.Second)
	set(&c.Settle, 2*time.Second)
	set(&c.Confirm, 30*time.Second)
	if c.Within == 0 {
		c.Within = 0.02
	}
	if c.Connections == 0 {
		c.Connections = 64
	}
	return c
}

// Phase of a search.
type Phase string

const (
	Probe   Phase = "probe"   // closed loop, for a first idea
	Bracket Phase = "bracket" // doubling, one trial each
	Bisect  Phase = "bisect"  // best of three
	Confirm Phase = "confirm" // at most 1 of 5 fails
)

// Constants of the course.
const (
	probeShare    = 0.1 // of the probe's rate, to start with
	leastRate     = 10  // per second
	descentFactor = 4
	descentsMost  = 3
	votes         = 2 // of three decide
	confirmTrials = 5
	confirmExceed = 0.2
	refusalsMost  = 20
)

// Trial is what to run next.
type Trial struct {
	Number int   `json:"number"` // from 1
	Phase  Phase `json:"phase"`
	// Rate per second of an open load; 0 in the probe, which is closed with
	// Connections.
	Rate        float64       `json:"rate"`
	Connections int           `json:"connections,omitempty"`
	Settle      time.Duration `json:"settle_ns"`
	Duration    time.Duration `json:"duration_ns"`
	// Recover is the rate at which the median must come back to its first value
	// before this trial, since the last one failed; 0: no need. See [Recovered].
	Recover float64 `json:"recover,omitempty"`
}

// Outcome is how a trial went.
type Outcome struct {
	Passed bool `json:"passed"`
	// Invalid says why the generator was not fit; the trial says nothing then.
	Invalid string `json:"invalid,omitempty"`
	// Throughput is that of the probe, per second.
	Throughput float64 `json:"throughput,omitempty"`
	// Reason of a failure: the goal that was not met.
	Reason string `json:"reason,omitempty"`
}

// End is how a search ended.
type End string

const (
	Found            End = "found"
	AtMost           End = "at most"           // the highest rate allowed holds
	BelowMinimum     End = "below minimum"     // even the lowest rate failed
	GeneratorLimited End = "generator-limited" // what held is a lower bound only
	Unconfirmed      End = "unconfirmed"       // no rate near the bounds could be confirmed
	NoThroughput     End = "no throughput"     // the probe got no answers
)

// Done is a trial with its outcome.
type Done struct {
	Trial
	Outcome
	// Note is set when the trial was repeated or did not count.
	Note string `json:"note,omitempty"`
}

// Report is the answer of a search, complete once Ended.
type Report struct {
	Ended bool `json:"ended"`
	End   End  `json:"end,omitempty"`
	// Capacity is the confirmed rate, per second; 0 if there is none.
	Capacity float64 `json:"capacity"`
	// Held is the highest rate that passed, confirmed or not, and below every
	// rate that was refused: a lower bound.
	Held float64 `json:"held"`
	// Refused is the lowest rate that was refused; 0 if none was.
	Refused float64 `json:"refused"`
	// Limit is the rate at which the generator was the limit.
	Limit float64 `json:"limit,omitempty"`
	// Inverted: a higher load passed while a lower one was refused; the refusal
	// counts (MLRsearch's conservative rule).
	Inverted bool   `json:"inverted,omitempty"`
	Trials   []Done `json:"trials"`
}

// Search is the search for the highest rate at which all goals hold.
type Search struct {
	c       Config
	phase   Phase
	rate    float64
	lo, hi  float64 // passed, refused; 0 is none
	best    float64 // highest load that passed
	lowest  float64 // lowest load that was refused; 0 is none
	pass    int     // trials at rate
	fail    int
	descent int
	refusal int
	again   bool // the trial is being repeated, since the generator was not fit
	end     End
	limit   float64
	trials  []Done
}

// New starts a search.
func New(c Config) *Search {
	s := &Search{c: c.defaults(), phase: Probe}
	if c.Start > 0 {
		s.enter(Bracket, c.Start)
	}
	return s
}

func (s *Search) enter(p Phase, rate float64) {
	if s.c.Most > 0 {
		rate = min(rate, s.c.Most)
	}
	s.phase, s.rate, s.pass, s.fail, s.again = p, rate, 0, 0, false
}

// Next is the trial to run; not ok when the search has ended. It stays the same
// until its outcome is recorded.
func (s *Search) Next() (t Trial, ok bool) {
	if s.end != "" {
		return Trial{}, false
	}
	t = Trial{Number: len(s.trials) + 1, Phase: s.phase, Rate: s.rate, Settle: s.c.Settle, Duration: s.c.Trial}
	switch s.phase {
	case Probe:
		t.Connections = s.c.Connections
	case Confirm:
		t.Duration = s.c.Confirm
	}
	if n := len(s.trials); n > 0 && s.phase != Probe && !s.trials[n-1].Passed && s.trials[n-1].Invalid == "" && s.trials[n-1].Phase != Probe {
		t.Recover = s.lo / 2
	}
	return t, true
}

// Record takes the outcome of the trial that Next gave. It fails when the search
// has ended.
func (s *Search) Record(o Outcome) error {
	t, ok := s.Next()
	if !ok {
		return errors.New("record a trial: the search has ended")
	}
	d := Done{Trial: t, Outcome: o}
	defer func() { s.trials = append(s.trials, d) }()
	switch {
	case s.phase == Probe:
		if o.Invalid != "" {
			d.Note = "the generator was the limit; its rate is only where the search starts"
		}
		s.probed(o.Throughput)
	case o.Invalid != "" && !s.again:
		d.Note, s.again = "does not count; repeated", true
	case o.Invalid != "":
		d.Note = "does not count"
		s.end, s.limit = GeneratorLimited, s.rate
	default:
		s.again = false
		s.step(o.Passed)
	}
	return nil
}

func (s *Search) probed(rate float64) {
	if !(rate > 0) || math.IsInf(rate, 1) {
		s.end = NoThroughput
		return
	}
	s.enter(Bracket, max(probeShare*rate, leastRate))
}

// step goes on by the outcome of a trial that counts.
func (s *Search) step(passed bool) {
	if passed {
		s.pass++
	} else {
		s.fail++
	}
	switch s.phase {
	case Bracket:
		s.bracket(passed)
	case Bisect:
		switch {
		case s.pass == votes:
			s.holds()
			s.narrow()
		case s.fail == votes:
			s.refuse()
			s.narrow()
		}
	case Confirm:
		s.confirm()
	}
}

func (s *Search) holds() { s.lo, s.best = s.rate, max(s.best, s.rate) }

func (s *Search) refuse() {
	s.hi = s.rate
	if s.lowest == 0 || s.rate < s.lowest {
		s.lowest = s.rate
	}
}

func (s *Search) bracket(passed bool) {
	switch {
	case passed && s.hi == 0 && s.rate == s.c.Most:
		s.holds()
		s.enter(Confirm, s.rate)
	case passed && s.hi == 0:
		s.holds()
		s.enter(Bracket, 2*s.rate)
	case passed:
		s.holds()
		s.narrow()
	case s.lo > 0:
		s.refuse()
		s.narrow()
	case s.descent == descentsMost:
		s.refuse()
		s.end = BelowMinimum
	default:
		s.refuse()
		s.descent++
		s.enter(Bracket, s.rate/descentFactor)
	}
}

// narrow bisects by the geometric mean until the bounds are close.
func (s *Search) narrow() {
	if s.hi/s.lo-1 <= s.c.Within {
		s.enter(Confirm, s.lo)
		return
	}
	s.enter(Bisect, math.Sqrt(s.lo*s.hi))
}

// confirm classifies the trials of this rate, and goes down by the width when
// they refuse it.
func (s *Search) confirm() {
	g := Goal{Duration: s.c.Confirm, Sum: confirmTrials * s.c.Confirm, Exceed: confirmExceed}
	var trials []Measured
	for i := range s.pass + s.fail {
		loss := 0.0
		if i >= s.pass {
			loss = 1
		}
		trials = append(trials, Measured{s.c.Confirm, loss})
	}
	switch g.Classify(trials) {
	case Lower:
		s.holds()
		s.end = Found
		if s.hi == 0 {
			s.end = AtMost
		}
	case Upper:
		s.refuse()
		if s.refusal++; s.refusal > refusalsMost {
			s.end = Unconfirmed
			return
		}
		s.lo = s.rate / (1 + s.c.Within)
		s.enter(Confirm, s.lo)
	}
}

// Report says what is known so far.
func (s *Search) Report() Report {
	r := Report{Ended: s.end != "", End: s.end, Refused: s.lowest, Limit: s.limit, Trials: append([]Done{}, s.trials...)}
	r.Inverted = s.lowest > 0 && s.best > s.lowest
	if s.end == Found || s.end == AtMost {
		r.Capacity = s.rate
	}
	for _, d := range s.trials {
		if d.Passed && d.Phase != Probe && d.Invalid == "" && (s.lowest == 0 || d.Rate < s.lowest) {
			r.Held = max(r.Held, d.Rate)
		}
	}
	return r
}
