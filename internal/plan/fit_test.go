package plan_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"prony/internal/plan"
	"prony/internal/spec"
)

// host is a machine of two cores and 4 GiB, with the limits of a usual system.
func host() plan.Facts {
	return plan.Facts{CPUs: 2, Memory: 4 << 30, Sockets: plan.Sockets{Files: 65536, Ports: 28232, Reuse: 2}}
}

// text is a file with scale: auto.
func fitFile(services, load, more string) string {
	return "prony: 1\nservices:\n  " + services + "\nload: " + load + "\nhosts: {sut1: 'ssh://a', sut2: 'ssh://b'}\n" + more + "\nscale: auto\n"
}

// changes are those of a Fit without their reasons, and with them.
func changes(f *plan.Fit) (short, long string) {
	var all []string
	for _, line := range f.Lines() {
		text, _, _ := strings.Cut(line, ":")
		all = append(all, text)
	}
	return strings.Join(all, "; "), strings.Join(f.Lines(), "\n")
}

func TestFit(t *testing.T) {
	const app = "app: {process: {command: a}}"
	tests := []struct {
		name, services, load, more string
		facts                      func(*plan.Facts)
		want                       string
		why                        string // a part of the reasons
	}{
		{"what fits stays", app, "{target: app, connections: 1024}", "", nil, "nothing had to be reduced", ""},
		{"the connections of a core", app, "{target: app, connections: 4096}", "", nil, "connections 4096 -> 1024", ": a generator of one core carries about 1024"},
		{"of several cores", app, "{target: app, connections: 4096}", "", func(f *plan.Facts) { f.CPUs = 4 }, "connections 4096 -> 2048", "2 cores"},
		{"of all cores", "app: {process: {command: a}, on: sut1}", "{target: app, connections: 4096}", "",
			func(f *plan.Facts) { f.Hosts = map[string]plan.Machine{"sut1": {CPUs: 2}} }, "connections 4096 -> 2048", "2 cores"},
		{"of a target here", "app: {url: 'http://127.0.0.1:1'}", "{target: app, connections: 4096}", "", nil, "connections 4096 -> 1024", "one core"},
		{"of a quota", "app: {url: 'http://192.168.1.188'}", "{target: app, connections: 40960}", "", func(f *plan.Facts) { f.CPUs, f.Quota = 64, 2.5 }, "connections 40960 -> 2048", "2 cores"},
		{"the default", app, "{target: app, count: 100}", "", func(f *plan.Facts) { f.Sockets.Files = 8 }, "connections 10 -> 4", "8 files open here, of which 4"},
		{"open files", app, "{target: app, connections: 1000}", "", func(f *plan.Facts) { f.Sockets.Files = 512 }, "connections 1000 -> 256", "512 files"},
		{"an open load's bound is no work", app, "{target: app, connections: 8192, rate: 100/s}", "", nil, "nothing had to be reduced", ""},
		{"but it is files", app, "{target: app, connections: 8192, rate: 100/s}", "", func(f *plan.Facts) { f.Sockets.Files = 5120 }, "connections 8192 -> 4096", "of which 1024"},
		{"side by side", app + "\n  b: {process: {command: b}}", "[{name: x, target: app, connections: 3072}, {name: y, target: b, connections: 1024}]", "", nil,
			"connections 3072 -> 768 for x; connections 1024 -> 256 for y", "and the most that is asked for at once is 4096"},
		{"variants stay in proportion", app, "{target: app}", "vary: {load.connections: [512, 4096, 8192]}\nrepeat: 1\norder: as-written", nil,
			"connections 512 -> 64; connections 4096 -> 512; connections 8192 -> 1024", "at once is 8192"},
		{"ports", "app: {url: 'http://192.168.1.188'}", "{target: app, connections: 6000}", "", func(f *plan.Facts) { f.CPUs, f.Sockets.Ports = 16, 1000 }, "connections 6000 -> 1000", "1000 local ports"},
		{"ports of two sources", "app: {url: 'http://192.168.1.188'}", "{target: app, connections: 6000, sources: [192.168.1.1, 192.168.1.2]}", "",
			func(f *plan.Facts) { f.CPUs, f.Sockets.Ports = 16, 1000 }, "connections 6000 -> 2000", ""},
		{"ports of three instances", "app: {process: {command: a}, instances: 3}", "{target: app, connections: 6000}", "",
			func(f *plan.Facts) { f.CPUs, f.Sockets.Ports = 16, 1000 }, "connections 6000 -> 3000", ""},
		{"no ports for a unix socket", "app: {url: 'http://192.168.1.188'}", "{target: app, connections: 2000, dial: unix:/x}", "",
			func(f *plan.Facts) { f.CPUs, f.Sockets.Ports = 16, 1000 }, "nothing had to be reduced", ""},
		{"ports that rest", "app: {url: 'http://192.168.1.188'}", "{target: app, rate: 941/s, keepalive: false}", "", nil, "rate 941/s -> 471/s", "used once in 1m"},
		{"ports that are used again", "app: {url: 'http://127.0.0.1:1'}", "{target: app, rate: 941/s, keepalive: false}", "", nil, "nothing had to be reduced", ""},
		{"ports kept open", "app: {url: 'http://192.168.1.188'}", "{target: app, rate: 941/s}", "", nil, "nothing had to be reduced", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := host()
			if tt.facts != nil {
				tt.facts(&f)
			}
			short, long := changes(planned(t, fitFile(tt.services, tt.load, tt.more), f).Fit())
			if short != tt.want {
				t.Errorf("got  %s\nwant %s", short, tt.want)
			}
			if !strings.Contains(long, tt.why) {
				t.Errorf("got %s\nwant %q in it", long, tt.why)
			}
		})
	}
}

