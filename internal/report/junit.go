package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"prony/internal/result"
)

// The elements of JUnit's XML, as Ant writes them and as CI systems read them.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Package    string          `xml:"package,attr"`
		ID         int             `xml:"id,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Hostname   string          `xml:"hostname,attr"`
		Properties junitProperties `xml:"properties"`
		Cases      []junitCase     `xml:"testcase"`
		Out        string          `xml:"system-out"`
		Err        string          `xml:"system-err"`
	}
	junitProperties struct {
		All []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Time    string        `xml:"time,attr"`
		Skipped *junitMessage `xml:"skipped"`
		Error   *junitMessage `xml:"error"`
		Failure *junitMessage `xml:"failure"`
	}
	junitMessage struct {
		Message string `xml:"message,attr,omitempty"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes what a CI system shows as tests, with a suite a variant: whether
// each trial can be used, each expectation, and each gate. An invalid trial, a
// missed expectation and a failed gate are failures; a trial without a result is
// an error; a gate that cannot tell is skipped, with the reason. What makes a
// trial suspect is in the suite's output and in the name of its test. It fails
// when writing does.
func JUnit(w io.Writer, d Document) error {
	trials, _, err := d.trials()
	if err != nil {
		return err
	}
	all := junitSuites{Name: clean(d.title())}
	for _, name := range variantNames(&result.Experiment{Trials: trials}) {
		all.Suites = append(all.Suites, variantSuite(&d, name, slices.DeleteFunc(slices.Clone(trials), func(t result.Trial) bool { return t.Variant != name })))
	}
	if e := d.Experiment; e != nil && len(e.Findings) > 0 {
		all.Suites = append(all.Suites, findingsSuite(e))
	}
	if e := d.Experiment; e != nil && len(e.Goals) > 0 {
		s := junitSuite{Name: "goals"}
		for _, g := range e.Goals {
			s.Cases = append(s.Cases, expectationCase("", g, "prony.goals"))
		}
		all.Suites = append(all.Suites, s)
	}
	if len(d.Gates) > 0 {
		all.Suites = append(all.Suites, gatesSuite(d.Gates))
	}
	for i := range all.Suites {
		s := &all.Suites[i]
		s.count(i)
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	_, err = io.WriteString(w, "\n")
	return err
}

// count fills in the sums, and what the schema wants of every suite.
func (s *junitSuite) count(id int) {
	s.ID, s.Package, s.Tests = id, "prony", len(s.Cases)
	for _, c := range s.Cases {
		switch {
		case c.Error != nil:
			s.Errors++
		case c.Failure != nil:
			s.Failures++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	if s.Hostname == "" {
		s.Hostname = "localhost"
	}
	if s.Time == "" {
		s.Time = "0"
	}
	if s.Timestamp == "" {
		s.Timestamp = "1970-01-01T00:00:00"
	}
}

// variantSuite are the tests of a variant's trials.
func variantSuite(d *Document, name string, trials []result.Trial) junitSuite {
	if name == "" {
		name = d.title()
	}
	s := junitSuite{Name: clean(name)}
	class := "prony." + strings.ReplaceAll(clean(name), ".", "_")
	var out strings.Builder
	seconds := 0.0
	for i := range trials {
		t := &trials[i]
		if t.Error == "" {
			seconds += t.Load.DurationUS / 1e6
		}
		s.Cases = append(s.Cases, validityCase(t, class))
		for _, f := range t.Validity.Findings {
			fmt.Fprintf(&out, "trial %d: %s %s: %s\n", t.Number, f.Severity, clean(f.Rule), clean(f.Message))
		}
		for _, text := range t.Warnings {
			fmt.Fprintf(&out, "trial %d: %s\n", t.Number, clean(text))
		}
		for _, e := range t.Expect {
			s.Cases = append(s.Cases, expectationCase(fmt.Sprintf("trial %d: ", t.Number), e, class))
		}
		if s.Timestamp == "" && !t.Started.IsZero() {
			s.Timestamp, s.Hostname = t.Started.UTC().Format("2006-01-02T15:04:05"), clean(t.Environment.Hostname)
		}
		s.Properties.All = append(s.Properties.All, figures(t)...)
	}
	s.Time, s.Out = fmt.Sprintf("%.3f", seconds), out.String()
	return s
}

// figures are those of a trial that a reader of the file may want.
func figures(t *result.Trial) []junitProperty {
	if t.Error != "" {
		return nil
	}
	prefix := fmt.Sprintf("trial.%d.", t.Number)
	all := []junitProperty{{prefix + "verdict", clean(string(t.Validity.Verdict))}, {prefix + "rate", decimal(t.Load.Rate)}}
	if t.Bottleneck != nil {
		all = append(all, junitProperty{prefix + "limited_by", clean(t.Bottleneck.Message)})
	}
	return all
}

// validityCase says whether a trial can be used.
func validityCase(t *result.Trial, class string) junitCase {
	verdict := string(t.Validity.Verdict)
	if verdict == "" {
		verdict = "not judged"
	}
	c := junitCase{Name: fmt.Sprintf("trial %d: %s", t.Number, clean(verdict)), Class: class, Time: "0"}
	switch {
	case t.Error != "":
		c.Name = fmt.Sprintf("trial %d: no result", t.Number)
		c.Error = &junitMessage{Message: clean(t.Error), Type: "no-result", Text: clean(t.Error)}
		return c
	case t.Validity.Verdict == result.Invalid:
		text := reasonsOf(t.Validity, result.InvalidLevel)
		c.Failure = &junitMessage{Message: "invalid: " + text, Type: "invalid", Text: text}
	}
	c.Time = fmt.Sprintf("%.3f", t.Load.DurationUS/1e6)
	return c
}

func reasonsOf(v result.Validity, level result.Severity) string {
	var all []string
	for _, f := range v.Findings {
		if f.Severity == level {
			all = append(all, clean(f.Rule+": "+f.Message))
		}
	}
	return strings.Join(all, "; ")
}

// expectationCase is a goal of a trial, or of the experiment.
func expectationCase(about string, e result.Expectation, class string) junitCase {
	c := junitCase{Name: about + clean(e.Text), Class: class, Time: "0"}
	if !e.Met {
		text := fmt.Sprintf("%s: got %s", clean(e.Text), decimal(e.Actual))
		if e.Reason != "" {
			text = clean(e.Text + ": " + e.Reason)
		}
		c.Failure = &junitMessage{Message: text, Type: "expectation", Text: text}
	}
	return c
}

func findingsSuite(e *result.Experiment) junitSuite {
	s := junitSuite{Name: "findings"}
	for _, f := range e.Findings {
		c := junitCase{Name: clean(f.Rule), Class: "prony.findings", Time: "0"}
		if f.Severity == result.InvalidLevel {
			c.Failure = &junitMessage{Message: clean(f.Message), Type: "invalid", Text: clean(f.Message)}
		}
		s.Out += fmt.Sprintf("%s %s: %s\n", f.Severity, clean(f.Rule), clean(f.Message))
		s.Cases = append(s.Cases, c)
	}
	return s
}

func gatesSuite(gates []Gate) junitSuite {
	s := junitSuite{Name: "gates"}
	for _, g := range gates {
		c := junitCase{Name: clean(strings.TrimSpace(g.Variant + " " + g.Metric)), Class: "prony.gates", Time: "0"}
		text := clean(g.Reason)
		switch g.State {
		case Failed:
			c.Failure = &junitMessage{Message: text, Type: "gate", Text: text}
		case Unclear:
			c.Skipped = &junitMessage{Message: text}
		}
		s.Out += fmt.Sprintf("%s: %s\n", c.Name, text)
		s.Cases = append(s.Cases, c)
	}
	return s
}

func sortedNames[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
