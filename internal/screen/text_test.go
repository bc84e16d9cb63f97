package screen_test

import (
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"

	"prony/internal/screen"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, in, want, ascii string }{
		{"plain", "api[0]", "api[0]", "api[0]"},
		{"empty", "", "", ""},
		{"umlaut", "größe", "größe", "gr??e"},
		{"wide", "服务", "服务", "??"},
		{"emoji", "🚀x", "🚀x", "?x"},
		{"lines", "a\nb\tc\r", "a b c?", "a b c?"},
		{"escape", "\x1b[31mred\x1b[0m", "?[31mred?[0m", "?[31mred?[0m"},
		{"c1", "\u009b31m", "?31m", "?31m"},
		{"invalid", "a\xffb", "a?b", "a?b"},
		{"direction", "a\u202eb\u2066c", "abc", "abc"},
		{"joined", "👩\u200d💻", "👩💻", "??"},
		{"variation", "❤\ufe0f", "❤", "?"},
		{"flag", "🇩🇪", "??", "??"},
		{"skin", "👍🏽", "👍?", "??"},
		{"marks", "e\u0301\u0301\u0301\u0301\u0301", "e\u0301\u0301", "e??"},
		{"mark first", "\u0301e", "e", "e"},
		{"nbsp", "a\u00a0b", "a?b", "a?b"},
		{"line separator", "a\u2028b", "a?b", "a?b"},
		{"private", "a\ue000b", "a?b", "a?b"},
	} {
		if got := screen.Clean(c.in, "LANG=en_US.UTF-8"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
		if got := screen.Clean(c.in, "LANG=en_US.ISO-8859-1"); got != c.ascii {
			t.Errorf("%s in ASCII: got %q, want %q", c.name, got, c.ascii)
		}
	}
	if got := len(screen.Clean(strings.Repeat("x", 1<<20))); got > 1000 {
		t.Errorf("got %d letters of a long name", got)
	}
}

// TestLocale: the environment says whether the terminal knows more than ASCII.
func TestLocale(t *testing.T) {
	for _, c := range []struct {
		name string
		env  []string
		want string
	}{
		{"utf-8", []string{"LANG=en_US.UTF-8"}, "é"},
		{"utf8", []string{"LANG=de_DE.utf8"}, "é"},
		{"latin", []string{"LANG=de_DE"}, "?"},
		{"c", []string{"LANG=C"}, "?"},
		{"LC_ALL wins", []string{"LANG=C.UTF-8", "LC_CTYPE=C.UTF-8", "LC_ALL=C"}, "?"},
		{"LC_CTYPE wins", []string{"LANG=C", "LC_CTYPE=C.UTF-8"}, "é"},
		{"empty counts as absent", []string{"LC_ALL=", "LANG=C.UTF-8"}, "é"},
		{"the console", []string{"LANG=C.UTF-8", "TERM=linux"}, "?"},
	} {
		if got := screen.Clean("é", c.env...); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// FuzzClean: no text acts on the terminal.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "api", attack, "服务", "👩\u200d💻", "e\u0301"} {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, wide bool) {
		env := "LANG=C"
		if wide {
			env = "LANG=C.UTF-8"
		}
		got := screen.Clean(s, env)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, unicode.IsControl) || strings.ContainsFunc(got, func(r rune) bool { return unicode.Is(unicode.Cf, r) }) {
			t.Errorf("got %q of %q", got, s)
		}
		if !wide && lipgloss.Width(got) != len(got) {
			t.Errorf("got %q of %q, want ASCII", got, s)
		}
		if again := screen.Clean(got, env); again != got {
			t.Errorf("got %q of %q, and then %q", got, s, again)
		}
	})
}

func TestFigures(t *testing.T) {
	for _, c := range []struct{ name, got, want string }{
		{"rate", screen.Rate(62_912), "62.9k"},
		{"rate keeps its zeros", screen.Rate(5000), "5.00k"},
		{"rate rounds up", screen.Rate(999.6), "1.00k"},
		{"no rate", screen.Rate(0), "0"},
		{"unknown", screen.Rate(math.NaN()), "-"},
		{"size", screen.Size(1 << 30), "1.00Gi"},
		{"share", screen.Share(0.123), "12.3%"},
		{"small share", screen.Share(1e-9), "<0.1%"},
		{"all", screen.Share(1), "100%"},
		{"nearly all", screen.Share(0.9994), "99.9%"},
		{"span", screen.Span(4570), "4.57ms"},
		{"short span", screen.Span(0.812), "812ns"},
		{"long span", screen.Span(90e6), "1m30s"},
		{"no span", screen.Span(0), "-"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, c.got, c.want)
		}
	}
}

// TestFigureWidths: no figure is wider than its column.
func TestFigureWidths(t *testing.T) {
	for v := 1e-4; v < 1e13; v *= 1.0371 {
		for _, c := range []struct {
			name, text string
			most       int
		}{
			{"rate", screen.Rate(v), 5},
			{"size", screen.Size(v), 6},
			{"share", screen.Share(min(v, 9.9)), 5},
			{"span", screen.Span(min(v, 3e9)), 6},
		} {
			if got := lipgloss.Width(c.text); got > c.most {
				t.Errorf("%s %g: got %q, want at most %d columns", c.name, v, c.text, c.most)
			}
		}
	}
}
