package engine

import (
	"prony/internal/result"
)

// stamp is a request in the pipe of a connection. sent is 0 until its bytes
// are the kernel's.
type stamp struct {
	planned, taken, sent int64
	item                 int32
	again                bool
}

// want is a request that waits for a connection.
type want struct {
	planned, taken int64
	item           int32
	again          bool
}

// stampAt is the i-th oldest request in flight on a connection.
func (w *worker) stampAt(slot int32, c *conn, i uint16) *stamp {
	if w.depth == 1 {
		return &w.stamps[slot]
	}
	return &w.stamps[int(slot)*w.depth+(int(c.head)+int(i))%w.depth]
}

// push puts a request into the pipe.
func (w *worker) push(slot int32, c *conn, t want) {
	*w.stampAt(slot, c, c.n) = stamp{planned: t.planned, taken: t.taken, item: t.item, again: t.again}
	c.n++
	if c.n == 1 {
		w.parser.Begin(&c.parse, w.pools[c.target].target.mix.Item(t.item).Method)
	}
}

// pop takes the oldest request out of the pipe.
func (w *worker) pop(c *conn) {
	c.n--
	if w.depth > 1 {
		c.head = uint16((int(c.head) + 1) % w.depth)
	}
}

// plan enters a request in the ledger.
func (w *worker) plan(planned int64) {
	w.inFlight++
	if planned < w.r.windowAt {
		w.story.warmup++
		if w.tally.index < 0 { // else it is seen too late for the books of the warm-up
			w.tally.planned++
		}
		return
	}
	w.tally.planned++
	w.story.asked++
}

// leave ends a request's time in flight. Its overlap with the window, from its
// intended start, is its part of the time integral of requests in flight, so
// the sum is exact, which Little's law needs; and it may cross the window's
// edges.
func (w *worker) leave(planned, at int64) {
	w.inFlight--
	start, end := w.r.windowAt, w.r.endAt.Load()
	if planned < start && at >= start {
		w.edges++
	}
	if planned < end && at >= end {
		w.edges++
	}
	if from, to := max(planned, start), min(at, end); to > from {
		w.area += float64(to - from)
	}
}

// claim takes one request of an exact count.
func (w *worker) claim() bool {
	if w.r.load.Count == 0 {
		return true
	}
	if w.ticket == 0 {
		block := min(max(w.r.load.Count/int64(64*w.of), 1), 64)
		w.ticket = w.r.claim(block)
	}
	if w.ticket == 0 {
		w.exhausted = true
		return false
	}
	w.ticket--
	return true
}

// countDown notices that an exact count is used up where no connection is left
// to notice it by asking for more.
func (w *worker) countDown() {
	if w.table == nil && w.r.load.Count > 0 && w.ticket == 0 && w.r.tickets.Load() <= 0 {
		w.exhausted = true
	}
}

// fill sends as many requests as the connection has room for.
func (w *worker) fill(slot int32, now int64) {
	c := &w.conns[slot]
	if c.state != stateReady || c.sending || c.closing {
		return
	}
	if w.wants.Batch > 1 && c.n > 0 {
		return // a script's batch is answered as a whole
	}
	k := 0
	for int(c.n) < w.depth {
		t, ok := w.take(slot, c, now)
		if !ok {
			break
		}
		w.push(slot, c, t)
		k++
		if w.r.load.NoKeepAlive {
			c.closing = true
			break
		}
	}
	if k > 0 {
		w.transmit(slot, c, k, now)
	}
}

// take finds the next request for a connection: one to be sent again, one that
// waits, or in the closed model the user's next.
func (w *worker) take(slot int32, c *conn, now int64) (want, bool) {
	p := &w.pools[c.target]
	if p.again.len() > 0 && c.answers == 0 {
		return p.again.pop(), true
	}
	if w.table != nil {
		return w.takeWaiting(slot, c, p)
	}
	if w.stopping || w.exhausted || !w.started {
		return want{}, false
	}
	if c.freeAt > now {
		w.setTimer(slot, c.freeAt)
		return want{}, false
	}
	if now >= w.boundary {
		w.rotate(now)
	}
	if now >= w.r.endAt.Load() || !w.claim() {
		return want{}, false
	}
	t := want{planned: c.freeAt, taken: c.freeAt, item: p.target.mix.Draw(&w.random)}
	w.plan(t.planned)
	return t, true
}

func (w *worker) takeWaiting(slot int32, c *conn, p *pool) (want, bool) {
	if p.queue.len() > 0 {
		w.queued--
		return p.queue.pop(), true
	}
	if !c.idle {
		c.idle = true
		p.idle.push(slot)
	}
	return want{}, false
}

// transmit sends the k newest requests of the pipe in one go.
func (w *worker) transmit(slot int32, c *conn, k int, now int64) {
	bytes, err := w.bytes(slot, c, k)
	if err != nil {
		w.scriptFailed(slot, c, err, now)
		return
	}
	w.tally.bytesOut += int64(len(bytes))
	for i := range uint16(k) {
		if !w.stampAt(slot, c, c.n-1-i).again { // else it was started before
			w.tally.started++
		}
	}
	c.sendAt, c.sending = now, true
	if c.tls != nil {
		bytes, err = c.tls.encrypt(bytes)
		if err != nil {
			w.failHead(slot, c, result.WriteFailed, "write", err, now)
			w.renew(slot, c, now)
			return
		}
	}
	w.loop.Send(slot, bytes, now)
}

