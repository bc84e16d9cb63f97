package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"prony/internal/store"
	"prony/internal/unit"
)

// storeCommands are those that work on the history of runs.
func storeCommands(std streams) []*cobra.Command {
	return []*cobra.Command{listCommand(std), showCommand(std), historyCommand(std), baselineCommand(std), tagCommand(std), nameCommand(std), noteCommand(std),
		removeCommand(std), exportCommand(std), importCommand(std)}
}

// storeFlags say which store, and whether to print JSON.
type storeFlags struct {
	store string
	json  bool
}

func (f *storeFlags) register(s *pflag.FlagSet) {
	s.SortFlags = false
	s.StringVar(&f.store, "store", "", "file or postgres:// URL of the history (default: store.db in the user's data folder)")
}

func (f *storeFlags) registerJSON(s *pflag.FlagSet) {
	s.BoolVar(&f.json, "json", false, "print JSON")
}

// openStore opens the history at an address; "" is the user's own.
func openStore(ctx context.Context, address string, std streams) (*store.Store, error) {
	home, err := dataHome()
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, address, store.Config{File: filepath.Join(home, "store.db")})
	if err == nil && s.Backup() != "" {
		fmt.Fprintf(std.err, "the store was of an older Prony; a copy of it as it was is %s\n", s.Backup())
	}
	return s, err
}

// with opens the store for a command, and closes it.
func (f *storeFlags) with(cmd *cobra.Command, std streams, do func(context.Context, *store.Store) error) error {
	s, err := openStore(cmd.Context(), f.store, std)
	if err != nil {
		return storeError(err)
	}
	return storeError(errors.Join(do(cmd.Context(), s), s.Close()))
}

// storeError gives errors their status: what the user named is usage, the rest
// is the environment.
func storeError(err error) error {
	var known *exitError
	if err == nil || errors.As(err, &known) {
		return err
	}
	for _, e := range []error{store.ErrNotFound, store.ErrAmbiguous, store.ErrTaken, store.ErrDiffers, store.ErrBaseline, store.ErrFew, store.ErrInput} {
		if errors.Is(err, e) {
			return &exitError{exitUsage, err}
		}
	}
	return &exitError{exitEnvironment, err}
}

// find turns several words into runs.
func find(ctx context.Context, s *store.Store, words []string) ([]store.RunID, error) {
	var ids []store.RunID
	for _, word := range words {
		id, err := s.Find(ctx, word)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// visible makes stored text fit for a terminal: what is imported may hold
// control characters.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// when prints a moment; the lists say that it is UTC.
func when(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05")
}

// measured prints a figure in its unit; "-" if it is not known.
func measured(v *float64, in string) string {
	switch {
	case v == nil:
		return "-"
	case in == "us":
		return unit.FormatDuration(time.Duration(*v * 1000))
	case in == "ratio":
		return unit.FormatPercent(*v)
	case in == "bytes":
		return unit.FormatSize(*v)
	case *v >= 1000:
		return unit.FormatCount(int64(*v + 0.5))
	}
	return fmt.Sprintf("%.4g", *v)
}
