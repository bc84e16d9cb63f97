package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"prony/internal/plan"
)

// division describes who may use what.
func division(all []plan.Division) string {
	var parts []string
	for _, d := range all {
		if !d.Disjoint {
			parts = append(parts, fmt.Sprintf("%s shared: %s", d.Host, d.Why))
			continue
		}
		for _, s := range d.Shares {
			parts = append(parts, fmt.Sprintf("%s %s%v", d.Host, s.Who, s.Cores))
		}
	}
	return strings.TrimSpace(strings.Join(parts, ";"))
}

func TestCores(t *testing.T) {
	tests := []struct {
		name     string
		services string
		cpus     int
		want     string
	}{
		{"two equal parts", "app: {process: {command: a}}", 4, "app[0 1]; generator[2 3]"},
		{"three parts, the remainder to the first", "app: {process: {command: a}}\n  gw: {process: {command: b}, upstream: app}", 8, "app[0 1 2]; gw[3 4 5]; generator[6 7]"},
		{"what a limit needs", "app: {process: {command: a}, limits: {cpus: 0.2}}", 4, "app[0]; generator[1 2 3]"},
		{"of all instances", "app: {process: {command: a}, limits: {cpus: 1.5}, instances: 3}", 8, "app[0 1 2 3 4]; generator[5 6 7]"},
		{"small instances together", "app: {process: {command: a}, limits: {cpus: 0.2}, instances: 5}", 2, "app[0]; generator[1]"},
		{"too few", "app: {process: {command: a}, limits: {cpus: 4}}", 4, "shared: 5 cores are wanted (app 4, generator 1), 4 are there"},
		{"one", "app: {process: {command: a}}", 1, "shared: 2 cores are wanted (app 1, generator 1), 1 are there"},
		{"unknown", "app: {process: {command: a}}", 0, "shared: the number of cores is not known"},
		{"named cores", "app: {process: {command: a}, limits: {cpuset: 1-2}}", 4, "app[1 2]; generator[0 3]"},
		{"a core twice", "a: {process: {command: a}, limits: {cpuset: 1-2}}\n  b: {process: {command: b}, limits: {cpuset: '2'}}", 4, "shared: a and b both ask for core 2"},
		{"a core that is not there", "a: {process: {command: a}, limits: {cpuset: '4'}}", 4, "shared: a asks for core 4, and the last one is 3"},
		{"nothing of ours", "a: {url: 'http://127.0.0.1:1'}", 4, ""},
		{"another host alone", "a: {process: {command: a}, on: sut1}", 4, ""},
		{"another host shared", "a: {process: {command: a}, on: sut1}\n  b: {process: {command: b}, on: sut1, limits: {cpus: 6}}", 4, "sut1 a[0 1];sut1 b[2 3 4 5 6 7]"},
		{"a host nobody asked", "a: {process: {command: a}, on: sut2}\n  b: {process: {command: b}, on: sut2}", 4, "sut2 shared: the number of cores is not known"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "prony: 1\nservices:\n  " + tt.services + "\nload: {target: TARGET, connections: 100}\nhosts: {sut1: 'ssh://a', sut2: 'ssh://b'}\n"
			target, _, _ := strings.Cut(tt.services, ":")
			f := facts()
			f.CPUs = tt.cpus
			p := planned(t, strings.Replace(text, "TARGET", target, 1), f).Trials[0].Plan
			if got := division(p.Cores); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestThreads: the generator has a thread for each of its own cores, or half of
// the machine where it shares.
func TestThreads(t *testing.T) {
	tests := []struct {
		name, service string
		want          int
	}{
		{"cores of its own", "process: {command: a}, limits: {cpus: 3}", 13},
		{"shared", "process: {command: a}, limits: {cpus: 16}", 8},
		{"another host", "process: {command: a}, on: sut1", 16},
		{"a URL here", "url: 'http://127.0.0.1:1'", 8},
		{"a URL elsewhere", "url: 'http://192.168.1.188'", 16},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := planned(t, "prony: 1\nservices: {app: {"+tt.service+"}}\nload: {target: app, connections: 100}\nhosts: {sut1: 'ssh://a'}\n", facts())
			if got := e.Trials[0].Plan.Load.Threads; got != tt.want {
				t.Errorf("got %d threads, want %d", got, tt.want)
			}
		})
	}
}
