package analyse_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prony/internal/analyse"
	"prony/internal/plan"
	"prony/internal/result"
)

// speaking are the rules that say more than information, without those named.
func speaking(r *result.Run, but ...string) []string {
	var names []string
	for _, f := range r.Validity.Findings {
		if f.Severity != result.Info && !slices.Contains(but, f.Rule) && !slices.Contains(names, f.Rule) {
			names = append(names, f.Rule)
		}
	}
	return names
}

// count sets the counter of a whole window.
func counted(r *result.Run, kind, name string, m result.Metric, n float64) {
	o := find(r, kind, name)
	if o.Totals == nil {
		o.Totals = map[result.Metric]float64{}
	}
	o.Totals[m] = n
}

// swept is an experiment of one variant for each number of connections, each
// with its rate and changes.
func swept(base func() *result.Run, points ...point) *result.Experiment {
	e := &result.Experiment{Plan: &plan.Experiment{}}
	for i, p := range points {
		r := base()
		l := &r.Load
		r.Plan.Load.Connections = p.connections
		r.Plan.Load.Requests[0].URL = fmt.Sprintf("http://127.0.0.1:%d/", 20_000+i) // each start of the service has its own
		l.Connections = result.Connections{Asked: p.connections, Opened: p.connections, Peak: p.connections, Connects: int64(p.connections)}
		n := p.rate * 10
		l.Requests = result.Requests{Asked: n, Started: n, Completed: n, InWindow: n}
		l.Statuses = map[string]int64{"200": n}
		took := time.Duration(float64(p.connections) / float64(p.rate) * 1e9)
		l.Latency.Response, l.Latency.Service = times(n, took), times(n, took)
		l.Rate, l.InFlight, l.InFlightEdges, l.Intervals = float64(p.rate), float64(p.connections), int64(2*p.connections), seconds(p.rate, int64(p.connections))
		if find(r, aService, "app") != nil && len(r.Services) == 1 {
			put(r, aServer, "app", result.ServerRequests, float64(p.rate))
		}
		if p.change != nil {
			p.change(r, l, &r.Generator)
		}
		judge(r)
		name := "c" + string(rune('a'+i))
		e.Plan.Variants = append(e.Plan.Variants, plan.Variant{Name: name})
		e.Trials = append(e.Trials, result.Trial{Number: i + 1, Variant: name, Values: map[string]string{"load.connections": name}, Run: *r})
	}
	analyse.Experiment(e, analyse.DefaultThresholds())
	return e
}

type point struct {
	connections int
	rate        int64
	change      func(run, load, gen)
}

func TestKAT37OneThread(t *testing.T) {
	one := with(aService, "app", result.CPUCores, 1.02, result.ThreadMax, 0.99)
	host := with(aHost, "sut", result.HostBusy, 0.07)
	thread := func(r run, _ load, _ gen) {
		th := thing(result.OfThread, "event-loop-*", "sut")
		th.Service, th.Series = "app", map[result.Metric]result.Values{result.ThreadMax: fill(10, 0.99)}
		r.Observed = append(r.Observed, th)
	}
	e := swept(watched, point{64, 8000, all(one, host, thread)}, point{128, 8160, all(one, host, thread)})
	r := &e.Trials[0].Run
	if got := speaking(r); !slices.Equal(got, []string{"one-thread"}) {
		t.Fatalf("got findings %q, want one-thread alone", got)
	}
	f := findingOf(t, r, "one-thread")
	if f.ID != "K1" || f.Confidence != result.Likely || f.Where != "app[0]" || !strings.Contains(f.Message, "event-loop-*") {
		t.Errorf("got %+v, want K1, likely, of app[0], and the thread's name", f)
	}
	if b := r.Bottleneck; b == nil || b.What != "one-thread" || b.Where != "app[0]" {
		t.Errorf("got bottleneck %+v, want the thread", b)
	}
}

