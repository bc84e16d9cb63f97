package docker_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/system"

	"prony/internal/driver/docker"
	"prony/internal/plan"
)

func TestResources(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits plan.Limits
	}{
		{"none", plan.Limits{}},
		{"all", plan.Limits{CPUs: 0.2, Memory: 200 << 20, Cores: []int{0, 1, 3}, PIDs: 50}},
		{"a third of a core", plan.Limits{CPUs: 0.333}},
	} {
		r := docker.Resources(c.limits)
		if got := docker.LimitsOf(r); !reflect.DeepEqual(got, c.limits) {
			t.Errorf("%s: got %+v back, want %+v", c.name, got, c.limits)
		}
		if r.MemorySwap != r.Memory {
			t.Errorf("%s: got %d bytes with swap, want those of memory, %d", c.name, r.MemorySwap, r.Memory)
		}
	}
	if got := docker.LimitsOf(container.Resources{CPUQuota: 50000, CPUPeriod: 100000}); got.CPUs != 0.5 {
		t.Errorf("a quota: got %v", got)
	}
}

func TestHeld(t *testing.T) {
	all := plan.Limits{CPUs: 1, Memory: 1, PIDs: 1, Cores: []int{0}}
	if err := docker.Held(system.Info{CPUCfsPeriod: true, CPUCfsQuota: true, CPUSet: true, MemoryLimit: true, PidsLimit: true}, all); err != nil {
		t.Error(err)
	}
	err := docker.Held(system.Info{CPUCfsQuota: true, CPUCfsPeriod: true, MemoryLimit: true}, all)
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "cannot limit [cpuset pids] here") || !strings.Contains(err.Error(), "advisory") {
		t.Errorf("got %v", err)
	}
}

func TestLocal(t *testing.T) {
	for host, good := range map[string]bool{
		"unix:///run/docker.sock": true, "tcp://127.0.0.1:2375": true, "tcp://localhost:2375": true, "tcp://[::1]:2375": true, "npipe:////./pipe/docker_engine": true,
		"tcp://10.0.0.1:2375": false, "ssh://user@host": false, "": false, "://": false,
	} {
		if err := docker.Local(host); (err == nil) != good {
			t.Errorf("%q: got %v, want good = %t", host, err, good)
		}
	}
}

func TestInsidePort(t *testing.T) {
	for _, c := range []struct {
		name    string
		want    int
		exposed []string
		port    int
		bad     bool
	}{
		{"said", 8080, []string{"80/tcp", "81/tcp"}, 8080, false},
		{"the only one", 0, []string{"80/tcp", "53/udp"}, 80, false},
		{"none", 0, nil, 0, false},
		{"several", 0, []string{"443/tcp", "80/tcp"}, 0, true},
	} {
		if got, err := docker.InsidePort(c.want, c.exposed); got != c.port || (err != nil) != c.bad {
			t.Errorf("%s: got %d, %v", c.name, got, err)
		}
	}
}

// place writes files below a root.
func place(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGroup(t *testing.T) {
	want := plan.Limits{CPUs: 0.2, Memory: 64 << 20, Cores: []int{0, 1}, PIDs: 50}
	for name, files := range map[string]map[string]string{
		"version 1": {
			"proc/7/cgroup": "5:pids:/docker/ID\n4:memory:/docker/ID\n3:cpuset:/docker/ID\n2:cpu,cpuacct:/docker/ID\n0::/\n",
			"proc/self/mountinfo": "30 1 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n31 1 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
				"32 1 0:32 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n33 1 0:33 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n34 1 0:34 / / rw - ext4 /dev/a rw\n",
			"sys/fs/cgroup/cpu/docker/ID/cpu.cfs_quota_us":         "20000\n",
			"sys/fs/cgroup/cpu/docker/ID/cpu.cfs_period_us":        "100000\n",
			"sys/fs/cgroup/memory/docker/ID/memory.limit_in_bytes": "67108864\n",
			"sys/fs/cgroup/memory/docker/ID/memory.oom_control":    "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
			"sys/fs/cgroup/cpuset/docker/ID/cpuset.cpus":           "0-1\n",
			"sys/fs/cgroup/pids/docker/ID/pids.max":                "50\n",
		},
		"version 2": {
			"proc/7/cgroup":                         "0::/docker/ID\n",
			"proc/self/mountinfo":                   "30 1 0:30 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n",
			"sys/fs/cgroup/docker/ID/cpu.max":       "20000 100000\n",
			"sys/fs/cgroup/docker/ID/memory.max":    "67108864\n",
			"sys/fs/cgroup/docker/ID/memory.events": "low 0\nhigh 0\nmax 9\noom 4\noom_kill 3\n",
			"sys/fs/cgroup/docker/ID/cpuset.cpus":   "0-1\n",
			"sys/fs/cgroup/docker/ID/pids.max":      "50\n",
		},
	} {
		root := t.TempDir()
		place(t, root, files)
		where, got, kills, err := docker.GroupLimits(root, 7)
		if err != nil || where != "docker/ID" || kills != 3 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, %+v, %d kills, %v, want %+v", name, where, got, kills, err, want)
		}
	}
}

