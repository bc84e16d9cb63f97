package result

import "prony/internal/plan"

// ExperimentSchema is the version of an experiment's JSON form.
const ExperimentSchema = "prony.experiment/1"

// Experiment is what came of all trials.
type Experiment struct {
	Schema string           `json:"schema"`
	ID     string           `json:"id"`
	Plan   *plan.Experiment `json:"plan"`
	Trials []Trial          `json:"trials"`
	// Findings are about several trials: whether the variants are alike, what one
	// says of another.
	Findings []Finding `json:"findings,omitempty"`
	// Goals are the expectations over several variants, and Curves how throughput
	// grows along each axis of numbers.
	Goals  []Expectation `json:"goals,omitempty"`
	Curves []Curve       `json:"curves,omitempty"`
}

// Trial is one trial: its result, or why it has none.
type Trial struct {
	Number  int    `json:"number"` // from 1, in the order of the plan
	Block   int    `json:"block"`
	Variant string `json:"variant"`
	// Values of the axes, by their names.
	Values map[string]string `json:"values,omitempty"`
	Error  string            `json:"error,omitempty"`
	Run
}

// Of returns the trials of a variant that have a result, in order.
func (e *Experiment) Of(variant string) []Trial {
	var all []Trial
	for _, t := range e.Trials {
		if t.Variant == variant && t.Error == "" {
			all = append(all, t)
		}
	}
	return all
}

// Worse is the graver of two verdicts.
func Worse(a, b Verdict) Verdict {
	order := map[Verdict]int{Valid: 1, Suspect: 2, Invalid: 3}
	if order[b] > order[a] {
		return b
	}
	return a
}
