//go:build unix && !linux

package drivertest

import "testing"

// Engine does nothing: an engine of our own needs Linux.
func Engine() (done func()) { return func() {} }

// NeedEngine skips a test: an engine of our own needs Linux.
func NeedEngine(t *testing.T) {
	t.Helper()
	t.Skip("a Docker engine of our own needs Linux")
}
