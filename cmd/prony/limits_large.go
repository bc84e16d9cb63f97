//go:build linux || darwin

package main

import "syscall"

// raiseFileLimit makes room for the connections if the system lets us. Where
// it does not, the load goes on with fewer and says so.
func raiseFileLimit(connections int) {
	var lim syscall.Rlimit
	want := uint64(connections) + 256
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim) != nil || uint64(lim.Cur) >= want {
		return
	}
	next := lim
	next.Cur = min(want, lim.Max)
	if lim.Max < want {
		next.Cur, next.Max = want, want // only root may
		if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &next) == nil {
			return
		}
		next.Cur, next.Max = lim.Max, lim.Max
	}
	_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &next)
}

// openFileLimits are the open files allowed now and at most.
func openFileLimits() (soft, hard uint64, ok bool) {
	var lim syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim) != nil {
		return 0, 0, false
	}
	return uint64(lim.Cur), uint64(lim.Max), true
}
