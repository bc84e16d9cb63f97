package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"prony/internal/analyse"
	"prony/internal/compare"
	"prony/internal/plan"
	"prony/internal/report"
	api "prony/internal/serve"
	"prony/internal/spec"
	"prony/internal/web"
)

// draftName is what an experiment is called that comes as a text.
const draftName = "experiment.yaml"

// draft says what an experiment would do, without doing any of it, or what is
// wrong with it.
func draft(ctx context.Context, text string) (api.Draft, error) {
	e, err := spec.Load(draftName, []byte(text), spec.Overrides{})
	if err != nil {
		return api.Draft{Mistakes: mistakesOf(err)}, nil
	}
	p, err := plan.Make(e, planFacts(ctx, nil))
	if err != nil {
		return api.Draft{Mistakes: mistakesOf(err)}, nil
	}
	d := api.Draft{Name: p.Name, Trials: len(p.Trials)}
	for _, v := range p.Variants {
		d.Variants = append(d.Variants, v.Name)
	}
	var b strings.Builder
	err = plan.DryRun(&b, p)
	d.Plan = b.String()
	return d, err
}

// mistakesOf are the mistakes of an error, with their positions.
func mistakesOf(err error) (all []api.Mistake) {
	var found spec.Mistakes
	if !errors.As(err, &found) {
		return []api.Mistake{{Message: err.Error()}}
	}
	for _, m := range found {
		message := m.Problem
		if m.Found != "" {
			message += fmt.Sprintf(", found %.60q", m.Found)
		}
		all = append(all, api.Mistake{Line: m.Line, Column: m.Column, Path: m.Path, Message: message, Allowed: m.Allowed, Nearest: m.Nearest, Remedy: m.Remedy})
	}
	return all
}

// complete adds to a report what prony report says too.
func complete(p *web.Document) {
	d := &report.Document{Run: p.Run, Experiment: p.Experiment, Version: version}
	switch {
	case p.Run != nil:
		d.Source = sourceText(p.Run.Plan)
	case p.Experiment != nil:
		if p.Experiment.Plan == nil {
			p.Experiment.Plan = &plan.Experiment{} // a stranger's file
		}
		analyse.Experiment(p.Experiment, analyse.DefaultThresholds())
		d.Comparison, _ = compare.Experiment(p.Experiment, compare.Options{}) // one variant has nothing to be compared with
	}
	*p = (&face{d: d}).page()
}
