package analyse_test

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"prony/internal/analyse"
	"prony/internal/plan"
	"prony/internal/result"
)

// TestPlanted: one thing is used up, and that is named and nothing else.
func TestPlanted(t *testing.T) {
	for _, c := range []struct {
		name   string
		base   func() *result.Run
		change func(run, load, gen)
		what   string
		rules  []string // all that speak
	}{
		{"generator held back", watched, func(_ run, _ load, g gen) { g.Throttled = 0.8 }, "generator-quota", []string{"throttled"}},
		{"one thread", watched, with(aService, "app", result.CPUCores, 1.02, result.ThreadMax, 0.99), "one-thread", []string{"one-thread"}},
		{"all cores", watched, all(with(aService, "app", result.CPUCores, 15.6, result.RunDelay, 3.0), with(aHost, "sut", result.HostBusy, 0.99, result.PSICPUSome, 0.5)),
			"target-cpu", []string{"target-cpu", "host-cpu"}},
		{"all cores of one machine", onOneMachine, all(with(aService, "app", result.CPUCores, 5.0), with(aHost, "", result.HostBusy, 0.99, result.HostSoftIRQ, 0.29, result.PSICPUSome, 0.5)),
			"host-cpu", []string{"co-located", "host-cpu"}},
		{"quota", watched, all(quota(0.2), with(aService, "app", result.CPUCores, 0.2, result.Throttled, 0.9), with(aHost, "sut", result.HostBusy, 0.02)), "cpu-quota", []string{"cpu-quota"}},
		{"accept queue", watched, with(aHost, "sut", result.ListenOverflows, 3.0, result.ListenDrops, 3.0), "accept-queue", []string{"accept-queue"}},
		{"accept queue of a full target", watched, all(with(aHost, "sut", result.ListenOverflows, 3.0, result.ListenDrops, 3.0, result.HostBusy, 0.99),
			with(aService, "app", result.CPUCores, 15.6, result.RunDelay, 3.0)), "target-cpu", []string{"accept-queue", "target-cpu"}},
		{"ports", watched, func(_ run, l load, _ gen) { l.Failures["no-ports"] = 5 }, "ports", []string{"ports"}},
		{"no upstream keep-alive", chained, all(with(aService, "app", result.InService, 8000.0), with(aService, "gw", result.CPUCores, 3.9, result.RunDelay, 1.0), with(aHost, "edge", result.HostBusy, 0.98)),
			"upstream-connections", []string{"target-cpu", "which-tier", "upstream-reuse"}},
		{"gateway", chained, all(with(aService, "gw", result.CPUCores, 3.9, result.RunDelay, 1.0), with(aHost, "edge", result.HostBusy, 0.98)), "target-cpu", []string{"target-cpu", "which-tier"}},
		{"backend", chained, all(with(aService, "app", result.CPUCores, 15.6, result.RunDelay, 3.0), with(aHost, "sut", result.HostBusy, 0.99)), "target-cpu", []string{"target-cpu", "which-tier"}},
		{"pool of twenty", chained, with(aService, "app", result.Sockets, 20.0), "pool", []string{"pool"}},
		{"pool of twenty threads", threaded(watched), with(aPool, "exec-*", result.PoolBusy, 20.0, result.PoolInIO, 20.0), "thread-pool", []string{"thread-pool"}},
		{"pool of twenty connections in a pool of threads", func() *result.Run { return gatewayThreads(chained()) }, with(aService, "app", result.Sockets, 20.0),
			"pool", []string{"pool", "thread-pool"}},
		{"memory", watched, with(aService, "app", result.MemoryEvents, 50.0, result.OwnPSIMemory, 0.2), "memory", []string{"memory-limit"}},
		{"killed", watched, with(aService, "app", result.OOMKills, 0.1), "", []string{"out-of-memory"}},
		{"link", watched, with(aLink, "eth0", result.BytesOut, 1.2e9, result.PacketsOut, 0.8e6), "bandwidth", []string{"bandwidth"}},
		{"link cut to 100 Mbit/s", watched, all(with(aLink, "eth0", result.BytesIn, 12.2e6, result.PacketsIn, 8100.0), with(aHost, "", result.RetransSegments, 80.0)),
			"shaped-link", []string{"shaped-link", "retransmits"}},
		{"neighbour", onOneMachine, with(aHost, "", result.HostBusy, 0.99, result.PSICPUSome, 0.5), "foreign-cpu", []string{"co-located", "foreign-cpu", "host-cpu"}},
		{"disk", watched, with(aService, "app", result.SleepD, 3.0), "", []string{"disk"}},
		{"busy disk", watched, all(with(aService, "app", result.SleepD, 3.0), with(aHost, "sut", result.DiskBusyMax, 0.99, result.DiskQueueMax, 8.0, result.PSIIOSome, 0.5)),
			"disk", []string{"io-pressure", "disk"}},
		{"compiler", java(watched), with(aJVM, "app", result.CompileTime, 4.0), "compiling", []string{"compiling"}},
		{"collector", java(watched), with(aJVM, "app", result.GCTime, 0.4), "garbage-collection", []string{"target-gc"}},
		{"circuit breaker", watched, func(r run, l load, _ gen) { fail(r, "http-status", 8000, 8*time.Millisecond); l.Statuses["503"] = 8000 }, "admission", []string{"errors", "admission"}},
		{"firewall", watched, with(aHost, "sut", result.ConntrackDrops, 3.0), "conntrack", []string{"conntrack"}},
		{"loss", watched, with(aHost, "sut", result.RetransSegments, 320.0), "loss", []string{"retransmits"}},
		{"interrupts on one core", watched, with(aHost, "sut", result.CoreSoftIRQMax, 0.95), "softirq", []string{"softirq-skew"}},
		{"SYN cookies", watched, with(aHost, "sut", result.SynCookies, 9.0), "syn-queue", []string{"syn-queue"}},
		{"the cloud's allowance", watched, with(aLink, "eth0", result.Metric("bw_out_allowance_exceeded_rate"), 7.0), "packet-limit", []string{"packet-drops"}},
		{"fast errors", watched, func(r run, _ load, _ gen) { fail(r, "http-status", 8000, time.Millisecond) }, "", []string{"little", "errors", "fast-failures"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.base()
			c.change(r, &r.Load, &r.Generator)
			judge(r)
			if got := speaking(r, "little"); !slices.Equal(got, slices.DeleteFunc(slices.Clone(c.rules), func(s string) bool { return s == "little" })) {
				t.Errorf("got findings %q, want %q", got, c.rules)
			}
			b := r.Bottleneck
			if b == nil || b.What == "target-or-path" {
				b = &result.Bottleneck{}
			}
			if b.What != c.what || strings.Contains(b.Message, "%!") {
				t.Errorf("got bottleneck %q: %q, want %q", b.What, b.Message, c.what)
			}
			checkFindings(t, r)
		})
	}
}

