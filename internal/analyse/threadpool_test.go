package analyse_test

import (
	"slices"
	"strings"
	"testing"

	"prony/internal/result"
)

const aPool = result.OfPool

// poolGrows has a pool that gets a thread each second.
func poolGrows(r run, _ load, _ gen) {
	threads := find(r, aPool, "exec-*").Series[result.PoolThreads]
	for i := range threads {
		threads[i] -= float64(len(threads) - i)
	}
}

// gatewayThreads adds a pool of 50 threads to the gateway, all of which wait for
// a connection to what is behind.
func gatewayThreads(r *result.Run) *result.Run {
	o := thing(result.OfPool, "exec-*", "edge")
	o.Service = "gw"
	r.Observed = append(r.Observed, o)
	with(aPool, "exec-*", result.PoolThreads, 50.0, result.PoolBusy, 50.0, result.PoolInIO, 20.0)(r, nil, nil)
	return r
}

// TestThreadPoolFull is the case of a published benchmark: 200 threads that wait
// for what is behind them, while 512 requests are in flight and no CPU is full.
func TestThreadPoolFull(t *testing.T) {
	full := with(aPool, "exec-*", result.PoolThreads, 200.0, result.PoolBusy, 199.0, result.PoolInIO, 150.0, result.PoolBlocked, 10.0, result.PoolRunning, 9.0)
	e := swept(threaded(watched), point{512, 2000, full}, point{1024, 2010, full})
	r := &e.Trials[0].Run
	if got := speaking(r); !slices.Equal(got, []string{"thread-pool"}) {
		t.Fatalf("got findings %q, want thread-pool alone", got)
	}
	f := findingOf(t, r, "thread-pool")
	const want = "the pool of 200 threads of app[0] (exec-*) was full for 100% of the time: on average 150 waited for a socket, 30 waited for something else, " +
		"10 were blocked by a monitor, 9 ran; 512 requests were in flight"
	if f.ID != "L3" || f.Where != "app[0]" || f.Confidence != result.Likely || f.Message != want {
		t.Errorf("got %+v, want L3, likely, of app[0]: %s", f, want)
	}
	for name, want := range map[string]float64{"threads": 200, "seconds": 1, "in_flight": 512, "running": 9, "in_io": 150, "blocked": 10, "waiting": 30} {
		near(t, name, f.Evidence[name], want, 1e-9)
	}
	if b := r.Bottleneck; b == nil || b.What != "thread-pool" || b.Message != want {
		t.Errorf("got bottleneck %+v, want the pool", b)
	}
}

// TestThreadPoolAdvice: what the threads wait for decides what to do.
func TestThreadPoolAdvice(t *testing.T) {
	for _, c := range []struct {
		name                string
		inIO, blocked, runs float64
		want                string
	}{
		{"socket", 20, 0, 0, "what is behind it"},
		{"lock", 3, 15, 1, "under the lock"},
		{"something else", 2, 3, 1, "pool of connections"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := threaded(watched)()
			with(aPool, "exec-*", result.PoolBusy, 20.0, result.PoolInIO, c.inIO, result.PoolBlocked, c.blocked, result.PoolRunning, c.runs)(r, nil, nil)
			if f := findingOf(t, judge(r), "thread-pool"); !strings.Contains(f.Advice, c.want) {
				t.Errorf("got advice %q, want %q", f.Advice, c.want)
			}
		})
	}
}

// TestThreadPoolBehind: of a service behind another nobody knows what waits.
func TestThreadPoolBehind(t *testing.T) {
	r := threaded(chained)()
	with(aPool, "exec-*", result.PoolBusy, 20.0, result.PoolInIO, 20.0)(r, nil, nil)
	judge(r)
	if f := findingOf(t, r, "thread-pool"); f.Confidence != result.Hint || strings.Contains(f.Message, "in flight") {
		t.Errorf("got %+v, want a hint", f)
	}
	if b := r.Bottleneck; b != nil && b.What == "thread-pool" {
		t.Errorf("got bottleneck %+v, want none by a hint", b)
	}
}

// TestThreadPoolsOfInstances: the requests must exceed all pools together.
func TestThreadPoolsOfInstances(t *testing.T) {
	r := threaded(watched)()
	for i := 1; i < 3; i++ {
		o := thing(result.OfPool, "exec-*", "sut")
		o.Service, o.Instance = "app", i
		r.Observed = append(r.Observed, o)
	}
	for i := range r.Observed {
		if o := &r.Observed[i]; o.Kind == aPool {
			o.Series[result.PoolBusy], o.Series[result.PoolInIO] = fill(10, 20), fill(10, 20)
		}
	}
	if got := answer(judge(r), "thread-pool"); got != "" {
		t.Errorf("64 requests in flight for 60 threads: got %q, want nothing", got)
	}
}

// TestPoolOfARoute is the other case of a published benchmark: a gateway's 20
// connections a route, while what is behind it is idle.
func TestPoolOfARoute(t *testing.T) {
	twenty := with(aService, "app", result.Sockets, 20.0, result.CPUCores, 1.6)
	r := chained()
	twenty(r, nil, nil)
	judge(r)
	f := findingOf(t, r, "pool")
	const want = "a pool of 20 connections to app was full: it stood at that number for 100% of the time while 64 requests were in flight, and app used 10% of its CPU"
	if f.Message != want || !strings.Contains(f.Advice, "maxPerRouteConnections") {
		t.Errorf("got %q and advice %q, want %q and whose default it is", f.Message, f.Advice, want)
	}
	near(t, "backend_cpu", f.Evidence["backend_cpu"], 0.1, 1e-9)
	if b := r.Bottleneck; b == nil || b.What != "pool" || b.Where != "app" {
		t.Errorf("got bottleneck %+v, want the pool", b)
	}
	put(r, aService, "app", result.Sockets, 21)
	if f := findingOf(t, judge(r), "pool"); strings.Contains(f.Advice, "default") {
		t.Errorf("got advice %q of 21 connections, which are nobody's default", f.Advice)
	}
}

// TestWaitingPointsToDumps: where a Java service waits, and nobody looked at its
// threads, the way to look is told.
func TestWaitingPointsToDumps(t *testing.T) {
	for name, base := range map[string]func() *result.Run{"not looked": java(watched), "looked": threaded(watched), "no Java": watched} {
		e := swept(base, point{64, 8000, nil}, point{128, 8010, nil})
		f := findingOf(t, &e.Trials[0].Run, "waiting")
		if got := strings.Contains(f.Advice, "thread_dumps: 5s"); got != (name == "not looked") {
			t.Errorf("%s: got advice %q", name, f.Advice)
		}
	}
}
