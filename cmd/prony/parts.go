package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"prony/internal/bundle"
	back "prony/internal/driver"
	"prony/internal/driver/compose"
	"prony/internal/driver/docker"
	native "prony/internal/driver/process"
	"prony/internal/plan"
	"prony/internal/topology"
)

// newParts are the drivers and places of a campaign.
func newParts(c *bundle.Campaign, r *renderer, base string, places *sites, advisory bool, with string) (topology.Parts, error) {
	backends, err := newBackends()
	if err != nil {
		return topology.Parts{}, err
	}
	journal := &journal{file: c.Journal()}
	return topology.Parts{Run: back.RunID(c.ID()), Base: base, Advisory: advisory, Render: r.render, Counters: r.counters(), Record: journal.keep,
		Drivers: backends.of(with), Sites: places.all}, nil
}

// backends are the drivers there are.
type backends struct {
	programs   *native.Driver
	containers *docker.Driver
	composed   *compose.Driver
}

func newBackends() (backends, error) {
	programs, err := newPrograms()
	return backends{programs, docker.New(docker.Config{}), compose.New(compose.Config{})}, err
}

// of are the drivers for each kind of service; with "docker" programs run in
// containers of their own, too.
func (b backends) of(with string) map[plan.Kind]back.Driver {
	all := map[plan.Kind]back.Driver{plan.Program: b.programs, plan.Catalog: b.programs, plan.Docker: b.containers, plan.Compose: b.composed}
	if with == docker.Kind {
		all[plan.Program], all[plan.Catalog] = b.containers, b.containers
	}
	return all
}

// on are the drivers that may have left something on a site.
func (b backends) on(s back.Site) []back.Driver {
	if s.Here() {
		return []back.Driver{b.programs, b.composed, b.containers}
	}
	return []back.Driver{b.programs}
}

// newPrograms is the driver of programs, with its builds in the cache.
func newPrograms() (*native.Driver, error) {
	cache, err := cacheHome()
	if err != nil {
		return nil, err
	}
	return native.New(native.Config{Cache: filepath.Join(cache, "builds")})
}

// journal is a file of what was about to exist, a line each.
type journal struct {
	mu   sync.Mutex // guards the file
	file string
}

func (j *journal) keep(r back.Record) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	f, err := os.OpenFile(j.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	return errors.Join(err, f.Sync(), f.Close())
}

const cleanupLong = `Find and remove what runs left on this machine: processes, control groups,
folders. Everything that Prony starts carries the name of its run, so that this
works after a crash too. Runs in the user's data folder (or --keep) are looked
for; those that are going on are left alone.`

func cleanupCommand(std streams) *cobra.Command {
	var dry bool
	var f runFlags
	cmd := &cobra.Command{Use: "cleanup", Short: "Find and remove what runs left behind", Long: cleanupLong, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cleanup(cmd.Context(), f, dry, std) }}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only list")
	cmd.Flags().StringVar(&f.keep, "keep", "", "folder of the campaigns (default: runs in the user's data folder)")
	return cmd
}

func cleanup(ctx context.Context, f runFlags, dry bool, std streams) error {
	root, err := f.folder()
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	ids, err := bundle.List(root)
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	found := 0
	var errs []error // a host that cannot be reached must not keep the others from being cleaned
	for _, id := range ids {
		n, err := cleanRun(ctx, root, id, dry, std)
		found += n
		if err != nil {
			errs = append(errs, fmt.Errorf("clean up run %s: %w", id, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return &exitError{exitEnvironment, err}
	}
	if found == 0 && !dry {
		fmt.Fprintln(std.out, "nothing left")
	}
	return nil
}

// cleanRun removes, or lists, what one run left on all its hosts; nothing of one
// that goes on.
func cleanRun(ctx context.Context, root, id string, dry bool, std streams) (found int, err error) {
	c, p, err := bundle.Open(root, id)
	if err != nil {
		return 0, err
	}
	release, err := c.Lock()
	if errors.Is(err, bundle.ErrRunning) {
		fmt.Fprintf(std.err, "run %s goes on and is left alone\n", id)
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer release()
	places, err := openSites(ctx, p.Hosts)
	if err != nil {
		return 0, err
	}
	found, err = cleanSites(ctx, c, places, dry, std)
	return found, errors.Join(err, places.close())
}

// cleanSites does that on hosts that are reached.
func cleanSites(ctx context.Context, c *bundle.Campaign, places *sites, dry bool, std streams) (found int, err error) {
	backends, err := newBackends()
	if err != nil {
		return 0, err
	}
	verb, each := "removed", back.Cleanup
	if dry {
		verb, each = "left", back.Find
	}
	for _, name := range slices.Sorted(maps.Keys(places.all)) {
		site := places.all[name]
		for _, d := range backends.on(site) {
			left, err := each(ctx, d, site, back.RunID(c.ID()))
			for _, l := range left {
				fmt.Fprintf(std.out, "%s: %s\n", verb, l)
			}
			if found += len(left); err != nil {
				return found, err
			}
		}
	}
	return found, nil
}
