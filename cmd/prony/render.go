package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"prony/internal/catalog"
	back "prony/internal/driver"
	"prony/internal/plan"
)

// catalogBuildWithin bounds the build of a catalog entry.
const catalogBuildWithin = 20 * time.Minute

// catalogRenderer makes the programs of catalog services. An entry is built,
// unless its result is in the cache, when its first instance starts.
func catalogRenderer() (func(plan.Service, []string) func(back.Setting) (back.Program, error), error) {
	var flags catalogFlags
	all, err := flags.open()
	if err != nil {
		return nil, err
	}
	cache, err := cacheHome()
	if err != nil {
		return nil, err
	}
	return func(s plan.Service, upstreams []string) func(back.Setting) (back.Program, error) {
		return func(set back.Setting) (back.Program, error) {
			e, err := all.Entry(s.Entry)
			if err != nil {
				return back.Program{}, err
			}
			files, command, err := e.Render(s.Params, catalog.Place{Host: set.Host, Port: set.Port, Work: set.Work,
				Cache: filepath.Join(cache, "catalog"), Upstreams: upstreams})
			if err != nil {
				return back.Program{}, err
			}
			if err := buildEntry(command.Build); err != nil {
				return back.Program{}, fmt.Errorf("catalog entry %s: %w", s.Entry, err)
			}
			return rendered(files, command, e.Ready), nil
		}
	}, nil
}

func buildEntry(b *catalog.BuildCommand) error {
	if b == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), catalogBuildWithin)
	defer cancel()
	return b.Build(ctx)
}

// rendered is an entry as a driver takes it.
func rendered(files catalog.Files, command catalog.Command, ready catalog.Ready) back.Program {
	p := back.Program{Command: command.Args, Dir: command.Dir, Env: map[string]string{},
		Ready: plan.Ready{Path: ready.Path, Status: ready.Status, Within: ready.Within}}
	for _, f := range files {
		p.Files = append(p.Files, back.File{Name: f.Name, Text: f.Text, Perm: f.Mode})
	}
	for _, pair := range command.Env {
		name, value, _ := strings.Cut(pair, "=")
		p.Env[name] = value
	}
	return p
}
