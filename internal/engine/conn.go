package engine

import (
	"bytes"
	"errors"
	"io"
	"syscall"
	"time"

	"prony/internal/evloop"
	"prony/internal/httpwire"
	"prony/internal/result"
	"prony/internal/scenario"
)

// state is where a connection stands.
type state uint8

const (
	stateUnopened state = iota
	stateQueued         // in line to be opened
	stateConnecting
	stateHandshaking
	stateReady
	stateWaiting // for its next try
)

// conn is one slot: a connection, or the place for one.
type conn struct {
	parse   httpwire.State
	tls     *tlsConn
	out     []byte // bytes of the send under way, when they are not the mix's
	since   int64  // start of the connect or of the handshake
	freeAt  int64  // closed model: when the user became free
	sendAt  int64  // of the last send
	first   int64  // first byte of the answer that is being read
	opened  int64  // how long connect and TLS took; taken by the first record
	answers uint32 // on this connection
	gen     uint32 // of timers
	target  uint16
	addr    uint16
	head, n uint16 // the pipe: its oldest request and how many
	state   state
	tries   uint8 // connects in a row that led to no answer
	sending bool
	idle    bool // in the pool's idle ring
	closing bool // no further request may be sent
	ever    bool // was open at least once
	reply   bool // its first try has had an outcome
}

// pool holds one target's connections and the requests that wait for one.
type pool struct {
	target   *target
	addrs    []*evloop.Address
	idle     ring[int32]
	queue    ring[want]
	again    ring[want]
	unopened ring[int32]
}

// wantOpen puts a slot in line to be opened.
func (w *worker) wantOpen(slot int32) {
	w.conns[slot].state = stateQueued
	w.toOpen.push(slot)
}

// openSome opens connections as far as the rate and the number of connects
// under way allow.
func (w *worker) openSome(now int64) {
	rate := w.r.load.ConnectRate / float64(w.of)
	if rate > 0 {
		w.openBudget = min(w.openBudget+rate*float64(now-w.openAt)/1e9, max(rate/100, 1))
		w.openAt = now
	}
	for w.toOpen.len() > 0 && w.opening < max(maxOpening/w.of, 1) {
		if rate > 0 {
			if w.openBudget < 1 {
				w.nextTurn = min(w.nextTurn, now+int64(1e9/rate))
				return
			}
			w.openBudget--
		}
		w.open(w.toOpen.pop())
	}
}

func (w *worker) open(slot int32) {
	c := &w.conns[slot]
	if c.state != stateQueued {
		return
	}
	var from *evloop.Address
	if len(w.sources) > 0 {
		from = w.sources[(int(slot)*w.of+w.id)%len(w.sources)]
	}
	c.state, c.since = stateConnecting, w.loop.Now()
	w.opening++
	w.story.conns.Connects++
	to := w.address(c)
	if err := w.loop.Open(slot, to, from); err != nil {
		w.connectFailed(slot, connectKind(err), "connect", err, "connect to "+to.String())
	}
}

// address is where the slot connects to, or tried to.
func (w *worker) address(c *conn) *evloop.Address {
	all := w.pools[c.target].addrs
	return all[int(c.addr)%len(all)]
}

// Opened is the event loop's word that the connection stands.
func (w *worker) Opened(slot int32) {
	c := &w.conns[slot]
	now := w.loop.Now()
	c.opened = now - c.since
	w.story.connectTime.Record(c.opened)
	if cfg := w.pools[c.target].target.tls; cfg != nil {
		c.state, c.since = stateHandshaking, now
		w.shake(slot, newTLSConn(cfg))
		return
	}
	w.becomeReady(slot, now)
}

func (w *worker) becomeReady(slot int32, now int64) {
	c := &w.conns[slot]
	w.opening--
	w.resolved(c)
	c.state, c.closing, c.sending, c.answers = stateReady, false, false, 0
	c.head, c.n = 0, 0
	c.parse.Reset()
	s := &w.story
	if c.ever {
		s.conns.Reopened++
	} else {
		c.ever = true
		s.conns.Opened++
	}
	s.open++
	s.conns.Peak = max(s.conns.Peak, s.open)
	if w.started {
		w.fill(slot, now)
	}
}

func (w *worker) resolved(c *conn) {
	if !c.reply {
		c.reply = true
		w.unresolved--
	}
}

// connectFailed ends a try that led to no usable connection. A request that
// waited for it fails with the cause; then the slot backs off.
func (w *worker) connectFailed(slot int32, kind result.FailureKind, phase string, err error, what string) {
	c := &w.conns[slot]
	w.opening--
	w.resolved(c)
	w.drop(slot)
	w.story.conns.Failed++
	now := w.loop.Now()
	if wt, ok := w.waiter(c, now); ok {
		w.failWant(wt, kind, phase, err, what, now)
	} else {
		w.countInARow(kind, now)
		w.note(kind, phase, err, what)
		w.story.kinds[kind]++
	}
	c.addr++
	if c.tries < 16 {
		c.tries++
	}
	w.retry(slot, w.backOff(c.tries), now)
}

