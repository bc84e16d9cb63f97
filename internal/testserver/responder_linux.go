//go:build amd64 || arm64

package testserver

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// ResponderConfig describes a [Responder]. The zero value is one thread on a
// free loopback port that answers at once with a body of 33 bytes.
type ResponderConfig struct {
	// Address is a host and port; the default is a free port on 127.0.0.1.
	Address string
	// Threads is the number of threads, each with its own listener; default 1.
	// GOMAXPROCS must exceed it, because a thread keeps its processor while it
	// waits: with none left over the rest of the program would stand still.
	// The kernel spreads connections over the threads by chance, not evenly.
	Threads int
	// BodySize is the size of the body in bytes, up to 1 MiB; default 33.
	BodySize int
	// Hold answers each request exactly this long after it was read, up to a
	// minute. The threads spin, without waiting, while a connection is open.
	// A client that half-closes in the meantime gets no answer.
	Hold time.Duration
}

// Responder answers every request with the same bytes, as fast as one thread
// can: edge-triggered epoll, raw system calls, one receive and one send per
// request, no allocation. It takes whatever ends in an empty line for a
// request: clients must send no bodies.
type Responder struct {
	addr    net.Addr
	threads []*responderThread
	stop    atomic.Bool
	running sync.WaitGroup
	closing sync.Once
}

// Bounds of a responder.
const (
	maxResponderBody = 1 << 20
	maxHold          = time.Minute
	maxBatchBytes    = 64 << 10 // of answers in one send, unless one is longer
	maxBatch         = 64       // answers in one send
)

// StartResponder starts a responder. It fails if the configuration is wrong or
// the address cannot be listened on.
func StartResponder(c ResponderConfig) (*Responder, error) {
	if c.Address == "" {
		c.Address = "127.0.0.1:0"
	}
	c.Threads = max(c.Threads, 1)
	if c.BodySize == 0 {
		c.BodySize = 33
	}
	if c.BodySize < 0 || c.BodySize > maxResponderBody || c.Hold < 0 || c.Hold > maxHold {
		return nil, fmt.Errorf("responder: body of %d bytes, hold of %v: want up to %d and %v", c.BodySize, c.Hold, maxResponderBody, maxHold)
	}
	r := &Responder{}
	answers, one := prebuilt(c.BodySize)
	for range c.Threads {
		t, err := newResponderThread(c.Address, answers, one, c.Hold)
		if err != nil {
			r.release()
			return nil, fmt.Errorf("responder: listen on %s: %w", c.Address, err)
		}
		r.threads = append(r.threads, t)
		r.addr = t.addr
		c.Address = t.addr.String() // the first one chose the port
	}
	for _, t := range r.threads {
		r.running.Go(func() { t.run(&r.stop) })
	}
	return r, nil
}

// prebuilt returns as many copies of the answer as one send takes, and the
// length of one.
func prebuilt(bodySize int) (answers []byte, one int) {
	answer, _ := response{body: filler(bodySize)}.bytes(&request{minor: 1}, nil)
	copies := min(max(maxBatchBytes/len(answer), 1), maxBatch)
	return bytes.Repeat(answer, copies), len(answer)
}

// Addr returns the address listened on.
func (r *Responder) Addr() net.Addr { return r.addr }

// URL returns the base URL without a final slash.
func (r *Responder) URL() string { return "http://" + r.addr.String() }

// Requests returns the number of requests read so far.
func (r *Responder) Requests() int64 {
	var n int64
	for _, t := range r.threads {
		n += t.requests.Load()
	}
	return n
}

// Connections returns the number of connections accepted so far.
func (r *Responder) Connections() int64 {
	var n int64
	for _, t := range r.threads {
		n += t.accepted.Load()
	}
	return n
}

// Held returns, ascending, how long requests were really held: from the return
// of the receive to just before the send. It covers the first million batches
// of each thread, and is empty before Close and without a Hold.
func (r *Responder) Held() []time.Duration {
	if !r.stop.Load() {
		return nil
	}
	r.running.Wait()
	var all []time.Duration
	for _, t := range r.threads {
		all = append(all, t.held...)
	}
	slices.Sort(all)
	return all
}

// Close stops the threads, which takes up to 100 ms, and closes all sockets.
// Closing twice is fine.
func (r *Responder) Close() error {
	r.stop.Store(true)
	r.running.Wait()
	r.closing.Do(r.release)
	return nil
}

func (r *Responder) release() {
	for _, t := range r.threads {
		t.release()
	}
}

// newResponderThread makes a listener that shares its port, and an epoll set.
func newResponderThread(address string, answers []byte, one int, hold time.Duration) (*responderThread, error) {
	domain, sa, err := sockaddr("tcp", address)
	if err != nil {
		return nil, err
	}
	t := &responderThread{answers: answers, one: one, hold: hold, listener: -1, epoll: -1}
	if err := t.listen(domain, sa); err != nil {
		t.release()
		return nil, err
	}
	t.buffer = make([]byte, 32<<10)
	t.events = make([]unix.EpollEvent, 256)
	return t, nil
}

func (t *responderThread) listen(domain int, sa unix.Sockaddr) (err error) {
	if t.listener, err = unix.Socket(domain, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		return os.NewSyscallError("socket", err)
	}
	err = errors.Join(
		unix.SetsockoptInt(t.listener, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1),
		unix.SetsockoptInt(t.listener, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1),
		unix.SetsockoptInt(t.listener, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1), // connections inherit it
	)
	if err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	if err = unix.Bind(t.listener, sa); err != nil {
		return os.NewSyscallError("bind", err)
	}
	if err = unix.Listen(t.listener, 4096); err != nil {
		return os.NewSyscallError("listen", err)
	}
	if t.addr, err = boundTo(t.listener); err != nil {
		return err
	}
	if t.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	// Level-triggered: accepting may have to be put off.
	err = unix.EpollCtl(t.epoll, unix.EPOLL_CTL_ADD, t.listener, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(t.listener)})
	return os.NewSyscallError("epoll_ctl", err)
}

// boundTo returns the address a socket is bound to.
func boundTo(fd int) (*net.TCPAddr, error) {
	sa, err := unix.Getsockname(fd)
	if err != nil {
		return nil, os.NewSyscallError("getsockname", err)
	}
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return &net.TCPAddr{IP: sa.Addr[:], Port: sa.Port}, nil
	case *unix.SockaddrInet6:
		return &net.TCPAddr{IP: sa.Addr[:], Port: sa.Port}, nil
	}
	return nil, fmt.Errorf("getsockname: unexpected address %T", sa)
}
