package testserver

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Bounds of the behaviours that limit a server.
const (
	maxPool  = 10_000
	mostHeld = 1 << 30 // bytes kept by /hold, in all
	pageSize = 4096    // bytes; the least that counts as used
)

// limiting returns the behaviours that give a server a known limit.
func limiting(name string) func(*exchange) outcome {
	switch name {
	case "work":
		return (*exchange).work
	case "lock":
		return (*exchange).lock
	case "pool":
		return (*exchange).pool
	case "aging":
		return (*exchange).aging
	case "hold":
		return (*exchange).hold
	}
	return nil
}

// work answers /work/200us after that much CPU time of its own, and
// /work/200us+30ms after a wait as well, as for another service.
func (x *exchange) work() outcome {
	own, wait, waits := strings.Cut(x.arg, "+")
	d, err := parseDelay(own, 0)
	var then time.Duration
	if waits {
		var wrong error
		then, wrong = parseDelay(wait, 0)
		err = errors.Join(err, wrong)
	}
	if err != nil {
		return x.mistake(err)
	}
	if !burn(d, x.life.over) || !x.pause(then) {
		return outcome{aborted, cut}
	}
	return x.reply(response{body: x.standard()})
}

// lock answers /lock/2ms: all such requests sleep under one lock.
func (x *exchange) lock() outcome {
	d, err := parseDelay(x.arg, 0)
	if err != nil {
		return x.mistake(err)
	}
	return x.inPool(1, d)
}

// pool answers /pool/20x5ms: at most 20 such requests wait for something at a
// time, and the others for their turn.
func (x *exchange) pool() outcome {
	size, each, _ := strings.Cut(x.arg, "x")
	n, err := parseCount(size, 1, maxPool)
	d, wrong := parseDelay(each, 0)
	if err = errors.Join(err, wrong); err != nil {
		return x.mistake(fmt.Errorf("want COUNTxDURATION, such as 20x5ms: %w", err))
	}
	return x.inPool(n, d)
}

func (x *exchange) inPool(n int, d time.Duration) outcome {
	places := x.server.poolOf(n)
	select {
	case places <- struct{}{}:
		defer func() { <-places }()
	case <-x.life.over:
		return outcome{aborted, cut}
	}
	if !x.pause(d) {
		return outcome{aborted, cut}
	}
	return x.reply(response{body: x.standard()})
}

// poolOf is the pool of a size; a lock is a pool of one.
func (s *Server) poolOf(size int) chan struct{} {
	s.resources.Lock()
	defer s.resources.Unlock()
	if s.pools == nil {
		s.pools = map[int]chan struct{}{}
	}
	if s.pools[size] == nil {
		s.pools[size] = make(chan struct{}, size)
	}
	return s.pools[size]
}

// aging answers /aging/1ms+100us after 1 ms at first, and later each time by
// 100 µs for every second since the first such request.
func (x *exchange) aging() outcome {
	first, more, _ := strings.Cut(x.arg, "+")
	d, err := parseDelay(first, 0)
	step, wrong := parseDelay(more, 0)
	if err = errors.Join(err, wrong); err != nil {
		return x.mistake(fmt.Errorf("want DURATION+DURATION, such as 1ms+100us: %w", err))
	}
	age := x.server.age(x.at)
	if !x.server.clock.until(x.at+d+time.Duration(age.Seconds()*float64(step)), x.server.config.Precise, x.life.over) {
		return outcome{aborted, cut}
	}
	return x.reply(response{body: x.standard()})
}

// age is how long before now the first aging request arrived.
func (s *Server) age(now time.Duration) time.Duration {
	s.resources.Lock()
	defer s.resources.Unlock()
	if !s.aging {
		s.aging, s.youth = true, now
	}
	return max(0, now-s.youth)
}

// hold answers /hold/64kB and keeps that much memory, every page of it written,
// for as long as the server is there. At mostHeldit keeps no more.
func (x *exchange) hold() outcome {
	n, err := parseSize(x.arg)
	if err != nil {
		return x.mistake(err)
	}
	x.server.keep(n)
	return x.reply(response{body: x.standard()})
}

func (s *Server) keep(n int) {
	s.resources.Lock()
	defer s.resources.Unlock()
	if s.heldBytes+n > mostHeld {
		return
	}
	b := make([]byte, n)
	for i := 0; i < n; i += pageSize {
		b[i] = 1
	}
	s.held, s.heldBytes = append(s.held, b), s.heldBytes+n
}
