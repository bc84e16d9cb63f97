package screen

import (
	"cmp"
	"runtime"
	"strings"

	"charm.land/lipgloss/v2"

	"prony/internal/result"
)

// theme is how things look: the colours, and the letters that pictures are made
// of.
type theme struct {
	glyphs
	plain, dim, bold, title     lipgloss.Style
	good, fair, bad             lipgloss.Style
	user, system, softirq, lost lipgloss.Style
	rate, middle, tail, warm    lipgloss.Style
}

// glyphs are the letters of pictures.
type glyphs struct {
	ascii                  bool
	ellipsis, micro        string
	levels                 []string // of a column, from empty to full
	full, part, some, thin string   // kinds of a stacked bar
	empty                  string   // rest of a bar
	side, corner           string
	floor, warmFloor, tick string
	invalid, suspect, note string
	dot                    string
}

// newTheme looks at the configuration and at the terminal.
func newTheme(c Config) *theme {
	env := func(name string) string {
		for _, line := range c.Env {
			if value, ok := strings.CutPrefix(line, name+"="); ok {
				return value
			}
		}
		return ""
	}
	t := &theme{glyphs: fine()}
	if !unicodeTerminal(env) {
		t.glyphs = coarse()
	}
	if !c.NoColour && env("NO_COLOR") == "" {
		t.colours()
	}
	return t
}

// unicodeTerminal reports whether the locale is one of UTF-8 (POSIX: LC_ALL,
// else LC_CTYPE, else LANG). The console of Linux has no such letters in its
// font.
func unicodeTerminal(env func(string) string) bool {
	switch env("TERM") {
	case "linux", "dumb", "vt100", "vt220":
		return false
	}
	locale := strings.ToLower(cmp.Or(env("LC_ALL"), env("LC_CTYPE"), env("LANG")))
	if locale == "" {
		return runtime.GOOS == "windows"
	}
	return strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

func fine() glyphs {
	return glyphs{ellipsis: "…", micro: "µ", levels: []string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
		full: "█", part: "▓", some: "▒", thin: "░", empty: "·", side: "│", corner: "└", floor: "─", warmFloor: "╌", tick: "┴",
		invalid: "✗", suspect: "!", note: "·", dot: "●"}
}

func coarse() glyphs {
	return glyphs{ascii: true, ellipsis: "~", micro: "u", levels: []string{" ", "_", "_", "-", "-", "=", "=", "#", "#"},
		full: "#", part: "=", some: "+", thin: "x", empty: ".", side: "|", corner: "+", floor: "-", warmFloor: "~", tick: "+",
		invalid: "x", suspect: "!", note: "-", dot: "*"}
}

// colours are the sixteen that each terminal has, as its owner chose them.
func (t *theme) colours() {
	colour := func(name string) lipgloss.Style { return lipgloss.NewStyle().Foreground(lipgloss.Color(name)) }
	faint := lipgloss.NewStyle().Faint(true) // not bright black, which is the background's colour in some palettes
	t.dim, t.bold, t.title = faint, lipgloss.NewStyle().Bold(true), colour("6").Bold(true)
	t.good, t.fair, t.bad = colour("2"), colour("3"), colour("1")
	t.user, t.system, t.softirq, t.lost = colour("2"), colour("4"), colour("5"), colour("3") // red is for what is wrong
	t.rate, t.middle, t.tail, t.warm = colour("4"), colour("2"), colour("3"), faint
}

// graded is the colour of a share of what there is.
func (t *theme) graded(ratio float64) lipgloss.Style {
	switch {
	case ratio >= 0.9:
		return t.bad
	case ratio >= 0.7:
		return t.fair
	}
	return t.good
}

// verdict is the word for a verdict and its colour.
func (t *theme) verdict(v result.Verdict, failed bool) (string, lipgloss.Style) {
	switch {
	case failed:
		return "failed", t.bad
	case v == result.Invalid:
		return "invalid", t.bad
	case v == result.Suspect:
		return "suspect", t.fair
	case v == result.Valid:
		return "valid", t.good
	}
	return none, t.dim
}

// severity is the mark of a finding and its colour.
func (t *theme) severity(s result.Severity) (string, lipgloss.Style) {
	switch s {
	case result.InvalidLevel:
		return t.invalid, t.bad
	case result.SuspectLevel:
		return t.suspect, t.fair
	}
	return t.note, t.dim
}
