package engine_test

import (
	"context"
	"errors"
	"math"
	"net"
	"runtime"
	"testing"
	"time"

	"prony/internal/engine"
	"prony/internal/evloop"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/testserver"
)

// patience is how long a thing may take that must happen; nothing that works
// comes near it.
const patience = 15 * time.Second

// deaf is a handler for loops that are opened only to see whether they exist.
type deaf struct{}

func (deaf) Opened(int32)              {}
func (deaf) Sent(int32, int64)         {}
func (deaf) Data(int32, []byte, int64) {}
func (deaf) Gone(int32, error)         {}

// eachEngine runs a case over every event loop; those that this machine lacks
// are skipped with their reason.
func eachEngine(t *testing.T, run func(t *testing.T, e plan.Engine)) {
	t.Helper()
	for _, e := range []plan.Engine{plan.IOURing, plan.Epoll, plan.Goroutines} {
		t.Run(string(e), func(t *testing.T) {
			needEngine(t, e)
			run(t, e)
		})
	}
}

// eachEngineNamed is eachEngine for one of several cases.
func eachEngineNamed(t *testing.T, name string, run func(t *testing.T, e plan.Engine)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { eachEngine(t, run) })
}

func needEngine(t *testing.T, e plan.Engine) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	loop, err := evloop.Open(evloop.Kind(e), evloop.Options{Slots: 1}, deaf{})
	if err != nil {
		t.Skipf("no %s engine here: %v", e, err)
	}
	if err := loop.Release(); err != nil {
		t.Fatalf("release %s: %v", e, err)
	}
}

// serve starts a test server that ends with the test.
func serve(t *testing.T, c testserver.Config) *testserver.Server {
	t.Helper()
	s, err := testserver.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the server: %v", err)
		}
	})
	return s
}

// serveRaw answers every connection with a function of the test's own.
func serveRaw(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				handle(c)
			}()
		}
	}()
	return ln.Addr().String()
}

// get is a list of one GET.
func get(url string) []plan.Request { return []plan.Request{{Method: "GET", URL: url}} }

// brief is the load of most cases: 4 connections on one thread for 200 ms.
func brief(url string, change func(*plan.Load)) plan.Load {
	l := plan.Load{Requests: get(url), Connections: 4, Threads: 1, Seed: 7}
	if change != nil {
		change(&l)
	}
	if l.Duration == 0 && l.Count == 0 {
		l.Duration = 200 * time.Millisecond
	}
	return l.WithDefaults(plan.Facts{CPUs: 1, Loopback: true})
}

// load drives a load against a URL and checks what must hold of every result:
// it ends, the ledger is balanced, and failures and latencies add up.
func load(t *testing.T, url string, change func(*plan.Load)) (*result.Load, error) {
	t.Helper()
	return drive(t, t.Context(), brief(url, change), engine.Options{})
}

// must is load for cases that cannot fail as a whole.
func must(t *testing.T, url string, change func(*plan.Load)) *result.Load {
	t.Helper()
	res, err := load(t, url, change)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	return res
}

