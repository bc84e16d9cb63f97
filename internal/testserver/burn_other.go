//go:build !linux

package testserver

import "time"

// burn works for d by the clock on the wall, and returns true; false if over
// closed first.
func burn(d time.Duration, over <-chan struct{}) bool { return burnWall(d, over) }
