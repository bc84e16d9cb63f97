package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
)

// Steady is told one value a second, of whatever should become steady, and says
// when it is.
type Steady interface {
	Feed(value float64) bool
}

// settle is the warm-up of the measured load behind one that was measured: its
// connections are new.
const settle = 2 * time.Second

// warmed is what came of a warm-up.
type warmed struct {
	intervals []result.Interval
	began     int64 // microseconds since 1970
	took      time.Duration
	note      string
}

// warm drives the loads until they are steady, if the plan asks for that. It is
// a load of its own, for its length is not known beforehand.
func (c *Campaign) warm(ctx context.Context, p plan.Plan, loads []plan.Load) (*warmed, error) {
	w := p.Warmup
	if w == nil || p.Load.Count > 0 {
		return nil, nil
	}
	c.Events.phase(w.String())
	p.Load, p.Also = lasting(loads[0], w.Most), nil
	for _, l := range loads[1:] {
		p.Also = append(p.Also, lasting(l, w.Most))
	}
	watch := &steadiness{least: w.Least, closed: p.Load.Model == plan.Closed}
	if c.Steady != nil && w.Steady() {
		watch.rule = c.Steady()
	}
	inner, stop := context.WithCancel(ctx)
	defer stop()
	first, _, err := drive(inner, p, c.Loader, Tell{Progress: func(pr result.Progress) {
		if watch.done(pr) {
			stop()
		}
		if c.Events.Progress != nil {
			c.Events.Progress(pr, 0)
		}
	}})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if first == nil || err != nil && !errors.Is(err, context.Canceled) {
		return nil, fmt.Errorf("warm up: %w", err)
	}
	return watch.result(first, w), nil
}

// lasting is a load that runs for a time, without a warm-up of its own.
func lasting(l plan.Load, d time.Duration) plan.Load {
	l.Duration, l.Warmup, l.Count, l.Record = d, 0, 0, 0
	l.Drain = min(max(l.Drain, 0), time.Second)
	return l
}

// steadiness follows a warm-up.
type steadiness struct {
	least  time.Duration
	closed bool
	rule   Steady
	steady bool
}

// done reports whether the warm-up has lasted long enough. In the closed model
// the throughput has to be steady, in the open one the response time.
func (s *steadiness) done(p result.Progress) bool {
	if s.steady || p.Interval.LengthUS <= 0 {
		return s.steady
	}
	value := float64(p.Interval.Completed) / (p.Interval.LengthUS / 1e6)
	if !s.closed {
		value = p.Interval.Response.P50()
	}
	steady := s.rule == nil || s.rule.Feed(value)
	s.steady = steady && p.Elapsed >= s.least
	return s.steady
}

func (s *steadiness) result(first *result.Load, w *plan.Warmup) *warmed {
	r := &warmed{intervals: first.Intervals, began: first.StartedUS, took: time.Duration(first.DurationUS * 1000)}
	if !s.steady && w.Steady() {
		r.note = fmt.Sprintf("the load was not steady after a warm-up of %v, the most that the plan allows", w.Most)
	}
	return r
}

// settled is a load that is measured behind the warm-up.
func (w *warmed) settled(l plan.Load) plan.Load {
	if w != nil {
		l.Warmup = settle
	}
	return l
}

// into puts the warm-up before the window, where it was: between the two loads
// counters are read and limits set.
func (w *warmed) into(run *result.Run) {
	if w == nil {
		return
	}
	l := &run.Load
	before := max(l.WarmupUS+float64(w.took.Microseconds()), float64(l.StartedUS-w.began))
	var all []result.Interval
	for _, iv := range w.intervals {
		if iv.Drain {
			continue
		}
		iv.StartUS -= before
		iv.Warmup = true
		all = append(all, iv)
	}
	l.Intervals = append(all, l.Intervals...)
	l.WarmupUS = before
	if w.note != "" {
		run.Warnings = append(run.Warnings, w.note)
	}
}
