package monitor_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prony/internal/monitor"
	"prony/internal/result"
)

func nothing() {}

// TestWatchHost changes a host's counters by known amounts.
func TestWatchHost(t *testing.T) {
	w := newWorld(t)
	unknown := math.NaN()
	all := w.watch(monitor.Request{Host: "lab"}, nothing, func() {
		w.write(map[string]string{
			"proc/stat":        "cpu 150 0 120 1100 0 0 20 10\ncpu0 100 0 50 500 0 0 0 0\ncpu1 50 0 70 600 0 0 20 10\nctxt 3000\nprocs_running 4\n",
			"proc/net/snmp":    "Tcp: OutSegs RetransSegs ActiveOpens PassiveOpens CurrEstab\nTcp: 1500 15 5 106 9\n",
			"proc/net/netstat": "TcpExt: ListenOverflows ListenDrops TCPTimeouts\nTcpExt: 37 40 0\n",
			"proc/net/dev":     "Inter-| Receive\n face |bytes\n  lo: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n eth0: 6000 60 1 2 0 0 0 0 2000 20 0 0 0 0 0 0\n",
			"proc/diskstats":   " 254 0 vda 10 0 80 5 10 0 80 5 0 1500 4000\n",
		})
	}, nothing)
	host := find(t, all, result.OfHost, "lab")
	figures(t, host, map[result.Metric][]float64{
		// In the second sample no tick has passed: there is no share to tell.
		result.HostBusy: {0.45, unknown}, result.HostSteal: {0.05, unknown}, result.HostSoftIRQ: {0.1, unknown}, result.HostUser: {0.25, unknown},
		result.CoreBusyMax: {1, unknown}, result.CoresFull: {1, unknown}, result.CoreSoftIRQMax: {20.0 / 150, unknown},
		result.RunQueue: {4, 4}, result.ContextSwitches: {2000, 0}, result.ListenOverflows: {37, 0},
		result.ListenDrops: {40, 0}, result.TCPTimeouts: {0, 0}, result.SynCookies: nil, result.Established: {9, 9},
		result.DiskBusyMax: {0.5, 0}, result.DiskQueueMax: {2, 0}, result.MemoryAvailable: {900 << 10, 900 << 10},
		monitor.SwapUsed: {60 << 10, 60 << 10}, result.PSICPUSome: nil, result.ConntrackUsed: nil,
	})
	totals(t, host, map[result.Metric]float64{result.ListenOverflows: 37, result.ListenDrops: 40, result.OutSegments: 500, result.PassiveOpens: 100})
	link := find(t, all, result.OfInterface, "eth0")
	figures(t, link, map[result.Metric][]float64{
		result.BytesIn: {5000, 0}, result.PacketsIn: {50, 0}, result.LinkErrors: {1, 0}, result.LinkDrops: {2, 0}, result.LinkSpeed: {1e9, 1e9},
	})
	for _, o := range all {
		if o.Kind == result.OfInterface && o.Name == "lo" {
			t.Error("an interface that is down was watched")
		}
		if o.Host != "lab" {
			t.Errorf("%s %s: got host %q, want lab", o.Kind, o.Name, o.Host)
		}
	}
}

