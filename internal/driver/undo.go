package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Undo takes back what was done, newest first. It is for those who write a
// backend: a start adds a step for each thing it makes, a failed start and the
// stop run them.
type Undo struct {
	mu    sync.Mutex // guards the steps; held while they run, so that a second Run waits
	steps []undoing
}

type undoing struct {
	what string
	do   func(ctx context.Context) error
}

// Add adds a step; what begins with a verb: "remove the folder".
func (u *Undo) Add(what string, do func(ctx context.Context) error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.steps = append(u.steps, undoing{what, do})
}

// Run takes everything back, each thing once, and goes on after an error.
func (u *Undo) Run(ctx context.Context) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	var errs []error
	for len(u.steps) > 0 {
		last := u.steps[len(u.steps)-1]
		u.steps = u.steps[:len(u.steps)-1]
		if err := last.do(ctx); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", last.what, err))
		}
	}
	return errors.Join(errs...)
}
