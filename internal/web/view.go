package web

import (
	"encoding/json"

	"prony/internal/plan"
	"prony/internal/result"
)

// The views are the result's own JSON forms in which some parts are replaced by
// shorter ones. A field here takes the place of the one of the same name in the
// embedded form, so that what results learn to say later passes through.

type experimentView struct {
	result.Experiment
	Plan   *plan.Experiment  `json:"plan"`
	Trials []json.RawMessage `json:"trials"`
}

// viewOf puts encoded trials into an experiment. Of the planned trials it keeps
// the first of each variant: the others differ in their seeds.
func viewOf(e *result.Experiment, encoded []json.RawMessage) *experimentView {
	v := &experimentView{Experiment: *e, Trials: encoded}
	p := plan.Experiment{}
	if e.Plan != nil {
		p = *e.Plan
	}
	p.Trials = nil
	seen := map[string]bool{}
	if e.Plan != nil {
		for _, t := range e.Plan.Trials {
			if !seen[t.Variant] {
				seen[t.Variant] = true
				p.Trials = append(p.Trials, t)
			}
		}
	}
	v.Plan = &p
	return v
}

type trialView struct {
	result.Trial
	Load        loadView            `json:"load"`
	Also        []loadView          `json:"also,omitempty"`
	Validity    result.Validity     `json:"validity"`
	Observed    []result.Observed   `json:"observed,omitempty"`
	Environment *result.Environment `json:"environment,omitempty"`
	Plan        *plan.Plan          `json:"plan,omitempty"`
}

type loadView struct {
	result.Load
	Latency   latencyView    `json:"latency"`
	Intervals []intervalView `json:"intervals,omitempty"`
}

// latencyView holds each distribution as [result.Histogram] or as its [brief].
type latencyView struct {
	Response  any `json:"response"`
	Service   any `json:"service"`
	Lag       any `json:"lag"`
	Dispatch  any `json:"dispatch"`
	FirstByte any `json:"first_byte"`
	Failed    any `json:"failed"`
}

type intervalView struct {
	result.Interval
	Response any `json:"response"`
	Service  any `json:"service,omitempty"`
	Lag      any `json:"lag,omitempty"`
	Errors   any `json:"errors,omitempty"`
}

// brief is a distribution without its histogram, by the names of the contract.
type brief struct {
	Count int64   `json:"count"`
	Min   float64 `json:"min_us,omitempty"`
	Mean  float64 `json:"mean_us,omitempty"`
	StDev float64 `json:"stdev_us,omitempty"`
	P50   float64 `json:"p50_us,omitempty"`
	P75   float64 `json:"p75_us,omitempty"`
	P90   float64 `json:"p90_us,omitempty"`
	P95   float64 `json:"p95_us,omitempty"`
	P99   float64 `json:"p99_us,omitempty"`
	P999  float64 `json:"p99_9_us,omitempty"`
	P9999 float64 `json:"p99_99_us,omitempty"`
	Max   float64 `json:"max_us,omitempty"`
}

// briefOf takes the summary that the histogram itself would write.
func briefOf(h result.Histogram) (brief, error) {
	var b brief
	text, err := json.Marshal(h)
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	return b, err
}

// briefly is a second's distribution in the figures that charts need.
func briefly(p result.Packed) *brief {
	if p.Count() == 0 {
		return nil
	}
	return &brief{Count: p.Count(), P50: p.P50(), P99: p.P99(), Max: p.Max()}
}
