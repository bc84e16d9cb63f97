package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"prony/internal/catalog"
	back "prony/internal/driver"
	"prony/internal/plan"
	"prony/internal/topology"
)

// catalogBuildWithin bounds the build of a catalog entry.
const catalogBuildWithin = 20 * time.Minute

// renderer makes the programs of catalog services.
type renderer struct {
	ctx   context.Context // of the run: its end ends a build
	all   *catalog.Catalog
	cache string
}

func newRenderer(ctx context.Context) (*renderer, error) {
	var flags catalogFlags
	all, err := flags.open()
	if err != nil {
		return nil, err
	}
	cache, err := cacheHome()
	return &renderer{ctx, all, filepath.Join(cache, "catalog")}, err
}

// render makes the program of a service in front of its upstreams. An entry is
// built, unless its result is in the cache, when its first instance starts.
func (r *renderer) render(s plan.Service, upstreams []string) func(back.Setting) (back.Program, error) {
	return func(set back.Setting) (back.Program, error) {
		e, err := r.all.Entry(s.Entry)
		if err != nil {
			return back.Program{}, err
		}
		place, err := r.place(set, upstreams)
		if err != nil {
			return back.Program{}, err
		}
		files, command, err := e.Render(s.Params, place)
		if err != nil {
			return back.Program{}, err
		}
		if err := r.build(command.Build, set.Site); err != nil {
			return back.Program{}, fmt.Errorf("catalog entry %s: %w", s.Entry, err)
		}
		return rendered(files, command, e.Ready), nil
	}
}

// place is where an instance will be, as the catalog wants it.
func (r *renderer) place(set back.Setting, upstreams []string) (catalog.Place, error) {
	p := catalog.Place{Host: set.Host, Port: set.Port, Work: set.Work, Cache: r.cache, Upstreams: upstreams}
	if set.Site.Here() {
		return p, nil
	}
	facts, err := set.Site.Host.Facts(r.ctx)
	if err != nil {
		return p, err
	}
	p.Prony, err = ownProgram(set.Site)
	p.User, p.Group = facts.User, facts.User
	p.Find = func(n catalog.Need) (catalog.Found, error) { return findThere(r.ctx, set.Site, n) }
	return p, err
}

var errNeedThere = errors.New("only programs are looked for on other hosts")

// findProgram finds a program on a host, also where only root looks.
const findProgram = `PATH="$PATH:/usr/sbin:/sbin:/usr/local/sbin" command -v "$1"`

// findThere looks for what an entry needs on another host.
func findThere(ctx context.Context, s back.Site, n catalog.Need) (catalog.Found, error) {
	if n.Program == "" && len(n.Files) == 0 {
		return catalog.Found{}, errNeedThere
	}
	for _, name := range slices.Concat([]string{n.Program}, n.Paths, n.Files) {
		if name == "" {
			continue
		}
		test := findProgram
		if strings.HasPrefix(name, "/") {
			test = `test -e "$1" && echo "$1"`
		}
		if out, err := s.Host.Command("sh", "-c", test, "sh", name).Output(ctx); err == nil {
			return catalog.Found{Path: strings.TrimSpace(string(out))}, nil
		}
	}
	return catalog.Found{}, fmt.Errorf("%s is not on %s", strings.TrimSpace(n.Program+" "+strings.Join(n.Files, " or ")), s.Name)
}

var errBuildThere = errors.New("it is built on this machine, and the result is not brought to other hosts: " +
	"install it there and use a process service")

func (r *renderer) build(b *catalog.BuildCommand, s back.Site) error {
	if b == nil {
		return nil
	}
	if !s.Here() {
		return errBuildThere
	}
	ctx, cancel := context.WithTimeout(r.ctx, catalogBuildWithin)
	defer cancel()
	return b.Build(ctx)
}

// counters reads what a gateway counts of its upstreams, where its entry says
// how.
func (r *renderer) counters() topology.CountersOf {
	return func(ctx context.Context, s plan.Service, base string) (map[string]int64, bool) {
		e, err := r.all.Entry(s.Entry)
		if s.Kind != plan.Catalog || err != nil || e.Counters == nil {
			return nil, false
		}
		read, err := e.Counters.Read(ctx, base)
		if err != nil {
			return nil, false
		}
		requests := map[string]int64{}
		for _, c := range read {
			if c.Upstream != "" {
				requests[c.Upstream] += c.Requests
			}
		}
		return requests, len(requests) > 0
	}
}

// status is the path of nginx's status page of a service that has one.
func (r *renderer) status(s plan.Service) (path string, ok bool) {
	if s.Kind != plan.Catalog {
		return "", false
	}
	e, err := r.all.Entry(s.Entry)
	if err != nil || e.Counters == nil || e.Counters.Format != catalog.StubStatus {
		return "", false
	}
	return e.Counters.Path, true
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
