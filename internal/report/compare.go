package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"prony/internal/compare"
	"prony/internal/unit"
)

// Comparison writes what a comparison found: first what differs between the
// conditions, then the verdict, then each metric with its interval.
func Comparison(w io.Writer, r *compare.Result, style Style) error {
	p := &printer{w: w, style: style}
	for i := range r.Comparisons {
		p.comparison(&r.Comparisons[i])
	}
	if len(r.Comparisons) > 1 {
		p.line("")
		p.field("in all", "%s; the %d verdicts share one chance of a false alarm of %s", r.Verdict, r.Family, unit.FormatPercent(r.Alpha))
	}
	return p.err
}

var comparedColour = map[compare.Verdict]string{compare.Better: green, compare.Worse: red, compare.Equivalent: green}

func (p *printer) comparison(c *compare.Comparison) {
	p.line("")
	p.line("  %s  %s against %s", p.style.paint(bold, p.style.paint(comparedColour[c.Verdict], strings.ToUpper(string(c.Verdict)))), c.B, c.A)
	p.line("")
	how := "not paired"
	if c.Paired {
		how = "paired by block"
	}
	p.field("runs", "%d of %s, %d of %s, %s", c.RunsA, c.A, c.RunsB, c.B, how)
	for _, x := range c.Excluded {
		p.field("left out", "%s %s: %s", x.Side, x.Run, x.Reason)
	}
	for _, d := range c.Differences {
		mark := "differs"
		if d.Breaks {
			mark = "forbids"
		}
		p.field(mark, "%s: %s; %s", d.Fact, orNone(d.A), orNone(d.B))
	}
	for _, text := range c.Warnings {
		p.field("note", "%s", text)
	}
	p.line("")
	p.line("%s", p.style.paint(bold, fmt.Sprintf("  %-18s %12s %12s %9s %21s %8s  %s", "metric", short(c.A, 12), short(c.B, 12), "change", "interval", "p", "verdict")))
	said := map[string]bool{}
	for _, m := range c.Metrics {
		p.metric(m, said)
	}
	p.distribution(c.Distribution)
}

func orNone(text string) string {
	if text == "" {
		return "(none)"
	}
	return text
}

func short(text string, most int) string {
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return text
}

// metric is a row, and below it why there is no clear verdict, unless a row
// above said so.
func (p *printer) metric(m compare.Metric, said map[string]bool) {
	name := m.Name
	if m.Gate {
		name += " *"
	}
	between := "–"
	if m.Coverage > 0 {
		between = change(m, m.Low) + " to " + change(m, m.High)
	}
	probability := "–"
	if m.Test != "" {
		probability = fmt.Sprintf("%.3g", m.Adjusted)
	}
	verdict := string(m.Verdict)
	if m.Direction != "" {
		verdict += ", " + string(m.Direction)
	}
	p.line("  %-18s %12s %12s %9s %21s %8s  %s", short(name, 18), inUnit(m.A.Median, m.Unit), inUnit(m.B.Median, m.Unit),
		change(m, m.Effect), between, probability, p.style.paint(comparedColour[m.Verdict], verdict))
	why := m.Reason
	if m.Needed > 0 && m.Coverage > 0 { // without an interval the reason says it
		why = strings.TrimPrefix(why+fmt.Sprintf("; about %d trials of each would tell", m.Needed), "; ")
	}
	for _, text := range append([]string{why}, m.Missing...) {
		if text == "" || said[text] {
			continue
		}
		said[text] = true
		for _, line := range wrap(text, p.style.text()) {
			p.line("    %s", p.style.paint(dim, line))
		}
	}
}

func (p *printer) distribution(d *compare.Distribution) {
	if d == nil || len(d.Shifts) == 0 {
		return
	}
	p.line("")
	p.field("requests", "an answer of the second is faster than one of the first in %s of pairs; the curves lie furthest apart, %s, at %s",
		unit.FormatPercent(d.Faster), unit.FormatPercent(d.Apart), micros(d.ApartAtUS))
	for _, s := range d.Shifts {
		p.line("  %-18s %12s %12s %9s", s.Quantile, micros(s.A), micros(s.B), signed(s.Ratio-1))
	}
	p.line("  %s", p.style.paint(dim, "* decides the verdict and the exit status; quantiles are of all runs merged"))
}

func inUnit(x float64, kind string) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case kind == "us":
		return micros(x)
	case kind == "bytes":
		return unit.FormatSize(x)
	case kind == "ratio":
		return unit.FormatPercent(x)
	}
	return figure(x)
}

// change is an effect for people: of ratios what they add, of differences the
// difference.
func change(m compare.Metric, effect float64) string {
	switch {
	case math.IsNaN(effect) || !m.Absolute && effect == 0:
		return "–"
	case m.Absolute:
		return fmt.Sprintf("%+.3g", effect)
	}
	return signed(effect - 1)
}

func signed(x float64) string { return fmt.Sprintf("%+.2f%%", 100*x) }
