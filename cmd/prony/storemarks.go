package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prony/internal/store"
)

// markCommand is a command about one run, which is its first argument.
func markCommand(std streams, use, short, example string, args cobra.PositionalArgs, register func(*cobra.Command), do func(context.Context, *store.Store, store.RunID, []string) error) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{Use: use, Short: short, Example: example, Args: args,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, std, func(ctx context.Context, s *store.Store) error {
				id, err := s.Find(ctx, args[0])
				if err != nil {
					return err
				}
				return do(ctx, s, id, args[1:])
			})
		}}
	f.register(cmd.Flags())
	register(cmd)
	return cmd
}

func tagCommand(std streams) *cobra.Command {
	var remove bool
	return markCommand(std, "tag RUN TAG...", "Tag a run", "  prony tag last nightly main\n  prony tag k3f nightly --remove", cobra.MinimumNArgs(2),
		func(c *cobra.Command) { c.Flags().BoolVar(&remove, "remove", false, "take the tags away") },
		func(ctx context.Context, s *store.Store, id store.RunID, tags []string) error {
			if remove {
				return s.Untag(ctx, id, tags...)
			}
			return s.Tag(ctx, id, tags...)
		})
}

func nameCommand(std streams) *cobra.Command {
	var remove bool
	return markCommand(std, "name RUN [NAME]", "Give a run a name", "  prony name last v1.4\n  prony name v1.4 --remove", cobra.RangeArgs(1, 2),
		func(c *cobra.Command) { c.Flags().BoolVar(&remove, "remove", false, "take its name away") },
		func(ctx context.Context, s *store.Store, id store.RunID, name []string) error {
			if remove == (len(name) > 0) {
				return &exitError{exitUsage, errors.New("want either a name or --remove")}
			}
			return s.Name(ctx, id, strings.Join(name, ""))
		})
}

func noteCommand(std streams) *cobra.Command {
	return markCommand(std, "note RUN TEXT...", "Write a note to a run; prony show prints it", "  prony note last with the new kernel", cobra.MinimumNArgs(2),
		func(*cobra.Command) {},
		func(ctx context.Context, s *store.Store, id store.RunID, words []string) error {
			return s.Note(ctx, id, store.Note{Written: time.Now(), Text: strings.Join(words, " ")})
		})
}

func removeCommand(std streams) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{Use: "rm RUN...", Short: "Remove runs from the history", Args: cobra.MinimumNArgs(1), Example: "  prony rm k3f 9aq",
		Long: `Remove runs from the history, all of those named or none. Their .prony files
stay where they are. A run that a baseline rests on is refused.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, std, func(ctx context.Context, s *store.Store) error {
				ids, err := find(ctx, s, args)
				if err != nil {
					return err
				}
				return s.Remove(ctx, ids...)
			})
		}}
	f.register(cmd.Flags())
	return cmd
}

const baselineLong = `List the baselines: the runs that later runs of a variant are held against. set
pins one: the runs named, and if it is a single trial all valid and suspect
trials of its campaign and variant. A baseline has at least five runs that are
comparable with each other, and its value is their median, so that it does not
move with a lucky one. prony history compares with it.`

func baselineCommand(std streams) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{Use: "baseline", Short: "List, pin and remove what later runs are held against", Long: baselineLong, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.with(cmd, std, func(ctx context.Context, s *store.Store) error { return f.baselines(ctx, s, std) })
		}}
	f.register(cmd.PersistentFlags())
	f.registerJSON(cmd.Flags())
	set := &cobra.Command{Use: "set RUN...", Short: "Pin runs as the baseline of their variant", Args: cobra.MinimumNArgs(1), Example: "  prony baseline set last",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, std, func(ctx context.Context, s *store.Store) error { return pin(ctx, s, args, std) })
		}}
	rm := &cobra.Command{Use: "rm EXPERIMENT [VARIANT]", Short: "Remove a baseline; its runs stay", Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, std, func(ctx context.Context, s *store.Store) error {
				return s.Unpin(ctx, args[0], strings.Join(args[1:], ""))
			})
		}}
	cmd.AddCommand(set, rm)
	return cmd
}

func (f *storeFlags) baselines(ctx context.Context, s *store.Store, std streams) error {
	all, err := s.Baselines(ctx)
	if err != nil {
		return err
	}
	if f.json {
		return printJSON(std.out, all)
	}
	if len(all) == 0 {
		fmt.Fprintln(std.out, "no baselines")
	}
	for _, b := range all {
		printBaseline(std, b)
	}
	return nil
}

func printBaseline(std streams, b store.Baseline) {
	fmt.Fprintf(std.out, "%s: %d runs:", visible(strings.TrimSuffix(b.Experiment+", "+b.Variant, ", ")), len(b.Runs))
	for _, id := range b.Runs {
		fmt.Fprintf(std.out, " %s", id)
	}
	fmt.Fprintln(std.out)
}

func pin(ctx context.Context, s *store.Store, words []string, std streams) error {
	ids, err := find(ctx, s, words)
	if err == nil && len(ids) == 1 {
		ids, err = s.Repeats(ctx, ids[0])
	}
	if err != nil {
		return err
	}
	b, err := s.Pin(ctx, time.Now(), ids...)
	if err == nil {
		printBaseline(std, b)
	}
	return err
}
