//go:build !linux

package monitor

import "time"

// measured runs do and returns the wall time it took: here the CPU time of one
// thread is not to be had, and it is at most this.
func measured(do func()) time.Duration {
	start := time.Now()
	do()
	return time.Since(start)
}
