package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"prony/internal/analyse"
	"prony/internal/bundle"
	"prony/internal/compare"
	"prony/internal/plan"
	"prony/internal/report"
	"prony/internal/result"
)

const reportLong = `Write a stored result in another form. SOURCE is a campaign (its id, its folder,
or last), a .prony file, or a result as JSON. The form follows from the name of
the file, or from --format:

  text      for a terminal              md        Markdown with everything
  html      one file that opens alone   comment   short Markdown, for a change
  json      the contract                csv       a row a trial, or a second
  junit     tests for a CI system       openmetrics, hlog, wrk, ab, gatling

md, html, csv, junit and openmetrics take an experiment or a run; hlog, wrk, ab
and gatling one run: of an experiment, the one that --trial names. No form leaves
the verdict out.

With --gate the result is held against a baseline by a file of gates
(docs/ci.md), and the forms say what came of it.

Exit status: 0 written, 1 a gate failed, 2 wrong usage, 3 it cannot be written.`

const reportExamples = `  prony report last
  prony report last -o report.html
  prony report last --lang de -o bericht.md
  prony report result.json --format gatling
  prony report last --baseline main.json --gate gates.yaml -o gates.xml --format junit`

// reportFlags are the flags of prony report.
type reportFlags struct {
	format, lang, keep string
	out                []string
	gate, baseline     string
	trial              int
	series             bool
}

func reportCommand(std streams) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{Use: "report SOURCE", Short: "Write a stored result as text, Markdown, HTML, JUnit and others", Long: reportLong, Example: reportExamples,
		Args: cobra.ExactArgs(1), RunE: func(_ *cobra.Command, args []string) error { return f.run(args[0], std) }}
	s := cmd.Flags()
	s.SortFlags = false
	s.StringVar(&f.format, "format", "", "one of "+strings.Join(formatNames(), ", ")+" (default: by the name of the file, else text)")
	s.StringArrayVarP(&f.out, "out", "o", nil, "file to write; - is standard output (repeatable: each in the form of its name)")
	s.StringVar(&f.lang, "lang", "en", "language of the fixed texts of md and comment: en, zh, de, ja")
	s.IntVar(&f.trial, "trial", 0, "number of the trial of an experiment to write alone")
	s.BoolVar(&f.series, "series", false, "csv: a row a second in place of a row a trial")
	s.StringVar(&f.gate, "gate", "", "FILE of gates that the result has to pass")
	s.StringVar(&f.baseline, "baseline", "", "SOURCE to compare with (default: that of the gates, else the experiment's own)")
	s.StringVar(&f.keep, "keep", "", "folder of the campaigns (default: runs in the user's data folder)")
	return cmd
}

// run is the command: a stored result in, files out, and what the gates say.
func (f *reportFlags) run(name string, std streams) error {
	outs, err := f.outputs()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	root, err := runFlags{keep: f.keep}.folder()
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	s, gates, d, err := f.document(name, root)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	face := face{d: d, std: std, series: f.series}
	if slices.ContainsFunc(outs, output.whole) {
		if err := wholeTrials(s, root); err != nil {
			return &exitError{exitUsage, err}
		}
	}
	var errs []error
	for _, o := range outs {
		errs = append(errs, face.write(o))
	}
	if err := errors.Join(errs...); err != nil {
		var known *exitError
		if errors.As(err, &known) {
			return err
		}
		return &exitError{exitEnvironment, err}
	}
	return gates.verdict(d.Gates)
}

// output is a file and the form that it gets.
type output struct{ file, format string }

// outputs are those that were asked for; standard output, if none was.
func (f *reportFlags) outputs() (all []output, err error) {
	if err := foldersExist(f.out...); err != nil {
		return nil, err
	}
	if len(f.out) == 0 {
		f.out = []string{"-"}
	}
	for _, file := range f.out {
		format := f.format
		if format == "" {
			if format, err = formatOf(file); err != nil {
				return nil, err
			}
		}
		if !slices.Contains(formatNames(), format) {
			return nil, fmt.Errorf("format %q: there are %s", format, strings.Join(formatNames(), ", "))
		}
		if f.series && format != "csv" {
			return nil, fmt.Errorf("--series is for csv, not for %s", format)
		}
		all = append(all, output{file, format})
	}
	return all, nil
}

// formatNames lists the forms.
func formatNames() []string {
	return []string{"text", "md", "html", "json", "csv", "junit", "openmetrics", "hlog", "wrk", "ab", "gatling", "gatling-classic", "comment"}
}

// formatOf is the form that a file's name asks for.
func formatOf(file string) (string, error) {
	ends := map[string]string{"": "text", ".txt": "text", ".md": "md", ".markdown": "md", ".html": "html", ".htm": "html", ".json": "json",
		".csv": "csv", ".xml": "junit", ".om": "openmetrics", ".prom": "openmetrics", ".hlog": "hlog"}
	end := strings.ToLower(filepath.Ext(file))
	if file == "-" {
		end = ""
	}
	if strings.HasSuffix(strings.ToLower(file), ".comment.md") {
		return "comment", nil
	}
	format, ok := ends[end]
	if !ok {
		return "", fmt.Errorf("%s: nothing is known to end in %s; say --format", file, end)
	}
	return format, nil
}

