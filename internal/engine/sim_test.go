package engine

import (
	"bytes"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"prony/internal/evloop"
)

// simNet is a simulated network with one server, on a virtual clock. A worker
// that is given its loop runs as in earnest, with every line of its own code,
// but each nanosecond it measures is chosen here. With one thread nothing is
// left to chance: the clock stands still until the load begins, and all times
// below count from there.
type simNet struct {
	t      *testing.T
	server simServer
	// connect decides over a connect: its length and, if it fails, why. Nil:
	// success at once. A negative length is no outcome at all.
	connect func(n int64, at int64) (length int64, err error)
	// refuse is the error that Open itself returns; nil: none.
	refuse func(at int64) error
	// lateSent delivers Sent from the next Wait, as io_uring does, instead of
	// from within Send, as epoll does.
	lateSent bool
	// joined delivers answers of one instant on one connection in one piece.
	joined bool
	// late makes the Wait that reaches the first time return at the second, as
	// if the worker had lost its processor. Since the start.
	late [2]time.Duration
	// hurried does not wait for the collector, as no real loop does.
	hurried bool
	// early is how long before Wait tells of data the kernel stamped it; 0: there
	// are no stamps.
	early int64
	// seen hears of every request that reaches the server.
	seen func(q simQuery)

	clock    atomic.Int64
	worker   *worker
	conns    []simConn
	events   simEvents
	order    uint64
	now      int64 // the clock; only the worker's thread reads it
	connects int64
	requests int64
	opens    int64 // connections open now
	mostOpen int64
	released bool
	sent     []simSent
	still    int // waits in a row that did nothing
	piece    []byte
}

// simSent is a Sent to be told.
type simSent struct {
	slot int32
	gen  uint32
	at   int64
}

// simConn is a slot as the network knows it.
type simConn struct {
	up, opening, sending bool
	gen                  uint32
	number               int64 // of its connect
	served               int64 // requests it has carried
}

// simEpoch is where the virtual clock begins: not at 0, which means "never" in
// places.
const simEpoch = int64(5 * time.Second)

func newSim(t *testing.T) *simNet {
	n := &simNet{t: t, now: simEpoch}
	n.clock.Store(simEpoch)
	return n
}

func (n *simNet) options() Options { return Options{open: n.open, now: n.clock.Load} }

func (n *simNet) open(_ evloop.Kind, o evloop.Options, h evloop.Handler) (evloop.Loop, error) {
	w, ok := h.(*worker)
	if !ok || n.worker != nil {
		n.t.Errorf("open loop: want one loop, for a worker")
	}
	w.slack = 0 // a virtual clock does not oversleep
	n.worker, n.conns = w, make([]simConn, o.Slots)
	return (*simLoop)(n), nil
}

// start is the clock's reading at the start of the load; 0 before it is known.
func (n *simNet) start() int64 { return n.worker.r.startAt.Load() }

// at is the time since the start.
func (n *simNet) at() int64 { return n.now - n.start() }

func (n *simNet) set(now int64) {
	n.now = now
	n.clock.Store(now)
}

// after plans an event on a slot's present connection.
func (n *simNet) after(delay int64, e simEvent) {
	n.order++
	e.at, e.order = n.now+delay, n.order
	e.gen = n.conns[e.slot].gen
	n.events.push(e)
}

// simLoop is the network as the event loop of a worker.
type simLoop simNet

var _ evloop.Loop = (*simLoop)(nil)

// Now implements evloop.Loop.
func (l *simLoop) Now() int64 { return l.now }

// Open implements evloop.Loop.
func (l *simLoop) Open(slot int32, to, _ *evloop.Address) error {
	n := (*simNet)(l)
	c := &n.conns[slot]
	if c.up || c.opening || to == nil {
		n.t.Errorf("Open of slot %d, which is in use", slot)
	}
	n.connects++
	if n.refuse != nil {
		if err := n.refuse(n.at()); err != nil {
			return err
		}
	}
	c.opening, c.number, c.served = true, n.connects-1, 0
	var length int64
	var err error
	if n.connect != nil {
		length, err = n.connect(c.number, n.at())
	}
	switch {
	case length < 0:
	case err != nil:
		n.after(length, simEvent{slot: slot, what: simGone, err: err})
	default:
		n.after(length, simEvent{slot: slot, what: simOpened})
	}
	return nil
}

// Send implements evloop.Loop. The bytes reach the server at once.
func (l *simLoop) Send(slot int32, p []byte, at int64) {
	n := (*simNet)(l)
	c := &n.conns[slot]
	if !c.up || c.sending {
		n.t.Errorf("Send on slot %d: open %v, sending %v", slot, c.up, c.sending)
	}
	if at > n.now {
		n.t.Errorf("Send on slot %d at %d, which is in the future (%d)", slot, at, n.now)
	}
	c.sending = true
	gen := c.gen
	for range bytes.Count(p, simEnd) {
		n.arrive(slot, c, p)
	}
	if n.lateSent {
		n.sent = append(n.sent, simSent{slot, gen, at})
		return
	}
	c.sending = false
	n.worker.Sent(slot, at)
}

// simEnd ends the head of a request.
var simEnd = []byte("\r\n\r\n")

