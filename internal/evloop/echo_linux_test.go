package evloop_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"prony/internal/evloop"
	"prony/internal/testserver"
)

// bench is a loop and its peers' raw sockets on one thread: nothing else runs,
// so that every allocation is the loop's.
type bench struct {
	loop  evloop.Loop
	h     counter
	peers []int
	p     []byte
	buf   []byte
}

func newBench(tb testing.TB, kind evloop.Kind, n int) *bench {
	tb.Helper()
	runtime.LockOSThread()
	tb.Cleanup(runtime.UnlockOSThread)
	b := &bench{p: pattern(100, 12), buf: make([]byte, 4096)}
	loop, err := evloop.Open(kind, evloop.Options{Slots: n}, &b.h)
	if err != nil {
		tb.Skipf("no %s loop here: %v", kind, err)
	}
	b.loop = loop
	tb.Cleanup(func() { _ = loop.Release() })
	fd, to := rawListener(tb)
	for i := range n {
		if err := loop.Open(int32(i), to, nil); err != nil {
			tb.Fatal(err)
		}
		for b.h.opened == i && b.h.gone == nil {
			b.wait(tb)
		}
		peer, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
		if err = errors.Join(err, b.h.gone); err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = unix.Close(peer) })
		_ = unix.SetsockoptInt(peer, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		_ = unix.SetsockoptTimeval(peer, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: int64(patience.Seconds())})
		b.peers = append(b.peers, peer)
	}
	return b
}

func rawListener(tb testing.TB) (int, *evloop.Address) {
	tb.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = unix.Close(fd) })
	err = errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 128))
	if err != nil {
		tb.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		tb.Fatal(err)
	}
	return fd, local("127.0.0.1", uint16(name.(*unix.SockaddrInet4).Port))
}

func (b *bench) wait(tb testing.TB) {
	if err := b.loop.Wait(b.loop.Now() + 10e6); err != nil {
		tb.Fatal(err)
	}
}

// round sends on every connection, lets every peer answer, and hears all.
func (b *bench) round(tb testing.TB) {
	want := b.h.data + len(b.peers)*len(b.p)
	for i := range b.peers {
		b.loop.Send(int32(i), b.p, b.loop.Now())
	}
	if err := b.loop.Wait(0); err != nil { // hands queued sends over
		tb.Fatal(err)
	}
	for _, fd := range b.peers {
		n, err := unix.Read(fd, b.buf)
		if err != nil || n != len(b.p) {
			tb.Fatalf("the peer read %d bytes, %v; want %d", n, err, len(b.p))
		}
		if _, err := unix.Write(fd, b.p); err != nil {
			tb.Fatal(err)
		}
	}
	for b.h.data < want && b.h.gone == nil {
		b.wait(tb)
	}
	if b.h.gone != nil {
		tb.Fatal(b.h.gone)
	}
}

// A load generator that allocates per request is stopped by its own collector
// and then measures that.
func TestEchoRoundsAllocateNothing(t *testing.T) {
	for _, kind := range []evloop.Kind{evloop.IOURing, evloop.Epoll} {
		for _, n := range []int{1, 2, 64} {
			t.Run(fmt.Sprintf("%s/%d", kind, n), func(t *testing.T) {
				b := newBench(t, kind, n)
				for range 20 {
					b.round(t)
				}
				if got := testing.AllocsPerRun(200, func() { b.round(t) }); got != 0 {
					t.Errorf("a round on %d connections allocates %v times, want 0", n, got)
				}
			})
		}
	}
}

// ponger sends a request as soon as an answer came, for as long as it is asked.
type ponger struct {
	loop          evloop.Loop
	p             []byte
	opened, heard int
	most          int
	gone          error
}

func (p *ponger) Opened(int32)            { p.opened++ }
func (p *ponger) Sent(int32, int64)       {}
func (p *ponger) Gone(_ int32, err error) { p.gone = err }
func (p *ponger) send(slot int32)         { p.loop.Send(slot, p.p, p.loop.Now()) }
func (p *ponger) Data(s int32, _ []byte, _ int64) {
	if p.heard++; p.heard < p.most {
		p.send(s)
	}
}

// BenchmarkRequests is a closed load on the test server's fastest target: one
// operation is one request and its answer.
func BenchmarkRequests(b *testing.B) {
	for _, kind := range kinds() {
		for _, n := range []int{1, 2, 64} {
			b.Run(fmt.Sprintf("%s/%d", kind, n), func(b *testing.B) { requests(b, kind, n) })
		}
	}
}

func requests(b *testing.B, kind evloop.Kind, conns int) {
	server, err := testserver.StartResponder(testserver.ResponderConfig{})
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { _ = server.Close() })
	to, err := evloop.ParseAddress(server.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	h := &ponger{p: []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n")}
	if h.loop, err = evloop.Open(kind, evloop.Options{Slots: conns}, h); err != nil {
		b.Skip(err)
	}
	defer func() { _ = h.loop.Release() }()
	for i := range conns {
		if err := h.loop.Open(int32(i), to, nil); err != nil {
			b.Fatal(err)
		}
	}
	h.until(b, func() bool { return h.opened == conns })
	h.heard, h.most = 0, b.N
	b.ReportAllocs()
	b.ResetTimer()
	before := threadCPU(b)
	for i := range min(conns, b.N) {
		h.send(int32(i))
	}
	h.until(b, func() bool { return h.heard >= b.N })
	b.ReportMetric(float64(threadCPU(b)-before)/float64(b.N), "cpu-ns/op")
}

func (p *ponger) until(b *testing.B, done func() bool) {
	for !done() && p.gone == nil {
		if err := p.loop.Wait(p.loop.Now() + 10e6); err != nil {
			b.Fatal(err)
		}
	}
	if p.gone != nil {
		b.Fatal(p.gone)
	}
}

// threadCPU is the processor time of the calling thread in nanoseconds: of the
// loop, but for the goroutines kind.
func threadCPU(tb testing.TB) int64 {
	tb.Helper()
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		tb.Skip(err)
	}
	return ts.Nano()
}
