package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// The controllers that only a group of our own needs.
const (
	cpuacct controller = "cpuacct" // version 1; version 2 counts without one
	pids    controller = "pids"
)

// Limits is what a group may use. A zero is no limit.
type Limits struct {
	CPUs   float64 // cores on average, at least 0.01; enforced per 100 ms
	Memory int64   // bytes, without swap on top where the kernel lets us forbid it
	CPUSet string  // the cores it may run on, "0-3,8"
	Pids   int     // processes and threads
}

var (
	errCPUs   = errors.New("want 0.01 cores or more")
	errMemory = errors.New("want 64 KiB of memory or more")
	errPids   = errors.New("want 1 process or more")
	errName   = errors.New("want a name of letters, digits, dot, dash and underscore that begins with a letter")
)

// Bounds and forms of limits.
const (
	periodUS  = 100_000 // the kernel's own default
	cpusMin   = 0.01    // the kernel's least quota is 1 ms
	memoryMin = 64 << 10
)

func (l Limits) check() error {
	var errs []error
	if math.IsNaN(l.CPUs) || math.IsInf(l.CPUs, 0) || l.CPUs != 0 && (l.CPUs < cpusMin || l.CPUs > cpusMax) {
		errs = append(errs, fmt.Errorf("%v cores: %w", l.CPUs, errCPUs))
	}
	if l.Memory != 0 && l.Memory < memoryMin {
		errs = append(errs, fmt.Errorf("%d bytes: %w", l.Memory, errMemory))
	}
	if l.Pids < 0 {
		errs = append(errs, fmt.Errorf("%d processes: %w", l.Pids, errPids))
	}
	if l.CPUSet != "" {
		if _, err := parseList(l.CPUSet); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// needs are the controllers without which the limits cannot be set.
func (l Limits) needs() []controller {
	var all []controller
	for c, limited := range map[controller]bool{cpu: l.CPUs > 0, memory: l.Memory > 0, cpuset: l.CPUSet != "", pids: l.Pids > 0} {
		if limited {
			all = append(all, c)
		}
	}
	slices.Sort(all)
	return all
}

func checkName(name string) error {
	letter := func(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
	for i, c := range name {
		if !letter(c) && (i == 0 || !(c >= '0' && c <= '9') && !strings.ContainsRune("._-", c)) {
			return fmt.Errorf("name %q: %w", name, errName)
		}
	}
	if name == "" || len(name) > 200 {
		return fmt.Errorf("name %q: %w", name, errName)
	}
	return nil
}

// Owned is a group that we made, or found again: one folder in each hierarchy
// that matters. As a Group it reads what the kernel enforces, parents included.
type Owned struct {
	*Group
	name  string
	trees []branch
}

// branch is the folder of a group in one hierarchy.
type branch struct {
	hierarchy
	dir string
}

// Name is the name it was made with.
func (o *Owned) Name() string { return o.name }

// maker makes folders; tests give it a kernel of paper.
type maker struct {
	mkdir func(dir string) error
}

// Create makes a group with limits, and reads them back: what the kernel did
// not take is an error. The root is that of [Self], "" for the real file
// system. The group stands at the top of each hierarchy that we see, where
// another process finds it again ([Find]) and where the limits of our own group
// do not add to its own; where we may not write there, below our own group,
// which may have been delegated to us. Controllers without a limit are joined
// as far as we may, for their counters.
//
// The error wraps fs.ErrPermission where the right is missing, and then says
// which and what to do; errors.ErrUnsupported where the host does not offer a
// controller; fs.ErrExist where there is a group of that name.
func Create(root, name string, limits Limits) (*Owned, error) {
	return maker{mkdir: func(dir string) error { return os.Mkdir(dir, 0o755) }}.create(root, name, limits)
}

func (m maker) create(root, name string, limits Limits) (*Owned, error) {
	if err := errors.Join(checkName(name), limits.check()); err != nil {
		return nil, fmt.Errorf("make control group: %w", err)
	}
	all, err := hierarchies(root)
	if err != nil {
		return nil, fmt.Errorf("make control group %q: %w", name, err)
	}
	var denied error
	for _, where := range []spot{top, own} {
		o, err := m.grow(all, where, name, limits)
		if err == nil {
			return o, nil
		}
		if !denial(err) {
			return nil, fmt.Errorf("make control group %q: %w", name, err)
		}
		if denied == nil {
			denied = err // that of the top says more
		}
	}
	return nil, fmt.Errorf("make control group %q: %w", name, withRemedy(denied))
}

// denial reports whether the right is missing.
func denial(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// withRemedy says how to get the right.
func withRemedy(err error) error {
	remedy := "run as root"
	switch {
	case errors.Is(err, syscall.EROFS):
		remedy = "control groups are mounted read-only, as in most containers: run the container with --privileged, or leave the limits to it"
		err = fmt.Errorf("%w: %w", fs.ErrPermission, err)
	case errors.Is(err, errSecond):
		remedy = "run as root, or in a group of your own: systemd-run --user --scope -p Delegate=yes prony ..."
	}
	return fmt.Errorf("%w: to limit and measure services: %s", err, remedy)
}

var (
	errSecond  = errors.New("in version 2")
	errAbsent  = fmt.Errorf("the host does not offer it: %w", errors.ErrUnsupported)
	errNowhere = fmt.Errorf("none of its hierarchies lets us in: %w", fs.ErrPermission)
)

// grow makes the group at a spot; what it made goes again when something fails.
func (m maker) grow(all []hierarchy, where spot, name string, limits Limits) (*Owned, error) {
	o := &Owned{Group: &Group{places: map[controller]place{}}, name: name}
	if err := m.fill(o, all, where, limits); err != nil {
		_ = o.prune() // the first error tells
		return nil, err
	}
	return o, nil
}

// fill makes the folders and sets the limits.
func (m maker) fill(o *Owned, all []hierarchy, where spot, limits Limits) error {
	needs := limits.needs()
	for _, c := range needs {
		if !slices.ContainsFunc(all, func(h hierarchy) bool { return slices.Contains(h.controllers, c) }) {
			return fmt.Errorf("controller %s: %w", c, errAbsent)
		}
	}
	for _, h := range all {
		if err := m.branch(o, h, where, needs); err != nil {
			return err
		}
	}
	if len(o.trees) == 0 {
		return errNowhere
	}
	if err := o.limit(limits); err != nil {
		return err
	}
	return o.verify(limits)
}

// branch makes the folder in one hierarchy. One that no limit needs is passed
// over if it does not let us in.
func (m maker) branch(o *Owned, h hierarchy, where spot, needs []controller) error {
	here := slices.DeleteFunc(slices.Clone(needs), func(c controller) bool { return !slices.Contains(h.controllers, c) })
	if where == own && h.at(own) == h.at(top) {
		where = top
	}
	parent := h.at(where)
	if h.version == V1 && slices.Equal(h.controllers, []controller{cpuset}) && len(here) == 0 {
		return nil // it would have to be given cores before it lets anybody in
	}
	if h.version == V2 {
		if err := h.enable(parent, here); err != nil {
			return err
		}
	}
	dir := filepath.Join(parent, o.name)
	switch err := m.mkdir(dir); {
	case err == nil:
	case denial(err) && len(here) == 0:
		return nil
	case h.version == V2:
		return fmt.Errorf("%w: %w", errSecond, err)
	default:
		return err // an *fs.PathError says where
	}
	o.adopt(h, dir, where)
	return nil
}

// adopt takes a folder into the group.
func (o *Owned) adopt(h hierarchy, dir string, where spot) {
	o.trees = append(o.trees, branch{h, dir})
	for _, c := range h.controllers {
		o.places[c] = place{version: h.version, dirs: append([]string{dir}, h.above(where)...)}
	}
}

// Change sets other limits, and reads them back. Those that are zero stay as
// they are.
func (o *Owned) Change(l Limits) error {
	err := l.check()
	if err == nil {
		err = o.limit(l)
	}
	if err == nil {
		err = o.verify(l)
	}
	if err != nil {
		return fmt.Errorf("change the limits of control group %q: %w", o.name, err)
	}
	return nil
}

// limit writes the limits.
func (o *Owned) limit(l Limits) error {
	var errs []error
	set := func(c controller, files ...setting) {
		p := o.places[c]
		for _, f := range files {
			if f.version == p.version {
				errs = append(errs, f.write(p.dirs[0]))
			}
		}
	}
	if l.CPUs > 0 {
		quota := strconv.FormatInt(int64(math.Round(l.CPUs*periodUS)), 10)
		period := strconv.Itoa(periodUS)
		set(cpu, setting{V1, "cpu.cfs_period_us", period, false}, setting{V1, "cpu.cfs_quota_us", quota, false},
			setting{V2, "cpu.max", quota + " " + period, false})
	}
	if l.Memory > 0 {
		bytes := strconv.FormatInt(l.Memory, 10)
		set(memory, setting{V1, "memory.limit_in_bytes", bytes, false}, setting{V1, "memory.memsw.limit_in_bytes", bytes, true},
			setting{V2, "memory.max", bytes, false}, setting{V2, "memory.swap.max", "0", true})
	}
	if l.Pids > 0 {
		count := strconv.Itoa(l.Pids)
		set(pids, setting{V1, "pids.max", count, false}, setting{V2, "pids.max", count, false})
	}
	if l.CPUSet != "" {
		// Version 1 wants to know the memory nodes too: those of the parent.
		set(cpuset, setting{V1, "cpuset.mems", o.nodes(), false}, setting{V1, "cpuset.cpus", l.CPUSet, false},
			setting{V2, "cpuset.cpus", l.CPUSet, false})
	}
	return errors.Join(errs...)
}

// nodes are the memory nodes of the cpuset's parent.
func (o *Owned) nodes() string {
	for _, dir := range o.places[cpuset].dirs[1:] {
		if text, err := os.ReadFile(filepath.Join(dir, "cpuset.mems")); err == nil && len(text) > 1 {
			return strings.TrimSpace(string(text))
		}
	}
	return "0"
}

// setting is a file of one version and what belongs in it.
type setting struct {
	version  Version
	name     string
	text     string
	optional bool // kernels without swap accounting do not have it
}

func (s setting) write(dir string) error {
	err := put(filepath.Join(dir, s.name), s.text)
	if s.optional && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// put writes to a file of the kernel's, which it must not try to make.
func put(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("set %q: %w", text, err)
	}
	return nil
}
