package engine

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"prony/internal/evloop"
	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/schedule"
	"prony/internal/testserver"
)

// TestF39PipelineStamps: sixteen requests in the pipe of a connection, each
// with a start of its own. The server takes 1 ms for each, one by one, so that
// a request behind fifteen others takes 16 ms; one start for all of them would
// show 1 to 16 ms.
func TestF39PipelineStamps(t *testing.T) {
	for _, late := range []bool{false, true} {
		n := newSim(t)
		n.lateSent = late
		n.server = simServer{service: fixed(time.Millisecond)}
		res := n.run(func(l *plan.Load) {
			l.Connections, l.Pipeline, l.Warmup, l.Duration = 1, 16, 100*time.Millisecond, time.Second
		})
		want := []simP{{hdr.Percent(0), 16}, {hdr.P50, 16}, {hdr.P100, 16}}
		quantiles(t, "service", res.Latency.Service, 0, want...)
		quantiles(t, "response", res.Latency.Response, 0, want...)
		near(t, "rate", res.Rate, 1000, 1e-9)
		near(t, "in flight", res.InFlight, 16, 1e-9)
	}
}

// TestF39PipelineInBatches: a server that answers sixteen requests in one
// piece starts sixteen new ones at once, and these share their start.
func TestF39PipelineInBatches(t *testing.T) {
	n := newSim(t)
	n.joined = true
	n.server.fate = func(q simQuery) simFate { return simFate{extra: 10 * time.Millisecond} }
	res := n.run(func(l *plan.Load) { l.Connections, l.Pipeline, l.Count = 2, 16, 1000 })
	quantiles(t, "service", res.Latency.Service, 0, simP{hdr.Percent(0), 10}, simP{hdr.P100, 10})
	if got := res.Requests.Completed; got != 1000 {
		t.Errorf("got %d answers, want 1000", got)
	}
	near(t, "window in ms", res.DurationUS/1e3, 320, 1e-9) // 32 rounds of 32 requests, the last with 8
}

// TestF39OpenPipeline: planned requests share a connection, and each keeps its
// planned time; answers come in the order of the requests.
func TestF39OpenPipeline(t *testing.T) {
	n := newSim(t)
	n.server.fate = func(q simQuery) simFate {
		status := 200
		if q.number%10 == 3 {
			status = 404
		}
		return simFate{extra: 10 * time.Millisecond, answer: simAnswer(status, "")}
	}
	res := n.run(func(l *plan.Load) {
		openAt(1000, time.Second)(l)
		l.Connections, l.Pipeline = 1, 16
	})
	quantiles(t, "response", res.Latency.Response, 0, simP{hdr.Percent(0), 10}, simP{hdr.P100, 10})
	quantiles(t, "failed", res.Latency.Failed, 0, simP{hdr.Percent(0), 10}, simP{hdr.P100, 10})
	if q := res.Requests; q.Failed != 100 || q.Completed != 900 || res.Statuses["404"] != 100 || n.mostOpen != 1 {
		t.Errorf("got %+v, %v on %d connections", q, res.Statuses, n.mostOpen)
	}
	if lag := res.Latency.Lag.Max(); lag != 0 {
		t.Errorf("lag of %d ns", lag)
	}
}

// TestLagSplits: response = lag + service, and lag is the generator's own part
// plus the wait for a connection, request by request; so the means add up.
func TestLagSplits(t *testing.T) {
	n := newSim(t)
	n.server = simServer{service: exponential(43, 500), servers: make([]float64, 3)}
	res := n.run(func(l *plan.Load) {
		l.Arrivals, l.Duration, l.Connections = poissonAt(900), 20*time.Second, 2
	})
	lat := res.Latency
	near(t, "lag + service", lat.Lag.Mean()+lat.Service.Mean(), lat.Response.Mean(), 1e-9)
	if lat.Dispatch.Max() != 0 || lat.Lag.Mean() < 1e6 || res.BacklogPeak < 10 {
		t.Errorf("dispatch lag %d, mean lag %v ns, backlog %d: want the wait for a connection only", lat.Dispatch.Max(), lat.Lag.Mean(), res.BacklogPeak)
	}
}

