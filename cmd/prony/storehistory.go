package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"prony/internal/store"
)

const historyLong = `Tell how a metric went over the runs of an experiment, and where it changed. The
newest experiment is meant if none is named. Runs that cannot be compared with
the newest (other work, machine or version) and invalid ones are left out, and
counted.

A change is shown when a rank test over permutations finds it at 1 %, with at
least five runs on either side, and the medians differ by more than the metric's
margin. One lucky run never moves anything. With a baseline (prony baseline) the
newest level is held against it in the same way.`

type historyFlags struct {
	storeFlags
	question store.Question
	variant  string
}

func historyCommand(std streams) *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{Use: "history [EXPERIMENT]", Short: "Tell how a metric went over the runs, and where it changed", Long: historyLong, Args: cobra.MaximumNArgs(1),
		Example: "  prony history\n  prony history scaling --metric p99 --variant instances=2",
		RunE: func(cmd *cobra.Command, args []string) error {
			f.question.Experiment = strings.Join(args, "")
			return f.with(cmd, std, func(ctx context.Context, s *store.Store) error {
				return f.history(ctx, s, cmd.Flags().Changed("variant"), std.out)
			})
		}}
	var names []string
	for _, m := range store.Metrics() {
		names = append(names, m.Name)
	}
	s := cmd.Flags()
	f.register(s)
	s.StringVar(&f.question.Metric, "metric", "rate", "one of "+strings.Join(names, ", "))
	s.StringVar(&f.variant, "variant", "", "only this variant (default: all)")
	s.IntVar(&f.question.Limit, "limit", 200, "look at so many of the newest runs, up to 500")
	s.BoolVar(&f.question.Any, "any", false, "take runs of other work and machines as if they were comparable")
	f.registerJSON(s)
	return cmd
}

func (f *historyFlags) history(ctx context.Context, s *store.Store, one bool, out io.Writer) error {
	subjects, err := s.Subjects(ctx, f.question.Experiment)
	if err != nil {
		return err
	}
	var all []store.History
	for _, t := range subjects {
		if t.Experiment != subjects[0].Experiment || one && t.Variant != f.variant {
			continue
		}
		q := f.question
		q.Experiment, q.Variant = t.Experiment, t.Variant
		h, err := s.History(ctx, q)
		if err != nil {
			return err
		}
		all = append(all, h)
	}
	if len(all) == 0 {
		return fmt.Errorf("history of %q %q: %w", f.question.Experiment, f.variant, store.ErrNotFound)
	}
	slices.SortFunc(all, func(a, b store.History) int { return strings.Compare(a.Variant, b.Variant) })
	if f.json {
		return printJSON(out, all)
	}
	for _, h := range all {
		if err := printHistory(out, h); err != nil {
			return err
		}
	}
	return nil
}

func printHistory(out io.Writer, h store.History) error {
	better := "lower"
	if h.Metric.Higher {
		better = "higher"
	}
	fmt.Fprintf(out, "%s: %s, %s is better\n", visible(strings.TrimSuffix(h.Experiment+", "+h.Variant, ", ")), h.Metric.Name, better)
	var left []string
	for _, reason := range slices.Sorted(maps.Keys(h.LeftOut)) {
		left = append(left, fmt.Sprintf("%d %s", h.LeftOut[reason], reason))
	}
	fmt.Fprintf(out, "  %d runs", len(h.Points))
	if len(left) > 0 {
		fmt.Fprintf(out, "; left out: %s", strings.Join(left, ", "))
	}
	fmt.Fprintln(out)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if len(h.Levels) > 0 {
		fmt.Fprintln(t, "  since (UTC)\trun\truns\tmedian\tinterval or (range)\tchange")
	}
	for i, l := range h.Levels {
		from := h.Points[l.From]
		fmt.Fprintf(t, "  %s\t%s\t%d\t%s\t%s\t%s\n", when(from.Started), from.Run, l.Runs, measured(&l.Median, h.Metric.Unit), between(l, h.Metric.Unit), change(i, l, h.Metric))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return printOutlook(out, h)
}

// between is the interval of a median; the range of fewer than six is in
// brackets, since nothing is known of its coverage.
func between(l store.Level, in string) string {
	text := measured(&l.Low, in) + " to " + measured(&l.High, in)
	if l.Coverage == 0 {
		return "(" + text + ")"
	}
	return fmt.Sprintf("%s, %.1f%%", text, 100*l.Coverage)
}

func change(i int, l store.Level, m store.Metric) string {
	if i == 0 {
		return "-"
	}
	return fmt.Sprintf("%s, %s (p %.3f)", signed(l.Change, m), worded(l.Better), l.P)
}

func worded(better bool) string {
	if better {
		return "better"
	}
	return "worse"
}

// signed prints a relative change, of a ratio a difference.
func signed(change float64, m store.Metric) string {
	if m.Unit == "ratio" {
		return fmt.Sprintf("%+.3g points", 100*change)
	}
	return fmt.Sprintf("%+.*f%%", digits(change), 100*change)
}

// digits after the point of a percentage: one, and more where it is small.
func digits(change float64) int {
	if math.Abs(change) < 0.001 {
		return 2
	}
	return 1
}

// printOutlook prints what is under suspicion, and the baseline.
func printOutlook(out io.Writer, h store.History) error {
	if s := h.Suspicion; s != nil {
		fmt.Fprintf(out, "  the last %d runs are all %s than those before: %d more of their kind would show a change\n", s.Runs, worded(s.Better), s.Needed)
	}
	a := h.Against
	if a == nil {
		return nil
	}
	fmt.Fprintf(out, "  against the baseline of %d runs at %s: %s", a.Baseline.Runs, measured(&a.Baseline.Median, h.Metric.Unit), a.Judgement)
	switch {
	case a.Reason != "":
		fmt.Fprintf(out, ": %s", visible(a.Reason))
	default:
		fmt.Fprintf(out, ", %s (p %.3f)", signed(a.Change, h.Metric), a.P)
	}
	_, err := fmt.Fprintln(out)
	return err
}
