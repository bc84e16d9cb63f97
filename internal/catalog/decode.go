package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"prony/internal/unit"
)

// decoder reads a YAML file and keeps every mistake.
type decoder struct {
	file     string
	mistakes Mistakes
	places   map[string]*yaml.Node // values by path, for checks that come later
}

// reading is a function that reads a value into where it belongs.
type reading func(n *yaml.Node, path string)

// field is a key of a mapping.
type field struct {
	name string
	read reading
}

func (d *decoder) wrong(n *yaml.Node, path, format string, args ...any) {
	d.mistakes = append(d.mistakes, Mistake{d.file, n.Line, n.Column, path, fmt.Sprintf(format, args...)})
}

// wrongAt reports a mistake at a path that was read.
func (d *decoder) wrongAt(path, format string, args ...any) {
	n := d.places[path]
	if n == nil {
		n = &yaml.Node{Line: 1, Column: 1}
	}
	d.wrong(n, path, format, args...)
}

// document parses a text; nil when it is no YAML at all.
func (d *decoder) document(text []byte) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Load(text, &doc); err != nil {
		d.unparsed(err)
		return nil
	}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		return doc.Content[0]
	}
	return &doc
}

// unparsed reports what the parser says, with its position.
func (d *decoder) unparsed(err error) {
	all := []*yaml.LoadError{}
	var several *yaml.LoadErrors
	var one *yaml.LoadError
	switch {
	case errors.As(err, &several):
		all = append(all, several.Errors...)
	case errors.As(err, &one):
		all = append(all, one)
	}
	for _, e := range all {
		d.mistakes = append(d.mistakes, Mistake{File: d.file, Line: max(e.Mark.Line, 1), Column: max(e.Mark.Column, 1), Text: "not YAML: " + e.Message})
	}
	if len(all) == 0 {
		d.mistakes = append(d.mistakes, Mistake{File: d.file, Line: 1, Column: 1, Text: "not YAML: " + err.Error()})
	}
}

// is checks a node's kind, and says what was wanted.
func (d *decoder) is(n *yaml.Node, kind yaml.Kind, path, want string) bool {
	switch {
	case n.Kind == kind && n.Anchor == "":
		return true
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		d.wrong(n, path, "anchors and aliases are not understood here: write it out")
	default:
		d.wrong(n, path, "want %s", want)
	}
	return false
}

// pairs calls f for each key of a mapping, once.
func (d *decoder) pairs(n *yaml.Node, path string, f func(key, value *yaml.Node, path string)) {
	if !d.is(n, yaml.MappingNode, path, "a mapping, key: value") {
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if !d.is(key, yaml.ScalarNode, path, "a plain key") {
			continue
		}
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		if seen[key.Value] {
			d.wrong(key, at, "given twice")
			continue
		}
		seen[key.Value] = true
		d.places[at] = value
		f(key, value, at)
	}
}

// fields reads a mapping whose keys are known.
func (d *decoder) fields(n *yaml.Node, path string, all ...field) {
	allowed := names(all, func(f field) string { return f.name })
	d.pairs(n, path, func(key, value *yaml.Node, at string) {
		if i := slices.Index(allowed, key.Value); i >= 0 {
			all[i].read(value, at)
			return
		}
		d.wrong(key, at, "%s", unknown("key", key.Value, allowed))
	})
}

// named reads a mapping whose keys are names that the author gives.
func (d *decoder) named(n *yaml.Node, path string, f func(name string, value *yaml.Node, path string)) {
	d.pairs(n, path, func(key, value *yaml.Node, at string) {
		if !validName.MatchString(key.Value) {
			d.wrong(key, at, "want a name of small letters, digits, - and _, a letter in front")
			return
		}
		f(key.Value, value, at)
	})
}

// items reads a list.
func (d *decoder) items(n *yaml.Node, path string, f reading) {
	if !d.is(n, yaml.SequenceNode, path, "a list") {
		return
	}
	for i, item := range n.Content {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.places[at] = item
		f(item, at)
	}
}

// text reads any scalar as it is written.
func (d *decoder) text(to *string) reading {
	return func(n *yaml.Node, path string) {
		if !d.is(n, yaml.ScalarNode, path, "a text") {
			return
		}
		if n.Tag != "!!null" {
			*to = n.Value
		}
	}
}

// texts reads a list of texts, or a single one.
func (d *decoder) texts(to *[]string) reading {
	return func(n *yaml.Node, path string) {
		one := func(n *yaml.Node, path string) {
			var s string
			d.text(&s)(n, path)
			*to = append(*to, s)
		}
		if n.Kind == yaml.ScalarNode {
			one(n, path)
			return
		}
		d.items(n, path, one)
	}
}

// number reads a whole number within bounds.
func (d *decoder) number(to *int, low, high int) reading {
	return func(n *yaml.Node, path string) {
		var s string
		d.text(&s)(n, path)
		v, err := strconv.Atoi(s)
		if n.Kind == yaml.ScalarNode && (err != nil || v < low || v > high) {
			d.wrong(n, path, "want a number from %d to %d, found %q", low, high, s)
			return
		}
		*to = v
	}
}

func (d *decoder) duration(to *time.Duration) reading {
	return func(n *yaml.Node, path string) {
		var s string
		d.text(&s)(n, path)
		v, err := unit.ParseDuration(s)
		if n.Kind == yaml.ScalarNode && (err != nil || v <= 0) {
			d.wrong(n, path, "want a time above 0, such as 30s, found %q", s)
			return
		}
		*to = v
	}
}

// template reads a text with variables.
func (d *decoder) template(to *Template) reading {
	return func(n *yaml.Node, path string) {
		var s string
		d.text(&s)(n, path)
		t, err := ParseTemplate(s)
		if err != nil {
			d.wrong(n, path, "%v", err)
		}
		*to = t
	}
}

// settings reads a mapping of templates. Names of the environment are not ours
// to judge, so any key goes.
func (d *decoder) settings(to *[]Setting) reading {
	return func(n *yaml.Node, path string) {
		d.pairs(n, path, func(key, value *yaml.Node, at string) {
			s := Setting{Name: key.Value}
			d.template(&s.Value)(value, at)
			*to = append(*to, s)
		})
	}
}

func newDecoder(file string) *decoder {
	return &decoder{file: file, places: map[string]*yaml.Node{}}
}

// wrongIn reports a mistake at an offset of another file.
func (d *decoder) wrongIn(file, text string, offset int, format string, args ...any) {
	before := text[:offset]
	d.mistakes = append(d.mistakes, Mistake{File: file, Line: strings.Count(before, "\n") + 1,
		Column: offset - strings.LastIndexByte(before, '\n'), Text: fmt.Sprintf(format, args...)})
}
