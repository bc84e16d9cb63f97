package lab

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/topology"
)

// limited is a target that takes a rate and no more.
type limited struct {
	most   float64
	unfit  float64 // rate above which the generator is the limit; 0 is none
	trials int
}

func (t *limited) Load(ctx context.Context, l plan.Load, tell Tell) (*result.Load, error) {
	t.trials++
	time.Sleep(l.Warmup + l.Duration) //house:sleep the clock is virtual
	rate := t.most * 1.2              // of the closed probe
	if l.Model == plan.Open {
		rate = l.Arrivals.RateAt(0)
	}
	h := hdr.MustNew(hdr.Config{})
	h.RecordN(int64(5*time.Millisecond), 1000)
	if rate > t.most {
		h.RecordN(int64(time.Second), 1000)
	}
	n := int64(rate * l.Duration.Seconds())
	return &result.Load{Model: string(l.Model), Rate: rate, DurationUS: float64(l.Duration.Microseconds()),
		Requests: result.Requests{Asked: n, Completed: n}, Latency: result.Latency{Response: result.Histogram{Histogram: h}}}, nil
}

// goal judges as the plan says: p99 below 50 ms.
func (t *limited) goal(r *result.Run) {
	p99 := time.Duration(r.Load.Latency.Response.Value(hdr.P99))
	r.Expect = []result.Expectation{{Text: "p99 < 50ms", Actual: float64(p99.Microseconds()), Met: p99 < 50*time.Millisecond}}
	r.Validity.Findings = nil
	if t.unfit > 0 && r.Load.Rate > t.unfit {
		r.Validity.Findings = []result.Finding{{Rule: "dispatch-lag", Severity: result.InvalidLevel, Message: "late"}}
	}
}

func TestCapacitySearch(t *testing.T) {
	for _, tt := range []struct {
		name        string
		target      limited
		end         string
		least, most float64
	}{
		{"a limit", limited{most: 730}, "found", 715, 730},
		{"a generator that is too slow", limited{most: 5000, unfit: 900}, "generator-limited", 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := &Campaign{Loader: &tt.target, Judge: tt.target.goal}
				slo, err := plan.ParseExpectation("p99 < 50ms")
				if err != nil {
					t.Fatal(err)
				}
				p := plan.Plan{Capacity: &plan.Capacity{SLO: []plan.Expectation{slo}, Within: 0.02}}
				run, err := c.search(t.Context(), p, plan.Load{Duration: 10 * time.Second, Connections: 1000, Threads: 1, Seed: 1}, &topology.Topology{})
				if err != nil {
					t.Fatal(err)
				}
				got := run.Capacity
				if got.End != tt.end || got.Rate < tt.least || got.Rate > tt.most {
					t.Errorf("got %s at %.1f, want %s within [%g, %g]", got.End, got.Rate, tt.end, tt.least, tt.most)
				}
				if len(got.Trials) == 0 || got.Trials[0].Phase != "probe" {
					t.Errorf("got trials %+v, want a probe first", got.Trials)
				}
				if got.End == "found" && run.Load.Rate != got.Rate {
					t.Errorf("the run is at %.1f, the capacity is %.1f", run.Load.Rate, got.Rate)
				}
			})
		})
	}
}

func TestFifths(t *testing.T) {
	l := &result.Load{DurationUS: 10e6}
	for i := range 10 {
		l.Intervals = append(l.Intervals, result.Interval{StartUS: float64(i) * 1e6, LengthUS: 1e6, InFlight: int64(i)})
	}
	l.Intervals = append(l.Intervals, result.Interval{StartUS: -1e6, LengthUS: 1e6, InFlight: 99, Warmup: true},
		result.Interval{StartUS: 10e6, LengthUS: 1e6, InFlight: 99, Drain: true})
	if second, last := fifths(l); second != 2.5 || last != 8.5 {
		t.Errorf("got %g and %g, want 2.5 and 8.5", second, last)
	}
}
