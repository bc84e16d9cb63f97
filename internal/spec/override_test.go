package spec_test

import (
	"strings"
	"testing"

	"prony/internal/spec"
)

const overridden = `prony: 1
services:
  app:
    process: {command: ./hello}
    instances: ${instances}
load: {target: app, duration: 10s}
vary: {instances: [1, 2, 3], load.connections: [8, 64]}
repeat: 5
`

// names lists the variants with " | " between them.
func names(e *spec.Experiment) string {
	var all []string
	for _, c := range e.Combinations() {
		all = append(all, c.Name())
	}
	return strings.Join(all, " | ")
}

// TestOverridesTakeAway: what a flag took from an axis may still stand under only,
// except and baseline.
func TestOverridesTakeAway(t *testing.T) {
	text := strings.Replace(overridden, "load.connections: [8, 64]}", `load.connections: [8, 64],
  except: [{instances: 3, load.connections: 64}], only: [{instances: 1}, {instances: [2, 3]}]}
baseline: {instances: 3, load.connections: 8}`, 1)
	e, err := spec.Load("x.yaml", []byte(text), spec.Overrides{Set: []string{"instances=1,2", "load.connections=8"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(e), "instances=1 load.connections=8 | instances=2 load.connections=8"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if _, err := spec.Load("x.yaml", []byte(strings.Replace(text, "{instances: 1}", "{instances: 7}", 1)), spec.Overrides{Set: []string{"load.connections=8"}}); err == nil {
		t.Error("a value that no flag took away: got no mistake")
	}
}

func TestOverrides(t *testing.T) {
	first := func(e *spec.Experiment) spec.Traffic { return e.Load[0] }
	yaml := func(e *spec.Experiment) string {
		var b strings.Builder
		if err := spec.Write(&b, *e); err != nil {
			t.Error(err)
		}
		return b.String()
	}
	tests := []struct {
		name string
		o    spec.Overrides
		got  func(*spec.Experiment) any
		want any
	}{
		{"a field", spec.Overrides{Set: []string{"load.duration=2s"}}, func(e *spec.Experiment) any { return first(e).Duration }, spec.Duration(2e9)},
		{"the last one wins", spec.Overrides{Set: []string{"load.duration=2s", "load.duration=3s"}}, func(e *spec.Experiment) any { return first(e).Duration }, spec.Duration(3e9)},
		{"a field that was not there", spec.Overrides{Set: []string{"app.limits.memory=400Mi"}}, func(e *spec.Experiment) any { return e.Services[0].Limits.Memory }, spec.Size(400 << 20)},
		{"a service in full", spec.Overrides{Set: []string{"services.app.port=8080", "instances=1"}}, func(e *spec.Experiment) any { return e.Services[0].Port }, 8080},
		{"a mapping", spec.Overrides{Set: []string{"app.limits={cpus: 200m}"}}, func(e *spec.Experiment) any { return e.Services[0].Limits.CPUs }, 0.2},
		{"what a service is", spec.Overrides{Set: []string{"app.catalog=go-http"}}, func(e *spec.Experiment) any {
			return e.Services[0].Process == nil && e.Services[0].Catalog == "go-http"
		}, true},
		{"a text with a colon", spec.Overrides{Set: []string{"question=which: a or b"}}, func(e *spec.Experiment) any { return e.Question }, "which: a or b"},
		{"a key of the file", spec.Overrides{Set: []string{"seed=7"}}, func(e *spec.Experiment) any { return e.Seed }, uint64(7)},
		{"the only load by its number", spec.Overrides{Set: []string{"load[0].threads=3"}}, func(e *spec.Experiment) any { return first(e).Threads }, 3},
		{"an axis", spec.Overrides{Set: []string{"instances=4"}}, func(e *spec.Experiment) any { return names(e) }, "instances=4 load.connections=8 | instances=4 load.connections=64"},
		{"an axis with several values", spec.Overrides{Set: []string{"instances=1, 3", "load.connections=8"}}, func(e *spec.Experiment) any { return names(e) }, "instances=1 load.connections=8 | instances=3 load.connections=8"},
		{"an axis as a list", spec.Overrides{Set: []string{"load.connections=[1]", "instances=1"}}, func(e *spec.Experiment) any { return names(e) }, "instances=1 load.connections=1"},
		{"another axis", spec.Overrides{Set: []string{"instances=1", "load.connections=8", "vary.load.threads=1,2"}}, func(e *spec.Experiment) any { return names(e) },
			"instances=1 load.connections=8 load.threads=1 | instances=1 load.connections=8 load.threads=2"},
		{"only one variant", spec.Overrides{Only: []string{"instances=2 load.connections=64"}}, func(e *spec.Experiment) any { return names(e) }, "instances=2 load.connections=64"},
		{"only some", spec.Overrides{Only: []string{"instances=2"}}, func(e *spec.Experiment) any { return names(e) }, "instances=2 load.connections=8 | instances=2 load.connections=64"},
		{"only by values", spec.Overrides{Only: []string{"3,64", "1,8"}}, func(e *spec.Experiment) any { return names(e) }, "instances=1 load.connections=8 | instances=3 load.connections=64"},
		{"only sets what comes first", spec.Overrides{Only: []string{"instances=3"}}, func(e *spec.Experiment) any { return e.Services[0].Instances }, 3},
		{"repeats", spec.Overrides{Repeat: 2}, func(e *spec.Experiment) any { return e.Repeat.Times }, 2},
		{"written back", spec.Overrides{Repeat: 2, Set: []string{"instances=1,3", "load.duration=2s"}}, func(e *spec.Experiment) any {
			return strings.Contains(yaml(e), "duration: 2s") && strings.Contains(yaml(e), "instances: [1, 3]") && strings.Contains(yaml(e), "repeat: 2")
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := spec.Load("x.yaml", []byte(overridden), tt.o)
			if err != nil {
				t.Fatal(err)
			}
			if got := tt.got(e); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestOverrideMistakes holds that what a flag brought in is blamed on the flag.
func TestOverrideMistakes(t *testing.T) {
	tests := []struct {
		name string
		o    spec.Overrides
		want []string
	}{
		{"no value", spec.Overrides{Set: []string{"load.duration"}}, []string{"--set load.duration: want name=value, such as load.duration=2s"}},
		{"a wrong value", spec.Overrides{Set: []string{"load.duration=2x"}}, []string{`--set load.duration=2x: load.duration: duration "2x": not understood or too long`}},
		{"an unknown key", spec.Overrides{Set: []string{"load.duraton=2s"}}, []string{"--set load.duraton=2s: load.duraton: unknown key, did you mean duration?"}},
		{"an unknown service", spec.Overrides{Set: []string{"gateway.instances=2"}}, []string{"--set gateway.instances=2: gateway.instances: no service is called gateway (services: app)"}},
		{"a step through a value", spec.Overrides{Set: []string{"load.duration.unit=s"}}, []string{`--set load.duration.unit=s: load.duration.unit: load.duration is "10s" and has no unit`}},
		{"a second load", spec.Overrides{Set: []string{"load[1].rate=5"}}, []string{"--set load[1].rate=5: load[1].rate: there is one load, so only load[0]"}},
		{"a path with a hole", spec.Overrides{Set: []string{"load..rate=5"}}, []string{`--set load..rate=5: load..rate: "load..rate" is no path of the file`}},
		{"broken YAML", spec.Overrides{Set: []string{"load.sources=[a"}}, []string{"--set load.sources=[a: not YAML:"}},
		{"a bad value of an axis", spec.Overrides{Set: []string{"instances=1,none"}}, []string{`--set instances=1,none: services.app.instances: count "none": not a number`}},
		{"an axis that does nothing", spec.Overrides{Set: []string{"workers=1,2"}}, []string{"--set workers=1,2: vary.workers: this axis does nothing"}},
		{"no such variant", spec.Overrides{Only: []string{"instances=9"}}, []string{"--only instances=9: no variant is called that (allowed: instances=1 load.connections=8"}},
		{"negative repeats", spec.Overrides{Repeat: -1}, []string{`--repeat: repeat: count "-1": negative`}},
		{"several", spec.Overrides{Repeat: -1, Only: []string{"x"}, Set: []string{"load.threads=0", "load.engine=uring"}},
			[]string{"--only x: ", "--repeat: ", "--set load.engine=uring: ", "--set load.threads=0: "}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := spec.Load("x.yaml", []byte(overridden), tt.o)
			if err == nil {
				t.Fatal("got no error")
			}
			got := strings.Split(err.Error(), "\n")
			if len(got) != len(tt.want) {
				t.Fatalf("got %d mistakes, want %d:\n%v", len(got), len(tt.want), err)
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("got  %s\nwant %s…", got[i], want)
				}
			}
		})
	}
}
