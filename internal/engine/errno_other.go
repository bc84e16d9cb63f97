//go:build !unix

package engine

import "syscall"

func errnoText(e syscall.Errno) string { return e.Error() }
