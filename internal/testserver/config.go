package testserver

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"time"
)

// Header is one response header field.
type Header struct{ Name, Value string }

// Config says how a [Server] listens and behaves. The zero value is a plain
// server on a free loopback port that answers every request at once with 200
// and a short body.
type Config struct {
	// Network is "tcp" (the default), "tcp4", "tcp6" or "unix".
	Network string
	// Address is a host and port, or the path of the socket. The default is
	// a free port on 127.0.0.1 ([::1] for tcp6); unix has no default.
	Address string
	// TLS makes the server speak TLS; see [SelfSigned].
	TLS *tls.Config

	// Body is the default answer. If nil it is BodySize bytes of filler, and
	// if that is zero too, the three bytes "ok\n". An empty non-nil Body is an
	// empty answer.
	Body     []byte
	BodySize int
	// Headers are added to every whole answer, in this order.
	Headers []Header

	// Delay is the time from the last byte of a request to its answer, on the
	// default path. It is never shorter; it is up to about a millisecond
	// longer unless Precise is set.
	Delay time.Duration
	// Precise ends every wait by spinning for its last 1.5 ms. It costs a
	// processor, and misleads on a machine that has none to spare.
	Precise bool
	// Stall freezes the whole server once.
	Stall Stall
	// Queue makes the default path wait in a queue. Delay then has no effect.
	Queue Queue
	// ServerTime adds the header Server-Time: nanoseconds from the last byte
	// of the request to the write of the answer, as they really were. Queue
	// implies it.
	ServerTime bool

	// ErrorShare, in [0, 1], of the requests on the default path is answered
	// with ErrorStatus (default 500). The errors are evenly spaced, or, with a
	// non-zero ErrorSeed, drawn from it.
	ErrorShare  float64
	ErrorStatus int
	ErrorSeed   uint64
	// ErrorDelay takes the place of Delay for an error: at zero errors are
	// fast. With Queue an error waits and is served like any other request.
	ErrorDelay time.Duration

	// MaxRequestsPerConn closes a connection, announced by Connection: close,
	// with that answer. Zero means no limit.
	MaxRequestsPerConn int
	// IdleTimeout closes a connection that long without a request. Zero means
	// never.
	IdleTimeout time.Duration

	// Backlog is the length of the accept queue; zero leaves it to the system.
	// Linux lets one connection more than this wait.
	Backlog int
	// AcceptEvery is the least time from one accepted connection to the next.
	AcceptEvery time.Duration
	// NeverAccept leaves all connections in the accept queue.
	NeverAccept bool
}

// Stall is one planned freeze of the whole server: nothing is answered while
// it lasts, requests in service stop where they are, and new ones wait. The
// zero value is no stall.
type Stall struct {
	// AtRequest starts the stall with the arrival of that request, counted
	// from 1, which is held too. If zero, the stall starts After the arrival
	// of the first request.
	AtRequest int64
	After     time.Duration
	// For is the length of the stall.
	For time.Duration
}

// Queue describes a single server in front of which requests wait, first come
// first served. The zero value is no queue.
type Queue struct {
	// Rate is the mean number of services per second.
	Rate float64
	// Exponential draws exponential service times from Seed; otherwise each
	// takes exactly 1/Rate.
	Exponential bool
	Seed        uint64
}

// maxSize bounds every size a configuration or a path may ask for, in bytes.
const maxSize = 64 << 20

// withDefaults returns c with every default filled in.
func (c Config) withDefaults() Config {
	if c.Network == "" {
		c.Network = "tcp"
	}
	if c.Address == "" && c.Network != "unix" {
		c.Address = "127.0.0.1:0"
		if c.Network == "tcp6" {
			c.Address = "[::1]:0"
		}
	}
	if c.ErrorStatus == 0 {
		c.ErrorStatus = 500
	}
	if c.Body == nil {
		c.Body = []byte("ok\n")
		if c.BodySize > 0 {
			c.Body = filler(c.BodySize)
		}
	}
	return c
}

// check returns every mistake in c, after the defaults.
func (c Config) check() error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(c.Network != "tcp" && c.Network != "tcp4" && c.Network != "tcp6" && c.Network != "unix", "network %q: want tcp, tcp4, tcp6 or unix", c.Network)
	bad(c.Network == "unix" && c.Address == "", "address: a unix socket needs a path")
	bad(c.BodySize < 0 || c.BodySize > maxSize, "body size %d: want 0 to %d bytes", c.BodySize, maxSize)
	bad(c.Delay < 0 || c.ErrorDelay < 0, "delay: is negative")
	bad(c.AcceptEvery < 0, "time between accepts: is negative")
	bad(c.Stall.For < 0 || c.Stall.After < 0 || c.Stall.AtRequest < 0, "stall: is negative")
	bad(c.Stall.AtRequest > 0 && c.Stall.After > 0, "stall: has both a request and a time to start at")
	bad(c.Queue.Rate < 0, "queue rate %g: is negative", c.Queue.Rate)
	bad(!(c.ErrorShare >= 0 && c.ErrorShare <= 1), "error share %g: want 0 to 1", c.ErrorShare)
	bad(c.ErrorStatus < 200 || c.ErrorStatus > 999, "error status %d: want 200 to 999", c.ErrorStatus)
	bad(c.MaxRequestsPerConn < 0, "requests per connection %d: is negative", c.MaxRequestsPerConn)
	bad(c.Backlog < 0, "backlog %d: is negative", c.Backlog)
	for _, h := range c.Headers {
		bad(bytes.ContainsAny([]byte(h.Name+h.Value), "\r\n"), "header %q: holds a line break", h.Name)
	}
	return errors.Join(errs...)
}

// filler returns n bytes of readable text.
func filler(n int) []byte {
	const line = "the quick brown fox jumps over the lazy dog, again and again...\n"
	return bytes.Repeat([]byte(line), n/len(line)+1)[:n]
}
