package audit

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"prony/internal/result"
)

// width is how wide the text for people is.
const width = 80

// printer writes lines and keeps the first error.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// wrapped writes a text in lines of at most the width; the first line has its own
// head, the others are indented as far.
func (p *printer) wrapped(head, text string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(head))
	line, used := head, utf8.RuneCountInString(head)
	start := true
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		if !start && used+1+n > width {
			p.line("%s", line)
			line, used, start = indent, len(indent), true
		}
		if !start {
			line += " "
			used++
		}
		line += word
		used += n
		start = false
	}
	p.line("%s", strings.TrimRight(line, " "))
}

// Text writes a report for people: results with their verdicts and reasons,
// pairs, claims, what could not be checked, and the limits that were applied.
func Text(w io.Writer, r Report) error {
	p := &printer{w: w}
	for _, j := range r.Results {
		p.result(j)
	}
	p.pairs(r.Pairs)
	p.claims(r.Claims)
	p.shards(r.Shards)
	p.remarks(r)
	p.unchecked(r)
	p.limits(r)
	p.summary(r)
	return p.err
}

// result writes one result.
func (p *printer) result(j Judged) {
	head := fmt.Sprintf("%-8s %s", strings.ToUpper(string(j.Validity.Verdict)), j.ID)
	p.wrapped(head+"  ", strings.Join(nonempty(j.Tool, where(j.Block), j.Label), ", "))
	if j.Command != "" {
		p.wrapped("         $ ", j.Command)
	}
	p.wrapped("         ", strings.Join(said(&j.Block), ", "))
	p.findings(j.Validity.Findings)
	p.line("")
}

