package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"prony/internal/result"
)

// Bounds of one experiment: longer than any takes, and with what has to be built
// for it.
const (
	abridgedMost   = 75 * time.Second
	abridgedBuilds = 5 * time.Minute
)

// within is $PRONY_PUBLISHED_WITHIN, the time for all experiments: what does not
// fit into it is skipped. Without it they have the time that they take.
func within(t *testing.T) (d time.Duration, bounded bool) {
	t.Helper()
	text := os.Getenv("PRONY_PUBLISHED_WITHIN")
	if text == "" {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("PRONY_PUBLISHED_WITHIN: %v", err)
	}
	return d, true
}

// abridged says how an experiment is made short.
type abridged struct {
	java  bool     // it needs a JDK and Maven
	hosts bool     // it needs experiments/namespaces.sh
	set   []string // beside what all have
	only  []string // variants, the baseline among them
}

// brief are the changes that make a load short.
func brief(more ...string) []string {
	return append([]string{"load.duration=1s", "load.warmup=500ms"}, more...)
}

// abridgements lists every file of experiments/ by its name.
func abridgements() map[string]abridged {
	const small = "scale=0.002" // in place of the file's auto, which leaves more than a second's work
	cold := []string{"load.duration=1s", small}
	fast := "app.limits.cpus=2"
	alone := `expect=[errors < 0.1%]` // a goal over variants needs two of them
	return map[string]abridged{
		"frameworks-200m":                         {set: brief(fast), only: []string{"go-http", "iris"}},
		"frameworks-200m-cost":                    {java: true, set: brief(fast, "load.rate=50/s"), only: []string{"go-http", "springboot-undertow"}},
		"frameworks-200m-published":               {java: true, set: brief(fast, "load.with=prony"), only: []string{"go-http", "springboot-undertow"}},
		"gateways":                                {java: true, set: brief("load.rate=100/s"), only: []string{"gateway.catalog=nginx", "haproxy", "spring-cloud-gateway"}},
		"generators":                              {set: brief("load.warmup=1s"), only: []string{"prony", "wrk"}},
		"nginx-or-zuul":                           {java: true, set: brief(), only: []string{"load.keepalive=true,cpus=0.4,gateway.catalog=nginx,load.target=gateway", "gateway.catalog=zuul,load.keepalive=false,cpus=0.6"}},
		"nginx-or-zuul-published":                 {java: true, set: []string{small}, only: []string{"load.target=backend", "cores=12,load.target=zuul"}},
		"nginx-scale":                             {set: brief(), only: []string{"instances=2"}},
		"openresty-over-springboot":               {java: true, set: brief(fast, alone), only: []string{"instances=2"}},
		"openresty-over-springboot-out":           {java: true, hosts: true, set: brief(alone, "app1.limits.cpus=2", "app2.limits.cpus=2", "app3.limits.cpus=2", "app4.limits.cpus=2", "app5.limits.cpus=2"), only: []string{"hosts=5"}},
		"openresty-over-springboot-out-published": {java: true, hosts: true, set: cold, only: []string{"gateway"}},
		"openresty-over-springboot-published":     {java: true, set: cold, only: []string{"instances=3"}},
		"openresty-proxy":                         {set: brief()},
		"openresty-proxy-published":               {set: cold},
		"openresty-single":                        {set: brief()},
		"openresty-single-published":              {set: cold},
		"springboot-or-nginx":                     {java: true, set: brief("app.limits.cpus=2")},
		"springboot-or-nginx-published":           {java: true, set: []string{"load.duration=1s", "load.with=prony", "app.params.heap_start=64m"}, only: []string{"app"}},
		"springboot-single":                       {java: true, set: brief(fast), only: []string{"load.connections=64"}},
		"springboot-single-published":             {java: true, set: cold},
		"two-apps-one-host":                       {set: sideBySide("load.0.warmup=300ms", "load.1.warmup=300ms")},
		"two-springboot-one-host":                 {java: true, set: sideBySide("load.0.warmup=300ms", "load.1.warmup=300ms"), only: []string{"two"}},
		"two-springboot-one-host-published":       {java: true, set: sideBySide(small)},
	}
}

