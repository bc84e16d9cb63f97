package monitor

import (
	"syscall"
	"time"
)

// processTime is the CPU time of all threads so far (GetProcessTimes).
func processTime() (time.Duration, bool) {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0, false
	}
	var created, ended, kernel, user syscall.Filetime
	if err := syscall.GetProcessTimes(self, &created, &ended, &kernel, &user); err != nil {
		return 0, false
	}
	return hundreds(kernel) + hundreds(user), true
}

// hundreds reads a length of time in units of 100 ns.
func hundreds(f syscall.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}

// usagePeak and fileLimit are unknown here.
func usagePeak() int64 { return 0 }

func fileLimit() int64 { return 0 }
