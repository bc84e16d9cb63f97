package evloop

import (
	"io"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	epollBatch  = 256
	epollBuffer = 32 << 10
	// Registered once, for good: a write interest that is never taken back
	// costs nothing with EPOLLET, since the kernel only signals it after a
	// send found the buffer full.
	epollInterest = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff
)

// epollLoop is the edge-triggered epoll implementation: one recvfrom and one
// sendto a request.
type epollLoop struct {
	h       Handler
	fd      int
	conns   []epollConn
	buf     []byte
	failed  []failure
	spin    spinner
	gather  time.Duration
	enough  int
	last    int  // events of the last wait
	pwait2  bool // the kernel takes nanoseconds
	stamps  *stamper
	events  [epollBatch]unix.EpollEvent
	timeout unix.Timespec
}

type epollConn struct {
	fd         int32
	gen        uint32
	connecting bool
	itself     bool   // may have been connected to itself
	rest       []byte // of a send that did not fit
}

// failure is a send error, told at the next Wait: never from within Send.
type failure struct {
	slot int32
	gen  uint32
	err  syscall.Errno
}

func openEpoll(o Options, h Handler) (Loop, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	sharpTimers()
	size := o.ReadBuffer
	if size == 0 {
		size = epollBuffer
	}
	l := &epollLoop{h: h, fd: fd, conns: make([]epollConn, o.Slots), buf: make([]byte, size),
		spin: spinner{budget: int64(o.Spin)}, gather: o.Coalesce, enough: 16, pwait2: true}
	for i := range l.conns {
		l.conns[i].fd = -1
	}
	if o.KernelTimestamps {
		l.stamps = newStamper()
	}
	return l, nil
}

func (l *epollLoop) Now() int64 { return Now() }

// Gather implements Gatherer by a short sleep before waits that would find
// only a few events.
func (l *epollLoop) Gather(wait time.Duration, n int) { l.gather, l.enough = wait, min(n, 16) }

func (l *epollLoop) Open(slot int32, to, from *Address) error {
	fd, err := socket(to, from, l.stamps != nil)
	if err != nil {
		return err
	}
	errno := connect(fd, to)
	if errno != 0 && errno != syscall.EINPROGRESS {
		closeRaw(fd)
		return errno
	}
	c := &l.conns[slot]
	c.fd, c.connecting, c.itself = int32(fd), true, to.mayMeetItself()
	ev := unix.EpollEvent{Events: epollInterest, Fd: slot, Pad: int32(c.gen)}
	_, _, errno = syscall.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(l.fd), unix.EPOLL_CTL_ADD, uintptr(fd), uintptr(unsafe.Pointer(&ev)), 0, 0)
	if errno != 0 {
		l.Close(slot)
		return errno
	}
	return nil
}

func (l *epollLoop) Close(slot int32) {
	c := &l.conns[slot]
	if c.fd < 0 {
		return
	}
	closeRaw(int(c.fd))
	*c = epollConn{fd: -1, gen: c.gen + 1}
}

func (l *epollLoop) Send(slot int32, p []byte, at int64) {
	c := &l.conns[slot]
	n, errno := sendRaw(int(c.fd), p)
	switch {
	case errno == syscall.EAGAIN:
		c.rest = p
	case errno != 0:
		l.failed = append(l.failed, failure{slot, c.gen, errno})
	case n < len(p):
		c.rest = p[n:]
	default:
		l.h.Sent(slot, at)
	}
}

func sendRaw(fd int, p []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)),
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		if errno != syscall.EINTR {
			return int(n), errno
		}
	}
}

func (l *epollLoop) Wait(until int64) error {
	if len(l.failed) > 0 {
		l.tellFailed()
		until = 0
	}
	n, err := l.wait(until)
	if err != nil {
		return err
	}
	l.last = n
	for i := range n {
		l.handle(&l.events[i])
	}
	return nil
}

// wait fills l.events: at once, after a spin, or blocking.
func (l *epollLoop) wait(until int64) (int, error) {
	if budget := l.spin.start(); budget > 0 && until > 0 {
		end := min(Now()+budget, until)
		for {
			n, err := l.poll(0)
			if n > 0 || err != nil {
				l.spin.done(true)
				return n, err
			}
			if Now() >= end {
				break
			}
		}
		l.spin.done(false)
	}
	if l.gather > 0 && l.last < l.enough {
		l.nap(until)
	}
	return l.poll(left(until))
}

// left is the time until a deadline, at most MaxWait.
func left(until int64) time.Duration {
	if until == Forever {
		return MaxWait
	}
	if until == 0 {
		return 0
	}
	return min(max(time.Duration(until-Now()), 0), MaxWait)
}

// nap lets completions gather; the events of the wait that follows are then
// handled together.
func (l *epollLoop) nap(until int64) {
	d := min(l.gather, left(until))
	if d <= 0 {
		return
	}
	ts := unix.NsecToTimespec(int64(d))
	_, _, _ = syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
}

