package analyse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"prony/internal/plan"
	"prony/internal/result"
)

// Run judges r: it sets r.Validity, r.Bottleneck, r.Expect, r.Worst and
// r.Generator.CPUUSPerRequest, and changes nothing else but that names of
// unread figures which were left in r.Validity.NotRun move to
// r.Generator.Unknown. A second call gives the same bytes. What only other runs
// can tell of this one is added by [Experiment].
func Run(r *result.Run, t Thresholds) {
	adoptUnknown(r)
	r.Generator.CPUUSPerRequest = 0
	if n := r.Load.Requests.InWindow; n > 0 {
		r.Generator.CPUUSPerRequest = r.Generator.CPUUS / float64(n)
	}
	v := newView(r, t)
	rules := areas()
	if r.Load.With != "" {
		rules = foreign()
	}
	r.Validity, v.found = v.judge(rules)
	if r.Load.With != "" {
		r.Validity.NotRun = append(r.Validity.NotRun, "the books, the timetable and the connections: "+r.Load.With+" does not keep them")
	}
	r.Bottleneck = v.bottleneck()
	r.Expect = v.expectations()
	r.Worst = v.worst()
}

// rule is one question to a result. Its check is a pure function of the view.
type rule struct {
	name, id string
	check    func(view) answer
}

// answer is what a rule found. Missing are the inputs it lacked: so far it
// could not run. Limits are what it saw used up, cleared what it looked at and
// found not to be a limit.
type answer struct {
	findings []result.Finding
	missing  string
	limits   []limit
	cleared  []string
}

func nothing() answer { return answer{} }

func lacks(what string) answer { return answer{missing: what} }

func found(f ...result.Finding) answer { return answer{findings: f} }

// lack adds an input that was missing for one of several subjects.
func (a *answer) lack(what string) {
	if a.missing != "" {
		what = a.missing + ", " + what
	}
	a.missing = what
}

// area is a group of rules with what they share: where a finding is, and how
// sure it is, unless it says so itself.
type area struct {
	where string
	sure  result.Confidence
	rules []rule
}

// areas returns all rules in the order in which their findings are told
// (method 7.1): the books first, then the generator, the machines, whether it
// was the same work, the way to the target, the target, and the chain.
func areas() []area {
	return []area{
		{where: "generator", sure: result.Definite, rules: bookRules()},
		{where: "generator", sure: result.Definite, rules: paceRules()},
		{where: "generator", rules: generatorRules()},
		{where: here, rules: hostRules()},
		{where: "target", sure: result.Definite, rules: answerRules()},
		{where: "target", rules: workRules()},
		{where: "target", rules: connectionRules()},
		{where: here, rules: linkRules()},
		{where: here, rules: queueRules()},
		{where: "target", rules: cpuRules()},
		{where: "target", rules: resourceRules()},
		{where: "target", rules: jvmRules()},
		{where: "target", rules: waitingRules()},
		{where: "target", rules: chainRules()},
		{where: "target", rules: steadyRules()},
	}
}

// foreign are the areas for a load that another program made: it keeps no books
// of ours, and its timetable and connections are not known.
func foreign() []area {
	return slices.DeleteFunc(areas(), func(a area) bool {
		return len(a.rules) > 0 && slices.Contains([]string{bookRules()[0].name, paceRules()[0].name, connectionRules()[0].name, workRules()[0].name}, a.rules[0].name)
	})
}

// judge runs the rules and draws the verdict.
func (v view) judge(areas []area) (result.Validity, outcome) {
	validity := result.Validity{Verdict: result.Valid, Findings: []result.Finding{}}
	var all outcome
	var blind []string
	for _, area := range areas {
		for _, r := range area.rules {
			a := r.check(v)
			switch a.missing {
			case "":
			case unwatched:
				blind = append(blind, r.name)
			default:
				validity.NotRun = append(validity.NotRun, r.name+": "+a.missing)
			}
			all.limits, all.cleared = append(all.limits, a.limits...), append(all.cleared, a.cleared...)
			for _, f := range a.findings {
				validity.Findings = append(validity.Findings, area.complete(f, r))
				validity.Verdict = worse(validity.Verdict, f.Severity)
			}
		}
	}
	if len(blind) > 0 {
		validity.NotRun = append(validity.NotRun, v.blindness(blind))
	}
	return validity, all
}

// blindness is one line for all rules that had nothing to look at: a load on a
// URL has no monitors, and thirty lines would hide the others.
func (v view) blindness(rules []string) string {
	if len(v.r.Observed) == 0 {
		return fmt.Sprintf("%s about targets, hosts and the network path: %s", many(int64(len(rules)), "rule"), unwatched)
	}
	return strings.Join(rules, ", ") + ": " + unwatched
}

// complete fills in what a finding left to its rule and area.
func (a area) complete(f result.Finding, r rule) result.Finding {
	f.Rule, f.ID = r.name, r.id
	f.Where, f.Confidence = cmp.Or(f.Where, a.where), cmp.Or(f.Confidence, a.sure, result.Likely)
	return f
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
	// inside are the intervals of the window.
	inside []result.Interval
	// found is what the rules saw, once they have run.
	found outcome
	// others is what other runs of the experiment tell of this one.
	others context
}

func newView(r *result.Run, t Thresholds) view {
	v := view{r: r, l: &r.Load, g: &r.Generator, t: t, inside: insideWindow(&r.Load)}
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
