package analyse_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"prony/internal/analyse"
	"prony/internal/plan"
	"prony/internal/result"
)

func TestBottleneck(t *testing.T) {
	overload := func(peak int) func(run, load, gen) {
		return func(_ run, l load, _ gen) { grow(l, 0, 200); l.Connections.Peak = peak }
	}
	for _, c := range []struct {
		name       string
		base       func() *result.Run
		change     func(run, load, gen)
		what, says string // "" for none
	}{
		{"always in flight", closed, same, "target-or-path", "with 64 requests always in flight the answer time of 8ms sets the rate"},
		{"it is not called a limit", closed, same, "target-or-path", "only a run with more (-c 128) shows if it is a limit"},
		{"generator not watched", closed, func(_ run, _ load, g gen) { *g = result.Generator{} }, "target-or-path", "how full the generator was is not known"},
		{"places were free", closed, func(_ run, l load, _ gen) { l.InFlight = 32; l.Latency.Response = times(80_000, 4*time.Millisecond) }, "", ""},
		{"a full thread", closed, func(_ run, _ load, g gen) { g.ThreadSeries = fill(10, 1) }, "generator-cpu", "thread was full"},
		{"late by itself", open, func(_ run, l load, _ gen) { l.Latency.Dispatch = times(10_000, 2*time.Millisecond) }, "generator", "generator-bound"},
		{"a little late", open, func(_ run, l load, _ gen) { l.Latency.Dispatch = times(10_000, 450*time.Microsecond) }, "rate", "no limit reached"},
		{"quota", closed, func(_ run, _ load, g gen) { g.Throttled = 0.2 }, "generator-quota", "20%"},
		{"file limit", closed, func(_ run, l load, _ gen) { l.Failures["file-limit"] = 9 }, "file-limit", "open files"},
		{"rate met", open, same, "rate", "the asked rate of 1,000/s: no limit reached at this load"},
		{"rate met with errors", open, func(r run, _ load, _ gen) { fail(r, "http-status", 500, time.Millisecond) }, "", ""},
		{"rate missed, pool full", open, overload(100), "connections", "with all 100 connections in use"},
		{"rate missed, pool not full", open, overload(50), "", ""},
		{"invalid for another reason", closed, func(_ run, _ load, g gen) { g.Steal = 0.3 }, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.base()
			c.change(r, &r.Load, &r.Generator)
			b := judge(r).Bottleneck
			if b == nil {
				b = &result.Bottleneck{}
			}
			if b.What != c.what || !strings.Contains(b.Message, c.says) {
				t.Errorf("got %q: %q, want %q: …%s…", b.What, b.Message, c.what, c.says)
			}
		})
	}
}

// TestTellsGeneratorFromTarget: late by itself the generator is the limit, and
// the number is not usable; waiting for a connection it is the target or the
// pool, and it is (method 1.6).
func TestTellsGeneratorFromTarget(t *testing.T) {
	r := open()
	r.Load.Latency.Lag = times(10_000, 5*time.Millisecond)
	r.Load.Connections.Peak = 100
	if f := findingOf(t, judge(r), "client-wait"); !strings.Contains(f.Message, "target overloaded or pool too small") || r.Validity.Verdict != result.Valid {
		t.Errorf("got %s and %q, want valid and the target or the pool", r.Validity.Verdict, f.Message)
	}
	r.Load.Latency.Dispatch = r.Load.Latency.Lag
	if f := findingOf(t, judge(r), "dispatch-lag"); !strings.Contains(f.Message, "generator-bound") || r.Validity.Verdict != result.Invalid {
		t.Errorf("got %s and %q, want invalid and the generator", r.Validity.Verdict, f.Message)
	}
}

func TestRateNotSustained(t *testing.T) {
	r := open()
	asked := 1200.0
	r.Load.OfferedRate = &asked
	grow(&r.Load, 0, 200)
	r.Load.BacklogPeak = 6000
	f := findingOf(t, judge(r), "rate-sustained")
	if want := "target rate not sustained: asked 1,200/s, got 1,000/s, backlog 6,000 requests"; !strings.HasPrefix(f.Message, want) || !strings.Contains(f.Message, "lower bound") {
		t.Errorf("got %q, want %q and lower bounds", f.Message, want)
	}
}

