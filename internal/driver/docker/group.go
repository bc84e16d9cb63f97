package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"prony/internal/cgroup"
	"prony/internal/plan"
)

// group is the control group of a container, as this machine sees it: a folder
// for each controller.
type group struct {
	name string // its path in the hierarchy, docker/ID
	dirs map[string]folder
}

type folder struct {
	path   string
	second bool // version 2 of the kernel's interface
}

// controllers are what limits and counters are read from.
func controllers() []string { return []string{"cpu", "memory", "cpuset", "pids"} }

// groupOf finds the group of a process. The root is that of the file system, ""
// for the real one. It fails where there is nothing to be read: on a machine
// without Linux, and where the engine has a kernel of its own.
func groupOf(root string, pid int) (group, error) {
	read := func(name string) (string, error) {
		text, err := os.ReadFile(filepath.Join("/", root, name))
		return string(text), err
	}
	members, err := read("proc/" + strconv.Itoa(pid) + "/cgroup")
	if err != nil {
		return group{}, err
	}
	mounts, err := read("proc/self/mountinfo")
	if err != nil {
		return group{}, err
	}
	g := group{dirs: map[string]folder{}}
	for _, c := range controllers() {
		if path, second, ok := memberOf(members, c); ok {
			if at, ok := mountOf(mounts, c, second); ok {
				g.add(c, path, at, second, root)
			}
		}
	}
	if len(g.dirs) == 0 {
		return group{}, fmt.Errorf("find the control group of process %d: %w", pid, fs.ErrNotExist)
	}
	return g, nil
}

// at is where a hierarchy is mounted: the part below root is visible at point.
type at struct{ root, point string }

// add notes a controller's folder if it is visible.
func (g *group) add(c, path string, m at, second bool, root string) {
	below, ok := strings.CutPrefix(path, strings.TrimSuffix(m.root, "/"))
	if !ok || strings.Contains(path, "..") || below == "" || below == "/" {
		return
	}
	g.name = strings.TrimPrefix(below, "/")
	g.dirs[c] = folder{filepath.Join("/", root, m.point, below), second}
}

// memberOf reads the line of a controller in /proc/PID/cgroup (cgroups(7)):
// "4:memory:/docker/ID" in version 1, else "0::/docker/ID" of version 2.
func memberOf(text, controller string) (path string, second, ok bool) {
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 {
			continue
		}
		if listed(parts[1], controller) {
			return parts[2], false, true
		}
		if parts[0] == "0" && parts[1] == "" {
			path, second, ok = parts[2], true, true
		}
	}
	return path, second, ok
}

func listed(list, word string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one == word {
			return true
		}
	}
	return false
}

// mountOf reads where a controller is mounted (proc_pid_mountinfo(5)): root and
// point are the fourth and fifth field, and behind the lone dash come type,
// source and options, which name the controllers of version 1.
func mountOf(text, controller string, second bool) (at, bool) {
	for line := range strings.Lines(text) {
		front, back, _ := strings.Cut(line, " - ")
		where, what := strings.Fields(front), strings.Fields(back)
		if len(where) < 5 || len(what) < 3 {
			continue
		}
		if second && what[0] == "cgroup2" || !second && what[0] == "cgroup" && listed(what[2], controller) {
			return at{where[3], where[4]}, true
		}
	}
	return at{}, false
}

// number reads a number, or the one behind a word at the beginning of a line;
// "max" and what is as good as that are 0, which is no limit.
func (f folder) number(name, word string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(f.path, name))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if word != "" && len(fields) > 1 && fields[0] == word {
			fields = fields[1:]
		} else if word != "" || len(fields) == 0 {
			continue
		}
		return amount(fields[0])
	}
	return 0, fmt.Errorf("%s: %w", name, errNumber)
}

var errNumber = errors.New("no such number")

// amountMax is more than a machine has: version 1 shows "no limit" as the
// largest whole number of pages.
const amountMax = 1 << 60

func amount(text string) (int64, error) {
	if text == "max" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if n < 0 || n > amountMax {
		n = 0
	}
	return n, err
}

// limits reads what the kernel enforces (cgroup-v1 and cgroup-v2.rst).
func (g group) limits() (plan.Limits, error) {
	var l plan.Limits
	var errs []error
	for _, c := range controllers() {
		f, ok := g.dirs[c]
		if !ok {
			errs = append(errs, fmt.Errorf("controller %s: %w", c, fs.ErrNotExist))
			continue
		}
		errs = append(errs, f.limit(c, &l))
	}
	return l, errors.Join(errs...)
}

func (f folder) limit(controller string, l *plan.Limits) error {
	var err error
	var n int64
	switch controller {
	case "cpu":
		l.CPUs, err = f.quota()
	case "memory":
		l.Memory, err = f.number(f.either("memory.limit_in_bytes", "memory.max"), "")
	case "pids":
		n, err = f.number("pids.max", "")
		l.PIDs = int(n)
	default:
		var text []byte
		text, err = os.ReadFile(filepath.Join(f.path, "cpuset.cpus"))
		l.Cores = cgroup.Cores(string(text))
	}
	return err
}

// either is the first name in version 1 and the second in version 2.
func (f folder) either(first, second string) string {
	if f.second {
		return second
	}
	return first
}

// quota is how many cores may be used: time in a period.
func (f folder) quota() (float64, error) {
	if !f.second {
		quota, err := f.number("cpu.cfs_quota_us", "")
		period, err2 := f.number("cpu.cfs_period_us", "")
		return ratio(quota, period), errors.Join(err, err2)
	}
	text, err := os.ReadFile(filepath.Join(f.path, "cpu.max"))
	fields := strings.Fields(string(text))
	if err != nil || len(fields) != 2 {
		return 0, errors.Join(err, errNumber)
	}
	quota, err := amount(fields[0])
	period, err2 := amount(fields[1])
	return ratio(quota, period), errors.Join(err, err2)
}

func ratio(quota, period int64) float64 {
	if period <= 0 {
		return 0
	}
	return float64(quota) / float64(period)
}

// oomKills counts the processes that the memory limit killed.
func (g group) oomKills() (int64, error) {
	f, ok := g.dirs["memory"]
	if !ok {
		return 0, fmt.Errorf("controller memory: %w", fs.ErrNotExist)
	}
	return f.number(f.either("memory.oom_control", "memory.events"), "oom_kill")
}
