package engine

import (
	"errors"
	"runtime"
	"testing"

	"prony/internal/evloop"
	"prony/internal/plan"
)

// TestNoAllocationsForErrors: a target that answers nothing but errors costs no
// allocation for each, once there is an example.
func TestNoAllocationsForErrors(t *testing.T) {
	skipUnderRace(t)
	n := newSim(t)
	answer := simAnswer(404, "no")
	n.server = simServer{service: exponential(43, 1e6), fate: func(simQuery) simFate { return simFate{answer: answer} }}
	n.events = make(simEvents, 0, 1<<16)
	var before, after runtime.MemStats
	n.seen = func(q simQuery) {
		switch q.number {
		case 10_000:
			runtime.ReadMemStats(&before)
		case 30_000:
			runtime.ReadMemStats(&after)
		}
	}
	n.run(func(l *plan.Load) { l.Connections, l.Count = 50, 40_000 })
	if got := after.Mallocs - before.Mallocs; got > 100 {
		t.Errorf("%d allocations in 20000 answers with status 404", got)
	}
}

// TestNoLoopAtAll: workers without an event loop sign off before there is a
// start, by which the collector places their intervals; the race detector looks
// on.
func TestNoLoopAtAll(t *testing.T) {
	broken := errors.New("no loop today")
	open := func(evloop.Kind, evloop.Options, evloop.Handler) (evloop.Loop, error) { return nil, broken }
	l := simLoad(t, func(l *plan.Load) { l.Connections, l.Threads, l.Count = 8, 4, 100 })
	if _, err := Run(t.Context(), l, Options{open: open, now: evloop.Now}); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}
