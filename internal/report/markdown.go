package report

import (
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"prony/internal/compare"
	"prony/internal/result"
	"prony/internal/unit"
)

// Document is what a report to share is made of: one run or one experiment, and
// what is known beside it. Exactly one of Run and Experiment is required.
type Document struct {
	Run        *result.Run
	Experiment *result.Experiment
	// Comparison is with the baseline; its gates are shown as such.
	Comparison *compare.Result
	// Gates are what was asked of the comparison; empty: it decides nothing.
	Gates []Gate
	// Lang is that of the fixed texts.
	Lang Lang
	// Version of Prony that made the result.
	Version string
	// Command repeats the measurement, in words; nil takes the run's own. Secrets
	// are taken out of it.
	Command []string
	// Source is the experiment file, without secrets; "" where it is not known.
	Source string
	// Docs is the address of the pages of rules, with a slash at its end. Empty is
	// DefaultDocs.
	Docs string
}

// DefaultDocs is where a report looks for the pages of rules, relative to the
// root of the repository.
const DefaultDocs = "docs/findings/"

// Gate is one answer to a file of gates.
type Gate struct {
	Metric  string
	Variant string // held against the baseline
	State   GateState
	Reason  string
}

// GateState is what became of a gate.
type GateState string

// A gate that is Unclear has not passed: there were too few runs to tell.
const (
	Passed  GateState = "passed"
	Failed  GateState = "failed"
	Unclear GateState = "cannot tell"
)

// markdown writes a document and keeps the first error.
type markdown struct {
	w    io.Writer
	d    *Document
	lang Lang
	// short leaves out what decides nothing.
	short bool
	err   error
}

func (m *markdown) line(format string, args ...any) {
	if m.err == nil {
		_, m.err = fmt.Fprintf(m.w, format+"\n", args...)
	}
}

func (m *markdown) say(p phrase, args ...any) string { return m.lang.say(p, args...) }

func (m *markdown) heading(p phrase, args ...any) { m.line("\n## %s\n", m.say(p, args...)) }

// row is a row of a table; the cells are Markdown already.
func (m *markdown) row(cells ...string) { m.line("| %s |", strings.Join(cells, " | ")) }

// head is the head of a table; right are the columns, from 0, that hold numbers
// from there on.
func (m *markdown) head(right int, cells ...string) {
	m.row(cells...)
	rule := make([]string, len(cells))
	for i := range cells {
		if rule[i] = "---"; i >= right {
			rule[i] = "---:"
		}
	}
	m.line("|%s|", strings.Join(rule, "|"))
}

// item is one line of a list: what it is about, and the text in Markdown.
func (m *markdown) item(label, text string) { m.line("- **%s:** %s", label, text) }

// Markdown writes a document as Markdown, ready for a post or a pull request:
// verdict and limit first, then conditions, procedure, results, findings and
// conclusion, every trial, the environment, and how to repeat it (method,
// section 9.1). Text of strangers shows as it is and does nothing. It fails when
// writing does.
func Markdown(w io.Writer, d Document) error {
	m := &markdown{w: w, d: &d, lang: d.Lang}
	switch {
	case d.Run != nil:
		m.run(d.Run)
	case d.Experiment != nil:
		m.experiment(d.Experiment)
	default:
		return errNoResult
	}
	return m.err
}

// title is the question, the name, or what was asked for.
func (d *Document) title() string {
	if e := d.Experiment; e != nil {
		if e.Plan != nil && e.Plan.Question != "" {
			return e.Plan.Question
		}
		if e.Plan != nil && e.Plan.Name != "" {
			return e.Plan.Name
		}
		return e.ID
	}
	if p := d.Run.Plan; p != nil {
		if p.Name != "" && p.Name != d.Run.Kind { // a command line has no name
			return p.Name
		}
		if len(p.Load.Requests) > 0 {
			return p.Load.Requests[0].Method + " " + redactURL(p.Load.Requests[0].URL)
		}
	}
	return d.Run.Kind
}

// verdict is the word, the same in every language, and what it means.
func (m *markdown) verdict(v result.Verdict) string {
	means := map[result.Verdict]phrase{result.Valid: phValid, result.Suspect: phSuspect, result.Invalid: phInvalid}
	p, known := means[v]
	if !known {
		return "**" + m.word(v) + "**"
	}
	return "**" + m.word(v) + "** – " + m.say(p)
}

// word is a verdict in capitals; what was never judged says so.
func (m *markdown) word(v result.Verdict) string {
	if v == "" {
		return "NOT JUDGED"
	}
	return esc(strings.ToUpper(string(v)))
}

// limiter answers why the rate is not twice as high.
func (m *markdown) limiter(b *result.Bottleneck) {
	if b == nil {
		m.line("\n**%s** %s", m.say(phWhyNotDouble), m.say(phNoLimit))
		return
	}
	text := esc(b.Message)
	if b.Confidence != "" {
		text += " (" + esc(string(b.Confidence)) + ")"
	}
	m.line("\n**%s** %s", m.say(phWhyNotDouble), text)
	if len(b.Exonerated) > 0 {
		m.line("\n%s", m.say(phExonerated, esc(strings.Join(b.Exonerated, ", "))))
	}
}

// sorts of findings, the gravest first.
func severities() []result.Severity {
	return []result.Severity{result.InvalidLevel, result.SuspectLevel, result.Note, result.Info}
}

// found is a finding and where in an experiment it was made.
type found struct {
	result.Finding
	about string
}

// findings is the table of them, the gravest first, each with a link to the page
// of its rule.
func (m *markdown) findings(all []found, notRun []string) {
	m.heading(phFindings)
	if m.lang != English && m.lang != "" && len(all) > 0 {
		m.line("%s\n", m.say(phEnglishMessages))
	}
	if len(all) == 0 {
		m.line("%s", m.say(phNoFindings))
	} else {
		m.head(9, m.say(phSeverity), m.say(phRule), m.say(phWhat))
	}
	for _, level := range severities() {
		for _, f := range all {
			if f.Severity == level {
				m.row(esc(string(f.Severity)), m.rule(f.Finding), esc(strings.TrimSpace(f.about+" "+f.Message))+advice(f.Advice))
			}
		}
	}
	if len(notRun) > 0 {
		m.line("\n%s", m.say(phNotRun, esc(strings.Join(notRun, "; "))))
	}
}

func advice(text string) string {
	if text == "" {
		return ""
	}
	return " → *" + esc(text) + "*"
}

// rule links the page of a rule. A name that is no rule's, as a stranger's file
// may have it, gets no link.
func (m *markdown) rule(f result.Finding) string {
	for _, r := range f.Rule {
		if r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') {
			return esc(f.Rule)
		}
	}
	docs := m.d.Docs
	if docs == "" {
		docs = DefaultDocs
	}
	return fmt.Sprintf("[%s](%s%s.md)", f.Rule, docs, f.Rule)
}

// span prints microseconds.
func span(us float64) string {
	if us == 0 || math.IsNaN(us) {
		return "–"
	}
	return unit.FormatDuration(time.Duration(us * 1000))
}

// precise rounds a number to the second significant digit of half the width of
// its interval (method, section 9.3), at most to the digits of figure.
func precise(x, low, high float64) string {
	half := (high - low) / 2
	if !(half > 0) || math.IsInf(half, 0) {
		return figure(x)
	}
	step := math.Pow(10, math.Floor(math.Log10(half))-1)
	if step < 1 {
		return figure(x)
	}
	return unit.FormatCount(int64(math.Round(math.Round(x/step) * step)))
}