// waiter is the request that the failed connect was for, if there is one: the
// oldest in the queue, or the next of a user who connects for every request.
func (w *worker) waiter(c *conn, now int64) (want, bool) {
	p := &w.pools[c.target]
	switch {
	case !w.started:
	case p.again.len() > 0:
		return p.again.pop(), true
	case p.queue.len() > 0 && p.idle.len() == 0:
		w.queued--
		return p.queue.pop(), true
	case w.table == nil && w.r.load.NoKeepAlive && !w.stopping && c.freeAt <= now && w.claim():
		wt := want{planned: c.freeAt, taken: now}
		w.plan(wt.planned)
		return wt, true
	}
	return want{}, false
}

// backOff grows from 10 ms to 1 s, with up to half of it at random so that
// connections do not try in step.
func (w *worker) backOff(tries uint8) int64 {
	d := min(10*time.Millisecond<<min(tries-1, 10), time.Second)
	return int64(d/2) + int64(w.random.Uint64n(uint64(d/2)+1))
}

// retry sets the slot aside for a while; 0 puts it in line at once.
func (w *worker) retry(slot int32, after, now int64) {
	c := &w.conns[slot]
	if (w.stopping || w.sated()) && !w.needed(c) {
		c.state = stateUnopened
		return
	}
	if after == 0 {
		w.wantOpen(slot)
		return
	}
	c.state = stateWaiting
	c.freeAt = max(c.freeAt, now+after)
	w.setTimer(slot, now+after)
}

// sated reports that the connections being opened are enough for what is left
// of an exact count: one more would see no request.
func (w *worker) sated() bool {
	if !w.started || w.table != nil || w.r.load.Count == 0 {
		return false
	}
	left := w.ticket + max(w.r.tickets.Load(), 0)
	w.exhausted = w.exhausted || left == 0
	return left <= int64(w.opening+w.toOpen.len())
}

// needed reports whether requests wait for a connection of c's target.
func (w *worker) needed(c *conn) bool {
	p := &w.pools[c.target]
	return p.queue.len() > 0 || p.again.len() > 0
}

func (w *worker) setTimer(slot int32, at int64) {
	c := &w.conns[slot]
	c.gen++
	w.timers.push(timer{at: at, slot: slot, gen: c.gen})
}

// fire handles the timers that are due.
func (w *worker) fire(now int64) {
	for {
		t, ok := w.timers.pop(now)
		if !ok {
			return
		}
		c := &w.conns[t.slot]
		if c.gen != t.gen {
			continue
		}
		switch c.state {
		case stateWaiting:
			w.wantOpen(t.slot)
		case stateReady:
			w.fill(t.slot, now)
		}
	}
}

// drop closes the slot's socket and forgets what was under way on it.
func (w *worker) drop(slot int32) {
	c := &w.conns[slot]
	if c.state == stateReady {
		w.story.open--
	}
	if c.tls != nil {
		c.tls.abort()
		c.tls = nil
	}
	c.sending = false
	c.gen++
	w.loop.Close(slot)
	if w.captures != nil {
		w.captures[slot] = nil
	}
}

// Gone is the event loop's word that the peer closed or the socket failed.
func (w *worker) Gone(slot int32, err error) {
	c := &w.conns[slot]
	now := w.loop.Now()
	if now >= w.boundary {
		w.rotate(now)
	}
	switch c.state {
	case stateConnecting:
		w.connectFailed(slot, connectKind(err), "connect", err, "connect to "+w.address(c).String())
	case stateHandshaking:
		w.connectFailed(slot, result.TLSHandshake, "tls", err, "TLS handshake with "+w.pools[c.target].target.origin)
	case stateReady:
		w.ended(slot, c, err, now)
	}
}

// ended handles the end of an open connection, by the rules of HTTP.
func (w *worker) ended(slot int32, c *conn, err error, now int64) {
	w.story.conns.ClosedByPeer++
	if c.n == 0 {
		w.story.conns.IdleCloses++
		w.renew(slot, c, now)
		return
	}
	if errors.Is(err, io.EOF) {
		done, perr := w.parser.EOF(&c.parse)
		switch {
		case done:
			w.complete(slot, c, now, now)
		case errors.Is(perr, httpwire.ErrIdleClose):
			w.unanswered(slot, c, result.ClosedEarly, err, now)
		default:
			w.failHead(slot, c, result.Truncated, "body", perr, now)
		}
	} else {
		w.broken(slot, c, err, now)
	}
	w.renew(slot, c, now)
}

