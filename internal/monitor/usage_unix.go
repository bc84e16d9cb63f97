//go:build unix

package monitor

import (
	"runtime"
	"syscall"
	"time"
)

// processTime is the CPU time of all threads so far (getrusage(2)).
func processTime() (time.Duration, bool) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}

// usagePeak is the largest resident size in bytes, where getrusage can be
// trusted with it: on Linux it counts the program that started us, too.
func usagePeak() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil || runtime.GOOS == "linux" {
		return 0
	}
	if runtime.GOOS == "darwin" || runtime.GOOS == "ios" {
		return int64(u.Maxrss) // the one that counts in bytes
	}
	return int64(u.Maxrss) << 10
}

// fileLimit is the soft limit of open files; 0 if it is unknown.
func fileLimit() int64 {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0
	}
	return int64(min(uint64(l.Cur), 1<<62))
}
