package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"

	"prony/internal/result"
)

// scaled are the arguments that make the experiment short.
func scaled(more ...string) []string {
	return append([]string{"run", "../experiments/nginx-scale.yaml", "--set", "load.duration=1s", "--set", "load.warmup=300ms",
		"--repeat", "1", "--set", "cooldown=0s"}, more...)
}

// TestNginxScale carries out the experiment with a real nginx in front of one,
// two and three instances under real limits.
func TestNginxScale(t *testing.T) {
	need(t, "nginx", "apt-get install nginx-core")
	needRoot(t)
	file := filepath.Join(t.TempDir(), "result.json")
	out := command(t, binary, scaled("--json", file)...)
	if out.code != 0 && out.code != 1 {
		t.Fatalf("status %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	for _, want := range []string{"Does adding instances behind nginx scale?", "instances=1 ", "instances=2 ", "instances=3 ", "gateway "} {
		if !strings.Contains(out.stdout, want) {
			t.Errorf("no %q in\n%s", want, out.stdout)
		}
	}
	e := readExperiment(t, file)
	if len(e.Trials) != 3 {
		t.Fatalf("%d trials, want 3", len(e.Trials))
	}
	for _, trial := range e.Trials {
		checkTrial(t, trial)
	}
}

// checkTrial: the limits bit, every request succeeded, each service has a cost.
func checkTrial(t *testing.T, trial result.Trial) {
	t.Helper()
	if q := trial.Load.Requests; trial.Error != "" || q.Completed == 0 || q.Failed != 0 || !q.Balanced() {
		t.Errorf("trial %d: %s %+v", trial.Number, trial.Error, q)
	}
	instances := 0
	for _, s := range trial.Services {
		if s.CPUUSPerRequest <= 0 {
			t.Errorf("trial %d: %s[%d] cost nothing", trial.Number, s.Name, s.Instance)
		}
		if s.Name == "app" {
			instances++
		}
	}
	if want := trial.Values["instances"]; want != "" && want != string(rune('0'+instances)) {
		t.Errorf("trial %d ran %d instances, want %s", trial.Number, instances, want)
	}
}

// TestTwoAppsOneHost: two loads side by side begin together and are counted
// over the same window.
func TestTwoAppsOneHost(t *testing.T) {
	needRoot(t)
	file := filepath.Join(t.TempDir(), "result.json")
	out := command(t, binary, "run", "../experiments/two-apps-one-host.yaml", "--repeat", "1", "-q", "--json", file,
		"--set", "load.0.duration=1s", "--set", "load.1.duration=1s", "--set", "load.0.warmup=300ms", "--set", "load.1.warmup=300ms")
	if out.code != 0 && out.code != 1 {
		t.Fatalf("status %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	for _, trial := range readExperiment(t, file).Trials {
		if len(trial.Also) != 1 {
			t.Fatalf("trial %d has %d further loads, want 1", trial.Number, len(trial.Also))
		}
		a, b := trial.Load, trial.Also[0]
		if d := a.StartedUS - b.StartedUS; d < -10_000 || d > 10_000 {
			t.Errorf("the loads began %d us apart, want less than 10 ms", d)
		}
		if a.DurationUS != b.DurationUS || a.Requests.Completed == 0 || b.Requests.Completed == 0 {
			t.Errorf("windows of %v and %v us, %+v and %+v", a.DurationUS, b.DurationUS, a.Requests, b.Requests)
		}
	}
}
