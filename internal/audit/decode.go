package audit

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// decoder reads a file of facts and keeps every mistake.
type decoder struct {
	file string
	errs []error
}

func (d *decoder) wrong(n *yaml.Node, format string, args ...any) {
	d.errs = append(d.errs, fmt.Errorf("%s:%d:%d: %s", d.file, n.Line, n.Column, fmt.Sprintf(format, args...)))
}

// ParseFacts reads a file of facts, strictly. The error lists every mistake as
// file:line:column.
func ParseFacts(file string, text []byte) (File, error) {
	d := &decoder{file: file}
	var f File
	var doc yaml.Node
	if len(bytes.TrimSpace(text)) == 0 {
		return f, fmt.Errorf("%s:1: empty: want audit: 1 and facts", file)
	}
	if err := yaml.Load(text, &doc); err != nil {
		return f, fmt.Errorf("%s:%d: not YAML: %w", file, yamlLine(err), err)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return f, fmt.Errorf("%s:1: no document: want audit: 1 and facts", file)
	}
	version := false
	d.mapping(doc.Content[0], map[string]func(*yaml.Node){
		"audit": func(n *yaml.Node) {
			if version = true; d.text(n) != "1" {
				d.wrong(n, "audit: want 1, the version of this file's form")
			}
		},
		"all":     func(n *yaml.Node) { d.all(n, &f.All) },
		"results": func(n *yaml.Node) { d.list(n, func(n *yaml.Node) { d.known(n, &f) }) },
		"compare": func(n *yaml.Node) { d.list(n, func(n *yaml.Node) { d.compare(n, &f) }) },
		"claims":  func(n *yaml.Node) { d.list(n, func(n *yaml.Node) { d.claim(n, &f) }) },
		"shards":  func(n *yaml.Node) { d.list(n, func(n *yaml.Node) { d.shard(n, &f) }) },
		"limits":  func(n *yaml.Node) { d.limits(n, &f) },
	})
	if !version {
		d.wrong(doc.Content[0], "audit: 1 is missing")
	}
	return f, errors.Join(d.errs...)
}

