//go:build unix && !linux

package catalog

import "syscall"

// grouped makes a group.
func grouped() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
