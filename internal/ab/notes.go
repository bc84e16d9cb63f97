package ab

import (
	"fmt"
	"html"
	"strings"

	"prony/internal/result"
)

// Notes are lines for people, each beginning with "Note: ": where a figure is
// not the one that ab would have printed, and where ab's own words are easily
// misread. Report prints them unless Plain.
func Notes(r *result.Run, o Options) []string { return measure(r, o).notes(r, o) }

// notes gathers them in the order of the report.
func (f figures) notes(r *result.Run, o Options) []string {
	l := &r.Load
	var n notes
	n.line(o)
	n.ending(l, o)
	n.failed(f, o)
	n.connections(l, o)
	n.figures(f, l, o)
	n.details(l, o)
	return n
}

// printNotes prints them after a blank line; in HTML as paragraphs.
func printNotes(b *strings.Builder, lines []string, asHTML bool) {
	if len(lines) == 0 {
		return
	}
	if !asHTML {
		b.WriteString("\n")
	}
	for _, l := range lines {
		if asHTML {
			l = "<p>" + html.EscapeString(l) + "</p>"
		}
		b.WriteString(l + "\n")
	}
}

// notes is a list under construction.
type notes []string

// add adds a note if it applies.
func (n *notes) add(applies bool, format string, args ...any) {
	if applies {
		*n = append(*n, "Note: "+fmt.Sprintf(format, args...))
	}
}

// line is about options that mean something else here.
func (n *notes) line(o Options) {
	n.add(o.Window != 0, "-b is not applied: the kernel sizes the socket buffers")
	n.add(len(o.Cookies) > 1 && !o.Quirks, "all %d cookies were sent; ab sends the last one only", len(o.Cookies))
	n.add(o.wirePath() != o.Path, "the part of the URL from # on was not sent; ab sends it")
	n.add(o.Verbosity >= 2, "one answer of each status class is shown; ab shows every one")
}

// ending is about what ended the run.
func (n *notes) ending(l *result.Load, o Options) {
	clipped := o.TimeLimit > 0 && o.Requests == timeLimitRequests && l.EndedBy == "count"
	n.add(clipped, "ended by %d requests before -t %d was over: -t sets -n to that, give -n after it",
		timeLimitRequests, int(o.TimeLimit.Seconds()))
	if o.Persist || l.EndedBy == "interrupt" {
		return
	}
	kind, code := fatal(l)
	words := lastWords(kind)
	n.add(words != "", "without -r the first failure ends the run; ab would have printed %q and no report", words)
	n.add(code != 0 && words == "", "without -r the first failure ends the run (%s); ab would have gone on", kind)
}

// failed is about the classes of failures.
func (n *notes) failed(f figures, o Options) {
	n.add(f.length > 0, "%s of another length than the first; for pages that vary use -l", quantity(f.length, "answer"))
	n.add(f.reset > 0 && !o.Quirks,
		"%s reset and counted once; ab counts each as a receive error, as an exception and as complete", quantity(f.reset, "request"))
	n.add(f.cut > 0 && !o.Quirks,
		"%s ended early and counted as a receive error; to ab each is complete, of another length", quantity(f.cut, "answer"))
	n.add(f.timeouts > 0,
		"%s failed after -s %d; ab gives up only when nothing at all happens for that long, and then without a report",
		quantity(f.timeouts, "request"), int(o.Timeout.Seconds()))
	n.add(f.writes > 0 && !o.Quirks, "the write errors are among the exceptions; to ab each is a complete answer of another length")
}

// connections is about connections.
func (n *notes) connections(l *result.Load, o Options) {
	c := l.Connections
	ended := l.EndedBy == "count" || l.EndedBy == "duration" // else there may have been no time to open them
	n.add(ended && c.Opened < c.Asked, "%d of %d connections never opened", c.Asked-c.Opened, c.Asked)
	n.add(c.Resent > 0, "%s sent again on a new connection because the server had closed an idle one", quantity(c.Resent, "request"))
	s, ok := firstSample(l)
	if !ok {
		return
	}
	coding, _ := headerOf(s.Head, "Transfer-Encoding")
	chunked := strings.Contains(strings.ToLower(coding), "chunked")
	n.add(chunked, "the answers are chunked: lengths are of the decoded bodies; ab counts the framing too, and with -k cannot find the end")
	says := strings.Contains(strings.ToLower(s.Head), "keep-alive")
	silent := o.KeepAlive && !says && c.ClosedByPeer == 0 && answers(l) > int64(c.Asked)
	n.add(silent && !chunked, "the server keeps connections open without saying \"Keep-Alive\"; ab would have waited until -s")
}

// figures is about the tables.
func (n *notes) figures(f figures, l *result.Load, o Options) {
	n.add(f.complete > 0 && f.times.n == 0, "no connection times: the requests of this run were not kept one by one")
	if f.complete == 0 || f.times.n == 0 {
		return
	}
	n.add(int64(len(l.Records)) >= maxRecords && f.times.n < f.complete,
		"times are those of the first %d requests", f.times.n)
	n.add(f.times.abMedians && !o.Quirks && !o.Short && !o.HTML,
		"a median differs from ab's, which lies half a step too high in the sorted times")
	n.add(o.CSVFile != "" && csvOverruns(f.times.n),
		"a row of the CSV file repeats the longest time; ab reads past the end of its data there")
	n.add(o.HTML && !o.Quirks && f.times.htmlDiffers(),
		"the table of times has rounded averages and the real processing times; ab cuts the averages and subtracts the other two rows")
}

// htmlDiffers reports whether ab's HTML would show another time.
func (t times) htmlDiffers() bool {
	same := func(a, b row) bool { return a.min == b.min && a.mean == b.mean && a.max == b.max }
	connect, processing, total := t.abHTML()
	return !same(connect, t.connect) || !same(processing, t.processing) || !same(total, t.total)
}

// details are the failures one by one, from -v 1 on.
func (n *notes) details(l *result.Load, o Options) {
	if o.Verbosity < 1 {
		return
	}
	for _, d := range l.FailureDetails {
		n.add(true, "%d x %s in phase %s: %s", d.Count, d.Kind, d.Phase, printable(d.Example))
	}
}

// quantity is a number with its noun, in the plural unless it is one.
func quantity(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
