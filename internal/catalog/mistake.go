package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Mistake is something wrong in a file of an entry.
type Mistake struct {
	File         string
	Line, Column int    // from 1; 0 is the file as a whole
	Path         string // the key, dotted; empty for the whole file
	Text         string
}

// Error is file:line:column: path: text.
func (m Mistake) Error() string {
	where := m.File
	if m.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", m.File, m.Line, m.Column)
	}
	if m.Path == "" {
		return where + ": " + m.Text
	}
	return where + ": " + m.Path + ": " + m.Text
}

// Mistakes are all that is wrong in a catalog, a line each.
type Mistakes []Mistake

// Error lists them.
func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i, one := range m {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// sorted brings them into the order of the files.
func (m Mistakes) sorted() Mistakes {
	slices.SortStableFunc(m, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return m
}

// unknown says what is wrong with a name and which ones there are.
func unknown(what, name string, allowed []string) string {
	text := "unknown " + what
	if near := nearest(name, allowed); near != "" {
		text += ", did you mean " + near + "?"
	}
	if len(allowed) == 0 {
		return text + " (there are none)"
	}
	return text + " (allowed: " + strings.Join(allowed, ", ") + ")"
}

// nearest is the name that a mistyped one is likely to mean, or "". Of two that
// are equally near it is the one that begins more alike.
func nearest(name string, names []string) string {
	best, least, most := "", max(len(name)/2, 2)+1, -1
	for _, n := range names {
		d, same := distance(name, n), alike(name, n)
		if d < len(n) && (d < least || d == least && best != "" && same > most) {
			best, least, most = n, d, same
		}
	}
	return best
}

// alike is how many bytes two names have in common at their beginnings.
func alike(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// distance is Levenshtein's: the fewest letters inserted, deleted or replaced.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal, row[j+1] = row[j+1], min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
