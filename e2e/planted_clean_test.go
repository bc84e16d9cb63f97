package e2e_test

import (
	"slices"
	"strings"
	"testing"

	"prony/internal/result"
)

// clean is a run in which nothing is planted.
type clean struct {
	name, file string
	set        []string
}

func cleanRuns() []clean {
	one := func(name string, set ...string) clean { return clean{name, "clean", set} }
	chain := func(name string, set ...string) clean { return clean{name, "clean-chain", set} }
	return []clean{
		one("closed, 5 ms"),
		one("closed, 1 connection", "load.connections=1"),
		one("closed, 64 connections, 20 ms", "load.connections=64", "load.path=/delay/20ms"),
		one("closed, new connections", "load.keepalive=false", "load.connections=2"),
		one("thinking users", "load.path=/", "load.think=20ms"),
		one("low rate", "load.path=/", "load.rate=100/s"),
		one("rate", "load.path=/", "load.rate=1000/s"),
		one("rate, slow answers", "load.path=/delay/20ms", "load.rate=200/s", "load.connections=32"),
		one("rate, uniform arrivals", "load.path=/", "load.rate=300/s", "load.arrivals=constant"),
		one("ramp", "load.path=/", "load.rate=100/s..600/s"),
		one("steps", "load.path=/", "load.rate=\"100/s,400/s\""),
		one("rate with work", "load.path=/work/200us", "load.rate=300/s"),
		one("rate under a quota with room", "load.path=/work/200us", "load.rate=200/s", "services.app.limits.cpus=0.9"),
		one("rate under a memory limit with room", "load.path=/", "load.rate=500/s", "services.app.limits.memory=256MiB"),
		one("large answers", "load.path=/bytes/100000", "load.rate=200/s"),
		one("chunks", "load.path=/chunked/5x1000", "load.rate=300/s"),
		one("answers that differ", "load.path=/variable", "load.rate=300/s"),
		chain("gateway, closed"),
		chain("gateway, rate", "load.path=/", "load.rate=300/s"),
		chain("gateway, slow backend", "load.path=/delay/20ms", "load.rate=200/s", "load.connections=32"),
	}
}

// TestPlantedClean: twenty runs without a single wrong accusation. What is said
// of the machine may be true: others may work on it.
func TestPlantedClean(t *testing.T) {
	needLive(t)
	needRoot(t)
	for _, c := range cleanRuns() {
		t.Run(c.name, func(t *testing.T) {
			var args []string
			for _, s := range c.set {
				args = append(args, "--set", s)
			}
			e := planted{file: c.file, args: args}.carryOut(t)
			if len(e.Trials) != 1 || e.Trials[0].Error != "" {
				t.Fatalf("got %s, want one good trial", summary(e))
			}
			checkClean(t, e, e.Trials[0])
			if t.Failed() {
				t.Log(summary(e))
			}
		})
	}
}

// checkClean looks for accusations: of a limit, of a target, of the result.
func checkClean(t *testing.T, e result.Experiment, tr result.Trial) {
	t.Helper()
	spoiled := blocked(tr)
	if b := tr.Bottleneck; b != nil && !slices.Contains([]string{"rate", "think-time", "target-or-path", "concurrency"}, b.What) {
		if !spoiled || b.What != "foreign-cpu" && b.Where != "generator" {
			t.Errorf("got the limiter %s %s: %s", b.What, b.Where, b.Message)
		}
	}
	for _, f := range slices.Concat(tr.Validity.Findings, e.Findings) {
		switch {
		case f.Severity == result.Info || aboutMachine(f):
		case spoiled && slices.Contains([]string{"rate-sustained", "client-wait", "little", "cut-off", "generator-cpu"}, f.Rule):
			// a machine that others fill cannot keep a rate
		default:
			t.Errorf("got %s %s about %s: %s", f.Severity, f.Rule, f.Where, f.Message)
		}
	}
	if tr.Validity.Verdict == result.Invalid && !spoiled {
		t.Error("got an invalid result that the machine does not explain")
	}
}

// aboutMachine reports whether a finding is about the machine or the length of
// the run, which the test chose, and accuses no target.
func aboutMachine(f result.Finding) bool {
	return f.Where == "this machine" && !strings.Contains(f.Rule, "queue") || slices.Contains(machineRules(), f.Rule) ||
		slices.Contains([]string{"short-run", "tail-samples", "co-located", "collector-pause", "garbage-collector", "monitor-cost"}, f.Rule)
}
