package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"prony/internal/hdr"
	"prony/internal/result"
	"prony/internal/unit"
)

var errNoResult = errors.New("a report needs a run or an experiment")

// run is the report of one run.
func (m *markdown) run(r *result.Run) {
	m.line("# %s\n", esc(m.d.title()))
	m.line("%s", m.verdict(r.Validity.Verdict))
	m.line("\n**%s**", m.say(phNumber, figure(rateOf(result.Trial{Run: *r}))))
	m.limiter(r.Bottleneck)
	m.gates()
	m.heading(phConditions)
	m.conditions(r)
	if r.Plan != nil {
		m.fit(r.Plan.Fit.Lines())
	}
	m.heading(phProcedure)
	m.line("%s", m.say(phUnitRun))
	m.results(r)
	m.findings(of(r.Validity.Findings, ""), r.Validity.NotRun)
	m.warnings(r.Warnings)
	m.heading(phConclusion)
	m.line("%s; %s.", m.say(phNumber, figure(rateOf(result.Trial{Run: *r}))), m.verdict(r.Validity.Verdict))
	m.goals(r.Expect)
	m.environment(r)
	m.repeat(r)
}

func of(all []result.Finding, about string) (list []found) {
	for _, f := range all {
		list = append(list, found{f, about})
	}
	return list
}

func (m *markdown) warnings(all []string) {
	for _, text := range all {
		m.line("\n> %s", esc(text))
	}
}

// conditions say what was done, in what model, to what, with which services.
func (m *markdown) conditions(r *result.Run) {
	m.load(&r.Load, r)
	for i := range r.Also {
		m.load(&r.Also[i], nil)
	}
	if r.Plan == nil {
		return
	}
	for i, q := range r.Plan.Load.Requests {
		if i == 8 {
			m.item(m.say(phTarget), fmt.Sprintf("+%d", len(r.Plan.Load.Requests)-i))
			break
		}
		text := esc(q.Method + " " + redactURL(q.URL))
		if len(r.Plan.Load.Requests) > 1 {
			text += " × " + unit.FormatSI(q.Weight)
		}
		if len(q.Body) > 0 {
			text += ", " + unit.FormatSize(float64(len(q.Body)))
		}
		m.item(m.say(phTarget), text)
	}
	for _, s := range r.Plan.Services {
		text := esc(strings.Join(slices.DeleteFunc([]string{string(s.Kind), s.Entry, redactURL(s.URL)}, func(s string) bool { return s == "" }), " "))
		if s.Instances > 1 {
			text += fmt.Sprintf(" × %d", s.Instances)
		}
		if limits := s.Limits.String(); limits != "" {
			text += "; " + m.say(phLimits) + " " + esc(limits)
		}
		m.item(m.say(phService)+" "+esc(s.Name), text)
	}
}

// fit says what "scale: auto" reduced, and why.
func (m *markdown) fit(lines []string) {
	for _, text := range lines {
		m.item("scale: auto", esc(text))
	}
}

// load is one load: model, connections, time, protocol.
func (m *markdown) load(l *result.Load, r *result.Run) {
	p := phClosed
	if l.Model == "open" {
		p = phOpen
	}
	label := m.say(phModel)
	if l.Name != "" {
		label += " " + esc(l.Name)
	}
	m.item(label, m.say(p, unit.FormatCount(int64(l.Connections.Asked)))+offered(m, l))
	if l.Model != "open" {
		m.line("  %s", m.say(phClosedNote))
	}
	text := m.say(phWindow, span(l.DurationUS))
	if l.WarmupUS > 0 {
		text += ", " + m.say(phWarmup, span(l.WarmupUS))
	} else {
		text += ", " + m.say(phNoWarmup)
	}
	if r != nil && r.Plan != nil && r.Plan.Load.Timeouts.Request > 0 {
		text += ", " + m.say(phTimeout, unit.FormatDuration(r.Plan.Load.Timeouts.Request))
	}
	m.item(m.say(phLoad), text+"; "+esc(protocol(l)))
}

func offered(m *markdown, l *result.Load) string {
	if l.OfferedRate == nil {
		return ""
	}
	return "; " + m.say(phPlanned, figure(*l.OfferedRate))
}

