package testserver

import (
	"bufio"
	"bytes"
	"io"
	"time"
)

// ParseRequest parses one request, for the fuzz test.
func ParseRequest(b []byte) (method, path string, body []byte, ok bool) {
	br := bufio.NewReader(bytes.NewReader(b))
	r, err := readHead(br)
	if err != nil || r.readBody(br, maxKept) != nil {
		return "", "", nil, false
	}
	return r.method, r.path, r.body, true
}

// ReadsPast tells how many of the bytes a request left.
func ReadsPast(b []byte) (left int, ok bool) {
	br := bufio.NewReader(bytes.NewReader(b))
	r, err := readHead(br)
	if err != nil || r.readBody(br, 0) != nil {
		return 0, false
	}
	rest, _ := io.ReadAll(br)
	return len(rest), true
}

// Offline is a server without a network: its clock, queue and plans.
type Offline struct{ s *Server }

// NewOffline makes one; under synctest its clock is the bubble's.
func NewOffline(c Config) Offline {
	c = c.withDefaults()
	s := &Server{config: c, clock: newClock(), errors: newErrorPlan(c.ErrorShare, c.ErrorSeed)}
	if c.Queue.Rate > 0 {
		s.queue = NewFIFO(c.Queue)
	}
	return Offline{s}
}

// Serve waits as a request of the default path does, and returns how long.
func (o Offline) Serve() time.Duration {
	from := time.Now()
	a := o.s.arrive(true)
	o.s.clock.until(a.depart, false, nil)
	return time.Since(from)
}

// Pause freezes or releases the clock.
func (o Offline) Pause(on bool) { o.s.clock.pause(on) }
