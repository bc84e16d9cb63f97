package analyse

import (
	"slices"

	"prony/internal/plan"
	"prony/internal/result"
)

// Run judges r: it sets r.Validity, r.Bottleneck, r.Expect and
// r.Generator.CPUUSPerRequest, and changes nothing else but that names of
// unread figures which were left in r.Validity.NotRun move to
// r.Generator.Unknown. A second call gives the same bytes.
func Run(r *result.Run, t Thresholds) {
	adoptUnknown(r)
	r.Generator.CPUUSPerRequest = 0
	if n := r.Load.Requests.InWindow; n > 0 {
		r.Generator.CPUUSPerRequest = r.Generator.CPUUS / float64(n)
	}
	v := newView(r, t)
	r.Validity = v.judge()
	r.Bottleneck = v.bottleneck()
	r.Expect = v.expectations()
}

// rule is one question to a result. Its check is a pure function of the view.
type rule struct {
	name, id string
	check    func(view) answer
}

// answer is what a rule found. Missing is the input it lacked: it could not run.
type answer struct {
	findings []result.Finding
	missing  string
}

func nothing() answer { return answer{} }

func lacks(what string) answer { return answer{missing: what} }

func found(f ...result.Finding) answer { return answer{findings: f} }

// rules returns all rules in the order in which their findings are told
// (method 7.1): the books first, then the generator, its machine, the answers,
// and the way to the target.
func rules() []rule {
	return slices.Concat(bookRules(), paceRules(), generatorRules(), hostRules(), answerRules(), connectionRules())
}

// judge runs every rule and draws the verdict.
func (v view) judge() result.Validity {
	validity := result.Validity{Verdict: result.Valid, Findings: []result.Finding{}}
	for _, r := range rules() {
		a := r.check(v)
		if a.missing != "" {
			validity.NotRun = append(validity.NotRun, r.name+": "+a.missing)
		}
		for _, f := range a.findings {
			f.Rule, f.ID = r.name, r.id
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

// view is what the rules look at: the result, the plan behind it, and the
// limits to apply.
type view struct {
	r    *result.Run
	l    *result.Load
	g    *result.Generator
	plan plan.Load
	t    Thresholds
}

func newView(r *result.Run, t Thresholds) view {
	v := view{r: r, l: &r.Load, g: &r.Generator, t: t}
	if r.Plan != nil {
		v.plan = r.Plan.Load
	}
	return v
}

// open reports whether the load followed a timetable.
func (v view) open() bool { return v.l.Model == string(plan.Open) }

// seconds is the length of the window.
func (v view) seconds() float64 { return v.l.DurationUS / 1e6 }

// ended is the number of requests that came to an end of their own.
func (v view) ended() int64 { return v.l.Requests.Completed + v.l.Requests.Failed }

// watched reports whether anything watched the generator at all.
func (v view) watched() bool { return v.g.CPUs > 0 || v.g.CPUUS > 0 }

// unread returns the first of the generator's figures, by their JSON keys, that
// could not be read, as the reason for which a rule cannot run.
func (v view) unread(keys ...string) string {
	if !v.watched() {
		return "nothing watched the generator"
	}
	for _, key := range keys {
		if slices.Contains(v.g.Unknown, key) {
			return key + " could not be read"
		}
	}
	return ""
}

// adoptUnknown moves names of figures from the list of rules that did not run,
// where a monitor may have left them, to the generator's list: this package
// rewrites the former, and a second call must still know them.
func adoptUnknown(r *result.Run) {
	for _, key := range r.Validity.NotRun {
		if isFigure(key) && !slices.Contains(r.Generator.Unknown, key) {
			r.Generator.Unknown = append(r.Generator.Unknown, key)
		}
	}
}

// isFigure tells a bare key such as "steal" from a rule with its reason.
func isFigure(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && r != '_' && (r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}
