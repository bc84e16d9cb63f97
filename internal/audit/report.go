package audit

import (
	"encoding/json"
	"fmt"
	"io"

	"prony/internal/result"
)

// Schema is the version of the JSON form.
const Schema = "prony.audit/1"

// Report is what the rules say to all results.
type Report struct {
	Schema string `json:"schema"`
	// Verdict is the worst of all.
	Verdict result.Verdict `json:"verdict"`
	Results []Judged       `json:"results"`
	Pairs   []Pair         `json:"pairs"`
	Claims  []JudgedClaim  `json:"claims"`
	Shards  *ShardSum      `json:"shards,omitempty"`
	// Remarks are said once for all results; they change no verdict.
	Remarks []result.Finding `json:"remarks"`
	// Limits are the thresholds that were applied, by name.
	Limits map[string]float64 `json:"limits"`
}

// Judged is a result with its verdict.
type Judged struct {
	Block
	Validity result.Validity `json:"validity"`
}

// Pair is two results that are held against each other.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	// RateRatio is B's rate over A's.
	RateRatio Value           `json:"rate_ratio,omitzero"`
	Validity  result.Validity `json:"validity"`
}

// Run applies the rules to results, after Join, and to what is said of them.
func Run(all []Block, f File, t Thresholds) Report {
	t = t.With(f.Limits).withDefaults()
	r := Report{Schema: Schema, Verdict: result.Valid, Results: []Judged{}, Pairs: []Pair{}, Claims: []JudgedClaim{},
		Remarks: []result.Finding{}, Limits: map[string]float64{}}
	for name, v := range t.byName() {
		r.Limits[name] = *v
	}
	groups := newGroups(all)
	for i := range all {
		v := view{&all[i], t, groups}
		j := Judged{Block: all[i], Validity: judge(v, blockRules())}
		r.Results = append(r.Results, j)
		r.worsen(j.Validity.Verdict)
	}
	for _, c := range comparisons(all, f.Compare) {
		p := judgePair(c, t, groups)
		r.Pairs = append(r.Pairs, p)
		r.worsen(p.Validity.Verdict)
	}
	for _, c := range f.Claims {
		j := c.judge(all, t)
		r.Claims = append(r.Claims, j)
		r.worsen(j.Validity.Verdict)
	}
	if len(f.Shards) > 0 {
		s := sumShards(f.Shards, t)
		r.Shards = &s
		r.worsen(s.Validity.Verdict)
	}
	r.Remarks = append(r.Remarks, remarks(all)...)
	return r
}

// worsen lowers the verdict of the whole.
func (r *Report) worsen(v result.Verdict) {
	if v == result.Invalid || v == result.Suspect && r.Verdict == result.Valid {
		r.Verdict = v
	}
}

// JSON writes the report; the schema is prony.audit/1.
func JSON(w io.Writer, r Report) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("encode audit: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// view is what a rule looks at.
type view struct {
	*Block
	t      Thresholds
	groups groups
}

// answer is what a rule found, or the facts that it lacked.
type answer struct {
	findings []result.Finding
	missing  string
}

func nothing() answer { return answer{} }

func lacks(what string) answer { return answer{missing: what} }

func found(f ...result.Finding) answer { return answer{findings: f} }

// rule is one question to V: a result, or a pair.
type rule[V any] struct {
	id, name string
	check    func(V) answer
}

// judge runs rules in their order and draws the verdict.
func judge[V any](v V, rules []rule[V]) result.Validity {
	validity := result.Validity{Verdict: result.Valid, Findings: []result.Finding{}}
	for _, r := range rules {
		a := r.check(v)
		if a.missing != "" {
			validity.NotRun = append(validity.NotRun, r.id+" "+r.name+": "+a.missing)
		}
		for _, f := range a.findings {
			f.ID, f.Rule = r.id, r.name
			validity.Findings = append(validity.Findings, f)
			validity.Verdict = worse(validity.Verdict, f.Severity)
		}
	}
	return validity
}

// worse lowers a verdict by the severity of one more finding.
func worse(v result.Verdict, s result.Severity) result.Verdict {
	switch {
	case s == result.InvalidLevel:
		return result.Invalid
	case s == result.SuspectLevel && v == result.Valid:
		return result.Suspect
	}
	return v
}

// figures are the evidence of a finding.
type figures = map[string]float64

// finding builds one; the message carries the arithmetic.
func finding(s result.Severity, c result.Confidence, evidence, limit figures, advice, format string, args ...any) result.Finding {
	return result.Finding{Severity: s, Confidence: c, Evidence: evidence, Threshold: limit, Advice: advice, Message: fmt.Sprintf(format, args...)}
}
