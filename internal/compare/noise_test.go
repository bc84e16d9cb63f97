package compare_test

import (
	"math"
	"testing"

	"prony/internal/compare"
	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
)

func TestPlan(t *testing.T) {
	cpu := compare.Options{Gates: []string{"cpu.app"}}
	pilot := varied(5, 9, 1.3)
	pilot.Plan.Repeat = plan.Repeat{Times: 100, Detect: 0.02, Pilot: 5}
	d, err := compare.Plan(pilot, 0, cpu)
	if err != nil {
		t.Fatal(err)
	}
	want := pilot.Plan.Repeat.Needed(d.CV)
	if d.Blocks != want || d.Done != 5 || d.More != want-5 || d.Capped || d.Metric != "cpu.app" || d.CV < 0.004 || d.CV > 0.03 {
		t.Errorf("got %+v, want %d blocks for that noise", d, want)
	}
	// The effect has no say, and neither has a drift that both share.
	again, err := compare.Plan(varied(5, 9, 1), 0.02, cpu)
	if err != nil || math.Abs(again.CV-d.CV) > 1e-12 {
		t.Errorf("without the effect: got CV %v, %v, want %v", again.CV, err, d.CV)
	}
	drifting := experiment(5, func(block int, variant string) result.Run { return measured(100*(1+0.1*float64(block)), 1000) })
	if d, err := compare.Plan(drifting, 0.02, cpu); err != nil || d.Blocks != 6 || d.CV > 1e-9 {
		t.Errorf("drift: got %+v, %v, want the least number of blocks", d, err)
	}
	pilot.Plan.Repeat.Times = 6
	if d, err := compare.Plan(pilot, 0.001, cpu); err != nil || !d.Capped || d.Blocks != 6 || d.Detectable <= 0.001 {
		t.Errorf("capped: got %+v, %v", d, err)
	}
}

func TestPlanOneVariant(t *testing.T) {
	e := varied(6, 10, 1)
	e.Plan.Variants = e.Plan.Variants[:1]
	var trials []result.Trial
	for _, trial := range e.Trials {
		if trial.Variant == "main" {
			trials = append(trials, trial)
		}
	}
	e.Trials = trials
	d, err := compare.Plan(e, 0.05, compare.Options{Gates: []string{"cpu.app"}})
	if err != nil || d.CV <= 0 || d.Done != 6 || d.Blocks < 6 {
		t.Errorf("got %+v, %v", d, err)
	}
	for name, e := range map[string]*result.Experiment{"no trials": {}, "one run": {Trials: e.Trials[:1]}} {
		if _, err := compare.Plan(e, 0.05, compare.Options{}); err == nil {
			t.Errorf("%s: got a plan, want an error", name)
		}
	}
	if _, err := compare.Plan(e, 0, compare.Options{}); err == nil {
		t.Error("no difference to detect: got a plan, want an error")
	}
}

func TestControl(t *testing.T) {
	f, err := compare.Control(varied(10, 11, 1), compare.Options{})
	if err != nil || !f.Sound {
		t.Fatalf("got %+v, %v, want a sound lab", f, err)
	}
	for _, n := range f.Metrics {
		if n.Metric == "cpu.app" && (n.CV < 0.008 || n.CV > 0.025 || n.Floor < n.CV || n.Pairs != 10) {
			t.Errorf("got %+v, want the noise of 1.5 %%", n)
		}
		if n.Metric == "errors" {
			t.Error("got a ratio as the floor of a share")
		}
	}
	f, err = compare.Control(varied(10, 12, 1.1), compare.Options{})
	if err != nil || f.Sound || f.Why == "" {
		t.Errorf("10 %% between equals: got %+v, %v, want a lab that is not sound", f, err)
	}
}

func TestDistribution(t *testing.T) {
	e := experiment(7, func(block int, variant string) result.Run {
		r := measured(100, 1000)
		h := hdr.MustNew(hdr.Config{})
		for i := range int64(10_000) {
			v := 1_000_000 + i*100 // 1 to 2 ms
			if variant == "branch" && i >= 9000 {
				v += 3_000_000 // a tenth takes 3 ms longer
			}
			h.Record(v)
		}
		r.Load.Latency.Response = result.Histogram{Histogram: h}
		return r
	})
	d := compared(t, e, compare.Options{}).Comparisons[0].Distribution
	if d == nil || d.CountA != 70_000 || d.CountB != 70_000 {
		t.Fatalf("got %+v, want all 70,000 on each side", d)
	}
	near(t, "apart", d.Apart, 0.1, 1e-3)
	near(t, "apart at", d.ApartAtUS, 2000, 5)
	// The slow tenth was the slowest before, and beat 5 % of the others.
	near(t, "faster", d.Faster, 0.5-0.1*0.05, 2e-4)
	for _, s := range d.Shifts {
		want := 1.0
		if s.Quantile == "p95" || s.Quantile == "p99" || s.Quantile == "p99.9" {
			want = s.B / s.A
			if want < 2 {
				t.Errorf("%s: got ratio %v, want the slow tenth", s.Quantile, want)
			}
		}
		near(t, s.Quantile, s.Ratio, want, 2e-3)
	}
	if last := d.Shifts[len(d.Shifts)-1]; last.Quantile != "p99.9" || last.Coverage != 0 && last.Low > last.Ratio {
		t.Errorf("got a last row %+v, want p99.9: 7 of 70,000 lie beyond p99.99", last)
	}
	if s := d.Shifts[2]; s.Quantile != "p50" || s.Coverage < 0.95 || s.Low != 1 || s.High != 1 {
		t.Errorf("got %+v, want p50 with an interval of nothing", s)
	}
}
