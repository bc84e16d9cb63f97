// Package document reads small YAML files strictly, node by node, and keeps
// every mistake with its file, line and column: what is unknown, given twice, of
// another shape, or an anchor, through which one place would mean two things.
//
// The experiment file is none of them; package spec has a reader of its own,
// which also proposes what may have been meant.
package document

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Reader reads one file.
type Reader struct {
	File string
	errs []error
}

// Open parses the text of a file of one document and returns its top node. What
// should be in the file is for the error of one that is empty.
func Open(file string, text []byte, want string) (*Reader, *yaml.Node, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, nil, fmt.Errorf("%s:1: empty: want %s", file, want)
	}
	var doc yaml.Node
	if err := yaml.Load(text, &doc); err != nil {
		return nil, nil, fmt.Errorf("%s:%d: not YAML: %w", file, line(err), err)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, nil, fmt.Errorf("%s:1: no document: want %s", file, want)
	}
	return &Reader{File: file}, doc.Content[0], nil
}

// line is where a syntax error is.
func line(err error) int {
	var several *yaml.LoadErrors
	var one *yaml.LoadError
	switch {
	case errors.As(err, &several) && len(several.Errors) > 0:
		return max(several.Errors[0].Mark.Line, 1)
	case errors.As(err, &one):
		return max(one.Mark.Line, 1)
	}
	return 1
}

// Wrong notes a mistake at a node.
func (r *Reader) Wrong(n *yaml.Node, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s:%d:%d: %s", r.File, n.Line, n.Column, fmt.Sprintf(format, args...)))
}

// Err is every mistake until now; nil without one.
func (r *Reader) Err() error { return errors.Join(r.errs...) }

// Mapping calls the function of each key, in the order of the file, and returns
// which keys there were.
func (r *Reader) Mapping(n *yaml.Node, keys map[string]func(*yaml.Node)) (seen map[string]bool) {
	seen = map[string]bool{}
	if n.Kind != yaml.MappingNode || n.Anchor != "" {
		r.Wrong(n, "want a mapping, key: value")
		return seen
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, known := keys[key.Value]
		switch {
		case !known:
			r.Wrong(key, "unknown key %q (allowed: %s)", key.Value, strings.Join(slices.Sorted(maps.Keys(keys)), ", "))
		case seen[key.Value]:
			r.Wrong(key, "%s is given twice", key.Value)
		default:
			seen[key.Value] = true
			read(value)
		}
	}
	return seen
}

// List calls a function for each item.
func (r *Reader) List(n *yaml.Node, read func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode || n.Anchor != "" {
		r.Wrong(n, "want a list")
		return
	}
	for _, item := range n.Content {
		read(item)
	}
}

// Text is a scalar as it is written.
func (r *Reader) Text(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Anchor != "" {
		r.Wrong(n, "want a value")
		return ""
	}
	return n.Value
}
