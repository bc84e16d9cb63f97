package evloop_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"syscall"
	"testing"
	"time"

	"prony/internal/evloop"
)

// more is more than both sockets' buffers take on any sane machine.
const more = 24 << 20

func sendRules() []rule {
	return []rule{
		{"echo", "bytes arrive as they were sent, whatever their number", echoes},
		{"large send", "a send that the kernel does not take at once goes on by itself; Sent comes once, when the last byte is the kernel's, and not before; then the bytes may change", largeSend},
		{"dropped buffer", "the loop keeps what it was given alive until Sent: the caller need not", droppedBuffer},
		{"small sends", "small sends to a peer that does not read are also held back, none is lost or overtaken", smallSends},
		{"send within Sent", "a handler of Sent may send again; that is told too, and waits for nothing else", sendWithinSent},
		{"send within Opened", "a handler of Opened may send at once", sendWithinOpened},
		{"early answer", "what the peer said before the connection broke is told before the break, though a send failed", earlyAnswer},
		{"send to the dead", "a send on a broken connection ends in Gone, from Wait and once", sendToTheDead},
	}
}

func echoes(t *testing.T, kind evloop.Kind) {
	to := serve(t, echo)
	for _, size := range []int{1, 1 << 10, 8 << 10, 8<<10 + 1, 1 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			r := newRig(t, kind, evloop.Options{})
			r.openAll(1, to)
			for round := range 5 {
				want := pattern(size, byte(round))
				s := &r.slots[0]
				s.data = nil
				r.send(0, want)
				r.pump("the echo", func() bool { return len(s.data) >= size && !s.sending })
				wantBytes(t, "echo", s.data, want)
				if s.sent != round+1 {
					t.Errorf("Sent was told %d times of %d sends", s.sent, round+1)
				}
			}
		})
	}
}

func largeSend(t *testing.T, kind evloop.Kind) {
	to, got := accepted(t, 1)
	r := newRig(t, kind, evloop.Options{})
	r.openAll(1, to)
	peer := take(t, got)
	p, s := pattern(more, 1), &r.slots[0]
	r.send(0, p)
	for range 50 {
		r.wait(time.Millisecond)
	}
	if s.sent != 0 {
		t.Fatalf("Sent was told of %d bytes that nobody has read", len(p))
	}
	read := make(chan []byte, 1)
	began := r.loop.Now()
	go func() {
		all := make([]byte, more)
		n, _ := io.ReadFull(peer, all)
		read <- all[:n]
	}()
	r.pump("Sent", func() bool { return s.sent > 0 })
	clear(p)
	for range 20 {
		r.wait(time.Millisecond)
	}
	wantBytes(t, "received", receive(t, "the bytes", read), pattern(more, 1))
	if s.sent != 1 || s.sentAt < began {
		t.Errorf("Sent told %d times, want once; its time is %v after the peer began to read", s.sent, time.Duration(s.sentAt-began))
	}
}

func droppedBuffer(t *testing.T, kind evloop.Kind) {
	to, got := accepted(t, 1)
	r := newRig(t, kind, evloop.Options{})
	r.openAll(1, to)
	peer := take(t, got)
	r.send(0, pattern(more, 11))
	var others [][]byte
	for range 5 { // what is freed is soon used for something else
		r.wait(time.Millisecond)
		runtime.GC()
		others = append(others, bytes.Repeat([]byte("other"), more/5))
	}
	read := make(chan []byte, 1)
	go func() {
		all := make([]byte, more)
		n, _ := io.ReadFull(peer, all)
		read <- all[:n]
	}()
	r.pump("Sent", func() bool { return r.slots[0].sent == 1 })
	wantBytes(t, "received", receive(t, "the bytes", read), pattern(more, 11))
	runtime.KeepAlive(others)
}

