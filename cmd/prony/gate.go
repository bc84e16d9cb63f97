package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"prony/internal/compare"
	"prony/internal/document"
	"prony/internal/report"
	"prony/internal/unit"
)

// gateFile is a file of gates: what of a result must not get worse than a
// baseline, by how much. The zero value asks nothing.
type gateFile struct {
	file     string
	baseline string // a source; "": the experiment's own
	options  compare.Options
	// strict: a gate that cannot tell fails.
	strict bool
	gates  []gateRule
}

// gateRule is one gate. Direction is that in which a change beyond the margin
// fails: "worse" or, of the figure itself, "up", "down" or "either".
type gateRule struct {
	metric    string
	direction string
}

// takeGateFile takes the file of gates out of the gates of a comparison, which
// are names of metrics otherwise, and lays its options under them. Without a
// file it is nil.
func takeGateFile(o *compare.Options) (*gateFile, error) {
	i := slices.IndexFunc(o.Gates, isGateFile)
	if i < 0 {
		return nil, nil
	}
	g, err := readGates(o.Gates[i])
	if err != nil {
		return nil, err
	}
	if len(o.Gates) > 1 {
		return nil, fmt.Errorf("--gate %s: a file of gates stands alone; write the other gates into it", g.file)
	}
	o.Gates = g.options.Gates
	if o.Margins == nil {
		o.Margins = map[string]float64{}
	}
	for metric, margin := range g.options.Margins {
		if _, given := o.Margins[metric]; !given {
			o.Margins[metric] = margin
		}
	}
	if g.options.Alpha > 0 {
		o.Alpha = g.options.Alpha
	}
	o.AcceptDifferences = o.AcceptDifferences || g.options.AcceptDifferences
	return g, nil
}

