package evloop_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"
	"time"

	"prony/internal/evloop"
)

func closeRules() []rule {
	return []rule{
		{"close within a handler", "any handler may close its slot and open it anew at once; of the old connection nothing more is heard", closeWithin},
		{"close of others within a handler", "a handler may close and reopen other slots whose events are in the same batch; those events are dropped", closeOthers},
		{"close with a queued send", "bytes sent on a slot that is then closed never reach a later connection, though its descriptor may have the same number", closeQueued},
		{"close with a queued send beside others", "nor do they reach a connection that somebody else in this process opens meanwhile", closeQueuedBeside},
		{"close with a stuck send", "a send that the kernel has not taken ends with its connection", closeStuck},
		{"close before Opened", "a slot may be closed while it connects", closeConnecting},
		{"close twice", "closing a closed slot does nothing", closeTwice},
		{"the peer hears it", "Close ends the connection for the peer too, at the latest with the next Wait", peerHears},
		{"release", "Release ends every connection, whatever it was doing, and leaves no descriptor and no goroutine", release},
	}
}

// old is what the first server says: more than one read takes.
var old = bytes.Repeat([]byte("old "), 32<<10)

func closeWithin(t *testing.T, kind evloop.Kind) {
	const rounds = 20
	first := serve(t, says(old))
	ends := serve(t, func(c net.Conn) { _, _ = c.Write([]byte("old")) })
	second := serve(t, says([]byte("new")))
	for _, c := range []struct {
		name string
		to   *evloop.Address
		arm  func(r *rig, again func())
	}{
		{"Opened", first, func(r *rig, again func()) { r.on.opened = func(int32) { again() } }},
		{"Sent", first, func(r *rig, again func()) {
			r.on.opened = func(slot int32) { r.send(slot, []byte("x")) }
			r.on.sent = func(int32, int64) { again() }
		}},
		{"Sent of a large send", first, func(r *rig, again func()) {
			r.on.opened = func(slot int32) { r.send(slot, make([]byte, 1<<20)) }
			r.on.sent = func(int32, int64) { again() }
		}},
		{"Data", first, func(r *rig, again func()) { r.on.data = func(int32, []byte, int64) { again() } }},
		{"Gone", ends, func(r *rig, again func()) { r.on.gone = func(int32, error) { again() } }},
		{"Gone, refused", closedPort(t), func(r *rig, again func()) { r.on.gone = func(int32, error) { again() } }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, kind, evloop.Options{})
			for range rounds {
				c.arm(r, func() {
					r.on = hooks{}
					r.close(0)
					r.open(0, second)
				})
				r.open(0, c.to)
				r.pump("the second server", func() bool { return r.on.isZero() && len(r.slots[0].data) >= 3 })
				for range 3 {
					r.wait(0)
				}
				wantBytes(t, "the second server", r.slots[0].data, []byte("new"))
				r.close(0)
			}
		})
	}
}

func (h *hooks) isZero() bool {
	return h.opened == nil && h.sent == nil && h.data == nil && h.gone == nil
}

func closeOthers(t *testing.T, kind evloop.Kind) {
	const n = 32
	second := serve(t, says([]byte("new")))
	r := newRig(t, kind, evloop.Options{Slots: n})
	for range 5 {
		peers := crowd(t, r, n)
		writeAll(t, peers, func(int) []byte { return []byte("old") })
		for i := range n / 2 { // some end as well
			_ = peers[i].Close()
		}
		r.on.data = func(int32, []byte, int64) {
			r.on = hooks{}
			for i := range int32(n) {
				r.close(i)
				r.open(i, second)
			}
		}
		r.pump("the second server", func() bool {
			return r.all(n, func(s *seen) bool { return s.state == open && len(s.data) >= 3 && r.on.isZero() })
		})
		r.wait(0)
		for i := range int32(n) {
			wantBytes(t, "the second server", r.slots[i].data, []byte("new"))
			r.close(i)
		}
	}
}

