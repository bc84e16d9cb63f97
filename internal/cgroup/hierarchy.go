package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// hierarchy is a mounted tree and which of our controllers it has.
type hierarchy struct {
	version     Version
	controllers []controller
	chain       []string // folders from our own group up to the mount point
}

// spot is where in a hierarchy a group of ours stands.
type spot int

const (
	top spot = iota // below the mount point
	own             // below our own group
)

// at is the folder of a spot.
func (h hierarchy) at(s spot) string { return h.above(s)[0] }

// above are the folders from a spot up to the mount point.
func (h hierarchy) above(s spot) []string {
	if s == top {
		return h.chain[len(h.chain)-1:]
	}
	return h.chain
}

// wanted are the controllers that a group of ours joins.
func wanted() []controller { return []controller{cpu, cpuacct, memory, pids, cpuset} }

// hierarchies lists the mounted trees that have a controller we want, and that
// of version 2 in any case: it can kill a group at once.
func hierarchies(root string) ([]hierarchy, error) {
	if root == "" {
		root = "/"
	}
	members, err := parsed(filepath.Join(root, "proc/self/cgroup"), parseMembers)
	if err != nil {
		return nil, err
	}
	mounts, err := parsed(filepath.Join(root, "proc/self/mountinfo"), parseMounts)
	if err != nil {
		return nil, err
	}
	var all []hierarchy
	for _, m := range members {
		if h, ok := m.hierarchy(root, mounts, members); ok {
			all = append(all, h)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no control groups are mounted: %w", errors.ErrUnsupported)
	}
	return all, nil
}

// hierarchy finds where a member is mounted and what it has for us.
func (m member) hierarchy(root string, mounts []mount, members []member) (hierarchy, bool) {
	for _, at := range mounts {
		if at.version != m.version || m.version == V1 && !slices.Equal(at.known(), m.known()) {
			continue
		}
		h := hierarchy{version: m.version, chain: at.chain(root, m.path), controllers: m.known()}
		if m.version == V2 {
			h.controllers = h.offered(members)
		}
		return h, m.version == V2 || len(h.controllers) > 0
	}
	return hierarchy{}, false
}

// known are the controllers of a version 1 hierarchy that we want.
func (m member) known() []controller { return known(m.controllers) }

func (m mount) known() []controller { return known(m.options) }

func known(names []string) []controller {
	return slices.DeleteFunc(wanted(), func(c controller) bool { return !contains(names, c) })
}

// offered are the controllers that version 2 has for us: those its top names,
// without those that a version 1 hierarchy took.
func (h hierarchy) offered(members []member) []controller {
	names := controllersOf(h.at(top))
	return slices.DeleteFunc(known(names), func(c controller) bool {
		return slices.ContainsFunc(members, func(m member) bool { return m.version == V1 && m.carries(c) })
	})
}

// controllersOf reads cgroup.controllers, none if it does not read.
func controllersOf(dir string) []string {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
	if err != nil {
		return nil
	}
	return strings.Fields(string(text))
}

// enable hands controllers down to the children of a folder of version 2. One
// that no limit needs may be missing.
func (h hierarchy) enable(parent string, needs []controller) error {
	offered := controllersOf(parent)
	for _, c := range h.controllers {
		needed := slices.Contains(needs, c)
		if !contains(offered, c) {
			if needed {
				return fmt.Errorf("controller %s is not handed down to %s: %w: %w", c, parent, errSecond, fs.ErrPermission)
			}
			continue
		}
		err := h.hand(parent, c, needed)
		if needed && err != nil {
			return fmt.Errorf("hand down controller %s %w: %w", c, errSecond, err)
		}
	}
	return nil
}

// hand hands down one controller. The kernel refuses with EBUSY while processes
// live in the folder itself (cgroup-v2.rst, "No Internal Process Constraint").
// If we are one of them, and a limit
// needs the controller, we step aside.
func (h hierarchy) hand(parent string, c controller, needed bool) error {
	name := filepath.Join(parent, "cgroup.subtree_control")
	text, err := os.ReadFile(name)
	if err != nil || contains(strings.Fields(string(text)), c) {
		return err
	}
	err = put(name, "+"+string(c))
	if !errors.Is(err, syscall.EBUSY) {
		return err
	}
	if needed && parent == h.at(own) {
		if err := stepAside(parent); err != nil {
			return err
		}
		if err = put(name, "+"+string(c)); !errors.Is(err, syscall.EBUSY) {
			return err
		}
	}
	return fmt.Errorf("processes live in %s itself: start Prony in a group of its own "+
		"(systemd-run --scope -p Delegate=yes prony ...), or move them into a child: %w", parent, err)
}

// aside is the group for this process itself. Its name must not look like one
// that we made for others.
const aside = "self.prony"

// stepAside moves this process into a child of its group, where it stays.
func stepAside(parent string) error {
	dir := filepath.Join(parent, aside)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return put(filepath.Join(dir, "cgroup.procs"), strconv.Itoa(os.Getpid()))
}
