package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"prony/internal/ab"
	"prony/internal/analyse"
	"prony/internal/compare"
	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/report"
	"prony/internal/result"
	"prony/internal/spec"
	"prony/internal/web"
	"prony/internal/wrk"
)

// face writes a document in its forms.
type face struct {
	d      *report.Document
	std    streams
	series bool
}

// render writes the document in one form.
func (f *face) render(w io.Writer, o output) error {
	switch o.format {
	case "text":
		return f.text(w, o.file)
	case "md":
		return report.Markdown(w, *f.d)
	case "comment":
		return report.Comment(w, *f.d)
	case "html":
		return web.Report(w, f.page())
	case "json":
		return f.json(w)
	case "csv":
		if f.series {
			return report.SeriesCSV(w, *f.d)
		}
		return report.CSV(w, *f.d)
	case "junit":
		return report.JUnit(w, *f.d)
	case "openmetrics":
		return report.OpenMetrics(w, *f.d)
	}
	run, err := f.single()
	if err != nil {
		return &exitError{exitUsage, err}
	}
	return f.asTool(w, o.format, run)
}

// text is the report for people; colours only for a terminal.
func (f *face) text(w io.Writer, file string) error {
	var s report.Style
	if file == "-" {
		s = style(f.std.out)
	}
	if r := f.d.Run; r != nil {
		report.Tame(r)
		if err := report.Text(w, r, analyse.Suggestions(r), s); err != nil {
			return err
		}
	} else {
		report.Tame(f.d.Experiment)
		if err := report.Experiment(w, f.d.Experiment, s); err != nil {
			return err
		}
	}
	if c := f.d.Comparison; c != nil {
		report.Tame(c)
		if err := report.Comparison(w, c, s); err != nil {
			return err
		}
	}
	for _, g := range f.d.Gates {
		fmt.Fprintf(w, "  gate        %s %s: %s\n", g.Variant, g.Metric, g.Reason)
	}
	return nil
}

func (f *face) json(w io.Writer) error {
	if f.d.Run != nil {
		return report.JSON(w, f.d.Run)
	}
	trials := map[int]result.Trial{}
	for _, t := range f.d.Experiment.Trials {
		trials[t.Number] = t
	}
	return report.ExperimentJSON(w, f.d.Experiment, func(n int) (result.Trial, error) { return trials[n], nil })
}

// page is the document as the HTML report wants it.
func (f *face) page() web.Document {
	p := web.Document{Run: f.d.Run, Experiment: f.d.Experiment, Version: f.d.Version}
	if f.d.Source != "" {
		p.Source = web.Source{Name: "experiment.yaml", Text: f.d.Source}
	}
	if f.d.Run != nil {
		p.Advice = analyse.Suggestions(f.d.Run)
		p.Command = strings.Join(report.Redact(f.d.Run.Command), " ")
	}
	if e := f.d.Experiment; e != nil {
		p.Goals = e.Goals
		for _, c := range e.Curves {
			if u := c.Fit; u != nil {
				p.Fits = append(p.Fits, web.Fit{Axis: c.Axis, Group: c.Group, Alpha: u.Alpha, Beta: u.Beta, Gamma: u.Gamma, PeakAt: u.PeakAt, Note: u.Unproven})
			}
		}
	}
	if f.d.Comparison == nil {
		return p
	}
	for _, c := range f.d.Comparison.Comparisons {
		for _, m := range c.Metrics {
			p.Comparisons = append(p.Comparisons, pageComparison(&c, m))
		}
	}
	return p
}

func pageComparison(c *compare.Comparison, m compare.Metric) web.Comparison {
	one := web.Comparison{Metric: m.Name, Variant: c.B, Baseline: c.A, Verdict: string(m.Verdict), Ratio: m.Effect, Margin: m.Margin, Test: m.Test,
		Pairs: len(c.Pairs), Ratios: c.Ratios(m), TrialsA: len(m.A.Values), TrialsB: len(m.B.Values), Needed: m.Needed, Note: m.Reason}
	one.Better = "higher"
	if m.LowerIsBetter {
		one.Better = "lower"
	}
	if m.Coverage > 0 {
		one.Low, one.High = m.Low, m.High
	}
	if m.Test != "" {
		one.P = &m.Adjusted
	}
	if m.Absolute { // a difference is no ratio
		one.Ratio, one.Low, one.High = 0, 0, 0
		one.Note = strings.TrimSpace(fmt.Sprintf("difference %+.3g %s", m.Effect, m.Reason))
	}
	return one
}

var errTrial = errors.New("this form is of one run; say which trial with --trial NUMBER")

// single is the one run that the other tools' forms are made from.
func (f *face) single() (*result.Run, error) {
	if f.d.Run != nil {
		return f.d.Run, nil
	}
	if all := f.d.Experiment.Trials; len(all) == 1 && all[0].Error == "" {
		return &all[0].Run, nil
	}
	return nil, errTrial
}

// asTool writes a run as a log of histograms or in the manner of another tool,
// and the verdict behind it.
func (f *face) asTool(w io.Writer, format string, run *result.Run) error {
	report.Tame(run)
	switch format {
	case "hlog":
		return hlogWithVerdict(w, run)
	case "wrk":
		o := wrkOptions(run)
		if err := wrk.Render(w, run, o); err != nil {
			return err
		}
	case "ab":
		o, err := abOptions(run)
		if err != nil {
			return err
		}
		if err := ab.Render(w, withRecords(run), o); err != nil {
			return err
		}
	case "gatling", "gatling-classic":
		layout := report.GatlingColumns
		if format == "gatling-classic" {
			layout = report.GatlingClassic
		}
		if err := report.Gatling(w, run, layout); err != nil {
			return err
		}
	}
	return report.Verdict(w, run, report.Style{})
}