// whole reports whether the form needs the series of trials.
func (o output) whole() bool {
	return !slices.Contains([]string{"text", "md", "comment", "junit", "openmetrics"}, o.format)
}

// document opens a result, and compares it where there is something to compare
// it with.
func (f *reportFlags) document(name, root string) (*source, *gateFile, *report.Document, error) {
	d := &report.Document{Version: version}
	var err error
	if d.Lang, err = report.ParseLang(f.lang); err != nil {
		return nil, nil, nil, err
	}
	s, err := openSource(name, root)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := s.narrow(f.trial, root); err != nil {
		return nil, nil, nil, err
	}
	d.Run, d.Experiment = s.run, s.experiment
	if d.Experiment != nil && d.Experiment.Plan == nil {
		d.Experiment.Plan = &plan.Experiment{} // a stranger's file
	}
	if e := d.Experiment; e != nil && e.Findings == nil && e.Goals == nil && e.Curves == nil { // those of a folder come unjudged
		analyse.Experiment(e, analyse.DefaultThresholds())
		compare.Curves(e)
	}
	gates := &gateFile{}
	if f.gate != "" {
		if gates, err = readGates(f.gate); err != nil {
			return nil, nil, nil, err
		}
	}
	if f.baseline != "" {
		gates.baseline = f.baseline
	}
	d.Comparison, err = gates.compare(s, root)
	switch {
	case f.gate != "":
		if err == nil {
			d.Gates = gates.judge(d.Comparison)
		}
	case f.baseline == "":
		err = nil // nothing was asked for: what cannot be compared is not
	}
	if d.Run != nil {
		d.Source = sourceText(d.Run.Plan)
	}
	return s, gates, d, err
}

// narrow takes one variant of an experiment, or one trial of it as a run.
func (s *source) narrow(trial int, root string) error {
	e := s.experiment
	if e == nil {
		if trial > 1 {
			return fmt.Errorf("--trial %d: %s is a single run", trial, s.name)
		}
		return nil
	}
	if s.variant != "" {
		e.Trials = slices.DeleteFunc(e.Trials, func(t result.Trial) bool { return t.Variant != s.variant })
		if e.Plan != nil {
			p := *e.Plan
			p.Variants = slices.DeleteFunc(slices.Clone(p.Variants), func(v plan.Variant) bool { return v.Name != s.variant })
			e.Plan = &p
		}
	}
	if trial == 0 {
		return nil
	}
	for i := range e.Trials {
		if t := &e.Trials[i]; t.Number == trial {
			if t.Error != "" {
				return fmt.Errorf("trial %d has no result: %s", trial, t.Error)
			}
			e.Trials = e.Trials[i : i+1]
			if err := wholeTrials(s, root); err != nil {
				return err
			}
			s.run, s.experiment = &e.Trials[0].Run, nil
			return nil
		}
	}
	return fmt.Errorf("%s has no trial %d", s.name, trial)
}

// wholeTrials puts the trials of a campaign's files in place of those that came
// without their series. What is no campaign is whole already.
func wholeTrials(s *source, root string) error {
	if s.experiment == nil {
		return nil
	}
	base, _, _ := strings.Cut(s.name, "#")
	c, _, err := bundle.Open(root, base)
	if err != nil {
		if c, _, err = bundle.Open(filepath.Dir(filepath.Clean(base)), filepath.Base(filepath.Clean(base))); err != nil {
			return nil // a file of JSON
		}
	}
	if c.ID() != s.experiment.ID {
		return nil
	}
	for i := range s.experiment.Trials {
		t := &s.experiment.Trials[i]
		if *t, err = c.Get(t.Number); err != nil {
			return err
		}
	}
	return nil
}

// writeReport writes a result that was just made to a file, in the form of its
// name; "" is no file. For the forms that draw series, the trials of e must be
// whole (see lab.Campaign's Get).
func writeReport(file string, run *result.Run, e *result.Experiment, lang report.Lang, std streams) error {
	if file == "" {
		return nil
	}
	format, err := formatOf(file)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	d := &report.Document{Run: run, Experiment: e, Lang: lang, Version: version}
	if e != nil {
		d.Comparison, _ = compare.Experiment(e, compare.Options{}) // one variant has nothing to be compared with
	} else if run != nil {
		d.Source = sourceText(run.Plan)
	}
	f := face{d: d, std: std}
	return f.write(output{file, format})
}

// write writes one form to its place. A form that cannot be made leaves no file.
func (f *face) write(o output) error {
	var b bytes.Buffer
	if err := f.render(&b, o); err != nil {
		return fmt.Errorf("write %s: %w", o.format, err)
	}
	return writeTo(o.file, f.std.out, func(w io.Writer) error {
		_, err := w.Write(b.Bytes())
		return err
	})
}
