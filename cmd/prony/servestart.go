package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"prony/internal/store"
)

// starter carries experiments out for prony serve: each is a prony run of its
// own, in a folder of its own, which keeps its trials in the same history.
type starter struct {
	home    string // of the campaigns; "" is the default
	address string // of the history; "" is the default
	history *store.Store
}

// startedEnds is how long an experiment that was told to end may take to stop its
// services.
const startedEnds = 30 * time.Second

// run carries an experiment out; it is told to end when the context does.
func (s *starter) run(ctx context.Context, text string, tell func([]byte)) ([]store.RunID, error) {
	dir, err := os.MkdirTemp("", "prony-serve-*")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left is in the system's own folder
	file := filepath.Join(dir, draftName)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	r := &started{tell: tell}
	err = s.conduct(ctx, file, r)
	ids, e := s.kept(context.WithoutCancel(ctx), r.campaign)
	return ids, errors.Join(err, e)
}

// conduct is the process. Its events come through a pipe that is always read.
func (s *starter) conduct(ctx context.Context, file string, r *started) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	in, out, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // nothing was written to it
	cmd := exec.CommandContext(ctx, self, "run", file, "--events", "3", "--quiet")
	if s.home != "" {
		cmd.Args = append(cmd.Args, "--keep", s.home)
	}
	if s.address != "" {
		cmd.Args = append(cmd.Args, "--store", s.address)
	}
	cmd.Dir, cmd.ExtraFiles, cmd.Stderr, cmd.SysProcAttr = filepath.Dir(file), []*os.File{out}, &r.words, ownGroup()
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, startedEnds
	err = cmd.Start()
	_ = out.Close() // the process has its own
	if err != nil {
		return fmt.Errorf("start prony run: %w", err)
	}
	read := make(chan struct{})
	go func() { r.read(in); close(read) }()
	err = cmd.Wait()
	_ = in.SetReadDeadline(time.Now().Add(time.Second)) // for what is in the pipe; nobody else should have it open
	<-read
	return r.outcome(err)
}

// started is what is heard of a process.
type started struct {
	tell     func([]byte)
	campaign string // its id
	words    tail
}

// eventMost bounds an event, in bytes.
const eventMost = 1 << 20

// read passes events on until the process closes the pipe. After a line that is
// too long it only listens, so that the process never waits.
func (r *started) read(in io.Reader) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, eventMost)
	for lines.Scan() {
		var e struct{ Event, ID string }
		if r.campaign == "" && json.Unmarshal(lines.Bytes(), &e) == nil && e.Event == "campaign" {
			r.campaign = e.ID
		}
		r.tell(bytes.Clone(lines.Bytes()))
	}
	_, _ = io.Copy(io.Discard, in) // the process's end is all that is wanted now
}

// outcome is what the end of the process means. A bad verdict is a result.
func (r *started) outcome(err error) error {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &exit) && exit.ExitCode() == exitVerdict:
		return nil
	case errors.As(err, &exit) && exit.ExitCode() == exitInterrupted:
		return errors.New("interrupted")
	}
	if text := r.words.String(); text != "" {
		return errors.New(text)
	}
	return fmt.Errorf("prony run: %w", err)
}

// kept are the runs of a campaign that are in the history. Each trial went there
// before the next began, and stays if the experiment did not come to its end.
func (s *starter) kept(ctx context.Context, campaign string) (ids []store.RunID, err error) {
	if campaign == "" {
		return nil, nil
	}
	page := store.Page{Limit: 1000}
	for {
		l, err := s.history.List(ctx, store.Filter{Campaign: campaign}, page)
		if err != nil {
			return nil, err
		}
		for _, row := range l.Rows {
			ids = append(ids, row.ID)
		}
		if page.After = l.Next; page.After == "" {
			slices.Reverse(ids) // the oldest first
			return ids, nil
		}
	}
}

// tail keeps the end of what a process says.
type tail struct{ text []byte }

// tailMost is how much, in bytes.
const tailMost = 4 << 10

// Write keeps the end of what came so far.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-tailMost):]
	return len(p), nil
}

func (t *tail) String() string {
	return strings.TrimSpace(strings.TrimPrefix(visibleLines(string(t.text)), "prony: "))
}

// visibleLines keeps the lines of a text apart, and takes out what else is no
// letter.
func visibleLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = visible(l)
	}
	return strings.Join(lines, "\n")
}
