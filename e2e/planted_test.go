package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"prony/internal/analyse"
	"prony/internal/result"
)

// plantedPatience bounds one experiment with a planted cause.
const plantedPatience = 150 * time.Second

// tries is how often an experiment is carried out when the machine was busy
// with something else.
const tries = 3

// planted is an experiment whose cause is known, and what has to be said of it.
type planted struct {
	file    string
	args    []string
	variant string // the one that is judged; "" is the first

	// limiter is the bottleneck, "what where"; "" means that none of the target
	// may be named.
	limiter string
	// rule and where are of a finding that must be there; it may be about the
	// trial or the experiment.
	rule, where string
	severity    result.Severity
	// says is a regular expression for the message of the bottleneck, or of the
	// finding where no limiter is named.
	says string
	// quiet causes show only on a quiet machine: by what is idle, or by a course.
	quiet bool
	// busy causes look like a busy machine themselves.
	busy bool
	// launch is put before the command line: a network namespace, a group.
	launch []string
}

// TestPlanted carries out each experiment and holds the verdict against what
// was planted.
func TestPlanted(t *testing.T) {
	needLive(t)
	needRoot(t)
	for _, c := range []planted{
		{file: "one-thread", limiter: "one-thread app[0]", quiet: true, rule: "one-thread", where: "app[0]", says: "uses one core and no more"},
		{file: "cpu-quota", limiter: "cpu-quota app[0]", rule: "cpu-quota", where: "app[0]", says: "held it back in"},
		{file: "quota-periods", quiet: true, limiter: "cpu-quota app[0]", rule: "cpu-quota", where: "app[0]", says: `the p99 of [0-9.]+ms is [0-9]+ of the quota's periods`},
		{file: "accept-queue", limiter: "accept-queue this machine", rule: "accept-queue", where: "this machine", says: `the accept queue of app\[0\] .*was full`},
		{file: "fast-errors", rule: "fast-failures", where: "target", severity: result.SuspectLevel, limiter: "target-or-path target", says: "errors inflate speed"},
		{file: "slows-down", quiet: true, rule: "steady", where: "target", severity: result.SuspectLevel, says: "slowed down", limiter: "target-or-path target"},
	} {
		t.Run(c.file, func(t *testing.T) { c.check(t) })
	}
}

// TestPlantedWaiting: what waits instead of working has no counter, so that no
// resource may be named.
func TestPlantedWaiting(t *testing.T) {
	needLive(t)
	needRoot(t)
	for _, c := range []planted{
		{file: "pool-of-20", variant: "connections=80", quiet: true, limiter: "not-identified target", rule: "waiting", where: "target", says: `as if (19|20|21)(\.\d)? requests were served at once`},
		{file: "lock", variant: "connections=16", quiet: true, limiter: "not-identified target", rule: "waiting", where: "target", says: "as if one request was served at once"},
		{file: "sleeping-dependency", limiter: "target-or-path target", says: "the services waited more than they worked"},
	} {
		t.Run(c.file, func(t *testing.T) { c.check(t) })
	}
}

// TestPlantedChain: in a chain the verdict says which tier it is.
func TestPlantedChain(t *testing.T) {
	needLive(t)
	needRoot(t)
	need(t, "nginx", "apt-get install nginx-core")
	for _, c := range []planted{
		{file: "gateway-no-keepalive", launch: alone(t), limiter: "upstream-connections gateway", rule: "upstream-reuse", where: "gateway", says: "were not reused"},
		{file: "gateway-limit", limiter: "cpu-quota gateway[0]", rule: "which-tier", where: "gateway", says: "proxy-bound: gateway is full"},
		{file: "backend-limit", limiter: "cpu-quota app[0]", rule: "which-tier", where: "app", says: "backend-bound: this measures app and not gateway"},
	} {
		t.Run(c.file, func(t *testing.T) { c.check(t) })
	}
}

// TestPlantedVariants: what forbids a comparison is said before any ranking.
func TestPlantedVariants(t *testing.T) {
	needLive(t)
	needRoot(t)
	c := planted{file: "smaller-body", rule: "same-answers", where: "size=200B", severity: result.InvalidLevel, limiter: "rate plan", says: "no limit reached"}
	c.check(t)
}

