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
	"time"
)

// Add moves a process, with all its threads, into the group. What it started
// before stays where it is: see [Owned.Enter] for a start without that gap.
// The error wraps os.ErrProcessDone if there is no such process.
func (o *Owned) Add(pid int) error {
	if pid < 1 {
		return fmt.Errorf("add process %d to control group %q: %w", pid, o.name, fs.ErrInvalid)
	}
	for _, name := range o.procs() {
		err := put(name, strconv.Itoa(pid))
		if errors.Is(err, syscall.ESRCH) {
			err = os.ErrProcessDone
		}
		if err != nil {
			return fmt.Errorf("add process %d to control group %q: %w", pid, o.name, err)
		}
	}
	return nil
}

// procs are the files that list and take the processes.
func (o *Owned) procs() []string {
	var all []string
	for _, b := range o.trees {
		all = append(all, filepath.Join(b.dir, "cgroup.procs"))
	}
	return all
}

// enter joins the groups before it becomes the command.
const enter = `n=$1; shift; while [ $n -gt 0 ]; do echo $$ >"$1" || exit 125; shift; n=$((n-1)); done; exec "$@"`

// Enter makes a command of a command: a POSIX shell that joins the group and
// then becomes the program, so that not one instruction of it runs outside.
// Exit status 125 says that it could not join.
func (o *Owned) Enter(name string, args ...string) []string {
	files := o.procs()
	all := append([]string{"sh", "-c", enter, "sh", strconv.Itoa(len(files))}, files...)
	return append(append(all, name), args...)
}

// Limits reads the limits of the group itself back from the kernel, as it
// rounded them; a zero is no limit. Parents may be tighter: the methods of
// [Group] know.
func (o *Owned) Limits() (Limits, error) {
	var l Limits
	var errs []error
	if p, ok := o.places[cpu]; ok {
		cores, err := p.version.quota(p.dirs[0])
		if !math.IsInf(cores, 0) {
			l.CPUs = cores
		}
		errs = append(errs, absent(err))
	}
	l.Memory = o.amount(memory, "memory.limit_in_bytes", "memory.max", &errs)
	l.Pids = int(o.amount(pids, "pids.max", "pids.max", &errs))
	l.CPUSet = o.cores(&errs)
	if err := errors.Join(errs...); err != nil {
		return l, fmt.Errorf("read the limits of control group %q: %w", o.name, err)
	}
	return l, nil
}

