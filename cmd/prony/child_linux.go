package main

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends the child when this process dies, however it dies. It is
// out of reach of the terminal's Ctrl-C: a target that is gone before the load
// has ended would be blamed for it.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
}