func protocol(l *result.Load) string {
	text := l.Protocol
	if l.TLS != nil {
		text += ", " + l.TLS.Version + " " + l.TLS.Cipher
	}
	return text + ", " + l.Engine
}

// results are the latencies, the books and what the generator cost.
func (m *markdown) results(r *result.Run) {
	m.heading(phResults)
	if unstable(r) {
		m.line("**%s**\n", m.say(phUnstable))
	} else {
		m.latencies(&r.Load)
	}
	q := r.Load.Requests
	m.item(m.say(phLedger), m.say(phBooks, unit.FormatCount(q.Asked), unit.FormatCount(q.Completed), unit.FormatCount(q.Failed),
		unit.FormatCount(q.CutOff), unit.FormatCount(q.Unsent))+"; "+esc(statuses(r.Load.Statuses)))
	for _, f := range failuresOf(&r.Load) {
		m.item(m.say(phErrors), esc(fmt.Sprintf("%s × %s: %s", f.Kind, unit.FormatCount(f.Count), f.Example)))
	}
	for i := range r.Also {
		l := &r.Also[i]
		m.item(m.say(phLoad)+" "+esc(l.Name), m.say(phNumber, figure(l.Rate)))
	}
	if c := r.Capacity; c != nil {
		m.item(m.say(phCapacity), esc(fmt.Sprintf("%s: %s/s", c.End, figure(c.Rate))))
	}
	if g := r.Generator; g.CPUUS > 0 {
		m.item(m.say(phGenerator), m.say(phGeneratorText, unit.FormatPercent(g.MeanBusy), fmt.Sprintf("%.3g", g.CPUs),
			unit.FormatPercent(g.PeakBusy), fmt.Sprintf("%.3g µs", g.CPUUSPerRequest)))
	}
	m.machines(r)
	if len(r.Expect) > 0 {
		m.line("\n### %s\n", m.say(phExpectations))
		m.expectations(r.Expect, "")
	}
}

// failuresOf are the kinds of failures of the window, the most frequent first,
// each with the first example that was seen.
func failuresOf(l *result.Load) (all []result.Failure) {
	for kind, n := range l.Failures {
		f := result.Failure{Kind: kind, Count: n}
		if i := slices.IndexFunc(l.FailureDetails, func(d result.Failure) bool { return d.Kind == kind }); i >= 0 {
			f.Example = l.FailureDetails[i].Example
		}
		if n > 0 {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b result.Failure) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Kind, b.Kind))
	})
	return all
}

// latencies is the table of the distributions; the largest value always stands
// beside the percentiles.
func (m *markdown) latencies(l *result.Load) {
	qs := []hdr.Quantile{hdr.P50, hdr.P75, hdr.P90, hdr.P99, hdr.P999, hdr.P9999}
	cells := []string{m.say(phLatency)}
	for _, q := range qs {
		cells = append(cells, q.String())
	}
	m.head(1, append(cells, "max", m.say(phMean), "±sd")...)
	for _, h := range []struct {
		name string
		of   result.Histogram
	}{{"response", l.Latency.Response}, {"service", l.Latency.Service}, {"lag", l.Latency.Lag}, {"failed", l.Latency.Failed}} {
		if h.of.Empty() {
			continue
		}
		cells := []string{h.name}
		for i, v := range h.of.Values(qs) {
			cells = append(cells, marked(time.Duration(v), qs[i].Beyond(h.of.Count())))
		}
		m.row(append(cells, unit.FormatDuration(time.Duration(h.of.Max())), unit.FormatDuration(time.Duration(h.of.Mean())),
			unit.FormatDuration(time.Duration(h.of.StdDev())))...)
	}
	m.line("\n%s\n", m.say(phFew))
}

// marked is a percentile with so many samples beyond it.
func marked(d time.Duration, beyond int64) string {
	switch {
	case beyond < 1:
		return "–"
	case beyond < 10:
		return "\\~" + unit.FormatDuration(d)
	}
	return unit.FormatDuration(d)
}

func (m *markdown) expectations(all []result.Expectation, about string) {
	for _, e := range all {
		mark := "✓ " + m.say(phMet)
		if !e.Met {
			mark = "✗ **" + m.say(phMissed) + "**"
		}
		text := e.Text
		if e.Reason != "" {
			text += ": " + e.Reason
		}
		m.line("- %s: %s", mark, esc(strings.TrimSpace(about+" "+text)))
	}
}

