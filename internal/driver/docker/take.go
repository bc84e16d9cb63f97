package docker

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"prony/internal/cgroup"
	"prony/internal/driver"
	"prony/internal/plan"
)

// Created is a container that was made, with its limits, and not yet started.
type Created struct {
	Request  driver.Request
	ID       string
	Endpoint string // base URL of the published port, or on the host's network
	Inside   int    // the port in its own network; 0 on the host's network
	Ready    plan.Ready
	Ports    []int // on this machine, for the journal
	Notes    []string
	// Undo takes back what was made until now. Take adds what it makes; the
	// stop of the instance runs it, and the caller does if Take fails.
	Undo *driver.Undo
	// Kind is the driver's name in the journal; "" is Kind.
	Kind string
}

// Take starts a container that was made, and watches it from its first line on.
func (d *Driver) Take(ctx context.Context, c Created) (*driver.Started, error) {
	e, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	log, err := openLog(c)
	if err != nil {
		return nil, err
	}
	i, err := watch(ctx, e, c, log)
	if err != nil {
		return nil, err
	}
	applied, err := i.confirm(ctx, &c)
	if err != nil {
		return nil, err
	}
	return &driver.Started{Instance: i, Ready: c.Ready, Applied: applied, Notes: c.Notes, Ended: i.ended, Exit: i.exit, OOMKills: i.oomKills,
		Limit: i.limit, Usage: func(ctx context.Context) (cgroup.Stat, error) { return d.Stat(ctx, c.ID) }}, nil
}

// LogFolder is where the output of an instance is kept while it runs.
func LogFolder(r driver.Request) string {
	return filepath.Join(os.TempDir(), logPrefix(r.Run)+strings.TrimPrefix(r.Label(), driver.Prefix(r.Run)))
}

// logPrefix begins the names of a run's folders on this machine.
func logPrefix(run driver.RunID) string { return driver.Prefix(run) + "run-log-" }

// openLog makes the folder, which must be new, and the log in it.
func openLog(c Created) (*driver.Log, error) {
	pattern, err := driver.Pattern(c.Ready)
	if err != nil {
		return nil, err
	}
	dir := LogFolder(c.Request)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make a folder for the log (was something left by a crash? prony cleanup removes it): %w", err)
	}
	c.Undo.Add("remove the folder of the log", func(context.Context) error { return os.RemoveAll(dir) })
	log := driver.NewLog(filepath.Join(dir, "log"), pattern)
	c.Undo.Add("close the log", func(context.Context) error { return log.Close() })
	return log, nil
}

// confirm reads back what came of the start: the limits that hold, and where it
// runs. One that has ended by now is for its end to explain.
func (i *instance) confirm(ctx context.Context, c *Created) (plan.Limits, error) {
	found, err := i.engine.api.ContainerInspect(ctx, i.id, client.ContainerInspectOptions{})
	if err != nil {
		return plan.Limits{}, fmt.Errorf("read the limits back: %w", err)
	}
	asked, applied := c.Request.Service.Limits, plan.Limits{}
	if found.Container.HostConfig != nil {
		applied = limitsOf(found.Container.HostConfig.Resources)
	}
	if s := found.Container.State; s != nil && s.Running {
		applied = i.locate(s.Pid, applied, asked)
		i.reach(c, addresses(found.Container.NetworkSettings))
	}
	if err := driver.Took(asked, applied); err != nil {
		if !c.Request.Advisory {
			return applied, err
		}
		if !said(c.Notes) {
			c.Notes = append(c.Notes, driver.Unlimited(asked, err))
		}
	}
	return applied, i.keep(c)
}

// proxyNote is what a published port means for a result.
const proxyNote = "it is reached through the Docker engine's proxy, which takes time and processor of its own, and takes connections before it is ready; network: host does without"

// reach replaces the published port by the container's own address where the
// container runs under this machine's kernel, to which its network belongs:
// nothing stands between, and a connection that is taken is taken by it.
func (i *instance) reach(c *Created, addresses []string) {
	switch {
	case c.Inside == 0:
	case i.group != nil && len(addresses) > 0:
		i.url = driver.Setting{Host: addresses[0], Port: c.Inside}.URL()
	default:
		c.Notes = append(c.Notes, proxyNote)
	}
}

// addresses are those of a container in its networks, by their names.
func addresses(s *container.NetworkSettings) []string {
	if s == nil {
		return nil
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(s.Networks)) {
		if e := s.Networks[name]; e != nil && e.IPAddress.IsValid() && !e.IPAddress.IsUnspecified() {
			all = append(all, e.IPAddress.String())
		}
	}
	return all
}

// said reports whether there is a note about limits already.
func said(notes []string) bool {
	for _, n := range notes {
		if strings.HasPrefix(n, "limits are advisory") {
			return true
		}
	}
	return false
}

// locate finds the process and its control group on this machine, and holds the
// engine's word against the kernel's where that can be read.
func (i *instance) locate(pid int, applied, asked plan.Limits) plan.Limits {
	g, err := groupOf("", pid)
	if err != nil {
		return applied // another kernel: Docker Desktop
	}
	kernel, err := g.limits()
	if !strings.Contains(g.name, i.id) {
		return applied // a process of this machine with the same number
	}
	i.place.PID, i.place.Cgroup, i.group = pid, g.name, &g
	if err != nil {
		return applied
	}
	return corrected(applied, kernel, asked)
}

// keep has the journal know more, now that more is known.
func (i *instance) keep(c *Created) error {
	r := c.Request
	record := driver.Record{Run: r.Run, Name: r.Name(), Host: r.Site.Name, Kind: c.Kind, CGroup: i.place.Cgroup, Files: []string{LogFolder(r)}, Ports: c.Ports}
	if record.Kind == "" {
		record.Kind = Kind
	}
	if i.place.PID != 0 {
		record.PIDs = []int{i.place.PID}
	}
	return r.Keep(record)
}
