package web_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
)

// Everything in this file is made up: documents in the form of real ones, with
// causes planted, to look at and to test the page with. None of the numbers was
// measured.

var fixtureStart = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// made describes a fixture of a run.
type made struct {
	seed        uint64
	seconds     int
	warmup      int
	rate        float64       // answers a second
	typical     time.Duration // answer time
	connections int
	instances   int
	stall       int // second at which the target stands still; 0: never
	growing     bool
	open        bool
	watched     bool
	java        bool
	verdict     result.Verdict
}

type maker struct {
	made
	r *rand.Rand
}

// fixtureRun is a run with series of everything, if it was watched.
func fixtureRun(m made) result.Run {
	k := maker{m, rand.New(rand.NewPCG(m.seed, 7))}
	r := result.Run{Schema: "prony.result/1", Kind: "load", Version: "fixture", Started: fixtureStart, Load: k.load(), Generator: k.generator(),
		Services: k.services(), Environment: fixtureMachine(), Plan: k.plan(), Validity: k.validity(),
		Command: []string{"prony", "load", "http://gateway.test/", "-c", fmt.Sprint(m.connections), "-d", fmt.Sprintf("%ds", m.seconds)}}
	if m.watched {
		r.Observed = k.observed()
		r.WatchCores = 0.004
	}
	if m.verdict != result.Invalid {
		r.Bottleneck = &result.Bottleneck{What: "target-quota", Where: "app[0]", Confidence: result.Definite,
			Message:    "app used all of its 0.2 cores: it was held back in 97% of the quota's periods while the gateway was at 34% and the generator at 12%",
			Evidence:   map[string]float64{"throttled_ratio": 0.97, "cpu_cores": 0.199},
			Exonerated: []string{"generator", "gateway", "network", "accept queue"}}
	}
	return r
}

func fixtureMachine() result.Environment {
	return result.Environment{OS: "linux", Kernel: "6.12.0", Arch: "amd64", CPUModel: "Fixture CPU 8-core", CPUs: 8, Memory: 32 << 30, Go: "go1.26",
		Hostname: "fixture", Sysctl: map[string]string{"net.core.somaxconn": "4096", "net.ipv4.ip_local_port_range": "32768 60999"}}
}

func (k *maker) plan() *plan.Plan {
	l := plan.Load{Model: plan.Closed, Connections: k.connections, Threads: 2, Duration: time.Duration(k.seconds) * time.Second,
		Warmup: time.Duration(k.warmup) * time.Second, Requests: []plan.Request{{Method: "GET", URL: "http://gateway/", Service: "gateway", Weight: 1}}}
	if k.open {
		l.Model = plan.Open
	}
	entry := "hello"
	if k.java {
		entry = "springboot-tomcat"
	}
	return &plan.Plan{Name: "fixture", Seed: k.seed, Load: l, Services: []plan.Service{
		{Name: "app", Kind: plan.Catalog, Entry: entry, Instances: k.instances, Limits: plan.Limits{CPUs: 0.2, Memory: 200 << 20}},
		{Name: "gateway", Kind: plan.Catalog, Entry: "nginx", Instances: 1, Upstream: []string{"app"}},
	}}
}

func (k *maker) validity() result.Validity {
	v := result.Validity{Verdict: k.verdict, NotRun: []string{"link: the speed of the interface is not known"}}
	v.Findings = append(v.Findings,
		result.Finding{Rule: "generator-cpu", ID: "G1", Severity: result.Info, Message: "the generator used 12.2% of its 8 cores on average, 13.6% at most",
			Evidence: map[string]float64{"mean_busy": 0.122, "peak_busy": 0.136}, Threshold: map[string]float64{"busy": 0.85}},
		result.Finding{Rule: "co-located", ID: "Q1", Severity: result.Note, Where: "host", Message: "generator and target shared this machine",
			Advice: "run the generator on another machine"})
	if k.verdict != result.Valid {
		v.Findings = append(v.Findings, result.Finding{Rule: "cpu-pressure", ID: "Q3", Severity: result.SuspectLevel, Confidence: result.Likely, Where: "host",
			Message:  "in 14.8% of the time something on the generator's machine waited for a core",
			Evidence: map[string]float64{"cpu_pressure": 0.148}, Threshold: map[string]float64{"cpu_pressure": 0.05, "cpu_pressure_invalid": 0.2},
			Advice: "leave cores free: fewer threads (-t), another machine for the target, nothing else running"})
	}
	if k.verdict == result.Invalid {
		v.Findings = append(v.Findings, result.Finding{Rule: "generator-cpu", ID: "G1", Severity: result.InvalidLevel, Confidence: result.Definite, Where: "generator",
			Message: "the generator was at its limit in 84% of the seconds: the number is its own", Evidence: map[string]float64{"seconds_invalid": 0.84},
			Advice: "more threads (-t), or another generator"})
	}
	if k.growing {
		v.Findings = append(v.Findings, result.Finding{Rule: "rate-sustained", ID: "L3", Severity: result.SuspectLevel, Where: "target",
			Message: "unstable at this rate: 61% of the planned requests were answered and the queue grew to the end", Advice: "lower the rate (-r)"})
	}
	return v
}

