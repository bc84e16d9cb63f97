package evloop_test

import (
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"prony/internal/evloop"
)

func receiveRules() []rule {
	return []rule{
		{"large receive", "all bytes come, in order and once", largeReceive},
		{"end of stream", "the peer's close is Gone(io.EOF), after the last byte", endOfStream},
		{"half-closed peer", "a peer that only ends its own side has closed, as far as we are told", halfClosed},
		{"reset", "a reset is Gone(ECONNRESET)", resets},
		{"bytes with the connect", "bytes that are there when the connection stands are told after Opened", bytesWithConnect},
		{"more events than a batch", "the events that did not fit in one batch come with the next", manyEvents},
		{"more data than buffers", "data that finds no buffer waits in its socket: nothing is lost", moreThanBuffers},
		{"small read buffer", "Options.ReadBuffer bounds one Data, not what can be received", smallReadBuffer},
	}
}

func largeReceive(t *testing.T, kind evloop.Kind) {
	want := pattern(10<<20, 5)
	to := serve(t, says(want))
	r := newRig(t, kind, evloop.Options{})
	r.open(0, to)
	r.pump("10 MB", func() bool { return len(r.slots[0].data) >= len(want) })
	wantBytes(t, "received", r.slots[0].data, want)
}

func endOfStream(t *testing.T, kind evloop.Kind) {
	// 4 KiB and 32 KiB are the loops' buffers: a read that fills one exactly
	// must not end the reading.
	for _, size := range []int{0, 1, 4 << 10, 32 << 10, 100 << 10} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			to, got := accepted(t, 1)
			r := newRig(t, kind, evloop.Options{})
			r.openAll(1, to)
			peer := take(t, got)
			want := pattern(size, 6)
			if _, err := peer.Write(want); err != nil {
				t.Fatal(err)
			}
			_ = peer.Close() // before the loop looks: bytes and end come together
			r.pump("Gone", func() bool { return r.slots[0].state == closed })
			wantGone(t, r.slots[0].err, io.EOF)
			wantBytes(t, "before the end", r.slots[0].data, want)
		})
	}
}

func halfClosed(t *testing.T, kind evloop.Kind) {
	to, got := accepted(t, 1)
	r := newRig(t, kind, evloop.Options{})
	r.openAll(1, to)
	peer := take(t, got)
	if _, err := peer.Write([]byte("last words")); err != nil {
		t.Fatal(err)
	}
	if err := peer.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	r.pump("Gone", func() bool { return r.slots[0].state == closed })
	wantGone(t, r.slots[0].err, io.EOF)
	wantBytes(t, "before the end", r.slots[0].data, []byte("last words"))
	r.wait(0) // a loop may need a call to let go
	if n, err := peer.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("the peer reads %d bytes, %v after our Close; want its end", n, err)
	}
}

func resets(t *testing.T, kind evloop.Kind) {
	to, got := accepted(t, 1)
	r := newRig(t, kind, evloop.Options{})
	r.openAll(1, to)
	peer := take(t, got)
	_ = peer.(*net.TCPConn).SetLinger(0)
	_ = peer.Close()
	r.pump("Gone", func() bool { return r.slots[0].state == closed })
	wantGone(t, r.slots[0].err, syscall.ECONNRESET)
}

func bytesWithConnect(t *testing.T, kind evloop.Kind) {
	to, got := accepted(t, 1)
	r := newRig(t, kind, evloop.Options{})
	r.open(0, to)
	if kind == evloop.IOURing {
		r.wait(0) // Open only queues
	}
	peer := take(t, got)
	if _, err := peer.Write([]byte("banner")); err != nil {
		t.Fatal(err)
	}
	_ = peer.Close()
	r.pump("Gone", func() bool { return r.slots[0].state == closed })
	wantGone(t, r.slots[0].err, io.EOF)
	wantBytes(t, "banner", r.slots[0].data, []byte("banner"))
}

// crowd opens n connections and returns their peers; which belongs to which
// slot is not known.
func crowd(t *testing.T, r *rig, n int) []net.Conn {
	t.Helper()
	to, got := accepted(t, n)
	r.openAll(n, to)
	var peers []net.Conn
	for range n {
		peers = append(peers, take(t, got))
	}
	return peers
}

// writeAll lets every peer say its part before the loop hears any.
func writeAll(t *testing.T, peers []net.Conn, part func(i int) []byte) {
	t.Helper()
	for i, c := range peers {
		if _, err := c.Write(part(i)); err != nil {
			t.Fatal(err)
		}
	}
}

func manyEvents(t *testing.T, kind evloop.Kind) {
	const n = 600
	r := newRig(t, kind, evloop.Options{Slots: n})
	peers := crowd(t, r, n)
	for round := 1; round <= 3; round++ {
		writeAll(t, peers, func(int) []byte { return []byte{byte(round)} })
		r.pump("a byte on every connection", func() bool {
			return r.all(n, func(s *seen) bool { return len(s.data) == round })
		})
	}
	if !r.all(n, func(s *seen) bool { return string(s.data) == "\x01\x02\x03" }) {
		t.Error("a connection heard other bytes than its peer's")
	}
}

func moreThanBuffers(t *testing.T, kind evloop.Kind) {
	// The kernel serves some 20 connections at a time: only small buffers run
	// out for sure.
	for _, buffer := range []int{0, 256} {
		t.Run(fmt.Sprint(buffer), func(t *testing.T) { flood(t, kind, buffer) })
	}
}

func flood(t *testing.T, kind evloop.Kind, buffer int) {
	const n, size = 600, 16 << 10
	r := newRig(t, kind, evloop.Options{Slots: n, ReadBuffer: buffer})
	peers := crowd(t, r, n)
	for round := range 2 { // the second time with receives that were armed again
		part := func(i int) []byte { return pattern(size, byte(i+round)) }
		writeAll(t, peers, part)
		r.pump("all data", func() bool { return r.all(n, func(s *seen) bool { return len(s.data) >= size }) })
		known := map[string]int{}
		for i := range n {
			known[string(part(i))]++
		}
		for i := range n {
			known[string(r.slots[i].data)]--
			r.slots[i].data = nil
		}
		for _, left := range known {
			if left != 0 {
				t.Fatalf("round %d: some connections heard other bytes than their peers'", round)
			}
		}
	}
}

func smallReadBuffer(t *testing.T, kind evloop.Kind) {
	if kind == evloop.Goroutines {
		t.Skip("its buffer is fixed")
	}
	const most = 100
	want := pattern(1<<20, 7)
	to := serve(t, says(want))
	r := newRig(t, kind, evloop.Options{ReadBuffer: most})
	r.on.data = func(_ int32, p []byte, _ int64) {
		if len(p) > most {
			t.Errorf("Data of %d bytes, want at most %d", len(p), most)
		}
	}
	r.open(0, to)
	r.pump("all bytes", func() bool { return len(r.slots[0].data) >= len(want) })
	wantBytes(t, "received", r.slots[0].data, want)
}