func smallSends(t *testing.T, kind evloop.Kind) {
	const block = 4 << 10
	to, got := accepted(t, 1)
	r := newRig(t, kind, evloop.Options{})
	r.openAll(1, to)
	peer := take(t, got)
	want, buf := pattern(more, 2), make([]byte, block)
	read := make(chan []byte, 1)
	s, next, reading := &r.slots[0], 0, false
	last := time.Now()
	send := func(int32, int64) {
		last = time.Now()
		if next < more { // Sent was told: the bytes are ours again
			copy(buf, want[next:next+block])
			next += block
			r.send(0, buf)
		}
	}
	r.on.sent = send
	send(0, 0)
	r.pump("the last Sent", func() bool {
		if !reading && time.Since(last) > 30*time.Millisecond {
			reading = true
			go func() {
				all := make([]byte, more)
				n, _ := io.ReadFull(peer, all)
				read <- all[:n]
			}()
		}
		return next == more && !s.sending
	})
	if !reading {
		t.Fatalf("%d bytes were taken as sent while nobody read", more)
	}
	wantBytes(t, "received", receive(t, "the bytes", read), want)
	if s.sent != more/block {
		t.Errorf("Sent told %d times of %d sends", s.sent, more/block)
	}
}

func sendWithinSent(t *testing.T, kind evloop.Kind) {
	const n = 100
	to := serve(t, func(c net.Conn) {
		if _, err := io.ReadFull(c, make([]byte, n)); err == nil {
			_, _ = c.Write([]byte("all"))
		}
		_, _ = io.Copy(io.Discard, c)
	})
	r := newRig(t, kind, evloop.Options{})
	r.openAll(1, to)
	p, s := pattern(n, 3), &r.slots[0]
	r.on.sent = func(slot int32, _ int64) {
		if s.sent < n {
			r.send(slot, p[s.sent:s.sent+1])
		}
	}
	r.send(0, p[:1])
	stalls := 0
	for len(s.data) == 0 && stalls < n/2 && !t.Failed() {
		began := time.Now()
		if err := r.loop.Wait(evloop.Forever); err != nil {
			t.Fatal(err)
		}
		if time.Since(began) > evloop.MaxWait/2 {
			stalls++
		}
	}
	if s.sent != n || string(s.data) != "all" {
		t.Errorf("Sent told %d times of %d sends, the peer said %q; %d waits stalled", s.sent, n, s.data, stalls)
	}
}

func sendWithinOpened(t *testing.T, kind evloop.Kind) {
	const slots = 50
	to := serve(t, echo)
	r := newRig(t, kind, evloop.Options{Slots: slots})
	p := pattern(100, 4)
	r.on.opened = func(slot int32) { r.send(slot, p) }
	for i := range slots {
		r.open(int32(i), to)
	}
	r.pump("the echoes", func() bool {
		return r.all(slots, func(s *seen) bool { return len(s.data) >= len(p) && s.sent == 1 })
	})
	for i := range slots {
		wantBytes(t, "echo", r.slots[i].data, p)
	}
}

func earlyAnswer(t *testing.T, kind evloop.Kind) {
	for _, c := range []struct {
		name string
		size int // of the send that breaks
	}{{"large request", more}, {"small request", 100}} {
		t.Run(c.name, func(t *testing.T) {
			to, got := accepted(t, 1)
			r := newRig(t, kind, evloop.Options{})
			r.openAll(1, to)
			peer := take(t, got)
			if c.size == more {
				r.send(0, make([]byte, c.size))
				r.wait(time.Millisecond)
			}
			if _, err := peer.Write([]byte("413")); err != nil {
				t.Fatal(err)
			}
			_ = peer.(*net.TCPConn).SetLinger(0)
			_ = peer.Close()
			if c.size < more {
				r.send(0, make([]byte, c.size))
			}
			r.pump("Gone", func() bool { return r.slots[0].state == closed })
			if got := string(r.slots[0].data); got != "413" {
				t.Errorf("heard %q before Gone(%v), want %q", got, r.slots[0].err, "413")
			}
		})
	}
}

func sendToTheDead(t *testing.T, kind evloop.Kind) {
	to, got := accepted(t, 1)
	r := newRig(t, kind, evloop.Options{})
	r.openAll(1, to)
	peer := take(t, got)
	_ = peer.(*net.TCPConn).SetLinger(0)
	_ = peer.Close()
	inside := true
	r.on.gone = func(slot int32, _ error) {
		if inside {
			t.Error("Gone was told from within Send")
		}
		r.close(slot)
	}
	r.send(0, []byte("anybody?"))
	inside = false
	r.pump("Gone", func() bool { return r.slots[0].state == closed })
	for range 5 {
		r.wait(time.Millisecond)
	}
	if err := r.slots[0].err; !errors.Is(err, syscall.EPIPE) && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("gone: got %v, want EPIPE or ECONNRESET", err)
	}
}
