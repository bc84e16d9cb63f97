package evloop_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"

	"prony/internal/evloop"
)

// kinds are the loops that must behave alike.
func kinds() []evloop.Kind {
	return []evloop.Kind{evloop.IOURing, evloop.Epoll, evloop.Goroutines}
}

func TestConformance(t *testing.T) {
	for _, kind := range kinds() {
		t.Run(string(kind), func(t *testing.T) { conform(t, kind) })
	}
}

// rule is one promise of Loop and Handler, and the case that holds a loop to it.
type rule struct {
	name string
	text string // what an implementer has to know when it fails
	run  func(*testing.T, evloop.Kind)
}

func rules() []rule {
	return slices.Concat(connectRules(), sendRules(), receiveRules(), closeRules(), waitRules())
}

// conform runs each rule on a loop of its own.
func conform(t *testing.T, kind evloop.Kind) {
	probe, err := evloop.Open(kind, evloop.Options{Slots: 1}, &rig{})
	if err != nil {
		t.Skipf("no %s loop here: %v", kind, err)
	}
	if err := probe.Release(); err != nil {
		t.Errorf("release of a loop that did nothing: %v", err)
	}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("the rule: %s", r.text)
				}
			}()
			r.run(t, kind)
		})
	}
}

func connectRules() []rule {
	return []rule{
		{"connect", "Open leads to one Opened, after which bytes go both ways, on TCP over IPv4 and IPv6, unix sockets and abstract names", connects},
		{"refused", "a connection that nobody takes is told as Gone, or by Open, with the kernel's errno", refused},
		{"source address", "from is where the connection comes from; one that is not ours is an error of Open or Gone", sourceAddress},
		{"slot reuse", "a slot can be used again as soon as it is closed, any number of times", slotReuse},
		{"shared address", "several loops may use one Address at the same time", sharedAddress},
	}
}

func connects(t *testing.T, kind evloop.Kind) {
	dir, err := os.MkdirTemp("", "evloop") // t.TempDir can be too long for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, c := range []struct{ name, network, at string }{
		{"IPv4", "tcp4", "127.0.0.1:0"},
		{"IPv6", "tcp6", "[::1]:0"},
		{"unix socket", "unix", filepath.Join(dir, "s")},
		{"abstract name", "unix", fmt.Sprintf("@evloop-%d-%s", os.Getpid(), kind)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.network == "unix" && c.at[0] == '@' && runtime.GOOS != "linux" {
				t.Skip("abstract names are Linux's")
			}
			ln := listen(t, c.network, c.at)
			serveOn(t, ln, echo)
			r := newRig(t, kind, evloop.Options{})
			r.openAll(1, address(t, ln))
			r.send(0, []byte("hello"))
			r.pump("the echo", func() bool { return len(r.slots[0].data) >= 5 })
			wantBytes(t, "echo", r.slots[0].data, []byte("hello"))
		})
	}
}

// closedPort is a port that is held, so that nobody else gets it, but not
// listened on.
func closedPort(t testing.TB) *evloop.Address {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return local("127.0.0.1", uint16(name.(*syscall.SockaddrInet4).Port))
}

// outcome opens slot 0 and returns the error that must come of it.
func (r *rig) outcome(to, from *evloop.Address) error {
	r.t.Helper()
	if err := r.tryOpen(0, to, from); err != nil {
		return err
	}
	r.pump("an error", func() bool { return r.slots[0].state == closed })
	return r.slots[0].err
}

func refused(t *testing.T, kind evloop.Kind) {
	for _, c := range []struct {
		name string
		to   *evloop.Address
		want syscall.Errno
	}{
		{"no listener", closedPort(t), syscall.ECONNREFUSED},
		{"no such socket", &evloop.Address{Unix: filepath.Join(t.TempDir(), "none")}, syscall.ENOENT},
		{"no such name", &evloop.Address{Unix: "@evloop-nobody"}, syscall.ECONNREFUSED},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, kind, evloop.Options{})
			for range 3 { // a failed slot is as good as new
				wantGone(t, r.outcome(c.to, nil), c.want)
			}
		})
	}
}

func sourceAddress(t *testing.T, kind evloop.Kind) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has all of 127.0.0.0/8 on its loopback")
	}
	to, got := accepted(t, 2)
	r := newRig(t, kind, evloop.Options{})
	for range 2 { // the same source again: the port is not kept
		if err := r.tryOpen(0, to, local("127.0.0.2", 0)); err != nil {
			t.Fatal(err)
		}
		r.pump("Opened", func() bool { return r.slots[0].state == open })
		if from := take(t, got).RemoteAddr().(*net.TCPAddr).IP.String(); from != "127.0.0.2" {
			t.Errorf("the peer sees %s, want 127.0.0.2", from)
		}
		r.close(0)
	}
	wantGone(t, r.outcome(to, local("192.0.2.1", 0)), syscall.EADDRNOTAVAIL)
}

func slotReuse(t *testing.T, kind evloop.Kind) {
	const slots, total = 16, 3000
	var served atomic.Int64
	to := serve(t, func(c net.Conn) {
		served.Add(1)
		says([]byte("x"))(c)
	})
	r := newRig(t, kind, evloop.Options{Slots: slots})
	started, heard := 0, 0
	next := func(slot int32) {
		if started < total {
			started++
			r.open(slot, to)
		}
	}
	r.on.data = func(slot int32, p []byte, _ int64) {
		heard += len(p)
		r.close(slot)
		next(slot)
	}
	for i := range slots {
		next(int32(i))
	}
	r.pump("an answer on every connection", func() bool { return heard == total })
	if got := served.Load(); got != total {
		t.Errorf("the server saw %d connections, want %d", got, total)
	}
}

func sharedAddress(t *testing.T, kind evloop.Kind) {
	const loops = 4
	ends := make(chan error, loops)
	to := serve(t, says([]byte("x")))
	for range loops {
		go func() { ends <- openOnce(kind, to) }()
	}
	for range loops {
		if err := receive(t, "a loop's end", ends); err != nil {
			t.Error(err)
		}
	}
}

// openOnce opens one connection on a loop and thread of its own.
func openOnce(kind evloop.Kind, to *evloop.Address) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var h counter
	loop, err := evloop.Open(kind, evloop.Options{Slots: 1}, &h)
	if err != nil {
		return err
	}
	if err := loop.Open(0, to, nil); err != nil {
		return errors.Join(err, loop.Release())
	}
	for i := 0; h.data == 0 && h.gone == nil && i < 1000; i++ {
		if err := loop.Wait(loop.Now() + 10e6); err != nil {
			return errors.Join(err, loop.Release())
		}
	}
	if h.gone == nil && h.data == 0 {
		h.gone = io.ErrNoProgress
	}
	return errors.Join(h.gone, loop.Release())
}

// counter is a handler that allocates nothing.
type counter struct {
	opened, sent, data int
	at                 int64 // of the last data
	gone               error
}

func (c *counter) Opened(int32)      { c.opened++ }
func (c *counter) Sent(int32, int64) { c.sent++ }
func (c *counter) Data(_ int32, p []byte, at int64) {
	c.data += len(p)
	c.at = at
}
func (c *counter) Gone(_ int32, err error) { c.gone = err }
