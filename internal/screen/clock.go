package screen

import (
	"time"

	"prony/internal/plan"
)

// clock estimates how long an experiment goes on: by its plan, scaled by how the
// estimate fared with the trials that are done.
type clock struct {
	until   []time.Duration // planned time before each trial, and of all
	first   int             // trial that was shown first, from 0
	current int             // trial that runs
	began   time.Time       // the first
	at      time.Time       // the current
}

func newClock(p *plan.Experiment) clock {
	var c clock
	if p == nil {
		return c
	}
	c.until = make([]time.Duration, 1, len(p.Trials)+1)
	var sum time.Duration
	for i := range p.Trials {
		sum += p.Trials[i].Plan.Estimate().Likely
		if i+1 < len(p.Trials) {
			sum += p.Cooldown
		}
		c.until = append(c.until, sum)
	}
	return c
}

// trials is how many are planned.
func (c *clock) trials() int { return max(len(c.until)-1, 0) }

// turn begins with a trial, by its number.
func (c *clock) turn(number int, now time.Time) {
	if number < 1 || number > c.trials() {
		return
	}
	c.current, c.at = number-1, now
	if c.began.IsZero() {
		c.first, c.began = c.current, now
	}
}

// nearly is the share that is done at most: while the screen is there, something
// is left to do.
const nearly = 0.99

// left is the time that remains, and the share that is done; false where there
// is nothing to tell it from.
func (c *clock) left(now time.Time) (rest time.Duration, done float64, ok bool) {
	if c.began.IsZero() {
		return 0, 0, false
	}
	scale := 1.0
	if planned := c.until[c.current] - c.until[c.first]; planned > 0 {
		scale = float64(c.at.Sub(c.began)) / float64(planned)
	}
	all := c.until[c.trials()]
	behind := float64(all-c.until[c.current+1]) * scale
	whole := float64(all) * scale
	now1 := float64(all-c.until[c.current])*scale - float64(now.Sub(c.at))
	rest = time.Duration(max(now1, behind, 0))
	if whole <= 0 {
		return rest, nearly, true
	}
	return rest, min(max(1-float64(rest)/whole, 0), nearly), true
}

// ofLoad is the same for a single load: by its time, or by its count.
func (s *state) ofLoad(l plan.Load) (rest time.Duration, done float64, ok bool) {
	p := s.last
	if s.lastAt.IsZero() {
		return 0, 0, false
	}
	since := max(s.now.Sub(s.lastAt), 0)
	if p.total > 0 {
		ran := min(p.elapsed+since, p.total)
		return p.total - ran, min(max(float64(ran)/float64(p.total), 0), 1), true
	}
	counted := p.completed + p.fail
	if l.Count <= 0 || counted <= 0 || p.elapsed <= 0 {
		return 0, 0, false
	}
	done = min(float64(counted)/float64(l.Count), 1)
	rest = time.Duration(float64(p.elapsed)*(1/done-1)) - since
	return max(rest, 0), done, true
}
