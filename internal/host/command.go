package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Cmd is a command on a host, in the manner of exec.Cmd. Set the fields, then
// call Run or Output, or Start and later Wait. It can be used once.
type Cmd struct {
	Name string
	Args []string
	// Env is added to what the host gives its commands, "NAME=value".
	Env []string
	// Dir is the folder it starts in, absolute; "" leaves it to the host.
	Dir string
	// Stdin is read by it; nil is an empty input. Nobody waits for a reader
	// that has nothing to say when the command has ended.
	Stdin io.Reader
	// Stdout and Stderr receive what it writes, never both at once; nil drops
	// it, but the end of Stderr is in the error. Files of this machine are
	// handed to a command on this machine, and then errors do not quote them.
	Stdout, Stderr io.Writer
	// Grace is the time between SIGTERM and SIGKILL when the context ends;
	// default 5 s.
	Grace time.Duration

	launcher Launcher
	running  *running
}

// Bounds of waiting.
const (
	graceDefault = 5 * time.Second
	killPatience = 10 * time.Second // for a process to die of SIGKILL
	drain        = 2 * time.Second  // for pipes that somebody outside the group holds open
	outputBytes  = 16 << 20
)

// NewCmd is for those who write a host: a command that a launcher starts.
func NewCmd(l Launcher, name string, args ...string) *Cmd {
	return &Cmd{Name: name, Args: args, launcher: l}
}

// running is the state of a started command.
type running struct {
	process *Process
	copies  sync.WaitGroup
	out     sink
	tail    tail
	done    chan struct{} // closed when err is set and nothing of ours runs
	err     error
}

// sink lets one writer at a time through, and nobody after it was closed.
type sink struct {
	mu     sync.Mutex
	closed bool
}

// to is a writer behind the sink.
func (s *sink) to(w io.Writer) io.Writer { return sinkWriter{s, w} }

func (s *sink) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

type sinkWriter struct {
	sink *sink
	w    io.Writer
}

func (w sinkWriter) Write(p []byte) (int, error) {
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	if w.sink.closed {
		return 0, os.ErrClosed
	}
	return w.w.Write(p)
}

var (
	errStarted = errors.New("the command was started before: make a new one")
	errIdle    = errors.New("the command was not started")
	errImmune  = fmt.Errorf("it did not die of SIGKILL within %s", killPatience)
	errLong    = fmt.Errorf("it wrote more than %d MiB", outputBytes>>20)
)

// Start starts the command. The context binds all its life: when it ends, the
// group is asked to stop and then killed. The error is an [*Error].
func (c *Cmd) Start(ctx context.Context) error {
	if c.running != nil {
		return errStarted
	}
	spec := c.spec()
	if err := spec.check(); err != nil {
		return c.fail(err)
	}
	if err := context.Cause(ctx); err != nil {
		return c.fail(err)
	}
	process, err := c.launcher.Start(ctx, spec)
	if err != nil {
		return c.fail(err)
	}
	r := &running{process: process, done: make(chan struct{})}
	c.running = r
	c.connect()
	go func() {
		defer close(r.done)
		r.err = c.supervise(ctx)
	}()
	return nil
}

func (c *Cmd) spec() Spec {
	s := Spec{Name: c.Name, Args: c.Args, Env: c.Env, Dir: c.Dir, Input: c.Stdin != nil}
	for i, end := range []any{c.Stdin, c.Stdout, c.Stderr} {
		if f, ok := end.(*os.File); ok {
			s.Files[i] = f
		}
	}
	return s
}

func (c *Cmd) fail(err error) error {
	return &Error{Host: c.launcher.Host, Name: c.Name, Command: c.String(), Exit: Exit{Code: -1}, Err: err}
}

// String is the command as a line to paste into a shell here; the values of
// variables that sound like secrets are left out.
func (c *Cmd) String() string {
	line := c.spec().line(masked(c.Env))
	if c.launcher.Form != nil {
		line = c.launcher.Form(line)
	}
	return line
}

// connect starts what carries input and output.
func (c *Cmd) connect() {
	r := c.running
	if in := r.process.Stdin; in != nil {
		go func() {
			// An error here is a command that stopped reading; its exit tells.
			_, _ = io.Copy(in, c.Stdin)
			_ = in.Close()
		}()
	}
	stderr := io.Writer(&r.tail)
	if c.Stderr != nil {
		stderr = io.MultiWriter(&r.tail, c.Stderr)
	}
	stdout := io.Discard
	if c.Stdout != nil {
		stdout = c.Stdout
	}
	r.carry(stdout, r.process.Stdout)
	r.carry(stderr, r.process.Stderr)
}

