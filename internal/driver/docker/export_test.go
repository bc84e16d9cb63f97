package docker

import (
	"context"

	"prony/internal/host"
	"prony/internal/plan"
)

// ImageOf makes an image of files of this machine, for tests.
func (d *Driver) ImageOf(ctx context.Context, names ...string) (string, error) {
	e, err := d.connect(ctx)
	if err != nil {
		return "", err
	}
	t := newTree(host.Local())
	for _, name := range names {
		if err := t.add(ctx, name); err != nil {
			return "", err
		}
	}
	return e.imported(ctx, t)
}

// GroupLimits reads the limits and kills of a process's group, for tests.
func GroupLimits(root string, pid int) (name string, limits plan.Limits, kills int64, err error) {
	g, err := groupOf(root, pid)
	if err != nil {
		return "", plan.Limits{}, 0, err
	}
	if limits, err = g.limits(); err == nil {
		kills, err = g.oomKills()
	}
	return g.name, limits, kills, err
}

// What tests look into.
var (
	ParseLibraries = parseLibraries
	Named          = named
	Loaded         = loaded
	InsidePort     = insidePort
	LimitsOf       = limitsOf
	Local          = local
	Held           = held
	Progress       = progress
)

// Work is ${work} in a container.
const Work = work
