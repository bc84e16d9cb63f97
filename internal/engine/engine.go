// Package engine drives one load phase: a plan.Load in, a result.Load out.
//
// Workers on locked OS threads share nothing: each owns a part of the
// connections, of the timetable and of the histograms, and an event loop
// (package evloop). There is one loop for every combination: arrivals, stop
// rule, scenario, protocol and kind of event loop are values.
//
// What it decides: every planned request ends in exactly one outcome; latency
// counts from the intended start in both models (in the closed model a request
// is intended when its user became free); late requests are sent at once and
// keep their intended time; errors never enter the latency of successes;
// failures are a closed set; the load path never waits for a reader.
//
// What it refuses: to retry a request that may have been processed unless its
// method is idempotent, to send faster than one write per answer when nothing
// was asked for, and to hide connections that did not open.
package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"prony/internal/evloop"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/scenario"
)

// Options are what a load needs besides its plan. The zero value is useful.
type Options struct {
	// Script makes a worker's script; nil: none.
	Script func(worker int) scenario.Script
	// Progress hears of every finished interval; it must not block for long.
	Progress func(result.Progress)
	// Started hears the thread ids of the workers (0 where not known), once.
	Started func(threads []int)
	// Window hears, shortly before, when the measured window begins and when it
	// will end; the end is zero for a load that ends by count.
	Window func(start, end time.Time)
	// Start, when not nil, is asked when this load has opened its connections and
	// says when to begin; it may wait for other loads that begin together.
	Start func() time.Time
	// open replaces the event loop and its clock in tests.
	open func(k evloop.Kind, o evloop.Options, h evloop.Handler) (evloop.Loop, error)
	// now replaces the clock in tests.
	now func() int64
}

// UnreachableError says that not a single connection could be opened: there
// was no load at all. Kind and Failure tell why.
type UnreachableError struct {
	Kind    result.FailureKind
	Failure result.Failure
}

// Error names the target, the phase and the cause.
func (e *UnreachableError) Error() string { return e.Failure.Example }

// run is one load while it lasts.
type run struct {
	load    plan.Load
	opts    Options
	kind    evloop.Kind
	reason  string
	targets []*target
	workers []*worker

	startAt  atomic.Int64 // 0 until all workers are ready
	windowAt int64        // valid once startAt is set
	endAt    atomic.Int64 // planning stops then
	endedBy  atomic.Pointer[string]
	tickets  atomic.Int64 // requests of Load.Count not yet claimed
	length   atomic.Int64 // of the first body, for SameLength; -1 until known
	ready    sync.WaitGroup
	collect  collector
}

// Run drives the load until it ends by its own rule or ctx ends, and always
// returns a result when any worker ran. It fails when the plan cannot be
// carried out at all: a name that does not resolve, a target that takes no
// connection (UnreachableError), an event loop that is not to be had.
func Run(ctx context.Context, l plan.Load, o Options) (*result.Load, error) {
	r, err := prepare(ctx, l, o)
	if err != nil {
		return nil, err
	}
	defer widenProcs(len(r.workers))()
	errs := make([]error, len(r.workers))
	var wg sync.WaitGroup
	for i, w := range r.workers {
		wg.Go(func() { errs[i] = w.run() })
	}
	done := make(chan struct{})
	stopped := context.AfterFunc(ctx, func() { r.end("interrupt", r.clock()) })
	defer stopped()
	r.launch(ctx)
	// Not before the start is set, by which it places the intervals. Until then
	// a worker hands over one tally at most, if it failed, for which there is room.
	go func() { defer close(done); r.collect.gather() }()
	wg.Wait()
	close(r.collect.in)
	<-done
	res := r.report()
	return res, errors.Join(errors.Join(errs...), r.unreachable(res))
}

