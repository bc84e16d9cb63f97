package evloop

import (
	"fmt"
	"sync"
)

func open(k Kind, o Options, h Handler) (Loop, error) {
	switch k {
	case IOURing:
		return openRing(o, h)
	case Epoll:
		return openEpoll(o, h)
	case Goroutines:
		return openGoroutines(o, h)
	}
	return nil, fmt.Errorf("%w: no loop is named %q (io_uring, epoll, goroutines)", ErrKind, k)
}

// Probe returns the best kind that works here and says why, by trying.
func Probe() (Kind, string) { return probeOnce() }

var probeOnce = sync.OnceValues(probe)

func probe() (Kind, string) {
	if err := tryRing(); err != nil {
		return Epoll, fmt.Sprintf("io_uring was tried: %v", err)
	}
	return IOURing, "tried, and it works here"
}
