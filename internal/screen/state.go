package screen

import (
	"slices"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
)

// Bounds of what is kept for drawing.
const (
	pointsMost   = 3600 // an hour of seconds
	rowsMost     = 100_000
	findingsMost = 50
)

// state is everything that is drawn. A copy of it stays as it is while the
// original goes on: what slices hold is never changed in place.
type state struct {
	now      time.Time
	start    time.Time
	trial    *begun
	phase    *string
	points   []point // of this trial
	last     point
	lastAt   time.Time // when last came; zero: nothing came in this trial
	behind   float64   // seconds of loads before, in this trial
	loads    int       // of this trial, before the one that runs
	rows     []row
	findings []told // gravest first, then newest
	live     *[]result.Observed
	clock    clock
}

// take draws what was told from the queues. It reports whether that changes the
// picture, as each full second does.
func (s *state) take(f *feed, now time.Time) bool {
	changed := now.Sub(s.start)/time.Second != s.now.Sub(s.start)/time.Second
	s.now = now
	if t := f.trial.Load(); t != s.trial {
		s.turn(t)
		changed = true
	}
	changed = s.drain(f) || changed
	if text := f.phase.Load(); text != s.phase {
		s.phase, changed = text, true
	}
	if live := f.live.Load(); live != s.live {
		s.live, changed = live, true
	}
	return changed
}

// drain empties the queues, as far as they had been filled when it began.
func (s *state) drain(f *feed) (some bool) {
	for range len(f.points) + len(f.rows) + len(f.findings) {
		select {
		case p := <-f.points:
			s.point(p)
		case r := <-f.rows:
			s.row(r)
		case t := <-f.findings:
			s.finding(t)
		default:
			return some
		}
		some = true
	}
	return some
}

// watched is what is watched, and doing what is done; both may be nothing.
func (s *state) watched() []result.Observed {
	if s.live == nil {
		return nil
	}
	return *s.live
}

func (s *state) doing() string {
	if s.phase == nil {
		return ""
	}
	return *s.phase
}

// turn begins with a newer trial.
func (s *state) turn(t *begun) {
	if t == nil || s.trial != nil && t.order <= s.trial.order {
		return
	}
	s.trial, s.points, s.last, s.lastAt, s.behind, s.loads = t, nil, point{}, time.Time{}, 0, 0
	s.clock.turn(t.number, s.now)
}

// point adds an interval. A load that begins anew in a trial is the measured one
// behind its warm-up.
func (s *state) point(p point) {
	s.turn(p.of)
	if p.of != s.trial {
		return // of a trial that is over
	}
	if p.elapsed < s.last.elapsed {
		s.restart()
	}
	p.warm = p.warm || s.loads == 0 && s.warming()
	s.last, s.lastAt = p, s.now
	if p.drain || p.length <= 0 {
		return // what comes late belongs to no rate
	}
	p.at += s.behind
	if len(s.points) >= pointsMost {
		s.points = slices.Clone(s.points[pointsMost/10:])
	}
	s.points = append(s.points, p)
}

// restart makes what was seen the warm-up of what comes.
func (s *state) restart() {
	s.loads++
	s.points = slices.Clone(s.points)
	for i := range s.points {
		s.points[i].warm = true
		s.behind = s.points[i].at
	}
}

// warming reports whether the trial warms up with a load of its own.
func (s *state) warming() bool {
	return s.trial != nil && s.trial.trial.Plan.Warmup != nil && s.trial.trial.Plan.Load.Count == 0
}

func (s *state) row(r row) {
	if len(s.rows) >= rowsMost {
		s.rows = slices.Clone(s.rows[rowsMost/10:])
	}
	s.rows = append(s.rows, r)
}

// finding puts one in front of those that are no graver, in place of what the
// rule said before.
func (s *state) finding(t told) {
	kept := slices.DeleteFunc(slices.Clone(s.findings), func(old told) bool {
		return old.Rule == t.Rule && old.ID == t.ID && old.Where == t.Where
	})
	at := slices.IndexFunc(kept, func(old told) bool { return gravity(old.Severity) <= gravity(t.Severity) })
	if at < 0 {
		at = len(kept)
	}
	kept = slices.Insert(kept, at, t)
	s.findings = kept[:min(len(kept), findingsMost)]
}

// gravity orders severities.
func gravity(s result.Severity) int {
	return slices.Index([]result.Severity{result.Info, result.Note, result.SuspectLevel, result.InvalidLevel}, s)
}

// span is the time that the charts cover, in seconds: all of the load where its
// length is known, else what there is, at most an hour.
func (s *state) span() (from, to float64) {
	if len(s.points) == 0 {
		return 0, 1
	}
	first, last := s.points[0], s.points[len(s.points)-1]
	from = max(first.at-first.length, 0)
	to = max(last.at, from+1)
	if total := s.behind + s.last.total.Seconds(); s.last.total > 0 && total-from <= pointsMost {
		to = max(to, total)
	}
	return from, to
}

// load is the plan of the load that runs.
func (s *state) load(single plan.Load) plan.Load {
	if s.trial != nil {
		return s.trial.trial.Plan.Load
	}
	return single
}

// newest are some of the finished trials, the newest first.
func (s *state) newest(from, to int) []row {
	n := len(s.rows)
	some := make([]row, 0, to-from)
	for i := from; i < min(to, n); i++ {
		some = append(some, s.rows[n-1-i])
	}
	return some
}
