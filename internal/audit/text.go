package audit

import (
	"fmt"
	"html"
	"regexp"
	"strings"
)

// MaxBytes is how long a text may be, unless Limits say otherwise.
const MaxBytes = 64 << 20

// Limits bound the work on a text. The zero value is the default.
type Limits struct {
	Bytes  int // longest text, default MaxBytes
	Blocks int // most results in all texts, default 1000
}

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = MaxBytes
	}
	if l.Blocks == 0 {
		l.Blocks = 1000
	}
	return l
}

// longestLine bounds what is looked at of one line.
const longestLine = 8 << 10

// cursor walks over a text line by line. It keeps no lines, so that a text of
// nothing but line ends costs no memory; a copy of it is a mark to come back to.
type cursor struct {
	text string
	pos  int // of the next line
	line int // number of the line returned last, from 1
}

// next returns the next line as it can be matched; ok is false at the end. CR,
// LF and both are line ends: progress bars use the first.
func (c *cursor) next() (line string, ok bool) {
	if c.pos >= len(c.text) {
		return "", false
	}
	rest := c.text[c.pos:]
	end := strings.IndexAny(rest, "\r\n")
	switch {
	case end < 0:
		end = len(rest)
		c.pos = len(c.text)
	case rest[end] == '\r' && end+1 < len(rest) && rest[end+1] == '\n':
		c.pos += end + 2
	default:
		c.pos += end + 1
	}
	c.line++
	return cleaned(rest[:min(end, longestLine)]), true
}

var (
	colours = regexp.MustCompile("\x1b\\[[0-9;?]*[ -/]*[@-~]")
	tags    = regexp.MustCompile(`(?i)</?(pre|code|p|div|span|br|td|tr|li|b|strong)(\s[^>]*)?/?>`)
)

// cleaned takes out of a line what pasting put in: colour codes, HTML tags and
// entities, no-break spaces, byte order marks.
func cleaned(s string) string {
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = colours.ReplaceAllString(s, "")
	}
	if strings.IndexByte(s, '<') >= 0 {
		s = tags.ReplaceAllString(s, "")
	}
	if strings.IndexByte(s, '&') >= 0 {
		s = html.UnescapeString(s)
	}
	if !ascii(s) {
		s = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2007", " ", "\ufeff", "", "\u200b", "").Replace(s)
	}
	return s
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// bare is a line without indentation and the marks of quotes, lists and tables.
func bare(s string) string {
	return strings.TrimRight(strings.TrimLeft(s, " \t>|│*`"), " \t|│`")
}

// spaces folds runs of white space.
func spaces(s string) string { return strings.Join(strings.Fields(s), " ") }

// tooLong is the error for a text above the limit.
func tooLong(file string, n, limit int) error {
	return fmt.Errorf("%s: a text of %d bytes or more, at most %d are read: cut out the results", file, n, limit)
}
