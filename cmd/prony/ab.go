package main

import (
	"context"
	"errors"
	"fmt"

	"prony/internal/ab"
	"prony/internal/engine"
	"prony/internal/evloop"
	"prony/internal/plan"
	"prony/internal/report"
	"prony/internal/result"
)

// runAB is the ab command: ab's arguments in, ab's report and exit status out,
// Prony's verdict behind them.
func runAB(ctx context.Context, args []string, std streams) int {
	args, allow := takeAllow(args)
	o, err := ab.Parse(args)
	if err != nil {
		return abUsage(err, std)
	}
	for _, w := range o.Warnings {
		fmt.Fprintln(std.err, w)
	}
	if o.ShowVersion {
		fmt.Fprint(std.out, ab.Banner(version))
		return exitGood
	}
	p, err := o.Plan()
	if err == nil {
		p.Load = p.Load.WithDefaults(facts(p.Load))
		err = p.Load.Validate()
	}
	if err != nil {
		return abUsage(err, std)
	}
	if o.PrintSpec {
		return status(printSpec(std.out, p), std)
	}
	return abSession(ctx, p, o, allow, std)
}

func abUsage(err error, std streams) int {
	var u *ab.UsageError
	if !errors.As(err, &u) {
		fmt.Fprintf(std.err, "ab: %v\n", err)
		return exitVerdict
	}
	fmt.Fprint(std.out, u.Stdout)
	fmt.Fprint(std.err, u.Stderr)
	return u.Code
}

func abSession(ctx context.Context, p plan.Plan, o ab.Options, allow []string, std streams) int {
	out := std.out
	if o.JSON == "-" {
		out = std.err
	}
	if err := ab.Begin(out, version, o); err != nil {
		return exitEnvironment
	}
	tell := ab.Progress(std.err, o)
	d := driver{kind: "ab", std: std, allow: allow,
		progress: func(p result.Progress, _ float64) { tell(p.Completed + p.Failed) }}
	run, err := d.drive(ctx, p)
	var unreachable *engine.UnreachableError
	if err != nil && !errors.As(err, &unreachable) || run == nil {
		return status(err, std)
	}
	if unreachable != nil {
		fmt.Fprintf(std.err, "%s\n", unreachable.Failure.Example)
		if run.Load.Failures == nil {
			run.Load.Failures = map[string]int64{unreachable.Failure.Kind: 1}
		}
		return ab.ExitCode(run, o)
	}
	if err := abReport(run, o, std); err != nil {
		fmt.Fprintf(std.err, "ab: %v\n", err)
		return exitVerdict
	}
	return ab.ExitCode(run, o)
}

func abReport(run *result.Run, o ab.Options, std streams) error {
	out := std.out
	if o.JSON == "-" {
		out = std.err
	}
	if err := ab.Finished(std.err, run, o); err != nil {
		return err
	}
	if err := ab.Report(out, run, o); err != nil {
		return err
	}
	if err := writeFiles(run, o.JSON, "", std.out); err != nil {
		return err
	}
	if o.Plain || o.HTML {
		return nil
	}
	return report.Verdict(out, run, style(out))
}

// engineName is the event loop that a plan's engine amounts to.
func engineName(asked string) string {
	if asked != "" && asked != string(evloop.Auto) {
		return asked
	}
	kind, _ := evloop.Probe()
	return string(kind)
}
