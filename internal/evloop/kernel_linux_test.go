package evloop_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"prony/internal/evloop"
)

// eachKind runs a test that is not a rule of the interface, but must hold for
// every loop on Linux.
func eachKind(t *testing.T, f func(*testing.T, evloop.Kind)) {
	for _, kind := range kinds() {
		t.Run(string(kind), func(t *testing.T) { f(t, kind) })
	}
}

// deaf listens with room for very few connections and takes none, so that
// further ones hang in their connect.
func deaf(t *testing.T) *evloop.Address {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return local("127.0.0.1", uint16(name.(*unix.SockaddrInet4).Port))
}

// halfOpen counts the sockets of this machine that still knock at an address.
func halfOpen(t *testing.T, at *evloop.Address) int {
	t.Helper()
	f, err := os.Open("/proc/self/net/tcp")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	want := fmt.Sprintf("0100007F:%04X", at.TCP.Port())
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		field := strings.Fields(lines.Text())
		if len(field) > 3 && field[2] == want && field[3] == "02" {
			n++
		}
	}
	return n
}

// A connect that was given up must not go on in the kernel for two minutes, nor
// succeed behind our back and take a place in the server.
func TestClosedConnectStops(t *testing.T) {
	eachKind(t, func(t *testing.T, kind evloop.Kind) {
		const slots = 6
		to := deaf(t)
		r := newRig(t, kind, evloop.Options{Slots: slots})
		for i := range int32(slots) {
			r.open(i, to)
		}
		r.pump("some connects hang", func() bool { return halfOpen(t, to) > 0 })
		for i := range int32(slots) {
			r.close(i)
			r.open(i, to) // perhaps queued
			r.close(i)
		}
		r.pump("the connects to end", func() bool { return halfOpen(t, to) == 0 })
		for range 5 { // and not to begin anew
			r.wait(time.Millisecond)
		}
		if n := halfOpen(t, to); n != 0 {
			t.Errorf("%d connects of closed slots are under way", n)
		}
	})
}

// The same on a unix socket, where the kernel has a thread wait for a place in
// the server's queue.
func TestClosedUnixConnectStops(t *testing.T) {
	eachKind(t, func(t *testing.T, kind evloop.Kind) {
		const slots = 6
		name := fmt.Sprintf("@evloop-deaf-%d-%s", os.Getpid(), kind)
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(fd) })
		if err := errors.Join(unix.Bind(fd, &unix.SockaddrUnix{Name: name}), unix.Listen(fd, 0)); err != nil {
			t.Fatal(err)
		}
		r := newRig(t, kind, evloop.Options{Slots: slots})
		for i := range int32(slots) {
			_ = r.tryOpen(i, &evloop.Address{Unix: name}, nil) // EAGAIN is allowed
		}
		r.pump("an Opened", func() bool { return !r.all(slots, func(s *seen) bool { return s.state != open }) })
		for range 5 {
			r.wait(time.Millisecond)
		}
		stand := 0
		for i := range int32(slots) {
			if r.slots[i].state == open {
				stand++
			}
			r.close(i)
		}
		for range 200 { // the kernel's thread hears of the end when it next runs
			r.wait(time.Millisecond)
		}
		taken := 0
		for range 20 {
			r.wait(time.Millisecond)
			if peer, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC); err == nil {
				taken++
				_ = unix.Close(peer)
			}
		}
		if taken > stand {
			t.Errorf("the server got %d connections, %d of them after we had given up", taken, taken-stand)
		}
	})
}

// Events that a batch still holds for a closed slot are not its successor's:
// here they would pass for the end of a connect that does not end.
func TestStaleEvents(t *testing.T) {
	eachKind(t, func(t *testing.T, kind evloop.Kind) {
		const slots, most = 32, 8
		to := deaf(t)
		r := newRig(t, kind, evloop.Options{Slots: slots + most})
		for i := range int32(most) { // fill the queue
			r.open(slots+i, to)
		}
		r.pump("connects hang", func() bool { return halfOpen(t, to) > 0 })
		peers := crowd(t, r, slots)
		writeAll(t, peers, func(int) []byte { return []byte("old") })
		r.on.data = func(int32, []byte, int64) {
			r.on = hooks{}
			for i := range int32(slots) {
				r.close(i)
				r.open(i, to)
			}
		}
		r.pump("data", r.on.isZero)
		for range 5 {
			r.wait(time.Millisecond)
		}
		if !r.all(slots, func(s *seen) bool { return s.state == connecting }) {
			t.Error("a connect ended that nobody answered")
		}
	})
}

func TestRefusedConnectsLeakNothing(t *testing.T) {
	eachKind(t, func(t *testing.T, kind evloop.Kind) {
		to := closedPort(t)
		r := newRig(t, kind, evloop.Options{})
		_ = r.outcome(to, nil) // what is opened once for all is open now
		before := descriptors(t)
		for range 1000 {
			if err := r.outcome(to, nil); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Fatalf("got %v, want ECONNREFUSED", err)
			}
		}
		r.wait(0)
		eventually(t, "descriptors to be closed", func() bool { return descriptors(t) <= before })
	})
}