// absent lets a file be missing: the controller was not handed down.
func absent(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// amount reads a limit that is a number or none, 0.
func (o *Owned) amount(c controller, v1, v2 string, errs *[]error) int64 {
	p, ok := o.places[c]
	if !ok {
		return 0
	}
	n, err := parsed(filepath.Join(p.dirs[0], map[Version]string{V1: v1, V2: v2}[p.version]), parseAmount)
	*errs = append(*errs, absent(err))
	if n == Unlimited {
		return 0
	}
	return n
}

// cores reads the cores of a group that was given some. What is in effect
// counts: version 2 takes any list, and then uses what the parent has.
func (o *Owned) cores(errs *[]error) string {
	p, ok := o.places[cpuset]
	if !ok {
		return ""
	}
	given, err := os.ReadFile(filepath.Join(p.dirs[0], "cpuset.cpus"))
	*errs = append(*errs, absent(err))
	list := strings.TrimSpace(string(given))
	name := map[Version]string{V1: "cpuset.effective_cpus", V2: "cpuset.cpus.effective"}[p.version]
	effective, err := os.ReadFile(filepath.Join(p.dirs[0], name))
	if text := strings.TrimSpace(string(effective)); err == nil && list != "" && text != "" {
		return text
	}
	return list
}

var errIgnored = errors.New("the kernel did not take the limit")

// verify holds what the kernel says against what was asked.
func (o *Owned) verify(want Limits) error {
	got, err := o.Limits()
	if err != nil {
		return err
	}
	switch {
	case want.CPUs > 0 && math.Abs(got.CPUs-want.CPUs) > 1.0/periodUS:
		return fmt.Errorf("asked for %v cores, it says %v: %w", want.CPUs, got.CPUs, errIgnored)
	case want.Memory > 0 && (got.Memory > want.Memory || got.Memory <= want.Memory-memoryMin): // whole pages
		return fmt.Errorf("asked for %d bytes, it says %d: %w", want.Memory, got.Memory, errIgnored)
	case want.Pids > 0 && got.Pids != want.Pids:
		return fmt.Errorf("asked for %d processes, it says %d: %w", want.Pids, got.Pids, errIgnored)
	case want.CPUSet != "" && !sameCores(got.CPUSet, want.CPUSet):
		return fmt.Errorf("asked for the cores %s, it says %q: %w", want.CPUSet, got.CPUSet, errIgnored)
	}
	return nil
}

// sameCores compares two lists of cores as sets.
func sameCores(a, b string) bool { return slices.Equal(coresOf(a), coresOf(b)) }

// coresOf lists the cores of "0-3,8", sorted; nil if it is no list.
func coresOf(list string) []int {
	if _, err := parseList(list); err != nil {
		return nil
	}
	var all []int
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		low, _ := strconv.Atoi(from)
		high, _ := strconv.Atoi(to)
		for n := low; n <= high; n++ {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Bounds of waiting for processes to end and folders to become free.
const (
	killPatience   = 10 * time.Second
	removePatience = 5 * time.Second
	pause          = 5 * time.Millisecond
)

var (
	errOurselves = errors.New("this process is in it")
	errAlive     = errors.New("processes are left in it")
)

// Kill kills every process of the group and of groups below it, and waits until
// they are gone, at most 10 s. It refuses a group that holds this process.
func (o *Owned) Kill() error {
	for deadline := time.Now().Add(killPatience); ; {
		left := o.pids()
		switch {
		case len(left) == 0:
			return nil
		case slices.Contains(left, os.Getpid()):
			return fmt.Errorf("kill control group %q: %w", o.name, errOurselves)
		case time.Now().After(deadline):
			return fmt.Errorf("kill control group %q: %w after %s: %v", o.name, errAlive, killPatience, left)
		}
		o.strike(left)
		time.Sleep(pause)
	}
}

// strike kills: at once where version 2 can, then one by one. Whoever was
// started in between is hit by the next strike.
func (o *Owned) strike(left []int) {
	for _, b := range o.trees {
		if b.version == V2 {
			_ = put(filepath.Join(b.dir, "cgroup.kill"), "1") // since Linux 5.14
		}
	}
	for _, pid := range left {
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
			_ = p.Release()
		}
	}
}

// pids are the processes in the group and below; those of foreign pid
// namespaces, which are shown as 0, are left out.
func (o *Owned) pids() []int {
	var all []int
	for _, b := range o.trees {
		for _, dir := range below(b.dir) {
			text, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs")) // gone is empty
			for word := range strings.FieldsSeq(string(text)) {
				if pid, err := strconv.Atoi(word); err == nil && pid > 0 {
					all = append(all, pid)
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// below lists a folder and those below it, the deepest last.
func below(dir string) []string {
	var all []string
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			all = append(all, name)
		}
		return nil // what vanishes meanwhile is no loss
	})
	return all
}

// Remove removes the group and groups below it, at most for 5 s: the kernel
// keeps a folder busy for a moment after its last process. It kills nobody; to
// remove a group that is gone is no error.
func (o *Owned) Remove() error {
	for deadline := time.Now().Add(removePatience); ; {
		err := o.prune()
		if err == nil {
			return nil
		}
		if left := o.pids(); len(left) > 0 {
			err = fmt.Errorf("%w: %v: kill it first", errAlive, left)
		} else if !time.Now().After(deadline) {
			time.Sleep(pause)
			continue
		}
		return fmt.Errorf("remove control group %q: %w", o.name, err)
	}
}

// prune removes the folders, the deepest first.
func (o *Owned) prune() error {
	var errs []error
	for _, b := range o.trees {
		all := below(b.dir)
		slices.Reverse(all)
		for _, dir := range all {
			errs = append(errs, absent(os.Remove(dir)))
		}
	}
	return errors.Join(errs...)
}

// Find lists the groups whose names begin with a prefix, at the places where
// Create makes them, for whoever cleans up after a crash. It is sorted by name.
func Find(root, prefix string) ([]*Owned, error) {
	if err := checkName(prefix); err != nil {
		return nil, fmt.Errorf("find control groups: %w", err)
	}
	all, err := hierarchies(root)
	if err != nil {
		return nil, fmt.Errorf("find control groups: %w", err)
	}
	var found []*Owned
	for _, where := range []spot{top, own} {
		names := map[string]*Owned{}
		for _, h := range all {
			if where == own && h.at(own) == h.at(top) {
				continue // was seen
			}
			h.search(where, prefix, names)
		}
		for _, o := range names {
			found = append(found, o)
		}
	}
	slices.SortStableFunc(found, func(a, b *Owned) int { return strings.Compare(a.name, b.name) })
	return found, nil
}

// search gathers the folders of one hierarchy.
func (h hierarchy) search(where spot, prefix string, names map[string]*Owned) {
	entries, _ := os.ReadDir(h.at(where)) // what we may not see is not ours
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		o := names[e.Name()]
		if o == nil {
			o = &Owned{Group: &Group{places: map[controller]place{}}, name: e.Name()}
			names[e.Name()] = o
		}
		o.adopt(h, filepath.Join(h.at(where), e.Name()), where)
	}
}
