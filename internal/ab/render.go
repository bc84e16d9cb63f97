package ab

import (
	"fmt"
	"io"
	"strings"

	"prony/internal/result"
)

// Render prints a whole run: banner, what ab prints while it runs, report,
// and notes unless Plain; and it writes the files of -e and -g. An error is
// one of writing.
//
// A command that wants the banner before the load starts calls Begin then,
// and Report afterwards; together they print the same bytes.
func Render(w io.Writer, r *result.Run, o Options) error {
	if err := Begin(w, r.Version, o); err != nil {
		return err
	}
	return Report(w, r, o)
}

// Begin prints what comes before the load: the banner, "Benchmarking HOST (be
// patient)" and, from -v 2 on, the request. version is Prony's.
func Begin(w io.Writer, version string, o Options) error {
	var b strings.Builder
	if o.HTML {
		b.WriteString(htmlBanner(version))
	} else {
		b.WriteString(Banner(version))
		b.WriteString("Benchmarking " + o.Host + " ")
		if o.ProxyHost != "" {
			fmt.Fprintf(&b, "[through %s:%d] ", o.ProxyHost, o.ProxyPort)
		}
		b.WriteString("(be patient)")
		if o.heartbeat() > 0 {
			b.WriteString("\n")
		} else {
			b.WriteString("...")
		}
	}
	if o.Verbosity >= 2 {
		fmt.Fprintf(&b, "INFO: %s header == \n---\n%s\n---\n", o.Method, o.requestHead())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Report prints what comes after the load, and writes the files.
func Report(w io.Writer, r *result.Run, o Options) error {
	f := measure(r, o)
	var b strings.Builder
	if o.Verbosity >= 2 {
		logSamples(&b, &r.Load, o.Verbosity)
	}
	if o.heartbeat() == 0 {
		b.WriteString("..done\n")
	}
	if o.HTML {
		f.html(&b, o)
	} else {
		f.text(&b, o)
	}
	if !o.Plain {
		printNotes(&b, f.notes(r, o), o.HTML)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("print report: %w", err)
	}
	return f.files(r, o)
}

// bannerLines are three, like ab's: parsers that skip three lines work.
func bannerLines(version string) [3]string {
	return [3]string{
		"This is ApacheBench-compatible prony " + version,
		"Reads the options of ab 2.4 and prints its report; the load is Prony's own",
		"Where ab's figures are wrong the right ones are printed, ab's with --quirks",
	}
}

// Banner is the text of -V and the head of every report: three lines and a
// blank one.
func Banner(version string) string {
	l := bannerLines(version)
	return strings.Join(l[:], "\n") + "\n\n"
}

// htmlBanner is the banner of -w.
func htmlBanner(version string) string {
	var b strings.Builder
	b.WriteString("<p>\n")
	for _, l := range bannerLines(version) {
		b.WriteString(" " + l + "<br>\n")
	}
	b.WriteString("</p>\n<p>\n")
	return b.String()
}

// requestHead is the head of the request as it goes on the wire.
func (o Options) requestHead() string {
	var b strings.Builder
	target := o.wirePath()
	if o.ProxyHost != "" {
		target = o.root() + target
	}
	b.WriteString(o.Method + " " + target + " HTTP/1.0\r\n")
	for _, h := range o.wireHeaders() {
		b.WriteString(h.Name + ": " + h.Value + "\r\n")
	}
	return b.String() + "\r\n"
}

// logSamples prints the heads that were kept, one of each status class; ab
// prints that of every answer.
func logSamples(b *strings.Builder, l *result.Load, verbosity int) {
	for _, s := range l.Samples {
		fmt.Fprintf(b, "LOG: header received:\n%s\n\n", printable(strings.TrimRight(s.Head, "\r\n")))
		switch {
		case s.Status/100 != 2:
			fmt.Fprintf(b, "WARNING: Response code not 2xx (%d)\n", s.Status)
		case verbosity >= 3:
			fmt.Fprintf(b, "LOG: Response code = %d\n", s.Status)
		}
	}
}

// printable takes out what could steer a terminal: the head is a stranger's.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}

// Progress returns a function to be told the number of answers so far, never
// from two goroutines at once. It prints ab's "Completed N requests" for every
// tenth of -n, at least 100 apart; nothing with -q or up to 150 requests.
func Progress(w io.Writer, o Options) func(done int64) {
	step := int64(o.heartbeat())
	next := step
	return func(done int64) {
		for step > 0 && done >= next {
			// A progress line that cannot be written is not worth a run.
			_, _ = fmt.Fprintf(w, "Completed %d requests\n", next)
			next += step
		}
	}
}

// Finished prints the line after the last of Progress.
func Finished(w io.Writer, r *result.Run, o Options) error {
	if o.heartbeat() == 0 {
		return nil
	}
	l := &r.Load
	_, err := fmt.Fprintf(w, "Finished %d requests\n", complete(l, o, countFailures(l.Failures)))
	return err
}
