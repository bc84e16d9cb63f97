package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/term"

	"prony/internal/analyse"
	"prony/internal/engine"
	"prony/internal/lab"
	"prony/internal/plan"
	"prony/internal/report"
	"prony/internal/result"
	"prony/internal/scenario"
	"prony/internal/spec"
)

// driver takes a plan through the lab and the analysis.
type driver struct {
	kind     string
	std      streams
	progress func(result.Progress, float64)
	script   func(worker int) scenario.Script
	begun    func()    // hears when connections stand and the load begins
	watch    *watchers // who watches this machine; nil is nobody
	allow    []string
}

// drive carries the plan out. With an error it may still return a run, with
// what was measured.
func (d driver) drive(ctx context.Context, p plan.Plan) (*result.Run, error) {
	if err := mayLoad(ctx, p.Load, d.allow); err != nil {
		return nil, err
	}
	raiseFileLimit(p.Load.Connections)
	run, err := lab.Run(ctx, p, loader{d}, lab.Options{Kind: d.kind, Version: version, Command: os.Args, Progress: d.progress, Watch: d.watcher()})
	if run.Load.Model != "" {
		analyse.Run(run, analyse.DefaultThresholds())
	}
	if err != nil {
		var e *engine.UnreachableError
		if errors.As(err, &e) {
			return run, &exitError{exitEnvironment, fmt.Errorf("the target took no connection: %w", e)}
		}
		return run, &exitError{exitEnvironment, err}
	}
	return run, nil
}

// watcher is who watches, for the lab: nil where nobody does.
func (d driver) watcher() lab.Watcher {
	if d.watch == nil {
		return nil
	}
	return d.watch
}

// live is the newest sample of everything that is watched.
func (d driver) live() []result.Observed {
	if d.watch == nil {
		return nil
	}
	return d.watch.live()
}

// loader is the engine on this machine, as the lab wants it.
type loader struct{ driver }

func (l loader) Load(ctx context.Context, p plan.Load, tell lab.Tell) (*result.Load, error) {
	if p.With != "" {
		return with(ctx, p, tell)
	}
	window := func(start, end time.Time) {
		if l.begun != nil {
			l.begun()
		}
		if tell.Window != nil {
			tell.Window(start, end)
		}
	}
	return engine.Run(ctx, p, engine.Options{Script: l.script, Progress: tell.Progress, Started: tell.Threads, Window: window, Start: tell.Start})
}

// newProgress prints the state of a load once a second: on a terminal on one
// line, redrawn; elsewhere a line each.
func newProgress(w io.Writer) func(result.Progress, float64) {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(p result.Progress, busy float64) {
			if !p.Interval.Drain { // what comes late belongs to no rate
				fmt.Fprintln(w, report.ProgressLine(p, busy))
			}
		}
	}
	return func(p result.Progress, busy float64) {
		fmt.Fprintf(w, "\r\x1b[2K%s", clip(report.ProgressLine(p, busy), int(f.Fd())))
		if p.Total > 0 && p.Elapsed >= p.Total {
			fmt.Fprint(w, "\r\x1b[2K")
		}
	}
}

// clip cuts a line to the width of the terminal: one that wraps cannot be
// redrawn in its place.
func clip(line string, fd int) string {
	width, _, err := term.GetSize(fd)
	letters := []rune(line)
	if err != nil || width < 2 || len(letters) < width {
		return line
	}
	return string(letters[:width-1])
}

// style allows colours on a terminal that did not ask for none, and takes its
// width.
func style(w io.Writer) report.Style {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return report.Style{}
	}
	width, _, _ := term.GetSize(int(f.Fd())) // unknown: as wide as it takes
	return report.Style{Colour: os.Getenv("NO_COLOR") == "", Width: width}
}

// writeFiles writes the files that were asked for; the failure of one does not
// keep it from the other.
func writeFiles(run *result.Run, json, hlog string, out io.Writer) error {
	var errs []error
	if json != "" {
		errs = append(errs, writeTo(json, out, func(w io.Writer) error { return report.JSON(w, run) }))
	}
	if hlog != "" {
		errs = append(errs, writeTo(hlog, out, func(w io.Writer) error { return report.HLog(w, run) }))
	}
	return errors.Join(errs...)
}

// writeTo writes a file, or to standard output for "-".
func writeTo(file string, out io.Writer, write func(io.Writer) error) error {
	if file == "-" {
		return write(out)
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

func printSpec(w io.Writer, p plan.Plan) error {
	e, err := plan.Describe(p)
	if err == nil {
		err = spec.Write(w, e)
	}
	if err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

func usableCPUs() int { return runtime.NumCPU() }
