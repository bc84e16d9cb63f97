package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"prony/internal/hdr"
	"prony/internal/result"
	"prony/internal/stats"
	"prony/internal/unit"
)

// Experiment writes the table of an experiment: a row a variant, medians over
// the trials with their interval, each beside the worst verdict of its trials.
func Experiment(w io.Writer, e *result.Experiment, style Style) error {
	p := &printer{w: w, style: style}
	p.line("")
	if e.Plan.Question != "" {
		p.line("  %s", style.paint(bold, e.Plan.Question))
		p.line("")
	}
	p.fit(e.Plan.Fit().Lines())
	width := len("variant")
	for _, v := range e.Plan.Variants {
		width = max(width, len([]rune(v.Name)))
	}
	p.line("%s", style.paint(bold, fmt.Sprintf("  %-*s %6s %12s %21s %9s %9s %9s %8s  %s", width, "variant", "trials", "requests/s", "interval or range", "× "+short(reference(e), 5), "p50", "p99", "errors", "verdict")))
	base := summarise(e.Of(e.Plan.Baseline))
	for _, v := range e.Plan.Variants {
		p.row(v.Name, width, summarise(e.Of(v.Name)), base)
	}
	p.limits(e)
	p.loads(e, width)
	p.costs(e, width)
	p.searches(e)
	p.curves(e)
	p.notes(e)
	return p.err
}

// fit says what "scale: auto" reduced, before any figure.
func (p *printer) fit(lines []string) {
	for _, text := range lines {
		p.field("scale auto", "%s", text)
	}
	if len(lines) > 0 {
		p.line("")
	}
}

// reference names what the rates are multiples of.
func reference(e *result.Experiment) string {
	if len(e.Plan.Variants) > 0 && e.Plan.Variants[0].Name != e.Plan.Baseline {
		return "base"
	}
	return "first"
}

// row writes a variant. Without a valid trial its figures are those of the
// invalid ones, and count for nothing.
func (p *printer) row(name string, width int, r, base row) {
	switch {
	case r.n == 0 && r.left == 0:
		p.line("  %-*s %6d %12s", width, name, 0, "no result")
		return
	case r.n == 0:
		r.n, base.rate = r.left, 0
	case base.n == 0:
		base.rate = 0
	}
	trials := fmt.Sprint(r.n)
	if r.left > 0 && r.verdict != result.Invalid {
		trials = fmt.Sprintf("%d of %d", r.n, r.n+r.left)
	}
	line := fmt.Sprintf("  %-*s %6s %12s %21s %9s %9s %9s %8s", width, name, trials, figure(r.rate), r.between(), r.times(base.rate),
		r.p50, r.p99, unit.FormatPercent(r.errors))
	if r.verdict == result.Invalid {
		line = p.style.paint(dim, line)
	}
	p.line("%s  %s", line, p.style.paint(verdictColour[r.verdict], string(r.verdict)))
}

// row is a variant over its trials; those that are invalid count for nothing
// unless there are no others (method 0.1).
type row struct {
	n, left  int // that count, that are left out
	rate     float64
	interval stats.Interval
	p50, p99 string
	errors   float64
	verdict  result.Verdict
}

// limits says for each variant what kept it from twice the rate: what most of
// its trials ran into.
func (p *printer) limits(e *result.Experiment) {
	head := false
	for _, v := range e.Plan.Variants {
		trials := e.Of(v.Name)
		b, n := usual(trials)
		if b == nil {
			continue
		}
		if !head {
			head = true
			p.line("")
			p.line("%s", p.style.paint(bold, "  what limits it (why not double?)"))
		}
		often := ""
		if len(trials) > 1 {
			often = fmt.Sprintf(" (%d of %d trials)", n, len(trials))
		}
		p.field(v.Name, "%s%s", b.Message, often)
	}
}

// usual is the bottleneck that most trials have, and how many.
func usual(trials []result.Trial) (most *result.Bottleneck, n int) {
	count := map[string]int{}
	for _, t := range trials {
		if t.Bottleneck == nil {
			continue
		}
		key := t.Bottleneck.What + " " + t.Bottleneck.Where
		if count[key]++; count[key] > n {
			most, n = t.Bottleneck, count[key]
		}
	}
	return most, n
}

