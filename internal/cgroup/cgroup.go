package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Version is the version of a hierarchy.
type Version int

// The versions of the kernel's interface.
const (
	V1 Version = 1
	V2 Version = 2
)

// controller is a resource that groups share out, by its version 1 name.
type controller string

const (
	cpu    controller = "cpu"
	memory controller = "memory"
	cpuset controller = "cpuset"
)

// Group is where a process stands, for each controller. The zero Group knows
// nothing and answers every question with ok = false.
type Group struct {
	places map[controller]place
}

// place is the group of one controller.
type place struct {
	version Version
	// dirs are the folders from our own group up to the mount point.
	dirs []string
}

// Self finds the group of the process that asks. The root is the root of the
// file system, "" for the real one, below which /proc/self/cgroup,
// /proc/self/mountinfo and the mounted hierarchies are looked for. It fails
// where these cannot be read or parsed, and with fs.ErrNotExist where there
// are no control groups at all; a controller that the host does not offer is
// no error.
func Self(root string) (*Group, error) {
	if root == "" {
		root = "/"
	}
	// Without the file there is no such thing here, and the error says so.
	members, err := parsed(filepath.Join(root, "proc/self/cgroup"), parseMembers)
	if err != nil {
		return nil, err
	}
	mounts, err := parsed(filepath.Join(root, "proc/self/mountinfo"), parseMounts)
	if err != nil {
		return nil, err
	}
	g := &Group{places: map[controller]place{}}
	for _, c := range []controller{cpu, memory, cpuset} {
		if p, ok := locate(root, c, members, mounts); ok {
			g.places[c] = p
		}
	}
	if len(g.places) == 0 {
		return nil, fmt.Errorf("find the control group of this process: %w", fs.ErrNotExist)
	}
	return g, nil
}

func parsed[T any](name string, parse func(string) (T, error)) (T, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		var none T
		return none, err
	}
	v, err := parse(string(text))
	if err != nil {
		return v, fmt.Errorf("parse %s: %w", name, err)
	}
	return v, nil
}

// locate finds a controller. A version 1 hierarchy that carries it has it to
// itself, also on a hybrid host, and also if it is mounted nowhere: then we do
// not know. What no such hierarchy carries belongs to version 2.
func locate(root string, c controller, members []member, mounts []mount) (place, bool) {
	for _, version := range []Version{V1, V2} {
		for _, m := range members {
			if m.version == version && m.carries(c) {
				return m.mounted(root, c, mounts)
			}
		}
	}
	return place{}, false
}

// mounted finds the folders of a member.
func (m member) mounted(root string, c controller, mounts []mount) (place, bool) {
	for _, at := range mounts {
		if at.version == m.version && at.carries(c) {
			return place{version: m.version, dirs: at.chain(root, m.path)}, true
		}
	}
	return place{}, false
}

// member is a line of /proc/self/cgroup: our path in one hierarchy.
type member struct {
	version     Version
	controllers []string
	path        string
}

func (m member) carries(c controller) bool { return m.version == V2 || contains(m.controllers, c) }

func contains(names []string, c controller) bool {
	for _, name := range names {
		if name == string(c) {
			return true
		}
	}
	return false
}

var (
	errMember = errors.New("want number:controllers:/path")
	errMount  = errors.New("want a mount with its type behind \" - \"")
)

// parseMembers reads lines like
//
//	4:memory:/process/6e687e
//	9:name=systemd:/
//	0::/user.slice/session-1.scope
//
// (cgroups(7)): hierarchy, controllers, path. The hierarchy 0 without a
// controller is version 2. A path may hold colons.
func parseMembers(text string) ([]member, error) {
	var all []member
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 || !strings.HasPrefix(parts[2], "/") {
			return nil, fmt.Errorf("line %q: %w", line, errMember)
		}
		m := member{version: V1, controllers: strings.Split(parts[1], ","), path: parts[2]}
		if parts[1] == "" {
			m.version = V2
		}
		all = append(all, m)
	}
	return all, nil
}

// mount is a mounted hierarchy: the part of it below root is visible at point.
type mount struct {
	version Version
	root    string
	point   string
	options []string // the controllers of version 1 are among them
}

func (m mount) carries(c controller) bool { return m.version == V2 || contains(m.options, c) }

// parseMounts reads lines like
//
//	31 23 0:28 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu
//
// (proc_pid_mountinfo(5)): root and point are the fourth and fifth field, and
// behind the lone dash come type, source and the options of the file system.
// Other file systems are skipped.
func parseMounts(text string) ([]mount, error) {
	var all []mount
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		front, back, ok := strings.Cut(line, " - ")
		where, what := strings.Fields(front), strings.Fields(back)
		if !ok || len(where) < 6 || len(what) < 1 {
			return nil, fmt.Errorf("line %q: %w", line, errMount)
		}
		version, ok := map[string]Version{"cgroup": V1, "cgroup2": V2}[what[0]]
		if !ok {
			continue
		}
		m := mount{version: version, root: unescape(where[3]), point: unescape(where[4])}
		m.options = strings.Split(what[len(what)-1], ",")
		all = append(all, m)
	}
	return all, nil
}

// unescape undoes the kernel's octal forms of blank, tab, newline and backslash.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// chain lists the folders from the group at a path up to the mount point. A
// group outside of what is mounted (another namespace's view: "/../..") is
// answered by the mount point, the nearest thing that is visible.
func (m mount) chain(root, group string) []string {
	below := "/"
	if rest, ok := strings.CutPrefix(group, strings.TrimSuffix(m.root, "/")); ok && (rest == "" || rest[0] == '/') {
		below = path.Clean("/" + rest)
	}
	if strings.Contains(group+"/", "/../") {
		below = "/"
	}
	var dirs []string
	for ; ; below = path.Dir(below) {
		dirs = append(dirs, filepath.Join(root, m.point, below))
		if below == "/" {
			return dirs
		}
	}
}
