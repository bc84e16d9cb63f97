package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"prony/internal/driver"
)

// Find lists processes by the label in their environment and by their working
// folder (some programs write over their environment), then control groups by
// name, then folders by name.
func (d *Driver) Find(ctx context.Context, s driver.Site, run driver.RunID) ([]driver.Leftover, error) {
	dir, err := folder(ctx, s)
	if err != nil {
		return nil, err
	}
	f := finder{driver: d, site: s, run: run, dir: dir}
	processes, err := f.processes(ctx)
	if err != nil {
		return nil, err
	}
	groups, err := f.groups(ctx)
	if err != nil {
		return nil, err
	}
	folders, err := f.folders()
	return slices.Concat(processes, groups, folders), err
}

type finder struct {
	driver *Driver
	site   driver.Site
	run    driver.RunID // "" is any
	dir    string       // of the runs' folders
}

// wanted reports whether something of a run is looked for.
func (f finder) wanted(run driver.RunID) bool { return f.run == "" || f.run == run }

// processes finds those that carry a run's label, without ourselves and those
// that started us: Prony may be a target of Prony.
func (f finder) processes(ctx context.Context) ([]driver.Leftover, error) {
	names, err := f.site.Host.FS().Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	where := f.whereabouts(ctx)
	ours := map[int]bool{}
	if f.site.Here() {
		ours = lineage()
	}
	var found []driver.Leftover
	for _, name := range names {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		pid, err := strconv.Atoi(strings.Split(name, "/")[2])
		if err != nil || ours[pid] {
			continue
		}
		text, _ := f.site.Host.FS().ReadFile(name) // one that is gone, or of another user, is none of ours
		run := marked(string(text))
		if run == "" {
			run = where[pid]
		}
		if run != "" && f.wanted(run) {
			found = append(found, f.process(pid, run))
		}
	}
	return found, nil
}

// marked is the run in an environment as the kernel shows it: NAME=value, each
// ended by a NUL (proc_pid_environ(5)); "" for none. The last of a name wins.
func marked(environ string) driver.RunID {
	var run driver.RunID
	for entry := range strings.SplitSeq(environ, "\x00") {
		if value, ok := strings.CutPrefix(entry, driver.LabelRun+"="); ok {
			run = driver.RunID(value)
		}
	}
	if run.Check() != nil {
		return ""
	}
	return run
}

// lineage is this process and those that it descends from.
func lineage() map[int]bool {
	line := map[int]bool{os.Getpid(): true}
	for pid := os.Getppid(); pid > 1 && !line[pid]; pid = parent(pid) {
		line[pid] = true
	}
	return line
}

// parent reads the fourth field of /proc/PID/stat; the second is a name in
// brackets that may hold anything.
func parent(pid int) int {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	rest := string(text)[strings.LastIndexByte(string(text), ')')+1:]
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(fields[1]) // 0 ends the line
	return n
}

// whereabouts are the processes that work in a folder of a run.
func (f finder) whereabouts(ctx context.Context) map[int]driver.RunID {
	// The status is an error as soon as one process has gone meanwhile.
	out, _ := f.site.Host.Command("sh", "-c", "ls -ld /proc/[0-9]*/cwd 2>/dev/null").Output(ctx)
	return parseWhereabouts(string(out), f.dir)
}

// parseWhereabouts reads lines of ls -l (POSIX, "name -> link").
func parseWhereabouts(text, dir string) map[int]driver.RunID {
	line := regexp.MustCompile(`/proc/([0-9]+)/cwd -> ` + regexp.QuoteMeta(strings.TrimSuffix(dir, "/")) + `/([^/\n]+)`)
	all := map[int]driver.RunID{}
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		pid, err := strconv.Atoi(m[1])
		if run, ours := driver.RunOf(strings.TrimSuffix(m[2], " (deleted)")); ours && err == nil {
			all[pid] = run
		}
	}
	return all
}

// strike kills a process if it still carries the label: its number may be
// somebody else's by now.
const strike = `if tr '\0' '\n' 2>/dev/null <"/proc/$1/environ" | grep -qx -e "PRONY_RUN=$2"; then kill -s KILL "$1"; exit 0; fi
case $(readlink "/proc/$1/cwd") in "$3"/*) kill -s KILL "$1";; esac
exit 0`