// Release must close what it opened at once, whatever state it was in.
func TestReleaseClosesDescriptors(t *testing.T) {
	eachKind(t, func(t *testing.T, kind evloop.Kind) {
		to := deaf(t)
		r := newRig(t, kind, evloop.Options{Slots: 8})
		r.release()
		before := descriptors(t)
		for round := range 4 {
			r := newRig(t, kind, evloop.Options{Slots: 8})
			for i := range int32(round * 2) {
				r.open(i, to)
			}
			r.wait(0)
			r.release()
			if after := descriptors(t); after > before {
				t.Fatalf("%d descriptors before, %d after a loop with %d slots open", before, after, round*2)
			}
		}
	})
}

// runDry is the environment variable that makes this binary the subprocess of
// TestDescriptorsRunOut, with the kind as its value.
const runDry = "EVLOOP_TEST_RUN_DRY"

func TestDescriptorsRunOut(t *testing.T) {
	if kind := os.Getenv(runDry); kind != "" {
		useUpDescriptors(t, evloop.Kind(kind))
		return
	}
	eachKind(t, func(t *testing.T, kind evloop.Kind) {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDescriptorsRunOut$", "-test.v", "-test.timeout=60s")
		c.Env = append(os.Environ(), runDry+"="+string(kind))
		out, err := c.CombinedOutput()
		switch {
		case err != nil:
			t.Errorf("%v\n%s", err, out)
		case strings.Contains(string(out), "--- SKIP"):
			t.Skipf("%s", out)
		}
	})
}

func useUpDescriptors(t *testing.T, kind evloop.Kind) {
	const slots, free = 64, 20
	ln := listen(t, "tcp", "127.0.0.1:0") // its queue takes them all
	r := newRig(t, kind, evloop.Options{Slots: slots})
	r.openAll(1, address(t, ln)) // the runtime's own descriptors are open now
	limit := unix.Rlimit{Cur: uint64(descriptors(t) + free)}
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{}); err != nil {
		t.Skip(err)
	}
	limit.Max = limit.Cur
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Skip(err)
	}
	opened, refused := 0, 0
	for i := int32(1); i < slots; i++ {
		err := r.tryOpen(i, address(t, ln), nil)
		if err == nil { // goroutines learn of it later
			r.pump("Opened or Gone", func() bool { return r.slots[i].state != connecting })
			err = r.slots[i].err
		}
		switch {
		case err == nil:
			opened++
		case errors.Is(err, syscall.EMFILE):
			refused++
		default:
			t.Fatalf("slot %d: got %v, want EMFILE", i, err)
		}
	}
	if opened == 0 || opened > free+2 || refused != slots-1-opened {
		t.Errorf("%d connections opened and %d refused with room for %d", opened, refused, free)
	}
	for i := range int32(slots) {
		r.close(i)
	}
	r.wait(0)
	eventually(t, "room for a connection", func() bool {
		r.wait(0)
		return r.tryOpen(0, address(t, ln), nil) == nil
	})
	r.pump("a connection after the drought", func() bool { return r.slots[0].state == open })
}

// The point of kernel timestamps is that time in the socket is not counted: the
// bytes lie there for a while, and the time told is that of their arrival.
func TestKernelTimestamps(t *testing.T) {
	const rest = 30 * time.Millisecond
	r := newRig(t, evloop.Epoll, evloop.Options{KernelTimestamps: true})
	peer := crowd(t, r, 1)[0]
	var at int64
	r.on.data = func(_ int32, _ []byte, when int64) { at = when }
	stamped := 0
	for round := range 10 {
		s := &r.slots[0]
		s.data = nil
		before := r.loop.Now()
		writeAll(t, []net.Conn{peer}, func(int) []byte { return []byte("x") })
		after := r.loop.Now()
		for r.loop.Now() < after+int64(rest) {
			<-time.After(rest)
		}
		r.pump("the byte", func() bool { return len(s.data) == 1 })
		if at == 0 {
			continue // allowed: the kernel begins to stamp a little late
		}
		stamped++
		const slack = int64(time.Millisecond) // the two clocks are read one after the other
		if at < before-slack || at > after+slack {
			t.Errorf("round %d: written between 0 and %v, received at %v, read after %v", round,
				time.Duration(after-before), time.Duration(at-before), time.Duration(r.loop.Now()-before))
		}
	}
	if stamped < 5 {
		t.Errorf("%d of 10 receives had a time", stamped)
	}
}

func TestNoTimestampsOfUnixSockets(t *testing.T) {
	ln := listen(t, "unix", fmt.Sprintf("@evloop-stamps-%d", os.Getpid()))
	serveOn(t, ln, echo)
	r := newRig(t, evloop.Epoll, evloop.Options{KernelTimestamps: true})
	r.on.data = func(_ int32, _ []byte, at int64) {
		if now := r.loop.Now(); at < 0 || at > now {
			t.Errorf("data at %d, now %d", at, now)
		}
	}
	r.openAll(1, address(t, ln))
	r.send(0, []byte("x"))
	r.pump("the echo", func() bool { return string(r.slots[0].data) == "x" })
}
