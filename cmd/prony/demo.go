package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"prony/internal/demo"
	"prony/internal/plan"
	"prony/internal/spec"
	"prony/internal/unit"
)

const demoLong = `Carry out a small experiment with nothing installed: Prony's own gateway in
front of one, two and three of its own servers, each limited to a twentieth of a
core, eight times in shuffled order. Does adding instances scale? It takes about
a minute; where limits cannot be set it goes on without them, and says so.
--file prints the experiment file, to begin one of your own with.`

func demoCommand(std streams) *cobra.Command {
	var seconds float64
	var file bool
	f := runFlags{advisory: true}
	cmd := &cobra.Command{Use: "demo", Short: "See it work: one gateway over 1, 2 and 3 embedded servers", Long: demoLong, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file {
				_, err := std.out.Write(demo.Experiment)
				return err
			}
			return runDemo(cmd.Context(), f, time.Duration(seconds*float64(time.Second)), std)
		}}
	s := cmd.Flags()
	s.SortFlags = false
	s.Float64Var(&seconds, "seconds", 1.5, "length of each measurement")
	s.BoolVar(&file, "file", false, "print the experiment file and stop")
	f.outputs(s)
	return cmd
}

func runDemo(ctx context.Context, f runFlags, d time.Duration, std streams) error {
	p, err := builtIn("demo", demo.Experiment, d)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	places, err := openSites(ctx, nil)
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	return demoVerdict(begin(ctx, f, "/", p, places, std))
}

// builtIn is the plan of an experiment in the binary, with loads of some length.
func builtIn(name string, text []byte, d time.Duration) (*plan.Experiment, error) {
	e, err := spec.Load(name, text, spec.Overrides{Set: []string{"load.duration=" + unit.FormatDuration(d)}})
	if err != nil {
		return nil, err
	}
	return plan.Make(e, planFacts(context.Background(), nil))
}

// demoVerdict: a busy machine's verdict is what the demo shows, not its failure.
func demoVerdict(err error) error {
	var e *exitError
	if errors.As(err, &e) && e.code == exitVerdict {
		return nil
	}
	return err
}
