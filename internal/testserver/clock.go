package testserver

import (
	"runtime"
	"sync"
	"time"
)

// clock is the time the server lives by: it stands still while the server is
// frozen. Whatever waits for a moment of this clock therefore stops where it
// is during a freeze and goes on afterwards, in the same order; that is how a
// request in service freezes too.
//
// "Real" times below are elapsed since base, "server" times are this clock's.
type clock struct {
	base time.Time

	mu       sync.Mutex
	last     time.Duration // real; lost is right up to here
	lost     time.Duration // frozen time so far
	paused   bool
	planned  bool          // a stall has been planned: frozen in [from, to)
	from, to time.Duration // real
	changed  chan struct{} // closed when a freeze is planned, begun or ended by hand
}

func newClock() *clock {
	return &clock{base: time.Now(), changed: make(chan struct{})}
}

// real returns the time since base, monotonic.
func (c *clock) real() time.Duration { return time.Since(c.base) }

// now returns the server time.
func (c *clock) now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at(c.real())
}

// at returns the server time at a real time, which must not lie before last
// asked times by more than the caller's race for the lock (then it is last).
func (c *clock) at(real time.Duration) time.Duration {
	if real > c.last {
		if c.paused {
			c.lost += real - c.last
		} else if c.planned {
			c.lost += max(0, min(real, c.to)-max(c.last, c.from))
		}
		c.last = real
	}
	return c.last - c.lost
}

// pause freezes or releases the server by hand.
func (c *clock) pause(on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at(c.real())
	c.paused = on
	c.announce()
}

// plan freezes the server for a length of time, from after now on.
func (c *clock) plan(after, length time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.real()
	c.at(now)
	c.planned, c.from, c.to = true, now+after, now+after+length
	c.announce()
}

func (c *clock) announce() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// due returns the real time at which server time t will have come and the
// server is not frozen, if no more freezes come; known is false while it is
// paused by hand. The channel closes when the answer has changed.
func (c *clock) due(t time.Duration) (real time.Duration, known bool, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.real()
	left := max(0, t-c.at(now))
	now = c.last
	switch {
	case c.paused:
		return 0, false, c.changed
	case c.planned && now < c.to && now+left >= c.from:
		return c.to + left - max(0, c.from-now), true, c.changed
	}
	return now + left, true, c.changed
}

// spinFor is how long before its moment a precise wait stops sleeping: the
// runtime's timers are up to a millisecond late.
const spinFor = 1500 * time.Microsecond

// until waits for server time t and returns true, or false if over closed
// first. It never returns true early.
func (c *clock) until(t time.Duration, precise bool, over <-chan struct{}) bool {
	for {
		due, known, changed := c.due(t)
		left := due - c.real()
		switch {
		case !known:
			select {
			case <-changed:
			case <-over:
				return false
			}
		case left <= 0:
			return true
		case precise && left <= spinFor:
			for c.real() < due {
				runtime.Gosched()
			}
		default:
			if precise {
				left -= spinFor
			}
			if !sleep(left, changed, over) {
				return false
			}
		}
	}
}

// sleep returns after d, or when changed closes, or, with false, when over
// closes.
func sleep(d time.Duration, changed, over <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-changed:
	case <-over:
		return false
	}
	return true
}
