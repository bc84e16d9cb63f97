package report

import (
	"fmt"
	"slices"
	"strings"

	"prony/internal/compare"
	"prony/internal/hdr"
	"prony/internal/result"
	"prony/internal/stats"
	"prony/internal/unit"
)

// experiment is the report of an experiment.
func (m *markdown) experiment(e *result.Experiment) {
	m.line("# %s\n", esc(m.d.title()))
	m.line("%s\n", m.verdict(worst(e)))
	m.line("%s", m.trialsCount(e))
	m.answer()
	limited := false
	for _, name := range variantNames(e) {
		trials := counting(e.Of(name))
		if i := slices.IndexFunc(trials, func(t result.Trial) bool { return t.Bottleneck != nil }); i >= 0 {
			m.line("\n### %s: %s", esc(name), m.number(trials))
			m.dropped(e.Of(name))
			m.limiter(trials[i].Bottleneck)
			limited = true
		}
	}
	if !limited { // also where only invalid trials named one
		m.limiter(nil)
	}
	m.gates()
	typical := typicalRun(e)
	m.heading(phConditions)
	if typical != nil {
		m.conditions(typical)
	}
	if e.Plan != nil {
		m.fit(e.Plan.Fit().Lines())
	}
	m.procedure(e)
	m.heading(phResults)
	m.variants(e)
	m.scaling(e)
	m.comparisons()
	m.findings(allFindings(e))
	m.heading(phConclusion)
	m.line("%s", m.trialsCount(e))
	m.answer()
	m.goals(allExpectations(e))
	m.everyTrial(e)
	if typical != nil {
		m.environment(typical)
	}
	m.repeat(typical)
}

// worst is the gravest verdict of all trials; a trial without a result is as
// bad as an invalid one.
func worst(e *result.Experiment) result.Verdict {
	v := result.Valid
	for _, t := range e.Trials {
		if t.Error != "" {
			v = result.Invalid
		}
		v = result.Worse(v, t.Validity.Verdict)
	}
	if len(e.Trials) == 0 {
		return result.Invalid
	}
	return v
}

