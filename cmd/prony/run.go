package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"prony/internal/analyse"
	"prony/internal/bundle"
	"prony/internal/lab"
	"prony/internal/plan"
	"prony/internal/report"
	"prony/internal/result"
	"prony/internal/spec"
)

const runLong = `Carry out an experiment file: start its services under their limits, verify
that they answer, drive the load, stop them, once for each variant and repeat in
shuffled blocks, and print a table. Finished trials are kept, one .prony file
each, in a folder of the campaign; --resume goes on with the last campaign.

This version starts services of the kinds process, catalog and url on this
machine. It refuses docker, compose, other hosts and searches for the capacity;
--dry-run plans all of them.

Exit status: 0 good, 1 an expectation failed or a result is invalid, 2 a mistake
in the file, 3 something could not be started, 130 interrupted.`

const runExamples = `  prony run experiment.yaml --dry-run
  prony run experiment.yaml --set load.duration=2s --set instances=1,3 --repeat 2
  prony run --resume`

type runFlags struct {
	set, only             []string
	repeat                int
	dryRun, resume, quiet bool
	advisory              bool
	json, keep            string
	allow                 []string
}

func runCommand(std streams) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{Use: "run FILE", Short: "Carry out an experiment file", Long: runLong, Example: runExamples, Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runExperiment(cmd.Context(), f, args, std) }}
	s := cmd.Flags()
	s.SortFlags = false
	s.BoolVar(&f.dryRun, "dry-run", false, "print the whole plan with its steps, limits, cores and time, and stop")
	s.StringArrayVar(&f.set, "set", nil, "field=value or axis=a,b,c in place of what the file says (repeatable)")
	s.StringArrayVar(&f.only, "only", nil, "carry out only this variant (repeatable)")
	s.IntVar(&f.repeat, "repeat", 0, "repeats of each variant")
	s.BoolVar(&f.resume, "resume", false, "go on with the last campaign, on exactly the same plan")
	s.BoolVar(&f.advisory, "advisory", false, "go on without limits that this machine does not let us set, and say so in the result")
	s.StringVar(&f.json, "json", "", "write all results as JSON to FILE; - is standard output")
	s.StringVar(&f.keep, "keep", "", "folder for the campaign (default: runs in the user's data folder)")
	s.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
	s.StringArrayVar(&f.allow, "yes-i-may-load", nil, "HOST that is neither loopback nor private and that you may load")
	return cmd
}

func runExperiment(ctx context.Context, f runFlags, args []string, std streams) error {
	if f.resume {
		return resumeCampaign(ctx, f, std)
	}
	if len(args) != 1 {
		return &exitError{exitUsage, errors.New("which experiment file? e.g. prony run experiment.yaml")}
	}
	e, err := readFile(args[0], f)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	// The plan is made without the hosts first: its mistakes need no connection.
	p, err := plan.Make(e, plan.Facts{CPUs: usableCPUs()})
	if err != nil {
		return &exitError{exitUsage, err}
	}
	if f.dryRun {
		return plan.DryRun(std.out, p)
	}
	places, err := openSites(ctx, p.Hosts)
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	defer places.close()
	if len(p.Hosts) > 0 {
		if p, err = plan.Make(e, plan.Facts{CPUs: usableCPUs(), Hosts: hostCPUs(ctx, places)}); err != nil {
			return &exitError{exitUsage, err}
		}
	}
	return begin(ctx, f, args[0], p, places, std)
}

// begin makes the folder of a new campaign and carries it out.
func begin(ctx context.Context, f runFlags, file string, p *plan.Experiment, places *sites, std streams) error {
	root, err := f.folder()
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	c, err := bundle.Create(root, newID(), p)
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	base, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	if err := os.WriteFile(filepath.Join(c.Dir(), "base"), []byte(base), 0o600); err != nil {
		return &exitError{exitEnvironment, err}
	}
	return carryOut(ctx, f, c, p, base, places, std)
}

// readFile reads an experiment file, with what the flags change in it.
func readFile(file string, f runFlags) (*spec.Experiment, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return spec.Load(file, text, spec.Overrides{Set: f.set, Only: f.only, Repeat: f.repeat})
}

func (f runFlags) folder() (string, error) {
	if f.keep != "" {
		return f.keep, nil
	}
	home, err := dataHome()
	return filepath.Join(home, "runs"), err
}

// newID names a campaign so that names sort by time.
func newID() string {
	var b [3]byte
	_, _ = rand.Read(b[:])
	return time.Now().UTC().Format("20060102-150405") + "-" + hex.EncodeToString(b[:])
}

