//go:build unix

package generator

import (
	"os/exec"
	"syscall"
)

// alone makes the program the leader of a group of its own, so that ^C at our
// terminal reaches us alone and a signal of ours reaches all that it started.
func alone() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func interrupt(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }

func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
