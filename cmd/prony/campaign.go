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
	"sync/atomic"
	"time"

	"prony/internal/analyse"
	"prony/internal/bundle"
	"prony/internal/compare"
	"prony/internal/lab"
	"prony/internal/plan"
	"prony/internal/report"
	"prony/internal/result"
	"prony/internal/topology"
)

// campaign is an experiment under way: its folder, its plan, its machines.
type campaign struct {
	flags  runFlags
	kept   *bundle.Campaign
	plan   *plan.Experiment
	base   string // absolute folder of the experiment file
	places *sites
	std    streams
	seen   atomic.Pointer[watchers] // who watches now
}

// begin makes a new campaign and carries it out.
func begin(ctx context.Context, f runFlags, base string, p *plan.Experiment, places *sites, std streams) error {
	c, err := newCampaign(f, base, p, places, std)
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	_, err = c.carryOut(ctx)
	return err
}

// newCampaign makes the folder of a campaign.
func newCampaign(f runFlags, base string, p *plan.Experiment, places *sites, std streams) (*campaign, error) {
	root, err := f.folder()
	if err != nil {
		return nil, err
	}
	kept, err := bundle.Create(root, newID(), p)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(kept.Dir(), "base"), []byte(base), 0o600); err != nil {
		return nil, err
	}
	return &campaign{flags: f, kept: kept, plan: p, base: base, places: places, std: std}, nil
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
	all := &campaign{flags: f, kept: c, plan: p, base: string(base), places: places, std: std}
	_, err = all.carryOut(ctx)
	return err
}

// carryOut runs what is left of a campaign and prints the table. The error has
// the verdict.
func (c *campaign) carryOut(ctx context.Context) (*result.Experiment, error) {
	people := c.std.out
	if c.flags.json == "-" {
		people = c.std.err
	}
	release, err := c.kept.Lock()
	if err != nil {
		return nil, &exitError{exitEnvironment, err}
	}
	defer release()
	if err := examine(ctx, c.kept.Dir(), !c.flags.looks.quiet, c.std); err != nil {
		return nil, &exitError{exitEnvironment, err}
	}
	if !c.flags.looks.quiet {
		tellFit(c.plan, c.std)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stage := c.flags.looks.open(c.std, c.plan, plan.Load{}, stop, c.live)
	defer stage.close(c.std.err)
	history := c.flags.keeping.remember(ctx, stage.std)
	defer history.close()
	conductor, err := c.conductor(ctx, history, stage)
	if err != nil {
		return nil, &exitError{exitEnvironment, err}
	}
	all, err := conductor.Run(ctx)
	stage.close(c.std.err)
	analyse.Experiment(all, analyse.DefaultThresholds())
	compare.Curves(all)
	if e := c.report(all, people); e != nil {
		return nil, &exitError{exitEnvironment, e}
	}
	fmt.Fprintf(people, "\n  kept in %s\n", c.kept.Dir())
	switch {
	case ctx.Err() != nil:
		return all, &exitError{exitInterrupted, errors.New("interrupted; prony run --resume goes on")}
	case err != nil:
		return all, &exitError{exitEnvironment, err}
	}
	// The gravest status counts; what was measured is reported either way.
	shared := c.flags.share.finish(nil, all, c.kept.Get, filepath.Dir(c.kept.Dir()), c.std)
	if err := experimentVerdict(all); statusOf(err) > statusOf(shared) {
		return all, err
	}
	return all, shared
}

// live is the newest sample of everything that is watched.
func (c *campaign) live() []result.Observed {
	if w := c.seen.Load(); w != nil {
		return w.live()
	}
	return nil
}

// conductor is the lab with all its parts.
func (c *campaign) conductor(ctx context.Context, history *memory, stage *stage) (*lab.Campaign, error) {
	r, err := newRenderer(ctx)
	if err != nil {
		return nil, err
	}
	parts, err := newParts(c.kept, r, c.base, c.places, c.flags.advisory, c.flags.driver)
	if err != nil {
		return nil, err
	}
	watch := func(ctx context.Context, places []topology.Place) (lab.Watcher, error) {
		w, err := c.places.watch(ctx, places, r.status)
		if err != nil {
			return nil, err
		}
		c.seen.Store(w)
		return w, nil
	}
	put := func(t result.Trial, logs map[string][]byte) error {
		if err := c.kept.Put(t, logs); err != nil {
			return err
		}
		history.keep(ctx, trialOf(c.kept.ID(), c.plan, t, logs))
		return nil
	}
	d := driver{kind: "load", std: c.std, allow: c.flags.allow}
	return &lab.Campaign{ID: c.kept.ID(), Plan: c.plan, Loader: loader{d}, Parts: parts, Version: version,
		Judge: judge, Watch: watch, Steady: func() lab.Steady { return newWarmth(c.live) },
		Enough: enough, Has: c.kept.Has, Get: c.kept.Get, Put: put, Events: c.flags.events.tee(c, stage.events)}, nil
}

// enough plans the blocks of an experiment that repeats until it can tell a
// difference.
func enough(pilot *result.Experiment) (blocks int, why string, err error) {
	d, err := compare.Plan(pilot, 0, compare.Options{})
	return d.Blocks, d.Reason, err
}

func (c *campaign) report(all *result.Experiment, people io.Writer) error {
	if slices.ContainsFunc(all.Trials, func(t result.Trial) bool { return t.Error == "" }) {
		if err := report.Experiment(people, all, style(people)); err != nil {
			return err
		}
	}
	if c.flags.json == "" {
		return nil
	}
	return writeTo(c.flags.json, c.std.out, func(w io.Writer) error { return report.ExperimentJSON(w, all, c.kept.Get) })
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

// experimentVerdict is bad if a goal was missed, if any trial's is, or a trial has no result.
func experimentVerdict(all *result.Experiment) error {
	for _, g := range all.Goals {
		if !g.Met {
			return &exitError{code: exitVerdict}
		}
	}
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

// remaining estimates how long a campaign will go on: by the plan, scaled by how
// its estimate fared with the trials that are done.
type remaining struct {
	plan  *plan.Experiment
	now   func() time.Time
	first int       // trial that this process began with, from 0
	begun time.Time // then
}

// from is the time for the trials from the i-th on, which begins now.
func (r *remaining) from(i int) string {
	if r.begun.IsZero() {
		r.first, r.begun = i, r.now()
	}
	rest := r.span(i, len(r.plan.Trials))
	if done := r.span(r.first, i); done > 0 {
		rest = time.Duration(float64(rest) * float64(r.now().Sub(r.begun)) / float64(done))
	}
	return "about " + rest.Round(time.Second).String()
}

// span is the planned time of some trials and the rests behind them.
func (r *remaining) span(from, to int) (d time.Duration) {
	for _, t := range r.plan.Trials[from:to] {
		d += t.Plan.Estimate().Likely + r.plan.Cooldown
	}
	return d
}
