package report

import (
	"fmt"
	"io"
	"strings"

	"prony/internal/compare"
	"prony/internal/result"
)

// Comment writes the body of a comment on a change: the verdict, the table of
// the gates, and what differs between the two sides. It is short: the rest is in
// the report. It fails when writing does.
func Comment(w io.Writer, d Document) error {
	m := &markdown{w: w, d: &d, lang: d.Lang, short: true}
	switch {
	case d.Experiment != nil:
		m.line("## %s\n", esc(d.title()))
		m.line("%s\n\n%s", m.verdict(worst(d.Experiment)), m.trialsCount(d.Experiment))
	case d.Run != nil:
		m.line("## %s\n", esc(d.title()))
		m.line("%s\n\n%s", m.verdict(d.Run.Validity.Verdict), m.say(phNumber, figure(d.Run.Load.Rate)))
	case d.Comparison != nil:
		m.line("## Prony\n")
	default:
		return errNoResult
	}
	m.reasons()
	m.gates()
	if m.d.Comparison != nil {
		m.comparisons()
	}
	return m.err
}

// reasons are the findings that spoil the verdict, one line each, each rule
// once.
func (m *markdown) reasons() {
	var all []found
	if e := m.d.Experiment; e != nil {
		all, _ = allFindings(e)
		m.failedTrials(e)
		m.missed(allExpectations(e))
	}
	if r := m.d.Run; r != nil {
		all = of(r.Validity.Findings, "")
		m.missed(r.Expect)
	}
	first := true
	for _, level := range []result.Severity{result.InvalidLevel, result.SuspectLevel} {
		for _, f := range all {
			if f.Severity != level {
				continue
			}
			if first {
				m.line("")
			}
			first = false
			m.line("- **%s** %s: %s", esc(string(level)), m.rule(f.Finding), esc(strings.TrimSpace(f.about+" "+f.Message)))
		}
	}
}

func (m *markdown) failedTrials(e *result.Experiment) {
	for _, t := range e.Trials {
		if t.Error != "" {
			m.line("\n✗ %s %d (%s): %s", m.say(phTrial), t.Number, esc(t.Variant), esc(t.Error))
		}
	}
}

// missed counts the expectations and lists those that were not met, each text
// once.
func (m *markdown) missed(all []result.Expectation) {
	m.goals(all)
	times := map[string]int{}
	var first []result.Expectation
	for _, e := range all {
		if e.Met {
			continue
		}
		if times[e.Text]++; times[e.Text] == 1 {
			first = append(first, e)
		}
	}
	if len(first) > 0 {
		m.line("")
	}
	for _, e := range first {
		if n := times[e.Text]; n > 1 {
			e.Reason = strings.TrimSpace(fmt.Sprintf("%s (× %d)", e.Reason, n))
		}
		m.expectations([]result.Expectation{e}, "")
	}
}

// gates is what became of a file of gates.
func (m *markdown) gates() {
	if len(m.d.Gates) == 0 {
		return
	}
	failed, unclear := 0, 0
	for _, g := range m.d.Gates {
		switch g.State {
		case Failed:
			failed++
		case Unclear:
			unclear++
		}
	}
	text := "✓ " + m.say(phGatesPassed)
	switch {
	case failed > 0:
		text = "✗ **" + m.say(phGatesFailed, failed, len(m.d.Gates)) + "**"
	case unclear > 0:
		text = "? **" + m.say(phGatesUnclear, unclear, len(m.d.Gates)) + "**"
	}
	m.line("\n**%s:** %s\n", m.say(phGates), text)
	for _, g := range m.d.Gates {
		mark := map[GateState]string{Passed: "✓", Failed: "✗", Unclear: "?"}[g.State]
		reason := g.Reason
		if reason != "" {
			reason = ": " + reason
		}
		m.line("- %s %s", mark, esc(strings.TrimSpace(g.Variant+" "+g.Metric)+reason))
	}
}

// comparisons are the tables of effects with their intervals. What differs
// between the conditions comes before the numbers.
func (m *markdown) comparisons() {
	c := m.d.Comparison
	if c == nil {
		return
	}
	for i := range c.Comparisons {
		m.comparison(&c.Comparisons[i])
	}
}

func (m *markdown) comparison(c *compare.Comparison) {
	m.line("\n### %s: %s\n", m.say(phComparison, esc(c.A)), esc(c.B))
	m.line("%s %s\n", m.compared(c.Verdict), m.say(phRunsCompared, c.RunsB, esc(c.B), c.RunsA, esc(c.A)))
	m.differences(c)
	for _, x := range c.Excluded {
		m.line("- %s %s: %s", esc(x.Side), esc(x.Run), esc(x.Reason))
	}
	for _, text := range c.Warnings {
		m.line("- %s", esc(text))
	}
	m.line("")
	m.head(1, m.say(phMetric), esc(c.A), esc(c.B), m.say(phChange), m.say(phInterval), "p", m.say(phVerdict))
	for _, x := range c.Metrics {
		if m.short && !x.Gate {
			continue
		}
		name := esc(x.Name)
		if x.Gate {
			name = "**" + name + "**"
		}
		p := "–"
		if x.Test != "" {
			p = fmt.Sprintf("%.3g", x.Adjusted)
		}
		verdict := m.compared(x.Verdict)
		if x.Direction != "" {
			verdict += " (" + m.compared(x.Direction) + ")"
		}
		if x.Needed > 0 {
			verdict += fmt.Sprintf(" (n ≈ %d)", x.Needed)
		}
		m.row(name, inUnit(x.A.Median, x.Unit), inUnit(x.B.Median, x.Unit), change(x, x.Effect), between(x), p, verdict)
	}
}

func (m *markdown) differences(c *compare.Comparison) {
	if len(c.Differences) == 0 {
		m.line("%s\n", m.say(phSameConditions))
		return
	}
	m.line("%s:\n", m.say(phDiffers))
	m.head(9, "", esc(c.A), esc(c.B))
	for _, d := range c.Differences {
		fact := esc(d.Fact)
		if d.Breaks {
			fact = "**" + fact + "** ✗"
		}
		m.row(fact, esc(orNone(d.A)), esc(orNone(d.B)))
	}
	m.line("")
}
