package evloop_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"runtime"
	"sync"
	"testing"
	"time"

	"prony/internal/evloop"
)

// patience is how long a thing may take that must happen; nothing that works
// comes near it.
const patience = 20 * time.Second

// rig is a loop with a handler that records what it hears and checks the rules
// that hold in every case: nothing is heard of a slot that is closed, Opened
// comes once and first, Sent once per Send, and nothing after Gone.
type rig struct {
	t     testing.TB
	loop  evloop.Loop
	slots []seen
	on    hooks
}

// hooks are a case's own reactions; they run after the recording. Without a
// gone hook a slot that is gone is closed, as a user must.
type hooks struct {
	opened func(slot int32)
	sent   func(slot int32, at int64)
	data   func(slot int32, p []byte, at int64)
	gone   func(slot int32, err error)
}

type state int

const (
	closed state = iota
	connecting
	open
	gone
)

// seen is what was heard of a slot since it was last opened.
type seen struct {
	state   state
	sending bool
	sent    int
	sentAt  int64
	data    []byte
	err     error // of Gone; stays after the close
}

// newRig locks the thread, as a loop's user must, and releases it all at the
// end of the test. A kind that the machine lacks skips the test.
func newRig(t testing.TB, kind evloop.Kind, o evloop.Options) *rig {
	t.Helper()
	r := &rig{t: t, slots: make([]seen, max(o.Slots, 1))}
	o.Slots = len(r.slots)
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	loop, err := evloop.Open(kind, o, r)
	if err != nil {
		t.Skipf("no %s loop here: %v", kind, err)
	}
	r.loop = loop
	t.Cleanup(r.release)
	return r
}

func (r *rig) release() {
	if r.loop == nil {
		return
	}
	if err := r.loop.Release(); err != nil {
		r.t.Errorf("release: %v", err)
	}
	r.loop = nil
}

// open starts a connection that is expected to get a socket.
func (r *rig) open(slot int32, to *evloop.Address) {
	r.t.Helper()
	if err := r.tryOpen(slot, to, nil); err != nil {
		r.t.Fatalf("open slot %d to %s: %v", slot, to, err)
	}
}

func (r *rig) tryOpen(slot int32, to, from *evloop.Address) error {
	r.slots[slot] = seen{state: connecting}
	err := r.loop.Open(slot, to, from)
	if err != nil {
		r.slots[slot].state = closed
	}
	return err
}

func (r *rig) close(slot int32) {
	r.slots[slot].state, r.slots[slot].sending = closed, false
	r.loop.Close(slot)
}

func (r *rig) send(slot int32, p []byte) {
	r.t.Helper()
	if r.slots[slot].sending {
		r.t.Fatalf("slot %d: the test sends while a send is under way", slot)
	}
	r.slots[slot].sending = true
	r.loop.Send(slot, p, r.loop.Now())
}

func (r *rig) wait(d time.Duration) {
	r.t.Helper()
	if err := r.loop.Wait(r.loop.Now() + int64(d)); err != nil {
		r.t.Fatalf("wait: %v", err)
	}
}

// pump waits until done, which must happen.
func (r *rig) pump(what string, done func() bool) {
	r.t.Helper()
	end := time.Now().Add(patience)
	for !done() {
		if r.t.Failed() {
			r.t.FailNow() // a rule was broken: more waiting says nothing
		}
		if time.Now().After(end) {
			r.t.Fatalf("waited %v in vain for: %s", patience, what)
		}
		r.wait(5 * time.Millisecond)
	}
}

// openAll opens slots from 0 and waits until all stand.
func (r *rig) openAll(n int, to *evloop.Address) {
	r.t.Helper()
	for i := range n {
		r.open(int32(i), to)
	}
	r.pump("all connections stand", func() bool { return r.all(n, func(s *seen) bool { return s.state == open }) })
}

func (r *rig) all(n int, ok func(*seen) bool) bool {
	for i := range n {
		if !ok(&r.slots[i]) {
			return false
		}
	}
	return true
}

func (r *rig) Opened(slot int32) {
	if s := &r.slots[slot]; s.state != connecting {
		r.t.Errorf("slot %d: Opened in state %d, not while connecting", slot, s.state)
	}
	r.slots[slot].state = open
	if r.on.opened != nil {
		r.on.opened(slot)
	}
}