// carry copies until the end. A writer that fails must not stop the command,
// so the rest is read and dropped.
func (r *running) carry(to io.Writer, from io.Reader) {
	if from == nil {
		return
	}
	r.copies.Go(func() {
		_, _ = io.Copy(r.out.to(to), from)
		_, _ = io.Copy(io.Discard, from)
	})
}

// supervise sees the command to its end and returns what Wait will.
func (c *Cmd) supervise(ctx context.Context) error {
	p := c.running.process
	exit, err := c.ended(ctx)
	// Whoever is left in the group would be an orphan.
	_ = p.Signal(Kill)
	c.running.drain()
	p.Close()
	if exit.Code == 0 && err == nil {
		return nil
	}
	if exit.Code == 127 && err == nil { // the shells' status, as POSIX has it
		err = exec.ErrNotFound
	}
	return &Error{Host: c.launcher.Host, Name: c.Name, Command: c.String(), Exit: exit,
		Stderr: c.running.tail.lines(), Err: err}
}

// ended waits for the first process, and stops it when the context ends.
func (c *Cmd) ended(ctx context.Context) (Exit, error) {
	type end struct {
		exit Exit
		err  error
	}
	p := c.running.process
	ends := make(chan end, 1)
	go func() {
		exit, err := p.Wait()
		ends <- end{exit, err}
	}()
	select {
	case e := <-ends:
		return e.exit, e.err
	case <-ctx.Done():
	}
	for _, step := range c.steps() {
		_ = p.Signal(step.signal) // it may just have ended
		select {
		case e := <-ends:
			return e.exit, errors.Join(context.Cause(ctx), e.err)
		case <-time.After(step.patience):
		}
	}
	return Exit{Code: -1}, errors.Join(context.Cause(ctx), errImmune)
}

// step is a signal and how long to wait for its effect.
type step struct {
	signal   Signal
	patience time.Duration
}

// steps are the ways to stop a command, in order.
func (c *Cmd) steps() []step {
	grace := c.Grace
	if grace == 0 {
		grace = graceDefault
	}
	return []step{{Terminate, grace}, {Kill, killPatience}}
}

// drain waits for the rest of the output, but not for somebody who left the
// group and holds the pipe open.
func (r *running) drain() {
	copied := make(chan struct{})
	go func() {
		r.copies.Wait()
		close(copied)
	}()
	select {
	case <-copied:
	case <-time.After(drain):
	}
	r.out.close()
}

// Wait waits for the end of the command and of its group. The error is an
// [*Error] unless the exit status was 0; it wraps the cause of a context that
// ended, and exec.ErrNotFound for status 127.
func (c *Cmd) Wait() error {
	if c.running == nil {
		return c.fail(errIdle)
	}
	<-c.running.done
	return c.running.err
}

// Run is Start and Wait.
func (c *Cmd) Run(ctx context.Context) error {
	if err := c.Start(ctx); err != nil {
		return err
	}
	return c.Wait()
}

// Output is Run, and returns what the command wrote to standard output, also
// with an error. More than 16 MiB is an error.
func (c *Cmd) Output(ctx context.Context) ([]byte, error) {
	var out bounded
	c.Stdout = &out
	err := c.Run(ctx)
	if err == nil && out.over {
		err = c.fail(errLong)
	}
	return out.text.Bytes(), err
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	text bytes.Buffer
	over bool
}

func (b *bounded) Write(p []byte) (int, error) {
	room := outputBytes - b.text.Len()
	b.over = b.over || len(p) > room
	b.text.Write(p[:min(len(p), room)])
	return len(p), nil
}

// Signal sends a signal to every process of the command's group. It returns
// os.ErrProcessDone when the command has ended.
func (c *Cmd) Signal(s Signal) error {
	if !s.Known() {
		return fmt.Errorf("send signal %q to %s: %w", s, c.Name, errors.ErrUnsupported)
	}
	if c.running == nil {
		return c.fail(errIdle)
	}
	select {
	case <-c.running.done:
		return os.ErrProcessDone
	default:
	}
	if err := c.running.process.Signal(s); err != nil {
		return fmt.Errorf("send signal %s to %s: %w", s, c.Name, err)
	}
	return nil
}

// PID is the process id on the host, also the number of the group; 0 before
// the command was started.
func (c *Cmd) PID() int {
	if c.running == nil {
		return 0
	}
	return c.running.process.PID
}