func TestGroupUnlimited(t *testing.T) {
	root := t.TempDir()
	place(t, root, map[string]string{
		"proc/7/cgroup":       "0::/system.slice/docker-ID.scope\n",
		"proc/self/mountinfo": "30 1 0:30 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"sys/fs/cgroup/system.slice/docker-ID.scope/cpu.max":       "max 100000\n",
		"sys/fs/cgroup/system.slice/docker-ID.scope/memory.max":    "max\n",
		"sys/fs/cgroup/system.slice/docker-ID.scope/memory.events": "oom_kill 0\n",
		"sys/fs/cgroup/system.slice/docker-ID.scope/cpuset.cpus":   "\n",
		"sys/fs/cgroup/system.slice/docker-ID.scope/pids.max":      "max\n",
	})
	if name, got, _, err := docker.GroupLimits(root, 7); err != nil || name != "system.slice/docker-ID.scope" || !reflect.DeepEqual(got, plan.Limits{}) {
		t.Errorf("got %q, %+v, %v, want no limits", name, got, err)
	}
	for name, text := range map[string]string{"outside": "0::/../other\n", "the top": "0::/\n", "nothing": "", "garbage": "a:b\n\n::\n"} {
		place(t, root, map[string]string{"proc/7/cgroup": text})
		if _, _, _, err := docker.GroupLimits(root, 7); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func TestParseLibraries(t *testing.T) {
	text := "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)\n\t/lib64/ld-linux-x86-64.so.2 (0x00007f)\n"
	got, err := docker.ParseLibraries(text)
	if want := []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if got, err := docker.ParseLibraries("\tstatically linked\n"); err != nil || len(got) != 0 {
		t.Errorf("static: got %v, %v", got, err)
	}
	got, err = docker.ParseLibraries("\tlibx.so => not found\n\t/lib/ld.so (0x1)\n")
	if err == nil || !strings.Contains(err.Error(), "libx.so: a shared library is missing") || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestNamed(t *testing.T) {
	dir := t.TempDir()
	place(t, dir, map[string]string{"a.so": "", "b/c": ""})
	a, b := filepath.Join(dir, "a.so"), filepath.Join(dir, "b")
	for _, c := range []struct {
		name, text string
		folders    bool
		want       []string
	}{
		{"a word", a, false, []string{a}},
		{"an option", "--x=" + a, false, []string{a}},
		{"a list", a + ":" + b + ":/no/such", true, []string{a, b}},
		{"a setting", `load_module "` + a + `";`, false, []string{a}},
		{"no folders", b, false, nil},
		{"too much", "/ /etc /usr", true, nil},
		{"of the engine", "/etc/hosts /proc/self/stat /dev/null", true, nil},
		{"in work", docker.Work + "/x", true, nil},
		{"part of a word", "x" + a, false, nil},
	} {
		if got := docker.Named(c.text, "", c.folders); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	if got := docker.Named(a+" "+b, dir, true); len(got) != 0 {
		t.Errorf("below what is shared: got %v", got)
	}
}

func TestLoaded(t *testing.T) {
	found, err := filepath.Glob("/lib/*-linux-gnu/libc.so.6")
	if err != nil || len(found) == 0 {
		t.Skip("no libc where Debian has it")
	}
	if got := docker.Loaded(`ffi.load "libc.so.6"; ffi.load("libno-such.so.1"); xlibc.so.6`); !slices.Equal(got, found[:1]) {
		t.Errorf("got %v, want %v", got, found[:1])
	}
}

func TestProgress(t *testing.T) {
	for text, want := range map[string]string{`{"status":"sha256:1"}`: "", `{"status":"x"}{"error":"no space left"}`: "no space left", `{`: "read the engine's progress: unexpected EOF"} {
		got := ""
		if err := docker.Progress(strings.NewReader(text)); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func FuzzOutputs(f *testing.F) {
	f.Add("libc.so.6 => /lib/libc.so.6 (0x7f)\n", `{"error":"x"}`, "--conf=/etc/hostname")
	f.Fuzz(func(t *testing.T, listing, progress, words string) {
		if libraries, err := docker.ParseLibraries(listing); err == nil && slices.ContainsFunc(libraries, func(l string) bool { return !strings.HasPrefix(l, "/") }) {
			t.Errorf("got %v", libraries)
		}
		_ = docker.Progress(strings.NewReader(progress))
		for _, name := range docker.Named(words, "", true) {
			if !filepath.IsAbs(name) {
				t.Errorf("got %q", name)
			}
		}
	})
}
