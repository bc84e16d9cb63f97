package cgroup_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"prony/internal/cgroup"
)

// paper makes the tree of a version 2 host, and what its kernel would do when a
// folder is made.
func paper(t *testing.T, controllers string) (root string, mkdir func(string) error) {
	t.Helper()
	root = t.TempDir()
	write(t, root, "proc/self/cgroup", "0::/user/scope\n")
	write(t, root, "proc/self/mountinfo", "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n")
	for _, dir := range []string{"cg", "cg/user", "cg/user/scope"} {
		write(t, root, dir+"/cgroup.controllers", controllers+"\n")
		write(t, root, dir+"/cgroup.subtree_control", "\n")
	}
	return root, func(dir string) error {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		for name, text := range map[string]string{
			"cgroup.procs": "", "cgroup.kill": "", "cpu.max": "max 100000\n", "memory.max": "max\n", "memory.swap.max": "max\n",
			"pids.max": "max\n", "cpuset.cpus": "\n", "memory.current": "4096\n", "memory.peak": "8192\n", "pids.current": "3\n",
			"memory.events": "low 0\nhigh 0\nmax 7\noom 2\noom_kill 1\n",
			"cpu.stat":      "usage_usec 1500000\nuser_usec 1\nnr_periods 10\nnr_throttled 4\nthrottled_usec 2500\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				return err
			}
		}
		return nil
	}
}

