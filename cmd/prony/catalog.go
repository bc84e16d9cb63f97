package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	embedded "prony/catalog"
	"prony/internal/catalog"
)

const catalogLong = `List the targets and gateways that come with Prony. Entries are folders of data:
how to build and start a program, its configuration, its parameters, and the
answers it owes. Folders of your own are added with --catalog.`

func catalogCommand(std streams) *cobra.Command {
	var c catalogFlags
	cmd := &cobra.Command{Use: "catalog", Short: "List, show and try the ready-made targets and gateways", Long: catalogLong, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return c.list(std.out) }}
	show := &cobra.Command{Use: "show NAME", Short: "Show an entry: parameters, needs, routes", Args: cobra.ExactArgs(1),
		ValidArgsFunction: c.complete,
		RunE:              func(_ *cobra.Command, args []string) error { return c.show(args[0], std.out) }}
	test := &cobra.Command{Use: "test NAME", Short: "Start an entry on a free port, check its answers, stop it", Args: cobra.ExactArgs(1),
		ValidArgsFunction: c.complete,
		RunE:              func(cmd *cobra.Command, args []string) error { return c.test(cmd.Context(), args[0], std) }}
	test.Flags().StringArrayVar(&c.set, "set", nil, "NAME=VALUE of a parameter; may be repeated")
	cmd.PersistentFlags().StringArrayVar(&c.dirs, "catalog", nil, "folder of an entry, or of several, of your own; may be repeated")
	cmd.AddCommand(show, test)
	return cmd
}

type catalogFlags struct{ dirs, set []string }

// open reads the embedded entries and the user's, which win.
func (c *catalogFlags) open() (*catalog.Catalog, error) {
	all := []fs.FS{catalog.Named("catalog", embedded.Files)}
	for _, dir := range c.dirs {
		d, err := catalog.Dir(dir)
		if err != nil {
			return nil, &exitError{exitUsage, err}
		}
		all = append(all, d)
	}
	opened, err := catalog.Open(all...)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	return opened, nil
}

func (c *catalogFlags) entry(name string) (*catalog.Catalog, *catalog.Entry, error) {
	all, err := c.open()
	if err != nil {
		return nil, nil, err
	}
	e, err := all.Entry(name)
	if err != nil {
		return nil, nil, &exitError{exitUsage, err}
	}
	return all, e, nil
}

func (c *catalogFlags) complete(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	all, err := c.open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, e := range all.Entries() {
		names = append(names, e.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func (c *catalogFlags) list(w io.Writer) error {
	all, err := c.open()
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, e := range all.Entries() {
		fmt.Fprintf(t, "%s\t%s\t%s\n", e.Name, e.Kind, e.Description)
	}
	return t.Flush()
}

func (c *catalogFlags) show(name string, w io.Writer) error {
	_, e, err := c.entry(name)
	if err != nil {
		return err
	}
	return e.Describe(w, catalog.FindHere)
}

func (c *catalogFlags) test(ctx context.Context, name string, std streams) error {
	all, e, err := c.entry(name)
	if err != nil {
		return err
	}
	params, err := c.params()
	if err == nil {
		_, err = e.Values(params)
	}
	if err != nil {
		return &exitError{exitUsage, err}
	}
	cache, err := cacheHome()
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	t := catalog.Trial{Catalog: all, Params: params, Cache: filepath.Join(cache, "catalog"),
		Say: func(line string) { fmt.Fprintln(std.err, line) }}
	o, err := t.Run(ctx, name)
	if ctx.Err() != nil {
		return &exitError{exitInterrupted, fmt.Errorf("catalog test %s: interrupted", name)}
	}
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	o.Print(std.out)
	if !o.Good() {
		return &exitError{exitVerdict, fmt.Errorf("catalog entry %s does not answer as it says", name)}
	}
	return nil
}

// params reads the --set flags.
func (c *catalogFlags) params() (map[string]string, error) {
	params := map[string]string{}
	var errs []error
	for _, s := range c.set {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			errs = append(errs, fmt.Errorf("--set %q: want NAME=VALUE", s))
		}
		params[name] = value
	}
	return params, errors.Join(errs...)
}

// cacheHome is where Prony keeps what it can make again.
func cacheHome() (string, error) {
	if home := os.Getenv("PRONY_HOME"); home != "" {
		return filepath.Abs(filepath.Join(home, "cache"))
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "prony"), err
}