// widenProcs gives the control goroutines a processor of their own: the raw
// waits of the workers keep theirs. It returns the undo.
func widenProcs(workers int) func() {
	before := runtime.GOMAXPROCS(0)
	want := max(runtime.NumCPU(), workers+1)
	if before >= want {
		return func() {}
	}
	runtime.GOMAXPROCS(want)
	return func() { runtime.GOMAXPROCS(before) }
}

func prepare(ctx context.Context, l plan.Load, o Options) (*run, error) {
	if err := l.Validate(); err != nil {
		return nil, fmt.Errorf("load plan: %w", err)
	}
	r := &run{load: l, opts: o}
	if r.opts.open == nil {
		r.opts.open, r.opts.now = evloop.Open, evloop.Now
	}
	if err := r.chooseLoop(); err != nil {
		return nil, err
	}
	var err error
	if r.targets, err = resolve(ctx, &r.load); err != nil {
		return nil, err
	}
	r.endAt.Store(math.MaxInt64)
	r.tickets.Store(l.Count)
	r.length.Store(-1)
	n := max(r.load.Threads, 1)
	for i := range n {
		w, err := newWorker(r, i, n)
		if err != nil {
			return nil, err
		}
		r.workers = append(r.workers, w)
	}
	r.collect.init(r)
	return r, nil
}

func (r *run) chooseLoop() error {
	r.kind = evloop.Kind(r.load.Engine)
	stamps := r.load.Timestamps == plan.KernelTimestamps
	switch {
	case r.kind == "" || r.kind == evloop.Auto:
		r.kind, r.reason = evloop.Probe()
		if stamps && r.kind == evloop.IOURing {
			r.kind, r.reason = evloop.Epoll, "kernel timestamps are read with epoll"
		}
	default:
		r.reason = "asked for by --engine"
	}
	if stamps && r.kind != evloop.Epoll {
		return fmt.Errorf("kernel timestamps need the epoll engine, not %s: leave out --engine or use --engine epoll", r.kind)
	}
	return nil
}

func (r *run) clock() int64 { return r.opts.now() }

// launch waits until every worker has opened what it can and sets the common
// start. A context that has ended by then is seen here: told by another
// goroutine, workers may have sent a request each.
func (r *run) launch(ctx context.Context) {
	r.ready.Wait()
	if ctx.Err() != nil {
		r.end("interrupt", r.clock())
	}
	opened := 0
	for _, w := range r.workers {
		opened += w.preopened
	}
	if opened == 0 {
		r.end("unreachable", r.clock())
	}
	if r.opts.Started != nil {
		threads := make([]int, len(r.workers))
		for i, w := range r.workers {
			threads[i] = w.tid
		}
		r.opts.Started(threads)
	}
	at := r.clock() + int64(2*time.Millisecond)
	if r.opts.Start != nil {
		start := r.opts.Start()
		at = r.clock() + int64(time.Until(start))
	}
	if r.opts.Window != nil && opened > 0 {
		start := evloop.Wall(at).Add(r.load.Warmup)
		var end time.Time
		if r.load.Duration > 0 {
			end = start.Add(r.load.Duration)
		}
		r.opts.Window(start, end)
	}
	r.setStart(at)
}

func (r *run) setStart(at int64) {
	r.windowAt = at + int64(r.load.Warmup)
	if d := r.load.Duration; d > 0 {
		r.endAt.CompareAndSwap(math.MaxInt64, r.windowAt+int64(d))
	}
	r.startAt.Store(at)
}

// end stops planning at the given time, or earlier if that was already set.
func (r *run) end(why string, at int64) {
	for {
		old := r.endAt.Load()
		if at >= old {
			return
		}
		if r.endAt.CompareAndSwap(old, at) {
			r.endedBy.Store(&why)
			return
		}
	}
}

// claim takes up to n requests of an exact count; 0 when all are taken.
func (r *run) claim(n int64) int64 {
	left := r.tickets.Add(-n)
	if left >= 0 {
		return n
	}
	return max(n+left, 0)
}
