package spec

import (
	"bytes"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Bounds of a file, so that reading one is quick whatever stands in it.
const (
	maxBytes = 1 << 20
	maxNodes = 20_000
	maxDepth = 50
)

// place is where a piece of text was written: in the file, or in a flag, where
// line and column are 0.
type place struct {
	file         string
	line, column int
}

// shape is the form that a value was written in.
type shape uint8

const (
	nothing shape = iota // null, or no value behind a key
	scalar
	sequence
	mapping
)

func (s shape) String() string {
	return [...]string{"nothing", "a single value", "a list", "a mapping"}[s]
}

// node is a value of the file with its position. Trees are never changed in
// place once they are built; see set.
type node struct {
	at     place
	shape  shape
	text   string // of a scalar, without its quotes
	quoted bool
	broken bool    // a mistake in it was told already
	keys   []*node // of a mapping, scalars, in the file's order
	items  []*node // of a sequence, or the values of a mapping
}

// get returns the value behind a key of a mapping, nil if there is none.
func (n *node) get(key string) *node {
	if n == nil || n.shape != mapping {
		return nil
	}
	for i, k := range n.keys {
		if k.text == key {
			return n.items[i]
		}
	}
	return nil
}

// with returns a copy of a mapping in which key has a value, at its old place
// if there was one.
func (n *node) with(key string, at place, value *node) *node {
	c := *n
	c.shape, c.keys, c.items = mapping, slices.Clone(n.keys), slices.Clone(n.items)
	for i, k := range c.keys {
		if k.text == key {
			c.items[i] = value
			return &c
		}
	}
	c.keys = append(c.keys, &node{at: at, shape: scalar, text: key})
	c.items = append(c.items, value)
	return &c
}

// without returns a copy of a mapping without some keys.
func (n *node) without(gone []string) *node {
	c := *n
	c.keys, c.items = nil, nil
	for i, k := range n.keys {
		if !slices.Contains(gone, k.text) {
			c.keys, c.items = append(c.keys, k), append(c.items, n.items[i])
		}
	}
	return &c
}

// count is the number of values in a tree; 0 if there is none.
func (n *node) count() int {
	if n == nil {
		return 0
	}
	total := 1
	for _, item := range n.items {
		total += item.count()
	}
	return total
}

// String is the value on one line, as names of variants and messages show it.
func (n *node) String() string {
	var parts []string
	switch n.shape {
	case scalar:
		return n.text
	case sequence:
		for _, item := range n.items {
			parts = append(parts, item.String())
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case mapping:
		for i, k := range n.keys {
			parts = append(parts, k.text+": "+n.items[i].String())
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "nothing"
}

// planter builds a tree from YAML.
type planter struct {
	file     string
	fixed    bool // a flag's text: positions inside it say nothing
	nodes    int
	mistakes Mistakes
}

func (p *planter) at(line, column int) place {
	if p.fixed {
		return place{file: p.file}
	}
	return place{p.file, max(line, 1), max(column, 1)}
}

func (p *planter) wrong(at place, path, problem, remedy string) {
	p.mistakes = append(p.mistakes, Mistake{File: at.file, Line: at.line, Column: at.column, Path: path, Problem: problem, Remedy: remedy})
}

// plant reads one YAML document. The tree is nil if it cannot be read at all.
func (p *planter) plant(text []byte) *node {
	if len(text) > maxBytes {
		p.wrong(p.at(1, 1), "", "longer than 1 MiB", "an experiment file is a page of text")
		return nil
	}
	var doc yaml.Node
	if err := yaml.Load(text, &doc); err != nil {
		p.syntax(text, err)
		return nil
	}
	if len(doc.Content) == 0 {
		p.wrong(p.at(1, 1), "", "nothing in it", "begin with 'prony: 1'")
		return nil
	}
	return p.node(doc.Content[0], "", 0)
}

// syntax turns an error of the YAML reader into a mistake. It knows some
// positions only in words, or not at all.
func (p *planter) syntax(text []byte, err error) {
	var one *yaml.LoadError
	line, column, problem := 1, 1, err.Error()
	if errors.As(err, &one) {
		problem = strings.TrimPrefix(one.Message, "yaml: ")
		if one.Mark.Line > 0 {
			line, column = one.Mark.Line, one.Mark.Column
		}
	}
	remedy := ""
	switch {
	case strings.HasPrefix(problem, "no documents"):
		problem, remedy = "nothing in it", "begin with 'prony: 1'"
	case strings.HasPrefix(problem, "expected single document"):
		line = documentLine(text)
		problem, remedy = "more than one document", "write one experiment a file, without '---' in between"
	case strings.Contains(problem, "cannot start any token") && tabbed(text, line):
		remedy = "indent with blanks, not with tabs"
	case variableInBraces(text, line):
		remedy = "a variable inside {…} or […] needs quotes: \"${name}\""
	case one != nil && one.ContextMsg != "" && one.ContextMark.Line > 0 && one.ContextMark.Line != line:
		remedy = "see " + strings.TrimPrefix(one.ContextMsg, "while ") + " from line " + strconv.Itoa(one.ContextMark.Line) + " on"
	}
	p.wrong(p.at(line, column), "", "not YAML: "+problem, remedy)
}

// documentLine is the line of the first separator behind some content.
func documentLine(text []byte) int {
	content := false
	for i, line := range bytes.Split(text, []byte("\n")) {
		if content && bytes.HasPrefix(line, []byte("---")) {
			return i + 1
		}
		content = content || len(bytes.TrimSpace(line)) > 0 && !bytes.HasPrefix(line, []byte("#")) && !bytes.HasPrefix(line, []byte("---"))
	}
	return 1
}

// variableInBraces reports whether a line has what YAML takes for the end of a
// mapping in braces.
func variableInBraces(text []byte, line int) bool {
	lines := bytes.Split(text, []byte("\n"))
	if line > len(lines) {
		return false
	}
	open, rest, found := bytes.Cut(lines[line-1], []byte("${"))
	return found && bytes.ContainsAny(open, "{[") && bytes.ContainsRune(rest, '}')
}

func tabbed(text []byte, line int) bool {
	lines := bytes.Split(text, []byte("\n"))
	return line <= len(lines) && bytes.Contains(lines[line-1], []byte("\t"))
}

// node converts one YAML node. What is refused becomes nothing.
func (p *planter) node(y *yaml.Node, path string, depth int) *node {
	n := &node{at: p.at(y.Line, y.Column)}
	p.nodes++
	switch {
	case depth > maxDepth:
		p.wrong(n.at, path, "nested too deeply", "")
		return n
	case p.nodes > maxNodes:
		if p.nodes == maxNodes+1 {
			p.wrong(n.at, path, "more than "+strconv.Itoa(maxNodes)+" values", "an alias counts as often as it is used")
		}
		return n
	case y.Kind == yaml.AliasNode && y.Alias != nil:
		aliased := p.node(y.Alias, path, depth+1)
		aliased.at = n.at
		return aliased
	case y.Kind == yaml.MappingNode:
		p.mapping(n, y, path, depth)
	case y.Kind == yaml.SequenceNode:
		n.shape = sequence
		for i, item := range y.Content {
			n.items = append(n.items, p.node(item, index(path, i), depth+1))
		}
	case y.Kind == yaml.ScalarNode:
		p.scalar(n, y, path)
	}
	return n
}

func (p *planter) scalar(n *node, y *yaml.Node, path string) {
	n.quoted = y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	if y.ShortTag() == "!!null" && !n.quoted {
		return
	}
	n.shape, n.text = scalar, y.Value
	if y.Style&yaml.TaggedStyle == 0 {
		return
	}
	if y.ShortTag() != "!!binary" {
		p.wrong(n.at, path, "the tag "+shorten(y.ShortTag())+" is not taken", "write the value alone")
		return
	}
	b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(y.Value), ""))
	if err != nil {
		p.wrong(n.at, path, "not base64", "a !!binary value is bytes in base64")
	}
	n.text, n.quoted = string(b), true
}

func (p *planter) mapping(n *node, y *yaml.Node, path string, depth int) {
	n.shape = mapping
	first := map[string]place{}
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		at := p.at(k.Line, k.Column)
		under := join(path, k.Value)
		before, twice := first[k.Value]
		switch {
		case k.Kind != yaml.ScalarNode:
			p.wrong(at, path, "a key that is not a word", "write 'key: value'")
			continue
		case k.Value == "<<" && k.Style == 0:
			p.wrong(at, path, "merge keys are not taken", "write the keys out, or use an alias for the whole value")
			continue
		case twice:
			p.wrong(at, under, "stands twice, first in line "+strconv.Itoa(before.line), "keep one of them")
			continue
		}
		first[k.Value] = at
		n.keys = append(n.keys, &node{at: at, shape: scalar, text: k.Value, quoted: k.Style != 0})
		value := p.node(y.Content[i+1], under, depth+1)
		if value.shape == nothing && value.at.line > 0 {
			value.at = at // an empty value has no text to point at
		}
		n.items = append(n.items, value)
	}
}

// join and index write the path of a value: services.app, load[1].
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