// TestPlantedMemory: a target that the kernel ended is the end of the trial, and
// what it measured until then is invalid.
func TestPlantedMemory(t *testing.T) {
	needLive(t)
	needRoot(t)
	e := planted{file: "memory-limit"}.carryOut(t)
	last := e.Trials[len(e.Trials)-1]
	if !strings.Contains(last.Error, "app[0] was killed for using more memory than its limit of 64 MiB") {
		t.Errorf("got error %q, want that the limit of 64 MiB was hit", last.Error)
	}
	if f := findingOf(e, last, "out-of-memory", "app[0]"); f == nil || f.Severity != result.InvalidLevel {
		t.Errorf("got %+v, want an invalid result for want of memory", f)
	}
	if b := last.Bottleneck; b != nil && b.What != "foreign-cpu" && b.Where != "generator" && b.What != "rate" {
		t.Errorf("got the limiter %s %s beside it, want none", b.What, b.Where)
	}
}

// TestPlantedUnfair: the second run had two fifths of the CPU of the first, which
// is said before the numbers, so that nothing is ranked.
func TestPlantedUnfair(t *testing.T) {
	needLive(t)
	needRoot(t)
	c := planted{file: "unfair-variants"}
	for range tries {
		dir := t.TempDir()
		fair, less := filepath.Join(dir, "fair.json"), filepath.Join(dir, "less.json")
		c.args = nil
		c.run(t, fair)
		c.args = []string{"--set", "services.app.limits.cpus=0.2"}
		c.run(t, less)
		if disturbed(readExperiment(t, fair)) || disturbed(readExperiment(t, less)) {
			continue // runs that are invalid are not compared at all
		}
		out := command(t, binary, "compare", fair, less)
		said := strings.Join(strings.Fields(out.stdout+out.stderr), " ")
		if !strings.Contains(said, "CPU limit") || !strings.Contains(said, "CANNOT TELL") {
			t.Errorf("got status %d\n%s%s\nwant the difference of the limits and no ranking", out.code, out.stdout, out.stderr)
		}
		return
	}
	t.Skip("other programs kept the machine busy: invalid runs are not compared")
}

// check carries an experiment out until it says what was planted. Only where
// the machine was busy with something else does it get another try; on a
// machine that never was quiet the cause must be found all the same, but the
// other programs may be named as the limit.
func (c planted) check(t *testing.T) {
	t.Helper()
	var e result.Experiment
	for try := range tries {
		e = c.carryOut(t)
		wrong := c.wrong(t, e, false)
		if len(wrong) == 0 {
			return
		}
		if c.busy || !disturbed(e) {
			t.Errorf("%s\n%s", strings.Join(wrong, "\n"), summary(e))
			return
		}
		t.Logf("try %d, on a machine that was busy with something else: %s", try+1, strings.Join(wrong, "; "))
	}
	blindTo(&e)
	if wrong := c.wrong(t, e, true); len(wrong) > 0 {
		t.Errorf("%s\n%s", strings.Join(wrong, "\n"), summary(e))
	}
}

// blindTo judges an experiment again by rules that do not see what other programs
// did to the machine, so that the others have their say.
func blindTo(e *result.Experiment) {
	t := analyse.DefaultThresholds()
	t.ForeignSuspect, t.ForeignInvalid = math.Inf(1), math.Inf(1)
	t.StealSuspect, t.StealInvalid = math.Inf(1), math.Inf(1)
	t.PressureSuspect, t.PressureInvalid = math.Inf(1), math.Inf(1)
	t.HiccupSuspect, t.HiccupInvalid = time.Hour, time.Hour
	for i := range e.Trials {
		analyse.Run(&e.Trials[i].Run, t)
	}
	analyse.Experiment(e, t)
}

// judged is the trial that the expectation is about.
func (c planted) judged(t *testing.T, e result.Experiment) result.Trial {
	t.Helper()
	for _, tr := range e.Trials {
		if tr.Error != "" {
			t.Fatalf("trial %d: %s", tr.Number, tr.Error)
		}
		if c.variant == "" || tr.Variant == c.variant {
			return tr
		}
	}
	t.Fatalf("got no trial %s", c.variant)
	return result.Trial{}
}

