// Package evloop moves bytes for many sockets from one thread: io_uring,
// edge-triggered epoll and, where neither is to be had, goroutines over
// net.Conn, behind one type.
//
// It decides for its user: nonblocking sockets with TCP_NODELAY; no epoll_ctl
// on the request path; one multishot receive per connection on io_uring;
// raw system calls, hidden from Go's scheduler, that never block longer than
// MaxWait, so that a stop or a garbage collection cannot hang on them.
//
// It refuses: more than one thread per Loop, framing, timeouts of connections,
// and hidden retries. A Loop is created, used and released on one locked OS
// thread.
//
// The interface is that of completions: the user asks for Open and Send, and
// the Handler hears what came of it while Wait runs. The engine's simulated
// network implements the same interface on a virtual clock.
package evloop

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// MaxWait bounds one blocking wait.
const MaxWait = 100 * time.Millisecond

// Forever, as an argument of Wait, sets no bound but MaxWait.
const Forever = math.MaxInt64

// heldSend is what a socket buffer takes at once in the usual case: for a send
// up to this size, Sent is told with its start, for a larger one with its end.
const heldSend = 8 << 10

// Loop drives the sockets of one worker. Slots are small integers chosen by
// the user, below Options.Slots. Times are nanoseconds of the loop's clock.
type Loop interface {
	// Now reads the loop's monotonic clock.
	Now() int64
	// Open starts to connect a slot. The handler hears Opened or Gone, unless
	// the error tells at once that there is no socket (EMFILE, EADDRNOTAVAIL).
	Open(slot int32, to, from *Address) error
	// Send hands over p, which must stay unchanged until Sent. At most one
	// Send of a slot may be under way. at is a fresh reading of Now.
	Send(slot int32, p []byte, at int64)
	// Close drops the slot's socket; nothing is heard of it afterwards.
	Close(slot int32)
	// Wait handles what has come, after waiting for it until the given time.
	Wait(until int64) error
	// Release frees everything. The loop is dead afterwards.
	Release() error
}

// Handler hears what happened to a slot. It is called from Wait, but for Sent,
// which may also be called from within Send.
type Handler interface {
	// Opened: the connection stands.
	Opened(slot int32)
	// Sent: the bytes of the last Send are the kernel's since the time at.
	Sent(slot int32, at int64)
	// Data: p came in; it is valid during the call. at is the time at which
	// the kernel received it, or 0 where that is not known.
	Data(slot int32, p []byte, at int64)
	// Gone: the peer closed (io.EOF) or the socket failed (a syscall.Errno).
	// The slot still has to be closed.
	Gone(slot int32, err error)
}

// Kind names an implementation.
type Kind string

const (
	Auto       Kind = "auto"
	IOURing    Kind = "io_uring"
	Epoll      Kind = "epoll"
	Goroutines Kind = "goroutines"
)

// Options configure a Loop; the zero value of each field is its default.
type Options struct {
	// Slots is the number of connections the loop must hold.
	Slots int
	// KernelTimestamps asks for the time at which the kernel received data
	// (SO_TIMESTAMPNS); epoll only.
	KernelTimestamps bool
	// Coalesce may make Wait gather completions for that long once there is
	// one; it is adjusted by Gather. 0: never.
	Coalesce time.Duration
	// Spin is the longest time to poll before blocking; 0: never.
	Spin time.Duration
	// ReadBuffer is the size of one receive buffer. Default 4 KiB on io_uring,
	// 32 KiB on epoll.
	ReadBuffer int
}

// Gatherer is implemented by loops that can wait for several completions at
// once: for at most wait, once there is one, and at most n. wait 0 turns it
// off.
type Gatherer interface {
	Gather(wait time.Duration, n int)
}

// ErrKind reports an implementation that this machine does not offer.
var ErrKind = errors.New("event loop not available")

// Open makes a loop of the kind, Auto being the best that Probe found.
func Open(k Kind, o Options, h Handler) (Loop, error) {
	if k == Auto || k == "" {
		k, _ = Probe()
	}
	if o.Slots <= 0 {
		return nil, fmt.Errorf("open event loop: no slots asked for")
	}
	l, err := open(k, o, h)
	if err != nil {
		return nil, fmt.Errorf("open %s loop: %w", k, err)
	}
	return l, nil
}

// clock is the process's monotonic clock: one vDSO call a reading.
type clock struct{ base time.Time }

// base is set once, at start; all loops of a process share its zero.
var base = clock{time.Now()}

// Now returns nanoseconds since the process began, monotonic. All real loops
// of a process share this clock.
func Now() int64 { return int64(time.Since(base.base)) }

// Wall converts a reading of Now to wall clock time.
func Wall(at int64) time.Time { return base.base.Add(time.Duration(at)) }
