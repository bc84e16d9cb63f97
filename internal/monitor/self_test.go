package monitor_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"prony/internal/monitor"
)

// machine is a tree of files that stands for a host, whose counters the test
// moves.
type machine struct {
	t    *testing.T
	root string

	busy, softIRQ, idle, steal [2]int64 // ticks of each core
	threads                    [2]int64 // ns on a core
	inUse, timeWait            int64
	periods, throttled         int64
	pressureUS                 int64
}

func newMachine(t *testing.T) *machine {
	m := &machine{t: t, root: t.TempDir()}
	m.write("proc/self/status", "VmHWM:\t  2048 kB\n")
	m.write("proc/self/limits", "Max open files            1000                2000                files\n")
	for i := range 3 {
		m.write(fmt.Sprintf("proc/self/fd/%d", i), "")
	}
	m.write("proc/net/sockstat6", "TCP6: inuse 4\n")
	m.write("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n")
	m.write("proc/sys/net/core/somaxconn", "4096\n")
	m.write("proc/version", "Linux version 6.18.44 (builder@host) #1 SMP\n")
	m.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: A CPU\n")
	m.write("proc/meminfo", "MemTotal: 1024 kB\n")
	m.write("proc/self/cgroup", "0::/\n")
	m.write("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
	m.write("sys/fs/cgroup/cpu.max", "50000 100000\n")
	m.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n")
	m.tick()
	return m
}

func (m *machine) write(name, text string) {
	m.t.Helper()
	path := filepath.Join(m.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// tick writes the counters.
func (m *machine) tick() {
	m.t.Helper()
	var stat strings.Builder
	fmt.Fprintf(&stat, "cpu %d 0 0 %d 0 0 %d %d 0 0\n", m.busy[0]+m.busy[1], m.idle[0]+m.idle[1], m.softIRQ[0]+m.softIRQ[1], m.steal[0]+m.steal[1])
	for i := range 2 {
		fmt.Fprintf(&stat, "cpu%d %d 0 0 %d 0 0 %d %d 0 0\n", i, m.busy[i], m.idle[i], m.softIRQ[i], m.steal[i])
		m.write(fmt.Sprintf("proc/self/task/%d/schedstat", 11+i), fmt.Sprintf("%d 0 1\n", 1000+m.threads[i]))
	}
	m.write("proc/stat", stat.String())
	m.write("proc/net/sockstat", fmt.Sprintf("TCP: inuse %d orphan 0 tw %d alloc 1 mem 0\n", m.inUse, m.timeWait))
	m.write("proc/pressure/cpu", fmt.Sprintf("some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\n", m.pressureUS))
	m.write("sys/fs/cgroup/cpu.stat", fmt.Sprintf("usage_usec 1\nnr_periods %d\nnr_throttled %d\nthrottled_usec 0\n", m.periods, m.throttled))
}

// second moves the counters by what one second does: core 0 is busy so many
// percent, a fifth of it in soft interrupts; core 1 is stolen for 10 % and idle
// for the rest; the second thread runs as much as core 0, the first half.
func (m *machine) second(busy int64) {
	m.t.Helper()
	m.softIRQ[0] += busy / 5
	m.busy[0] += busy - busy/5
	m.idle[0] += 100 - busy
	m.steal[1] += 10
	m.idle[1] += 90
	m.threads[0] += busy * 5e6
	m.threads[1] += busy * 10e6
	m.inUse, m.timeWait = busy, 2*busy
	m.periods += 100
	m.throttled += busy / 4
	m.pressureUS += busy * 1000
	m.tick()
}

// watch runs a watch over seconds of a machine; the counters of second i move
// in its middle. It returns the watch after its end, and when it began.
func watch(t *testing.T, m *machine, seconds []int64, announce func(w *monitor.SelfWatch, began time.Time)) (*monitor.SelfWatch, time.Time) {
	t.Helper()
	began := time.Now()
	w := monitor.StartSelf(t.Context(), monitor.Self{Root: filepath.Join(m.root, "proc")})
	w.Threads([]int{11, 12, 99})
	announce(w, began)
	for _, busy := range seconds {
		time.Sleep(500 * time.Millisecond) //house:sleep the clock of the bubble
		m.second(busy)
		time.Sleep(500 * time.Millisecond) //house:sleep the clock of the bubble
	}
	synctest.Wait()
	w.Stop()
	w.Stop()
	return w, began
}

func none(*monitor.SelfWatch, time.Time) {}

func near(t *testing.T, name string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

func nearSeries(t *testing.T, name string, got []float64, want ...float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %v, want %v", name, got, want)
		return
	}
	for i := range got {
		near(t, fmt.Sprintf("%s[%d]", name, i), got[i], want[i])
	}
}

func linux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux: readers keep descriptors of files that change")
	}
}

func TestWindow(t *testing.T) {
	linux(t)
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		w, began := watch(t, m, []int64{100, 100, 20, 40, 60, 100}, none)
		g := w.Result(began.Add(2*time.Second), 3*time.Second)

		nearSeries(t, "core series", g.CoreSeries, 0.2, 0.4, 0.6)
		nearSeries(t, "thread series", g.ThreadSeries, 0.2, 0.4, 0.6)
		near(t, "peak thread", g.PeakThreadBusy, 0.6)
		near(t, "soft interrupts", g.SoftIRQ, 0.12)
		near(t, "host busy", g.HostBusy, 120.0/600)
		near(t, "steal", g.Steal, 30.0/600)
		near(t, "pressure", g.CPUPressure, 0.04)
		near(t, "throttled", g.Throttled, 30.0/300)
		near(t, "CPUs", g.CPUs, 0.5)
		if len(g.BusySeries) != 3 || g.PeakBusy != slices.Max(g.BusySeries) || g.CPUUS < 0 {
			t.Errorf("busy: got %v, peak %v, %v us", g.BusySeries, g.PeakBusy, g.CPUUS)
		}
		near(t, "mean busy", g.MeanBusy, g.CPUUS/1e6/3/0.5)
		// The sample at the window's start saw the second before it.
		if got, want := [2]int64{g.PortsUsed, g.Ports}, [2]int64{304, 28232}; got != want {
			t.Errorf("ports: got %v, want %v", got, want)
		}
		if got, want := [3]int64{g.OpenFiles, g.FileLimit, g.MaxRSSBytes}, [3]int64{3, 1000, 2 << 20}; got != want {
			t.Errorf("open files, their limit, memory: got %v, want %v", got, want)
		}
		if g.ClockSource != "tsc" || g.HiccupP99US >= 1 || len(g.Unknown) > 0 {
			t.Errorf("got clock %q, hiccup %v us, unknown %v, want tsc, none, none", g.ClockSource, g.HiccupP99US, g.Unknown)
		}
		if again := w.Result(began.Add(2*time.Second), 3*time.Second); !reflect.DeepEqual(again, g) {
			t.Errorf("asked again: got %+v, want %+v", again, g)
		}
	})
}

