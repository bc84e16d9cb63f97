package engine

import "math"

// overload is how a load ends whose backlog can no longer be worked off.
const overload = "overload"

// arrive takes the arrivals that are due from the timetable. Late ones are
// sent at once and keep their planned time.
func (w *worker) arrive(now int64) {
	start := w.r.startAt.Load()
	for !w.stopping {
		at, ok := w.table.Peek()
		planned := start + at
		if !ok || w.r.load.Count > 0 && w.index >= w.r.load.Count {
			w.exhausted = true
			return
		}
		if planned >= w.r.endAt.Load() {
			return
		}
		if planned > now {
			if now = w.loop.Now(); planned > now {
				return
			}
		}
		w.table.Next()
		w.index += int64(w.of)
		w.arrived(planned, now)
		now = w.loop.Now()
	}
}

// arrived hands one planned request to a connection, or to the queue.
func (w *worker) arrived(planned, now int64) {
	if now >= w.boundary {
		w.rotate(now)
	}
	p := w.choosePool()
	t := want{planned: planned, taken: now, item: p.target.mix.Draw(&w.random)}
	w.plan(planned)
	if len(w.story.dispatched) < ksSends && planned >= w.r.windowAt {
		w.story.dispatched = append(w.story.dispatched, now)
	}
	if slot, ok := w.free(p); ok {
		c := &w.conns[slot]
		w.push(slot, c, t)
		if w.r.load.NoKeepAlive {
			c.closing = true
		}
		w.transmit(slot, c, 1, now)
		if int(c.n) < w.depth && !c.closing {
			w.fill(slot, now)
		}
		return
	}
	p.queue.push(t)
	w.queued++
	w.story.backlogPeak = max(w.story.backlogPeak, w.queued)
	w.bound(now)
	if p.unopened.len() > 0 && w.opening+w.toOpen.len() < p.queue.len() {
		w.wantOpen(p.unopened.pop())
		w.openSome(now)
	}
}

func (w *worker) choosePool() *pool {
	if len(w.pools) == 1 {
		return &w.pools[0]
	}
	u := w.random.Float64()
	for i := range w.pools {
		if u -= w.pools[i].target.share; u < 0 {
			return &w.pools[i]
		}
	}
	return &w.pools[len(w.pools)-1]
}

// free finds a connection with room, oldest idle first.
func (w *worker) free(p *pool) (int32, bool) {
	for p.idle.len() > 0 {
		slot := p.idle.pop()
		c := &w.conns[slot]
		c.idle = false
		if c.state == stateReady && !c.closing && !c.sending && int(c.n) < w.depth {
			return slot, true
		}
	}
	return 0, false
}

// bound stops the planning when the backlog can no longer be worked off: more
// than 10,000 or ten seconds of arrivals wait. What was planned after that is
// counted as unsent.
func (w *worker) bound(now int64) {
	if w.queued > w.mostQueued {
		w.r.end(overload, now)
	}
}

// setBound brings the bound up to date with the rate, which costs too much to
// look up for every request.
func (w *worker) setBound(now int64) {
	if w.table != nil {
		rate := w.r.load.Arrivals.RateAt(now - w.r.startAt.Load())
		w.mostQueued = int64(max(max(10_000, 10*rate)/float64(w.of), 1))
	}
}

// giveUp counts this worker's arrivals that will not be sent any more because
// of an overload.
func (w *worker) giveUp() {
	l := &w.r.load
	if w.table == nil {
		return
	}
	end := int64(l.Warmup + l.Duration)
	if l.Duration == 0 {
		end = math.MaxInt64 // the timetable ends it
		if _, finite := l.Arrivals.Length(); !finite {
			w.giveUpCount()
			return
		}
	}
	for {
		at, ok := w.table.Peek()
		if !ok || at >= end || l.Count > 0 && w.index >= l.Count {
			return
		}
		w.table.Next()
		w.index += int64(w.of)
		if at >= int64(l.Warmup) {
			w.story.asked++
			w.story.unsent++
		}
	}
}

// giveUpCount does so for an exact count of a timetable without end. There is
// no warm-up with a count.
func (w *worker) giveUpCount() {
	if left := w.r.load.Count - w.index; left > 0 {
		n := (left + int64(w.of) - 1) / int64(w.of)
		w.index += n * int64(w.of)
		w.story.asked += n
		w.story.unsent += n
	}
}

// cutOff ends every request that is still unfinished.
func (w *worker) cutOff(now int64) {
	for i := range w.conns {
		c := &w.conns[i]
		for c.n > 0 {
			w.cut(w.stampAt(int32(i), c, 0).planned, now)
			w.pop(c)
		}
	}
	for i := range w.pools {
		p := &w.pools[i]
		for p.again.len() > 0 {
			w.cut(p.again.pop().planned, now)
		}
		for p.queue.len() > 0 {
			t := p.queue.pop()
			w.leave(t.planned, now)
			if t.planned >= w.r.windowAt {
				w.story.unsent++
			}
		}
	}
}

func (w *worker) cut(planned, now int64) {
	w.leave(planned, now)
	if planned < w.r.windowAt {
		return
	}
	w.story.cutOff++
	w.story.cutOffOldest = max(w.story.cutOffOldest, now-planned)
}