// sideBySide are the changes that make two loads short.
func sideBySide(more ...string) []string {
	return append([]string{"load.0.duration=1s", "load.1.duration=1s"}, more...)
}

// TestPublished carries out every file of experiments/ in a shortened form. The
// machine may be too busy for a valid result, which it then has to say; nothing
// else may be wrong.
func TestPublished(t *testing.T) {
	needLive(t)
	if testing.Short() {
		t.Skip("minutes long")
	}
	need(t, "nginx", "apt-get install nginx-core")
	needRoot(t)
	files, err := filepath.Glob("../experiments/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no experiments: %v", err)
	}
	known := abridgements()
	d, bounded := within(t)
	deadline := time.Now().Add(d)
	slices.SortStableFunc(files, func(a, b string) int { return weight(known[nameOf(a)]) - weight(known[nameOf(b)]) })
	for _, file := range files {
		a, ok := known[nameOf(file)]
		if !ok {
			t.Errorf("%s has no shortened form here", file)
			continue
		}
		delete(known, nameOf(file))
		t.Run(nameOf(file), func(t *testing.T) {
			if bounded && time.Until(deadline) < abridgedMost {
				t.Skipf("of the %v for all experiments too little is left", d)
			}
			bound := abridgedBuilds
			if bounded {
				bound = 2 * abridgedMost
			}
			a.run(t, file, bound)
		})
	}
	for name := range known {
		t.Errorf("experiments/%s.yaml is gone", name)
	}
}

// TestPublishedPlans: the shortened forms are right, also where a part is
// missing that carrying them out needs.
func TestPublishedPlans(t *testing.T) {
	for name, a := range abridgements() {
		if out := command(t, binary, a.args("../experiments/"+name+".yaml", "--dry-run", "--advisory")...); out.code != 0 {
			t.Errorf("%s: status %d\n%s%s", name, out.code, out.stdout, out.stderr)
		}
	}
}

// args are the arguments that carry a file out in its shortened form.
func (a abridged) args(file string, more ...string) []string {
	args := append([]string{"run", file, "--repeat", "1", "--set", "cooldown=0s"}, more...)
	for _, s := range a.set {
		args = append(args, "--set", s)
	}
	for _, o := range a.only {
		args = append(args, "--only", o)
	}
	return args
}

func nameOf(file string) string { return strings.TrimSuffix(filepath.Base(file), ".yaml") }

// weight puts what is quick first.
func weight(a abridged) int {
	switch {
	case a.hosts:
		return 2
	case a.java:
		return 1
	}
	return 0
}

func (a abridged) run(t *testing.T, file string, bound time.Duration) {
	t.Helper()
	if a.java {
		need(t, "java", "apt-get install openjdk-17-jdk-headless, and a JDK 21 or newer for light-4j and Helidon")
		need(t, "mvn", "apt-get install maven")
	}
	a.generators(t, file)
	if a.hosts {
		a.join(t)
	}
	out := filepath.Join(t.TempDir(), "result.json")
	args := a.args(file, "-q", "--no-store", "--json", out)
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	said, code := a.carryOut(t, ctx, args)
	if code != 0 && code != 1 {
		t.Fatalf("status %d\n%s", code, said)
	}
	for _, trial := range readExperiment(t, out).Trials {
		honest(t, trial)
	}
}

// generators needs the programs that the file makes load with.
func (a abridged) generators(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for program, install := range map[string]string{"wrk": "apt-get install wrk", "ab": "apt-get install apache2-utils"} {
		if regexp.MustCompile(`with: .*\b`+program+`\b`).Match(text) && !slices.Contains(a.set, "load.with=prony") {
			need(t, program, install)
		}
	}
}

