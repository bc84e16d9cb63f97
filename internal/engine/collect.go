package engine

import (
	"maps"
	"slices"
	"time"

	"prony/internal/result"
)

// collector merges the workers' tallies interval by interval, outside the
// load path.
type collector struct {
	r         *run
	in        chan delivery
	pending   map[int64]*tally // intervals that lack a worker's part
	spares    []*tally
	upTo      []int64 // per worker: its intervals below this are complete
	total     *tally  // of the window
	intervals []result.Interval
	progress  result.Progress
}

type delivery struct {
	worker int
	tally  *tally
	last   bool
}

func (c *collector) init(r *run) {
	c.r = r
	c.in = make(chan delivery, 4*len(r.workers))
	c.pending = map[int64]*tally{}
	c.upTo = make([]int64, len(r.workers))
	c.total = newTally()
	if d := r.load.Duration; d > 0 {
		c.progress.Total = d + r.load.Warmup
	}
}

// gather runs until the workers have signed off.
func (c *collector) gather() {
	for d := range c.in {
		c.take(d)
	}
}

func (c *collector) take(d delivery) {
	t := d.tally
	into := c.pending[t.index]
	if into == nil {
		into = c.empty()
		into.index, into.from, into.to = t.index, t.from, t.to
		c.pending[t.index] = into
	}
	into.to = max(into.to, t.to)
	into.add(t)
	c.upTo[d.worker] = t.index + 1
	if d.last {
		c.upTo[d.worker] = 1 << 62
	} else {
		t.reset()
		select {
		case c.r.workers[d.worker].spare <- t:
		default:
		}
	}
	c.finish()
}

func (c *collector) empty() *tally {
	if n := len(c.spares); n > 0 {
		t := c.spares[n-1]
		c.spares = c.spares[:n-1]
		return t
	}
	return newTally()
}

// finish closes the intervals to which every worker has contributed, in order.
func (c *collector) finish() {
	done := slices.Min(c.upTo)
	for _, index := range slices.Sorted(maps.Keys(c.pending)) {
		if index >= done {
			return
		}
		t := c.pending[index]
		delete(c.pending, index)
		c.close(t)
	}
}

func (c *collector) close(t *tally) {
	iv := t.interval(c.r.windowAt)
	if t.to > t.from || t.started+t.completed+t.failed > 0 { // what is counted must not vanish with a length of 0
		c.intervals = append(c.intervals, iv)
	}
	if t.index >= 0 {
		c.total.add(t)
	}
	c.tell(t, iv)
	t.reset()
	c.spares = append(c.spares, t)
}

func (c *collector) tell(t *tally, iv result.Interval) {
	if c.r.opts.Progress == nil {
		return
	}
	p := &c.progress
	p.Elapsed = time.Duration(t.to - c.r.startAt.Load())
	p.Open = int(t.open)
	if t.index >= 0 {
		p.Asked += t.planned
		p.Completed += t.completed
		p.Failed += t.failed
	}
	p.Interval = iv
	c.r.opts.Progress(*p)
}
