// Package demo starts the embedded targets, so that the first run needs
// nothing installed: one that answers as fast as a thread can, and one whose
// behaviour is known.
package demo

import (
	"fmt"
	"runtime"

	"prony/internal/testserver"
)

// Target is a running server.
type Target interface {
	URL() string
	Close() error
}

// Known starts the server whose behaviour its paths choose.
func Known(c testserver.Config) (Target, error) {
	s, err := testserver.Start(c)
	if err != nil {
		return nil, fmt.Errorf("start target: %w", err)
	}
	return s, nil
}

// procsFor makes room for threads that keep their processor while they wait.
func procsFor(threads int) {
	if want := threads + 1; runtime.GOMAXPROCS(0) < want {
		runtime.GOMAXPROCS(want)
	}
}
