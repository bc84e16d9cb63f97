package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"prony/internal/bundle"
	"prony/internal/store"
)

const exportLong = `Write a run as one .prony file, which holds its result with all series and
histograms, its logs and the plan of its campaign; or, with --campaign, all
trials of a campaign as a folder. prony import reads both.`

func exportCommand(std streams) *cobra.Command {
	var f storeFlags
	var out, campaign string
	cmd := &cobra.Command{Use: "export [RUN]", Short: "Write a run as a .prony file, to share or to keep", Long: exportLong, Args: cobra.MaximumNArgs(1),
		Example: "  prony export last -o result.prony\n  prony export --campaign last -o folder",
		RunE: func(cmd *cobra.Command, args []string) error {
			if (campaign == "") == (len(args) == 0) {
				return &exitError{exitUsage, errors.New("want either a run or --campaign")}
			}
			return f.with(cmd, std, func(ctx context.Context, s *store.Store) error {
				if campaign != "" {
					return exportCampaign(ctx, s, campaign, out, std)
				}
				return exportRun(ctx, s, args[0], out, std)
			})
		}}
	f.register(cmd.Flags())
	cmd.Flags().StringVarP(&out, "out", "o", "", "file, or folder for a campaign; - is standard output (default: RUN.prony, or this folder)")
	cmd.Flags().StringVar(&campaign, "campaign", "", "the campaign to write; last is the newest")
	return cmd
}

func exportRun(ctx context.Context, s *store.Store, word, file string, std streams) error {
	id, err := s.Find(ctx, word)
	if err != nil {
		return err
	}
	r, err := s.Get(ctx, id)
	if err != nil {
		return err
	}
	if file == "" {
		file = string(id) + ".prony"
	}
	if err := writeTo(file, std.out, func(w io.Writer) error { return store.WriteBundle(w, r) }); err != nil {
		return err
	}
	if file != "-" {
		fmt.Fprintln(std.out, file)
	}
	return nil
}

func exportCampaign(ctx context.Context, s *store.Store, word, dir string, std streams) error {
	e, err := s.Experiment(ctx, word)
	if err != nil {
		return err
	}
	c, err := bundle.Create(dir, e.ID, e.Plan)
	if err != nil {
		return err
	}
	if err := s.Export(ctx, e.ID, c); err != nil {
		return err
	}
	fmt.Fprintln(std.out, c.Dir())
	return nil
}

const importLong = `Take runs into the history: .prony files, folders of a campaign, and results
that were written with --json. What is there already is not taken twice.`

func importCommand(std streams) *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{Use: "import FILE|FOLDER...", Short: "Take .prony files, campaigns and JSON results into the history", Long: importLong, Args: cobra.MinimumNArgs(1),
		Example: "  prony import result.prony\n  prony import ~/.local/share/prony/runs/20260301-120000-abcdef",
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.with(cmd, std, func(ctx context.Context, s *store.Store) error {
				for _, name := range args {
					if err := importOne(ctx, s, name, std); err != nil {
						return err
					}
				}
				return nil
			})
		}}
	f.register(cmd.Flags())
	return cmd
}

// importOne keeps what is in a file or folder, after all of it has been read.
func importOne(ctx context.Context, s *store.Store, name string, std streams) error {
	all, err := readRecords(name)
	if err != nil {
		return &exitError{exitUsage, fmt.Errorf("import %s: %w", name, err)}
	}
	for _, r := range all {
		id, err := s.Put(ctx, r)
		if err != nil {
			return fmt.Errorf("import %s: %w", name, err)
		}
		fmt.Fprintf(std.out, "%s  %s\n", id, name)
	}
	return nil
}

func readRecords(name string) ([]store.Record, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return readCampaign(name)
	case strings.HasSuffix(name, ".json"):
		return readJSONFile(name, info.Size())
	}
	r, err := readBundleFile(name, info.Size())
	return []store.Record{r}, err
}

// importMax bounds a JSON file, in bytes.
const importMax = 512 << 20

func readJSONFile(name string, size int64) ([]store.Record, error) {
	if size > importMax {
		return nil, fmt.Errorf("it has %d bytes, at most %d", size, importMax)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return store.ReadJSON(text)
}

func readBundleFile(name string, size int64) (store.Record, error) {
	f, err := os.Open(name)
	if err != nil {
		return store.Record{}, err
	}
	defer f.Close()
	return store.ReadBundle(f, size)
}

// readCampaign reads the folder of a campaign: its plan, and its trials with
// their logs.
func readCampaign(dir string) ([]store.Record, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c, p, err := bundle.Open(filepath.Dir(dir), filepath.Base(dir))
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.prony"))
	if err != nil {
		return nil, err
	}
	var all []store.Record
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return nil, err
		}
		r, err := readBundleFile(file, info.Size())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(file), err)
		}
		r.Campaign, r.Plan = c.ID(), p
		all = append(all, r)
	}
	if len(all) == 0 {
		return nil, errors.New("no trial is finished in it")
	}
	return all, nil
}
