package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The labels of everything that is started, as environment variables.
const (
	LabelRun      = "PRONY_RUN"
	LabelInstance = "PRONY_INSTANCE"
)

// Labels is the environment that marks an instance, "NAME=value".
func (r Request) Labels() []string {
	return []string{LabelRun + "=" + string(r.Run), LabelInstance + "=" + r.Name()}
}

// prefix begins every name that we give on a host.
const prefix = "prony-"

// Prefix begins the names of a run's groups and containers: prony-RUN. with the
// dot; of all runs for the run "".
func Prefix(run RunID) string {
	if run == "" {
		return prefix
	}
	return prefix + string(run) + "."
}

// RunOf reads the run from a name that Request.Label made.
func RunOf(name string) (RunID, bool) {
	rest, ours := strings.CutPrefix(name, prefix)
	run, _, dotted := strings.Cut(rest, ".")
	return RunID(run), ours && dotted && RunID(run).Check() == nil
}

// Record is what an instance is about to leave in the world, for a journal. A
// later record of the same run and name replaces an earlier one.
type Record struct {
	Run    RunID    `json:"run"`
	Name   string   `json:"name"`           // app[0]
	Host   string   `json:"host,omitempty"` // its name; "" is this machine
	Kind   string   `json:"kind"`           // of the driver: process, docker
	PIDs   []int    `json:"pids,omitempty"` // leaders of process groups; for people, who may kill by label alone
	CGroup string   `json:"cgroup,omitempty"`
	Files  []string `json:"files,omitempty"` // files and folders, absolute
	Ports  []int    `json:"ports,omitempty"`
}

// Keep hands a record to whoever keeps them.
func (r Request) Keep(record Record) error {
	if r.Record == nil {
		return nil
	}
	if err := r.Record(record); err != nil {
		return fmt.Errorf("note in the journal: %w", err)
	}
	return nil
}

// Leftover is a thing that a run left on a host.
type Leftover struct {
	Run  RunID
	Host string // its name; "" is this machine
	Kind string // process, control group, folder, container
	Name string // what it is called, for people
	// Remove removes it; that it is gone already is no error.
	Remove func(ctx context.Context) error
}

// String describes it in a line.
func (l Leftover) String() string {
	text := l.Kind + " " + l.Name
	if l.Host != "" {
		text += " on " + l.Host
	}
	return text + " (run " + string(l.Run) + ")"
}

// Find lists what a run left on a site; the run "" is any run.
func Find(ctx context.Context, d Driver, s Site, run RunID) ([]Leftover, error) {
	if run != "" {
		if err := run.Check(); err != nil {
			return nil, fmt.Errorf("find leftovers: %w", err)
		}
	}
	if s.Host == nil {
		return nil, fmt.Errorf("find leftovers: %w", errHost)
	}
	found, err := d.Find(ctx, s, run)
	if err != nil {
		return found, fmt.Errorf("find leftovers: %w", err)
	}
	return found, nil
}

// rounds bounds the cleaning up: a process that is being killed may have
// started another one meanwhile.
const rounds = 3

var errLeft = errors.New("left after the cleaning up")

// Cleanup removes what a run left on a site and returns what it removed. An
// error names what is still there.
func Cleanup(ctx context.Context, d Driver, s Site, run RunID) (removed []Leftover, err error) {
	if err := run.Check(); err != nil { // never all runs by accident
		return nil, fmt.Errorf("clean up: %w", err)
	}
	for range rounds {
		var left []Leftover
		if left, err = Find(ctx, d, s, run); err != nil || len(left) == 0 {
			return removed, err
		}
		var gone []Leftover
		if gone, err = remove(ctx, left); len(gone) > 0 {
			removed = append(removed, gone...)
		}
	}
	left, e := Find(ctx, d, s, run)
	if e != nil || len(left) == 0 {
		return removed, e
	}
	return removed, errors.Join(err, remains(left))
}

// remove removes things in order.
func remove(ctx context.Context, left []Leftover) (gone []Leftover, err error) {
	var errs []error
	for _, l := range left {
		if err := l.Remove(ctx); err != nil {
			errs = append(errs, fmt.Errorf("remove %s: %w", l, err))
			continue
		}
		gone = append(gone, l)
	}
	return gone, errors.Join(errs...)
}

// shown bounds the things that an error names.
const shown = 10

func remains(left []Leftover) error {
	var names []string
	for _, l := range left[:min(len(left), shown)] {
		names = append(names, l.String())
	}
	if more := len(left) - shown; more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("%w: %s", errLeft, strings.Join(slices.Clip(names), ", "))
}
