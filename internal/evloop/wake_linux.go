package evloop

import (
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// WakeCost is what falling asleep and being woken costs here: by how much
// short sleeps of a thread overshoot, the median of some. Polling for an answer
// pays while it comes sooner than that.
var WakeCost = sync.OnceValue(func() time.Duration {
	const rounds, asleep = 31, 50 * time.Microsecond
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sharpTimers()
	over := make([]time.Duration, rounds)
	for i := range over {
		ts := unix.NsecToTimespec(int64(asleep))
		start := Now()
		_, _, _ = syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
		over[i] = time.Duration(Now()-start) - asleep
	}
	slices.Sort(over)
	return max(over[rounds/2], 0)
})
