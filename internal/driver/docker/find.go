package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"prony/internal/driver"
)

// Find lists the containers that carry a run's label, newest first, and then
// folders of logs. Where there is no engine that we may ask, there are no
// containers of ours.
func (d *Driver) Find(ctx context.Context, s driver.Site, run driver.RunID) ([]driver.Leftover, error) {
	if !s.Here() {
		return nil, nil
	}
	found, err := d.containers(ctx, run)
	if err != nil {
		return nil, err
	}
	folders, err := logFolders(run)
	return append(found, folders...), err
}

// Mark is the filter for what carries the label of a run; of any for "".
func Mark(run driver.RunID) client.Filters {
	label := LabelRun
	if run != "" {
		label += "=" + string(run)
	}
	return make(client.Filters).Add("label", label)
}

// Absent reports whether there is no engine that we may ask, rather than one
// that is in trouble.
func Absent(err error) bool {
	var a *absence
	return errors.As(err, &a)
}

func (d *Driver) containers(ctx context.Context, run driver.RunID) ([]driver.Leftover, error) {
	e, err := d.connect(ctx)
	if Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	listed, err := e.api.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: Mark(run)})
	if err != nil {
		return nil, fmt.Errorf("list the containers: %w", err)
	}
	slices.SortStableFunc(listed.Items, func(a, b container.Summary) int { return cmp.Compare(b.Created, a.Created) })
	var found []driver.Leftover
	for _, c := range listed.Items {
		of := driver.RunID(c.Labels[LabelRun])
		if of.Check() != nil {
			continue // nothing that we made
		}
		found = append(found, driver.Leftover{Run: of, Kind: "container", Name: title(c),
			Remove: func(ctx context.Context) error { return Remove(ctx, e.api, c.ID) }})
	}
	return found, nil
}

// title is a container's name for people.
func title(c container.Summary) string {
	if len(c.Names) == 0 {
		return c.ID
	}
	return strings.TrimPrefix(c.Names[0], "/")
}

// logFolders finds the folders of logs by their names.
func logFolders(run driver.RunID) ([]driver.Leftover, error) {
	entries, err := os.ReadDir(os.TempDir())
	if err != nil {
		return nil, fmt.Errorf("list the folders of logs: %w", err)
	}
	var found []driver.Leftover
	for _, e := range entries {
		of, ours := driver.RunOf(e.Name())
		if !ours || run != "" && run != of || !e.IsDir() || !strings.Contains(e.Name(), ".run-log-") || !private(e) {
			continue
		}
		name := filepath.Join(os.TempDir(), e.Name())
		found = append(found, driver.Leftover{Run: of, Kind: "folder", Name: name,
			Remove: func(context.Context) error { return os.RemoveAll(name) }})
	}
	return found, nil
}

// private leaves out what somebody else made under a name like ours.
func private(e fs.DirEntry) bool {
	info, err := e.Info()
	return err == nil && info.Mode().Perm()&0o077 == 0
}