func TestFitLimits(t *testing.T) {
	const load = "{target: app, connections: 64}"
	tests := []struct {
		name, services, load, more string
		facts                      func(*plan.Facts)
		want                       string
		why                        string
	}{
		{"fits", "app: {process: {command: a}, limits: {cpus: 1, memory: 3GiB}}", load, "", nil, "nothing had to be reduced", ""},
		{"one service", "app: {process: {command: a}, limits: {cpus: 4}}", load, "", nil, "cpus 4 -> 1 for app", "this machine has 2 cores, of which the generator keeps 1"},
		{"two alike", "app: {process: {command: a}, limits: {cpus: 4}}\n  gateway: {process: {command: b}, limits: {cpus: 4}}", load, "", nil,
			"cpus 4 -> 0.5 for app and gateway alike", "this machine has 2 cores, of which the generator keeps 1"},
		{"in proportion", "app: {process: {command: a}, instances: 3, limits: {cpus: 4}}\n  gateway: {process: {command: b}, limits: {cpus: 12}}", load, "", nil,
			"cpus 4 -> 0.166 for app; cpus 12 -> 0.5 for gateway", ""},
		{"whole cores", "app: {process: {command: a}, instances: 3, limits: {cpus: 4}}\n  gateway: {process: {command: b}, limits: {cpus: 12}}", load, "",
			func(f *plan.Facts) { f.CPUs = 4 }, "cpus 4 -> 0.333 for app; cpus 12 -> 1 for gateway", "each service has whole ones to itself"},
		{"one without a limit has a core", "app: {process: {command: a}, limits: {cpus: 4}}\n  free: {process: {command: b}}", load, "", func(f *plan.Facts) { f.CPUs = 4 },
			"cpus 4 -> 2 for app", "of which the generator and free keep 2"},
		{"and none where there are too few", "app: {process: {command: a}, limits: {cpus: 0.6}}\n  free: {process: {command: b}}", load, "", nil, "nothing had to be reduced", ""},
		{"named cores", "app: {process: {command: a}, limits: {cpus: 4}}\n  db: {process: {command: b}, limits: {cpuset: 0-2}}", load, "", func(f *plan.Facts) { f.CPUs = 6 },
			"cpus 4 -> 2 for app", "of which the generator and db keep 4"},
		{"one core", "app: {process: {command: a}, limits: {cpus: 2}}", load, "", func(f *plan.Facts) { f.CPUs = 1 }, "cpus 2 -> 0.5 for app", "of which the generator keeps 0.5"},
		{"the least over variants", "app: {process: {command: a}, instances: '${n}', limits: {cpus: 1}}", load, "vary: {n: [1, 3]}\nrepeat: 1", nil, "cpus 1 -> 0.333 for app", ""},
		{"another host", "app: {process: {command: a}, limits: {cpus: 16}, on: sut1}", load, "", func(f *plan.Facts) { f.Hosts = map[string]plan.Machine{"sut1": {CPUs: 8}} },
			"cpus 16 -> 8 for app", ": host sut1 has 8 cores"},
		{"hosts nobody asked", "app: {process: {command: a}, limits: {cpus: 16}, on: sut1}\n  b: {process: {command: b}, on: sut2}", load, "", nil,
			"nothing had to be reduced; only this machine was reckoned with; hosts sut1 and sut2 were not looked at", ""},
		{"memory", "app: {process: {command: a}, instances: 2, limits: {memory: 4GiB}}", load, "", nil, "memory 4 GiB -> 1.8 GiB for app", "this machine has 4 GiB, of which 512 MiB are kept"},
		{"memory of another host", "app: {process: {command: a}, limits: {memory: 2GiB}, on: sut1}", load, "",
			func(f *plan.Facts) { f.Hosts = map[string]plan.Machine{"sut1": {CPUs: 8, Memory: 1 << 30}} }, "memory 2 GiB -> 768 MiB for app", "host sut1 has 1 GiB"},
		{"rates and counts go with the CPUs", "app: {process: {command: a}, limits: {cpus: 4}}", "{target: app, rate: 100..2000/s, duration: 10s, count: 50000}", "", nil,
			"rate 2k/s -> 500/s; count 50000 -> 12500; cpus 4 -> 1 for app", "as much less as the services have of CPU time"},
		{"what runs already is not ours", "app: {url: 'http://127.0.0.1:1'}", load, "", nil, "nothing had to be reduced", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := host()
			if tt.facts != nil {
				tt.facts(&f)
			}
			short, long := changes(planned(t, fitFile(tt.services, tt.load, tt.more), f).Fit())
			if short != tt.want {
				t.Errorf("got  %s\nwant %s", short, tt.want)
			}
			if !strings.Contains(long, tt.why) {
				t.Errorf("got %s\nwant %q in it", long, tt.why)
			}
		})
	}
}