// groupFiles are the files of a control group that has run for some time.
func groupFiles(version int, usageUS, periods, throttled, events int64) map[string]string {
	n := func(x int64) string { return itoa(x) + "\n" }
	if version == 1 {
		return map[string]string{
			"sys/fs/cgroup/cpuacct/app/cpuacct.usage": n(usageUS * 1000), "sys/fs/cgroup/cpu/app/cpu.cfs_quota_us": "150000\n",
			"sys/fs/cgroup/cpu/app/cpu.cfs_period_us": "100000\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
			"sys/fs/cgroup/cpu/app/cpu.stat":                 "nr_periods " + n(periods) + "nr_throttled " + n(throttled) + "throttled_time " + n(throttled*1e7),
			"sys/fs/cgroup/memory/app/memory.usage_in_bytes": "5000\n", "sys/fs/cgroup/memory/app/memory.stat": "total_inactive_file 1000\ntotal_cache 3000\n",
			"sys/fs/cgroup/memory/app/memory.failcnt": n(events), "sys/fs/cgroup/memory/app/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill " + n(events),
			"sys/fs/cgroup/memory/app/memory.limit_in_bytes": "1048576\n", "sys/fs/cgroup/cpu/app/cgroup.procs": "20\n",
			"proc/self/mountinfo": "31 23 0:28 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n32 23 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" +
				"33 23 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n34 23 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
		}
	}
	return map[string]string{
		"sys/fs/cgroup/app/cpu.stat": "usage_usec " + n(usageUS) + "user_usec " + n(usageUS/2) + "system_usec " + n(usageUS/2) +
			"nr_periods " + n(periods) + "nr_throttled " + n(throttled) + "throttled_usec " + n(throttled*1e4),
		"sys/fs/cgroup/app/cpu.max": "150000 100000\n", "sys/fs/cgroup/app/memory.current": "5000\n",
		"sys/fs/cgroup/app/memory.stat": "anon 1\ninactive_file 1000\nfile 3000\n", "sys/fs/cgroup/app/memory.max": "1048576\n",
		"sys/fs/cgroup/app/memory.events": "low 0\nhigh " + n(events) + "max 0\noom 0\noom_kill " + n(events),
		"sys/fs/cgroup/app/cpu.pressure":  "some avg10=0 total=" + n(throttled*1e4), "sys/fs/cgroup/app/cgroup.procs": "20\n",
	}
}

func itoa(x int64) string { return strings.TrimSpace(string(appendInt(nil, x))) }

func appendInt(b []byte, x int64) []byte {
	if x >= 10 {
		b = appendInt(b, x/10)
	}
	return append(b, byte('0'+x%10))
}

// TestWatchService changes what a process tree, its threads and its control
// group have done, in both versions of groups.
func TestWatchService(t *testing.T) {
	for _, c := range []struct {
		name, group string
		version     int
	}{
		{"version 2", "0::/app\n", 2},
		{"version 1", "3:cpu:/app\n2:cpuacct:/app\n1:memory:/app\n0::/\n", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			request := monitor.Request{Services: []monitor.Target{{Name: "api", Instance: 2, Cgroup: "app"}}}
			request.Services[0].PIDs = []int{20}
			all := w.watch(request, func() { before(w, c.group, c.version) }, func() { after(w, c.group, c.version) })
			api := find(t, all, result.OfService, "api")
			figures(t, api, map[result.Metric][]float64{
				result.CPUCores: {0.9}, result.ThreadMax: {0.5}, result.RunDelay: {0.25}, result.SleepD: {1},
				result.Voluntary: {30}, result.Involuntary: {3}, result.ServiceFault: {4}, result.Threads: {3}, result.Processes: {1},
				result.ResidentSet: {1 << 20}, result.Files: {2}, result.FilesMost: {100}, result.Throttled: {0.15},
				result.ThrottledFor: {0.15}, result.MemoryUsed: {4000}, result.MemoryCache: {3000}, result.MemoryEvents: {2}, result.OOMKills: {2},
			})
			totals(t, api, map[result.Metric]float64{result.CPUCores: 0.9, result.OOMKills: 2, result.ThrottledN: 15, result.Periods: 100})
			if api.Facts["cpu_quota_cores"] != "1.5" || api.Facts["memory_limit_bytes"] != "1048576" || api.Instance != 2 || api.Service != "api" {
				t.Errorf("got %+v", api)
			}
			figures(t, find(t, all, result.OfThread, "exec-*"), map[result.Metric][]float64{
				result.CPUCores: {0.7}, result.CPUUser: {0.5}, result.CPUSystem: {0.2}, result.ThreadMax: {0.5}, result.Threads: {2}, result.RunDelay: {0.25},
			})
			figures(t, find(t, all, result.OfThread, "main"), map[result.Metric][]float64{result.CPUCores: {0}, result.Threads: {1}, result.SleepD: {1}})
		})
	}
}