// TestLateWorkerKeepsThePlan: the worker itself stops for 200 ms. Everything
// that was due goes out at once with its planned time; the lag is told apart
// from the service, which is as good as ever.
func TestLateWorkerKeepsThePlan(t *testing.T) {
	n := newSim(t)
	n.late = [2]time.Duration{time.Second, 1200 * time.Millisecond}
	n.server.fate = func(simQuery) simFate { return simFate{extra: 500 * time.Microsecond} }
	res := n.run(func(l *plan.Load) {
		openAt(1000, 4*time.Second)(l)
		l.Connections = 4000
	})
	// The requests planned from 1.000 s to 1.200 s leave at 1.2 s.
	quantiles(t, "dispatch", res.Latency.Dispatch, 0, simP{hdr.Percent(95), 0}, simP{hdr.Percent(97.5), 100}, simP{hdr.P100, 200})
	quantiles(t, "lag", res.Latency.Lag, 0, simP{hdr.Percent(97.5), 100}, simP{hdr.P100, 200})
	quantiles(t, "response", res.Latency.Response, 0, simP{hdr.P50, 0.5}, simP{hdr.Percent(97.5), 100.5}, simP{hdr.P100, 200.5})
	quantiles(t, "service", res.Latency.Service, 0, simP{hdr.P50, 0.5}, simP{hdr.P100, 0.5})
	// 4000 services and the waits of 0, 1, … 200 ms.
	near(t, "in flight", res.InFlight, (4000*0.5+200*201/2)/4000, 1e-12)
}

// TestKernelStampsEndRequests: where the kernel says when data came, that is
// the end of the request, and no longer the moment of its reading. The reader's
// delay is then part of no request: the user of a closed model goes on when the
// answer is read.
func TestKernelStampsEndRequests(t *testing.T) {
	for _, rate := range []float64{0, 100} {
		n := newSim(t)
		n.early = 20_000
		n.server.fate = func(simQuery) simFate { return simFate{extra: time.Millisecond} }
		res := n.run(func(l *plan.Load) {
			l.Connections, l.Duration, l.Timestamps = 1, time.Second, plan.KernelTimestamps
			if rate > 0 {
				l.Arrivals = schedule.Rate(rate)
			}
		})
		quantiles(t, "service", res.Latency.Service, 0, simP{hdr.Percent(0), 0.98}, simP{hdr.P100, 0.98})
		quantiles(t, "lag", res.Latency.Lag, 0, simP{hdr.P50, 0}, simP{hdr.P100, 0})
		quantiles(t, "response", res.Latency.Response, 0, simP{hdr.P50, 0.98}, simP{hdr.P100, 0.98})
	}
}

// TestF49ConnectionsOnDemand: the open model opens as many connections as it
// needs, never more than allowed, and none without need.
func TestF49ConnectionsOnDemand(t *testing.T) {
	tests := []struct {
		name             string
		allowed          int
		latency, connect time.Duration
		least, most      int
	}{
		{"fast server", 1000, time.Millisecond, time.Millisecond, 64, 64},
		{"slow server", 1000, 200 * time.Millisecond, time.Millisecond, 200, 205},
		{"allowance", 150, 200 * time.Millisecond, time.Millisecond, 150, 150},
		{"few", 10, 200 * time.Millisecond, time.Millisecond, 10, 10},
		{"a few more, slow to connect", 1000, 66 * time.Millisecond, 200 * time.Millisecond, 66, 80},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newSim(t)
			n.connect = func(int64, int64) (int64, error) { return int64(tt.connect), nil }
			n.server.fate = func(simQuery) simFate { return simFate{extra: tt.latency} }
			res := n.run(func(l *plan.Load) {
				openAt(1000, 3*time.Second)(l)
				l.Connections = tt.allowed
				l.Timeouts.Request = 20 * time.Second
				l.Drain = time.Minute
			})
			c := res.Connections
			if c.Opened < tt.least || c.Opened > tt.most || c.Peak != c.Opened || int64(c.Opened) != n.mostOpen || c.Failed != 0 {
				t.Errorf("got %+v, network saw %d; want %d to %d", c, n.mostOpen, tt.least, tt.most)
			}
			if c.Connects != n.connects || c.Asked != tt.allowed {
				t.Errorf("got %+v, network saw %d connects", c, n.connects)
			}
		})
	}
}

// TestConnectRate: connections are opened no faster than asked.
func TestConnectRate(t *testing.T) {
	n := newSim(t)
	n.connect = func(int64, int64) (int64, error) { return 1000, nil }
	n.server.fate = func(simQuery) simFate { return simFate{extra: time.Millisecond} }
	n.run(func(l *plan.Load) { l.Connections, l.Duration, l.ConnectRate = 51, time.Second, 100 })
	took := time.Duration(n.start() - simEpoch)
	if took < 500*time.Millisecond || took > 530*time.Millisecond {
		t.Errorf("51 connections at 100 a second stood after %v, want 500 ms", took)
	}
}