// load fills seconds with answer times: a body, a second mode, a tail, and a
// stall or a growing queue where asked.
func (k *maker) load() result.Load {
	total := histograms()
	l := result.Load{Model: "closed", Protocol: "http/1.1", Engine: "io_uring", EngineReason: "fixture", Timestamps: "app", Threads: 2,
		Connections: result.Connections{Asked: k.connections, Opened: k.connections, Peak: k.connections, Connects: int64(k.connections)},
		StartedUS:   fixtureStart.UnixMicro(), DurationUS: float64(k.seconds) * 1e6, WarmupUS: float64(k.warmup) * 1e6, EndedBy: "duration",
		Statuses: map[string]int64{}, Failures: map[string]int64{}, SendGapKS: -1}
	if k.open {
		l.Model = "open"
	}
	for s := -k.warmup; s < k.seconds; s++ {
		one := histograms()
		iv := k.second(s, one)
		if s >= 0 {
			l.Requests.Completed += iv.Completed
			l.Requests.Failed += iv.Failed
			l.BytesIn += iv.BytesIn
			for i := range total {
				_ = total[i].Merge(one[i])
			}
		}
		l.Intervals = append(l.Intervals, iv)
	}
	l.Requests.Asked = l.Requests.Completed + l.Requests.Failed
	l.Requests.Started, l.Requests.InWindow = l.Requests.Asked, l.Requests.Asked
	l.Rate = float64(l.Requests.Completed) / float64(k.seconds)
	if k.open {
		offered := k.rate
		l.OfferedRate = &offered
	}
	l.Statuses["200"] = l.Requests.Completed
	if n := l.Requests.Failed; n > 0 {
		l.Statuses["503"], l.Failures["http-status"] = n, n
		l.FailureDetails = []result.Failure{{Kind: "http-status", Phase: "answer", Count: n, Example: "status 503"}}
	}
	l.Latency = result.Latency{Response: result.Histogram{Histogram: total[0]}, Service: result.Histogram{Histogram: total[1]}, Lag: result.Histogram{Histogram: total[2]}}
	return l
}

// histograms are of response, service and lag.
func histograms() [3]*hdr.Histogram {
	var all [3]*hdr.Histogram
	for i := range all {
		all[i], _ = hdr.New(hdr.Config{})
	}
	return all
}

func (k *maker) second(s int, into [3]*hdr.Histogram) result.Interval {
	iv := result.Interval{StartUS: float64(s) * 1e6, LengthUS: 1e6, Warmup: s < 0, InFlight: int64(k.connections)}
	share := 1 + 0.03*k.r.NormFloat64()
	if s < 0 {
		share *= 0.6 + 0.4*float64(s+k.warmup)/float64(max(k.warmup, 1))
	}
	stalled := k.stall > 0 && s == k.stall
	if stalled {
		share *= 0.45
	}
	n := int64(k.rate * share)
	for range min(n, 700) { // drawn, then weighted: fixtures are made quickly
		w := max(1, n/min(n, 700))
		service := k.answer(s, stalled)
		lag := int64(20e3 * math.Exp(0.8*k.r.NormFloat64()))
		into[0].RecordN(service+lag, w)
		into[1].RecordN(service, w)
		into[2].RecordN(lag, w)
	}
	iv.Completed = into[0].Count()
	iv.Failed = int64(float64(iv.Completed) * 0.0004 * k.r.Float64())
	iv.Started, iv.Planned = iv.Completed+iv.Failed, int64(k.rate)
	iv.BytesIn = iv.Completed * 160
	iv.Response, iv.Service, iv.Lag = result.Pack(into[0]), result.Pack(into[1]), result.Pack(into[2])
	return iv
}

// answer is one answer time in nanoseconds.
func (k *maker) answer(s int, stalled bool) int64 {
	v := float64(k.typical) * math.Exp(0.25*k.r.NormFloat64())
	switch p := k.r.Float64(); {
	case p < 0.08:
		v *= 6 // held back until the next period
	case p < 0.083:
		v *= 25
	}
	if s < 0 {
		v *= 1.7
	}
	if stalled && k.r.Float64() < 0.3 {
		v += 700e6 * k.r.Float64()
	}
	if k.growing {
		v += float64(max(s, 0)) * 60e6
	}
	return int64(v)
}

