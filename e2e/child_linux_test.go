package e2e_test

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends the child when this process dies, however it dies.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
