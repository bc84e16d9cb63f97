package report

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"prony/internal/hdr"
	"prony/internal/result"
	"prony/internal/unit"
)

// Text writes the result of a load for people: the verdict first, then what
// was measured, what it cost, and what would make it more trustworthy.
func Text(w io.Writer, r *result.Run, suggestions []string, style Style) error {
	p := &printer{w: w, style: style}
	p.line("")
	p.verdict(r)
	p.line("")
	if r.Plan != nil {
		p.fit(r.Plan.Fit.Lines())
	}
	p.throughput(r)
	if unstable(r) {
		p.line("")
		p.line("  %s", p.style.paint(bold+";"+red, "unstable at this rate: the queue grew, so that no percentile would mean anything"))
	} else {
		p.latency(&r.Load)
		p.picture(r.Load.Latency.Response.Histogram)
	}
	p.line("")
	p.books(r)
	p.failures(&r.Load)
	p.connections(&r.Load)
	p.generator(r)
	p.machines(r)
	p.expectations(r.Expect)
	p.suggestions(suggestions)
	return p.err
}

// unstable reports whether the target could not keep up with an open load.
func unstable(r *result.Run) bool {
	return slices.ContainsFunc(r.Validity.Findings, func(f result.Finding) bool {
		return f.Rule == "rate-sustained" && f.Severity != result.Info && f.Severity != result.Note
	})
}

var verdictColour = map[result.Verdict]string{result.Valid: green, result.Suspect: yellow, result.Invalid: red}

// verdict says whether the number can be used and why not, gravest first.
func (p *printer) verdict(r *result.Run) {
	v := r.Validity.Verdict
	word := p.style.paint(bold+";"+verdictColour[v], strings.ToUpper(string(v)))
	switch v {
	case result.Valid:
		p.line("  %s  %s", word, "nothing speaks against this number")
	case result.Suspect:
		p.line("  %s  %s", word, "usable with care, for these reasons")
	default:
		p.line("  %s  %s", word, "do not use this number, for these reasons")
	}
	p.findings(r.Validity.Findings, result.InvalidLevel, red, "✗")
	p.findings(r.Validity.Findings, result.SuspectLevel, yellow, "!")
	p.findings(r.Validity.Findings, result.Note, dim, "·")
	if n := len(r.Validity.NotRun); n > 0 {
		for _, text := range wrap("not judged: "+strings.Join(r.Validity.NotRun, "; "), p.style.text()+8) {
			p.line("    %s", p.style.paint(dim, text))
		}
	}
}

func (p *printer) findings(all []result.Finding, level result.Severity, colour, mark string) {
	for _, f := range all {
		if f.Severity != level {
			continue
		}
		for i, text := range wrap(f.Message, p.style.text()+8) {
			sign := mark
			if i > 0 {
				sign = " "
			}
			p.line("    %s %s", p.style.paint(colour, sign), text)
		}
		if f.Advice != "" && level != result.Note {
			for _, text := range wrap("→ "+f.Advice, p.style.text()+6) {
				p.line("      %s", p.style.paint(dim, text))
			}
		}
	}
}

func (p *printer) throughput(r *result.Run) {
	l := &r.Load
	rate := p.style.paint(bold, unit.FormatCount(int64(l.Rate+0.5))+" requests/s")
	p.line("  %s over %s, %s", rate, unit.FormatDuration(time.Duration(l.DurationUS*1000)), model(l))
	if l.OfferedRate != nil {
		p.field("asked for", "%s requests/s by the timetable; %s answered", figure(*l.OfferedRate), share(l.Requests.Completed, l.Requests.Asked))
	}
	if b := r.Bottleneck; b != nil {
		p.field("limited by", "%s", b.Message)
	} else {
		p.field("limited by", "not identified")
	}
}

// model names the load model beside every number that depends on it.
func model(l *result.Load) string {
	kind := l.Protocol
	if l.TLS != nil {
		kind += " over " + l.TLS.Version
	}
	threads := plural(l.Threads, "thread")
	if l.Model == "open" {
		return fmt.Sprintf("open model, up to %s, %s, %s, %s", plural(l.Connections.Asked, "connection"), threads, kind, l.Engine)
	}
	return fmt.Sprintf("closed model, %s, %s, %s, %s", plural(l.Connections.Asked, "connection"), threads, kind, l.Engine)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return unit.FormatCount(int64(n)) + " " + what + "s"
}

