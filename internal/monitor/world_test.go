package monitor_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"prony/internal/monitor"
	"prony/internal/result"
)

// world is a machine made of files.
type world struct {
	t    *testing.T
	root string
}

// newWorld is a host with two cores on which nothing runs.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t, t.TempDir()}
	w.write(map[string]string{
		"proc/version":             "Linux version 6.1.0 (builder) #1",
		"proc/uptime":              "1000.00 2000.00\n",
		"proc/loadavg":             "0.50 0.40 0.30 1/100 500\n",
		"proc/self/cgroup":         "0::/\n",
		"proc/self/mountinfo":      "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
		"proc/stat":                "cpu 100 0 100 1000 0 0 0 0\ncpu0 50 0 50 500 0 0 0 0\ncpu1 50 0 50 500 0 0 0 0\nctxt 1000\nprocs_running 1\n",
		"proc/meminfo":             "MemTotal: 1000 kB\nMemAvailable: 900 kB\nSwapTotal: 100 kB\nSwapFree: 40 kB\n",
		"proc/net/snmp":            "Tcp: OutSegs RetransSegs ActiveOpens PassiveOpens CurrEstab\nTcp: 1000 10 5 6 7\n",
		"proc/net/netstat":         "TcpExt: ListenOverflows ListenDrops TCPTimeouts\nTcpExt: 0 0 0\n",
		"proc/net/dev":             "Inter-| Receive\n face |bytes\n  lo: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n eth0: 1000 10 0 0 0 0 0 0 2000 20 0 0 0 0 0 0\n",
		"proc/diskstats":           " 254 0 vda 10 0 80 5 10 0 80 5 0 1000 2000\n",
		"sys/class/net/eth0/flags": "0x1003\n", "sys/class/net/eth0/speed": "1000\n", "sys/class/net/eth0/mtu": "1500\n",
		"sys/class/net/lo/flags": "0x8\n",
	})
	return w
}

// write writes files by their names below the root.
func (w *world) write(files map[string]string) {
	w.t.Helper()
	for name, text := range files {
		path := filepath.Join(w.root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

// thread is what a thread has done so far.
type thread struct {
	id, parent     int
	name           string
	state          string
	user, system   int   // ticks
	run, wait      int64 // ns
	switches, more int
	started        int // ticks after boot
	faults         int
}

// stat is the text of its file stat.
func (p thread) stat(threads int) string {
	if p.state == "" {
		p.state = "S"
	}
	return fmt.Sprintf("%d (%s) %s %d 1 1 0 -1 0 0 0 %d 0 %d %d 0 0 20 0 %d 0 %d 4096000 256 0\n",
		p.id, p.name, p.state, p.parent, p.faults, p.user, p.system, threads, p.started)
}

func (p thread) status() string {
	return fmt.Sprintf("Name:\tx\nUid:\t0\t0\t0\t0\nNSpid:\t%d\nVmRSS:\t1024 kB\nCpus_allowed_list:\t0-1\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n",
		p.id, p.switches, p.more)
}

// process writes a process with its threads; the first is the process.
func (w *world) process(p thread, group string, threads ...thread) {
	w.t.Helper()
	dir := fmt.Sprintf("proc/%d/", p.id)
	files := map[string]string{
		dir + "stat": p.stat(len(threads)), dir + "status": p.status(), dir + "cgroup": group, dir + "comm": p.name + "\n",
		dir + "limits": "Max open files 100 200 files\n", dir + "fd/0": "", dir + "fd/1": "",
	}
	for _, one := range threads {
		task := fmt.Sprintf("%stask/%d/", dir, one.id)
		files[task+"stat"], files[task+"status"] = one.stat(len(threads)), one.status()
		files[task+"schedstat"] = fmt.Sprintf("%d %d %d\n", one.run, one.wait, one.switches+one.more)
	}
	w.write(files)
}

// end takes a process away. A kernel answers readers of an open file with an
// error; here the file is empty.
func (w *world) end(pid int) {
	w.t.Helper()
	w.write(map[string]string{fmt.Sprintf("proc/%d/stat", pid): ""})
	if err := os.RemoveAll(filepath.Join(w.root, fmt.Sprintf("proc/%d", pid))); err != nil {
		w.t.Fatal(err)
	}
}

// watch runs the steps a second apart, watching, and cuts out the window that
// begins with the watch. The first step happens before it begins.
func (w *world) watch(r monitor.Request, steps ...func()) []result.Observed {
	w.t.Helper()
	linux(w.t)
	var all []result.Observed
	synctest.Test(w.t, func(t *testing.T) {
		steps[0]()
		r.Root = w.root
		start := time.Now()
		watcher, err := monitor.Watch(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range steps[1:] {
			time.Sleep(500 * time.Millisecond) //house:sleep the clock of the bubble
			step()
			time.Sleep(500 * time.Millisecond) //house:sleep the clock of the bubble
			synctest.Wait()
		}
		all = watcher.Stop().Cut(start, 0, time.Duration(len(steps)-1)*time.Second)
	})
	return all
}

// find is the thing of a kind and name.
func find(t *testing.T, all []result.Observed, kind, name string) result.Observed {
	t.Helper()
	var have []string
	for _, o := range all {
		if o.Kind == kind && o.Name == name {
			return o
		}
		have = append(have, o.Kind+" "+o.Name)
	}
	t.Fatalf("no %s %q, but %s", kind, name, strings.Join(have, ", "))
	return result.Observed{}
}

// figures holds series against what is wanted; a missing one is wanted as nil.
func figures(t *testing.T, o result.Observed, want map[result.Metric][]float64) {
	t.Helper()
	for metric, values := range want {
		got := o.Series[metric]
		same := len(got) == len(values)
		for i := range values {
			same = same && (math.Abs(got[i]-values[i]) <= 1e-4*math.Max(1, math.Abs(values[i])) || math.IsNaN(got[i]) && math.IsNaN(values[i]))
		}
		if !same {
			t.Errorf("%s %s, %s: got %v, want %v", o.Kind, o.Name, metric, got, values)
		}
	}
}

// totals holds what was counted against what is wanted.
func totals(t *testing.T, o result.Observed, want map[result.Metric]float64) {
	t.Helper()
	got := maps.Clone(o.Totals)
	maps.DeleteFunc(got, func(m result.Metric, _ float64) bool { _, ok := want[m]; return !ok })
	if !maps.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-6*math.Max(1, math.Abs(b)) }) {
		t.Errorf("%s %s: got totals %v, want %v", o.Kind, o.Name, got, want)
	}
}
