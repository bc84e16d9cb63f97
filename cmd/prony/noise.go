package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"prony/internal/compare"
	"prony/internal/demo"
	"prony/internal/plan"
	"prony/internal/report"
	"prony/internal/result"
	"prony/internal/spec"
)

const noiseLong = `Measure the noise floor of this lab: an experiment against itself (A/A), in
blocks, and the smallest difference that so many blocks show. Without a file a
small embedded experiment is taken; with one, its baseline, or --only VARIANT.

Exit status: 0 nothing was found to differ, 1 something was: then no comparison
made here is to be trusted.`

func noiseCommand(std streams) *cobra.Command {
	f := runFlags{repeat: 10}
	cmd := &cobra.Command{Use: "noise [FILE]", Short: "Measure what differs here when nothing is changed (A/A)", Long: noiseLong, Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runNoise(cmd.Context(), f, args, std) }}
	s := cmd.Flags()
	s.SortFlags = false
	s.StringArrayVar(&f.set, "set", nil, "field=value in place of what the file says (repeatable)")
	s.StringArrayVar(&f.only, "only", nil, "the variant that is measured against itself")
	s.IntVar(&f.repeat, "repeat", f.repeat, "blocks, each with two trials")
	s.BoolVar(&f.advisory, "advisory", false, "go on without limits that this machine does not let us set, and say so in the result")
	f.outputs(s)
	return cmd
}

func runNoise(ctx context.Context, f runFlags, args []string, std streams) error {
	name, text, base, err := noiseFile(args)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	e, err := spec.Load(name, text, spec.Overrides{Set: f.set, Only: f.only})
	if err != nil {
		return &exitError{exitUsage, err}
	}
	p, err := plan.Make(e, planFacts(ctx, nil))
	if err == nil {
		p, err = p.Twice(p.Baseline, f.repeat)
	}
	if err != nil {
		return &exitError{exitUsage, err}
	}
	places, err := openSites(ctx, p.Hosts)
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	defer places.close()
	c, err := newCampaign(f, base, p, places, std)
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	all, err := c.carryOut(ctx)
	if all == nil || statusOf(err) > exitVerdict {
		return err
	}
	return tellNoise(all, std)
}

func noiseFile(args []string) (name string, text []byte, base string, err error) {
	if len(args) == 0 {
		return "noise", demo.Noise, "/", nil
	}
	if text, err = os.ReadFile(args[0]); err != nil {
		return "", nil, "", err
	}
	base, err = filepath.Abs(filepath.Dir(args[0]))
	return args[0], text, base, err
}

func tellNoise(all *result.Experiment, std streams) error {
	floor, err := compare.Control(all, compare.Options{})
	if err != nil {
		return &exitError{exitVerdict, fmt.Errorf("the noise cannot be told: %w", err)}
	}
	if err := report.Noise(std.out, floor, style(std.out)); err != nil {
		return &exitError{exitEnvironment, err}
	}
	if !floor.Sound {
		return &exitError{code: exitVerdict}
	}
	return nil
}
