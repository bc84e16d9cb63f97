package testserver

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// burn uses up d of CPU time, however long that takes on a busy machine, and
// returns true; false if over closed first. The thread's own clock tells, so
// that waiting for a core is no work.
func burn(d time.Duration, over <-chan struct{}) bool {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start, ok := threadTime()
	if !ok {
		return burnWall(d, over)
	}
	for {
		now, ok := threadTime()
		if !ok || now-start >= d {
			return true
		}
		spin()
		if ended(over) {
			return false
		}
	}
}

// threadTime is the CPU time of the calling thread.
func threadTime() (t time.Duration, ok bool) {
	var ts unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts)
	return time.Duration(ts.Nano()), err == nil
}