// hlogWithVerdict puts the verdict behind the log as comments, which its readers
// skip.
func hlogWithVerdict(w io.Writer, run *result.Run) error {
	if err := report.HLog(w, run); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "#[Prony verdict: %s]\n", run.Validity.Verdict)
	for _, f := range run.Validity.Findings {
		if err == nil && (f.Severity == result.InvalidLevel || f.Severity == result.SuspectLevel) {
			_, err = fmt.Fprintf(w, "#[%s %s: %s]\n", f.Severity, f.Rule, f.Message)
		}
	}
	return err
}

// address is what a run loaded, without the credentials that may stand in it.
func address(run *result.Run) string {
	if run.Plan == nil || len(run.Plan.Load.Requests) == 0 {
		return "http://unknown/"
	}
	text := run.Plan.Load.Requests[0].URL
	scheme, rest, ok := strings.Cut(text, "://")
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if at := strings.LastIndexByte(rest[:end], '@'); ok && at >= 0 {
		return scheme + "://" + rest[at+1:]
	}
	return text
}

// wrkOptions are those with which wrk would have made such a run. The stored
// command line is not looked at: it may come from anywhere.
func wrkOptions(run *result.Run) wrk.Options {
	o := wrk.Options{Threads: max(run.Load.Threads, 1), Connections: max(run.Load.Connections.Asked, 1), Latency: true, URL: address(run),
		Duration: time.Duration(run.Load.DurationUS) * time.Microsecond, Timeout: 2 * time.Second}
	if run.Plan != nil {
		if d := run.Plan.Load.Duration; d > 0 {
			o.Duration = d
		}
		if d := run.Plan.Load.Timeouts.Request; d > 0 {
			o.Timeout = d
		}
	}
	return o
}

// abOptions are those with which ab would have made such a run. No option that
// reads or writes a file is among them.
func abOptions(run *result.Run) (ab.Options, error) {
	c := max(run.Load.Connections.Asked, 1)
	n := max(run.Load.Requests.Asked, int64(c))
	url := address(run)
	if scheme := strings.Index(url, "://"); scheme > 0 && !strings.Contains(url[scheme+3:], "/") {
		url += "/" // ab wants a path
	}
	args := []string{"-n", strconv.FormatInt(min(n, 1<<31-1), 10), "-c", strconv.Itoa(min(c, 200_000))}
	if run.Plan == nil || !run.Plan.Load.NoKeepAlive {
		args = append(args, "-k")
	}
	if run.Plan != nil && !run.Plan.Load.SameLength {
		args = append(args, "-l")
	}
	o, err := ab.Parse(append(args, "--", url))
	if err != nil {
		return o, fmt.Errorf("write %s as ab would: %w", url, err)
	}
	return o, nil
}

// mostRecords bounds the requests that ab's tables are made from.
const mostRecords = 100_000

// withRecords gives a stored run requests to make ab's tables from, which need
// them one by one: values of its histograms at even ranks, so that every figure
// of the tables is that of the histogram. Which connect belonged to which answer
// is not known; they are spread over them.
func withRecords(run *result.Run) *result.Run {
	h := run.Load.Latency.Service
	if len(run.Load.Records) > 0 || h.Empty() {
		return run
	}
	n := int(min(h.Count(), mostRecords))
	first, connects := run.Load.Latency.FirstByte, 0
	connect := run.Load.Connections.ConnectTime
	if !connect.Empty() {
		connects = int(min(connect.Count()*int64(n)/h.Count(), int64(n)))
		if connects == 0 {
			connects = 1
		}
	}
	copied := *run
	copied.Load.Records = make([]result.Record, n)
	for i := range copied.Load.Records {
		r := &copied.Load.Records[i]
		r.Status, r.Total = 200, atRank(h, i, n)
		r.FirstByte = r.Total
		if !first.Empty() {
			r.FirstByte = min(atRank(first, i, n), r.Total)
		}
		if k := i * connects / n; connects > 0 && (i == 0 || k != (i-1)*connects/n) {
			r.Connect = atRank(connect, k*7919%connects, connects)
			r.FirstByte, r.Total = r.FirstByte+r.Connect, r.Total+r.Connect
		}
		r.Start = run.Load.StartedUS*1000 + int64(i)
	}
	return &copied
}

// atRank is the i-th of n values at even ranks; the last is the largest.
func atRank(h result.Histogram, i, n int) int64 {
	if i == n-1 {
		return h.Max()
	}
	if i == 0 {
		return h.Min()
	}
	return h.Value(hdr.Percent(100 * (float64(i) + 0.5) / float64(n)))
}

// sourceText is a plan as an experiment file, without secrets; "" where it is
// none that can be written as one.
func sourceText(p *plan.Plan) string {
	if p == nil || len(p.Services) > 0 {
		return ""
	}
	c := *p
	c.Load.Requests = nil
	for _, q := range p.Load.Requests {
		var headers []plan.Header
		for _, h := range q.Headers {
			if report.Secret(h.Name) {
				h.Value = "***"
			}
			headers = append(headers, h)
		}
		q.Headers, q.URL = headers, report.Redact([]string{q.URL})[0]
		c.Load.Requests = append(c.Load.Requests, q)
	}
	e, err := plan.Describe(c)
	if err != nil {
		return ""
	}
	var b strings.Builder
	if spec.Write(&b, e) != nil {
		return ""
	}
	return b.String()
}
