package compare

import (
	"errors"
	"fmt"
	"slices"

	"prony/internal/result"
	"prony/internal/stats"
)

// Schema is the version of the JSON form of a Result.
const Schema = "prony.comparison/1"

// ErrModels is what comparing an open load with a closed one gives: the response
// times of the two are different quantities (method, section 1.2).
var ErrModels = errors.New("an open load cannot be compared with a closed one")

// Options say what is compared. The zero value is the method's default.
type Options struct {
	// Gates are the metrics that decide. Default: rate for closed loads; p99 for
	// open ones, with the CPU per request of the target where it is known.
	Gates []string
	// Also are further metrics to show. Default: those that the runs have.
	Also []string
	// Margins are, by metric, the differences that do not matter: ratios, or
	// shares for errors. Default: see [Parse].
	Margins map[string]float64
	// Alpha is the chance of a false alarm in the whole family. Default 0.05.
	Alpha float64
	// Unpaired ignores blocks.
	Unpaired bool
	// AcceptDifferences gives verdicts even if conditions differ that should not.
	AcceptDifferences bool
}

// Result is the answer for all pairs of variants that were asked for.
type Result struct {
	Schema string `json:"schema"`
	// Family is the number of (pair, gate) verdicts that share one Alpha.
	Family      int          `json:"family"`
	Alpha       float64      `json:"alpha"`
	Comparisons []Comparison `json:"comparisons"`
	// Verdict is the gravest of all gates; see [Comparison].
	Verdict Verdict `json:"verdict"`
}

// Comparison is B held against A.
type Comparison struct {
	A string `json:"a"`
	B string `json:"b"`
	// Differences are facts that are not the same on both sides; they come before
	// the numbers.
	Differences []Difference `json:"differences"`
	Paired      bool         `json:"paired"`
	Pairs       []Pair       `json:"pairs,omitempty"`
	// RunsA and RunsB are the runs that count.
	RunsA    int        `json:"runs_a"`
	RunsB    int        `json:"runs_b"`
	Excluded []Excluded `json:"excluded,omitempty"`
	Warnings []string   `json:"warnings,omitempty"`
	// Metrics are the gates, then the others. A report shows verdicts of gates;
	// those of the others are exploration.
	Metrics      []Metric      `json:"metrics"`
	Distribution *Distribution `json:"distribution,omitempty"`
	// Verdict is the gravest of the gates: worse, then cannot tell, small change
	// for the worse, better, small change, equivalent.
	Verdict Verdict `json:"verdict"`
}

// Pair is a block with both its runs.
type Pair struct {
	Block int    `json:"block"`
	A     string `json:"a"`
	B     string `json:"b"`
}

// Excluded is a run that does not count.
type Excluded struct {
	Side   string `json:"side"`
	Run    string `json:"run"`
	Reason string `json:"reason"`
}

// Ratios are those of a metric in each pair, in the order of the blocks: what the
// effect is the middle of. Nothing where runs are not compared in pairs, where a
// run lacks the value, and for a quantity that is compared by difference.
func (c *Comparison) Ratios(m Metric) []float64 {
	n := len(c.Pairs)
	if !c.Paired || m.Absolute || len(m.A.Values) != n || len(m.B.Values) != n {
		return nil
	}
	var all []float64
	for i, a := range m.A.Values {
		if !(a > 0) {
			return nil
		}
		all = append(all, m.B.Values[i]/a)
	}
	return all
}

// Failed reports whether a gate is worse: the exit status 1 of a comparison.
func (r *Result) Failed() bool { return r.Verdict == Worse }

// Experiment holds each variant against the baseline of the plan, or against the
// first variant if it names none.
func Experiment(e *result.Experiment, o Options) (*Result, error) {
	names := variants(e)
	if len(names) < 2 {
		return nil, fmt.Errorf("compare the variants of an experiment: it has %d, and it takes two", len(names))
	}
	baseline := names[0]
	if e.Plan != nil && slices.Contains(names, e.Plan.Baseline) {
		baseline = e.Plan.Baseline
	}
	var pairs [][2]Side
	for _, name := range names {
		if name != baseline {
			pairs = append(pairs, [2]Side{Variant(e, baseline), Variant(e, name)})
		}
	}
	return compare(pairs, o)
}

// Sides holds b against a.
func Sides(a, b Side, o Options) (*Result, error) { return compare([][2]Side{{a, b}}, o) }

// variants are those of the plan, or else of the trials in their order.
func variants(e *result.Experiment) []string {
	var names []string
	if e.Plan != nil {
		for _, v := range e.Plan.Variants {
			names = append(names, v.Name)
		}
	}
	for _, t := range e.Trials {
		if !slices.Contains(names, t.Variant) {
			names = append(names, t.Variant)
		}
	}
	return names
}

// compare sets all pairs up, so that the size of the family is known, and then
// judges them.
func compare(pairs [][2]Side, o Options) (*Result, error) {
	r := &Result{Schema: Schema, Alpha: o.Alpha}
	if r.Alpha == 0 {
		r.Alpha = 0.05
	}
	matches := make([]*match, len(pairs))
	for i, p := range pairs {
		m, err := newMatch(p[0], p[1], o)
		if err != nil {
			return nil, fmt.Errorf("compare %s with %s: %w", p[1].Name, p[0].Name, err)
		}
		matches[i] = m
		r.Family += len(m.gates)
	}
	for _, m := range matches {
		r.Comparisons = append(r.Comparisons, m.judge(r.Alpha, r.Alpha/float64(max(r.Family, 1))))
	}
	r.adjust()
	return r, nil
}

// adjust fills in what depends on all p-values together, and the verdicts over
// several gates.
func (r *Result) adjust() {
	var gates, others []*Metric
	for i := range r.Comparisons {
		for k := range r.Comparisons[i].Metrics {
			m := &r.Comparisons[i].Metrics[k]
			switch {
			case m.Test == "":
			case m.Gate:
				gates = append(gates, m)
			default:
				others = append(others, m)
			}
		}
	}
	// Gates without a test count for the family, as if they had told nothing.
	p := values(gates)
	for len(p) < r.Family {
		p = append(p, 1)
	}
	for i, adjusted := range stats.Holm(p)[:len(gates)] {
		gates[i].Adjusted = adjusted
	}
	for i, q := range stats.BenjaminiHochberg(values(others)) {
		others[i].Adjusted = q
	}
	var all []Verdict
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		c.Verdict = gravestGate(c.Metrics)
		all = append(all, c.Verdict)
	}
	r.Verdict = gravest(all)
}

func values(metrics []*Metric) []float64 {
	p := make([]float64, len(metrics))
	for i, m := range metrics {
		p[i] = m.P
	}
	return p
}