// bytes are the k newest requests as they go on the wire.
func (w *worker) bytes(slot int32, c *conn, k int) ([]byte, error) {
	if w.script != nil {
		b, err := w.script.Request()
		if err != nil || !w.wants.Request {
			return b, err
		}
		c.out = append(c.out[:0], b...)
		return c.out, nil
	}
	mix := w.pools[c.target].target.mix
	if k == 1 {
		return mix.Item(w.stampAt(slot, c, c.n-1).item).Bytes, nil
	}
	if b := mix.Joint(k); b != nil {
		return b, nil
	}
	c.out = c.out[:0]
	for i := range k {
		c.out = append(c.out, mix.Item(w.stampAt(slot, c, c.n-uint16(k-i)).item).Bytes...)
	}
	return c.out, nil
}

// Sent is the event loop's word that the bytes are the kernel's.
func (w *worker) Sent(slot int32, at int64) {
	c := &w.conns[slot]
	if c.state == stateHandshaking {
		c.sending = false
		w.flushTLS(slot, c)
		return
	}
	for i := c.n; i > 0; i-- {
		s := w.stampAt(slot, c, i-1)
		if s.sent != 0 {
			break
		}
		s.sent = at
	}
	c.sending = false
	if int(c.n) < w.depth {
		w.fill(slot, at)
	}
}

// Data is what came in on a connection.
func (w *worker) Data(slot int32, p []byte, at int64) {
	c := &w.conns[slot]
	if c.tls != nil {
		w.cipher(slot, c, p)
		return
	}
	w.answers(slot, c, p, at)
}

// answers reads the answers in p and sends what follows from them.
func (w *worker) answers(slot int32, c *conn, p []byte, at int64) {
	now := w.loop.Now()
	end := now
	if at != 0 {
		end = at
	}
	if now >= w.boundary {
		w.rotate(now)
	}
	w.tally.bytesIn += int64(len(p))
	for len(p) > 0 {
		if c.n == 0 {
			w.unasked(slot, c, now)
			return
		}
		if !c.parse.Started() {
			c.first = end
			if w.captures != nil {
				w.captureFor(slot)
			}
		}
		n, done, err := w.parse(slot, c, p)
		if err != nil {
			w.badAnswer(slot, c, err, now)
			return
		}
		p = p[n:]
		if done && !w.answered(slot, c, end, now) {
			return
		}
	}
	w.fill(slot, now)
}

// answered ends the oldest request; false when the connection was given up.
func (w *worker) answered(slot int32, c *conn, end, now int64) bool {
	again := c.parse.KeepAlive && !c.closing && !(c.sending && c.n == 1)
	announced := !c.parse.KeepAlive
	w.complete(slot, c, end, now)
	if again {
		return true
	}
	if announced {
		w.story.conns.ClosedByPeer++
	}
	w.renew(slot, c, now)
	return false
}

// unasked handles bytes that no request asked for: the peer sends more than it
// announced, so nothing on this connection can be trusted.
func (w *worker) unasked(slot int32, c *conn, now int64) {
	w.note(result.BadResponse, "body", nil, "bytes after the end of the answer")
	w.story.kinds[result.BadResponse]++
	w.renew(slot, c, now)
}

// complete records the answer to the oldest request of the pipe.
func (w *worker) complete(slot int32, c *conn, end, now int64) {
	s := *w.stampAt(slot, c, 0)
	if s.sent == 0 {
		s.sent = c.sendAt
	}
	status := c.parse.Status
	kind := w.judge(slot, c)
	w.pop(c)
	c.answers++
	w.leave(s.planned, end)
	w.story.rateCount++
	w.story.lastDone, w.lastEnd = end, now
	w.sample(status)
	w.settle(&s, c, kind, status, end, now)
	c.tries, c.opened = 0, 0
	if w.script != nil && w.wants.Response {
		w.tellScript(slot, status)
	}
	if c.n > 0 {
		w.parser.Begin(&c.parse, w.pools[c.target].target.mix.Item(w.stampAt(slot, c, 0).item).Method)
	}
	if w.table == nil { // a user goes on when the answer is read, also where the kernel says that it was there before
		c.freeAt = now + w.pause()
	}
}

// judge says whether an answer counts as a success.
func (w *worker) judge(slot int32, c *conn) result.FailureKind {
	if c.parse.Status >= 400 {
		return result.HTTPStatus
	}
	if w.r.load.SameLength {
		if w.r.length.CompareAndSwap(-1, c.parse.BodyLen) {
			return result.NoFailure
		}
		if w.r.length.Load() != c.parse.BodyLen {
			return result.BodyDiffers
		}
	}
	return result.NoFailure
}

// settle puts an answered request into the books.
func (w *worker) settle(s *stamp, c *conn, kind result.FailureKind, status int, end, now int64) {
	t := w.tally
	if end >= w.r.windowAt && end < w.r.endAt.Load() {
		t.inWindow++
	}
	if s.planned < w.r.windowAt {
		w.story.warmupDone++
		if t.index >= 0 {
			return
		}
	} else {
		w.story.statuses[min(max(status, 0), 999)]++
	}
	t.bodyBytes += c.parse.BodyLen
	if cap(w.story.records) > 0 && s.planned >= w.r.windowAt {
		w.record(s, c, kind, status, end)
	}
	if kind != result.NoFailure {
		w.failStamp(s.planned, kind, "answer", nil, w.answerText(kind, status), end)
		return
	}
	w.story.inARow = 0
	t.completed++
	t.response.Record(end - s.planned)
	t.service.Record(end - s.sent)
	t.lag.Record(s.sent - s.planned)
	t.first.Record(c.first - s.sent)
	if w.table != nil {
		t.dispatch.Record(s.taken - s.planned)
	}
}

func (w *worker) pause() int64 {
	if w.script != nil && w.wants.Delay {
		d, err := w.script.Delay()
		if err != nil {
			w.scriptError(err)
		}
		return int64(d)
	}
	if w.r.load.Think.Mean == 0 {
		return 0
	}
	return w.r.load.Think.Next(&w.random)
}
