package compare_test

import (
	"testing"

	"prony/internal/compare"
	"prony/internal/plan"
	"prony/internal/result"
)

func TestParse(t *testing.T) {
	for name, want := range map[string]compare.Quantity{
		"rate":        {Name: "rate", Unit: "per second", Margin: 0.02},
		"goodput":     {Name: "goodput", Unit: "per second", Margin: 0.02},
		"completed":   {Name: "completed", Unit: "count", Margin: 0.02},
		"p50":         {Name: "p50", Unit: "us", LowerIsBetter: true, Margin: 0.05},
		"p99.90":      {Name: "p99.9", Unit: "us", LowerIsBetter: true, Margin: 0.10},
		"service.max": {Name: "service.max", Unit: "us", LowerIsBetter: true, Margin: 0.10},
		"cpu":         {Name: "cpu", Unit: "us", LowerIsBetter: true, Margin: 0.02},
		"cpu.app":     {Name: "cpu.app", Unit: "us", LowerIsBetter: true, Margin: 0.02},
		"memory.app":  {Name: "memory.app", Unit: "bytes", LowerIsBetter: true, Margin: 0.05},
		"errors":      {Name: "errors", Unit: "ratio", LowerIsBetter: true, Absolute: true, Margin: 0.001},
		"timeout":     {Name: "timeout", Unit: "ratio", LowerIsBetter: true, Absolute: true, Margin: 0.001},
	} {
		if got, err := compare.Parse(name); err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"asked": `metric "asked": more of it is neither better nor worse`,
		"p101":  `metric "p101": found "p101"; want a percentile above p0, up to p100, with at most four decimals, such as p99 or p99.9`,
		"cpu.":  `metric "cpu."`, "": `metric ""`, "rate > 5 or rate": `metric "rate > 5 or rate"`,
	} {
		if _, err := compare.Parse(name); err == nil || len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
			t.Errorf("%q: got %v, want %s", name, err, want)
		}
	}
}

// TestKindsHaveAValue: every failure kind of a goal is a metric with a value.
func TestKindsHaveAValue(t *testing.T) {
	r := measured(100, 1000)
	r.Load.Failures = map[string]int64{}
	for i, kind := range plan.FailureKinds() {
		r.Load.Failures[kind] = int64(i + 1)
		if got, missing := quantity(t, kind).Of(&r); got != float64(i+1)/10_000 || missing != "" {
			t.Errorf("%s: got %v, %q", kind, got, missing)
		}
	}
}

func TestValues(t *testing.T) {
	r := measured(100, 1000)
	r.Load.Requests = result.Requests{Asked: 20_000, Completed: 10_000, Failed: 5000, CutOff: 3000, Unsent: 2000}
	r.Load.Rate, r.Load.Connections.Reopened = 1500, 20
	r.Services = append(r.Services, result.Service{Name: "app", Instance: 1, CPUUSPerRequest: 50, MaxRSSBytes: 1 << 20},
		result.Service{Name: "db", CPUUSPerRequest: 7})
	for name, want := range map[string]float64{"rate": 1500, "goodput": 1000, "completed": 10_000, "errors": 1. / 3, "failed": 0.25,
		"cut-off": 0.15, "unsent": 0.1, "reopened": 0.001, "cpu.app": 150, "cpu": 157, "memory.app": 51 << 20, "min": 500, "max": 20e6} {
		got, missing := quantity(t, name).Of(&r)
		if missing != "" {
			t.Errorf("%s: %s", name, missing)
		}
		near(t, name, got, want, 1e-6*want)
	}
	// Half of the planned requests had no good answer: the median is the slowest
	// of the others, and what is beyond it never came.
	percentile := func(name string, want float64) {
		got, _ := quantity(t, name).Of(&r)
		near(t, name, got, want, 2e-3*want)
	}
	percentile("p50", 1499.9)
	percentile("p25", 1000)
	percentile("p99", 20e6)
	for name, want := range map[string]string{"memory.db": "the memory of db was not observed", "memory": "the memory of db was not observed",
		"cpu.web": "there is no such service", "service.p50": "no good answer was timed", "p99.99": "p99.99 of 20000 requests rests on 2"} {
		if _, missing := quantity(t, name).Of(&r); missing != want {
			t.Errorf("%s: got %q, want %q", name, missing, want)
		}
	}
	if _, missing := quantity(t, "errors").Of(&result.Run{}); missing != "there were no requests" {
		t.Errorf("no requests: got %q", missing)
	}
}

// TestEndless: failures make the tail worse, never better, and that is said.
func TestEndless(t *testing.T) {
	e := experiment(8, func(_ int, variant string) result.Run {
		r := measured(100, 1000)
		if variant == "branch" {
			r.Load.Requests.Asked, r.Load.Requests.Failed = 10_500, 500
		}
		return r
	})
	r := compared(t, e, compare.Options{})
	if m := metric(t, r, "p99"); m.Verdict != compare.Worse || len(m.Notes) != 1 || m.Effect < 1000 {
		t.Errorf("got %s, effect %v, notes %q; want worse, a large effect and a note", m.Verdict, m.Effect, m.Notes)
	}
	if m := metric(t, r, "errors"); m.Verdict != compare.Worse || m.Effect < 0.04 || m.Effect > 0.05 || !m.Absolute {
		t.Errorf("errors: got %s, difference %v; want worse by 4.8 points", m.Verdict, m.Effect)
	}
	if m := metric(t, r, "p50"); m.Verdict != compare.CannotTell && m.Verdict != compare.SmallChange && m.Verdict != compare.Equivalent {
		t.Errorf("p50: got %s, want no more than a small change", m.Verdict)
	}
	same := metric(t, compared(t, experiment(8, func(int, string) result.Run { return measured(100, 1000) }), compare.Options{}), "errors")
	if same.Verdict != compare.Equivalent || same.Effect != 0 || same.P != 1 {
		t.Errorf("no errors on either side: got %s, %v, p %v; want equivalent", same.Verdict, same.Effect, same.P)
	}
}

// TestMissingValues: a run without a value leaves that metric, with its partner,
// and says so.
func TestMissingValues(t *testing.T) {
	e := varied(9, 8, 1)
	e.Trials[2].Services[0].CPUUSPerRequest = 0 // block 2, branch
	m := metric(t, compared(t, e, compare.Options{}), "cpu.app")
	if len(m.A.Values) != 8 || len(m.B.Values) != 8 || len(m.Missing) != 1 || m.Missing[0] != "trial 3 of branch: the cpu of app was not observed" {
		t.Errorf("got %d and %d values, missing %q", len(m.A.Values), len(m.B.Values), m.Missing)
	}
	if len(metric(t, compared(t, e, compare.Options{}), "p50").A.Values) != 9 {
		t.Error("p50 lost a value that it has")
	}
}