func (l *epollLoop) poll(d time.Duration) (int, error) {
	n, errno := l.pollRaw(d)
	switch errno {
	case 0:
		return n, nil
	case syscall.EINTR:
		return 0, nil
	case syscall.ENOSYS:
		if l.pwait2 {
			l.pwait2 = false // before Linux 5.11: milliseconds
			return l.poll(d)
		}
	}
	return 0, errno
}

func (l *epollLoop) pollRaw(d time.Duration) (int, syscall.Errno) {
	at := uintptr(unsafe.Pointer(&l.events[0]))
	if l.pwait2 {
		l.timeout = unix.NsecToTimespec(int64(d))
		n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(l.fd), at, epollBatch, uintptr(unsafe.Pointer(&l.timeout)), 0, 0)
		return int(n), errno
	}
	ms := (d + time.Millisecond - 1) / time.Millisecond
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.fd), at, epollBatch, uintptr(ms), 0, 0)
	return int(n), errno
}

func (l *epollLoop) tellFailed() {
	for i := 0; i < len(l.failed); i++ {
		f := l.failed[i]
		if l.conns[f.slot].gen == f.gen {
			l.lost(f.slot, f.err)
		}
	}
	l.failed = l.failed[:0]
}

// lost tells that a send failed, after what the peer said before that: a
// server may refuse a request with an answer and close without reading it all.
func (l *epollLoop) lost(slot int32, err syscall.Errno) {
	gen := l.conns[slot].gen
	for {
		n, at, errno := l.recv(int(l.conns[slot].fd))
		if errno != 0 || n == 0 {
			break
		}
		l.h.Data(slot, l.buf[:n], at)
		if l.conns[slot].gen != gen {
			return
		}
	}
	l.h.Gone(slot, err)
}

func (l *epollLoop) handle(ev *unix.EpollEvent) {
	slot := ev.Fd
	c := &l.conns[slot]
	if c.fd < 0 || c.gen != uint32(ev.Pad) {
		return // of a connection that was closed in this batch
	}
	if c.connecting {
		if !l.connected(slot, c, ev.Events) {
			return
		}
	}
	if ev.Events&unix.EPOLLOUT != 0 && len(c.rest) > 0 && !l.flush(slot, c) {
		return
	}
	if ev.Events&(unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		l.read(slot, c, ev.Events)
	}
}

// connected ends a connect; false when the slot is gone or not yet open.
func (l *epollLoop) connected(slot int32, c *epollConn, events uint32) bool {
	if events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) == 0 {
		return false
	}
	gen := c.gen
	errno := socketError(int(c.fd))
	if errno == 0 && c.itself && metItself(int(c.fd)) {
		errno = syscall.ECONNREFUSED // nobody else is there
	}
	if errno != 0 {
		l.h.Gone(slot, errno)
		return false
	}
	c.connecting = false
	l.h.Opened(slot)
	return l.conns[slot].gen == gen
}

// flush goes on with a send that did not fit; false when the slot is gone.
func (l *epollLoop) flush(slot int32, c *epollConn) bool {
	n, errno := sendRaw(int(c.fd), c.rest)
	if errno == syscall.EAGAIN {
		return true
	}
	if errno != 0 {
		l.lost(slot, errno)
		return false
	}
	c.rest = c.rest[n:]
	if len(c.rest) == 0 {
		c.rest = nil
		gen := c.gen
		l.h.Sent(slot, Now())
		return l.conns[slot].gen == gen
	}
	return true
}

// read takes what is there. A short read means that the rest will raise a new
// edge, unless the peer has already closed: then the end must be read now.
func (l *epollLoop) read(slot int32, c *epollConn, events uint32) {
	gen := c.gen
	ended := events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0
	for {
		n, at, errno := l.recv(int(c.fd))
		switch {
		case errno == syscall.EAGAIN:
			return
		case errno != 0:
			l.h.Gone(slot, errno)
			return
		case n == 0:
			l.h.Gone(slot, io.EOF)
			return
		}
		l.h.Data(slot, l.buf[:n], at)
		if l.conns[slot].gen != gen || n < len(l.buf) && !ended {
			return
		}
	}
}

func (l *epollLoop) recv(fd int) (int, int64, syscall.Errno) {
	if l.stamps != nil {
		return l.stamps.recv(fd, l.buf)
	}
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&l.buf[0])), uintptr(len(l.buf)), unix.MSG_DONTWAIT, 0, 0)
		if errno != syscall.EINTR {
			return int(n), 0, errno
		}
	}
}

// Spun reports whether polling ever paid.
func (l *epollLoop) Spun() bool { return l.spin.used }

func (l *epollLoop) Release() error {
	for i := range l.conns {
		l.Close(int32(i))
	}
	return unix.Close(l.fd)
}
