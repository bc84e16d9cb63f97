//go:build unix

package drivertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"prony/internal/driver"
	"prony/internal/plan"
)

// Suite is a driver to be tried, on one site.
type Suite struct {
	Driver driver.Driver
	Site   driver.Site
	// Service makes a service whose instances run the test binary with the two
	// arguments ${host} and ${port}; nil is a process of this machine. Roles
	// come to it as environment variables.
	Service func() plan.Service
	// Powerless says that there is no right to set limits, and that the driver
	// has to say so.
	Powerless bool
}

// Main is for TestMain: it plays the role that this process was started in, or
// runs the tests. The suites are those of Run, by their names, made anew in the
// process of a runner. It returns the exit status.
func Main(m *testing.M, suites map[string]func() (Suite, error)) int {
	how := os.Getenv(role)
	name, isRunner := strings.CutPrefix(how, roleRunner)
	switch {
	case isRunner:
		return runner(suites[name])
	case how != "":
		return serve(how)
	}
	return m.Run()
}

// Program is the service of the suite as a process of this machine.
func Program() plan.Service {
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	return plan.Service{Name: "app", Kind: plan.Program, Instances: 1,
		Process: &plan.Process{Command: []string{self, "${host}", "${port}"}}}
}

// Run runs the suite under a name that Main knows.
func Run(t *testing.T, name string, s Suite) {
	if s.Service == nil {
		s.Service = Program
	}
	for _, c := range []struct {
		name, rule string
		test       func(*testing.T, trial)
	}{
		{"start", "a ready instance answers at its endpoint and carries the run's label", testStart},
		{"record", "what will exist is recorded before it exists", testRecord},
		{"no journal", "nothing starts that cannot be recorded", testNoJournal},
		{"two instances", "instances get ports of their own", testTwo},
		{"ready by log", "a line of its output can say that it is ready", testReadyLog},
		{"never ready", "an instance that is not ready in time is stopped, and the error ends with its last lines", testNeverReady},
		{"wrong status", "the path has to answer with the status", testWrongStatus},
		{"early end", "an end before it is ready is reported at once, with status and last 20 lines", testEarly},
		{"crash", "a death in mid-run is noticed and told with its reason", testCrash},
		{"logs", "both outputs are kept, also after the stop", testLogs},
		{"stop", "a stop leaves nothing, and may be repeated", testStop},
		{"stop the deaf", "who does not hear SIGTERM is killed after its grace", testDeaf},
		{"stop the daemon", "a process that left its group ends with the instance", testDaemon},
		{"interrupted start", "a start that is interrupted leaves nothing", testInterrupted},
		{"limits read back", "the limits that the system has are reported", testApplied},
		{"cpu limit", "a CPU-bound target at cpus 0.2 uses 0.200 ± 0.01 cores", testCPU},
		{"startup limit", "the limit of the startup holds until its end, the other one afterwards", testStartup},
		{"memory limit", "memory over the limit is an OOM kill and is called so", testMemory},
		{"runner killed", "what a runner leaves that dies of SIGKILL is found and removed", testRunnerKilled},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("the rule: %s", c.rule)
				}
			})
			one := trial{Suite: s, name: name, run: newRun(), ports: new(driver.Ports)}
			t.Cleanup(func() { one.nothing(t) }) // runs last
			c.test(t, one)
		})
	}
}

// trial is a suite with a run of its own.
type trial struct {
	Suite
	name  string
	run   driver.RunID
	ports *driver.Ports
}

func newRun() driver.RunID {
	return driver.RunID(fmt.Sprintf("drivertest-%d-%x", os.Getpid(), time.Now().UnixNano()))
}

// request asks for an instance in a role.
func (s trial) request(how string) driver.Request {
	service := s.Service()
	service.Env = map[string]string{role: how, "GOMAXPROCS": "2"}
	service.Ready = plan.Ready{Path: "/", Within: 20 * time.Second}
	return driver.Request{Run: s.run, Service: service, Site: s.Site, Ports: s.ports, Grace: 5 * time.Second}
}

