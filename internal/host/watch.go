package host

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
)

// watch keeps one guard beside the commands of this machine, as long as there
// are any.
type watch struct {
	mu    sync.Mutex // guards all below
	users int
	shell *exec.Cmd // nil where there is no shell
	in    io.Closer
	guard *Guard
}

// enter makes sure that there is a guard. A machine without a shell (an empty
// container) has none; there our own death leaves commands behind.
func (w *watch) enter() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.users == 0 && grouped {
		if err := w.open(); err != nil && !errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("start the guard of our processes: %w", err)
		}
	}
	w.users++
	return nil
}

func (w *watch) open() error {
	shell := exec.Command("sh", "-c", GuardScript)
	shell.SysProcAttr = alone() // an interrupt at the terminal is not for it
	in, err := shell.StdinPipe()
	if err != nil {
		return err
	}
	if err := shell.Start(); err != nil {
		return err
	}
	w.shell, w.in, w.guard = shell, in, NewGuard(in)
	return nil
}

// guards reports whether there is a guard, and so a shell.
func (w *watch) guards() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.guard != nil
}

// add tells the guard of a group.
func (w *watch) add(group int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.guard != nil {
		_ = w.guard.Add(group) // somebody killed the guard; the command goes on
	}
}

// leave forgets a group, 0 for none, and ends the guard with its last user.
func (w *watch) leave(group int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.users--
	if w.guard == nil {
		return
	}
	if group != 0 {
		_ = w.guard.Drop(group)
	}
	if w.users == 0 {
		_ = w.in.Close()
		_ = w.shell.Wait() // it has nothing left to do
		w.shell, w.in, w.guard = nil, nil, nil
	}
}