func (f finder) process(pid int, run driver.RunID) driver.Leftover {
	comm, _ := f.site.Host.FS().ReadFile(fmt.Sprintf("/proc/%d/comm", pid)) // for people
	return driver.Leftover{Run: run, Host: f.site.Name, Kind: "process", Name: fmt.Sprintf("%d (%s)", pid, strings.TrimSpace(string(comm))),
		Remove: func(ctx context.Context) error { return f.kill(ctx, pid, run) }}
}

// Waiting for a killed process.
const (
	deathPatience = 10 * time.Second
	deathPause    = 10 * time.Millisecond
)

var errAlive = errors.New("it did not die of SIGKILL")

func (f finder) kill(ctx context.Context, pid int, run driver.RunID) error {
	ctx, cancel := context.WithTimeoutCause(ctx, deathPatience, errAlive)
	defer cancel()
	root := path.Join(f.dir, rootName(run))
	if err := f.site.Host.Command("sh", "-c", strike, "sh", strconv.Itoa(pid), string(run), root).Run(ctx); err != nil {
		return err
	}
	// The environment of a dead process is empty, also while nobody reaps it.
	for {
		text, err := f.site.Host.FS().ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil || len(text) == 0 || marked(string(text)) != run && f.whereabouts(ctx)[pid] != run {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(deathPause):
		}
	}
}

// groups finds control groups by their names. A host without any, or that
// nobody can ask, has none of ours: making one needs the same.
func (f finder) groups(ctx context.Context) ([]driver.Leftover, error) {
	answer, err := ask(ctx, f.site, Order{Do: find, Name: driver.Prefix(f.run)})
	if err != nil && powerless(err) {
		return nil, nil
	}
	var found []driver.Leftover
	for _, name := range slices.Compact(answer.Names) {
		if run, ours := driver.RunOf(name); ours && f.wanted(run) {
			found = append(found, driver.Leftover{Run: run, Host: f.site.Name, Kind: "control group", Name: name,
				Remove: func(ctx context.Context) error {
					_, err := ask(ctx, f.site, Order{Do: discard, Name: name})
					return err
				}})
		}
	}
	return found, err
}

// folders finds the folders of runs on the site, and on this machine those of
// logs and unfinished builds.
func (f finder) folders() ([]driver.Leftover, error) {
	files := f.site.Host.FS()
	pattern := rootName(f.run)
	if f.run == "" {
		pattern = driver.Prefix("") + "*.run"
	}
	names, err := files.Glob(path.Join(escape(f.dir), pattern))
	if err != nil {
		return nil, err
	}
	var found []driver.Leftover
	for _, name := range names {
		if run, ours := driver.RunOf(path.Base(name)); ours && f.wanted(run) && f.mine(name) {
			found = append(found, f.folder(name, run, files.Remove))
		}
	}
	return append(found, f.here()...), nil
}

// mine leaves out what somebody else made under a name like ours, in a folder
// where everybody may write.
func (f finder) mine(name string) bool {
	info, err := f.site.Host.FS().Stat(name)
	return err == nil && info.IsDir() && info.Mode().Perm()&0o077 == 0
}

func (f finder) folder(name string, run driver.RunID, remove func(string) error) driver.Leftover {
	return driver.Leftover{Run: run, Host: f.site.Name, Kind: "folder", Name: name,
		Remove: func(context.Context) error { return remove(name) }}
}

// here finds what is on this machine for the sake of another host or a build.
func (f finder) here() []driver.Leftover {
	var found []driver.Leftover
	for _, pattern := range []string{path.Join(escape(os.TempDir()), driver.Prefix("")+"*.run-log-*"), path.Join(escape(f.driver.builds()), driver.Prefix("")+"*")} {
		names, _ := glob(pattern)
		for _, name := range names {
			run, ours := driver.RunOf(path.Base(name))
			if _, err := os.Lstat(name); ours && f.wanted(run) && !errors.Is(err, fs.ErrNotExist) {
				l := f.folder(name, run, removeAll)
				l.Host = ""
				found = append(found, l)
			}
		}
	}
	return found
}

// escape makes a pattern that matches a name alone.
func escape(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}