// broken handles a socket error with requests in flight.
func (w *worker) broken(slot int32, c *conn, err error, now int64) {
	kind := result.Other
	switch {
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		kind = result.Reset
	case c.sending:
		kind = result.WriteFailed
	case errors.Is(err, syscall.ETIMEDOUT):
		kind = result.RequestTimeout
	}
	if kind == result.Reset && !c.parse.Started() {
		w.unanswered(slot, c, kind, err, now)
		return
	}
	phase := "wait"
	if c.parse.Started() {
		phase = "body"
	}
	w.failHead(slot, c, kind, phase, err, now)
}

// unanswered handles a connection that ended before a byte of the answer. If
// it had served before, the peer closed an idle connection just as it was
// used again: nobody's failure, so the requests are sent once more, if their
// method allows it. On a fresh connection it is a failure.
func (w *worker) unanswered(slot int32, c *conn, kind result.FailureKind, err error, now int64) {
	if c.answers > 0 {
		w.resend(slot, c)
	}
	if c.n > 0 {
		w.failHead(slot, c, kind, "wait", err, now)
	}
}

// mayRepeat reports whether a request may be sent a second time. What a script
// built is known by its first word only; a script is asked for its next request
// instead of the same one.
func (w *worker) mayRepeat(c *conn, s *stamp) bool {
	if w.script == nil {
		return w.pools[c.target].target.mix.Item(s.item).Again
	}
	b := c.out
	if !w.wants.Request {
		b, _ = w.script.Request()
	}
	method, _, _ := bytes.Cut(b[:min(len(b), 16)], []byte(" "))
	return scenario.Idempotent(string(method))
}

// resend moves what may be sent again from the pipe to the front of the line,
// where a fresh connection takes it: another used one might end the same way.
// That cannot go on for ever: a fresh connection that ends without an answer
// fails its oldest request.
func (w *worker) resend(slot int32, c *conn) {
	p := &w.pools[c.target]
	for c.n > 0 {
		s := w.stampAt(slot, c, 0)
		if !w.mayRepeat(c, s) {
			return
		}
		p.again.push(want{planned: s.planned, taken: s.taken, item: s.item, again: true})
		w.pop(c)
		w.story.conns.Resent++
	}
}

// renew closes what is left of a connection and opens it again: at once if it
// had served, after a pause if it had not. Requests still in its pipe were
// sent behind one that ended it; they are sent again or fail.
func (w *worker) renew(slot int32, c *conn, now int64) {
	served := c.answers > 0
	if c.n > 0 {
		w.resend(slot, c)
	}
	for c.n > 0 {
		w.failHead(slot, c, result.ClosedEarly, "wait", io.EOF, now)
	}
	w.drop(slot)
	if served {
		w.retry(slot, 0, now)
		if w.toOpen.len() > 0 && w.started {
			w.openSome(now)
		}
		return
	}
	if c.tries < 16 {
		c.tries++
	}
	w.retry(slot, w.backOff(c.tries), now)
}

// scanDue ends what took longer than its timeout.
func (w *worker) scanDue(now int64) {
	t := w.r.load.Timeouts
	for i := range w.conns {
		c := &w.conns[i]
		slot := int32(i)
		switch c.state {
		case stateConnecting:
			if now-c.since > int64(t.Connect) {
				w.connectFailed(slot, result.ConnectTimeout, "connect", nil, "connect to "+w.address(c).String())
			}
		case stateHandshaking:
			if now-c.since > int64(t.TLS) {
				w.connectFailed(slot, result.TLSTimeout, "tls", nil, "TLS handshake with "+w.pools[c.target].target.origin)
			}
		case stateReady:
			if c.n > 0 && now-w.waitedSince(slot, c) > int64(t.Request) {
				w.timedOut(slot, c, now)
			}
		}
	}
	w.scanQueues(now, int64(t.Request))
}

// waitedSince is when the timeout of the oldest request began: at its intended
// start in the open model, at its send in the closed one.
func (w *worker) waitedSince(slot int32, c *conn) int64 {
	s := w.stampAt(slot, c, 0)
	switch {
	case w.table != nil:
		return s.planned
	case s.sent != 0:
		return s.sent
	}
	return c.sendAt
}

func (w *worker) timedOut(slot int32, c *conn, now int64) {
	phase := "wait"
	if c.parse.Started() {
		phase = "body"
	}
	for c.n > 0 {
		w.failHead(slot, c, result.RequestTimeout, phase, nil, now)
	}
	w.drop(slot)
	w.retry(slot, 0, now)
}

// scanQueues fails requests that waited too long for a connection.
func (w *worker) scanQueues(now, timeout int64) {
	if w.table == nil {
		return
	}
	for i := range w.pools {
		p := &w.pools[i]
		for p.queue.len() > 0 && now-p.queue.front().planned > timeout {
			w.queued--
			w.failWant(p.queue.pop(), result.RequestTimeout, "connection", nil, "wait for a free connection", now)
		}
	}
}