func content(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestCreateVersion2(t *testing.T) {
	root, mkdir := paper(t, "cpuset cpu io memory pids")
	limits := cgroup.Limits{CPUs: 1.5, Memory: 400 << 20, CPUSet: "0-2,5", Pids: 64}
	o, err := cgroup.CreateOnPaper(root, "prony-run1-app", limits, mkdir)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "cg/prony-run1-app")
	for name, want := range map[string]string{
		"cpu.max": "150000 100000", "memory.max": "419430400", "memory.swap.max": "0", "pids.max": "64", "cpuset.cpus": "0-2,5",
	} {
		if got := content(t, dir, name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got := content(t, root, "cg/cgroup.subtree_control"); !strings.HasPrefix(got, "+") {
		t.Errorf("subtree_control: got %q, want controllers handed down", got)
	}
	if got, err := o.Limits(); got != limits || err != nil {
		t.Errorf("Limits: got %+v, %v, want %+v", got, err, limits)
	}
	if got, ok := o.CPUQuota(); got != 1.5 || !ok {
		t.Errorf("CPUQuota: got %v, %t", got, ok)
	}
	want := cgroup.Stat{CPU: 1500 * time.Millisecond, Memory: 4096, MemoryPeak: 8192, OOMKills: 1, Pids: 3, ThrottledOK: true,
		Throttled: cgroup.Throttling{Periods: 10, Throttled: 4, Time: 2500 * time.Microsecond}}
	if got, err := o.Stat(); got != want || err != nil {
		t.Errorf("Stat: got %+v, %v, want %+v", got, err, want)
	}
	if err := o.Add(4711); err != nil || content(t, dir, "cgroup.procs") != "4711" {
		t.Errorf("Add: got %q, %v", content(t, dir, "cgroup.procs"), err)
	}
	if o.Add(0) == nil || o.Add(-1) == nil {
		t.Error("Add of no process: got no error")
	}
}

func TestOldKernel(t *testing.T) {
	root, mkdir := paper(t, "cpu memory pids")
	o, err := cgroup.CreateOnPaper(root, "prony-a", cgroup.Limits{Memory: 1 << 20}, func(dir string) error {
		return errors.Join(mkdir(dir), os.Remove(dir+"/memory.peak"), os.Remove(dir+"/memory.swap.max"))
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := o.Stat()
	if err != nil || got.MemoryPeak != cgroup.Unknown || got.Memory != 4096 {
		t.Errorf("got %+v, %v, want the peak unknown", got, err)
	}
}

func TestCreateRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		group  string
		limits cgroup.Limits
		want   string
	}{
		"no name":           {"", cgroup.Limits{}, "want a name"},
		"a path":            {"a/b", cgroup.Limits{}, "want a name"},
		"a way up":          {"..", cgroup.Limits{}, "want a name"},
		"few cores":         {"a", cgroup.Limits{CPUs: 0.001}, "0.01 cores"},
		"negative cores":    {"a", cgroup.Limits{CPUs: -1}, "0.01 cores"},
		"no number":         {"a", cgroup.Limits{CPUs: math.NaN()}, "0.01 cores"},
		"endless cores":     {"a", cgroup.Limits{CPUs: math.Inf(1)}, "0.01 cores"},
		"little memory":     {"a", cgroup.Limits{Memory: 1000}, "64 KiB"},
		"negative pids":     {"a", cgroup.Limits{Pids: -1}, "1 process"},
		"no list":           {"a", cgroup.Limits{CPUSet: "0-"}, "numbers and ranges"},
		"two mistakes":      {"a", cgroup.Limits{Pids: -1, Memory: 1}, "1 process"},
		"no such control":   {"a", cgroup.Limits{CPUSet: "0"}, "controller cpuset: the host does not offer it"},
		"exists":            {"user", cgroup.Limits{}, "exists"},
		"of another's name": {"b", cgroup.Limits{CPUs: 1}, "did not take the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			root, mkdir := paper(t, "cpu memory pids")
			_, err := cgroup.CreateOnPaper(root, c.group, c.limits, func(dir string) error {
				err := mkdir(dir)
				if c.group != "b" || err != nil {
					return err
				}
				// A kernel that takes what is written and goes on as before.
				return errors.Join(os.Remove(dir+"/cpu.max"), os.Symlink("/dev/null", dir+"/cpu.max"))
			})
			if c.group == "b" && err != nil {
				return // the empty answer does not parse: an error as well
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
}

// TestRights has folders that we may not make.
func TestRights(t *testing.T) {
	deny := func(why error, where string) func(func(string) error, string) func(string) error {
		return func(mkdir func(string) error, root string) func(string) error {
			return func(dir string) error {
				if where == "" || filepath.Dir(dir) == filepath.Join(root, where) {
					return &fs.PathError{Op: "mkdir", Path: dir, Err: why}
				}
				return mkdir(dir)
			}
		}
	}
	for name, c := range map[string]struct {
		deny func(func(string) error, string) func(string) error
		want string // "" is a group below our own
	}{
		"nowhere":               {deny(syscall.EACCES, ""), "systemd-run --user --scope -p Delegate=yes"},
		"a read-only container": {deny(syscall.EROFS, ""), "mounted read-only"},
		"our own is delegated":  {deny(syscall.EACCES, "cg"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			root, mkdir := paper(t, "cpu memory pids")
			o, err := cgroup.CreateOnPaper(root, "prony-a", cgroup.Limits{CPUs: 2}, c.deny(mkdir, root))
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				if got := content(t, root, "cg/user/scope/prony-a/cpu.max"); got != "200000 100000" {
					t.Errorf("got %q", got)
				}
				found, err := cgroup.Find(root, "prony-")
				if err != nil || len(found) != 1 || found[0].Name() != o.Name() {
					t.Errorf("Find: got %v, %v", found, err)
				}
				return
			}
			if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want fs.ErrPermission and %q", err, c.want)
			}
			if found, err := cgroup.Find(root, "prony-"); len(found) > 0 || err != nil {
				t.Errorf("left behind: %v, %v", found, err)
			}
		})
	}
}

func TestCreateVersion1(t *testing.T) {
	root := t.TempDir()
	write(t, root, "proc/self/cgroup", "4:memory:/\n3:cpu,cpuacct:/\n2:cpuset:/\n1:name=systemd:/\n")
	write(t, root, "proc/self/mountinfo", "31 23 0:28 / /cg/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"+
		"32 23 0:29 / /cg/memory rw - cgroup cgroup rw,memory\n33 23 0:30 / /cg/cpuset rw - cgroup cgroup rw,cpuset\n")
	write(t, root, "cg/cpuset/cpuset.mems", "0-1\n")
	write(t, root, "cg/memory/x", "")
	write(t, root, "cg/cpu,cpuacct/x", "")
	mkdir := func(dir string) error {
		files := map[string]string{"cgroup.procs": ""}
		switch filepath.Base(filepath.Dir(dir)) {
		case "memory":
			files["memory.limit_in_bytes"], files["memory.memsw.limit_in_bytes"] = "9223372036854771712\n", "9223372036854771712\n"
		case "cpuset":
			files["cpuset.cpus"], files["cpuset.mems"] = "\n", "\n"
		default:
			files["cpu.cfs_quota_us"], files["cpu.cfs_period_us"], files["cpuacct.usage"] = "-1\n", "100000\n", "77\n"
		}
		err := os.Mkdir(dir, 0o755)
		for name, text := range files {
			err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		return err
	}
	limits := cgroup.Limits{CPUs: 0.2, Memory: 1 << 20, CPUSet: "1"}
	o, err := cgroup.CreateOnPaper(root, "prony-a", limits, mkdir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"cpu,cpuacct/prony-a/cpu.cfs_quota_us": "20000", "memory/prony-a/memory.limit_in_bytes": "1048576",
		"memory/prony-a/memory.memsw.limit_in_bytes": "1048576", "cpuset/prony-a/cpuset.cpus": "1", "cpuset/prony-a/cpuset.mems": "0-1",
	} {
		if got := content(t, root, "cg", name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if got, err := o.Limits(); got != limits || err != nil {
		t.Errorf("Limits: got %+v, %v", got, err)
	}
	got := o.Enter("java", "-jar", "app.jar")
	if !slices.Equal(got[len(got)-3:], []string{"java", "-jar", "app.jar"}) || got[4] != "3" || len(got) != 11 {
		t.Errorf("Enter: got %q", got)
	}
}

func TestParseCounter(t *testing.T) {
	for name, c := range map[string]struct {
		text, word string
		want       int64
		bad        bool
	}{
		"whole": {"77\n", "", 77000, false}, "a line": {"a 1\noom_kill 3\n", "oom_kill", 3000, false},
		"not a prefix": {"oom_kill_disable 1\n", "oom_kill", 0, true}, "empty": {"", "", 0, true},
		"negative": {"-1", "", 0, true}, "no number": {"x", "", 0, true},
		"it would overflow": {"9223372036854775807", "", math.MaxInt64 / 1000 * 1000, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := cgroup.ParseCounter(c.text, c.word)
			if got != c.want || (err != nil) != c.bad {
				t.Errorf("got %d, %v, want %d", got, err, c.want)
			}
		})
	}
}

func FuzzParseCounter(f *testing.F) {
	f.Add("nr_periods 10\nusage_usec 5\n", "usage_usec")
	f.Add("12\n", "")
	f.Fuzz(func(t *testing.T, text, word string) {
		if n, err := cgroup.ParseCounter(text, word); n < 0 || err != nil && n != 0 {
			t.Errorf("of %q: got %d, %v", text, n, err)
		}
	})
}
