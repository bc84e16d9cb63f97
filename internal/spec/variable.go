package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// provided are the variables that are known only when a service runs; they
// stay in the text until then.
func provided() []string { return []string{"port", "work", "host"} }

// Fill puts values in place of the variables ${name} of a text, and ${ in place
// of $${. An unknown variable is an error that names it.
func Fill(s string, values map[string]string) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		if !found {
			b.WriteString(s)
			return b.String(), nil
		}
		if strings.HasSuffix(before, "$") {
			b.WriteString(before[:len(before)-1] + "${")
			s = rest
			continue
		}
		name, after, ended := strings.Cut(rest, "}")
		value, known := values[name]
		if !ended || !known {
			return "", fmt.Errorf("fill in %s: unknown variable %s (known: %s)", shorten(s), shorten(name), strings.Join(slices.Sorted(maps.Keys(values)), ", "))
		}
		b.WriteString(before + value)
		s = after
	}
}

// filler puts the values of one combination into a tree.
type filler struct {
	values   map[string]*node
	used     map[string]bool // variables that were met, over all combinations
	mistakes Mistakes
	running  bool // inside a service, where the provided variables stay
}

// fill returns the tree with its variables replaced.
func (f *filler) fill(n *node, path string) *node {
	c := *n
	switch n.shape {
	case scalar:
		return f.scalar(n, path)
	case sequence:
		c.items = make([]*node, len(n.items))
		for i, item := range n.items {
			c.items[i] = f.fill(item, index(path, i))
		}
	case mapping:
		c.items = make([]*node, len(n.items))
		for i, item := range n.items {
			c.items[i] = f.fill(item, join(path, n.keys[i].text))
		}
	}
	return &c
}

// scalar replaces the variables of one text. A text that is nothing but a
// variable becomes its value, with the value's position: that is what has to
// be mended if it does not fit.
func (f *filler) scalar(n *node, path string) *node {
	if !strings.Contains(n.text, "${") {
		return n
	}
	if name, ok := strings.CutPrefix(n.text, "${"); ok && strings.Count(n.text, "}") == 1 {
		if value := f.values[strings.TrimSuffix(name, "}")]; value != nil && strings.HasSuffix(name, "}") {
			f.used[strings.TrimSuffix(name, "}")] = true
			return value
		}
	}
	c := *n
	before := len(f.mistakes)
	c.text, c.quoted = f.text(n, path), false
	c.broken = len(f.mistakes) > before
	return &c
}

func (f *filler) text(n *node, path string) string {
	var b strings.Builder
	s := n.text
	for {
		before, rest, found := strings.Cut(s, "${")
		if !found {
			return b.String() + s
		}
		if strings.HasSuffix(before, "$") { // $${ is ${, once nobody looks for variables any more
			if !f.running {
				before = before[:len(before)-1]
			}
			b.WriteString(before + "${")
			s = rest
			continue
		}
		name, after, ended := strings.Cut(rest, "}")
		b.WriteString(before)
		if !ended {
			f.add(n, Mistake{Path: path, Problem: "a variable that does not end", Found: n.text, Remedy: "write ${name}, or $${ for ${ itself"})
			return b.String()
		}
		b.WriteString(f.value(n, name, path))
		s = after
	}
}

// value is what stands in place of one variable.
func (f *filler) value(n *node, name, path string) string {
	value, known := f.values[name]
	switch {
	case known && value.shape != scalar:
		f.used[name] = true
		f.add(n, Mistake{Path: path, Problem: "the variable " + name + " is " + value.shape.String() + ", in the middle of a text"})
	case known:
		f.used[name] = true
		return value.text
	case slices.Contains(provided(), name) && f.running:
		return "${" + name + "}"
	case slices.Contains(provided(), name):
		f.add(n, Mistake{Path: path, Problem: "the variable " + name + " is known to services only", Remedy: "name the service as the target, its address is put in"})
	default:
		names := slices.Sorted(maps.Keys(f.values))
		if f.running {
			names = append(names, provided()...)
		}
		near, _ := Nearest(name, names)
		f.used[near] = true // it was meant
		f.add(n, Mistake{Path: path, Problem: "unknown variable " + shorten(name), Nearest: near, Allowed: names,
			Remedy: "give it values under vary, or write $${…} for ${…} itself"})
	}
	return ""
}

func (f *filler) add(n *node, m Mistake) {
	m.File, m.Line, m.Column = n.at.file, n.at.line, n.at.column
	f.mistakes = append(f.mistakes, m)
}