func resumeCampaign(ctx context.Context, f runFlags, std streams) error {
	root, err := f.folder()
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	c, p, err := bundle.Open(root, "last")
	if err != nil {
		return &exitError{exitUsage, err}
	}
	base, err := os.ReadFile(filepath.Join(c.Dir(), "base"))
	if err != nil {
		return &exitError{exitUsage, fmt.Errorf("resume %s: %w", c.ID(), err)}
	}
	places, err := openSites(ctx, p.Hosts)
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	defer places.close()
	if _, err := cleanSites(ctx, c, places, false, std); err != nil { // what a crash left would be in the way
		return &exitError{exitEnvironment, err}
	}
	return carryOut(ctx, f, c, p, string(base), places, std)
}

// carryOut runs what is left of a campaign and prints the table.
func carryOut(ctx context.Context, f runFlags, c *bundle.Campaign, p *plan.Experiment, base string, places *sites, std streams) error {
	people := std.out
	if f.json == "-" {
		people = std.err
	}
	release, err := c.Lock()
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	defer release()
	parts, err := newParts(ctx, c, base, places, f.advisory)
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	d := driver{kind: "load", std: std, allow: f.allow}
	campaign := &lab.Campaign{ID: c.ID(), Plan: p, Loader: loader{d}, Parts: parts, Version: version,
		Judge: judge,
		Has:   c.Has, Get: c.Get, Put: c.Put, Events: events(std, f.quiet)}
	all, err := campaign.Run(ctx)
	if e := reportExperiment(f, all, people, std); e != nil {
		return &exitError{exitEnvironment, e}
	}
	fmt.Fprintf(people, "\n  kept in %s\n", c.Dir())
	switch {
	case ctx.Err() != nil:
		return &exitError{exitInterrupted, errors.New("interrupted; prony run --resume goes on")}
	case err != nil:
		return &exitError{exitEnvironment, err}
	}
	return experimentVerdict(all)
}

func reportExperiment(f runFlags, all *result.Experiment, people io.Writer, std streams) error {
	if slices.ContainsFunc(all.Trials, func(t result.Trial) bool { return t.Error == "" }) {
		if err := report.Experiment(people, all, style(people)); err != nil {
			return err
		}
	}
	if f.json == "" {
		return nil
	}
	return writeTo(f.json, std.out, func(w io.Writer) error { return report.ExperimentJSON(w, all) })
}

// judge puts the verdict into a result. Loads that ran side by side are judged
// one by one; the gravest verdict counts.
func judge(r *result.Run) {
	analyse.Run(r, analyse.DefaultThresholds())
	for _, l := range r.Also {
		other := *r
		other.Load, other.Validity, other.Also = l, result.Validity{}, nil
		analyse.Run(&other, analyse.DefaultThresholds())
		r.Validity.Verdict = result.Worse(r.Validity.Verdict, other.Validity.Verdict)
		for _, f := range other.Validity.Findings {
			if f.Severity == result.InvalidLevel || f.Severity == result.SuspectLevel {
				f.Message = "load " + l.Name + ": " + f.Message
				r.Validity.Findings = append(r.Validity.Findings, f)
			}
		}
	}
}

// experimentVerdict is bad if any trial's is, or a trial has no result.
func experimentVerdict(all *result.Experiment) error {
	for i := range all.Trials {
		t := &all.Trials[i]
		if t.Error != "" {
			return &exitError{code: exitEnvironment}
		}
		if err := verdict(&t.Run); err != nil {
			return err
		}
	}
	return nil
}

// events prints how a campaign goes.
func events(std streams, quiet bool) lab.Events {
	if quiet {
		return lab.Events{}
	}
	progress := newProgress(std.err, false)
	return lab.Events{
		Trial: func(n, of int, t plan.Trial) {
			fmt.Fprintf(std.err, "trial %d of %d, block %d: %s\n", n, of, t.Block+1, t.Variant)
		},
		Phase:    func(text string) { fmt.Fprintf(std.err, "  %s\n", text) },
		Progress: progress,
	}
}

func schemaCommand(std streams) *cobra.Command {
	return &cobra.Command{Use: "schema", Short: "Print the JSON Schema of the experiment file, for editors", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			b, err := spec.Schema()
			if err != nil {
				return &exitError{exitEnvironment, err}
			}
			_, err = fmt.Fprintf(std.out, "%s\n", b)
			return err
		}}
}