func goals(t *testing.T, texts ...string) []plan.Expectation {
	t.Helper()
	var all []plan.Expectation
	for _, s := range texts {
		e, err := plan.ParseExpectation(s)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// mixed is 9,900 answers of 1 to 9,900 µs and 100 requests that failed fast.
func mixed() *result.Run {
	r := open()
	l := &r.Load
	l.Requests = result.Requests{Asked: 10_000, Started: 10_000, Completed: 9900, Failed: 100, InWindow: 10_000}
	l.Latency.Response = times(0)
	for i := range int64(9900) {
		l.Latency.Response.Record((i + 1) * 1000)
	}
	l.Latency.Failed = times(100, time.Microsecond)
	l.Failures = map[string]int64{"timeout": 60, "http-status": 40}
	return r
}

func TestExpectations(t *testing.T) {
	for _, c := range []struct {
		goal   string
		actual float64
		met    bool
		says   string
	}{
		{"p50 < 5.1ms", 5_001_215, true, "was 5ms"},
		{"p50 < 4ms", 5_001_215, false, "was 5ms"},
		{"p99 < 10ms", 9_900_000, true, "was 9.9ms"},
		{"p99.1 < 10s", math.MaxFloat64, false, "infinite: 100 requests (1%) without a good answer were taken as infinitely slow"},
		{"p99.1 > 10s", math.MaxFloat64, true, "infinite"},
		{"p99.99 < 10s", math.MaxFloat64, false, "rests on chance"},
		{"max < 1s", math.MaxFloat64, false, "infinite"},
		{"service.p99 < 9ms", 8_000_000, true, "was 8ms"},
		{"lag.p99 < 1ms", 20_000, true, "was 20µs"},
		{"lag.p99.99 < 1ms", 20_000, false, "it needs 100,000"},
		{"service.max <= 8ms", 8_000_000, true, "was 8ms"},
		{"mean < 5ms", 4_950_500, true, "was 4.95ms"},
		{"min >= 1us", 1000, true, "was 1µs"},
		{"errors < 1%", 0.01, false, "was 1%"},
		{"errors <= 1%", 0.01, true, "was 1%"},
		{"rate > 999/s", 1000, true, "was 1k/s"},
		{"goodput > 999/s", 990, false, "was 990/s"},
		{"completed >= 9900", 9900, true, "was 9,900"},
		{"failed == 0", 100, false, "was 100"},
		{"timeout == 0", 60, false, "was 60"},
		{"reset == 0", 0, true, "was 0"},
		{"connections == 20", 20, true, "was 20"},
		{"unsent == 0", 0, true, "was 0"},
	} {
		t.Run(c.goal, func(t *testing.T) {
			r := mixed()
			r.Plan.Expect = goals(t, c.goal)
			got := judge(r).Expect[0]
			if got.Text != c.goal || got.Met != c.met || !strings.Contains(got.Reason, c.says) {
				t.Errorf("got %+v, want met %t: %s", got, c.met, c.says)
			}
			near(t, "actual", got.Actual, c.actual, c.actual/1000)
		})
	}
}

func TestExpectationsWithoutRequests(t *testing.T) {
	r := closed()
	r.Load.Requests, r.Load.Latency = result.Requests{}, result.Latency{}
	r.Plan.Expect = goals(t, "p99 < 1s", "errors < 1%", "mean < 1s", "failed == 0")
	for i, want := range []bool{false, false, false, true} {
		if e := judge(r).Expect[i]; e.Met != want || e.Reason == "" {
			t.Errorf("got %+v, want met %t and a reason", e, want)
		}
	}
}

// TestEveryKindCanBeExpected holds the plan's names of failures to the result's.
func TestEveryKindCanBeExpected(t *testing.T) {
	var want []string
	for k := result.NoFailure + 1; k < result.FailureKinds; k++ {
		want = append(want, k.String())
	}
	if got := plan.FailureKinds(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, kind := range want {
		r := closed()
		r.Plan.Expect = goals(t, kind+" == 7")
		r.Load.Failures[kind] = 7
		if e := judge(r).Expect[0]; !e.Met {
			t.Errorf("got %+v, want it met", e)
		}
	}
}

func TestSuggestions(t *testing.T) {
	for _, c := range []struct {
		name   string
		base   func() *result.Run
		change func(run, load, gen)
		want   []string // a part of each, in order
	}{
		{"a good closed run", closed, same, []string{"-c 128", "-r 4000/s", "five repeats"}},
		{"a good open run", open, same, []string{"five repeats"}},
		{"too short on one machine", closed, func(_ run, l load, _ gen) {
			few(1000)(nil, l, nil)
			l.Loopback, l.WarmupUS, l.InFlight = true, 0, 1
			l.Latency.Response = times(1000, 10*time.Millisecond)
		}, []string{"another machine", "-d 100s", "warm-up", "-r"}},
		{"by count", closed, func(r run, l load, _ gen) { few(1000)(nil, l, nil); r.Plan.Load.Count = 1000 }, []string{"-n 10000"}},
		{"failures", closed, func(r run, _ load, _ gen) { fail(r, "http-status", 8000, time.Millisecond) }, []string{"failures"}},
		{"full generator", closed, func(_ run, _ load, g gen) { g.BusySeries = fill(10, 1) }, []string{"more generator"}},
		{"churn", closed, func(_ run, l load, _ gen) { l.Connections.Reopened, l.Connections.ClosedByPeer = 8000, 8000 }, []string{"kept"}},
		{"not sustained", open, func(_ run, l load, _ gen) { grow(l, 0, 200) }, []string{"-r 800/s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.base()
			c.change(r, &r.Load, &r.Generator)
			got := analyse.Suggestions(judge(r))
			if len(got) < len(c.want) || len(got) > 4 {
				t.Fatalf("got %q, want %q and at most four", got, c.want)
			}
			for i, part := range c.want {
				if !strings.Contains(got[i], part) {
					t.Errorf("got %q, want %q in it", got[i], part)
				}
			}
		})
	}
}

// TestChurnSaysWhoClosed tells a target that closes from requests that fail.
func TestChurnSaysWhoClosed(t *testing.T) {
	r := closed()
	r.Load.Connections.Reopened, r.Load.Connections.ClosedByPeer = 8000, 8000
	if f := findingOf(t, judge(r), "churn"); !strings.Contains(f.Message, "the target closed them") {
		t.Errorf("got %q, want the target", f.Message)
	}
	fail(r, "timeout", 8000, 10*time.Second)
	r.Load.Connections.ClosedByPeer = 0
	if f := findingOf(t, judge(r), "churn"); !strings.Contains(f.Message, "after failures (timeout)") {
		t.Errorf("got %q, want the failures and their kind", f.Message)
	}
}