// yamlLine is the line of a syntax error.
func yamlLine(err error) int {
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

// mapping calls the function of each key; unknown keys and keys given twice are
// mistakes.
func (d *decoder) mapping(n *yaml.Node, keys map[string]func(*yaml.Node)) {
	if n.Kind != yaml.MappingNode || n.Anchor != "" {
		d.wrong(n, "want a mapping, key: value")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, ok := keys[key.Value]
		switch {
		case !ok:
			d.wrong(key, "unknown key %q (allowed: %s)", key.Value, strings.Join(sortedKeys(keys), ", "))
		case seen[key.Value]:
			d.wrong(key, "%s is given twice", key.Value)
		default:
			seen[key.Value] = true
			read(value)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (d *decoder) list(n *yaml.Node, read func(*yaml.Node)) {
	if n.Kind != yaml.SequenceNode || n.Anchor != "" {
		d.wrong(n, "want a list")
		return
	}
	for _, item := range n.Content {
		read(item)
	}
}

// text returns a scalar as it is written.
func (d *decoder) text(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" || n.Anchor != "" {
		d.wrong(n, "want a value")
		return ""
	}
	return n.Value
}

// texts reads a list of texts, or one.
func (d *decoder) texts(n *yaml.Node) []string {
	if n.Kind == yaml.ScalarNode {
		return []string{d.text(n)}
	}
	var all []string
	d.list(n, func(n *yaml.Node) { all = append(all, d.text(n)) })
	return all
}

// all reads facts of every result.
func (d *decoder) all(n *yaml.Node, f *Facts) {
	var b Block
	for _, set := range d.sets(n, nil) {
		set(&b)
	}
	*f = b.Facts
}

// sets reads the keys of a result into functions that lay them over a block.
func (d *decoder) sets(n *yaml.Node, more map[string]func(*yaml.Node)) []func(*Block) {
	var sets []func(*Block)
	keys := map[string]func(*yaml.Node){}
	for name, k := range factKeys() {
		keys[name] = func(n *yaml.Node) {
			set, err := k.node(d, n)
			if err != nil {
				d.wrong(n, "%s: %v", name, err)
				return
			}
			sets = append(sets, set)
		}
	}
	for name, read := range more {
		keys[name] = read
	}
	d.mapping(n, keys)
	return sets
}

// known reads an entry of results.
func (d *decoder) known(n *yaml.Node, f *File) {
	var k Known
	k.set = d.sets(n, map[string]func(*yaml.Node){
		"id":   func(n *yaml.Node) { k.ID = d.text(n) },
		"file": func(n *yaml.Node) { k.file = d.text(n) },
		"nth": func(n *yaml.Node) {
			if v := count(d.text(n)); v.V < 1 {
				d.wrong(n, "nth: want the number of the result, from 1")
			} else {
				k.Nth = int(v.V)
			}
		},
	})
	if k.ID == "" && k.file == "" && k.Nth == 0 {
		d.wrong(n, "want id, file or nth, to say which result this is")
		return
	}
	if id := k.ID; id != "" {
		k.set = append(k.set, func(b *Block) { b.ID = id })
	}
	var b Block
	k.apply(&b)
	k.given = k.ID != "" && k.Nth == 0 && b.Facts.Rate.Known
	f.Results = append(f.Results, k)
}

// compare reads [a, b, …] or {of: [a, b, …], vary: …, scales: true}.
func (d *decoder) compare(n *yaml.Node, f *File) {
	var c Compare
	ids := func(n *yaml.Node) {
		if c.IDs = d.texts(n); len(c.IDs) < 2 || len(c.IDs) > 20 {
			d.wrong(n, "want 2 to 20 ids of results")
		}
		for _, id := range c.IDs {
			f.places = append(f.places, place{id, n.Line, n.Column})
		}
	}
	if n.Kind == yaml.SequenceNode {
		ids(n)
	} else {
		d.mapping(n, map[string]func(*yaml.Node){
			"of":   ids,
			"vary": func(n *yaml.Node) { c.Varies = d.texts(n) },
			"scales": func(n *yaml.Node) {
				v, err := truth(d.text(n))
				if c.Scales = v; err != nil {
					d.wrong(n, "scales: %v", err)
				}
			},
		})
	}
	f.Compare = append(f.Compare, c)
}

func (d *decoder) claim(n *yaml.Node, f *File) {
	c, err := ParseClaim(d.text(n))
	if err != nil {
		d.wrong(n, "%v", err)
		return
	}
	f.Claims = append(f.Claims, c)
}

func (d *decoder) shard(n *yaml.Node, f *File) {
	var s Shard
	whole := func(to *int64) func(*yaml.Node) {
		return func(n *yaml.Node) {
			v := count(d.text(n))
			if !v.Known {
				d.wrong(n, "want a whole number")
			}
			*to = int64(v.V)
		}
	}
	at := func(to *float64) func(*yaml.Node) {
		return func(n *yaml.Node) {
			v, err := quantityTime(d.text(n))
			if err != nil {
				d.wrong(n, "%v", err)
			}
			*to = v.V
		}
	}
	d.mapping(n, map[string]func(*yaml.Node){"index": whole(&s.Index), "of": whole(&s.Of), "planned": whole(&s.Planned),
		"done": whole(&s.Done), "start": at(&s.StartUS), "end": at(&s.EndUS)})
	f.Shards = append(f.Shards, s)
}

// limits reads thresholds by the names under which they are printed.
func (d *decoder) limits(n *yaml.Node, f *File) {
	var t Thresholds
	keys := map[string]func(*yaml.Node){}
	for name := range t.byName() {
		keys[name] = func(n *yaml.Node) {
			v := number(d.text(n))
			if !v.positive() {
				d.wrong(n, "%s: want a number above 0", name)
				return
			}
			if f.Limits == nil {
				f.Limits = map[string]float64{}
			}
			f.Limits[name] = v.V
		}
	}
	d.mapping(n, keys)
}

// Check finds ids in comparisons and claims that no result has.
func (f File) Check(file string, all []Block) error {
	var errs []error
	for _, p := range f.places {
		if _, ok := find(all, p.id); !ok {
			errs = append(errs, fmt.Errorf("%s:%d:%d: no result has the id %q (there are: %s)", file, p.line, p.column, p.id, strings.Join(ids(all), ", ")))
		}
	}
	return errors.Join(errs...)
}

// find returns the result with an id.
func find(all []Block, id string) (*Block, bool) {
	for i := range all {
		if all[i].ID == id {
			return &all[i], true
		}
	}
	return nil, false
}

// ids lists them, the first twenty.
func ids(all []Block) []string {
	var names []string
	for i := range all[:min(len(all), 20)] {
		names = append(names, all[i].ID)
	}
	return names
}

// sameFile compares the names of files without their folders, unless both have
// some.
func sameFile(a, b string) bool {
	return a == b || !strings.ContainsAny(a, `/\`) && a == filepath.Base(b)
}
