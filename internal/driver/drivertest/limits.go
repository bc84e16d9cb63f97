//go:build unix

package drivertest

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"prony/internal/plan"
)

func testApplied(t *testing.T, s trial) {
	asked := plan.Limits{CPUs: 0.5, Memory: 256 << 20, Cores: []int{0}, PIDs: 100}
	r := s.start(t, s.limited(t, asked))
	got := r.Applied()
	if got.CPUs != asked.CPUs || got.Memory != asked.Memory || got.PIDs != asked.PIDs || len(got.Cores) != 1 || got.Cores[0] != 0 {
		t.Errorf("got %+v applied, want %+v", got, asked)
	}
	if a := r.Asked(); a.CPUs != asked.CPUs {
		t.Errorf("got %+v asked, want %+v", a, asked)
	}
	if n, err := r.OOMKills(t.Context()); err != nil || n != 0 {
		t.Errorf("got %d kills, %v, want none", n, err)
	}
}

func testStartup(t *testing.T, s trial) {
	asked := plan.Limits{CPUs: 0.25, StartupCPUs: 1.5, Memory: 256 << 20}
	r := s.start(t, s.limited(t, asked))
	if got := r.Applied(); got.CPUs != asked.StartupCPUs || got.Memory != asked.Memory {
		t.Errorf("got %+v at the start, want %v CPUs", got, asked.StartupCPUs)
	}
	if a := r.Asked(); a.CPUs != asked.CPUs || a.StartupCPUs != asked.StartupCPUs {
		t.Errorf("got %+v asked, want %+v", a, asked)
	}
	for range 2 { // a second call changes nothing
		if err := r.EndStartup(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := r.Applied(); got.CPUs != asked.CPUs || got.Memory != asked.Memory {
			t.Errorf("got %+v after it, want %+v", got, asked)
		}
	}
}

// Measuring a limited target. A window holds 50 periods of the kernel's quota;
// a part of one at each end is 0.004 cores.
const (
	warmup  = 300 * time.Millisecond
	window  = 5 * time.Second
	windows = 3
)

func testCPU(t *testing.T, s trial) {
	if testing.Short() {
		t.Skip("takes 5 s of wall time and more")
	}
	r := s.start(t, s.limited(t, plan.Limits{CPUs: 0.2}))
	ask(t, r.Endpoint(), "/burn")
	<-time.After(warmup)
	var cores float64
	before := usageOf(t, r.Endpoint())
	for range windows {
		<-time.After(window)
		after := usageOf(t, r.Endpoint())
		cores = float64(after.CPU-before.CPU) / float64(after.Wall-before.Wall)
		t.Logf("%.4f cores over %s", cores, after.Wall-before.Wall)
		if cores > 0.21 {
			t.Fatalf("got %.4f cores, want 0.200 ± 0.01", cores)
		}
		if cores >= 0.19 {
			return
		}
		before = after // a machine with more to do than cores gives less: try again
	}
	if load := load(); load > 3*float64(runtime.NumCPU()) {
		t.Skipf("got %.4f cores, less than the limit, on a machine with a load of %.1f", cores, load)
	}
	t.Errorf("got %.4f cores at last in %d windows, want 0.200 ± 0.01", cores, windows)
}

// load is the load average of the last minute; 0 if unknown.
func load() float64 {
	text, _ := os.ReadFile("/proc/loadavg") // proc_loadavg(5)
	first, _, _ := strings.Cut(string(text), " ")
	n, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return n
}

func testMemory(t *testing.T, s trial) {
	r := s.start(t, s.limited(t, plan.Limits{Memory: 64 << 20}))
	if text, err := get(t.Context(), r.Endpoint(), "/eat"); err == nil {
		t.Fatalf("got answer %q, want it killed over that", text)
	}
	wait(t, r.Ended(), "the end")
	death := died(t, r.Err())
	if !death.Exit.OOM {
		t.Errorf("got %v, want an OOM kill", death)
	}
	if n, err := r.OOMKills(t.Context()); err != nil || n < 1 {
		t.Errorf("got %d kills, %v, want 1", n, err)
	}
	t.Log(death)
}
