package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prony/internal/result"
)

// startupFile has a service that works for 1 ms of CPU a request: 200 a second
// under its limit, and up to 1000 until it is warm.
const startupFile = `prony: 1
name: startup
%HOSTS%
services:
  app:
    process: {command: [%PRONY%, target, --addr, '${host}:${port}']}
    limits: {cpus: 0.2, startup_cpus: 1}
    %ON%
load: {target: app, path: /work/1ms, connections: 4, warmup: 3s, duration: 3s}
repeat: 1
`

// TestStartupLimit: the limit of the startup holds for the warm-up, and what a
// request costs is that of the window.
func TestStartupLimit(t *testing.T) {
	needRoot(t)
	t.Run("here", func(t *testing.T) { startupLimit(t, "", "") })
	t.Run("over ssh", func(t *testing.T) {
		port := reachable(t)
		startupLimit(t, fmt.Sprintf("hosts: {sut: ssh://root@127.0.0.1:%d}", port), "on: sut")
	})
}

func startupLimit(t *testing.T, hosts, on string) {
	home := t.TempDir()
	file, out := filepath.Join(home, "startup.yaml"), filepath.Join(home, "result.json")
	text := strings.NewReplacer("%PRONY%", binary, "%HOSTS%", hosts, "%ON%", on).Replace(startupFile)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := withHome(t, home, "run", file, "-q", "--no-store", "--json", out); got.code != 0 && got.code != 1 {
		t.Fatalf("status %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	run := readExperiment(t, out).Trials[0].Run
	app := run.Services[0]
	if app.Limits.CPUs != 0.2 || app.Limits.StartupCPUs != 1 {
		t.Errorf("limits: got %+v", app.Limits)
	}
	warm, window := rateWarm(run.Load), run.Load.Rate
	t.Logf("%.0f/s in the warm-up, %.0f/s in the window, %.0f us of CPU a request, held back in %.0f%%", warm, window, app.CPUUSPerRequest, 100*app.ThrottledRatio)
	if window <= 0 || window > 230 || warm < 1.5*window {
		t.Errorf("%.0f/s in the warm-up and %.0f/s in the window, want the window held to 200/s", warm, window)
	}
	if app.CPUUSPerRequest < 900 || app.CPUUSPerRequest > 1800 {
		t.Errorf("%.0f us of CPU a request, want about 1000", app.CPUUSPerRequest)
	}
	if app.ThrottledRatio < 0.5 {
		t.Errorf("held back in %.2f of the periods of the window, want most", app.ThrottledRatio)
	}
}

// rateWarm is the rate of the warm-up, without the time behind the change.
func rateWarm(l result.Load) float64 {
	var n, us float64
	for _, iv := range l.Intervals {
		if iv.Warmup && iv.StartUS < -2e6 {
			n += float64(iv.Completed)
			us += iv.LengthUS
		}
	}
	return n / (us / 1e6)
}