// start starts an instance, and stops it at the end of the test.
func (s trial) start(t *testing.T, r driver.Request) *driver.Running {
	t.Helper()
	running, err := driver.Start(t.Context(), s.Driver, r)
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	t.Cleanup(func() {
		if err := running.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return running
}

// nothing checks that the run left nothing.
func (s trial) nothing(t *testing.T) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	left, err := driver.Find(ctx, s.Driver, s.Site, s.run)
	if err != nil {
		t.Errorf("find leftovers: %v", err)
	}
	for _, l := range left {
		t.Errorf("left behind: %s", l)
		_ = l.Remove(ctx)
	}
}

// limited is a request with limits, or a skip where there is no right to them.
func (s trial) limited(t *testing.T, l plan.Limits) driver.Request {
	t.Helper()
	r := s.request(roleTarget)
	r.Service.Limits = l
	err := s.Driver.Check(t.Context(), r)
	if s.Powerless {
		return s.refused(t, r, err)
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrNotExist) {
		if os.Getenv("PRONY_E2E") == "require" {
			t.Fatalf("PRONY_E2E=require: %v", err)
		}
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("check: %v", err)
	}
	return r
}

// refused checks that limits are refused with the reason, unless they are
// advisory, which is noted; without limits the request will do.
func (s trial) refused(t *testing.T, r driver.Request, err error) driver.Request {
	t.Helper()
	l := r.Service.Limits
	if l.CPUs == 0 && l.Memory == 0 {
		return r
	}
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "advisory") {
		t.Errorf("check: got %v, want the missing right and the way on", err)
	}
	if _, err := driver.Start(t.Context(), s.Driver, r); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("start: got %v, want the missing right", err)
	}
	r.Advisory = true
	if err := s.Driver.Check(t.Context(), r); err != nil {
		t.Errorf("check with advisory limits: %v", err)
	}
	running := s.start(t, r)
	if got := strings.Join(running.Notes(), "\n"); !strings.Contains(got, "advisory and were not set ("+l.AtStart().String()+")") {
		t.Errorf("got notes %q, want one of the limits", got)
	}
	if got := running.Applied(); got.CPUs != 0 || got.Memory != 0 {
		t.Errorf("got %+v applied, want nothing", got)
	}
	t.SkipNow()
	return r
}

// get asks an instance; an error is allowed where it may die of the question.
func get(ctx context.Context, base, path string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+path, nil)
	if err != nil {
		return "", err
	}
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

func ask(t *testing.T, base, path string) string {
	t.Helper()
	text, err := get(t.Context(), base, path)
	if err != nil {
		t.Fatalf("GET %s: %v", path, err)
	}
	return text
}

func usageOf(t *testing.T, base string) usage {
	t.Helper()
	var u usage
	if err := json.Unmarshal([]byte(ask(t, base, "/usage")), &u); err != nil {
		t.Fatal(err)
	}
	return u
}

// listens reports whether somebody takes connections at an endpoint. Where that
// is not on this machine's own address, what stands between may take them too
// once the container's network is gone: there the target has to answer.
func listens(t *testing.T, base string) bool {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && !ip.IsLoopback() {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		text, err := get(ctx, base, "/")
		return err == nil && text == "hello\n"
	}
	c, err := net.DialTimeout("tcp", u.Host, time.Second)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}

// wait waits for a channel to close.
func wait(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s did not happen within 20 s", what)
	}
}

// logPatience is for output that is still on its way: an engine stands between.
const logPatience = 5 * time.Second

// logged is the log, as soon as it holds a text or the patience is over.
func logged(r *driver.Running, want string) string {
	for deadline := time.Now().Add(logPatience); ; <-time.After(5 * time.Millisecond) {
		text := string(r.Logs().Text())
		if strings.Contains(text, want) || time.Now().After(deadline) {
			return text
		}
	}
}

// died is the error of an instance that ended by itself.
func died(t *testing.T, err error) *driver.DeathError {
	t.Helper()
	var death *driver.DeathError
	if !errors.As(err, &death) {
		t.Fatalf("got error %v, want a *driver.DeathError", err)
	}
	return death
}