func nonempty(all ...string) []string {
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

// where is the place of an output in its text.
func where(b Block) string {
	switch {
	case b.FirstLine == 0:
		return "given as facts"
	case b.FirstLine == b.LastLine:
		return fmt.Sprintf("%s:%d", b.File, b.FirstLine)
	}
	return fmt.Sprintf("%s:%d-%d", b.File, b.FirstLine, b.LastLine)
}

// said lists the figures of a result in a line or two.
func said(b *Block) []string {
	var all []string
	add := func(v Value, format string, show func(float64) string) {
		if v.Known {
			all = append(all, fmt.Sprintf(format, show(v.V)))
		}
	}
	whole := func(v float64) string { return trimmed(v, 0) }
	add(b.Rate, "%s", rate)
	add(b.Requests, "%s requests", whole)
	add(b.ran(), "%s s", func(v float64) string { return trimmed(v/1e6, 2) })
	add(b.Connections, "%s", func(v float64) string { return counted(v, "connection") })
	add(b.Threads, "%s", func(v float64) string { return counted(v, "thread") })
	add(b.Latency.Mean, "mean %s", us)
	add(b.Latency.at(0.99), "p99 %s", us)
	add(b.Latency.Max, "max %s", us)
	if n := b.failed(); b.Errors != nil && n > 0 {
		all = append(all, fmt.Sprintf("%s failed", fixed(float64(n), 0)))
	}
	return all
}

// gravest sorts findings, the gravest first; equals keep their order.
func gravest(all []result.Finding) []result.Finding {
	weight := map[result.Severity]int{result.InvalidLevel: 0, result.SuspectLevel: 1, result.Note: 2, result.Info: 3}
	sorted := slices.Clone(all)
	slices.SortStableFunc(sorted, func(a, b result.Finding) int { return weight[a.Severity] - weight[b.Severity] })
	return sorted
}

func (p *printer) findings(all []result.Finding) {
	for _, f := range gravest(all) {
		p.wrapped(fmt.Sprintf("  %-8s%-4s ", f.Severity, f.ID), f.Message+".")
		if f.Advice != "" && (f.Severity == result.InvalidLevel || f.Severity == result.SuspectLevel) {
			p.wrapped("               -> ", f.Advice)
		}
	}
}

// pairs writes the comparisons against which something speaks, and counts the
// others.
func (p *printer) pairs(all []Pair) {
	quiet := 0
	for _, x := range all {
		if len(x.Validity.Findings) == 0 {
			quiet++
			continue
		}
		text := x.A + " against " + x.B
		if x.RateRatio.Known {
			text += ": rate ratio " + trimmed(x.RateRatio.V, 2)
		}
		p.wrapped(fmt.Sprintf("%-8s ", strings.ToUpper(string(x.Validity.Verdict))), text)
		p.findings(x.Validity.Findings)
		p.line("")
	}
	if quiet > 0 {
		p.wrapped("", fmt.Sprintf("Of %s nothing speaks against %d.", counted(float64(len(all)), "comparison"), quiet))
		p.line("")
	}
}

func (p *printer) claims(all []JudgedClaim) {
	for _, c := range all {
		word := strings.ToUpper(string(c.Validity.Verdict))
		if c.Holds {
			word = "HOLDS"
		}
		p.wrapped(fmt.Sprintf("%-8s ", word), fmt.Sprintf("claim: %q", c.Text))
		p.findings(c.Validity.Findings)
		p.missing(c.Validity.NotRun)
		p.line("")
	}
}

func (p *printer) shards(s *ShardSum) {
	if s == nil {
		return
	}
	text := fmt.Sprintf("%s: %s of %s done", counted(float64(s.Shards), "shard"), fixed(float64(s.Done), 0), fixed(float64(s.Planned), 0))
	if s.Rate.Known {
		text += fmt.Sprintf(", %s from first start to last end", rate(s.Rate.V))
	} else {
		text += ", no total rate can be given"
	}
	p.wrapped(fmt.Sprintf("%-8s ", strings.ToUpper(string(s.Validity.Verdict))), text)
	p.findings(s.Validity.Findings)
	p.line("")
}

// remarks writes what holds for all or many.
func (p *printer) remarks(r Report) {
	if len(r.Remarks) == 0 {
		return
	}
	p.line("For all of these:")
	for _, f := range r.Remarks {
		text := f.Message
		if n := int(f.Evidence["results"]); n < len(r.Results) {
			text += fmt.Sprintf(" (%d of %d results)", n, len(r.Results))
		}
		p.wrapped(fmt.Sprintf("  %-4s ", f.ID), text+".")
	}
	p.line("")
}

// unchecked lists the rules that lacked a fact, and for which results.
func (p *printer) unchecked(r Report) {
	var order []string
	who := map[string][]string{}
	take := func(id string, missing []string) {
		for _, m := range missing {
			if who[m] == nil {
				order = append(order, m)
			}
			who[m] = append(who[m], id)
		}
	}
	for _, j := range r.Results {
		take(j.ID, j.Validity.NotRun)
	}
	for _, x := range r.Pairs {
		take(x.A+"/"+x.B, x.Validity.NotRun)
	}
	if len(r.Claims) == 0 && len(r.Results) > 1 {
		take("all", []string{"E14 conclusion-contradicts-table: what was concluded (--claim 'A faster than B')"})
	}
	if len(order) == 0 {
		return
	}
	slices.SortStableFunc(order, func(a, b string) int { return ruleNumber(a) - ruleNumber(b) })
	p.line("Not checked, for want of a fact:")
	for _, m := range order {
		text := m
		if len(r.Results) > 1 && who[m][0] != "all" {
			text += fmt.Sprintf(" [%s]", abridged(who[m], len(r.Results)))
		}
		p.wrapped("  ", text)
	}
	p.line("")
}

// ruleNumber is the number in front of a text: "E14 …".
func ruleNumber(text string) int {
	v, _ := leading(strings.TrimPrefix(text, "E"))
	return int(v.V)
}

// abridged lists ids, or counts them when they are many.
func abridged(all []string, of int) string {
	switch {
	case len(all) == of:
		return "all"
	case len(all) > 6:
		return fmt.Sprintf("%d of them", len(all))
	}
	return strings.Join(all, " ")
}

func (p *printer) missing(all []string) {
	for _, m := range all {
		p.wrapped("  not checked: ", m)
	}
}

func (p *printer) limits(r Report) {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r.Limits)) {
		all = append(all, name+"="+trimmed(r.Limits[name], 6))
	}
	p.wrapped("Limits: ", strings.Join(all, " "))
	p.line("")
}

// summary is the last line: how many of each verdict.
func (p *printer) summary(r Report) {
	n := map[result.Verdict]int{}
	for _, j := range r.Results {
		n[j.Validity.Verdict]++
	}
	p.line("%s: %d invalid, %d suspect, %d with nothing against them", counted(float64(len(r.Results)), "result"),
		n[result.Invalid], n[result.Suspect], n[result.Valid])
}