// figure prints a rate with digits enough to compare, none to no purpose.
func figure(v float64) string {
	if v >= 1000 {
		return unit.FormatCount(int64(v + 0.5))
	}
	return fmt.Sprintf("%.4g", v)
}

func share(n, of int64) string {
	if of == 0 {
		return "none"
	}
	return unit.FormatPercent(float64(n) / float64(of))
}

// quantiles are the percentiles of the table.
func (p *printer) quantiles() []hdr.Quantile {
	if p.style.narrow() {
		return []hdr.Quantile{hdr.P50, hdr.P90, hdr.P99, hdr.P999}
	}
	return []hdr.Quantile{hdr.P50, hdr.P75, hdr.P90, hdr.P99, hdr.P999, hdr.P9999}
}

// latency prints the three histograms side by side. A percentile without a
// sample beyond it is not printed, one with fewer than ten is marked.
func (p *printer) latency(l *result.Load) {
	p.line("")
	head := fmt.Sprintf("  %-9s", "Latency")
	for _, q := range p.quantiles() {
		head += fmt.Sprintf("%10s", q)
	}
	head += fmt.Sprintf("%10s%10s", "max", "mean")
	if !p.style.narrow() {
		head += fmt.Sprintf("%10s", "±sd")
	}
	p.line("%s", p.style.paint(bold, head))
	few := p.latencyRow("response", l.Latency.Response)
	p.latencyRow("service", l.Latency.Service)
	p.latencyRow("lag", l.Latency.Lag)
	if !l.Latency.Failed.Empty() {
		p.latencyRow("failed", l.Latency.Failed)
	}
	start := "counts from the moment its connection was free"
	note := "; closed model: not what independent users would see"
	if l.Model == "open" {
		start, note = "counts from the planned start", ""
	}
	p.small("response %s, service from the send, lag is send minus intended%s", start, note)
	if few {
		p.small("~ fewer than 10 samples beyond this percentile")
	}
}

func (p *printer) small(format string, args ...any) {
	for _, text := range wrap(fmt.Sprintf(format, args...), p.style.text()+10) {
		p.line("  %s", p.style.paint(dim, text))
	}
}

func (p *printer) latencyRow(name string, h result.Histogram) (few bool) {
	row := fmt.Sprintf("  %-9s", name)
	quantiles := p.quantiles()
	if h.Empty() {
		p.line("%s%10s", row, "none")
		return false
	}
	for i, v := range h.Values(quantiles) {
		text := unit.FormatDuration(time.Duration(v))
		switch beyond := quantiles[i].Beyond(h.Count()); {
		case beyond < 1:
			text = "-"
		case beyond < 10:
			text, few = "~"+text, true
		}
		row += fmt.Sprintf("%10s", text)
	}
	last := []float64{float64(h.Max()), h.Mean(), h.StdDev()}
	if p.style.narrow() {
		last = last[:2]
	}
	for _, v := range last {
		row += fmt.Sprintf("%10s", unit.FormatDuration(time.Duration(v)))
	}
	p.line("%s", row)
	return few
}

// books prints the ledger: every planned request has one outcome.
func (p *printer) books(r *result.Run) {
	q := r.Load.Requests
	text := fmt.Sprintf("%s asked = %s completed", unit.FormatCount(q.Asked), unit.FormatCount(q.Completed))
	for _, part := range []struct {
		n    int64
		name string
	}{{q.Failed, "failed"}, {q.CutOff, "cut off at the end"}, {q.Unsent, "never sent"}} {
		if part.n > 0 {
			text += fmt.Sprintf(" + %s %s", unit.FormatCount(part.n), part.name)
		}
	}
	if q.Warmup > 0 {
		text += fmt.Sprintf("; %s more in the warm-up", unit.FormatCount(q.Warmup))
	}
	p.field("requests", "%s", text)
	p.field("statuses", "%s", statuses(r.Load.Statuses))
	p.field("bytes in", "%s, %s/s", unit.FormatSize(float64(r.Load.BytesIn)), unit.FormatSize(perSecond(float64(r.Load.BytesInWindow()), r.Load.DurationUS)))
}

