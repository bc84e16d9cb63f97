package plan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"prony/internal/plan"
	"prony/internal/spec"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a text with a file, or writes it.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs\ngot:\n%s", file, got)
	}
}

// files lists those that match, and fails if there are fewer than at least.
func files(t *testing.T, pattern string, atLeast int) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) < atLeast {
		t.Fatalf("%s: got %d files (%v), want at least %d", pattern, len(found), err, atLeast)
	}
	return found
}

// facts are those of a machine with 16 CPUs and a host with 8.
func facts() plan.Facts {
	return plan.Facts{CPUs: 16, Hosts: map[string]plan.Machine{"sut1": {CPUs: 8}}}
}

func load(t *testing.T, name, text string) *spec.Experiment {
	t.Helper()
	e, err := spec.Load(name, []byte(text), spec.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func planned(t *testing.T, text string, f plan.Facts) *plan.Experiment {
	t.Helper()
	e, err := plan.Make(load(t, "x.yaml", text), f)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func makeFile(t *testing.T, file string) (*plan.Experiment, error) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Make(load(t, filepath.Base(file), string(text)), facts())
}

// TestGood holds the whole plan of each file, as JSON and as a dry run, and that
// the JSON is read back as the same plan.
func TestGood(t *testing.T) {
	for _, file := range files(t, "testdata/good/*.yaml", 6) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			e, err := makeFile(t, file)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.MarshalIndent(e, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".json", string(text)+"\n")
			var dry bytes.Buffer
			if err := plan.DryRun(&dry, e); err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".txt", dry.String())
			var back plan.Experiment
			if err := json.Unmarshal(text, &back); err != nil {
				t.Fatal(err)
			}
			again, err := json.MarshalIndent(back, "", " ")
			if err != nil || !bytes.Equal(again, text) {
				t.Errorf("the plan changes on its way through JSON: %v", err)
			}
			same, err := makeFile(t, file)
			if err != nil || !reflect.DeepEqual(e, same) {
				t.Errorf("the same file gives another plan (%v)", err)
			}
		})
	}
}

// TestShipped: what we hand out can be planned.
func TestShipped(t *testing.T) {
	for _, pattern := range []string{"../../examples/*.yaml", "../../experiments/*.yaml"} {
		for _, file := range files(t, pattern, 3) {
			e, err := makeFile(t, file)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			if e.Name+".yaml" != filepath.Base(file) || e.Question == "" || len(e.Trials) == 0 {
				t.Errorf("%s: got name %q, question %q, %d trials", file, e.Name, e.Question, len(e.Trials))
			}
		}
	}
}

// TestWrong holds what is found out only while planning, with its position.
func TestWrong(t *testing.T) {
	for _, file := range files(t, "testdata/wrong/*.yaml", 5) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			_, err := makeFile(t, file)
			var mistakes spec.Mistakes
			if !errors.As(err, &mistakes) {
				t.Fatalf("got error %v, want mistakes", err)
			}
			for _, m := range mistakes {
				if m.Line < 1 || m.Column < 1 {
					t.Errorf("no position: %v", m)
				}
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".err", err.Error()+"\n")
		})
	}
}

// TestDescribe holds that a plan of a command line, written as a file, loaded
// and planned, is the same load.
func TestDescribe(t *testing.T) {
	text := `prony: 1
name: all
services: {app: {url: 'https://127.0.0.1:8080'}, other: {url: 'http://127.0.0.1:8081'}}
load:
  target: app
  connections: 7
  threads: 2
  duration: 1m30s
  timeout: 3s
  connect-timeout: 4s
  tls-timeout: 5s
  drain: 100ms
  insecure: true
  tls-max: 1.2
  seed: 99
  max-header: 1KiB
  max-body: 3000
  dial: unix:/x
  connect-rate: 5/s
  ARRIVALS
  requests: [{path: '/a?b=%20c', weight: 2}, {path: /b, service: other, body: 'x', host: h, headers: {A: b}}, {path: '*', method: OPTIONS, name: star}]
expect: [p99 < 50ms]
`
	for _, arrivals := range []string{"warmup: 2s", "rate: 2.5M/s", "rate: 100..0.5/s\n  warmup: 2s", "rate: 1,2,3/s\n  arrivals: constant\n  warmup: 1s",
		"think: 5ms uniform", "keepalive: false", "pipeline: 5", "script: x.lua\n  script-args: [a, b]"} {
		t.Run(arrivals, func(t *testing.T) {
			first := planned(t, strings.Replace(text, "ARRIVALS", arrivals, 1), facts()).Trials[0].Plan
			e, err := plan.Describe(first)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := spec.Write(&b, e); err != nil {
				t.Fatal(err)
			}
			second := planned(t, b.String(), facts()).Trials[0].Plan
			if !reflect.DeepEqual(first.Load, second.Load) || !reflect.DeepEqual(first.Expect, second.Expect) {
				t.Errorf("got  %+v\nwant %+v\nby way of\n%s", second.Load, first.Load, b.String())
			}
		})
	}
}

