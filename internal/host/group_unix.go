//go:build unix

package host

import (
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
)

// grouped says that there are process groups, and so something to guard.
const grouped = true

// alone makes a process the leader of a new group.
func alone() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// group is a process of ours that leads a group of the same number.
type group struct {
	process *os.Process

	mu     sync.Mutex // guards the number: it is ours until the leader is reaped
	reaped bool
}

// wait waits for the leader, and kills the rest of the group while the dead
// leader still holds its number, so that it cannot hit a stranger.
func (g *group) wait() (Exit, error) {
	var state *os.ProcessState
	var err error
	held := awaitEnd(g.process.Pid)
	if !held {
		state, err = g.process.Wait()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	_ = syscall.Kill(-g.process.Pid, syscall.SIGKILL)
	if held {
		state, err = g.process.Wait()
	}
	g.reaped = true
	if err != nil {
		return Exit{Code: -1}, err
	}
	exit := Exit{Code: state.ExitCode()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		exit.Signal = signalName(status.Signal())
	}
	return exit, nil
}

// signal reaches the whole group.
func (g *group) signal(s Signal) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.reaped {
		return os.ErrProcessDone
	}
	err := syscall.Kill(-g.process.Pid, numbers()[s])
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

func numbers() map[Signal]syscall.Signal {
	return map[Signal]syscall.Signal{
		Hangup: syscall.SIGHUP, Interrupt: syscall.SIGINT, Quit: syscall.SIGQUIT, Kill: syscall.SIGKILL,
		Terminate: syscall.SIGTERM, User1: syscall.SIGUSR1, User2: syscall.SIGUSR2,
		Stop: syscall.SIGSTOP, Continue: syscall.SIGCONT,
	}
}

// signalName is the POSIX name, or what the system calls it.
func signalName(number syscall.Signal) string {
	others := map[syscall.Signal]string{
		syscall.SIGABRT: "ABRT", syscall.SIGBUS: "BUS", syscall.SIGFPE: "FPE", syscall.SIGILL: "ILL",
		syscall.SIGSEGV: "SEGV", syscall.SIGPIPE: "PIPE", syscall.SIGALRM: "ALRM", syscall.SIGXCPU: "XCPU",
	}
	for name, n := range numbers() {
		others[n] = string(name)
	}
	if name, ok := others[number]; ok {
		return name
	}
	return strings.ToUpper(number.String())
}
