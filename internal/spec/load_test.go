package spec_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"prony/internal/spec"
)

func load(t *testing.T, text string) *spec.Experiment {
	t.Helper()
	e, err := spec.Load("x.yaml", []byte(text), spec.Overrides{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// service is the only one, of a file that has the given lines for it.
func service(t *testing.T, lines string) spec.Service {
	t.Helper()
	return load(t, "prony: 1\nservices:\n  app:\n    "+strings.ReplaceAll(lines, "\n", "\n    ")+"\nload: {target: app}\n").Services[0]
}

func TestServices(t *testing.T) {
	tests := []struct {
		name, lines string
		got         func(spec.Service) any
		want        any
	}{
		{"words on a line", `process: {command: "./a -x 'b c' \"d\" e\\ f ''"}`, func(s spec.Service) any { return s.Process.Command }, []string{"./a", "-x", "b c", "d", "e f", ""}},
		{"words in a list", "process: {command: [sh, -c, 'a && b']}", func(s spec.Service) any { return s.Process.Command }, []string{"sh", "-c", "a && b"}},
		{"words with variables", "process: {command: '${work}/a -p=${port} $${x}'}", func(s spec.Service) any { return s.Process.Command }, []string{"${work}/a", "-p=${port}", "$${x}"}},
		{"thousandths of a core", "catalog: x\nlimits: {cpus: 200m}", func(s spec.Service) any { return s.Limits.CPUs }, 0.2},
		{"Kubernetes' size", "catalog: x\nlimits: {memory: 400Mi}", func(s spec.Service) any { return s.Limits.Memory }, spec.Size(400 << 20)},
		{"cores", "catalog: x\nlimits: {cpuset: '6,0-2,2'}", func(s spec.Service) any { return s.Limits.CPUSet }, spec.Cores{0, 1, 2, 6}},
		{"one upstream", "catalog: x", func(s spec.Service) any { return len(s.Upstream) }, 0},
		{"numbers in the environment", "catalog: x\nenv: {A: 1, B: 'yes', C: true}", func(s spec.Service) any { return s.Env }, map[string]string{"A": "1", "B": "yes", "C": "true"}},
		{"on is no truth", "catalog: x", func(s spec.Service) any { return s.On }, ""},
		{"ready", "catalog: x\nready: {path: /, status: 204, within: 30s}", func(s spec.Service) any { return *s.Ready },
			spec.Ready{Path: "/", Status: 204, Within: spec.Duration(30 * time.Second)}},
		{"in a cluster", "kubernetes: {manifest: a.yaml, namespace: b}", func(s spec.Service) any { return *s.Kubernetes }, spec.Kubernetes{Manifest: "a.yaml", Namespace: "b"}},
		{"an alias", "process: {command: &c [./a, b]}\nenv: {A: x}", func(s spec.Service) any { return s.Process.Command }, []string{"./a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.got(service(t, tt.lines)); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %#v, want %#v", got, tt.want)
			}
		})
	}
}

func TestLoads(t *testing.T) {
	no := false
	tests := []struct {
		name, text string
		want       spec.Traffic
	}{
		{"flat rate", "rate: 5k/s", spec.Traffic{Rate: spec.Rate{Points: []float64{5000}}}},
		{"rate an hour", "rate: 3600/h", spec.Traffic{Rate: spec.Rate{Points: []float64{1}}}},
		{"ramp", "rate: 100..500/s", spec.Traffic{Rate: spec.Rate{Points: []float64{100, 500}, Ramp: true}}},
		{"ramp in full", "rate: 100/s..500/s", spec.Traffic{Rate: spec.Rate{Points: []float64{100, 500}, Ramp: true}}},
		{"steps", "rate: '100, 0, 300/m'", spec.Traffic{Rate: spec.Rate{Points: []float64{100.0 / 60, 0, 5}}}},
		{"think", "think: 10ms exponential", spec.Traffic{Think: spec.Think{Mean: 10 * time.Millisecond, Distribution: "exponential"}}},
		{"no keepalive", "keepalive: false", spec.Traffic{KeepAlive: &no}},
		{"warm-up until steady", "warmup: auto", spec.Traffic{Warmup: &spec.Warmup{Auto: true}}},
		{"no warm-up", "warmup: 0s", spec.Traffic{Warmup: &spec.Warmup{}}},
		{"count", "count: 1.5M", spec.Traffic{Count: 1_500_000}},
		{"headers", "headers: {Accept: text/plain, X-N: 1}", spec.Traffic{Headers: [][]string{{"Accept", "text/plain"}, {"X-N", "1"}}}},
		{"headers twice", "headers: [[A, b], [A, c]]", spec.Traffic{Headers: [][]string{{"A", "b"}, {"A", "c"}}}},
		{"capacity for one goal", "capacity: {slo: p99 < 50ms}", spec.Traffic{Capacity: &spec.Capacity{SLO: []string{"p99 < 50ms"}}}},
		{"requests as paths", "requests: [/a, {path: /b, weight: 0.5}]", spec.Traffic{Requests: []spec.Request{{Path: "/a"}, {Path: "/b", Weight: 0.5}}}},
		{"${ itself", "body: 'a $${b} c'", spec.Traffic{Body: "a ${b} c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Target = "app"
			e := load(t, "prony: 1\nservices: {app: {url: 'http://127.0.0.1:8080'}}\nload:\n  target: app\n  "+tt.text+"\n")
			if got := e.Load[0]; !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// TestResolve holds that values come in where variables stand, and leave the
// file alone.
func TestResolve(t *testing.T) {
	e := load(t, `prony: 1
services:
  app: {process: {command: './a ${size}', env: {N: '${n}'}}, instances: '${n}'}
load: {target: app, path: '/${size}/${n}'}
vary: {n: [1, 2], size: [small, big], app.limits: [{cpus: 1}, {cpus: 2, memory: 1GiB}]}
`)
	all := e.Combinations()
	if got, want := len(all), 8; got != want {
		t.Fatalf("got %d combinations, want %d", got, want)
	}
	if got, want := all[3].Name(), "n=1 size=big app.limits={cpus: 2, memory: 1GiB}"; got != want {
		t.Errorf("got name %q, want %q", got, want)
	}
	for range 2 {
		s, err := e.Resolve(all[7])
		if err != nil {
			t.Fatal(err)
		}
		app := s.Services[0]
		if got, want := s.Load[0].Path, "/big/2"; got != want {
			t.Errorf("got path %q, want %q", got, want)
		}
		if app.Instances != 2 || app.Process.Env["N"] != "2" || app.Process.Command[1] != "big" || app.Limits.Memory != 1<<30 {
			t.Errorf("got %+v %+v %+v", app, app.Process, app.Limits)
		}
	}
	if _, err := e.Resolve(spec.Combination{{Axis: "n", Text: "3"}}); err == nil {
		t.Error("a combination of another experiment was resolved")
	}
}

// TestWriteRead holds that what Write makes of structs is read back the same.
func TestWriteRead(t *testing.T) {
	no := false
	cooldown, drain := spec.Duration(0), spec.Duration(0)
	e := spec.Experiment{Prony: 1, Name: "all", Question: "why: #?", Hosts: map[string]string{"sut": "ssh://a@b"}, Order: "as-written", Seed: 1 << 40,
		Scale: spec.Scale{Factor: 0.25}, Cooldown: &cooldown, OnFailure: "continue", Expect: []string{"p99 < 50ms"},
		Repeat: spec.Repeat{Until: &spec.Until{Detect: 0.03, Most: 12}},
		Services: spec.Services{
			{Name: "z", Docker: &spec.Docker{Image: "a:1", Command: []string{"b c"}, Port: 80, Network: "host", Volumes: []string{"/a:/b:ro"}, User: "1"}, Upstream: []string{"a"}},
			{Name: "a", Process: &spec.Process{Command: []string{"x", "y z"}, Dir: "d"}, On: "sut", Instances: 3,
				Limits: &spec.Limits{CPUs: 0.2, CPUSet: spec.Cores{0, 1, 3}, Memory: 400 << 20, PIDs: 9}, Ready: &spec.Ready{Log: "up", Within: 5e9}},
			{Name: "c", Compose: &spec.Compose{File: "f", Service: "s", Port: 1}},
		},
		Load: spec.Loads{
			{Target: "z", Connections: 5, Rate: spec.Rate{Points: []float64{1.5, 2e6}, Ramp: true}, Arrivals: "poisson", Duration: spec.Duration(90 * time.Second),
				Warmup: &spec.Warmup{Auto: true}, Drain: &drain, MaxBody: 1 << 20, TLSMin: "1.2", TLSMax: "1.3", Body: "a: b\n\tc", KeepAlive: &no},
			{Target: "c", Path: "/x", Think: spec.Think{Mean: 5e6, Distribution: "uniform"}, Warmup: &spec.Warmup{Time: 1e9}, Method: "PUT", SameLength: true},
		}}
	var b bytes.Buffer
	if err := spec.Write(&b, e); err != nil {
		t.Fatal(err)
	}
	read := load(t, b.String())
	got, want := *read, e
	if s, err := read.Resolve(nil); err != nil || !reflect.DeepEqual(s.Services, e.Services) || !reflect.DeepEqual(s.Load, e.Load) {
		t.Errorf("%v: got\n%+v\nof\n%s", err, s, b.String())
	}
	if !reflect.DeepEqual(got.Repeat, want.Repeat) || *got.Cooldown != 0 || got.Scale != want.Scale || got.Seed != want.Seed ||
		got.Question != want.Question || got.Hosts["sut"] != "ssh://a@b" || got.Order != want.Order || got.OnFailure != want.OnFailure {
		t.Errorf("got %+v", got)
	}
	var again bytes.Buffer
	if err := spec.Write(&again, *read); err != nil {
		t.Fatal(err)
	}
	if twice := load(t, again.String()); !reflect.DeepEqual(twice.Services, e.Services) || !reflect.DeepEqual(twice.Load, e.Load) {
		t.Errorf("written as loaded, it reads as\n%s", again.String())
	}
}

func TestFill(t *testing.T) {
	tests := []struct{ name, text, want, err string }{
		{"nothing", "a $b } c", "a $b } c", ""},
		{"a value", "http://${host}:${port}/", "http://h:80/", ""},
		{"itself", "$${port} $$${port}", "${port} $${port}", ""},
		{"unknown", "${work}/x", "", `fill in "${work}/x": unknown variable "work" (known: host, port)`},
		{"open", "${port", "", `fill in "${port": unknown variable "port" (known: host, port)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := spec.Fill(tt.text, map[string]string{"host": "h", "port": "80"})
			if got != tt.want || tt.err == "" != (err == nil) || err != nil && err.Error() != tt.err {
				t.Errorf("got %q, %v; want %q, %s", got, err, tt.want, tt.err)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	tests := []struct{ word, want string }{
		{"cpu", "cpus"}, {"mmeory", "memory"}, {"memory", "memory"}, {"swap", ""}, {"", ""}, {strings.Repeat("memory", 1000), ""},
	}
	for _, tt := range tests {
		if got, _ := spec.Nearest(tt.word, []string{"cpus", "memory", "pids"}); got != tt.want {
			t.Errorf("nearest to %.10q: got %q, want %q", tt.word, got, tt.want)
		}
	}
}

// TestScale: a number or auto, in the file and by --set, and back.
func TestScale(t *testing.T) {
	const text = "prony: 1\nservices: {app: {url: 'http://127.0.0.1:8080'}}\nload: {target: app}\n"
	tests := []struct {
		name, line string
		set        []string
		want       spec.Scale
		written    string
	}{
		{"none", "", nil, spec.Scale{}, ""},
		{"a number", "scale: 0.25\n", nil, spec.Scale{Factor: 0.25}, "scale: 0.25\n"},
		{"auto", "scale: auto\n", nil, spec.Scale{Auto: true}, "scale: auto\n"},
		{"auto in quotes", "scale: 'auto'\n", nil, spec.Scale{Auto: true}, "scale: auto\n"},
		{"auto by a flag", "scale: 2\n", []string{"scale=auto"}, spec.Scale{Auto: true}, "scale: auto\n"},
		{"a number by a flag", "scale: auto\n", []string{"scale=0.5"}, spec.Scale{Factor: 0.5}, "scale: 0.5\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := spec.Load("x.yaml", []byte(text+tt.line), spec.Overrides{Set: tt.set})
			if err != nil {
				t.Fatal(err)
			}
			if e.Scale != tt.want {
				t.Errorf("got %+v, want %+v", e.Scale, tt.want)
			}
			var b strings.Builder
			if err := spec.Write(&b, spec.Experiment{Prony: 1, Services: e.Services, Load: e.Load, Scale: e.Scale}); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), tt.written) || tt.written == "" && strings.Contains(b.String(), "scale") {
				t.Errorf("got %q, want %q in it", b.String(), tt.written)
			}
		})
	}
}
