// Package demo is what the first run needs, with nothing installed: an
// experiment file, and the embedded targets, one that answers as fast as a
// thread can and one whose behaviour is known.
package demo

import (
	_ "embed"
	"fmt"
	"runtime"

	"prony/internal/testserver"
)

// Experiment is the experiment file that the demo carries out.
//
//go:embed experiment.yaml
var Experiment []byte

// Noise is the experiment file whose noise is measured by default.
//
//go:embed noise.yaml
var Noise []byte

// Calibrate is the experiment file that finds what the generator can do.
//
//go:embed calibrate.yaml
var Calibrate []byte

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
