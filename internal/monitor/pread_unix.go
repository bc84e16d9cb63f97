//go:build unix

package monitor

import (
	"errors"
	"os"
	"syscall"
)

// readAt reads once, unlike [os.File.ReadAt], which asks again until the end:
// for most files of proc that would be a system call for nothing.
func readAt(f *os.File, b []byte, at int64) (int, error) {
	for {
		n, err := syscall.Pread(int(f.Fd()), b, at)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return 0, &os.PathError{Op: "read", Path: f.Name(), Err: err}
		}
		return n, nil
	}
}