func TestDescribeRefusesPlannedTimes(t *testing.T) {
	p := plan.Plan{Load: plan.Load{Requests: []plan.Request{{URL: "http://h/"}}}}
	p.Load.Arrivals.Times = []int64{1, 2}
	if _, err := plan.Describe(p); err == nil || !strings.Contains(err.Error(), "2 planned times") {
		t.Errorf("got error %v, want one about planned times", err)
	}
}

func TestAt(t *testing.T) {
	l := plan.Load{Requests: []plan.Request{{URL: "http://app/a?b", Service: "app", Weight: 3}, {URL: "http://out/", Weight: 1}}}
	got, err := l.At(map[string][]string{"app": {"http://127.0.0.1:1", "https://h:2"}})
	want := []plan.Request{{URL: "http://127.0.0.1:1/a?b", Service: "app", Weight: 1.5}, {URL: "https://h:2/a?b", Service: "app", Weight: 1.5}, {URL: "http://out/", Weight: 1}}
	if err != nil || !reflect.DeepEqual(got.Requests, want) {
		t.Errorf("got %+v, %v; want %+v", got.Requests, err, want)
	}
	for name, addresses := range map[string][]string{"none": nil, "no URL": {"127.0.0.1:1"}} {
		if _, err := l.At(map[string][]string{"app": addresses}); err == nil || !strings.Contains(err.Error(), `"app"`) {
			t.Errorf("%s: got error %v, want one about app", name, err)
		}
	}
}

// TestNarrowed keeps a goal or a baseline that the flags took the variants of
// from being a mistake of the file.
func TestNarrowed(t *testing.T) {
	const text = "prony: 1\nservices: {app: {catalog: go-http, instances: \"${instances}\"}}\nload: {target: app, path: /}\nvary: {instances: [1, 2]}\n" +
		"baseline: {instances: 1}\nexpect: [scaling(instances) > 0.7]\n"
	for _, c := range []struct {
		name     string
		flags    spec.Overrides
		baseline string
		goals    int
	}{
		{"whole", spec.Overrides{}, "instances=1", 1},
		{"only", spec.Overrides{Only: []string{"instances=2"}}, "instances=2", 0},
		{"set", spec.Overrides{Set: []string{"instances=2"}}, "instances=2", 0},
		{"set to others", spec.Overrides{Set: []string{"instances=2,3"}}, "instances=2", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := spec.Load("narrowed.yaml", []byte(text), c.flags)
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.Make(e, facts())
			if err != nil {
				t.Fatal(err)
			}
			if p.Baseline != c.baseline || len(p.Goals) != c.goals || len(p.Goals)+len(p.Unjudged) != 1 {
				t.Errorf("got baseline %s, goals %v, not judged %v, want %s and %d goals", p.Baseline, p.Goals, p.Unjudged, c.baseline, c.goals)
			}
		})
	}
}

// TestStartupWarmup: where limits change when the warm-up has ended, it is a load
// of its own.
func TestStartupWarmup(t *testing.T) {
	for _, tt := range []struct {
		name, limits, load string
		want               *plan.Warmup
		own                time.Duration // of the load itself
	}{
		{"by the clock, no startup", "{cpus: 1}", "{warmup: 7s}", nil, 7 * time.Second},
		{"by the clock", "{cpus: 1, startup_cpus: 2}", "{warmup: 7s}", &plan.Warmup{Least: 7 * time.Second, Most: 7 * time.Second}, 0},
		{"by the clock, a startup that is not more", "{cpus: 2, startup_cpus: 2}", "{warmup: 7s}", nil, 7 * time.Second},
		{"until steady", "{cpus: 1, startup_cpus: 2}", "{warmup: auto}", &plan.Warmup{Least: 10 * time.Second, Most: 3 * time.Minute}, 0},
		{"the longest of two", "{cpus: 1, startup_cpus: 2}", "[{name: a, target: app, warmup: 7s}, {name: b, target: app, warmup: 9s}]",
			&plan.Warmup{Least: 9 * time.Second, Most: 9 * time.Second}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := planned(t, "prony: 1\nservices:\n  app: {process: {command: a}, limits: "+tt.limits+"}\nload: "+tt.load+"\n", facts()).Trials[0].Plan
			if (p.Warmup == nil) != (tt.want == nil) || p.Warmup != nil && *p.Warmup != *tt.want {
				t.Errorf("got warm-up %v, want %v", p.Warmup, tt.want)
			}
			if p.Load.Warmup != tt.own {
				t.Errorf("the load warms up for %v, want %v", p.Load.Warmup, tt.own)
			}
		})
	}
}