// times is the rate as a multiple of another.
func (r row) times(first float64) string {
	if first == 0 {
		return "–"
	}
	return fmt.Sprintf("%.3f", r.rate/first)
}

// between is the interval of the median rate; a range stands in parentheses.
func (r row) between() string {
	text := figure(r.interval.Low) + "–" + figure(r.interval.High)
	if r.interval.Coverage == 0 {
		return "(" + text + ")"
	}
	return text
}

func summarise(all []result.Trial) row {
	trials := usable(all)
	r := row{n: len(trials), left: len(all) - len(trials), verdict: result.Valid}
	if r.n == 0 {
		trials = all
	}
	if r.left > 0 {
		r.verdict = result.Suspect
	}
	var rates, p50, p99 []float64
	var failed, asked int64
	for _, t := range trials {
		rates = append(rates, rateOf(t))
		failed += t.Load.Requests.Failed
		asked += t.Load.Requests.Asked
		if x, ok := t.Load.Printed["p50"]; ok {
			p50 = append(p50, 1000*x)
		}
		if x, ok := t.Load.Printed["p99"]; ok {
			p99 = append(p99, 1000*x)
		}
		if h := t.Load.Latency.Response; !h.Empty() {
			p50 = append(p50, float64(h.Value(hdr.P50)))
			p99 = append(p99, float64(h.Value(hdr.P99)))
		}
		r.verdict = result.Worse(r.verdict, t.Validity.Verdict)
	}
	r.rate, r.interval = stats.Median(rates), stats.MedianInterval(rates)
	r.p50, r.p99 = middle(p50), middle(p99)
	if asked > 0 {
		r.errors = float64(failed) / float64(asked)
	}
	return r
}

// usable are the trials whose numbers may be used.
func usable(all []result.Trial) (good []result.Trial) {
	for _, t := range all {
		if t.Validity.Verdict != result.Invalid {
			good = append(good, t)
		}
	}
	return good
}

// rateOf is the throughput of a trial, or the capacity where that was searched.
func rateOf(t result.Trial) float64 {
	if t.Capacity != nil {
		return t.Capacity.Rate
	}
	return t.Load.Rate
}

// searches says how each search for the capacity ended.
func (p *printer) searches(e *result.Experiment) {
	for _, t := range e.Trials {
		c := t.Capacity
		if c == nil {
			continue
		}
		text := fmt.Sprintf("%s: %s; %d trials", t.Variant, c.End, len(c.Trials))
		if c.Rate > 0 {
			text += fmt.Sprintf(", %s/s confirmed", figure(c.Rate))
		}
		if c.Refused > 0 {
			text += fmt.Sprintf(", %s/s refused: %s", figure(c.Refused), refusal(c))
		}
		p.field("capacity", "%s", text)
	}
}

// refusal is why the lowest rate that was refused did not pass.
func refusal(c *result.Capacity) string {
	for _, t := range c.Trials {
		if t.Rate == c.Refused && !t.Passed && t.Reason != "" {
			return t.Reason
		}
	}
	return "no reason kept"
}

// loads prints the loads that ran side by side, each by its median rate over
// their common window.
func (p *printer) loads(e *result.Experiment, width int) {
	head := false
	for _, v := range e.Plan.Variants {
		trials := e.Of(v.Name)
		if len(trials) == 0 || len(trials[0].Also) == 0 {
			continue
		}
		if !head {
			head = true
			p.line("")
			p.line("%s", p.style.paint(bold, fmt.Sprintf("  %-*s %-20s %12s", width, "variant", "side by side", "requests/s")))
		}
		for i := range 1 + len(trials[0].Also) {
			name, rates := loadOf(trials, i)
			p.line("  %-*s %-20s %12s", width, v.Name, name, figure(stats.Median(rates)))
		}
	}
}

