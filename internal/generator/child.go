package generator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// pipePatience is how long the outputs of a program that has ended may stay
// open: what it started may hold them.
const pipePatience = time.Second

// child is a program that runs.
type child struct {
	command
	tee     io.Writer
	began   string        // see kept
	bound   time.Duration // it must have ended by then; 0: no bound
	grace   time.Duration // between the interrupt and the kill
	started func(pid int)
	begin   func(at time.Time)
}

// ending is what came of it.
type ending struct {
	stdout, stderr string
	at, end        time.Time // the load began, the program ended
	code           int       // -1: by a signal
	cost           Cost
	// interrupted: the context ended; late: the bound was reached; killed: it
	// did not listen.
	interrupted, late, killed bool
}

// run starts the program and waits for its end. The context's end stops it, as
// ^C does, and so does the bound; then there is a grace before it is killed.
func (c child) run(ctx context.Context) (ending, error) {
	var e ending
	if c.tee != nil {
		c.tee = &locked{w: c.tee}
	}
	begin := func() {
		e.at = time.Now()
		if c.begin != nil {
			c.begin(e.at)
		}
	}
	out, errs := &kept{tee: c.tee, began: c.began, tell: begin}, &kept{tee: c.tee}
	cmd := exec.Command(c.file, c.args...)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay, cmd.SysProcAttr = out, errs, pipePatience, alone()
	if c.stdin != "" {
		cmd.Stdin = strings.NewReader(c.stdin)
	}
	if err := ctx.Err(); err != nil {
		return e, err
	}
	first := time.Now()
	if err := cmd.Start(); err != nil {
		return e, fmt.Errorf("start: %w", err)
	}
	if c.began == "" {
		begin()
	}
	if c.started != nil {
		c.started(cmd.Process.Pid)
	}
	peak := watchPeak(cmd.Process.Pid)
	err := c.wait(ctx, cmd, &e)
	e.end = time.Now()
	if e.at.IsZero() { // it never said that it began
		e.at = first
	}
	e.stdout, e.stderr, e.code = out.String(), errs.String(), cmd.ProcessState.ExitCode()
	e.cost = Cost{CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), MaxRSS: peak(), Wall: e.end.Sub(first)}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return e, fmt.Errorf("wait: %w", err)
	}
	return e, nil
}

// wait waits for the end, and hastens it when that is due.
func (c child) wait(ctx context.Context, cmd *exec.Cmd, e *ending) error {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	defer kill(cmd) // what it left running: the number is its group's as long as any of that lives
	var bound <-chan time.Time
	if c.bound > 0 {
		timer := time.NewTimer(c.bound)
		defer timer.Stop()
		bound = timer.C
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		e.interrupted = true
	case <-bound:
		e.late = true
	}
	interrupt(cmd)
	timer := time.NewTimer(c.grace)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		e.killed = true
		kill(cmd)
	}
	return <-done
}
