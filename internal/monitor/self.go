// Package monitor watches the process it runs in.
package monitor

import (
	"context"
	"time"

	"prony/internal/result"
)

// Self says how to watch; its zero value is the default.
type Self struct {
	Root   string        // where proc is mounted; default /proc
	Period time.Duration // between samples; default 1 s
}

// SelfWatch is a running watch.
type SelfWatch struct{}

// StartSelf starts the watch.
func StartSelf(ctx context.Context, cfg Self) *SelfWatch { return &SelfWatch{} }

// Threads names the worker threads to watch.
func (w *SelfWatch) Threads(tids []int) {}

// Window announces the measurement window.
func (w *SelfWatch) Window(start, end time.Time) {}

// Stop ends the watch and waits for it.
func (w *SelfWatch) Stop() {}

// Result gives the figures of the window.
func (w *SelfWatch) Result(start time.Time, length time.Duration) result.Generator {
	return result.Generator{}
}

// Unknown lists the figures that could not be read.
func (w *SelfWatch) Unknown() []string { return nil }

// Environment describes the machine.
func Environment() result.Environment { return result.Environment{} }
