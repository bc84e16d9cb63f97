package host

import (
	"context"
	"io"
	"os"
	"os/exec"
)

// local is this machine.
type local struct{ watch watch }

var _ Host = (*local)(nil)

// Local is this machine. It holds nothing while no command runs.
func Local() Host { return &local{} }

func (l *local) Command(name string, args ...string) *Cmd {
	return NewCmd(Launcher{Start: l.start}, name, args...)
}

// FS is the files of this machine.
func (l *local) FS() *FS { return NewFS(disk()) }

func (l *local) Facts(ctx context.Context) (Facts, error) { return facts(ctx, l) }

// start starts a process that leads a group of its own, under guard.
func (l *local) start(_ context.Context, spec Spec) (*Process, error) {
	if err := l.watch.enter(); err != nil {
		return nil, err
	}
	p, err := l.begin(spec)
	if err != nil {
		l.watch.leave(0)
	}
	return p, err
}

// begin starts the process behind a gate, which opens when the guard knows it.
func (l *local) begin(spec Spec) (*Process, error) {
	cmd := exec.Command(spec.Name, spec.Args...)
	cmd.Env, cmd.Dir, cmd.SysProcAttr = environ(spec.Env), spec.Dir, alone()
	p := &Process{}
	opened, err := pipes(cmd, spec, p)
	gate := &gate{}
	if err == nil && cmd.Err == nil && l.watch.guards() {
		err = gate.before(cmd)
	}
	if err == nil {
		err = cmd.Start() // closes the other ends
	}
	if err != nil {
		gate.close()
		shut(opened)
		return nil, err
	}
	p.PID = cmd.Process.Pid
	l.watch.add(p.PID)
	gate.open()
	g := &group{process: cmd.Process}
	p.Wait, p.Signal = g.wait, g.signal
	p.Close = func() {
		shut(opened)
		_ = cmd.Process.Release()
		l.watch.leave(p.PID)
	}
	return p, nil
}

// environ is our environment with additions; the last of a name wins.
func environ(extra []string) []string { return append(os.Environ(), extra...) }

// pipes connects a command: files go to it as they are, the rest by pipes.
func pipes(cmd *exec.Cmd, spec Spec, p *Process) (opened []io.Closer, err error) {
	if f := spec.Files[0]; f != nil {
		cmd.Stdin = f
	} else if spec.Input {
		if p.Stdin, err = cmd.StdinPipe(); err != nil {
			return opened, err
		}
		opened = append(opened, p.Stdin)
	}
	for i, out := range []struct {
		file *io.Writer
		pipe func() (io.ReadCloser, error)
		end  *io.Reader
	}{{&cmd.Stdout, cmd.StdoutPipe, &p.Stdout}, {&cmd.Stderr, cmd.StderrPipe, &p.Stderr}} {
		if f := spec.Files[i+1]; f != nil {
			*out.file = f
			continue
		}
		r, err := out.pipe()
		if err != nil {
			return opened, err
		}
		*out.end, opened = r, append(opened, r)
	}
	return opened, nil
}

func shut(all []io.Closer) {
	for _, c := range all {
		_ = c.Close() // a second time is no harm
	}
}

// shell reports whether there is a POSIX shell.
func (l *local) shell() bool {
	_, err := exec.LookPath("sh")
	return err == nil
}
