package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
)

// textMost bounds the letters of a name or message that are looked at: no
// terminal is wider, and a message may be of any length.
const textMost = 600

// marksMost bounds the combining marks on a letter.
const marksMost = 2

// clean makes a text harmless: one line, no control characters, no escape
// sequences, nothing that changes the direction of what follows, and nothing
// about whose width terminals disagree. A question mark takes the place of what
// is not shown.
func (t *theme) clean(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	marks, letters := 0, 0
	for len(s) > 0 && letters < textMost {
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		letters++
		if unicode.In(r, unicode.Mn, unicode.Me) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == '\n' || r == '\t':
			b.WriteByte(' ')
		case dropped(r) || marks > marksMost || marks > 0 && b.Len() == 0:
		case r == utf8.RuneError || !unicode.IsPrint(r) && r != ' ' || disputed(r) || t.ascii && r > unicode.MaxASCII:
			b.WriteByte('?')
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plain reports whether a text is short printable ASCII, as most are.
func plain(s string) bool {
	if len(s) > textMost {
		return false
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// dropped are characters without a width: joiners, directions, variation
// selectors.
func dropped(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r)
}

// disputed are those that form one sign with their neighbours in some terminals
// only: parts of flags, skin tones, spacing marks, conjoining letters.
func disputed(r rune) bool {
	return r >= 0x1f1e6 && r <= 0x1f1ff || r >= 0x1f3fb && r <= 0x1f3ff || unicode.Is(unicode.Mc, r) ||
		r >= 0x1100 && r <= 0x11ff || r >= 0xa960 && r <= 0xa97f || r >= 0xd7b0 && r <= 0xd7ff
}

// width is how many columns a text takes.
func width(s string) int {
	if plain(s) {
		return len(s)
	}
	return lipgloss.Width(s)
}

// cut shortens a clean text to a width and says so with an ellipsis.
func (t *theme) cut(s string, most int) string {
	s = begin(s, (1+marksMost)*(max(most, 0)+1)) // more letters cannot have room
	if width(s) <= most {
		return s
	}
	room := most - width(t.ellipsis)
	if room <= 0 {
		return strings.Repeat(".", max(most, 0))
	}
	return lipgloss.NewStyle().MaxWidth(room).Render(s) + t.ellipsis
}

// begin is the first n letters of a text.
func begin(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// left fills a text up, or cuts it, to a width.
func (t *theme) left(s string, w int) string {
	s = t.cut(s, w)
	return s + spaces(w-width(s))
}

// right is left, aligned to the other side.
func (t *theme) right(s string, w int) string {
	s = t.cut(s, w)
	return spaces(w-width(s)) + s
}

// spaces is that many of them; none for a negative number.
func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }

// wrapped breaks a clean text into lines.
func (t *theme) wrapped(s string, w int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= w:
			line += " " + word
		default:
			lines = append(lines, t.cut(line, w))
			line = word
		}
	}
	return append(lines, t.cut(line, w))
}