// variantNames are those of the plan, and of trials that name others.
func variantNames(e *result.Experiment) (names []string) {
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

// counting are the trials that figures may rest on: an invalid one is listed and
// counts in none (method, KAT-56).
func counting(all []result.Trial) (good []result.Trial) {
	for _, t := range all {
		if t.Error == "" && t.Validity.Verdict != result.Invalid {
			good = append(good, t)
		}
	}
	return good
}

// typicalRun stands for the conditions of all: the first trial with a result.
func typicalRun(e *result.Experiment) *result.Run {
	for i := range e.Trials {
		if e.Trials[i].Error == "" {
			return &e.Trials[i].Run
		}
	}
	return nil
}

func (m *markdown) trialsCount(e *result.Experiment) string {
	var n [4]int
	for _, t := range e.Trials {
		switch {
		case t.Error != "":
			n[3]++
		case t.Validity.Verdict == result.Valid:
			n[0]++
		case t.Validity.Verdict == result.Invalid:
			n[2]++
		default: // suspect, or never judged
			n[1]++
		}
	}
	return m.say(phTrialsCount, len(e.Trials), n[0], n[1], n[2], n[3])
}

// number is the rate of trials with its interval.
func (m *markdown) number(trials []result.Trial) string {
	if len(trials) == 0 {
		return m.say(phNoResult)
	}
	r := summarise(trials)
	return m.say(phNumberRange, precise(r.rate, r.interval.Low, r.interval.High), r.between())
}

// answer says in a line a variant how it compares with the baseline.
func (m *markdown) answer() {
	c := m.d.Comparison
	if c == nil {
		return
	}
	for i := range c.Comparisons {
		one := &c.Comparisons[i]
		for _, x := range one.Metrics {
			if x.Gate {
				m.line("\n**%s:** %s %s (%s) – %s%s", esc(one.B), esc(x.Name), change(x, x.Effect), between(x), m.compared(x.Verdict), m.undecided(x))
			}
		}
	}
}

// undecided is how many trials a verdict takes, where these gave none.
func (m *markdown) undecided(x compare.Metric) string {
	if x.Verdict != compare.CannotTell || x.Needed == 0 {
		return ""
	}
	has := min(len(x.A.Values), len(x.B.Values))
	if x.Coverage > 0 {
		return " (" + m.say(phMoreWouldTell, x.Needed, has) + ")"
	}
	return " (" + m.say(phTooFew, x.Needed, has) + ")"
}

// droppedMost bounds the trials that are named with their reasons.
const droppedMost = 5

// dropped names the trials of a variant that its number leaves out, each with
// its reason; its rate stands only in the list of all trials.
func (m *markdown) dropped(all []result.Trial) {
	var parts []string
	for _, t := range all {
		switch {
		case t.Error != "":
			parts = append(parts, fmt.Sprintf("%s %d (%s)", m.say(phTrial), t.Number, esc(t.Error)))
		case t.Validity.Verdict == result.Invalid:
			parts = append(parts, fmt.Sprintf("%s %d (%s)", m.say(phTrial), t.Number, esc(gravestMessage(t))))
		}
	}
	if n := len(parts) - droppedMost; n > 0 {
		parts = append(parts[:droppedMost], fmt.Sprintf("+%d", n))
	}
	if len(parts) > 0 {
		m.line("\n%s", m.say(phDropped, strings.Join(parts, ", ")))
	}
}

// gravestMessage is why a trial is invalid.
func gravestMessage(t result.Trial) string {
	for _, f := range t.Validity.Findings {
		if f.Severity == result.InvalidLevel {
			return f.Message
		}
	}
	return string(t.Validity.Verdict)
}

func between(x compare.Metric) string {
	if x.Coverage == 0 {
		return "–"
	}
	return change(x, x.Low) + " … " + change(x, x.High)
}

// compared is a verdict of a comparison in the language.
func (m *markdown) compared(v compare.Verdict) string {
	p, ok := map[compare.Verdict]phrase{compare.Better: phBetter, compare.Worse: phWorse, compare.Equivalent: phEquivalent,
		compare.SmallChange: phSmallChange, compare.CannotTell: phCannotTell}[v]
	if !ok {
		return esc(string(v))
	}
	return "**" + m.say(p) + "**"
}

func (m *markdown) procedure(e *result.Experiment) {
	m.heading(phProcedure)
	if p := e.Plan; p != nil {
		blocks := 0
		for _, t := range e.Trials {
			blocks = max(blocks, t.Block+1)
		}
		m.line("- %s", m.say(phBlocks, len(p.Variants), blocks, esc(string(p.Order)), p.Seed))
		if p.Baseline != "" {
			m.line("- %s", m.say(phBaseline, esc(p.Baseline)))
		}
	}
	m.line("- %s", m.say(phAfresh))
	m.line("- %s", m.say(phUnit))
	m.line("- %s", m.say(phLeftOut))
	if c := m.d.Comparison; c != nil {
		m.line("- %s", m.say(phMargins, unit.FormatPercent(c.Alpha)))
	}
}

// variants is the table of them: medians over the trials that count.
func (m *markdown) variants(e *result.Experiment) {
	m.head(1, m.say(phVariant), m.say(phTrialsColumn), m.say(phRate), m.say(phInterval), m.say(phTimesBaseline), "p50", "p99",
		"p99 "+m.say(phInterval), "max", m.say(phErrors), m.say(phVerdict))
	base := baselineRate(e)
	for _, name := range variantNames(e) {
		all := e.Of(name)
		verdict := result.Verdict("")
		for _, t := range all {
			verdict = result.Worse(t.Validity.Verdict, verdict)
		}
		trials := counting(all)
		if len(trials) == 0 {
			m.row(esc(name), fmt.Sprintf("0/%d", len(all)), "–", "–", "–", "–", "–", "–", "–", "–", m.word(verdict))
			continue
		}
		r := summarise(trials)
		p99, interval := spread(trials, hdr.P99)
		p50, _ := spread(trials, hdr.P50)
		largest, _ := spread(trials, hdr.P100)
		m.row(esc(name), fmt.Sprintf("%d/%d", len(trials), len(all)), precise(r.rate, r.interval.Low, r.interval.High), r.between(), r.times(base), p50, p99,
			interval, largest, unit.FormatPercent(r.errors), m.word(verdict))
	}
	for _, t := range e.Trials {
		if c := t.Capacity; c != nil {
			m.line("\n%s %s, %s %d: %s", m.say(phCapacity), esc(t.Variant), m.say(phTrial), t.Number,
				esc(fmt.Sprintf("%s, %s/s", c.End, figure(c.Rate))))
		}
	}
}

func baselineRate(e *result.Experiment) float64 {
	names := variantNames(e)
	if e.Plan != nil && slices.Contains(names, e.Plan.Baseline) {
		names = []string{e.Plan.Baseline}
	}
	for _, name := range names {
		if trials := counting(e.Of(name)); len(trials) > 0 {
			return summarise(trials).rate
		}
	}
	return 0
}

// spread is the median over trials of a percentile, with its interval; a range
// stands in parentheses. The largest of all is given for P100.
func spread(trials []result.Trial, q hdr.Quantile) (median, interval string) {
	var us []float64
	for _, t := range trials {
		if h := t.Load.Latency.Response; !h.Empty() {
			us = append(us, float64(h.Value(q))/1000)
		}
	}
	if len(us) == 0 {
		return "–", "–"
	}
	if q == hdr.P100 {
		return span(slices.Max(us)), ""
	}
	i := stats.MedianInterval(us)
	interval = span(i.Low) + "–" + span(i.High)
	if i.Coverage == 0 {
		interval = "(" + interval + ")"
	}
	return span(stats.Median(us)), interval
}

// allFindings are those of the experiment and of its trials, each rule once for
// a variant, with the trials that it was found in.
func allFindings(e *result.Experiment) (all []found, notRun []string) {
	all = of(e.Findings, "")
	type key struct{ variant, rule, severity string }
	in := map[key][]string{}
	first := map[key]result.Finding{}
	var order []key
	for _, t := range e.Trials {
		for _, f := range t.Validity.Findings {
			k := key{t.Variant, f.Rule, string(f.Severity)}
			if in[k] == nil {
				order, first[k] = append(order, k), f
			}
			if n := fmt.Sprint(t.Number); !slices.Contains(in[k], n) {
				in[k] = append(in[k], n)
			}
		}
		for _, text := range t.Validity.NotRun {
			if !slices.Contains(notRun, text) {
				notRun = append(notRun, text)
			}
		}
	}
	for _, k := range order {
		all = append(all, found{first[k], fmt.Sprintf("(%s, %s)", k.variant, strings.Join(in[k], ", "))})
	}
	return all, notRun
}

// scaling is how throughput grows along each axis of numbers.
func (m *markdown) scaling(e *result.Experiment) {
	for _, c := range e.Curves {
		name := c.Axis
		if c.Group != "" {
			name += ", " + c.Group
		}
		m.line("\n### %s\n", m.say(phScaling, esc(name)))
		m.head(0, esc(c.Axis), m.say(phRate), m.say(phInterval), m.say(phEfficiency))
		for _, at := range c.Points {
			m.row(fmt.Sprintf("%g", at.Value), precise(at.Rate, at.Low, at.High), figure(at.Low)+"–"+figure(at.High), fmt.Sprintf("%.3g", at.Efficiency))
		}
		if f := c.Fit; f != nil && f.Unproven == "" {
			m.line("\nUSL: α = %.3g, β = %.3g, γ = %.4g", f.Alpha, f.Beta, f.Gamma)
		}
	}
	if len(e.Goals) > 0 {
		m.line("")
		m.expectations(e.Goals, "")
	}
}

func allExpectations(e *result.Experiment) (all []result.Expectation) {
	all = append(all, e.Goals...)
	for _, t := range e.Trials {
		all = append(all, t.Expect...)
	}
	return all
}

// everyTrial lists them all in the order that they ran, also those that failed.
func (m *markdown) everyTrial(e *result.Experiment) {
	m.heading(phTrials)
	m.head(3, m.say(phTrial), m.say(phVariant), m.say(phVerdict), m.say(phBlock), m.say(phRate), "p50", "p99", "max", m.say(phErrors))
	for _, t := range e.Trials {
		if t.Error != "" {
			m.row(fmt.Sprint(t.Number), esc(t.Variant), m.say(phNoResult)+": "+esc(t.Error), fmt.Sprint(t.Block+1), "–", "–", "–", "–", "–")
			continue
		}
		h := t.Load.Latency.Response
		m.row(fmt.Sprint(t.Number), esc(t.Variant), m.word(t.Validity.Verdict), fmt.Sprint(t.Block+1), figure(rateOf(t)), quantile(h, hdr.P50),
			quantile(h, hdr.P99), quantile(h, hdr.P100), share(t.Load.Requests.Failed, t.Load.Requests.Asked))
	}
	m.expectationsOf(e)
}

// expectationsOf lists what was missed; what was met is only counted.
func (m *markdown) expectationsOf(e *result.Experiment) {
	said := map[string]bool{}
	m.line("")
	for _, t := range e.Trials {
		missed := slices.DeleteFunc(slices.Clone(t.Expect), func(x result.Expectation) bool { return x.Met })
		m.expectations(missed, fmt.Sprintf("%s, %d:", t.Variant, t.Number))
	}
	for _, t := range e.Trials {
		for _, text := range t.Warnings {
			if !said[t.Variant+text] {
				said[t.Variant+text] = true
				m.warnings([]string{t.Variant + ": " + text})
			}
		}
	}
}
