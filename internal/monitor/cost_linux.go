package monitor

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// measured runs do and returns the CPU time it took, in whole by one thread.
func measured(do func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := threadTime()
	do()
	return threadTime() - before
}

func threadTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
