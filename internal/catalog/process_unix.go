//go:build unix

package catalog

import (
	"os/exec"
	"syscall"
	"time"
)

// endWithin is the time between asking a program to end and ending it.
const endWithin = 5 * time.Second

// tidyEnd puts a command into a process group of its own. When its context
// ends, the command is asked to end, and killed after a while.
func tidyEnd(cmd *exec.Cmd) {
	cmd.SysProcAttr = grouped()
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = endWithin
}

// tidyEndAll has the context end, with the command of [tidyEnd], all that it
// started.
func tidyEndAll(cmd *exec.Cmd) {
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
}

// sweep kills what a command that has ended left in its group.
func sweep(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // an error says that nobody is left
	}
}