func perSecond(v, us float64) float64 {
	if us <= 0 {
		return 0
	}
	return v / (us / 1e6)
}

func statuses(m map[string]int64) string {
	var parts []string
	for _, code := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s × %s", code, unit.FormatCount(m[code])))
	}
	if len(parts) == 0 {
		return "no answer"
	}
	return strings.Join(parts, ", ")
}

// failures prints each kind with its phase, its errno and one example.
func (p *printer) failures(l *result.Load) {
	for i, f := range l.FailureDetails {
		label := ""
		if i == 0 {
			label = "failures"
		}
		what := f.Kind
		if f.Errno != "" {
			what += " (" + f.Errno + ")"
		}
		p.field(label, "%s × %s in phase %s, e.g. %s", what, unit.FormatCount(f.Count), f.Phase, f.Example)
	}
}

func (p *printer) connections(l *result.Load) {
	c := &l.Connections
	text := fmt.Sprintf("%s asked, %s opened, %s at most at once", unit.FormatCount(int64(c.Asked)), unit.FormatCount(int64(c.Opened)), unit.FormatCount(int64(c.Peak)))
	for _, part := range []struct {
		n    int64
		what string
	}{{c.Failed, "attempts failed"}, {c.Reopened, "opened again"}, {c.ClosedByPeer, "ended by the peer"}, {c.Resent, "requests sent again after an idle close"}} {
		if part.n > 0 {
			text += fmt.Sprintf(", %s %s", unit.FormatCount(part.n), part.what)
		}
	}
	p.field("connections", "%s", text)
	if !c.ConnectTime.Empty() {
		p.field("connect", "p50 %s, p99 %s", quantile(c.ConnectTime, hdr.P50), quantile(c.ConnectTime, hdr.P99))
	}
	if t := l.TLS; t != nil {
		p.field("TLS", "%s, %s; handshakes %s full, %s resumed, p50 %s; certificate %s", t.Version, t.Cipher,
			unit.FormatCount(t.Full), unit.FormatCount(t.Resumed), quantile(c.TLSTime, hdr.P50), verified(t.Verified))
	}
}

func verified(ok bool) string {
	if ok {
		return "verified"
	}
	return "not verified"
}

func quantile(h result.Histogram, q hdr.Quantile) string {
	if h.Empty() {
		return "-"
	}
	return unit.FormatDuration(time.Duration(h.Value(q)))
}

// generator prints what the measuring itself cost and how full it was.
func (p *printer) generator(r *result.Run) {
	g := &r.Generator
	if g.CPUUS == 0 {
		return
	}
	p.field("generator", "%s of %.3g cores busy (peak %s), %.3g µs CPU per request, peak memory %s",
		unit.FormatPercent(g.MeanBusy), g.CPUs, unit.FormatPercent(g.PeakBusy), g.CPUUSPerRequest, unit.FormatSize(float64(g.MaxRSSBytes)))
	p.field("engine", "%s (%s)", r.Load.Engine, r.Load.EngineReason)
}

func (p *printer) expectations(all []result.Expectation) {
	for i, e := range all {
		label := ""
		if i == 0 {
			label = "expected"
		}
		mark := p.style.paint(green, "met")
		if !e.Met {
			mark = p.style.paint(red, "NOT met")
		}
		text := e.Text
		if e.Reason != "" {
			text += ": " + e.Reason
		}
		p.line("  %s %s  %s", p.style.paint(dim, fmt.Sprintf("%-11s", label)), mark, text)
	}
}

func (p *printer) suggestions(all []string) {
	if len(all) == 0 {
		return
	}
	p.line("")
	p.line("  %s", p.style.paint(bold, "What would make this number more trustworthy"))
	for _, s := range all {
		for i, text := range wrap(s, p.style.text()+8) {
			mark := "-"
			if i > 0 {
				mark = " "
			}
			p.line("    %s %s", mark, text)
		}
	}
}

// Verdict writes the short form that follows another tool's report: the
// verdict with its reasons, the limit, and the generator's own cost.
func Verdict(w io.Writer, r *result.Run, style Style) error {
	p := &printer{w: w, style: style}
	p.line("")
	p.verdict(r)
	if b := r.Bottleneck; b != nil {
		p.field("limited by", "%s", b.Message)
	}
	p.generator(r)
	return p.err
}
