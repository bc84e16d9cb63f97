package compare_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"prony/internal/compare"
	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
)

// measured is a run of an open load of 1000/s for 10 s against the service
// "app", whose response times are spread around a middle (microseconds).
func measured(cpu, middle float64) result.Run {
	h := hdr.MustNew(hdr.Config{})
	for i := range 10_000 {
		h.Record(int64(middle * 1000 * (0.5 + float64(i*7919%10_000)/10_000)))
	}
	r := result.Run{Kind: "load", Version: "1.0", Validity: result.Validity{Verdict: result.Valid}}
	r.Load = result.Load{Model: "open", Protocol: "http/1.1", Engine: "epoll", Rate: 1000, DurationUS: 10e6}
	r.Load.Requests = result.Requests{Asked: 10_000, Started: 10_000, Completed: 10_000, InWindow: 10_000}
	r.Load.Latency.Response = result.Histogram{Histogram: h}
	r.Services = []result.Service{{Name: "app", CPUUSPerRequest: cpu, CPUUS: cpu * 10_000, MaxRSSBytes: 50 << 20}}
	r.Environment = result.Environment{OS: "linux", Kernel: "6.1", CPUModel: "model", CPUs: 2}
	r.Plan = &plan.Plan{Load: plan.Load{Model: plan.Open, Requests: []plan.Request{{Method: "GET", URL: "http://app/", Service: "app", Weight: 1}},
		Timeouts: plan.Timeouts{Request: 20 * time.Second}}}
	return r
}

// experiment is of two variants over blocks; make gives the runs.
func experiment(blocks int, make func(block int, variant string) result.Run) *result.Experiment {
	e := &result.Experiment{Plan: &plan.Experiment{Baseline: "main", Variants: []plan.Variant{{Name: "main"}, {Name: "branch"}}}}
	for block := range blocks {
		for _, variant := range []string{"branch", "main"} {
			e.Trials = append(e.Trials, result.Trial{Number: len(e.Trials) + 1, Block: block, Variant: variant, Run: make(block, variant)})
		}
	}
	return e
}

// varied is an experiment whose CPU per request varies by 1.5 % from run to run
// and, between blocks, by 1 %; that of the branch is higher by a ratio.
func varied(blocks int, seed uint64, ratio float64) *result.Experiment {
	random := rand.New(rand.NewPCG(seed, 5))
	level := 0.0
	return experiment(blocks, func(_ int, variant string) result.Run {
		if variant == "branch" { // the first of its block
			level = 100 * (1 + 0.01*random.NormFloat64())
			return measured(level*ratio*(1+0.015*random.NormFloat64()), 1000*(1+0.03*random.NormFloat64()))
		}
		return measured(level*(1+0.015*random.NormFloat64()), 1000*(1+0.03*random.NormFloat64()))
	})
}