func (k *maker) generator() result.Generator {
	g := result.Generator{CPUs: 8, CPUUS: 1e6 * float64(k.seconds), MeanBusy: 0.122, PeakBusy: 0.136, PeakThreadBusy: 0.52, MaxRSSBytes: 44 << 20,
		CPUUSPerRequest: 8.1, ClockSource: "tsc", MonitorCPU: 0.004}
	if k.verdict == result.Invalid {
		g.MeanBusy, g.PeakBusy, g.PeakThreadBusy = 0.94, 0.99, 1
	}
	for range k.seconds {
		g.BusySeries = append(g.BusySeries, g.MeanBusy*(1+0.05*k.r.NormFloat64()))
		g.ThreadSeries = append(g.ThreadSeries, g.PeakThreadBusy*(0.95+0.02*k.r.NormFloat64()))
		g.CoreSeries = append(g.CoreSeries, min(1, 0.85+0.05*k.r.NormFloat64()))
	}
	return g
}

func (k *maker) services() []result.Service {
	var all []result.Service
	for i := range k.instances {
		all = append(all, result.Service{Name: "app", Instance: i, CPUUSPerRequest: 0.199 * 1e6 / k.rate, MaxRSSBytes: 120 << 20, ThrottledRatio: 0.97,
			Limits: plan.Limits{CPUs: 0.2, Memory: 200 << 20}, Version: "1.2.3"})
	}
	return append(all, result.Service{Name: "gateway", CPUUSPerRequest: 34, MaxRSSBytes: 66 << 20, Version: "nginx/1.22.1"})
}

// track is one watched thing under construction.
type track struct {
	o result.Observed
	k *maker
}

func (k *maker) watch(kind, name, service string, instance int) *track {
	t := &track{result.Observed{Kind: kind, Name: name, Service: service, Instance: instance, Series: map[result.Metric]result.Values{}}, k}
	for s := -k.warmup; s < k.seconds+2; s++ {
		t.o.AtUS = append(t.o.AtUS, float64(s+1)*1e6)
		t.o.LengthUS = append(t.o.LengthUS, 1e6)
	}
	return t
}

// of adds a series around a level; a gap shows that not all is always known.
func (t *track) of(m result.Metric, level float64) *track {
	v := make(result.Values, len(t.o.AtUS))
	for i := range v {
		v[i] = max(0, level*(1+0.06*t.k.r.NormFloat64()))
		if s := int(t.o.AtUS[i]/1e6) - 1; t.k.stall > 0 && s == t.k.stall && m != result.MemoryUsed {
			v[i] *= 0.4
		}
	}
	if len(v) > 6 {
		v[5] = math.NaN()
	}
	t.o.Series[m] = v
	return t
}

func (k *maker) observed() []result.Observed {
	all := []*track{
		k.watch(result.OfHost, "", "", 0).of(result.HostBusy, 0.36).of(result.CoreBusyMax, 0.88).of(result.HostSteal, 0.004).of(result.PSICPUSome, 0.14).of(result.RetransSegments, 0.8),
		k.watch(result.OfInterface, "eth0", "", 0).of(result.BytesIn, k.rate*230).of(result.BytesOut, k.rate*90),
		k.watch(result.OfGenerator, "generator", "", 0).of(result.CPUCores, 0.98).of(result.ResidentSet, 44<<20),
		k.watch(result.OfService, "gateway", "gateway", 0).of(result.CPUCores, 0.34).of(result.MemoryUsed, 66<<20).of(result.Throttled, 0).of(result.AcceptQueue, 2),
		k.watch(result.OfServer, "nginx", "gateway", 0).of(result.ServerRequests, k.rate).of(result.ServerActive, float64(k.connections)),
	}
	for i := range k.instances {
		all = append(all, k.watch(result.OfService, "app", "app", i).of(result.CPUCores, 0.199).of(result.MemoryUsed, float64(110+5*i)*(1<<20)).of(result.Throttled, 0.96).of(result.ThreadMax, 0.15))
		if k.java {
			all = append(all, k.watch(result.OfJVM, "app", "app", i).of(result.HeapUsed, 80<<20).of(result.HeapCapacity, 128<<20).of(result.HeapMax, 160<<20).of(result.GCTime, 0.03).of(result.SafepointTime, 0.035).of(result.LiveThreads, 231).of(result.Runnable, 12).of(result.Blocked, 1).of(result.Waiting, 198).of(result.TimedWaiting, 20).of(result.CompileTime, 0.02),
				k.watch(result.OfPool, "http-nio-8080-exec-*", "app", i).of(result.PoolThreads, 200).of(result.PoolBusy, 187),
				k.watch(result.OfThread, "http-nio-8080-e", "app", i).of(result.CPUCores, 0.14),
				k.watch(result.OfThread, "C2 CompilerThre*", "app", i).of(result.CPUCores, 0.02))
		}
	}
	out := make([]result.Observed, len(all))
	for i, t := range all {
		out[i] = t.o
	}
	out[0].Facts = map[string]string{"governor": "performance", "clock source": "tsc"}
	out[1].Unknown = map[string]string{"speed_bits_rate": "the driver does not tell"}
	return out
}