// TestLoopErrorEndsWithAReport: a broken event loop ends the load, and the
// ledger still balances.
func TestLoopErrorEndsWithAReport(t *testing.T) {
	n := newSim(t)
	n.server.fate = silence
	l := simLoad(t, func(l *plan.Load) { l.Connections, l.Duration = 3, time.Second })
	broken := errors.New("broken")
	o := n.options()
	o.open = func(k evloop.Kind, eo evloop.Options, h evloop.Handler) (evloop.Loop, error) {
		loop, err := n.open(k, eo, h)
		return &brokenLoop{Loop: loop, net: n, err: broken}, err
	}
	res, err := Run(t.Context(), l, o)
	if !errors.Is(err, broken) || res == nil {
		t.Fatalf("got error %v, result %v", err, res)
	}
	audit(t, res)
	if q := res.Requests; q.Asked != 3 || q.CutOff != 3 || res.EndedBy != "engine" || !n.released {
		t.Errorf("got %+v, ended by %s", q, res.EndedBy)
	}
}

// brokenLoop fails after half a second.
type brokenLoop struct {
	evloop.Loop
	net *simNet
	err error
}

func (b *brokenLoop) Wait(until int64) error {
	if b.net.start() != 0 && b.net.at() > int64(500*time.Millisecond) {
		return b.err
	}
	return b.Loop.Wait(until)
}

// TestRecordsOfReusedConnections: only the first request of a connection has a
// connect time, also if that request fell into the warm-up.
func TestRecordsOfReusedConnections(t *testing.T) {
	for _, warmup := range []time.Duration{0, 100 * time.Millisecond} {
		n := newSim(t)
		n.connect = func(int64, int64) (int64, error) { return int64(3 * time.Millisecond), nil }
		n.server.fate = func(simQuery) simFate { return simFate{extra: time.Millisecond} }
		res := n.run(func(l *plan.Load) { l.Connections, l.Warmup, l.Duration, l.Record = 4, warmup, time.Second, 100 })
		first := 0
		for _, r := range res.Records {
			if r.Connect != 0 {
				first++
			}
			if r.Total != r.Connect+int64(time.Millisecond) || r.FirstByte != r.Total || r.Status != 200 {
				t.Errorf("got %+v", r)
			}
		}
		if want := 4; len(res.Records) != 100 || warmup == 0 && first != want || warmup > 0 && first != 0 {
			t.Errorf("warm-up %v: %d records, %d with a connect time", warmup, len(res.Records), first)
		}
	}
}

// TestDeterminism: the same plan gives the same result, to the last counter.
func TestDeterminism(t *testing.T) {
	run := func() *result.Load {
		n := newSim(t)
		n.server = simServer{service: exponential(43, 1000)}
		n.outage(2*time.Second, 2500*time.Millisecond)
		return n.run(func(l *plan.Load) { l.Arrivals, l.Duration, l.Connections = poissonAt(700), 6*time.Second, 30 })
	}
	a, b := run(), run()
	if a.Requests != b.Requests || a.InFlight != b.InFlight || a.BacklogPeak != b.BacklogPeak || len(a.Intervals) != len(b.Intervals) {
		t.Errorf("got %+v and %+v", a.Requests, b.Requests)
	}
	if !a.Latency.Response.Equal(b.Latency.Response.Histogram) || !a.Latency.Failed.Equal(b.Latency.Failed.Histogram) {
		t.Error("the histograms differ")
	}
}

// TestNoAllocations: in steady state a request costs no allocation, in any
// model. The count is of the whole process between two requests of one
// interval, 100,000 requests apart.
func TestNoAllocations(t *testing.T) {
	skipUnderRace(t)
	tests := []struct {
		name string
		edit func(*plan.Load)
	}{
		{"closed", func(*plan.Load) {}},
		{"pipelined", func(l *plan.Load) { l.Pipeline = 16 }},
		{"think time", func(l *plan.Load) {
			l.Think = schedule.Think{Mean: time.Microsecond, Distribution: schedule.Exponential}
		}},
		{"open", func(l *plan.Load) { l.Arrivals = poissonAt(400_000) }},
		{"open, with a backlog", func(l *plan.Load) { l.Arrivals, l.Connections = poissonAt(990_000), 2 }},
		{"several requests", func(l *plan.Load) {
			l.Requests = append(l.Requests, plan.Request{Method: "GET", URL: "http://127.0.0.1:9/b", Weight: 3})
			l.Pipeline = 4
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newSim(t)
			n.server = simServer{service: exponential(43, 1e6)}
			n.events = make(simEvents, 0, 1<<16)
			var before, after runtime.MemStats
			n.seen = func(q simQuery) {
				switch q.number {
				case 50_000:
					runtime.ReadMemStats(&before)
				case 150_000:
					runtime.ReadMemStats(&after)
				}
			}
			n.run(func(l *plan.Load) {
				l.Connections, l.Count = 50, 160_000
				tt.edit(l)
			})
			if got := after.Mallocs - before.Mallocs; got > 100 {
				t.Errorf("%d allocations in 100000 requests", got)
			}
		})
	}
}

