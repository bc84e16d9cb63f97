package analyse_test

import (
	"math"
	"testing"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
)

// quiet are the figures of things at ease.
func quiet(kind string) map[result.Metric]float64 {
	switch kind {
	case result.OfHost:
		return map[result.Metric]float64{
			result.HostBusy: 0.06, result.HostSoftIRQ: 0.01, result.HostSteal: 0, result.CoreBusyMax: 0.4, result.CoreSoftIRQMax: 0.1, result.CoreSoftIRQMed: 0.02,
			result.RunQueue: 1, result.PSICPUSome: 0.01, result.PSIMemorySome: 0, result.PSIMemoryFull: 0, result.PSIIOSome: 0.01,
			result.MemoryAvailable: 12 << 30, result.MemoryTotal: 16 << 30, result.SwapRate: 0, result.MajorFaults: 0, result.FrequencyMHz: 3000,
			result.ConntrackUsed: 300, result.ConntrackMax: 262_144, result.ConntrackDrops: 0, result.SoftnetDrops: 0, result.SoftnetSqueezed: 0,
			result.OutSegments: 16_000, result.RetransSegments: 0, result.TCPTimeouts: 0, result.ListenOverflows: 0, result.ListenDrops: 0, result.SynCookies: 0,
			result.RequestQFull: 0, result.PassiveOpens: 0, result.TimeWait: 20, result.TimeWaitOver: 0, result.DiskBusyMax: 0.05, result.DiskQueueMax: 0.1,
		}
	case result.OfInterface:
		return map[result.Metric]float64{result.BytesIn: 1.2e6, result.BytesOut: 2e6, result.PacketsIn: 8000, result.PacketsOut: 8000,
			result.LinkDrops: 0, result.LinkErrors: 0, result.LinkMissed: 0, result.LinkSpeed: 1e10}
	case result.OfService:
		return map[result.Metric]float64{result.CPUCores: 0.8, result.RunDelay: 0.01, result.SleepD: 0, result.ThreadMax: 0.3, result.ResidentSet: 200 << 20,
			result.MemoryEvents: 0, result.OOMKills: 0, result.OwnPSIMemory: 0, result.ServiceFault: 0, result.Files: 90, result.FilesMost: 1024,
			result.Voluntary: 16_000, result.InService: 0, result.Sockets: 64, result.Throttled: 0}
	case result.OfJVM:
		return map[result.Metric]float64{result.GCTime: 0.01, result.SafepointTime: 0.01, result.CompileTime: 0.01, result.HeapMax: 1 << 30}
	case result.OfPool:
		return map[result.Metric]float64{result.PoolThreads: 20, result.PoolBusy: 2, result.PoolRunning: 0, result.PoolInIO: 0, result.PoolBlocked: 0}
	case result.OfServer:
		return map[result.Metric]float64{result.ServerRequests: 8000, result.UpstreamOverflows: 0}
	}
	return nil
}

// thing is something that was watched for ten seconds, with the figures of ease.
func thing(kind, name, host string) result.Observed {
	o := result.Observed{Kind: kind, Name: name, Host: host, Series: map[result.Metric]result.Values{}}
	if kind == result.OfHost {
		o.Host = ""
	}
	if kind == result.OfService || kind == result.OfJVM || kind == result.OfServer {
		o.Service = name
	}
	for i := range 10 {
		o.AtUS, o.LengthUS = append(o.AtUS, float64(i+1)*1e6), append(o.LengthUS, 1e6)
	}
	for m, x := range quiet(kind) {
		o.Series[m] = fill(10, x)
	}
	return o
}

// watched is a sound closed run against app on the host sut of 16 cores, with
// everything watched.
func watched() *result.Run {
	r := closed()
	r.Plan.Load.Requests = []plan.Request{{Method: "GET", URL: "http://app/", Service: "app", Weight: 1}}
	r.Plan.Services = []plan.Service{{Name: "app", Kind: plan.Program, Host: "sut", Instances: 1}}
	r.Services = []result.Service{{Name: "app", Host: "sut", CPUUSPerRequest: 100, CPUUS: 8e6}}
	r.Hosts = map[string]result.Environment{"sut": {CPUs: 16}}
	r.Observed = []result.Observed{thing(result.OfHost, "", ""), thing(result.OfHost, "sut", ""), thing(result.OfInterface, "eth0", ""),
		thing(result.OfInterface, "eth0", "sut"), thing(result.OfService, "app", "sut"), thing(result.OfServer, "app", "sut")}
	put(r, result.OfHost, "", result.HostBusy, 0.06)
	return r
}

// chained is a sound run through gw to app, each on a host of its own.
func chained() *result.Run {
	r := watched()
	r.Plan.Load.Requests[0].Service = "gw"
	r.Plan.Services = append(r.Plan.Services, plan.Service{Name: "gw", Kind: plan.Program, Host: "edge", Instances: 1, Upstream: []string{"app"}})
	got := int64(96_000)
	r.Load.Requests.Warmup, r.Load.Requests.WarmupCompleted = 16_000, 16_000
	r.Services[0].Requests = &got
	r.Services = append(r.Services, result.Service{Name: "gw", Host: "edge", CPUUSPerRequest: 50})
	r.Hosts["edge"] = result.Environment{CPUs: 4}
	r.Observed = append(r.Observed, thing(result.OfHost, "edge", ""), thing(result.OfService, "gw", "edge"))
	put(r, result.OfHost, "edge", result.HostBusy, 0.22)
	return r
}

