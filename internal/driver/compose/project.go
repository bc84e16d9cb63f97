package compose

import (
	"context"
	"errors"
	"fmt"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"prony/internal/driver"
	"prony/internal/driver/docker"
)

// mark is the filter for what belongs to a project in its run.
func (p project) mark() client.Filters {
	return docker.Mark(p.run).Add("label", labelProject+"="+p.name)
}

// containers are those of the project, also those that do not run.
func (p project) containers(ctx context.Context) ([]container.Summary, error) {
	listed, err := p.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: p.mark()})
	if err != nil {
		return nil, fmt.Errorf("list the containers of the project: %w", err)
	}
	return listed.Items, nil
}

// clear removes the project when no instance is left in it: what instances
// needed, networks and volumes.
func (p project) clear(ctx context.Context) error {
	all, err := p.containers(ctx)
	if err != nil {
		return err
	}
	for _, c := range all {
		if c.Labels[docker.LabelInstance] != "" {
			return nil
		}
	}
	var errs []error
	for _, c := range all {
		errs = append(errs, docker.Remove(ctx, p.api, c.ID))
	}
	more, err := belongings(ctx, p.api, p.mark())
	errs = append(errs, err)
	for _, l := range more {
		errs = append(errs, l.Remove(ctx))
	}
	return errors.Join(errs...)
}

// belongings are networks and volumes with certain labels.
func belongings(ctx context.Context, api *client.Client, mark client.Filters) ([]driver.Leftover, error) {
	networks, err := api.NetworkList(ctx, client.NetworkListOptions{Filters: mark})
	if err != nil {
		return nil, fmt.Errorf("list the networks: %w", err)
	}
	var found []driver.Leftover
	add := func(kind, name string, labels map[string]string, remove func(context.Context) error) {
		if run := driver.RunID(labels[docker.LabelRun]); run.Check() == nil {
			found = append(found, driver.Leftover{Run: run, Kind: kind, Name: name, Remove: func(ctx context.Context) error {
				if err := remove(ctx); !errdefs.IsNotFound(err) {
					return err
				}
				return nil
			}})
		}
	}
	for _, n := range networks.Items {
		add("network", n.Name, n.Labels, func(ctx context.Context) error {
			_, err := api.NetworkRemove(ctx, n.ID, client.NetworkRemoveOptions{})
			return err
		})
	}
	volumes, err := api.VolumeList(ctx, client.VolumeListOptions{Filters: mark})
	if err != nil {
		return found, fmt.Errorf("list the volumes: %w", err)
	}
	for _, v := range volumes.Items {
		add("volume", v.Name, v.Labels, func(ctx context.Context) error {
			_, err := api.VolumeRemove(ctx, v.Name, client.VolumeRemoveOptions{Force: true})
			return err
		})
	}
	return found, nil
}
