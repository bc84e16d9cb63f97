package engine

import "math"

// rotate ends the interval: the full tally goes to the collector, an empty one
// takes its place. If the collector has not given one back the interval is
// merged with the next, and that is counted.
func (w *worker) rotate(now int64) {
	if w.boundary >= w.r.endAt.Load() { // stop ends the window's last interval
		w.boundary = math.MaxInt64
		return
	}
	index := floorDiv(now-w.r.windowAt, secondNS)
	boundary := w.r.windowAt + index*secondNS
	w.boundary = boundary + secondNS
	next := w.empty()
	if next == nil && (w.tally.index >= 0 || index < 0) {
		w.tally.merged++
		return
	}
	if next == nil {
		next = newTally() // warm-up must not mix with the window
	}
	w.change(next, index, boundary)
}

// rotateDrain ends the window's last interval: what is answered after it has an
// interval of its own.
func (w *worker) rotateDrain(now int64) {
	end := min(now, w.r.endAt.Load())
	w.boundary = math.MaxInt64
	if end <= w.tally.from || w.inFlight == 0 {
		return
	}
	next := w.empty()
	if next == nil {
		next = newTally()
	}
	w.change(next, drainIndex, end)
}

// empty is the tally that the collector gave back, or nil.
func (w *worker) empty() *tally {
	select {
	case t := <-w.spare:
		return t
	default:
		return nil
	}
}

// change puts next in the place of the tally, which ends at the given time.
func (w *worker) change(next *tally, index, at int64) {
	full := w.tally
	full.to, full.inFlight, full.open = at, w.inFlight, int64(w.story.open)
	next.index, next.from = index, at
	w.tally = next
	w.r.collect.in <- delivery{w.id, full, false}
}
