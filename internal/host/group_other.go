//go:build !unix

package host

import (
	"errors"
	"os"
	"syscall"
)

// grouped says that there are no process groups to guard.
const grouped = false

// alone does nothing: there are no process groups in the sense of POSIX.
func alone() *syscall.SysProcAttr { return nil }

// group is a single process.
type group struct{ process *os.Process }

func (g *group) wait() (Exit, error) {
	state, err := g.process.Wait()
	if err != nil {
		return Exit{Code: -1}, err
	}
	return Exit{Code: state.ExitCode()}, nil
}

func (g *group) signal(s Signal) error {
	if s != Kill && s != Terminate {
		return errors.ErrUnsupported
	}
	return g.process.Kill()
}
