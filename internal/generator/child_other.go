//go:build !unix

package generator

import (
	"os/exec"
	"syscall"
)

// alone does nothing: there are no process groups in the sense of POSIX.
func alone() *syscall.SysProcAttr { return nil }

// interrupt is a kill where there is no SIGINT to send.
func interrupt(cmd *exec.Cmd) { kill(cmd) }

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