// watchedOpen is watched under an open load of 1,000/s.
func watchedOpen() *result.Run {
	r, o := watched(), open()
	r.Load, r.Plan.Load.Model, r.Plan.Load.Arrivals = o.Load, o.Plan.Load.Model, o.Plan.Load.Arrivals
	put(r, aServer, "app", result.ServerRequests, 1000)
	return r
}

// TestOpenNamesOnlyWhatFailed: the same full thread is no limit of a rate that
// was met.
func TestOpenNamesOnlyWhatFailed(t *testing.T) {
	base := func() *result.Run {
		r := watchedOpen()
		put(r, aService, "app", result.CPUCores, 1.02)
		put(r, aService, "app", result.ThreadMax, 0.99)
		return r
	}
	if b := judge(base()).Bottleneck; b == nil || b.What != "rate" {
		t.Errorf("got bottleneck %+v, want no limit reached", b)
	}
	r := base()
	grow(&r.Load, 0, 200)
	if b := judge(r).Bottleneck; b == nil || b.What != "one-thread" {
		t.Errorf("got bottleneck %+v of a rate that was missed, want the thread", b)
	}
	put(r, aService, "app", result.ThreadMax, 0.5)
	if b := judge(r).Bottleneck; b == nil || b.What != "not-identified" || len(b.Exonerated) == 0 {
		t.Errorf("got bottleneck %+v with nothing used up, want not identified", b)
	}
}