func (r *rig) Sent(slot int32, at int64) {
	s := &r.slots[slot]
	if s.state != open || !s.sending {
		r.t.Errorf("slot %d: Sent in state %d, send under way: %v", slot, s.state, s.sending)
	}
	if now := r.loop.Now(); at > now {
		r.t.Errorf("slot %d: Sent at %d, in the future of %d", slot, at, now)
	}
	s.sending, s.sentAt = false, at
	s.sent++
	if r.on.sent != nil {
		r.on.sent(slot, at)
	}
}

func (r *rig) Data(slot int32, p []byte, at int64) {
	s := &r.slots[slot]
	if s.state != open || len(p) == 0 {
		r.t.Errorf("slot %d: Data of %d bytes in state %d", slot, len(p), s.state)
	}
	s.data = append(s.data, p...)
	if r.on.data != nil {
		r.on.data(slot, p, at)
	}
}

func (r *rig) Gone(slot int32, err error) {
	s := &r.slots[slot]
	if s.state != open && s.state != connecting || err == nil {
		r.t.Errorf("slot %d: Gone(%v) in state %d", slot, err, s.state)
	}
	s.state, s.err = gone, err
	if r.on.gone != nil {
		r.on.gone(slot, err)
		return
	}
	r.close(slot)
}

// listen listens on a free loopback port until the test ends.
func listen(t testing.TB, network, at string) net.Listener {
	t.Helper()
	ln, err := net.Listen(network, at)
	if err != nil {
		t.Skipf("this machine does not listen on %s: %v", at, err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	return ln
}

// serve gives each connection to f, on its own goroutine, until the test ends,
// and returns the address. f must return when the connection fails.
func serve(t testing.TB, f func(net.Conn)) *evloop.Address {
	t.Helper()
	ln := listen(t, "tcp", "127.0.0.1:0")
	serveOn(t, ln, f)
	return address(t, ln)
}

func serveOn(t testing.TB, ln net.Listener, f func(net.Conn)) {
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				f(c)
			})
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		wg.Wait()
	})
}

// accepted hands out the connections themselves.
func accepted(t testing.TB, most int) (*evloop.Address, <-chan net.Conn) {
	t.Helper()
	got := make(chan net.Conn, most)
	stop := make(chan struct{})
	to := serve(t, func(c net.Conn) {
		got <- c
		<-stop
	})
	t.Cleanup(func() { close(stop) })
	return to, got
}

// take waits for an accepted connection. It is there once the client's side
// stands, or very soon.
func take(t testing.TB, got <-chan net.Conn) net.Conn {
	t.Helper()
	select {
	case c := <-got:
		_ = c.SetDeadline(time.Now().Add(patience))
		return c
	case <-time.After(patience):
		t.Fatal("the peer never accepted")
		return nil
	}
}

func address(t testing.TB, ln net.Listener) *evloop.Address {
	t.Helper()
	if a, ok := ln.Addr().(*net.UnixAddr); ok {
		return &evloop.Address{Unix: a.Name}
	}
	return &evloop.Address{TCP: ln.Addr().(*net.TCPAddr).AddrPort()}
}

func echo(c net.Conn) { _, _ = io.Copy(struct{ io.Writer }{c}, struct{ io.Reader }{c}) }

// sink reads to the end and hands over what came.
func sink(got chan<- []byte) func(net.Conn) {
	return func(c net.Conn) {
		all, _ := io.ReadAll(c)
		got <- all
	}
}

// says returns a server that says one thing and then reads to the end.
func says(text []byte) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := c.Write(text); err == nil {
			_, _ = io.Copy(io.Discard, c)
		}
	}
}

// pattern is n bytes in which each position is telling: lost, doubled and
// exchanged blocks show.
func pattern(n int, seed byte) []byte {
	p := make([]byte, n)
	x := uint32(seed)*2654435761 + 1
	for i := range p {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		p[i] = byte(x)
	}
	return p
}

func wantBytes(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if bytes.Equal(got, want) {
		return
	}
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	t.Errorf("%s: got %d bytes, want %d; first difference at byte %d", what, len(got), len(want), i)
}

func wantGone(t testing.TB, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("gone: got %v, want %v", got, want)
	}
}

// eventually polls for what other goroutines or the kernel do in their time.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	end := time.After(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("waited %v in vain for: %s", patience, what)
		}
	}
}

// receive takes from a channel what must come.
func receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("waited %v in vain for: %s", patience, what)
		panic("unreachable")
	}
}

func local(ip string, port uint16) *evloop.Address {
	return &evloop.Address{TCP: netip.AddrPortFrom(netip.MustParseAddr(ip), port)}
}