// isGateFile tells the file of gates from the name of a metric, which is what
// --gate of prony compare took first.
func isGateFile(value string) bool {
	return strings.HasSuffix(value, ".yaml") || strings.HasSuffix(value, ".yml") || strings.ContainsAny(value, `/\`)
}

// readGates reads a file of gates, strictly: every mistake is listed with file,
// line and column.
func readGates(file string) (*gateFile, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseGates(file, text)
}

func parseGates(file string, text []byte) (*gateFile, error) {
	g := &gateFile{file: file, options: compare.Options{Margins: map[string]float64{}}}
	d, top, err := document.Open(file, text, "gates: 1 and metrics")
	if err != nil {
		return nil, err
	}
	r := gateReader{d}
	seen := r.Mapping(top, map[string]func(*yaml.Node){
		"gates":              func(n *yaml.Node) { r.oneOf(n, "1") },
		"baseline":           func(n *yaml.Node) { g.baseline = r.source(n) },
		"alpha":              func(n *yaml.Node) { g.options.Alpha = r.share(n, 0.5) },
		"cannot-tell":        func(n *yaml.Node) { g.strict = r.oneOf(n, "pass", "fail") == "fail" },
		"accept-differences": func(n *yaml.Node) { g.options.AcceptDifferences = r.oneOf(n, "true", "false") == "true" },
		"metrics": func(n *yaml.Node) {
			r.List(n, func(n *yaml.Node) { r.gate(n, g) })
			if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
				r.Wrong(n, "metrics: want at least one")
			}
		},
	})
	for _, key := range []string{"gates", "metrics"} {
		if top.Kind == yaml.MappingNode && !seen[key] {
			r.Wrong(top, "%s is missing", key)
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return g, nil
}

// gateReader reads the nodes of a file of gates.
type gateReader struct{ *document.Reader }

// text is a scalar with something in it.
func (r gateReader) text(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" && n.Value == "" {
		r.Wrong(n, "want a value")
	}
	return r.Text(n)
}

func (r gateReader) oneOf(n *yaml.Node, words ...string) string {
	text := r.text(n)
	if text != "" && !slices.Contains(words, text) {
		r.Wrong(n, "found %q; want %s", text, strings.Join(words, " or "))
	}
	return text
}

// share reads 5% or 0.05, from 0 to most.
func (r gateReader) share(n *yaml.Node, most float64) float64 {
	text := r.text(n)
	x, err := unit.ParsePercent(text)
	if err != nil {
		x, err = strconv.ParseFloat(text, 64)
	}
	if text != "" && (err != nil || !(x >= 0 && x <= most)) {
		r.Wrong(n, "found %q; want a share such as 5%%, from 0 to %s", text, unit.FormatPercent(most))
		return 0
	}
	return x
}

// source is a stored result; the path of a file is that from the file of gates.
func (r gateReader) source(n *yaml.Node) string {
	name := r.text(n)
	base, variant, _ := strings.Cut(name, "#")
	if beside := filepath.Join(filepath.Dir(r.File), base); !filepath.IsAbs(base) && exists(beside) {
		base = beside
	}
	if variant != "" {
		return base + "#" + variant
	}
	return base
}

// gate reads one metric with its margin and direction.
func (r gateReader) gate(n *yaml.Node, g *gateFile) {
	rule := gateRule{direction: "worse"}
	margin := -1.0
	seen := r.Mapping(n, map[string]func(*yaml.Node){
		"metric": func(n *yaml.Node) {
			q, err := compare.Parse(r.text(n))
			if err != nil && n.Value != "" {
				r.Wrong(n, "%v", err)
			}
			rule.metric = q.Name
			if slices.ContainsFunc(g.gates, func(o gateRule) bool { return o.metric == q.Name }) {
				r.Wrong(n, "%s has a gate already", q.Name)
			}
		},
		"margin":    func(n *yaml.Node) { margin = r.share(n, 10) },
		"direction": func(n *yaml.Node) { rule.direction = r.oneOf(n, "worse", "up", "down", "either") },
	})
	if n.Kind == yaml.MappingNode && !seen["metric"] {
		r.Wrong(n, "metric is missing")
	}
	if margin >= 0 {
		g.options.Margins[rule.metric] = margin
	}
	g.gates = append(g.gates, rule)
	g.options.Gates = append(g.options.Gates, rule.metric)
}

var errNoBaseline = errors.New("a single run has nothing to be compared with: name a baseline")

// compare holds a result against the baseline: each of its variants against the
// one of the same name or, without a baseline of its own, against that of the
// experiment. All share one chance of a false alarm.
func (g *gateFile) compare(s *source, root string) (*compare.Result, error) {
	if g.baseline == "" {
		if s.experiment == nil {
			return nil, errNoBaseline
		}
		return compare.Experiment(s.experiment, g.options)
	}
	base, err := openSource(g.baseline, root)
	if err != nil {
		return nil, err
	}
	names := s.variants()
	if s.variant != "" || s.run != nil {
		names = []string{s.variant}
	}
	o := g.options
	all := &compare.Result{Schema: compare.Schema, Alpha: cmp.Or(o.Alpha, 0.05)}
	o.Alpha = all.Alpha / float64(max(len(names), 1))
	for _, name := range names {
		r, err := comparePair(base, s, name, len(names) == 1, o)
		if err != nil {
			return nil, err
		}
		all.Family += r.Family
		all.Comparisons = append(all.Comparisons, r.Comparisons...)
		all.Verdict = graver(all.Verdict, r.Verdict)
	}
	return all, nil
}

// comparePair holds one variant against its partner in the baseline. Where both
// have only one, they are partners whatever their names.
func comparePair(base, s *source, name string, only bool, o compare.Options) (*compare.Result, error) {
	b, err := side(&source{name: s.name, variant: name, experiment: s.experiment, run: s.run})
	if err != nil {
		return nil, err
	}
	partner := base.variant
	if names := base.variants(); partner == "" && !(only && len(names) <= 1) {
		if partner = name; !slices.Contains(names, name) {
			return nil, fmt.Errorf("baseline %s has no variant %q; there are: %s", base.name, name, strings.Join(names, ", "))
		}
	}
	a, err := side(&source{name: base.name, variant: partner, experiment: base.experiment, run: base.run})
	if err != nil {
		return nil, err
	}
	if a.Name == b.Name {
		a.Name = "baseline " + a.Name
	}
	return compare.Sides(a, b, o)
}

// graver is the graver of two verdicts; "" is none yet.
func graver(a, b compare.Verdict) compare.Verdict {
	for _, v := range []compare.Verdict{compare.Worse, compare.CannotTell, compare.SmallChange, compare.Better, compare.Equivalent} {
		if a == v || b == v {
			return v
		}
	}
	return b
}

// judge says of each gate, for each comparison, what became of it.
func (g *gateFile) judge(r *compare.Result) (all []report.Gate) {
	for i := range r.Comparisons {
		c := &r.Comparisons[i]
		for _, rule := range g.gates {
			at := slices.IndexFunc(c.Metrics, func(m compare.Metric) bool { return m.Gate && m.Name == rule.metric })
			if at < 0 {
				all = append(all, report.Gate{Metric: rule.metric, Variant: c.B, State: report.Failed, Reason: "it was not compared"})
				continue
			}
			all = append(all, g.one(rule, c, &c.Metrics[at]))
		}
	}
	return all
}

// one judges a gate. A gate without a single run on a side has failed: what was
// not measured has not passed.
func (g *gateFile) one(rule gateRule, c *compare.Comparison, m *compare.Metric) report.Gate {
	x := report.Gate{Metric: m.Name, Variant: c.B, State: report.Passed, Reason: effectText(m)}
	switch {
	case len(m.A.Values) == 0 || len(m.B.Values) == 0:
		x.State = report.Failed
	case m.Verdict == compare.CannotTell && g.strict:
		x.State = report.Failed
	case m.Verdict == compare.CannotTell:
		x.State = report.Unclear
	case fails(rule.direction, m):
		x.State = report.Failed
	}
	return x
}

// fails reports whether a change beyond the margin is in the direction of a
// gate.
func fails(direction string, m *compare.Metric) bool {
	if m.Verdict != compare.Better && m.Verdict != compare.Worse {
		return false
	}
	up := (m.Verdict == compare.Better) != m.LowerIsBetter
	switch direction {
	case "up":
		return up
	case "down":
		return !up
	case "either":
		return true
	}
	return m.Verdict == compare.Worse
}

// effectText is the effect in words.
func effectText(m *compare.Metric) string {
	text := string(m.Verdict)
	switch {
	case m.Absolute && m.Test != "":
		text += fmt.Sprintf(", %+.3g (%+.3g to %+.3g), margin %.3g", m.Effect, m.Low, m.High, m.Margin)
	case m.Test != "":
		text += fmt.Sprintf(", %+.2f%% (%+.2f%% to %+.2f%%), margin %s", 100*(m.Effect-1), 100*(m.Low-1), 100*(m.High-1), unit.FormatPercent(m.Margin))
	}
	if m.Reason != "" {
		text += ": " + m.Reason
	}
	if m.Needed > 0 {
		text += fmt.Sprintf("; about %d trials of each would tell", m.Needed)
	}
	return text
}

// verdict is the error of the exit status.
func (g *gateFile) verdict(all []report.Gate) error {
	if slices.ContainsFunc(all, func(x report.Gate) bool { return x.State == report.Failed }) {
		return &exitError{code: exitVerdict}
	}
	return nil
}