func closeQueued(t *testing.T, kind evloop.Kind) {
	const rounds, slots = 30, 8
	got := make(chan []byte, rounds*slots)
	first := serve(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	second := serve(t, sink(got))
	r := newRig(t, kind, evloop.Options{Slots: slots})
	stale, fresh := []byte("STALE"), []byte("fresh")
	for range rounds {
		r.openAll(slots, first)
		for i := range int32(slots) {
			r.send(i, stale)
		}
		for i := range int32(slots) {
			r.close(i)
			r.open(i, second)
		}
		r.pump("the second server", func() bool { return r.all(slots, func(s *seen) bool { return s.state == open }) })
		for i := range int32(slots) {
			r.send(i, fresh)
		}
		r.pump("Sent", func() bool { return r.all(slots, func(s *seen) bool { return s.sent == 1 }) })
		r.wait(0) // Sent may come before the call that hands small sends over
		for i := range int32(slots) {
			r.close(i)
		}
		r.wait(0)
	}
	for range rounds * slots {
		wantBytes(t, "the second server", receive(t, "a connection's bytes", got), fresh)
	}
}

func closeQueuedBeside(t *testing.T, kind evloop.Kind) {
	const slots = 8
	got := make(chan []byte, slots)
	first := serve(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	second := serve(t, sink(got))
	r := newRig(t, kind, evloop.Options{Slots: slots})
	r.openAll(slots, first)
	for i := range int32(slots) {
		r.send(i, []byte("STALE"))
	}
	for i := range int32(slots) {
		r.close(i)
	}
	var others []net.Conn
	for range slots { // they take the numbers that are free now
		c, err := net.Dial("tcp", second.String())
		if err != nil {
			t.Fatal(err)
		}
		others = append(others, c)
	}
	r.wait(time.Millisecond)
	for _, c := range others {
		_ = c.Close()
		wantBytes(t, "somebody else's server", receive(t, "a connection's bytes", got), nil)
	}
}

func closeStuck(t *testing.T, kind evloop.Kind) {
	to, got := accepted(t, 1)
	second := make(chan []byte, 1)
	other := serve(t, sink(second))
	r := newRig(t, kind, evloop.Options{})
	r.openAll(1, to)
	peer := take(t, got)
	r.send(0, pattern(more, 8))
	r.wait(5 * time.Millisecond)
	r.close(0)
	r.openAll(1, other)
	n, _ := io.Copy(io.Discard, peer) // what the kernel had; then its end or a reset
	if n >= more {
		t.Errorf("the peer got all %d bytes, though the send was stuck", n)
	}
	r.send(0, []byte("fresh"))
	r.pump("Sent", func() bool { return !r.slots[0].sending })
	r.wait(0)
	r.close(0)
	r.wait(0)
	wantBytes(t, "the second server", receive(t, "its bytes", second), []byte("fresh"))
}

func closeConnecting(t *testing.T, kind evloop.Kind) {
	to := serve(t, says([]byte("x")))
	r := newRig(t, kind, evloop.Options{})
	for i := range 200 {
		r.open(0, to)
		if i%2 == 1 {
			r.wait(0)
		}
		r.close(0)
	}
	r.openAll(1, to)
	r.pump("its byte", func() bool { return len(r.slots[0].data) > 0 })
	wantBytes(t, "the last connection", r.slots[0].data, []byte("x"))
}

func closeTwice(t *testing.T, kind evloop.Kind) {
	to := serve(t, echo)
	r := newRig(t, kind, evloop.Options{Slots: 2})
	r.close(0) // never opened
	r.openAll(2, to)
	r.close(0)
	r.close(0) // and must not take slot 1's descriptor
	r.send(1, []byte("y"))
	r.pump("the echo", func() bool { return string(r.slots[1].data) == "y" })
}

func peerHears(t *testing.T, kind evloop.Kind) {
	got := make(chan []byte, 1)
	to := serve(t, sink(got))
	r := newRig(t, kind, evloop.Options{})
	r.openAll(1, to)
	r.close(0)
	r.wait(0)
	receive(t, "the end of the connection", got)
}

func release(t *testing.T, kind evloop.Kind) {
	to, got := accepted(t, 200)
	goroutines, large := runtime.NumGoroutine(), make([]byte, more)
	for round := range 20 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			watchdog := time.AfterFunc(patience, func() { panic("Release hangs") })
			defer watchdog.Stop()
			before := descriptors(t)
			r := newRig(t, kind, evloop.Options{Slots: 5})
			r.openAll(4, to)
			r.send(0, large)
			r.send(1, []byte("queued"))
			r.open(4, to) // connecting, or just connected
			if round%2 == 1 {
				r.wait(0)
			}
			r.release()
			if after := descriptors(t); after > before+len(got)+8 {
				t.Errorf("%d descriptors before, %d after", before, after)
			}
			for range 4 {
				take(t, got)
			}
		})
	}
	eventually(t, "the loops' goroutines to end", func() bool { return runtime.NumGoroutine() <= goroutines+100 })
}
