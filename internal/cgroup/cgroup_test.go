package cgroup_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"prony/internal/cgroup"
)

// answers are all that a group knows; "unknown" is a nil.
type answers struct {
	Quota      any
	Memory     any
	CPUs       any
	Count      int
	Throttling any
}

func ask(g *cgroup.Group) answers {
	var a answers
	if v, ok := g.CPUQuota(); ok {
		a.Quota = v
	}
	if v, ok := g.MemoryLimit(); ok {
		a.Memory = v
	}
	if list, n, ok := g.CPUs(); ok {
		a.CPUs, a.Count = list, n
	}
	if v, ok := g.Throttling(); ok {
		a.Throttling = v
	}
	return a
}

func TestSelf(t *testing.T) {
	for _, c := range []struct {
		name, root string
		want       answers
	}{
		{"version 2, limits set above us", "v2", answers{1.5, int64(1 << 30), "0-3,8", 5,
			cgroup.Throttling{Periods: 300, Throttled: 45, Time: 1200 * time.Millisecond}}},
		{"version 1 in a container", "v1", answers{0.5, int64(512 << 20), "0", 1,
			cgroup.Throttling{Periods: 10, Throttled: 2, Time: 1500 * time.Millisecond}}},
		{"hybrid, no quota", "hybrid", answers{math.Inf(1), int64(2 << 30), "0-1", 2, cgroup.Throttling{}}},
		{"a version 1 controller that is not mounted", "unmounted", answers{Memory: int64(4096)}},
		{"a view that does not hold our path", "namespace", answers{Quota: 0.25}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := cgroup.Self(filepath.Join("testdata", c.root))
			if err != nil {
				t.Fatal(err)
			}
			if got := ask(g); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestNothingKnown(t *testing.T) {
	if got := ask(&cgroup.Group{}); got != (answers{}) {
		t.Errorf("the zero Group: got %+v, want nothing known", got)
	}
	if _, err := cgroup.Self(t.TempDir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no files: got %v, want fs.ErrNotExist", err)
	}
}

func TestNoHierarchy(t *testing.T) {
	root := t.TempDir()
	write(t, root, "proc/self/cgroup", "")
	write(t, root, "proc/self/mountinfo", "22 27 0:21 / /proc rw,relatime - proc proc rw\n")
	if _, err := cgroup.Self(root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	write(t, root, "proc/self/cgroup", "nonsense\n")
	if _, err := cgroup.Self(root); err == nil || !strings.Contains(err.Error(), "nonsense") || !strings.Contains(err.Error(), "proc/self/cgroup") {
		t.Errorf("got %v, want an error with the file and its text", err)
	}
}

// TestColon: a path may hold what separates the fields.
func TestColon(t *testing.T) {
	root := t.TempDir()
	write(t, root, "proc/self/cgroup", "0::/a:b\n")
	write(t, root, "proc/self/mountinfo", "30 23 0:26 / /groups rw - cgroup2 cgroup2 rw\n")
	write(t, root, "groups/a:b/memory.max", "4096\n")
	g, err := cgroup.Self(root)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := g.MemoryLimit(); got != 4096 || !ok {
		t.Errorf("got %d, %t, want 4096", got, ok)
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		name, kind, text string
		want             any // an error if it is a nil
	}{
		{"a quota", "cpu.max", "150000 100000\n", 1.5},
		{"no quota", "cpu.max", "max 100000\n", math.Inf(1)},
		{"no quota in version 1", "cpu.max", "-1\n 100000\n", math.Inf(1)},
		{"no period", "cpu.max", "max\n", nil},
		{"a period of 0", "cpu.max", "1000 0\n", nil},
		{"a quota of 0", "cpu.max", "0 1000\n", nil},
		{"a word", "cpu.max", "much 1000\n", nil},
		{"bytes", "memory.max", "4096\n", int64(4096)},
		{"unlimited", "memory.max", "max\n", int64(math.MaxInt64)},
		{"unlimited in version 1", "memory.max", "9223372036854771712\n", int64(math.MaxInt64)},
		{"unlimited in old kernels", "memory.max", "18446744073709551615\n", int64(math.MaxInt64)},
		{"less than nothing", "memory.max", "-1\n", nil},
		{"one core", "cpuset.cpus", "7", 1},
		{"ranges", "cpuset.cpus", "0-3,8,10-11", 7},
		{"a range backwards", "cpuset.cpus", "3-0", nil},
		{"a huge range", "cpuset.cpus", "0-4294967295", nil},
		{"an open range", "cpuset.cpus", "0-", nil},
		{"no periods", "cpu.stat", "usage_usec 1\n", nil},
		{"KAT38 counters", "cpu.stat", "nr_periods 300\nnr_throttled 45\nthrottled_usec 2\n", cgroup.Throttling{Periods: 300, Throttled: 45, Time: 2 * time.Microsecond}},
		{"a bad counter", "cpu.stat", "nr_periods x\n", nil},
		{"a line we do not know", "cpu.stat", "nr_periods 1\nfuture x y\n", cgroup.Throttling{Periods: 1}},
		{"a mount without its type", "mountinfo", "1 2 3 / / rw\n", nil},
		{"a member without a path", "cgroup", "1:cpu:\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := cgroup.ParseText(c.kind, c.text)
			if c.want == nil {
				if word := strings.Fields(c.text)[0]; err == nil || c.kind != "cpu.stat" && !strings.Contains(err.Error(), word) {
					t.Errorf("got %v, %v, want an error that quotes the text", got, err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, %v, want %v", got, err, c.want)
			}
		})
	}
}

// TestLive only says that whatever is here can be read.
func TestLive(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	g, err := cgroup.Self("")
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("no control groups here")
	}
	if err != nil {
		t.Fatal(err)
	}
	if quota, ok := g.CPUQuota(); ok && quota <= 0 {
		t.Errorf("quota: got %v, want above 0", quota)
	}
	if list, n, ok := g.CPUs(); ok && n < 1 {
		t.Errorf("cores: got %d of %q, want at least 1", n, list)
	}
	t.Logf("%+v", ask(g))
}

func FuzzParse(f *testing.F) {
	kinds := []string{"cgroup", "mountinfo", "cpu.max", "memory.max", "cpuset.cpus", "cpu.stat"}
	for i, text := range []string{"0::/a\n1:cpu,cpuacct:/b:c\n", `1 2 0:3 / /a\040b rw - cgroup2 none rw` + "\n", "max 100000", "4096", "0-3,8", "nr_periods 3\nthrottled_usec 4\n"} {
		f.Add(uint8(i), text)
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		kind := kinds[int(which)%len(kinds)]
		got, err := cgroup.ParseText(kind, text)
		if err != nil {
			return
		}
		switch v := got.(type) {
		case float64:
			if !(v > 0) {
				t.Errorf("%s %q: got %v, want above 0", kind, text, v)
			}
		case int:
			if v < 1 {
				t.Errorf("%s %q: got %d, want at least 1", kind, text, v)
			}
		case cgroup.Throttling:
			if v.Periods < 0 || v.Throttled < 0 || v.Time < 0 {
				t.Errorf("%s %q: got %+v, want nothing below 0", kind, text, v)
			}
		}
	})
}
