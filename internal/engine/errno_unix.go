//go:build unix

package engine

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// errnoText is the symbolic name of an errno, such as ECONNREFUSED.
func errnoText(e syscall.Errno) string {
	if name := unix.ErrnoName(e); name != "" {
		return name
	}
	return e.Error()
}
