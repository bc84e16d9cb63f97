package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"prony/internal/plan"
	"prony/internal/spec"
)

const runLong = `Carry out an experiment file: start its services under their limits, verify
that they answer, drive the load, stop them, once for each variant and repeat in
shuffled blocks, and print a table. Finished trials are kept, one .prony file
each, in a folder of the campaign; --resume goes on with the last campaign.

Services run on this machine or, with "on", on hosts reached over ssh, where a
copy of this program sees to them and goes away at the end.

With "scale: auto" in the file, or --set scale=auto, connections and limits are
reduced to what the machines carry, and it says from what, to what and why. A
resumed campaign keeps what was decided when it began.

Exit status: 0 good, 1 an expectation failed or a result is invalid, 2 a mistake
in the file, 3 something could not be started, 130 interrupted.`

const runExamples = `  prony run experiment.yaml --dry-run
  prony run experiment.yaml --set load.duration=2s --set instances=1,3 --repeat 2
  prony run --resume`

type runFlags struct {
	set, only          []string
	repeat             int
	dryRun, resume     bool
	looks              looks
	advisory           bool
	json, keep, driver string
	allow              []string
	keeping            keeping
	events             eventsFlag
	share              shareFlags
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
	s.StringVar(&f.driver, "driver", "process", "what process and catalog services run as: process, or docker for a container of their own each")
	f.outputs(s)
	f.events.register(s)
	f.share.register(s)
	s.StringArrayVar(&f.allow, "yes-i-may-load", nil, "HOST that is neither loopback nor private and that you may load")
	return cmd
}

// outputs are the flags that say where results go.
func (f *runFlags) outputs(s *pflag.FlagSet) {
	s.StringVar(&f.json, "json", "", "write all results as JSON to FILE; - is standard output")
	s.StringVar(&f.keep, "keep", "", "folder for the campaign (default: runs in the user's data folder)")
	f.keeping.register(s)
	f.looks.register(s)
}

func runExperiment(ctx context.Context, f runFlags, args []string, std streams) error {
	if f.driver != "process" && f.driver != "docker" {
		return &exitError{exitUsage, fmt.Errorf("--driver %q: want process or docker", f.driver)}
	}
	if err := f.share.check(); err != nil {
		return err
	}
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
	p, err := plan.Make(e, planFacts(ctx, nil))
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
		if p, err = plan.Make(e, planFacts(ctx, places)); err != nil {
			return &exitError{exitUsage, err}
		}
	}
	base, err := filepath.Abs(filepath.Dir(args[0]))
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	return begin(ctx, f, base, p, places, std)
}

// readFile reads an experiment file, with what the flags change in it.
func readFile(file string, f runFlags) (*spec.Experiment, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return spec.Load(file, text, spec.Overrides{Set: f.set, Only: f.only, Repeat: f.repeat})
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
