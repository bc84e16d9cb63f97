//go:build !linux

package evloop

import (
	"fmt"
	"runtime"
)

func open(k Kind, o Options, h Handler) (Loop, error) {
	if k == Goroutines {
		return openGoroutines(o, h)
	}
	return nil, fmt.Errorf("%w: %s needs Linux, this is %s", ErrKind, k, runtime.GOOS)
}

// Probe returns the best kind that works here and says why.
func Probe() (Kind, string) {
	return Goroutines, "io_uring and epoll need Linux; this engine runs on " + runtime.GOOS + ", makes no claim of speed and costs several times as much CPU"
}
