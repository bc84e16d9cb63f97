package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxMistakes bounds a report: nobody reads a longer one before mending.
const maxMistakes = 50

// maxListed bounds the allowed words that a message lists when it also knows
// the one that was probably meant.
const maxListed = 12

// Mistake is one thing that is wrong with an experiment, and the way out.
type Mistake struct {
	// File is the name of the file, or the flag that brought the text in, such
	// as "--set load.duration=2x".
	File string
	// Line and Column count from 1. They are 0 for a flag.
	Line, Column int
	// Path is the place in the file's own terms, services.app.limits.cpus;
	// empty for the file as a whole.
	Path string
	// Problem says what is wrong.
	Problem string
	// Found is the text that is wrong; empty if the problem or the path says it.
	Found string
	// Allowed are the words that may stand there, if they can be listed.
	Allowed []string
	// Nearest is the allowed word that was probably meant, if one is near.
	Nearest string
	// Remedy says what to do, where that does not follow from the rest.
	Remedy string
}

// Error is one line: where, what, and what to do.
func (m Mistake) Error() string {
	var b strings.Builder
	b.WriteString(m.File)
	if m.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", m.Line, m.Column)
	}
	if m.Path != "" {
		b.WriteString(": " + m.Path)
	}
	b.WriteString(": " + m.Problem)
	if m.Found != "" {
		fmt.Fprintf(&b, ", found %s", shorten(m.Found))
	}
	if m.Nearest != "" {
		fmt.Fprintf(&b, ", did you mean %s?", m.Nearest)
	}
	if len(m.Allowed) > 0 {
		fmt.Fprintf(&b, " (allowed: %s)", strings.Join(m.listed(), ", "))
	}
	if m.Remedy != "" {
		b.WriteString("; " + m.Remedy)
	}
	return b.String()
}

// listed are the allowed words that fit into a message.
func (m Mistake) listed() []string {
	if m.Nearest == "" || len(m.Allowed) <= maxListed {
		return m.Allowed
	}
	return append(slices.Clone(m.Allowed[:maxListed]), "…")
}

// shorten bounds what a message repeats of the file, on one line.
func shorten(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// Mistakes are all mistakes of a file, in the order of their positions, those
// of flags first. It is the error of [Load].
type Mistakes []Mistake

// Error is a line for each mistake.
func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i, one := range m {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Sorted gives each mistake once, by position, at most maxMistakes of them.
func (m Mistakes) Sorted() Mistakes {
	slices.SortStableFunc(m, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Error(), b.Error()))
	})
	m = slices.CompactFunc(m, func(a, b Mistake) bool { return a.Error() == b.Error() })
	if len(m) > maxMistakes {
		more := m[maxMistakes]
		more.Path, more.Problem = "", fmt.Sprintf("%d more mistakes from here on are not shown", len(m)-maxMistakes)
		more.Found, more.Allowed, more.Nearest, more.Remedy = "", nil, "", ""
		m = append(m[:maxMistakes:maxMistakes], more)
	}
	return m
}

// Nearest finds the name that a mistyped word was probably meant to be: the one
// with the fewest edits, at most a third of its letters.
func Nearest(word string, names []string) (string, bool) {
	best, least := "", len(word)
	for _, name := range names {
		if n := edits(word, name); n < least && n <= max(len(name)/3, 1) {
			best, least = name, n
		}
	}
	return best, best != ""
}

// edits is the distance of two short words in letters changed, added, left out
// or swapped with their neighbour (Damerau, CACM 7(3), 1964, in the restricted
// form). Long words are far from everything.
func edits(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}