// compared fails the test on an error.
func compared(t *testing.T, e *result.Experiment, o compare.Options) *compare.Result {
	t.Helper()
	r, err := compare.Experiment(e, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func metric(t *testing.T, r *compare.Result, name string) compare.Metric {
	t.Helper()
	for _, m := range r.Comparisons[0].Metrics {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("there is no metric %s", name)
	return compare.Metric{}
}

// TestAAndA: of 100 comparisons of a target with itself, at most 8 are called
// different, and none better or worse.
func TestAAndA(t *testing.T) {
	different, wrong := 0, 0
	for seed := range uint64(100) {
		r := compared(t, varied(10, seed, 1), compare.Options{Gates: []string{"cpu.app"}, Also: []string{}})
		switch r.Verdict {
		case compare.SmallChange:
			different++
		case compare.Better, compare.Worse:
			different, wrong = different+1, wrong+1
		}
	}
	if different > 8 || wrong > 0 {
		t.Errorf("got %d different, %d of them beyond the margin; want at most 8 and 0", different, wrong)
	}
}

// TestAAndB: 5 % more CPU per request are found in at least 18 of 20, by the
// gates as they are without options.
func TestAAndB(t *testing.T) {
	found := 0
	for seed := range uint64(20) {
		r := compared(t, varied(10, 1000+seed, 1.05), compare.Options{})
		m := metric(t, r, "cpu.app")
		if !m.Gate || r.Family != 2 {
			t.Fatalf("got gate %t and a family of %d, want the CPU as one of 2 gates", m.Gate, r.Family)
		}
		if m.Verdict == compare.Worse || m.Verdict == compare.SmallChange && m.Direction == compare.Worse {
			found++
		}
	}
	if found < 18 {
		t.Errorf("got %d of 20, want at least 18", found)
	}
}

func TestSameBytes(t *testing.T) {
	encode := func(e *result.Experiment) []byte {
		b, err := json.Marshal(compared(t, e, compare.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	e := varied(8, 3, 1.02)
	first := encode(e)
	stored, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back result.Experiment
	if err := json.Unmarshal(stored, &back); err != nil {
		t.Fatal(err)
	}
	if second := encode(e); !bytes.Equal(first, second) {
		t.Errorf("the second time:\n%s\nwant\n%s", second, first)
	}
	if third := encode(&back); !bytes.Equal(first, third) {
		t.Errorf("from storage:\n%s\nwant\n%s", third, first)
	}
}

func TestExcluded(t *testing.T) {
	e := varied(9, 4, 1)
	e.Trials[0].Error = "the target did not start"                  // block 1, branch
	e.Trials[3].Validity = result.Validity{Verdict: result.Invalid, // block 2, main
		Findings: []result.Finding{{Rule: "ledger", Severity: result.InvalidLevel, Message: "3 requests are lost"}}}
	e.Trials[5].Validity = result.Validity{Verdict: result.Suspect, // block 3, main
		Findings: []result.Finding{{Rule: "steal", Severity: result.SuspectLevel}}}
	c := compared(t, e, compare.Options{}).Comparisons[0]
	want := []compare.Excluded{
		{Side: "main", Run: "trial 4", Reason: "it is invalid: 3 requests are lost (ledger)"},
		{Side: "branch", Run: "trial 1", Reason: "it has no result: the target did not start"},
		{Side: "main", Run: "trial 2", Reason: "its partner in block 1 does not count"},
		{Side: "branch", Run: "trial 3", Reason: "its partner in block 2 does not count"},
	}
	if !slices.Equal(c.Excluded, want) {
		t.Errorf("got %v, want %v", c.Excluded, want)
	}
	if !c.Paired || len(c.Pairs) != 7 || c.RunsA != 7 || c.RunsB != 7 || c.Pairs[0] != (compare.Pair{Block: 2, A: "trial 6", B: "trial 5"}) {
		t.Errorf("got %d pairs, the first %+v; want 7 from trials 6 and 5", len(c.Pairs), c.Pairs[0])
	}
	if !slices.Contains(c.Warnings, "1 of 7 runs of main are suspect: steal") {
		t.Errorf("got warnings %q, want one of a suspect run", c.Warnings)
	}
	for _, m := range c.Metrics {
		if m.Name == "cpu.app" && (len(m.A.Values) != 7 || len(m.B.Values) != 7) {
			t.Errorf("got %d and %d values, want 7 of each", len(m.A.Values), len(m.B.Values))
		}
		each := c.Ratios(m)
		switch {
		case m.Absolute && each != nil:
			t.Errorf("%s is a difference, and has ratios %v", m.Name, each)
		case m.Name == "rate" && (len(each) != 7 || each[3] != m.B.Values[3]/m.A.Values[3]):
			t.Errorf("got ratios %v, want one of each of 7 pairs", each)
		}
	}
	unpaired := compared(t, e, compare.Options{Unpaired: true}).Comparisons[0]
	if each := unpaired.Ratios(unpaired.Metrics[0]); each != nil {
		t.Errorf("without pairs: got ratios %v", each)
	}
}

func TestOpenAgainstClosed(t *testing.T) {
	e := varied(8, 5, 1)
	e.Trials[0].Load.Model = "closed"
	if _, err := compare.Experiment(e, compare.Options{}); !errors.Is(err, compare.ErrModels) {
		t.Errorf("got %v, want %v", err, compare.ErrModels)
	}
	e.Trials[0].Validity.Verdict = result.Invalid // it does not count, so that it does not stand in the way
	if _, err := compare.Experiment(e, compare.Options{}); err != nil {
		t.Errorf("got %v, want a comparison of the others", err)
	}
}

func TestFewRunsCannotTell(t *testing.T) {
	for blocks, want := range map[int]string{3: "too few for a verdict: 3 pairs, and it takes 7 (level 2.5%)",
		6: "too few for a verdict: 6 pairs, and it takes 7 (level 2.5%)", 1: "too few for a verdict: 1 pair, and it takes 7 (level 2.5%)"} {
		m := metric(t, compared(t, varied(blocks, 6, 1.5), compare.Options{}), "cpu.app")
		if m.Verdict != compare.CannotTell || m.Reason != want || m.Needed != 7 || m.Coverage != 0 || m.Test != "" {
			t.Errorf("%d blocks: got %s (%s), %d needed, coverage %v; want %q", blocks, m.Verdict, m.Reason, m.Needed, m.Coverage, want)
		}
	}
	r := compared(t, varied(7, 6, 1.5), compare.Options{})
	if m := metric(t, r, "cpu.app"); m.Verdict != compare.Worse || !r.Failed() {
		t.Errorf("7 blocks, 50 %% more: got %s, want worse", m.Verdict)
	}
	none := &result.Experiment{Plan: &plan.Experiment{Variants: []plan.Variant{{Name: "a"}, {Name: "b"}}}}
	if r := compared(t, none, compare.Options{}); r.Verdict != compare.CannotTell || r.Comparisons[0].Metrics[0].Reason == "" {
		t.Errorf("no runs: got %s", r.Verdict)
	}
	if _, err := compare.Experiment(&result.Experiment{}, compare.Options{}); err == nil {
		t.Error("no variants: got a comparison, want an error")
	}
}

// TestFamily: more gates widen the intervals and are adjusted together.
func TestFamily(t *testing.T) {
	e := varied(10, 7, 1.04)
	one := metric(t, compared(t, e, compare.Options{Gates: []string{"cpu.app"}}), "cpu.app")
	five := compared(t, e, compare.Options{Gates: []string{"cpu.app", "p50", "p90", "p99", "mean"}})
	m := metric(t, five, "cpu.app")
	if five.Family != 5 || m.High-m.Low <= one.High-one.Low || m.Coverage <= one.Coverage {
		t.Errorf("got a family of %d, interval [%v, %v]; want 5 and a wider one than [%v, %v]", five.Family, m.Low, m.High, one.Low, one.High)
	}
	if m.P != one.P || m.Adjusted != min(1, 5*m.P) {
		t.Errorf("got p %v, adjusted %v; want %v, and five times that", m.P, m.Adjusted, one.P)
	}
	if _, err := compare.Experiment(e, compare.Options{Gates: []string{"p98.x"}}); err == nil {
		t.Error("got a comparison by an unknown metric, want an error")
	}
	if _, err := compare.Experiment(e, compare.Options{Margins: map[string]float64{"p99": 0}}); err == nil {
		t.Error("got a comparison without margin, want an error")
	}
	wide := metric(t, compared(t, e, compare.Options{Margins: map[string]float64{"cpu.app": 0.2}}), "cpu.app")
	if wide.Verdict != compare.Equivalent {
		t.Errorf("margin of 20 %%: got %s, want equivalent", wide.Verdict)
	}
}

// stored are runs without blocks, each changed in the same way.
func stored(n int, cpu float64, change func(r *result.Run)) []*result.Run {
	var all []*result.Run
	for i := range n {
		r := measured(cpu*(1+0.002*float64(i%5)), 1000)
		if change != nil {
			change(&r)
		}
		all = append(all, &r)
	}
	return all
}

func TestConditions(t *testing.T) {
	a := compare.Stored("old", stored(8, 100, nil))
	b := compare.Stored("new", stored(8, 110, func(r *result.Run) {
		r.Environment.Kernel, r.Environment.Go, r.Services[0].Version = "6.2", "go2", "v2"
	}))
	r, err := compare.Sides(a, b, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []compare.Difference{{Kind: "environment", Fact: "kernel", A: "6.1", B: "6.2", Breaks: true},
		{Kind: "environment", Fact: "Go", A: "none", B: "go2"}, {Kind: "service", Fact: "app: version", A: "none", B: "v2"}}
	c := r.Comparisons[0]
	if !slices.Equal(c.Differences, want) {
		t.Errorf("got %v, want %v", c.Differences, want)
	}
	m := metric(t, r, "cpu.app")
	if c.Paired || m.Verdict != compare.CannotTell || !strings.HasSuffix(m.Reason, ": kernel") || m.Effect < 1.09 {
		t.Errorf("got %s (%s), effect %v; want the effect without a verdict, for the kernel", m.Verdict, m.Reason, m.Effect)
	}
	r, err = compare.Sides(a, b, compare.Options{AcceptDifferences: true})
	if err != nil {
		t.Fatal(err)
	}
	if m := metric(t, r, "cpu.app"); m.Verdict != compare.Worse || !strings.HasPrefix(m.Test, "mann-whitney") {
		t.Errorf("differences accepted: got %s by %s, want worse", m.Verdict, m.Test)
	}
}

// TestNothingDiffers: runs made alike have no differences, whatever ports and
// seeds they had.
func TestNothingDiffers(t *testing.T) {
	port := 0
	other := func(r *result.Run) {
		port++
		r.Plan.Load.Seed, r.Plan.Load.Arrivals.Seed = uint64(port), uint64(port)
		r.Plan.Load.Requests[0].URL = fmt.Sprintf("http://127.0.0.1:%d/", 1000+port)
	}
	r, err := compare.Sides(compare.Stored("a", stored(6, 100, other)), compare.Stored("b", stored(6, 100, other)), compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := r.Comparisons[0].Differences; len(d) != 0 {
		t.Errorf("got differences %v, want none", d)
	}
	if m := metric(t, r, "cpu.app"); m.Verdict != compare.Equivalent {
		t.Errorf("got %s (%s), want equivalent", m.Verdict, m.Reason)
	}
}

func TestNoisyBaseline(t *testing.T) {
	e := experiment(10, func(block int, _ string) result.Run { return measured(100*(1+0.02*float64(block)), 1000) })
	c := compared(t, e, compare.Options{}).Comparisons[0]
	want := []string{"cpu.app of main varies by 5.6 % from run to run (limit 5 %)",
		"cpu.app of main drifted by +9.6 % between the halves of the experiment (limit 3 %)"}
	if !slices.Equal(c.Warnings, want) {
		t.Errorf("got %q, want %q", c.Warnings, want)
	}
	// Both variants drifted alike, so that pairs still tell.
	if m := c.Metrics[1]; m.Name != "cpu.app" || m.Verdict != compare.Equivalent {
		t.Errorf("got %s %s, want cpu.app equivalent", m.Name, m.Verdict)
	}
}
