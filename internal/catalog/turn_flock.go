//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package catalog

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// turnEvery is the time between two looks at a lock that another process holds.
const turnEvery = 100 * time.Millisecond

// turn waits until nobody else holds the lock of a file, which it makes, and
// holds it until leave is called or this process ends. It fails when the
// context ends.
func turn(ctx context.Context, file string) (leave func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(turnEvery)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = f.Close() }, nil // which gives the lock back
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			_ = f.Close() // the lock is what failed
			return nil, err
		}
		select {
		case <-ctx.Done():
			_ = f.Close() // nothing was written
			return nil, ctx.Err()
		case <-tick.C:
		}
	}
}