// TestEdges: a window between the samples is interpolated, unless it was
// announced; then it is exact.
func TestEdges(t *testing.T) {
	linux(t)
	const from, length = 2250 * time.Millisecond, 2 * time.Second
	for _, c := range []struct {
		name     string
		announce func(w *monitor.SelfWatch, began time.Time)
		want     []float64
	}{
		{"interpolated", none, []float64{0.75*0.2 + 0.25*0.6, 0.75*0.6 + 0.25*1}},
		{"announced", func(w *monitor.SelfWatch, began time.Time) { w.Window(began.Add(from), began.Add(from+length)) }, []float64{0.2, 0.6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMachine(t)
				w, began := watch(t, m, []int64{0, 0, 20, 60, 100, 100}, c.announce)
				g := w.Result(began.Add(from), length)
				nearSeries(t, "thread series", g.ThreadSeries, c.want...)
			})
		})
	}
}

// TestKAT38Throttled: 45 of 300 periods are 15 %.
func TestKAT38Throttled(t *testing.T) {
	linux(t)
	synctest.Test(t, func(t *testing.T) {
		w, began := watch(t, newMachine(t), []int64{60, 60, 60}, none)
		near(t, "throttled", w.Result(began, 3*time.Second).Throttled, 0.15)
	})
}

