// Package report renders results for people and for programs: text for a
// terminal, JSON by the contract of package result, HdrHistogram logs.
//
// It decides what is said first: the verdict, then the number with the limiter
// beside it, then latency, then the books. No renderer may drop the verdict or
// a finding. It computes nothing that was not measured, and acts on nothing.
package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"prony/internal/hdr"
	"prony/internal/result"
)

// Style is how text is laid out; the zero value is plain.
type Style struct {
	// Colour allows ANSI colours.
	Colour bool
	// Width is the number of columns; 0 means as many as it takes.
	Width int
}

const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
)

func (s Style) paint(code, text string) string {
	if !s.Colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// full is the number of columns that a report takes if it may.
const full = 106

// narrow reports whether the latency table has to leave columns out.
func (s Style) narrow() bool { return s.Width > 0 && s.Width < full }

// text is how long lines of running text get.
func (s Style) text() int {
	if s.narrow() {
		return max(s.Width-14, 30)
	}
	return textWidth
}

// printer writes lines and keeps the first error.
type printer struct {
	w     io.Writer
	style Style
	err   error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

// field writes a labelled line, its text wrapped under itself.
func (p *printer) field(label, format string, args ...any) {
	lines := wrap(fmt.Sprintf(format, args...), p.style.text())
	for i, text := range lines {
		if i > 0 {
			label = ""
		}
		p.line("  %s %s", p.style.paint(dim, fmt.Sprintf("%-11s", label)), text)
	}
}

const textWidth = 84

// wrap breaks text at spaces into lines of at most width letters.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		switch {
		case line == "":
			line = word
		case len([]rune(line))+1+len([]rune(word)) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// JSON writes the result by its contract, indented.
func JSON(w io.Writer, r *result.Run) error { return encode(w, r) }

func encode(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// HLog writes the response times of a run, interval by interval, as an
// HdrHistogram log that every HDR tool opens. Values are nanoseconds.
func HLog(w io.Writer, r *result.Run) error {
	log := hdr.NewLogWriter(w, time.UnixMicro(r.Load.StartedUS))
	for _, iv := range r.Load.Intervals {
		h, err := iv.Response.Unpack()
		if err == nil && h != nil && !iv.Warmup {
			err = log.Interval("", time.Duration(iv.StartUS*1000), time.Duration(iv.LengthUS*1000), h)
		}
		if err != nil {
			return fmt.Errorf("write histogram log: %w", err)
		}
	}
	return nil
}