// TestTwentyCleanRuns: ordinary runs at ordinary loads, with the noise of
// ordinary machines, are accused of nothing.
func TestTwentyCleanRuns(t *testing.T) {
	bases := []func() *result.Run{watched, chained, onOneMachine, java(watched), watchedOpen}
	for i := range 20 {
		r := bases[i%len(bases)]()
		x := float64(i) / 20
		for k := range r.Observed {
			o := &r.Observed[k]
			for m, series := range o.Series {
				for j := range series { // up to 15 % of noise, by place and second
					series[j] *= 1 + 0.15*float64((j*7+k*3+len(m))%11)/11*x
				}
			}
		}
		put(r, aService, "app", result.ThreadMax, 0.3+0.5*x)
		put(r, aService, "app", result.CPUCores, 0.9+0.2*x)
		judge(r)
		if got := speaking(r, "co-located"); len(got) > 0 || r.Validity.Verdict != result.Valid {
			t.Errorf("run %d: got %s and %q, want valid and no accusation", i, r.Validity.Verdict, got)
		}
		if b := r.Bottleneck; b == nil || b.What != "target-or-path" && b.What != "rate" {
			t.Errorf("run %d: got bottleneck %+v, want none named", i, b)
		}
	}
}

// TestWatchedSameBytes: a second analysis of a run and of an experiment gives
// the same bytes.
func TestWatchedSameBytes(t *testing.T) {
	r := java(chained)()
	with(aJVM, "app", result.GCTime, 0.4)(r, nil, nil)
	with(aHost, "sut", result.SwapRate, 20.0, result.SoftnetDrops, 3.0)(r, nil, nil)
	first := encode(t, judge(r))
	if again := encode(t, judge(r)); !bytes.Equal(again, first) {
		t.Errorf("got other bytes of the run the second time:\n%s\nwant\n%s", again, first)
	}
	e := swept(watched, point{32, 6000, nil}, point{64, 8000, nil}, point{128, 8100, nil})
	before := encodeAll(t, e)
	analyse.Experiment(e, analyse.DefaultThresholds())
	if again := encodeAll(t, e); again != before {
		t.Errorf("got other bytes of the experiment the second time:\n%s\nwant\n%s", again, before)
	}
}

func encodeAll(t *testing.T, e *result.Experiment) string {
	t.Helper()
	var all strings.Builder
	for i := range e.Trials {
		all.Write(encode(t, &e.Trials[i].Run))
	}
	fmt.Fprintf(&all, "%+v", e.Findings)
	return all.String()
}

// hour is an hour of a run with ten services.
func hour() *result.Run {
	r := watched()
	stretch(&r.Load, 3600)
	for i := range 10 {
		name := fmt.Sprintf("s%d", i)
		r.Plan.Services = append(r.Plan.Services, plan.Service{Name: name, Host: "sut", Instances: 1, Upstream: []string{"app"}})
		r.Services = append(r.Services, result.Service{Name: name, Host: "sut"})
		r.Observed = append(r.Observed, thing(aService, name, "sut"), thing(aJVM, name, "sut"), thing(aServer, name, "sut"))
		for k := range 10 {
			th := thing(result.OfThread, fmt.Sprintf("worker%d-*", k), "sut")
			th.Service = name
			th.Series = map[result.Metric]result.Values{result.CPUCores: nil, result.ThreadMax: nil, result.RunDelay: nil}
			r.Observed = append(r.Observed, th)
		}
	}
	var at, length []float64
	for i := range 3600 {
		at, length = append(at, float64(i+1)*1e6), append(length, 1e6)
	}
	for i := range r.Observed {
		o := &r.Observed[i]
		o.AtUS, o.LengthUS = at, length
		for m := range o.Series {
			o.Series[m] = fill(3600, quiet(o.Kind)[m])
		}
	}
	return r
}

// TestSpeed: an hour with ten services takes less than a second and 200 MB. A
// machine that is busy otherwise may take longer; then only three times that is
// an error.
func TestSpeed(t *testing.T) {
	r := hour()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	judge(r)
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if most := uint64(200 << 20); after.TotalAlloc-before.TotalAlloc > most {
		t.Errorf("got %d MB allocated in all, want at most 200", (after.TotalAlloc-before.TotalAlloc)>>20)
	}
	if took > 3*time.Second {
		t.Errorf("got %s, want less than 1 s", took)
	}
	t.Logf("an hour with ten services took %s and %d MB", took, (after.TotalAlloc-before.TotalAlloc)>>20)
}