// TestFitRefuses: where the floors do not fit, either, with the place and the way
// out.
func TestFitRefuses(t *testing.T) {
	tests := []struct {
		name, services string
		facts          func(*plan.Facts)
		want           string
	}{
		{"cpus", "app: {process: {command: a}, instances: 30, limits: {cpus: 1}}", nil, "x.yaml:3:62: services.app.limits.cpus: scale: auto finds no room"},
		{"memory", "app: {process: {command: a}, instances: 60, limits: {memory: 1GiB}}", nil, "x.yaml:3:64: services.app.limits.memory: scale: auto finds no room"},
		{"all cores named", "app: {process: {command: a}, limits: {cpus: 1}}\n  db: {process: {command: b}, limits: {cpuset: 0-1}}", nil, "services.app.limits.cpus: scale: auto finds no room"},
		{"files", "app: {process: {command: a}}", func(f *plan.Facts) { f.Sockets.Files = 2 }, "x.yaml:4:8: load[0]: scale: auto finds no room for a single connection"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := host()
			if tt.facts != nil {
				tt.facts(&f)
			}
			loads := "[{name: x, target: app, connections: 64}, {name: y, target: app, connections: 64}]"
			_, err := plan.Make(load(t, "x.yaml", fitFile(tt.services, loads, "")), f)
			var mistakes spec.Mistakes
			if !errors.As(err, &mistakes) || !strings.Contains(err.Error(), tt.want) || mistakes[0].Remedy == "" {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

// TestFitHolds: whatever the machine, the planned limits fit it beside the
// generator, what was changed was made less, and the same input gives the same.
func TestFitHolds(t *testing.T) {
	text := fitFile("a: {process: {command: a}, instances: '${n}', limits: {cpus: 3, memory: 700MiB}}\n  b: {process: {command: b}, limits: {cpus: 5}}\n  c: {process: {command: c}}",
		"{target: a, connections: 9000}", "vary: {n: [1, 2, 5]}\nrepeat: 1")
	for cpus := 1; cpus <= 40; cpus++ {
		f := host()
		f.CPUs, f.Memory = cpus, int64(cpus)<<30
		e := planned(t, text, f)
		for _, trial := range e.Trials {
			sum, memory := 0.0, int64(0)
			for _, s := range trial.Plan.Services {
				sum += s.Limits.CPUs * float64(s.Instances)
				memory += s.Limits.Memory * int64(s.Instances)
			}
			if most := max(float64(cpus)-1, float64(cpus)/2); sum > most+1e-9 || memory > f.Memory {
				t.Errorf("%d cores, %s: got %v cores and %d bytes, want at most %v and %d", cpus, trial.Variant, sum, memory, most, f.Memory)
			}
			if cpus >= 4 && !trial.Plan.Cores[0].Disjoint {
				t.Errorf("%d cores, %s: shared, since %s", cpus, trial.Variant, trial.Plan.Cores[0].Why)
			}
			if l := trial.Plan.Load; l.Connections > 1024*cpus || l.Threads > l.Connections {
				t.Errorf("%d cores: got %d connections", cpus, l.Connections)
			}
		}
		if slices.ContainsFunc(e.Fit().Changes, func(c plan.Change) bool { return c.To >= c.From }) {
			t.Errorf("%d cores: not less: %v", cpus, e.Fit().Lines())
		}
		if got, want := fmt.Sprint(planned(t, text, f).Fit().Lines()), fmt.Sprint(e.Fit().Lines()); got != want {
			t.Errorf("got %s\nthen %s", want, got)
		}
	}
}

// TestNoFit: a number asks for no fit, and goes on as it did.
func TestNoFit(t *testing.T) {
	e := planned(t, strings.Replace(fitFile("app: {process: {command: a}, limits: {cpus: 4}}", "{target: app, connections: 8192}", ""), "scale: auto", "scale: 0.5", 1), host())
	p := e.Trials[0].Plan
	if e.Fit() != nil || p.Fit != nil || e.Fit().Lines() != nil || p.Load.Connections != 4096 || p.Services[0].Limits.CPUs != 4 || e.Scale != 0.5 {
		t.Errorf("got fit %v, %d connections, %+v, scale %v", e.Fit(), p.Load.Connections, p.Services[0].Limits, e.Scale)
	}
}

// TestFitStartup: what a service may use until it is warm shrinks with its limit.
func TestFitStartup(t *testing.T) {
	f := host()
	f.CPUs = 4
	l := planned(t, fitFile("app: {process: {command: a}, limits: {cpus: 6, startup_cpus: 12}}", "{target: app, connections: 4}", ""), f).Trials[0].Plan.Services[0].Limits
	if l.CPUs != 3 || l.StartupCPUs != 6 {
		t.Errorf("got %+v, want 3 and 6 cores", l)
	}
}