// goals counts the expectations.
func (m *markdown) goals(all []result.Expectation) {
	missed := 0
	for _, e := range all {
		if !e.Met {
			missed++
		}
	}
	switch {
	case len(all) == 0:
	case missed == 0:
		m.line("\n%s", m.say(phAllMet, len(all)))
	default:
		m.line("\n**%s**", m.say(phSomeMissed, missed, len(all)))
	}
}

// environment is the fingerprint of every machine (method, section 9.1).
func (m *markdown) environment(r *result.Run) {
	m.heading(phEnvironment)
	m.machine(r.Environment)
	for _, name := range slices.Sorted(maps.Keys(r.Hosts)) {
		m.line("\n### %s %s\n", m.say(phHost), esc(name))
		m.machine(r.Hosts[name])
	}
	seen := map[string]bool{}
	for _, s := range r.Services {
		if s.Version != "" && !seen[s.Name] {
			seen[s.Name] = true
			m.item(m.say(phService)+" "+esc(s.Name), esc(s.Version))
		}
	}
	if missing := unrecorded(r, m.d.Run != nil); len(missing) > 0 {
		m.line("\n%s", m.say(phNotRecorded, strings.Join(missing, ", ")))
	}
}

func (m *markdown) machine(e result.Environment) {
	m.item(m.say(phHost), esc(orNone(e.Hostname)))
	m.item(m.say(phOS), esc(strings.TrimSpace(e.OS+" "+e.Kernel+" "+e.Arch+" "+e.Go)))
	m.item(m.say(phProcessor), esc(fmt.Sprintf("%s × %d", e.CPUModel, e.CPUs)))
	m.item(m.say(phMemory), unit.FormatSize(float64(e.Memory)))
	facts := maps.Clone(e.Facts)
	if facts == nil {
		facts = map[string]string{}
	}
	maps.Copy(facts, e.Sysctl)
	if len(facts) == 0 {
		return
	}
	m.line("\n<details><summary>%s</summary>\n", m.say(phFacts, len(facts)))
	m.head(9, "", "")
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		m.row(esc(name), esc(facts[name]))
	}
	m.line("\n</details>")
}

// unrecorded names what a complete report has (method, section 9.1) and this
// result lacks. The trials of an experiment come without their series, which are
// in their bundles.
func unrecorded(r *result.Run, whole bool) (names []string) {
	for _, must := range []struct {
		name string
		ok   bool
	}{
		{"verdict", r.Validity.Verdict != ""},
		{"plan", r.Plan != nil},
		{"load model", r.Load.Model != ""},
		{"protocol", r.Load.Protocol != ""},
		{"duration", r.Load.DurationUS > 0},
		{"start", !r.Started.IsZero()},
		{"response times", !r.Load.Latency.Response.Empty()},
		{"per-second series", !whole || len(r.Load.Intervals) > 0},
		{"generator CPU", r.Generator.CPUUS > 0},
		{"system", r.Environment.OS != ""},
		{"kernel", r.Environment.Kernel != ""},
		{"processor", r.Environment.CPUModel != ""},
		{"memory", r.Environment.Memory > 0},
		{"version of Prony", r.Version != ""},
		{"command", len(r.Command) > 0},
	} {
		if !must.ok {
			names = append(names, must.name)
		}
	}
	return names
}

// repeat is how to measure it again.
func (m *markdown) repeat(r *result.Run) {
	m.heading(phRepeat)
	words := m.d.Command
	if words == nil && r != nil {
		words = r.Command
	}
	if len(words) > 0 {
		m.line("%s:\n\n%s", m.say(phCommand), fence("sh", shell(Redact(words))))
	}
	if m.d.Source != "" {
		m.line("\n%s:\n\n%s", m.say(phFile), fence("yaml", m.d.Source))
	}
	version := m.d.Version
	if r != nil && r.Version != "" {
		version = r.Version
	}
	started := ""
	if r != nil && !r.Started.IsZero() {
		started = " " + r.Started.UTC().Format(time.RFC3339)
	}
	m.line("\n%s%s", m.say(phMadeBy, esc(version)), started)
}
