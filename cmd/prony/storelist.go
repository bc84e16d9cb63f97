package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"prony/internal/analyse"
	"prony/internal/report"
	"prony/internal/result"
	"prony/internal/store"
	"prony/internal/unit"
)

const listLong = `List the runs that are kept, newest first. A run is named by its id, the first
letters of it, its name, or last. TEXT is looked for in names, notes, targets,
experiments, variants and findings.`

const listExamples = `  prony list
  prony list gateway --verdict valid --since 7d
  prony list --experiment scaling --tag nightly --json`

type listFlags struct {
	storeFlags
	filter         store.Filter
	verdict, since string
	page           store.Page
}

func listCommand(std streams) *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{Use: "list [TEXT]", Short: "List the runs that are kept", Long: listLong, Example: listExamples, Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.filter.Text = strings.Join(args, "")
			if err := f.read(time.Now()); err != nil {
				return &exitError{exitUsage, err}
			}
			return f.with(cmd, std, func(ctx context.Context, s *store.Store) error { return f.list(ctx, s, std.out) })
		}}
	s := cmd.Flags()
	f.register(s)
	s.StringVar(&f.filter.Experiment, "experiment", "", "only runs of this experiment")
	s.StringVar(&f.filter.Variant, "variant", "", "only runs of this variant")
	s.StringVar(&f.filter.Campaign, "campaign", "", "only trials of this campaign")
	s.StringVar(&f.filter.Kind, "kind", "", "only runs of this kind: load, wrk, ab")
	s.StringVar(&f.verdict, "verdict", "", "only valid, suspect or invalid runs")
	s.StringVar(&f.filter.Tag, "tag", "", "only runs with this tag")
	s.StringVar(&f.filter.Name, "name", "", "only the run of this name")
	s.StringVar(&f.since, "since", "", "only runs started since: 2026-03-01, or so long ago: 12h, 7d")
	s.IntVar(&f.page.Limit, "limit", 50, "at most so many, up to 1000")
	s.StringVar(&f.page.After, "after", "", "the next page, as the page before names it")
	f.registerJSON(s)
	return cmd
}

// read understands the flags that are no plain text.
func (f *listFlags) read(now time.Time) error {
	f.filter.Verdict = result.Verdict(f.verdict)
	switch f.filter.Verdict {
	case "", result.Valid, result.Suspect, result.Invalid:
	default:
		return fmt.Errorf("--verdict %q: want valid, suspect or invalid", f.verdict)
	}
	if f.since == "" {
		return nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, f.since); err == nil {
			f.filter.Since = t
			return nil
		}
	}
	ago, err := unit.ParseDuration(f.since)
	if days, ok := strings.CutSuffix(f.since, "d"); ok {
		ago, err = unit.ParseDuration(days + "h")
		ago *= 24
	}
	if err != nil {
		return fmt.Errorf("--since %q: want a day such as 2026-03-01, or how long ago, such as 12h or 7d", f.since)
	}
	f.filter.Since = now.Add(-ago)
	return nil
}

func (f *listFlags) list(ctx context.Context, s *store.Store, out io.Writer) error {
	l, err := s.List(ctx, f.filter, f.page)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(out, l)
	}
	if len(l.Rows) == 0 {
		_, err := fmt.Fprintln(out, "no runs")
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "id\tstarted (UTC)\tkind\texperiment\tvariant\trequests/s\tp50\tp99\terrors\tverdict\tmarks")
	for _, r := range l.Rows {
		fmt.Fprintln(t, strings.Join(rowCells(r), "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if l.Next != "" {
		_, err = fmt.Fprintf(out, "%d of %d; more with --after %s\n", len(l.Rows), l.Total, l.Next)
	}
	return err
}

func rowCells(r store.Row) []string {
	cells := []string{string(r.ID), when(r.Started), r.Kind, r.Experiment, r.Variant, measured(&r.Rate, "1/s"), measured(r.P50, "us"), measured(r.P99, "us"),
		measured(r.Errors, "ratio"), string(r.Verdict), strings.Join(marks(r), " ")}
	if r.Error != "" {
		cells[5], cells[9] = "-", "no result"
	}
	for i, c := range cells {
		if cells[i] = visible(c); c == "" {
			cells[i] = "-"
		}
	}
	return cells
}

// marks are the name and what else people added.
func marks(r store.Row) []string {
	var all []string
	if r.Name != "" {
		all = append(all, r.Name)
	}
	for _, t := range r.Tags {
		all = append(all, "#"+t)
	}
	if r.Baseline {
		all = append(all, "(baseline)")
	}
	switch {
	case r.Notes == 1:
		all = append(all, "(1 note)")
	case r.Notes > 1:
		all = append(all, fmt.Sprintf("(%d notes)", r.Notes))
	}
	return all
}

func showCommand(std streams) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{Use: "show RUN", Short: "Show a run that is kept: its report, tags and notes", Args: cobra.ExactArgs(1),
		Example: "  prony show last\n  prony show k3f --json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, std, func(ctx context.Context, s *store.Store) error { return f.show(ctx, s, args[0], std.out) })
		}}
	f.register(cmd.Flags())
	f.registerJSON(cmd.Flags())
	return cmd
}

func (f *storeFlags) show(ctx context.Context, s *store.Store, word string, out io.Writer) error {
	id, err := s.Find(ctx, word)
	if err != nil {
		return err
	}
	r, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(out, &r.Trial)
	}
	row, err := s.Row(ctx, id)
	if err != nil {
		return err
	}
	notes, err := s.Notes(ctx, id)
	if err != nil {
		return err
	}
	about := append([]string{row.Experiment, row.Variant}, marks(row)...)
	about = slices.DeleteFunc(about, func(s string) bool { return s == "" })
	fmt.Fprintf(out, "run %s of %s UTC: %s\n", id, when(row.Started), visible(strings.Join(about, " ")))
	if row.Campaign != "" {
		fmt.Fprintf(out, "trial %d of campaign %s\n", row.Number, row.Campaign)
	}
	for _, n := range notes {
		for line := range strings.Lines(n.Text) {
			fmt.Fprintf(out, "  %s  %s\n", when(n.Written), visible(strings.TrimRight(line, "\n")))
		}
	}
	if r.Trial.Error != "" {
		_, err := fmt.Fprintf(out, "no result: %s\n", visible(r.Trial.Error))
		return err
	}
	return report.Text(out, &r.Trial.Run, analyse.Suggestions(&r.Trial.Run), style(out))
}