func TestKAT38Quota(t *testing.T) {
	r := watched()
	r.Services[0].Limits.CPUs = 2
	put(r, aService, "app", result.CPUCores, 1.24)
	counted(r, aService, "app", result.Periods, 300)
	counted(r, aService, "app", result.ThrottledN, 45)
	judge(r)
	f := findingOf(t, r, "cpu-quota")
	near(t, "throttled", f.Evidence["throttled"], 0.15, 1e-9)
	if f.Confidence != result.Definite || !strings.Contains(f.Message, "15% of its periods") {
		t.Errorf("got %+v, want a definite 15%%", f)
	}
	if got := speaking(r); !slices.Equal(got, []string{"cpu-quota"}) || r.Bottleneck == nil || r.Bottleneck.What != "cpu-quota" {
		t.Errorf("got findings %q and bottleneck %+v, want the quota alone", got, r.Bottleneck)
	}
}

func TestKAT39AcceptQueue(t *testing.T) {
	r := watched()
	counted(r, aHost, "sut", result.ListenOverflows, 37)
	counted(r, aHost, "sut", result.ListenDrops, 40)
	f := findingOf(t, judge(r), "accept-queue")
	if f.Evidence["overflows"] != 37 || f.Evidence["other_drops"] != 3 || f.Confidence != result.Definite {
		t.Errorf("got %+v, want 37 overflows and 3 other drops, definite", f)
	}
	if got := answer(judge(watched()), "accept-queue"); got != "" {
		t.Errorf("all zero: got %q, want nothing", got)
	}
	r = watched()
	without(aHost, "sut", result.ListenOverflows)(r, nil, nil)
	if got := answer(judge(r), "accept-queue"); got != "not run" {
		t.Errorf("counter absent: got %q, want not run", got)
	}
}

func TestKAT40Bandwidth(t *testing.T) {
	const segments = 117.6e6 / 1448
	r := watched()
	put(r, aLink, "eth0", result.LinkSpeed, 1e9)
	put(r, aLink, "eth0", result.BytesIn, segments*1514)
	put(r, aLink, "eth0", result.PacketsIn, segments)
	f := findingOf(t, judge(r), "bandwidth")
	near(t, "used", f.Evidence["used"], 0.999, 0.0005)
	if b := r.Bottleneck; b == nil || b.What != "bandwidth" {
		t.Errorf("got bottleneck %+v, want the link", b)
	}
	put(r, aLink, "eth0", result.LinkSpeed, -1)
	if got := answer(judge(r), "bandwidth"); got != "not run" {
		t.Errorf("speed -1: got %q, want not run", got)
	}
}

func TestKAT42UpstreamReuse(t *testing.T) {
	for _, c := range []struct {
		opened float64
		want   string
	}{{10_000, "not reused"}, {10, ""}, {100, "in part: 100 new ones for 10,000 requests (1%)"}} {
		r := chained()
		r.Load.Requests = result.Requests{Asked: 10_000, Started: 10_000, Completed: 10_000, InWindow: 10_000}
		counted(r, aService, "app", result.InService, c.opened)
		judge(r)
		if c.want == "" {
			if got := answer(r, "upstream-reuse"); got != "" {
				t.Errorf("%g opened: got %q, want nothing", c.opened, got)
			}
			continue
		}
		if f := findingOf(t, r, "upstream-reuse"); !strings.Contains(f.Message, c.want) {
			t.Errorf("%g opened: got %q, want %q", c.opened, f.Message, c.want)
		}
	}
}

