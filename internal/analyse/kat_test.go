package analyse_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"prony/internal/analyse"
	"prony/internal/result"
	"prony/internal/schedule"
)

// near compares a computed number with a published one.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// TestKAT6SendGaps executes the first 1,000 gaps of the plan with seed 42 with
// clocks of different coarseness.
func TestKAT6SendGaps(t *testing.T) {
	for _, c := range []struct {
		name     string
		rate     float64
		tick     float64 // seconds; sends are rounded up to it
		constant bool
		distance float64
		want     string
	}{
		{"exactly", 1000, 0, false, 0.0229, ""},
		{"in ticks of 100 µs at 1000/s", 1000, 100e-6, false, 0.0590, "suspect"},
		{"in ticks of 1 ms at 100/s", 100, 1e-3, false, 0.0590, "suspect"},
		{"in ticks of 1 ms at 1000/s", 1000, 1e-3, false, 0.3934, "invalid"},
		{"evenly", 1000, 0, true, 0.6321, "invalid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			random := schedule.SplitMix64(42)
			gaps := make([]float64, 1000)
			var at, last float64
			for i := range gaps {
				at += random.Exp() / c.rate
				sent := at
				if c.tick > 0 {
					sent = math.Ceil(at/c.tick) * c.tick
				}
				gaps[i], last = sent-last, sent
				if c.constant {
					gaps[i] = 1 / c.rate
				}
			}
			if c.tick > 0 || c.constant {
				gaps = gaps[1:] // the published figures leave out the gap to the origin
			}
			r := poisson()
			r.Load.SendGapKS = schedule.KSExp(gaps)
			near(t, "distance", r.Load.SendGapKS, c.distance, 5e-5)
			if got := answer(judge(r), "send-gaps"); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestKAT36Little(t *testing.T) {
	r := closed()
	if got := answer(judge(r), "little"); got != "" {
		t.Errorf("64 in flight at 8,000/s and 8 ms: got %q, want nothing", got)
	}
	r.Load.Latency.Response = times(80_000, 7200*time.Microsecond)
	r.Load.Latency.Service = r.Load.Latency.Response
	f := findingOf(t, judge(r), "little")
	if f.Severity != result.InvalidLevel || r.Bottleneck != nil {
		t.Errorf("at 7.2 ms: got %s and bottleneck %v, want invalid and none", f.Severity, r.Bottleneck)
	}
	near(t, "X times R", f.Evidence["rate_times_response"], 57.6, 1e-6)
	near(t, "difference", f.Evidence["difference"], 0.1, 1e-9)
}

// TestKAT36Repairman is the machine repairman: users who think 0.1 s, one
// exponential server of 100/s. In flight are those who do not think.
func TestKAT36Repairman(t *testing.T) {
	for _, c := range []struct{ users, rate, responseMS float64 }{{1, 9.09091, 10}, {5, 43.60478, 14.67}, {10, 78.54177, 27.32}, {20, 99.81310, 100.37}} {
		r := closed()
		n := int64(math.Round(c.rate * 1000))
		l := &r.Load
		l.DurationUS, l.Rate = 1000e6, c.rate
		l.Requests = result.Requests{Asked: n, Started: n, Completed: n, InWindow: n}
		took := time.Duration(c.responseMS * 1e6)
		l.Latency.Response, l.Latency.Service = times(n, took), times(n, took)
		l.InFlight, l.InFlightEdges = c.users-c.rate*0.1, int64(c.users)
		l.Connections = result.Connections{Asked: int(c.users), Opened: int(c.users), Peak: int(c.users)}
		r.Plan.Load.Think.Mean = 100 * time.Millisecond
		if got := answer(judge(r), "little"); got != "" {
			t.Errorf("%g users: got %q, want nothing", c.users, got)
		}
		if r.Bottleneck == nil || r.Bottleneck.What != "think-time" {
			t.Errorf("%g users: got bottleneck %+v, want their think time", c.users, r.Bottleneck)
		}
	}
}

func TestKAT41Ports(t *testing.T) {
	r := closed()
	r.Plan.Load.NoKeepAlive = true
	r.Load.DurationUS, r.Load.WarmupUS = 60e6, 0
	r.Load.Connections.Connects = 36_000
	f := findingOf(t, judge(r), "ports")
	if f.Severity != result.SuspectLevel || !strings.Contains(f.Message, "after 47.1 s") {
		t.Errorf("got %s %q, want a suspect forecast at 47.1 s", f.Severity, f.Message)
	}
	near(t, "exhausted after", f.Evidence["exhausted_after_s"], 47.05, 0.01)
	near(t, "warned after", f.Evidence["warned_after_s"], 37.6, 0.05)
	if r.Bottleneck != nil && r.Bottleneck.What == "ports" {
		t.Error("got ports as the bottleneck, want none for a forecast")
	}

	r.Load.Connections.ClosedByPeer = 36_000
	if got := answer(judge(r), "ports"); got != "" {
		t.Errorf("closed by the target: got %q, want nothing: it keeps the rests", got)
	}

	r.Load.Failures["no-ports"] = 5
	f = findingOf(t, judge(r), "ports")
	if f.Evidence["failures"] != 5 || r.Bottleneck == nil || r.Bottleneck.What != "ports" {
		t.Errorf("got %+v and bottleneck %+v, want five refusals and ports", f, r.Bottleneck)
	}
}

func TestKAT43FullGenerator(t *testing.T) {
	r := closed()
	r.Generator.BusySeries, r.Generator.MeanBusy, r.Generator.PeakBusy = fill(10, 0.97), 0.97, 0.97
	r.Services = []result.Service{{Name: "app"}}
	judge(r)
	if r.Validity.Verdict != result.Invalid || answer(r, "generator-cpu") != "invalid" {
		t.Errorf("got %s, want an invalid result by generator-cpu", r.Validity.Verdict)
	}
	if b := r.Bottleneck; b == nil || b.What != "generator-cpu" || b.Where != "generator" {
		t.Errorf("got bottleneck %+v, want the generator's CPU and no target", b)
	}
}

func TestKAT44FastErrors(t *testing.T) {
	r := closed()
	l := &r.Load
	l.Requests = result.Requests{Asked: 100_000, Started: 100_000, Completed: 95_000, Failed: 5000, InWindow: 100_000}
	l.Rate, l.Failures["http-status"] = 10_000, 5000
	l.Latency = result.Latency{Response: times(95_000, 3*time.Millisecond), Service: times(95_000, 3*time.Millisecond), Failed: times(5000, 400*time.Microsecond)}
	l.InFlight = 28.7
	judge(r)
	f := findingOf(t, r, "errors")
	near(t, "goodput", f.Evidence["goodput"], 9500, 1e-9)
	if f.Severity != result.SuspectLevel || !strings.Contains(f.Message, "9,500/s, and the rate of 10,000/s counts failures too") {
		t.Errorf("got %s %q, want suspect and the goodput", f.Severity, f.Message)
	}
	if f := findingOf(t, r, "fast-failures"); !strings.Contains(f.Message, "errors inflate speed") {
		t.Errorf("got %q, want errors inflate speed", f.Message)
	}
}

func TestKAT47NoLimitReached(t *testing.T) {
	r := judge(open())
	if r.Validity.Verdict != result.Valid {
		t.Errorf("got %s, want valid", r.Validity.Verdict)
	}
	if b := r.Bottleneck; b == nil || b.What != "rate" || !strings.Contains(b.Message, "no limit reached") {
		t.Errorf("got %+v, want no limit reached", b)
	}
}

// TestSameBytes: a second judgement, and one of the stored result, give the
// same bytes.
func TestSameBytes(t *testing.T) {
	r := open()
	r.Validity.NotRun = []string{"steal"}
	fail(r, "http-status", 500, time.Millisecond)
	r.Load.Failures["reset"], r.Load.Failures["timeout"] = 20, 20
	r.Plan.Expect = goals(t, "p99 < 1s", "errors < 1%")
	first := encode(t, judge(r))
	if got := answer(r, "steal"); got != "not run" {
		t.Errorf("got %q of steal, want not run: the monitor could not read it", got)
	}
	if again := encode(t, judge(r)); !bytes.Equal(again, first) {
		t.Errorf("got other bytes the second time:\n%s\nwant\n%s", again, first)
	}
	var stored result.Run
	if err := json.Unmarshal(first, &stored); err != nil {
		t.Fatal(err)
	}
	analyse.Run(&stored, analyse.DefaultThresholds())
	if again := encode(t, &stored); !bytes.Equal(again, first) {
		t.Errorf("got other bytes from the stored result:\n%s\nwant\n%s", again, first)
	}
}

func encode(t *testing.T, r *result.Run) []byte {
	t.Helper()
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return b
}