// before and after are a service with a main thread that is blocked, and two
// workers.
func before(w *world, group string, version int) {
	w.process(thread{id: 20, parent: 1, name: "main", user: 100, system: 50, started: 1, faults: 1}, group,
		thread{id: 20, name: "main", state: "D", run: 5e8, switches: 5, started: 1},
		thread{id: 21, name: "exec-1", user: 10, run: 1e8, wait: 1e8, switches: 10, started: 1},
		thread{id: 22, name: "exec-2", user: 10, run: 1e8, switches: 10, started: 1})
	w.write(groupFiles(version, 1_000_000, 1000, 100, 1))
}

func after(w *world, group string, version int) {
	w.process(thread{id: 20, parent: 1, name: "main", user: 160, system: 70, started: 1, faults: 5}, group,
		thread{id: 20, name: "main", state: "D", run: 5e8, switches: 5, started: 1},
		thread{id: 21, name: "exec-1", user: 40, system: 20, run: 6e8, wait: 3e8, switches: 30, more: 3, started: 1},
		thread{id: 22, name: "exec-2", user: 30, run: 3e8, wait: 5e7, switches: 20, started: 1})
	w.write(groupFiles(version, 1_900_000, 1100, 115, 3))
}

// TestWatchTree: children count from their start, one that ends in between is
// no error, and a process that only has the number of one of ours is not ours.
func TestWatchTree(t *testing.T) {
	w := newWorld(t)
	alone := func(pid, parent, user, started int) {
		one := thread{id: pid, parent: parent, name: "work", user: user, run: int64(user) * 1e7, started: started}
		w.process(one, "0::/\n", one)
	}
	all := w.watch(monitor.Request{Services: []monitor.Target{{Name: "s", PIDs: []int{20}}}},
		func() { alone(20, 1, 100, 1); alone(30, 1, 500, 1) },
		func() { // a child is born, and has worked for 0.3 s; a stranger works, too
			alone(20, 1, 110, 1)
			alone(21, 20, 30, 100050)
			alone(30, 1, 600, 1)
			w.write(map[string]string{"proc/loadavg": "0.50 0.40 0.30 1/100 501\n", "proc/uptime": "1001.00 2000.00\n"})
		},
		func() { // it ends, and so fast a grandchild that nobody saw whose it was is lost
			w.end(21)
			alone(22, 1, 20, 100150)
			alone(30, 1, 700, 1)
			w.write(map[string]string{"proc/loadavg": "0.50 0.40 0.30 1/100 502\n", "proc/uptime": "1002.00 2000.00\n"})
		},
		func() { // the root has ended, and another process got its number
			alone(20, 1, 900, 100250)
			w.write(map[string]string{"proc/loadavg": "0.50 0.40 0.30 1/100 503\n", "proc/uptime": "1003.00 2000.00\n"})
		})
	s := find(t, all, result.OfService, "s")
	figures(t, s, map[result.Metric][]float64{
		result.CPUCores:  {0.4, 0, math.NaN()},
		result.Processes: {2, 1, 0},
	})
	if len(s.Unknown) != 0 {
		t.Errorf("got unknown %v, want none", s.Unknown)
	}
}