// arrive is a request at the server.
func (n *simNet) arrive(slot int32, c *simConn, p []byte) {
	q := simQuery{number: n.requests, at: n.at(), slot: slot, connect: c.number, onConn: c.served, bytes: p}
	n.requests++
	c.served++
	if n.seen != nil {
		n.seen(q)
	}
	delay, fate := n.server.serve(q)
	switch {
	case fate.silent:
	case fate.answer != nil:
		n.after(delay, simEvent{slot: slot, what: simData, bytes: fate.answer})
	}
	if fate.end != nil {
		n.after(delay, simEvent{slot: slot, what: simGone, err: fate.end})
	}
}

// Close implements evloop.Loop.
func (l *simLoop) Close(slot int32) {
	c := &l.conns[slot]
	if c.up {
		l.opens--
	}
	*c = simConn{gen: c.gen + 1}
}

// Wait implements evloop.Loop: it moves the clock to the next event, or to
// until, and tells what happened then.
func (l *simLoop) Wait(until int64) error {
	n := (*simNet)(l)
	n.settle()
	to := max(until, n.now)
	if at, ok := n.events.next(); ok {
		to = min(to, max(at, n.now))
	}
	if n.start() == 0 && n.worker.unresolved == 0 {
		// The start is set by another goroutine: until then time stands still.
		runtime.Gosched()
		to = n.now
	}
	if len(n.sent) > 0 {
		to = n.now
	}
	if from, until := n.start()+int64(n.late[0]), n.start()+int64(n.late[1]); n.start() != 0 && n.now < from && to >= from {
		to = until
	}
	if to > n.now || len(n.sent) > 0 || n.start() == 0 {
		n.still = 0
	}
	n.still++
	n.set(to)
	n.tellSent()
	for {
		e, ok := n.events.pop(n.now)
		if !ok {
			break
		}
		n.still = 0
		n.tell(e)
	}
	if n.still > stillMost {
		return errStill
	}
	return nil
}

// stillMost is how often a worker may wait for a time that has come, with
// nothing happening: what it waits for it must then also do.
const stillMost = 1000

var errStill = errors.New("the worker polls without end")

// settle waits, in real time, until the collector has handed the spare tally
// back, so that the intervals do not depend on how fast it is.
func (n *simNet) settle() {
	for len(n.worker.spare) == 0 && !n.hurried {
		runtime.Gosched()
	}
}

func (n *simNet) tellSent() {
	told := n.sent
	n.sent = nil
	for _, s := range told {
		if c := &n.conns[s.slot]; c.gen == s.gen && c.sending {
			c.sending = false
			n.worker.Sent(s.slot, s.at)
		}
	}
}

// tell lets the worker hear an event, unless its connection has gone.
func (n *simNet) tell(e simEvent) {
	c := &n.conns[e.slot]
	if c.gen != e.gen {
		return
	}
	switch e.what {
	case simOpened:
		c.up, c.opening = true, false
		n.opens++
		n.mostOpen = max(n.mostOpen, n.opens)
		n.worker.Opened(e.slot)
	case simGone:
		n.worker.Gone(e.slot, e.err)
		if n.conns[e.slot].gen == e.gen {
			n.t.Errorf("slot %d was not closed after it had gone", e.slot)
		}
	case simData:
		var at int64
		if n.early > 0 {
			at = n.now - n.early
		}
		n.worker.Data(e.slot, n.join(e), at)
	}
}

// join adds the answers that follow at the same instant on the same slot.
func (n *simNet) join(e simEvent) []byte {
	if !n.joined {
		return e.bytes
	}
	n.piece = append(n.piece[:0], e.bytes...)
	for {
		next, ok := n.events.peek()
		if !ok || next.at != e.at || next.slot != e.slot || next.gen != e.gen || next.what != simData {
			return n.piece
		}
		n.events.pop(e.at)
		n.piece = append(n.piece, next.bytes...)
	}
}

// Release implements evloop.Loop.
func (l *simLoop) Release() error {
	if l.released {
		l.t.Errorf("Release was called twice")
	}
	l.released = true
	return nil
}

// simWhat is the kind of an event.
type simWhat uint8

const (
	simOpened simWhat = iota
	simGone
	simData
)

type simEvent struct {
	at    int64
	order uint64
	bytes []byte
	err   error
	slot  int32
	gen   uint32
	what  simWhat
}

func (e *simEvent) before(o *simEvent) bool {
	return e.at < o.at || e.at == o.at && e.order < o.order
}

// simEvents is a binary heap by time, then by order of planning.
type simEvents []simEvent

func (h *simEvents) push(e simEvent) {
	s := append(*h, e)
	i := len(s) - 1
	for up := (i - 1) / 2; i > 0 && e.before(&s[up]); up = (i - 1) / 2 {
		s[i] = s[up]
		i = up
	}
	s[i] = e
	*h = s
}

func (h *simEvents) peek() (*simEvent, bool) {
	if len(*h) == 0 {
		return nil, false
	}
	return &(*h)[0], true
}

func (h *simEvents) next() (int64, bool) {
	e, ok := h.peek()
	if !ok {
		return 0, false
	}
	return e.at, true
}

// pop removes the first event if it is due.
func (h *simEvents) pop(now int64) (simEvent, bool) {
	s := *h
	if len(s) == 0 || s[0].at > now {
		return simEvent{}, false
	}
	first, moved := s[0], s[len(s)-1]
	s = s[:len(s)-1]
	i := 0
	for child := 1; child < len(s); child = 2*i + 1 {
		if child+1 < len(s) && s[child+1].before(&s[child]) {
			child++
		}
		if !s[child].before(&moved) {
			break
		}
		s[i] = s[child]
		i = child
	}
	if len(s) > 0 {
		s[i] = moved
	}
	*h = s
	return first, true
}
