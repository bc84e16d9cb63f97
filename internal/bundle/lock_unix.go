//go:build unix

package bundle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// ErrRunning says that a campaign is being carried out by another process.
var ErrRunning = errors.New("the campaign is being carried out now")

// Lock takes the campaign for this process, which holds it until release, or
// until it ends, however it ends. It fails with ErrRunning if another holds it.
func (c *Campaign) Lock() (release func(), err error) {
	f, err := os.OpenFile(filepath.Join(c.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock campaign %s: %w", c.ID(), err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrRunning
		}
		return nil, fmt.Errorf("lock campaign %s: %w", c.ID(), err)
	}
	return func() { _ = f.Close() }, nil
}