// carryOut runs the program. The folder for builds stays that of the user, or
// every run would build all Java programs anew.
func (a abridged) carryOut(t *testing.T, ctx context.Context, args []string) (said string, code int) {
	t.Helper()
	name := binary
	if a.hosts {
		name, args = "../experiments/namespaces.sh", append([]string{"run", binary}, args...)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = patience
	// The simpler compiler has a virtual machine up in less time.
	cmd.Env = append(os.Environ(), "PRONY_HOME="+t.TempDir(), "JAVA_TOOL_OPTIONS=-XX:TieredStopAtLevel=1")
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("prony %s: %v\n%s", strings.Join(args, " "), err, &text)
	}
	return text.String(), cmd.ProcessState.ExitCode()
}

// join makes the hosts, and takes them away at the end.
func (a abridged) join(t *testing.T) {
	t.Helper()
	for _, program := range []string{"ip", "tc", "nsenter", "sshd"} {
		need(t, program, "apt-get install iproute2 util-linux openssh-server")
	}
	script := "../experiments/namespaces.sh"
	t.Setenv("PRONY_NAMESPACES", filepath.Join(t.TempDir(), "namespaces"))
	t.Cleanup(func() {
		if err := exec.Command(script, "down").Run(); err != nil {
			t.Errorf("take the hosts away: %v", err)
		}
	})
	if out, err := exec.CommandContext(t.Context(), script, "up").CombinedOutput(); err != nil {
		if os.Getenv("PRONY_E2E") == "require" {
			t.Fatalf("make the hosts: %v\n%s", err, out)
		}
		t.Skipf("no network namespaces here: %v\n%s", err, out)
	}
}

// busy are the rules that speak of the machine, and of runs of a second.
func busy() []string {
	return []string{"foreign-cpu", "cpu-pressure", "host-cpu", "steal", "hiccups", "generator-cpu", "generator-core", "generator-thread",
		"goroutine-scheduling", "collector-pause", "garbage-collector", "dispatch-lag", "dispatch-seconds", "dispatched", "send-gaps", "frequency",
		"softirq-skew", "requests-arrived", "timeouts", "short-run", "tail-samples", "steady", "rate-sustained", "little", "one-thread", "overflow"}
}

// honest: requests were answered and none failed, the component's own counter
// confirms them, and if the verdict is invalid, then because of the machine.
func honest(t *testing.T, trial result.Trial) {
	t.Helper()
	if trial.Error != "" {
		t.Fatalf("trial %d (%s): %s", trial.Number, trial.Variant, trial.Error)
	}
	var seen int64
	for _, l := range append([]result.Load{trial.Load}, trial.Also...) {
		// A machine that is too busy makes requests late, and nothing else wrong.
		late := trial.Validity.Verdict == result.Invalid && l.Failures["timeout"] == l.Requests.Failed
		if q := l.Requests; q.Completed == 0 || q.Failed != 0 && !late {
			t.Errorf("trial %d (%s): %+v, failures %v", trial.Number, trial.Variant, q, l.Failures)
		}
		seen += l.Requests.InWindow
	}
	counted, counts := 0.0, false
	for _, o := range trial.Observed {
		if n, ok := o.Totals[result.ServerRequests]; ok && o.Kind == result.OfServer && o.Service == trial.Plan.Load.Requests[0].Service {
			counted, counts = counted+max(n, 0), true
		}
	}
	// Its counter is read once a second, so that of a window of one second it may
	// show less than half; on a busy machine the samples come late, too: then only
	// that it counted.
	least := 0.3 * float64(seen)
	if trial.Validity.Verdict == result.Invalid {
		least = 1
	}
	if counts && counted < least {
		t.Errorf("trial %d (%s): the servers count %.0f requests in the window, the load %d answers", trial.Number, trial.Variant, counted, seen)
	}
	for _, f := range trial.Validity.Findings {
		if f.Severity == result.InvalidLevel && !slices.Contains(busy(), f.Rule) {
			t.Errorf("trial %d (%s): %s: %s", trial.Number, trial.Variant, f.Rule, f.Message)
		}
	}
}
