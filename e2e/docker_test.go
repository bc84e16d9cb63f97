package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"

	"prony/internal/driver/drivertest"
)

// needEngine has a Docker engine for one test, and not for longer: the drivers'
// tests wait for their turn.
func needEngine(t *testing.T) {
	t.Helper()
	t.Cleanup(drivertest.Engine())
	drivertest.NeedEngine(t)
}

// TestNginxScaleInContainers is the experiment of nginx in front of instances,
// each in a container made from scratch out of the program on this machine.
func TestNginxScaleInContainers(t *testing.T) {
	need(t, "nginx", "apt-get install nginx-core")
	needRoot(t)
	needEngine(t)
	home := t.TempDir()
	file := filepath.Join(home, "result.json")
	out := withHome(t, home, scaled("--driver", "docker", "--only", "instances=1", "--only", "instances=2", "--json", file)...)
	if out.code != 0 && out.code != 1 {
		t.Fatalf("status %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	e := readExperiment(t, file)
	if len(e.Trials) != 2 {
		t.Fatalf("%d trials, want 2", len(e.Trials))
	}
	for _, trial := range e.Trials {
		checkTrial(t, trial)
		for _, s := range trial.Services {
			if s.Name == "app" && (s.Limits.CPUs < 0.19 || s.Limits.CPUs > 0.21) {
				t.Errorf("trial %d: %s[%d] has limits %s, want 0.2 CPUs", trial.Number, s.Name, s.Instance, s.Limits)
			}
		}
	}
	if left := withHome(t, home, "cleanup"); left.code != 0 || !strings.Contains(left.stdout, "nothing left") {
		t.Errorf("cleanup: status %d\n%s%s", left.code, left.stdout, left.stderr)
	}
}
