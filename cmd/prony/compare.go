package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"prony/internal/compare"
	"prony/internal/report"
	"prony/internal/unit"
)

const compareLong = `Say which of two results is better, by how much, and how sure that is. With one
experiment its variants are held against its baseline, block by block; with two
results the second is held against the first. A result is a campaign (its id,
its folder, or last), a .prony file, a JSON file, a run of the history (by id or
name, with its repeats) or baseline:EXPERIMENT; SOURCE#VARIANT is one variant of
an experiment.

The run is the unit: one value per run, exact intervals, and margins below which
a difference does not matter. Metrics marked * are gates and decide.

Exit status: 0 no gate is worse, 1 one is, 2 they cannot be compared.`

const compareExamples = `  prony compare last
  prony compare main.json branch.json --gate rate --gate p99
  prony compare last#instances=1 last#instances=3 --margin rate=5%`

type compareFlags struct {
	options compare.Options
	margins []string
	json    string
	keep    string
}

func compareCommand(std streams) *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{Use: "compare A [B]", Short: "Compare two results, or the variants of an experiment", Long: compareLong, Example: compareExamples,
		Args: cobra.RangeArgs(1, 2), RunE: func(_ *cobra.Command, args []string) error { return f.run(args, std) }}
	s := cmd.Flags()
	s.SortFlags = false
	s.StringArrayVar(&f.options.Gates, "gate", nil, "metric that decides: rate, p99, errors, cpu.SERVICE … (repeatable)")
	s.StringArrayVar(&f.margins, "margin", nil, "METRIC=SHARE that does not matter, e.g. rate=5% (repeatable)")
	s.Float64Var(&f.options.Alpha, "alpha", 0.05, "chance of a false alarm in all gates together")
	s.BoolVar(&f.options.Unpaired, "unpaired", false, "do not pair runs by their block")
	s.BoolVar(&f.options.AcceptDifferences, "accept-differences", false, "give verdicts even if the machines or loads differ")
	s.StringVar(&f.json, "json", "", "write the comparison as JSON to FILE; - is standard output")
	s.StringVar(&f.keep, "keep", "", "folder of the campaigns (default: runs in the user's data folder)")
	return cmd
}

func (f *compareFlags) run(args []string, std streams) error {
	gates, err := takeGateFile(&f.options)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	r, err := f.compare(args)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	people := std.out
	if f.json == "-" {
		people = std.err
	}
	err = report.Comparison(people, r, style(people))
	if f.json != "" && err == nil {
		err = writeTo(f.json, std.out, func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(r)
		})
	}
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	if gates != nil {
		return gates.verdict(gates.judge(r))
	}
	if r.Failed() {
		return &exitError{code: exitVerdict}
	}
	return nil
}

var errOneRun = errors.New("a single run has nothing to be compared with: name a second result")

func (f *compareFlags) compare(args []string) (*compare.Result, error) {
	if err := f.readMargins(); err != nil {
		return nil, err
	}
	root, err := runFlags{keep: f.keep}.folder()
	if err != nil {
		return nil, err
	}
	var all []*source
	for _, name := range args {
		s, err := openSource(name, root)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if len(all) == 1 {
		if all[0].experiment == nil {
			return nil, errOneRun
		}
		return compare.Experiment(all[0].experiment, f.options)
	}
	a, err := side(all[0])
	if err != nil {
		return nil, err
	}
	b, err := side(all[1])
	if err != nil {
		return nil, err
	}
	return compare.Sides(a, b, f.options)
}

// side is one of the two that are compared.
func side(s *source) (compare.Side, error) {
	if s.run != nil {
		return compare.Stored(s.name, s.stored()), nil
	}
	variant := s.variant
	if names := s.variants(); variant == "" {
		if len(names) != 1 {
			return compare.Side{}, fmt.Errorf("%s has several variants; say which, as %s#VARIANT: %s", s.name, s.name, strings.Join(names, ", "))
		}
		variant = names[0]
	}
	return compare.Variant(s.experiment, variant), nil
}

func (f *compareFlags) readMargins() error {
	f.options.Margins = map[string]float64{}
	for _, text := range f.margins {
		metric, share, ok := strings.Cut(text, "=")
		x, err := unit.ParsePercent(share)
		if err != nil {
			x, err = strconv.ParseFloat(share, 64)
		}
		if !ok || err != nil {
			return fmt.Errorf("--margin %q: want METRIC=SHARE, e.g. rate=5%%", text)
		}
		f.options.Margins[metric] = x
	}
	return nil
}
