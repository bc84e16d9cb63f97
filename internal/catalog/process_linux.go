package catalog

import "syscall"

// grouped makes a group, and ends its first process when we end, however that
// comes.
func grouped() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