// TestWatchRestart: a container that starts again has new processes, which are
// found by its id.
func TestWatchRestart(t *testing.T) {
	const id = "0123456789abcdef"
	group := "0::/docker/" + id + "\n"
	w := newWorld(t)
	one := func(pid, user, started int) {
		p := thread{id: pid, parent: 1, name: "java", user: user, run: int64(user) * 1e7, started: started}
		w.process(p, group, p)
		w.write(map[string]string{"sys/fs/cgroup/docker/" + id + "/cgroup.procs": itoa(int64(pid)) + "\n"})
	}
	all := w.watch(monitor.Request{Services: []monitor.Target{{Name: "s", Container: id}}},
		func() { one(40, 1000, 1) },
		func() { one(40, 1050, 1) },
		func() {
			w.end(40)
			one(41, 20, 100150)
			w.write(map[string]string{"proc/loadavg": "0.50 0.40 0.30 1/100 502\n", "proc/uptime": "1002.00 2000.00\n"})
		},
		func() {
			one(41, 120, 100150)
			w.write(map[string]string{"proc/uptime": "1003.00 2000.00\n"})
		})
	s := find(t, all, result.OfService, "s")
	figures(t, s, map[result.Metric][]float64{result.Processes: {1, 1, 1}})
	if got := s.Series[result.CPUCores]; len(got) != 3 || math.Abs(got[0]-0.5) > 1e-6 || math.Abs(got[2]-1) > 1e-6 {
		t.Errorf("cores: got %v, want 0.5, anything, 1", got)
	}
	if s.Facts["pid"] != "41" {
		t.Errorf("got facts %v, want the new process", s.Facts)
	}
}

// TestWatchOldKernel: without schedstat the ticks of the threads count, and
// what the kernel does not have is missing, not zero.
func TestWatchOldKernel(t *testing.T) {
	w := newWorld(t)
	work := func(user int) func() {
		return func() {
			p := thread{id: 20, parent: 1, name: "old", user: user, started: 1, switches: user}
			w.process(p, "0::/\n", p)
			w.write(map[string]string{
				"proc/20/status": "Name:\tx\nVmRSS:\t1024 kB\n", "proc/20/limits": "",
				"proc/stat": "cpu 100 0 " + itoa(int64(user)) + " 1000\n",
			})
			if err := os.Remove(filepath.Join(w.root, "proc/20/task/20/schedstat")); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, name := range []string{"proc/self/cgroup", "proc/self/mountinfo", "proc/diskstats", "proc/net/netstat"} {
		if err := os.Remove(filepath.Join(w.root, name)); err != nil {
			t.Fatal(err)
		}
	}
	all := w.watch(monitor.Request{Services: []monitor.Target{{Name: "s", PIDs: []int{20}}}}, work(10), work(70), work(90))
	figures(t, find(t, all, result.OfService, "s"), map[result.Metric][]float64{
		result.CPUCores: {0.6, 0.2}, result.ThreadMax: {0.6, 0.2}, result.RunDelay: nil, result.Files: nil, result.Throttled: nil,
		result.Voluntary: {60, 20}, result.MemoryUsed: nil, result.OOMKills: nil,
	})
	figures(t, find(t, all, result.OfThread, "old"), map[result.Metric][]float64{result.CPUCores: {0.6, 0.2}, result.RunDelay: nil})
	figures(t, find(t, all, result.OfHost, ""), map[result.Metric][]float64{
		result.HostBusy: nil, result.ListenOverflows: nil, result.DiskBusyMax: nil, result.RetransSegments: {0, 0},
	})
}

func TestRequestIsChecked(t *testing.T) {
	linux(t)
	for _, c := range []struct {
		name    string
		request monitor.Request
		want    string
	}{
		{"too often", monitor.Request{Every: time.Millisecond}, "apart"},
		{"no name", monitor.Request{Services: []monitor.Target{{}}}, "without a name"},
		{"a strange word", monitor.Request{Services: []monitor.Target{{Name: "x", JVM: "perhaps"}}}, "jvm"},
		{"dumps too often", monitor.Request{Services: []monitor.Target{{Name: "x", ThreadDumps: time.Millisecond}}}, "dumps"},
		{"too many", monitor.Request{Services: make([]monitor.Target, 1001)}, "at most"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := monitor.Watch(t.Context(), c.request); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}
