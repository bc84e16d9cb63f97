package analyse_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"prony/internal/analyse"
	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/schedule"
)

// times makes a histogram of n values of each duration.
func times(n int64, each ...time.Duration) result.Histogram {
	h := hdr.MustNew(hdr.Config{})
	for _, d := range each {
		h.RecordN(int64(d), n)
	}
	return result.Histogram{Histogram: h}
}

// idle is a generator at ease.
func idle() result.Generator {
	g := result.Generator{CPUUS: 4e6, CPUs: 4, MeanBusy: 0.1, PeakBusy: 0.2, PeakThreadBusy: 0.3, OpenFiles: 80, FileLimit: 1024,
		Ports: 28232, PortsUsed: 70, HostBusy: 0.06, ClockReadNS: 25, ClockSource: "tsc"}
	for range 10 {
		g.BusySeries = append(g.BusySeries, 0.1)
		g.ThreadSeries = append(g.ThreadSeries, 0.3)
		g.CoreSeries = append(g.CoreSeries, 0.4)
	}
	return g
}

// seconds are ten intervals with the same counts.
func seconds(n, inFlight int64) []result.Interval {
	var all []result.Interval
	for i := range 10 {
		all = append(all, result.Interval{StartUS: float64(i) * 1e6, LengthUS: 1e6, Started: n, Planned: n, Completed: n, InFlight: inFlight})
	}
	return all
}

// closed is a sound run of 64 connections for 10 s: 8,000/s at 8 ms.
func closed() *result.Run {
	p := &plan.Plan{Load: plan.Load{Model: plan.Closed, Connections: 64, Pipeline: 1, Duration: 10 * time.Second, Warmup: 2 * time.Second,
		Timeouts: plan.Timeouts{Request: 10 * time.Second}}}
	return &result.Run{Plan: p, Generator: idle(), Environment: result.Environment{CPUs: 8}, Load: result.Load{
		Model: "closed", Engine: "epoll", Threads: 2, DurationUS: 10e6, WarmupUS: 2e6, EndedBy: "duration",
		Connections: result.Connections{Asked: 64, Opened: 64, Peak: 64, Connects: 64},
		Requests:    result.Requests{Asked: 80_000, Started: 80_000, Completed: 80_000, InWindow: 80_000},
		Failures:    map[string]int64{}, Statuses: map[string]int64{"200": 80_000}, Rate: 8000,
		Latency:  result.Latency{Response: times(80_000, 8*time.Millisecond), Service: times(80_000, 8*time.Millisecond)},
		InFlight: 64, InFlightEdges: 128, SendGapKS: -1, Intervals: seconds(8000, 64),
	}}
}

// open is a sound run of 1,000/s for 10 s, answered in 8 ms.
func open() *result.Run {
	r := closed()
	offered := 1000.0
	l := &r.Load
	l.Model, l.Rate, l.OfferedRate = "open", 1000, &offered
	l.Connections = result.Connections{Asked: 100, Opened: 20, Peak: 20, Connects: 20}
	l.Requests = result.Requests{Asked: 10_000, Started: 10_000, Completed: 10_000, InWindow: 10_000}
	l.Latency = result.Latency{Response: times(10_000, 8*time.Millisecond), Service: times(10_000, 8*time.Millisecond),
		Lag: times(10_000, 20*time.Microsecond), Dispatch: times(10_000, 10*time.Microsecond)}
	l.InFlight, l.InFlightEdges, l.Intervals = 8, 16, seconds(1000, 8)
	r.Plan.Load.Model, r.Plan.Load.Arrivals = plan.Open, schedule.Rate(1000)
	return r
}

// poisson is open with random arrivals.
func poisson() *result.Run {
	r := open()
	r.Plan.Load.Arrivals.Process = schedule.Poisson
	r.Load.SendGapKS = 0.02
	return r
}

func fail(r *result.Run, kind string, n int64, took time.Duration) {
	r.Load.Requests.Completed -= n
	r.Load.Requests.Failed += n
	r.Load.Failures[kind] += n
	r.Load.Latency.Response = times(r.Load.Requests.Completed, 8*time.Millisecond)
	r.Load.Latency.Failed = times(n, took)
}

func fill(n int, value float64) []float64 { return slices.Repeat([]float64{value}, n) }

func judge(r *result.Run) *result.Run {
	analyse.Run(r, analyse.DefaultThresholds())
	return r
}

// answer says what a rule made of a run: the gravest severity, "not run" or
// nothing.
func answer(r *result.Run, rule string) string {
	for _, n := range r.Validity.NotRun {
		if names, _, _ := strings.Cut(n, ": "); slices.Contains(strings.Split(names, ", "), rule) {
			return "not run"
		}
	}
	for _, f := range r.Validity.Findings {
		if f.Rule == rule {
			return string(f.Severity)
		}
	}
	return ""
}

func findingOf(t *testing.T, r *result.Run, rule string) result.Finding {
	t.Helper()
	for _, f := range r.Validity.Findings {
		if f.Rule == rule {
			return f
		}
	}
	t.Fatalf("got no finding of %s, want one; findings: %v", rule, r.Validity.Findings)
	return result.Finding{}
}

func TestSoundRunsAreValid(t *testing.T) {
	for name, r := range map[string]*result.Run{"closed": judge(closed()), "open": judge(open()), "poisson": judge(poisson())} {
		if r.Validity.Verdict != result.Valid {
			t.Errorf("%s: got verdict %s, want valid; findings: %v", name, r.Validity.Verdict, r.Validity.Findings)
		}
		for _, f := range r.Validity.Findings {
			if f.Severity != result.Info {
				t.Errorf("%s: got %s %s: %s, want no word against a sound run", name, f.Severity, f.Rule, f.Message)
			}
		}
	}
}

func TestCPUPerRequest(t *testing.T) {
	r := judge(closed())
	if got, want := r.Generator.CPUUSPerRequest, 50.0; got != want {
		t.Errorf("got %g µs per request, want %g", got, want)
	}
	r.Load.Requests.InWindow = 0
	if judge(r); r.Generator.CPUUSPerRequest != 0 {
		t.Errorf("got %g µs per request without requests, want 0", r.Generator.CPUUSPerRequest)
	}
}

func TestEmptyResult(t *testing.T) {
	r := judge(&result.Run{})
	if r.Validity.Verdict != result.Invalid || r.Bottleneck != nil || r.Validity.Findings == nil {
		t.Errorf("got %+v, %v, want an invalid result without a bottleneck", r.Validity, r.Bottleneck)
	}
	if got := analyse.Suggestions(r); len(got) != 1 || !strings.Contains(got[0], "curl") {
		t.Errorf("got suggestions %q, want only to make one request succeed first", got)
	}
}