// TestNoAllocationsLive is the same with a real event loop and sockets.
func TestNoAllocationsLive(t *testing.T) {
	skipUnderRace(t)
	server, err := testserver.StartResponder(testserver.ResponderConfig{})
	if err != nil {
		t.Skipf("no responder here: %v", err)
	}
	defer server.Close()
	mallocs := func(count int64) uint64 {
		l := simLoad(t, func(l *plan.Load) {
			l.Engine, l.Connections, l.Count = plan.Auto, 8, count
			l.Requests[0].URL = server.URL() + "/"
		})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		res, err := Run(t.Context(), l, Options{})
		runtime.ReadMemStats(&after)
		if err != nil || res.Requests.Completed != count {
			t.Fatalf("run load: %v, %+v", err, res)
		}
		return after.Mallocs - before.Mallocs
	}
	mallocs(100)
	few, many := mallocs(1000), mallocs(51_000)
	// Each second of the run is packed and told, off the load path.
	if more := float64(many) - float64(few); more > 2000 {
		t.Errorf("%v more allocations for 50000 more requests", more)
	}
}

// TestF33SharesAddUp: neither requests nor connections are lost where the
// number of threads does not divide them.
func TestF33SharesAddUp(t *testing.T) {
	server, err := testserver.Start(testserver.Config{})
	if err != nil {
		t.Fatalf("start server: %v", err)
	}
	defer server.Close()
	for _, model := range []plan.Model{plan.Closed, plan.Open} {
		t.Run(string(model), func(t *testing.T) {
			before := server.Stats()
			l := plan.Load{Requests: []plan.Request{{Method: "GET", URL: server.URL() + "/"}}, Threads: 7, Connections: 33, Count: 10_007, Seed: 1}
			if model == plan.Open {
				l.Arrivals = schedule.Rate(20_000)
			}
			res, err := Run(t.Context(), l.WithDefaults(plan.Facts{CPUs: 7}), Options{})
			if err != nil {
				t.Fatalf("run load: %v", err)
			}
			audit(t, res)
			served := server.Stats()
			if q := res.Requests; q.Asked != 10_007 || q.Completed != 10_007 || served.Requests-before.Requests != 10_007 || res.EndedBy != "count" {
				t.Errorf("got %+v, ended by %s; the server counted %d", q, res.EndedBy, served.Requests-before.Requests)
			}
			if c := res.Connections; c.Opened != 33 || c.Asked != 33 || served.Accepted-before.Accepted != 33 || res.Threads != 7 {
				t.Errorf("got %+v on %d threads; the server accepted %d", c, res.Threads, served.Accepted-before.Accepted)
			}
		})
	}
}

// TestStoppedTimetableShares: the parts of a plan on several workers are the
// whole plan, whatever the number of workers.
func TestStoppedTimetableShares(t *testing.T) {
	l := plan.Load{Arrivals: schedule.Rate(977)}
	for _, of := range []int{1, 3, 7} {
		var sum int64
		for id := range of {
			w := &worker{r: &run{load: l}, id: id, of: of, index: int64(id), table: l.Arrivals.Shard(id, of)}
			w.r.load.Count = 10_007
			w.giveUp()
			sum += w.story.unsent
		}
		if sum != 10_007 {
			t.Errorf("%d workers: %d of 10007 requests given up", of, sum)
		}
	}
}

// TestF38StatusSamples: one head of each class is kept.
func TestF38StatusSamples(t *testing.T) {
	statuses := []int{200, 200, 302, 404, 503, 201}
	n := newSim(t)
	n.server.fate = func(q simQuery) simFate {
		return simFate{answer: simAnswer(statuses[q.number%6], ""), extra: time.Millisecond}
	}
	res := n.run(func(l *plan.Load) { l.Connections, l.Count = 1, 600 })
	seen := map[int]int{}
	for _, s := range res.Samples {
		seen[s.Status/100]++
		if !strings.HasPrefix(s.Head, "HTTP/1.1 ") || s.Status != statusOf(s.Head) {
			t.Errorf("sample of %d: %q", s.Status, s.Head)
		}
	}
	if len(res.Samples) != 4 || seen[2]*seen[3]*seen[4]*seen[5] != 1 {
		t.Errorf("got %v, want one of each class", res.Samples)
	}
}

func statusOf(head string) int {
	code := 0
	for _, d := range head[9:12] {
		code = code*10 + int(d-'0')
	}
	return min(code, math.MaxInt16)
}