// wrong lists what an experiment did not say, or said in vain. Spoiled forgives
// what other programs on the machine explain.
func (c planted) wrong(t *testing.T, e result.Experiment, spoiled bool) (all []string) {
	t.Helper()
	tr := c.judged(t, e)
	f, b := findingOf(e, tr, c.rule, c.where), tr.Bottleneck
	if c.rule != "" && (f == nil || c.severity != "" && f.Severity != c.severity) && !(spoiled && c.quiet) {
		all = append(all, fmt.Sprintf("got %+v, want a finding %s about %s", f, c.rule, c.where))
	}
	got, message := "", ""
	if b != nil {
		got, message = b.What+" "+b.Where, b.Message
	}
	switch {
	case got == c.limiter:
	case spoiled && (c.quiet && b == nil || b != nil && (b.What == "host-cpu" || b.What == "foreign-cpu" || b.Where == "generator" || c.quiet && b.What == "target-or-path")):
		return all // what the others did to the machine
	default:
		return append(all, fmt.Sprintf("got the limiter %q (%s), want %q", got, message, c.limiter))
	}
	if f != nil {
		message += " " + f.Message
	}
	if !regexp.MustCompile(c.says).MatchString(message) && !(spoiled && c.quiet) {
		all = append(all, fmt.Sprintf("got the message %q, want %s", message, c.says))
	}
	return all
}

// carryOut runs the experiment once.
func (c planted) carryOut(t *testing.T) result.Experiment {
	t.Helper()
	file := filepath.Join(t.TempDir(), "result.json")
	c.run(t, file)
	return readExperiment(t, file)
}

// run is prony run with the result in a file. Statuses 1 and 3 are verdicts:
// invalid, and a target that ended.
func (c planted) run(t *testing.T, file string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), plantedPatience)
	defer cancel()
	words := slices.Concat(c.launch, []string{binary, "run", filepath.Join("..", "testdata", "planted", c.file+".yaml"), "-q", "--json", file}, c.args)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "PRONY_HOME="+plantedHome(t), "PATH="+filepath.Dir(binary)+":"+os.Getenv("PATH"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil || !slices.Contains([]int{0, 1, 3}, cmd.ProcessState.ExitCode()) {
		t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, &out)
	}
	if _, err := os.Stat(file); err != nil {
		t.Fatalf("%s left no result: status %d\n%s", strings.Join(words, " "), cmd.ProcessState.ExitCode(), &out)
	}
}

// plantedHome is a folder for Prony with the user's builds, which take long.
func plantedHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	if cache, err := os.UserCacheDir(); err == nil {
		if _, err := os.Stat(filepath.Join(cache, "prony")); err == nil {
			_ = os.Symlink(filepath.Join(cache, "prony"), filepath.Join(home, "cache"))
		}
	}
	return home
}

// machineRules say that the machine was not left alone.
func machineRules() []string {
	return []string{"foreign-cpu", "steal", "cpu-pressure", "hiccups", "dispatch-lag", "dispatched", "send-gaps", "dispatch-seconds"}
}

// disturbed reports whether other programs spoiled a trial.
func disturbed(e result.Experiment) bool {
	return slices.ContainsFunc(e.Trials, func(tr result.Trial) bool { return blocked(tr) })
}

// blocked reports whether the machine, and not a rule about the target, made a
// trial invalid or doubtful.
func blocked(tr result.Trial) bool {
	return slices.ContainsFunc(tr.Validity.Findings, func(f result.Finding) bool {
		return slices.Contains(machineRules(), f.Rule) && (f.Severity == result.InvalidLevel || f.Severity == result.SuspectLevel && f.Rule == "foreign-cpu")
	})
}

// findingOf is the finding of a rule about a place, of the trial or the
// experiment.
func findingOf(e result.Experiment, tr result.Trial, rule, where string) *result.Finding {
	for _, f := range slices.Concat(tr.Validity.Findings, e.Findings) {
		if f.Rule == rule && f.Where == where {
			return &f
		}
	}
	return nil
}

// summary is what the report said, for a test that failed.
func summary(e result.Experiment) string {
	var b strings.Builder
	for _, tr := range e.Trials {
		fmt.Fprintf(&b, "trial %d %s: %s, %.0f/s %s\n", tr.Number, tr.Variant, tr.Validity.Verdict, tr.Load.Rate, tr.Error)
		if tr.Bottleneck != nil {
			fmt.Fprintf(&b, "  limited by %s %s: %s %q\n", tr.Bottleneck.What, tr.Bottleneck.Where, tr.Bottleneck.Message, tr.Bottleneck.Exonerated)
		}
		for _, f := range tr.Validity.Findings {
			fmt.Fprintf(&b, "  %s %s %s: %s\n", f.Severity, f.Rule, f.Where, f.Message)
		}
	}
	for _, f := range e.Findings {
		fmt.Fprintf(&b, "experiment %s %s %s: %s\n", f.Severity, f.Rule, f.Where, f.Message)
	}
	return b.String()
}