func TestKAT45Waiting(t *testing.T) {
	busy := func(switches float64) func(run, load, gen) {
		return with(aService, "app", result.CPUCores, 5.6, result.Voluntary, switches)
	}
	host := with(aHost, "sut", result.HostBusy, 0.36)
	e := swept(watched, point{32, 6000, all(busy(12_000), host)}, point{64, 8000, all(busy(40_800), host)}, point{128, 8100, all(busy(41_310), host)})
	r := &e.Trials[1].Run
	f := findingOf(t, r, "waiting")
	if f.ID != "L1" || f.Confidence != result.Hint || !strings.Contains(f.Message, "not identified; waiting") {
		t.Errorf("got %+v, want a hint: not identified; waiting", f)
	}
	near(t, "switches before", f.Evidence["switches_per_request_before"], 2, 1e-9)
	near(t, "switches", f.Evidence["switches_per_request"], 5.1, 1e-9)
	if got := speaking(r); !slices.Equal(got, []string{"waiting"}) {
		t.Errorf("got findings %q, want waiting alone", got)
	}
	if b := r.Bottleneck; b == nil || b.What != "not-identified" || len(b.Exonerated) < 5 || !strings.Contains(b.Message, "not identified; waiting") {
		t.Errorf("got bottleneck %+v, want none identified, and what was exonerated", b)
	}
	if b := e.Trials[0].Bottleneck; b == nil || b.What != "concurrency" || !strings.Contains(b.Message, "no limit reached") {
		t.Errorf("got bottleneck %+v at half the load, want no limit reached", b)
	}
}

// tiers is an experiment with app alone and through gw.
func tiers(direct, proxied int64, change func(run, load, gen)) *result.Experiment {
	e := &result.Experiment{Plan: &plan.Experiment{Baseline: "direct", Variants: []plan.Variant{{Name: "direct"}, {Name: "proxied"}}}}
	for i, x := range []int64{direct, proxied} {
		r := chained()
		name := "proxied"
		if i == 0 {
			name, r.Plan.Load.Requests[0].Service = "direct", "app"
			r.Services[0].Requests = nil
			find(r, aServer, "app").Series = nil
		} else if change != nil {
			change(r, &r.Load, &r.Generator)
		}
		n := x * 10
		l := &r.Load
		l.Requests = result.Requests{Asked: n, Started: n, Completed: n, InWindow: n}
		l.Statuses = map[string]int64{"200": n}
		took := time.Duration(64 / float64(x) * 1e9)
		l.Latency.Response, l.Latency.Service = times(n, took), times(n, took)
		l.Rate, l.Intervals = float64(x), seconds(x, 64)
		r.Services[0].Requests = &n
		judge(r)
		e.Trials = append(e.Trials, result.Trial{Number: i + 1, Variant: name, Values: map[string]string{"load.target": name}, Run: *r})
	}
	analyse.Experiment(e, analyse.DefaultThresholds())
	return e
}

func about(e *result.Experiment, rule string) *result.Finding {
	for i := range e.Findings {
		if e.Findings[i].Rule == rule {
			return &e.Findings[i]
		}
	}
	return nil
}

func TestKAT46WhichTier(t *testing.T) {
	f := about(tiers(21_000, 20_000, nil), "backend-headroom")
	if f == nil || f.Severity != result.InvalidLevel || !strings.Contains(f.Message, "backend-bound") {
		t.Errorf("21,000 and 20,000: got %+v, want invalid and backend-bound", f)
	}
	e := tiers(60_000, 20_000, all(with(aService, "gw", result.CPUCores, 3.9, result.RunDelay, 1.0), with(aHost, "edge", result.HostBusy, 0.98),
		with(aService, "app", result.CPUCores, 4.8), with(aHost, "sut", result.HostBusy, 0.31)))
	f = about(e, "backend-headroom")
	if f == nil || f.Severity != result.Info || !strings.Contains(f.Message, "proxy-bound") {
		t.Errorf("60,000 and a full gateway: got %+v, want proxy-bound", f)
	}
	if b := e.Trials[1].Bottleneck; b == nil || b.What != "target-cpu" || b.Where != "gw[0]" {
		t.Errorf("got bottleneck %+v, want the CPU of gw", b)
	}
	if f = about(tiers(30_000, 20_000, nil), "backend-headroom"); f == nil || f.Severity != result.SuspectLevel {
		t.Errorf("30,000 and 20,000: got %+v, want suspect: less than twice", f)
	}
}