// loadOf is the i-th load of trials: its name and its rates.
func loadOf(trials []result.Trial, i int) (name string, rates []float64) {
	for _, t := range trials {
		l := &t.Load
		if i > 0 && i <= len(t.Also) {
			l = &t.Also[i-1]
		}
		name = l.Name
		rates = append(rates, l.Rate)
	}
	return name, rates
}

// costs prints CPU per request of each service, where it could be read.
func (p *printer) costs(e *result.Experiment, width int) {
	p.line("")
	p.line("%s", p.style.paint(bold, fmt.Sprintf("  %-*s %-20s %16s %12s %10s  %s", width, "variant", "service", "CPU/request", "memory", "throttled", "limits of each, as the system has them")))
	for _, v := range e.Plan.Variants {
		trials := e.Of(v.Name)
		for _, name := range serviceNames(trials) {
			c := costOf(trials, name)
			p.line("%s", strings.TrimRight(fmt.Sprintf("  %-*s %-20s %16s %12s %10s  %s", width, v.Name, name, c.cpu, c.memory, c.throttled, c.limits), " "))
		}
	}
}

func serviceNames(trials []result.Trial) []string {
	var names []string
	seen := map[string]bool{"": true}
	for _, t := range trials {
		for _, s := range t.Services {
			if !seen[s.Name] {
				seen[s.Name] = true
				names = append(names, s.Name)
			}
		}
	}
	return append(names, "generator")
}

type cost struct{ cpu, memory, throttled, limits string }

// costOf is the median over the trials of what a service's instances used
// together; "?" where nothing could be read.
func costOf(trials []result.Trial, name string) cost {
	var cpu, memory, held []float64
	for _, t := range trials {
		if name == "generator" {
			cpu = append(cpu, t.Generator.CPUUSPerRequest)
			memory = append(memory, float64(t.Generator.MaxRSSBytes))
			held = append(held, t.Generator.Throttled)
			continue
		}
		var c, m, h float64
		for _, s := range t.Services {
			if s.Name == name {
				c, m, h = c+s.CPUUSPerRequest, m+float64(s.MaxRSSBytes), max(h, s.ThrottledRatio)
			}
		}
		cpu, memory, held = append(cpu, c), append(memory, m), append(held, h)
	}
	c := cost{"?", "?", unit.FormatPercent(stats.Median(held)), limitsOf(trials, name)}
	if v := stats.Median(cpu); v > 0 {
		c.cpu = fmt.Sprintf("%.3g µs", v)
	}
	if v := stats.Median(memory); v > 0 {
		c.memory = unit.FormatSize(v)
	}
	return c
}

// middle is the median of some times in nanoseconds; a dash of none, for another
// program that did not print it.
func middle(ns []float64) string {
	if len(ns) == 0 {
		return "–"
	}
	return unit.FormatDuration(time.Duration(stats.Median(ns)))
}

// limitsOf are the limits of a service, as they were read back.
func limitsOf(trials []result.Trial, name string) string {
	for _, t := range trials {
		for _, s := range t.Services {
			if s.Name == name {
				return s.Limits.String()
			}
		}
	}
	return ""
}

// notes list failed trials and the reasons of verdicts, each once.
func (p *printer) notes(e *result.Experiment) {
	p.line("")
	for _, f := range e.Findings {
		if f.Severity != result.Info {
			p.field(string(f.Severity), "%s", f.Message)
		}
	}
	seen := map[string]bool{}
	for _, t := range e.Trials {
		if t.Error != "" {
			p.line("  %s trial %d (%s): %s", p.style.paint(red, "✗"), t.Number, t.Variant, t.Error)
		}
		for _, text := range t.Warnings {
			if !seen[text] {
				seen[text] = true
				p.line("  ! %s: %s", t.Variant, text)
			}
		}
		for _, f := range t.Validity.Findings {
			if (f.Severity == result.InvalidLevel || f.Severity == result.SuspectLevel) && !seen[t.Variant+f.Rule] {
				seen[t.Variant+f.Rule] = true
				p.field(string(f.Severity), "%s, trial %d: %s", t.Variant, t.Number, f.Message)
			}
		}
	}
}