// onOneMachine is a sound run with everything on this machine of 8 cores.
func onOneMachine() *result.Run {
	r := watched()
	r.Load.Loopback = true
	r.Plan.Services[0].Host, r.Services[0].Host = "", ""
	r.Observed = []result.Observed{thing(result.OfHost, "", ""), thing(result.OfInterface, "lo", ""), thing(result.OfService, "app", "")}
	put(r, result.OfHost, "", result.HostBusy, 0.16)
	return r
}

// java adds a virtual machine to app.
func java(base func() *result.Run) func() *result.Run {
	return func() *result.Run {
		r := base()
		r.Observed = append(r.Observed, thing(result.OfJVM, "app", "sut"))
		return r
	}
}

// threaded adds a virtual machine with a pool of 20 threads to app, of which
// two are busy.
func threaded(base func() *result.Run) func() *result.Run {
	return func() *result.Run {
		r := java(base)()
		o := thing(result.OfPool, "exec-*", "sut")
		o.Service = "app"
		r.Observed = append(r.Observed, o)
		return r
	}
}

// find returns a watched thing.
func find(r *result.Run, kind, name string) *result.Observed {
	for i := range r.Observed {
		if o := &r.Observed[i]; o.Kind == kind && o.Name == name {
			return o
		}
	}
	panic("the test has no " + kind + " " + name)
}

// put sets a metric of a thing for the whole time.
func put(r *result.Run, kind, name string, m result.Metric, x float64) {
	o := find(r, kind, name)
	o.Series[m] = fill(len(o.AtUS), x)
}

// with is put as a change of a case; further pairs follow.
func with(kind, name string, pairs ...any) func(run, load, gen) {
	return func(r run, _ load, _ gen) {
		for i := 0; i < len(pairs); i += 2 {
			x, ok := pairs[i+1].(float64)
			if !ok {
				panic("a figure must be a float64")
			}
			put(r, kind, name, pairs[i].(result.Metric), x)
		}
	}
}

// without takes metrics away.
func without(kind, name string, metrics ...result.Metric) func(run, load, gen) {
	return func(r run, _ load, _ gen) {
		for _, m := range metrics {
			delete(find(r, kind, name).Series, m)
		}
	}
}

func all(changes ...func(run, load, gen)) func(run, load, gen) {
	return func(r run, l load, g gen) {
		for _, change := range changes {
			change(r, l, g)
		}
	}
}

// atHalf repeats a run for so many seconds, with a rate for each of them.
func seconded(n int, rate func(i int) int64) func(run, load, gen) {
	return func(r run, l load, _ gen) {
		l.DurationUS, l.Intervals = float64(n)*1e6, nil
		var sum int64
		for i := range n {
			c := rate(i)
			sum += c
			l.Intervals = append(l.Intervals, result.Interval{StartUS: float64(i) * 1e6, LengthUS: 1e6, Started: c, Planned: c, Completed: c, InFlight: 64})
		}
		l.Requests = result.Requests{Asked: sum, Started: sum, Completed: sum, InWindow: sum}
		l.Rate = float64(sum) / float64(n)
		took := time.Duration(64 / l.Rate * 1e9)
		l.Latency.Response, l.Latency.Service = times(sum, took), times(sum, took)
		r.Observed = nil
	}
}

// TestWatchedIsSound: a run with everything watched and everything at ease has
// no finding, and what did not run says why.
func TestWatchedIsSound(t *testing.T) {
	for name, base := range map[string]func() *result.Run{"apart": watched, "chained": chained, "java": java(watched), "on one machine": onOneMachine} {
		r := judge(base())
		for _, f := range r.Validity.Findings {
			if f.Severity != result.Info && f.Rule != "co-located" {
				t.Errorf("%s: got %s %s: %s, want no word against a sound run", name, f.Severity, f.Rule, f.Message)
			}
		}
		for _, rule := range []string{"bandwidth", "retransmits", "accept-queue", "one-thread", "target-cpu", "memory-limit", "disk", "foreign-cpu", "steal"} {
			if got := answer(r, rule); got == "not run" {
				t.Errorf("%s: got %s not run, want it run; not run: %q", name, rule, r.Validity.NotRun)
			}
		}
		if b := r.Bottleneck; b == nil || b.What != "target-or-path" || len(b.Exonerated) < 5 {
			t.Errorf("%s: got bottleneck %+v, want the answer time and what was exonerated", name, b)
		}
		checkFindings(t, r)
	}
}

func TestUnknownIsNotZero(t *testing.T) {
	r := watched()
	r.Observed = r.Observed[:2] // only hosts
	judge(r)
	for _, rule := range []string{"bandwidth", "one-thread", "target-cpu", "disk"} {
		if got := answer(r, rule); got != "not run" {
			t.Errorf("got %q of %s without its figures, want not run", got, rule)
		}
	}
	put(r, result.OfHost, "sut", result.ListenOverflows, math.NaN())
	if got := answer(judge(r), "accept-queue"); got != "not run" {
		t.Errorf("got %q for a counter that is not known, want not run", got)
	}
}

// TestDamagedSeries: values without times, times without values and holes are
// not known, and the rest is judged.
func TestDamagedSeries(t *testing.T) {
	r := watched()
	o := find(r, aService, "app")
	o.Series[result.ThreadMax] = append(fill(10, 0.99), 7, 7, 7)
	o.Series[result.CPUCores] = result.Values{math.NaN(), 1.02, math.NaN(), 1.02, 1.02}
	find(r, aHost, "sut").LengthUS = nil
	find(r, aHost, "").AtUS = find(r, aHost, "").AtUS[:3]
	judge(r)
	if got := answer(r, "one-thread"); got != "note" {
		t.Errorf("got %q, want the thread seen by what is known", got)
	}
	if got := answer(r, "retransmits"); got != "not run" {
		t.Errorf("got %q of a host without times, want not run", got)
	}
	checkFindings(t, r)
}