// TestUnknown takes a file away, and expects its figures to be named: unknown
// is not zero.
func TestUnknown(t *testing.T) {
	linux(t)
	for _, c := range []struct {
		file string
		want []string
	}{
		{"proc/stat", []string{"core_series", "host_busy", "softirq_peak_core", "steal"}},
		{"proc/net/sockstat", []string{"ports_used_peak"}},
		{"proc/sys/net/ipv4/ip_local_port_range", []string{"ports"}},
		{"proc/pressure/cpu", []string{"cpu_pressure"}},
		{"proc/self/limits", nil}, // getrlimit knows it, too
		{"proc/self/status", []string{"max_rss_bytes"}},
		{"proc/self/fd", []string{"open_files_peak"}},
		{"proc/self/task", []string{"peak_thread_busy"}},
		{"proc/self/cgroup", []string{"throttled"}},
		{"proc/self/mountinfo", []string{"throttled"}},
		{"sys/fs/cgroup/cpu.stat", []string{"throttled"}},
		{"sys/fs/cgroup/cpu.max", nil}, // no quota is an answer
		{"sys/devices", []string{"clock_source"}},
	} {
		t.Run(c.file, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMachine(t)
				if err := os.RemoveAll(filepath.Join(m.root, c.file)); err != nil {
					t.Fatal(err)
				}
				w, began := still(t, m)
				g := w.Result(began, 2*time.Second)
				if !slices.Equal(g.Unknown, c.want) || !slices.Equal(w.Unknown(), c.want) {
					t.Errorf("got %v and %v, want %v", g.Unknown, w.Unknown(), c.want)
				}
			})
		})
	}
}

// still watches a machine on which nothing moves for two seconds.
func still(t *testing.T, m *machine) (*monitor.SelfWatch, time.Time) {
	t.Helper()
	began := time.Now()
	w := monitor.StartSelf(t.Context(), monitor.Self{Root: filepath.Join(m.root, "proc")})
	w.Threads([]int{11})
	time.Sleep(2 * time.Second) //house:sleep the clock of the bubble
	synctest.Wait()
	w.Stop()
	return w, began
}

// TestNotCovered asks for a window in which nobody watched.
func TestNotCovered(t *testing.T) {
	linux(t)
	synctest.Test(t, func(t *testing.T) {
		w, began := still(t, newMachine(t))
		g := w.Result(began.Add(time.Second), 3*time.Second)
		for _, key := range []string{"cpu_us", "host_busy", "gc_pause_p99_us", "hiccup_p99_us", "monitor_cpu"} {
			if !slices.Contains(g.Unknown, key) {
				t.Errorf("got unknown %v, want %s among them", g.Unknown, key)
			}
		}
		if g.CPUUS != 0 || g.BusySeries != nil {
			t.Errorf("got %v us, %v, want nothing", g.CPUUS, g.BusySeries)
		}
	})
}

// TestEndsWithContext: without Stop, a cancelled context ends the watch.
func TestEndsWithContext(t *testing.T) {
	linux(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		began := time.Now()
		w := monitor.StartSelf(ctx, monitor.Self{Root: filepath.Join(newMachine(t).root, "proc")})
		time.Sleep(1500 * time.Millisecond) //house:sleep the clock of the bubble
		cancel()
		synctest.Wait() // the bubble would not end with a goroutine left
		if g := w.Result(began, 1500*time.Millisecond); slices.Contains(g.Unknown, "host_busy") {
			t.Errorf("got unknown %v, want the figures up to the end", g.Unknown)
		}
		w.Threads([]int{11})
		w.Stop()
	})
}

func TestEnvironment(t *testing.T) {
	e := monitor.Environment()
	if e.OS != runtime.GOOS || e.Arch != runtime.GOARCH || e.Go != runtime.Version() || e.CPUs < 1 {
		t.Errorf("got %+v", e)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if e.Kernel == "" || e.Memory <= 0 || e.Sysctl["net.core.somaxconn"] == "" || strings.Contains(e.Kernel, " ") {
		t.Errorf("got %+v, want kernel, memory and settings", e)
	}
}

// The section must say where it knows nothing, on every system.
func TestElsewhere(t *testing.T) {
	began := time.Now()
	w := monitor.StartSelf(t.Context(), monitor.Self{Root: filepath.Join(t.TempDir(), "proc")})
	unknown := w.Unknown()
	for _, key := range []string{"host_busy", "steal", "ports", "open_files_peak", "clock_source"} {
		if !slices.Contains(unknown, key) {
			t.Errorf("got unknown %v, want %s among them", unknown, key)
		}
	}
	for _, key := range []string{"cpu_us", "gc_cpu_share", "sched_latency_p99_us", "cpus"} {
		if slices.Contains(unknown, key) {
			t.Errorf("got unknown %v, want %s known", unknown, key)
		}
	}
	w.Stop()
	g := w.Result(began, time.Since(began))
	if g.CPUs <= 0 || g.ClockReadNS <= 0 {
		t.Errorf("got %v CPUs, a clock of %v ns, want both", g.CPUs, g.ClockReadNS)
	}
}