func drive(t *testing.T, ctx context.Context, l plan.Load, o engine.Options) (*result.Load, error) {
	t.Helper()
	if err := l.Validate(); err != nil {
		t.Fatalf("the test's load: %v", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type outcome struct {
		res *result.Load
		err error
	}
	done := make(chan outcome, 1)
	go func() {
		res, err := engine.Run(ctx, l, o)
		done <- outcome{res, err}
	}()
	select {
	case o := <-done:
		if o.res != nil {
			audit(t, o.res)
		}
		return o.res, o.err
	case <-time.After(l.Warmup + l.Duration + max(l.Drain, 0) + patience):
		stacks := make([]byte, 64<<10)
		t.Fatalf("the load did not end\n%s", stacks[:runtime.Stack(stacks, true)])
	}
	return nil, nil
}

// audit checks the books of any result.
func audit(t *testing.T, res *result.Load) {
	t.Helper()
	q := res.Requests
	if !q.Balanced() {
		t.Errorf("ledger: %+v is not balanced", q)
	}
	if q.Asked < 0 || q.Completed < 0 || q.Failed < 0 || q.CutOff < 0 || q.Unsent < 0 {
		t.Errorf("ledger: %+v has a negative entry", q)
	}
	var all, requests int64
	for k := range result.FailureKinds {
		n := res.Failures[k.String()]
		all += n
		if !k.Connecting() && k != result.BadResponse { // bytes nobody asked for fail a connection
			requests += n
		}
	}
	if requests > q.Failed || all < q.Failed {
		t.Errorf("failures: %v do not explain %d failed requests", res.Failures, q.Failed)
	}
	if got := count(res.Latency.Response); got != q.Completed {
		t.Errorf("latency: %d response times of %d completed requests", got, q.Completed)
	}
	if got := count(res.Latency.Failed); got != q.Failed {
		t.Errorf("latency: %d failure times of %d failed requests", got, q.Failed)
	}
	if q.Started > q.Asked+q.Warmup {
		t.Errorf("ledger: %d started of %d asked and %d of the warm-up", q.Started, q.Asked, q.Warmup)
	}
	little(t, res)
}

// little checks the mean number in flight against rate times response time
// (Little's law), which holds up to what the window's edges cut.
func little(t *testing.T, res *result.Load) {
	t.Helper()
	if res.Requests.Failed > 0 || res.Requests.InWindow < 200 || res.DurationUS < 100_000 {
		return
	}
	mean, longest := res.Latency.Response.Mean()/1e3, float64(res.Latency.Response.Max())/1e3
	want := res.Rate * mean / 1e6
	edges := float64(res.InFlightEdges) * longest / res.DurationUS // a drain may take longer than the window
	if math.Abs(res.InFlight-want) > 0.03*want+edges+0.05 {
		t.Errorf("Little's law: %.3f in flight, but %.0f/s of %.0f us mean make %.3f (edges %.3f)",
			res.InFlight, res.Rate, mean, want, edges)
	}
}

func count(h result.Histogram) int64 {
	if h.Histogram == nil {
		return 0
	}
	return h.Count()
}

// eventually waits for what another goroutine has to do first.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	if !comes(ok) {
		t.Fatalf("waited %v in vain: %s", patience, what)
	}
}

// comes is eventually for goroutines other than the test's.
func comes(ok func() bool) bool {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	over := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-over:
			return false
		}
	}
	return true
}

// settled returns the server's counts once no request is in progress there.
func settled(t *testing.T, s *testserver.Server) testserver.Stats {
	t.Helper()
	eventually(t, "the server ends its requests", func() bool {
		st := s.Stats()
		return st.Requests == st.Responses+st.Faults+st.Aborted
	})
	return s.Stats()
}

// sameCount compares a result in which all went well with the server's own
// counts, to the request and to the byte.
func sameCount(t *testing.T, res *result.Load, s *testserver.Server) {
	t.Helper()
	q := res.Requests
	if q.Completed == 0 || q.Completed != q.Asked {
		t.Errorf("ledger: %+v, want all of a positive number completed; failures %v %v", q, res.Failures, res.FailureDetails)
	}
	st := settled(t, s)
	if want := q.Asked + q.Warmup; st.Requests != want || st.Responses != want {
		t.Errorf("the server counted %d requests and %d answers, the engine %d", st.Requests, st.Responses, want)
	}
	if st.Malformed != 0 || st.Partial != 0 || st.Aborted != 0 {
		t.Errorf("the server counted %d malformed, %d partial, %d aborted requests", st.Malformed, st.Partial, st.Aborted)
	}
	if q.Warmup == 0 && (st.BytesIn != res.BytesOut || st.BytesOut != res.BytesIn) {
		t.Errorf("bytes: the server read %d and wrote %d, the engine wrote %d and read %d", st.BytesIn, st.BytesOut, res.BytesOut, res.BytesIn)
	}
	if len(res.Failures) != 0 {
		t.Errorf("failures: %v, want none: %+v", res.Failures, res.FailureDetails)
	}
}

// unreachable asserts that a load ended for want of a single connection.
func unreachable(t *testing.T, err error, want ...result.FailureKind) {
	t.Helper()
	var u *engine.UnreachableError
	if !errors.As(err, &u) {
		t.Fatalf("error: got %v, want an UnreachableError", err)
	}
	for _, k := range want {
		if u.Kind == k {
			return
		}
	}
	t.Errorf("unreachable: kind %v (%s), want one of %v", u.Kind, u.Failure.Example, want)
}
