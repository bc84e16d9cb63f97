//go:build amd64 || arm64

package testserver

import (
	"bytes"
	"net"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// responderThread is one thread of a Responder. It shares nothing but its
// counters.
type responderThread struct {
	requests atomic.Int64
	accepted atomic.Int64

	addr            net.Addr
	listener, epoll int
	answers         []byte // copies of the answer
	one             int    // length of one copy
	buffer          []byte
	events          []unix.EpollEvent
	conns           []responderConn // by descriptor
	open            int

	hold    time.Duration
	start   time.Time
	waiting holdQueue
	held    []time.Duration
}

// responderConn is a connection of a thread.
type responderConn struct {
	open    bool
	blocked bool   // the send buffer is full: nothing is read until it drains
	match   uint8  // how much of the empty line that ends a head has come: 0..3
	life    uint32 // tells connections that had the same descriptor apart
	owed    int    // bytes of answers to send
}

// waitTime bounds a wait, in milliseconds, so that stopping never hangs.
const waitTime = 100

const connEvents = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff

// run serves until stop. The raw system calls do not tell the scheduler, which
// would otherwise take the processor away in every one of them.
func (t *responderThread) run(stop *atomic.Bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t.start = time.Now()
	for !stop.Load() {
		timeout := waitTime
		if t.hold > 0 && t.open > 0 {
			timeout = 0
			t.releaseDue()
		}
		n := t.wait(timeout)
		for i := range n {
			t.handle(&t.events[i])
		}
	}
}

// wait returns the number of events. An interrupted wait has none.
func (t *responderThread) wait(timeout int) int {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(t.epoll),
		uintptr(unsafe.Pointer(&t.events[0])), uintptr(len(t.events)), uintptr(timeout), 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

func (t *responderThread) handle(e *unix.EpollEvent) {
	fd := int(e.Fd)
	if fd == t.listener {
		t.accept()
		return
	}
	c := &t.conns[fd]
	if !c.open {
		return
	}
	if c.blocked {
		if e.Events&(unix.EPOLLOUT|unix.EPOLLHUP|unix.EPOLLERR) == 0 {
			return // more to read, but still no room to answer
		}
		c.blocked = false
		if !t.send(fd, c) {
			return
		}
	}
	t.receive(fd, c, e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0)
}

// accept takes all waiting connections. If it cannot, for want of
// descriptors, the event comes again.
func (t *responderThread) accept() {
	for {
		fd, _, err := unix.Accept4(t.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err != nil {
			return
		}
		for len(t.conns) <= fd {
			t.conns = append(t.conns, responderConn{})
		}
		if err := unix.EpollCtl(t.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: connEvents, Fd: int32(fd)}); err != nil {
			_ = unix.Close(fd)
			continue
		}
		t.conns[fd] = responderConn{open: true, life: t.conns[fd].life + 1}
		t.open++
		t.accepted.Add(1)
	}
}

// receive reads once, and again only if the buffer was filled or the peer has
// closed: an edge-triggered event does not come twice.
func (t *responderThread) receive(fd int, c *responderConn, closing bool) {
	for !c.blocked {
		n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd),
			uintptr(unsafe.Pointer(&t.buffer[0])), uintptr(len(t.buffer)), unix.MSG_DONTWAIT, 0, 0)
		switch {
		case errno == syscall.EINTR:
			continue
		case errno == syscall.EAGAIN:
			return
		case errno != 0 || n == 0:
			t.drop(fd, c)
			return
		}
		heads := c.count(t.buffer[:n])
		if heads > 0 && !t.serve(fd, c, heads) {
			return
		}
		if int(n) < len(t.buffer) && !closing {
			return
		}
	}
}

// headEnd ends a request head.
const headEnd = "\r\n\r\n"

// count returns the number of heads that end in b, which goes on where the
// last call ended.
func (c *responderConn) count(b []byte) int {
	heads := 0
	for len(b) > 0 && c.match > 0 { // in the middle of what may be an end
		heads += c.step(b[0])
		b = b[1:]
	}
	for {
		i := bytes.Index(b, []byte(headEnd))
		if i < 0 {
			break
		}
		heads++
		b = b[i+len(headEnd):]
	}
	for _, x := range b[max(0, len(b)-len(headEnd)+1):] {
		heads += c.step(x)
	}
	return heads
}

// step takes one byte and returns 1 if it ends a head.
func (c *responderConn) step(x byte) int {
	switch {
	case x == headEnd[c.match]:
		c.match++
	case x == '\r':
		c.match = 1
	default:
		c.match = 0
	}
	if int(c.match) < len(headEnd) {
		return 0
	}
	c.match = 0
	return 1
}

// serve answers so many requests, now or when they have been held. It returns
// false if the connection is gone.
func (t *responderThread) serve(fd int, c *responderConn, heads int) bool {
	t.requests.Add(int64(heads))
	if t.hold > 0 {
		t.waiting.push(held{fd: fd, life: c.life, heads: heads, since: time.Since(t.start)})
		return true
	}
	c.owed += heads * t.one
	return t.send(fd, c)
}

// send sends what is owed, in as few sends as the prebuilt copies allow. It
// returns false if the connection is gone.
func (t *responderThread) send(fd int, c *responderConn) bool {
	for c.owed > 0 {
		// The copies end with an answer, so what is owed is their last part,
		// or starts in their first answer where the last send stopped.
		from := (t.one - c.owed%t.one) % t.one
		part := t.answers[from:min(len(t.answers), from+c.owed)]
		n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd),
			uintptr(unsafe.Pointer(&part[0])), uintptr(len(part)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		switch errno {
		case 0:
			c.owed -= int(n)
		case syscall.EINTR:
		case syscall.EAGAIN:
			return t.block(fd, c)
		default:
			t.drop(fd, c)
			return false
		}
	}
	return true
}

// block waits for room in the send buffer. Asking for the event only now
// spares the usual case a second event. The descriptor keeps asking.
func (t *responderThread) block(fd int, c *responderConn) bool {
	e := unix.EpollEvent{Events: connEvents | unix.EPOLLOUT, Fd: int32(fd)}
	if err := unix.EpollCtl(t.epoll, unix.EPOLL_CTL_MOD, fd, &e); err != nil {
		t.drop(fd, c)
		return false
	}
	c.blocked = true
	return true
}

func (t *responderThread) drop(fd int, c *responderConn) {
	c.open = false
	t.open--
	_ = unix.Close(fd)
}

// release closes all descriptors after run has returned.
func (t *responderThread) release() {
	for fd := range t.conns {
		if c := &t.conns[fd]; c.open {
			t.drop(fd, c)
		}
	}
	for _, fd := range []int{t.listener, t.epoll} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
