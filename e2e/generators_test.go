package e2e_test

import (
	"path/filepath"
	"testing"

	"prony/internal/result"
)

// TestGenerators carries out the experiment that compares generators: each is
// the program that it is called, the target counted what it counted, and what
// the others printed is no distribution.
func TestGenerators(t *testing.T) {
	need(t, "nginx", "apt-get install nginx-core")
	need(t, "wrk", "apt-get install wrk")
	need(t, "ab", "apt-get install apache2-utils")
	need(t, "h2load", "apt-get install nghttp2-client")
	needRoot(t)
	file := filepath.Join(t.TempDir(), "result.json")
	out := command(t, binary, "run", "../experiments/generators.yaml", "--repeat", "1", "-q", "--json", file, "--set", "load.connections=8",
		"--set", "load.duration=1s", "--set", "load.warmup=1s", "--set", "cooldown=0s")
	if out.code != 0 && out.code != 1 {
		t.Fatalf("status %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	trials := readExperiment(t, file).Trials
	if len(trials) != 4 {
		t.Fatalf("%d trials, want 4", len(trials))
	}
	for _, trial := range trials {
		checkGenerator(t, trial)
	}
}

// checkGenerator holds one trial against its generator. The target's own count
// holds a warm-up too, where it could be read.
func checkGenerator(t *testing.T, trial result.Trial) {
	t.Helper()
	with, q := trial.Values["load.with"], trial.Load.Requests
	if trial.Error != "" || q.Completed == 0 || q.Failed != 0 || !q.Balanced() {
		t.Errorf("%s: %s %+v", with, trial.Error, q)
	}
	for _, s := range trial.Services {
		if s.Requests != nil && *s.Requests < q.Completed {
			t.Errorf("%s counted %d answers, the target sent %d", with, q.Completed, *s.Requests)
		}
	}
	if with == "prony" {
		if trial.Load.With != "" || trial.Load.Latency.Response.Empty() {
			t.Errorf("prony: made with %q, want its own engine and a distribution", trial.Load.With)
		}
		return
	}
	if trial.Load.With != with || trial.Load.Printed["mean"] == 0 && with != "ab" || !trial.Load.Latency.Response.Empty() {
		t.Errorf("%s: made with %q, printed %v", with, trial.Load.With, trial.Load.Printed)
	}
	if trial.Generator.CPUUS <= 0 {
		t.Errorf("%s cost no CPU time", with)
	}
}
