package compare_test

import (
	"fmt"
	"math"
	"testing"

	"prony/internal/compare"
	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
)

// grown is an experiment whose rate follows a law along an axis.
func grown(axis string, values []float64, runs int, law func(n float64) float64) *result.Experiment {
	e := &result.Experiment{Plan: &plan.Experiment{}}
	for _, n := range values {
		name := fmt.Sprintf("%s=%g", axis, n)
		v := plan.Variant{Name: name, Values: map[string]string{axis: fmt.Sprint(n)}}
		e.Plan.Variants = append(e.Plan.Variants, v)
		for b := range runs {
			h := hdr.MustNew(hdr.Config{})
			h.RecordN(int64(n/law(n)*1e9), 100)
			e.Trials = append(e.Trials, result.Trial{Variant: name, Block: b, Values: v.Values, Run: result.Run{
				Validity: result.Validity{Verdict: result.Valid},
				Load:     result.Load{Rate: law(n), Latency: result.Latency{Service: result.Histogram{Histogram: h}}}}})
		}
	}
	return e
}

func TestCurves(t *testing.T) {
	e := grown("instances", []float64{1, 2, 4, 8}, 3, func(n float64) float64 { return 1000 * n / (1 + 0.02*(n-1)) })
	e.Plan.Goals = []plan.Goal{{Text: "scaling(instances) > 0.7", Axis: "instances", Op: ">", Value: 0.7}, {Text: "scaling(instances) > 0.9", Axis: "instances", Op: ">", Value: 0.9},
		{Text: "scaling(other) > 0.1", Axis: "other", Op: ">", Value: 0.1}}
	e.Trials[11].Load.Rate, e.Trials[11].Validity.Verdict = 1, result.Invalid // counts for nothing
	compare.Curves(e)
	if len(e.Curves) != 1 || len(e.Curves[0].Points) != 4 {
		t.Fatalf("got %+v", e.Curves)
	}
	last := e.Curves[0].Points[3]
	if want := 1 / 1.14; math.Abs(last.Efficiency-want) > 1e-9 || last.Runs != 2 {
		t.Errorf("got %+v, want an efficiency of %g", last, want)
	}
	for i, want := range []bool{true, false, false} {
		if e.Goals[i].Met != want {
			t.Errorf("%s: got %+v, want met = %t", e.Goals[i].Text, e.Goals[i], want)
		}
	}
}

// The fit of the scalability law finds the parameters it was made with (KAT-35).
func TestCurveFit(t *testing.T) {
	law := func(n float64) float64 { return 1000 * n / (1 + 0.02*(n-1) + 0.0005*n*(n-1)) }
	e := grown("load.connections", []float64{1, 2, 4, 8, 16, 32, 48, 64}, 2, law)
	compare.Curves(e)
	c := e.Curves[0]
	if c.Fit == nil || math.Abs(c.Fit.Alpha-0.02) > 1e-4 || math.Abs(c.Fit.Beta-0.0005) > 1e-5 || math.Abs(c.Fit.PeakAt-44.27) > 0.5 {
		t.Errorf("got %+v", c.Fit)
	}
	if c.Knee != 16 { // 15,645/s times 1 ms
		t.Errorf("got a knee at %g, want 16", c.Knee)
	}
}

func TestCurvesOfWords(t *testing.T) {
	e := grown("app.catalog", []float64{1, 2}, 1, func(n float64) float64 { return n })
	e.Plan.Variants[0].Values["app.catalog"] = "nginx"
	compare.Curves(e)
	if len(e.Curves) != 0 {
		t.Errorf("got %+v", e.Curves)
	}
}
