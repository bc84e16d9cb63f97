package main

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"prony/internal/report"
	"prony/internal/result"
)

// shareFlags are those of the commands that make results: files to report to,
// and gates that the result has to pass.
type shareFlags struct {
	reports              []string
	gate, baseline, lang string
}

func (f *shareFlags) register(s *pflag.FlagSet) {
	s.StringArrayVar(&f.reports, "report", nil, "write a report to FILE in the form of its name: .html, .md, .comment.md, .csv, .xml, .om … (repeatable)")
	s.StringVar(&f.lang, "lang", "en", "language of the fixed texts of Markdown: en, zh, de, ja")
	s.StringVar(&f.gate, "gate", "", "FILE of gates that the result has to pass (docs/ci.md)")
	s.StringVar(&f.baseline, "baseline", "", "SOURCE to hold the gates against (default: that of the gates, else the experiment's own)")
}

// check finds mistakes before anything is measured.
func (f *shareFlags) check() error {
	errs := []error{foldersExist(f.reports...)}
	for _, file := range f.reports {
		_, err := formatOf(file)
		errs = append(errs, err)
	}
	_, err := report.ParseLang(f.lang)
	errs = append(errs, err)
	if f.gate != "" {
		_, err := readGates(f.gate)
		errs = append(errs, err)
	} else if f.baseline != "" {
		errs = append(errs, errors.New("--baseline is for --gate"))
	}
	if err := errors.Join(errs...); err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

// finish judges a result that was just made by the gates and writes the reports.
// Trials of an experiment without their series are got whole by get, which is
// nil for a run. The error has the status; a failed gate is a bad verdict. root
// is the folder of the campaigns.
func (f *shareFlags) finish(run *result.Run, e *result.Experiment, get func(int) (result.Trial, error), root string, std streams) error {
	if len(f.reports) == 0 && f.gate == "" {
		return nil
	}
	lang, err := report.ParseLang(f.lang)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	d := &report.Document{Run: run, Experiment: e, Lang: lang, Version: version}
	if run != nil {
		d.Source = sourceText(run.Plan)
	}
	gates := &gateFile{}
	if f.gate != "" {
		if gates, err = readGates(f.gate); err != nil {
			return &exitError{exitUsage, err}
		}
		if f.baseline != "" {
			gates.baseline = f.baseline
		}
	}
	d.Comparison, err = gates.compare(&source{name: "this result", run: run, experiment: e}, root)
	if f.gate != "" {
		if err != nil {
			return &exitError{exitUsage, err}
		}
		d.Gates = gates.judge(d.Comparison)
	}
	if err := f.write(d, get, std); err != nil {
		return &exitError{exitEnvironment, err}
	}
	return gates.verdict(d.Gates)
}

// write writes the reports; the failure of one does not keep it from the others.
func (f *shareFlags) write(d *report.Document, get func(int) (result.Trial, error), std streams) error {
	var outs []output
	for _, file := range f.reports {
		format, err := formatOf(file)
		if err != nil {
			return err
		}
		outs = append(outs, output{file, format})
	}
	if e := d.Experiment; e != nil && get != nil && slices.ContainsFunc(outs, output.whole) {
		copied := *e
		copied.Trials = slices.Clone(e.Trials)
		for i, t := range copied.Trials {
			if whole, err := get(t.Number); err == nil { // what cannot be got is written as it is
				whole.Validity, whole.Bottleneck = t.Validity, t.Bottleneck // other trials may have told more
				copied.Trials[i] = whole
			}
		}
		d.Experiment = &copied
	}
	var errs []error
	view := face{d: d, std: std}
	for _, o := range outs {
		errs = append(errs, view.write(o))
	}
	return errors.Join(errs...)
}
