package lab

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
)

// startAhead is how long before their common start the loads hear of it.
const startAhead = 5 * time.Millisecond

// drive drives the load of a plan and those beside it, which begin together
// when the connections of all of them stand. Only the first is reported on
// while it runs.
func drive(ctx context.Context, p plan.Plan, loader Loader, tell Tell) (first *result.Load, also []result.Load, err error) {
	if len(p.Also) == 0 {
		first, err = loader.Load(ctx, p.Load, tell)
		return first, nil, err
	}
	gate := newGate(1 + len(p.Also))
	loads := append([]plan.Load{p.Load}, p.Also...)
	results := make([]*result.Load, len(loads))
	errs := make([]error, len(loads))
	var wg sync.WaitGroup
	for i, l := range loads {
		t := Tell{Start: gate.wait}
		if i == 0 {
			t.Progress, t.Threads, t.Window = tell.Progress, tell.Threads, tell.Window
		}
		wg.Go(func() {
			defer gate.leave()
			results[i], errs[i] = loader.Load(ctx, l, t)
			if errs[i] != nil && l.Name != "" {
				errs[i] = fmt.Errorf("load %s: %w", l.Name, errs[i])
			}
		})
	}
	wg.Wait()
	for _, r := range results[1:] {
		if r != nil {
			also = append(also, *r)
		}
	}
	return results[0], also, errors.Join(errs...)
}

// gate lets loads begin together. One that ends before it was ready no longer
// counts, so that the others do not wait for it.
type gate struct {
	mu      sync.Mutex // guards missing and start
	missing int
	start   time.Time
	open    chan struct{}
}

func newGate(n int) *gate { return &gate{missing: n, open: make(chan struct{})} }

// wait is called once by each load and returns the common start.
func (g *gate) wait() time.Time {
	g.leave()
	<-g.open
	return g.start
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.missing--; g.missing == 0 {
		g.start = time.Now().Add(startAhead)
		close(g.open)
	}
}
