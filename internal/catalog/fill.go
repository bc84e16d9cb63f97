package catalog

import (
	"errors"
	"maps"
	"strconv"
	"strings"
)

// scope is what a template is filled in with.
type scope struct {
	values    map[string]string
	upstreams []string // host:port
}

// upstream is the scope inside a block, for one upstream.
func (s scope) upstream(i int) scope {
	values := maps.Clone(s.values)
	values["address"], values["index"] = s.upstreams[i], strconv.Itoa(i+1)
	return scope{values, s.upstreams}
}

// holds reports whether a condition is met.
func (s scope) holds(n node) bool { return (s.values[n.text] == n.value) != n.not }

// each calls f for every time that a block's text appears.
func (s scope) each(n node, f func(scope)) {
	switch {
	case n.kind == repeat:
		for i := range s.upstreams {
			f(s.upstream(i))
		}
	case s.holds(n):
		f(s)
	}
}

// fill is the template's text with the values in it.
func (s scope) fill(t Template) string {
	var b strings.Builder
	s.write(&b, t.nodes)
	return b.String()
}

func (s scope) write(b *strings.Builder, nodes []node) {
	for _, n := range nodes {
		switch n.kind {
		case literal:
			b.WriteString(n.text)
		case variable:
			b.WriteString(s.values[n.text])
		default:
			s.each(n, func(inner scope) {
				if n.line {
					b.WriteString(n.indent)
				}
				inner.write(b, n.body)
				if n.line {
					b.WriteByte('\n')
				}
			})
		}
	}
}

// words is the template as the words of a command. Blanks, quotes ('…', "…")
// and \ count in what the entry's author wrote, never in a value.
func (s scope) words(t Template) ([]string, error) {
	var w wording
	w.add(s, t.nodes)
	if w.quote != 0 {
		return nil, errors.New("a quote that does not end")
	}
	w.end()
	if len(w.words) == 0 {
		return nil, errors.New("an empty command: want a program and its arguments")
	}
	return w.words, nil
}

// wording cuts a command into words.
type wording struct {
	words   []string
	word    strings.Builder
	open    bool // a word has begun, perhaps an empty one in quotes
	quote   byte // the quote we are in, or 0
	escaped bool
}

func (w *wording) end() {
	if w.open {
		w.words = append(w.words, w.word.String())
	}
	w.word.Reset()
	w.open = false
}

func (w *wording) put(text string) {
	w.word.WriteString(text)
	w.open = true
}

func (w *wording) add(s scope, nodes []node) {
	for _, n := range nodes {
		switch {
		case n.kind == literal:
			for i := range len(n.text) {
				w.letter(n.text[i])
			}
		case n.kind == variable && n.spread:
			for i, word := range strings.Fields(s.values[n.text]) {
				if i > 0 {
					w.end()
				}
				w.put(word)
			}
		case n.kind == variable:
			w.put(s.values[n.text])
		default:
			s.each(n, func(inner scope) {
				w.add(inner, n.body)
				if n.kind == repeat && w.quote == 0 {
					w.end() // what is written for one upstream is not glued to the next
				}
			})
		}
	}
}

// letter takes one byte of what was written.
func (w *wording) letter(c byte) {
	switch {
	case w.escaped:
		w.escaped = false
		w.put(string([]byte{c}))
	case c == '\\' && w.quote != '\'':
		w.escaped = true
	case w.quote != 0 && c == w.quote:
		w.quote = 0
	case w.quote != 0:
		w.put(string([]byte{c}))
	case c == '\'' || c == '"':
		w.quote = c
		w.open = true
	case c == ' ' || c == '\t' || c == '\n':
		w.end()
	default:
		w.put(string([]byte{c}))
	}
}
