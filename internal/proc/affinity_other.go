//go:build !linux

package proc

import "runtime"

// Affinity counts the cores that the process may run on, as the Go runtime saw
// it at start, and reports whether the operating system said so itself: here it
// does not.
func Affinity() (cpus int, ok bool) { return runtime.NumCPU(), false }
