package audit

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v4"

	"prony/internal/document"
)

// decoder reads a file of facts and keeps every mistake.
type decoder struct{ *document.Reader }

// ParseFacts reads a file of facts, strictly. The error lists every mistake as
// file:line:column.
func ParseFacts(file string, text []byte) (File, error) {
	var f File
	r, top, err := document.Open(file, text, "audit: 1 and facts")
	if err != nil {
		return f, err
	}
	d := &decoder{r}
	version := false
	d.Mapping(top, map[string]func(*yaml.Node){
		"audit": func(n *yaml.Node) {
			if version = true; d.Text(n) != "1" {
				d.Wrong(n, "audit: want 1, the version of this file's form")
			}
		},
		"all":     func(n *yaml.Node) { d.all(n, &f.All) },
		"results": func(n *yaml.Node) { d.List(n, func(n *yaml.Node) { d.known(n, &f) }) },
		"compare": func(n *yaml.Node) { d.List(n, func(n *yaml.Node) { d.compare(n, &f) }) },
		"claims":  func(n *yaml.Node) { d.List(n, func(n *yaml.Node) { d.claim(n, &f) }) },
		"shards":  func(n *yaml.Node) { d.List(n, func(n *yaml.Node) { d.shard(n, &f) }) },
		"limits":  func(n *yaml.Node) { d.limits(n, &f) },
	})
	if !version {
		d.Wrong(top, "audit: 1 is missing")
	}
	return f, d.Err()
}

// texts reads a list of texts, or one.
func (d *decoder) texts(n *yaml.Node) []string {
	if n.Kind == yaml.ScalarNode {
		return []string{d.Text(n)}
	}
	var all []string
	d.List(n, func(n *yaml.Node) { all = append(all, d.Text(n)) })
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
				d.Wrong(n, "%s: %v", name, err)
				return
			}
			sets = append(sets, set)
		}
	}
	for name, read := range more {
		keys[name] = read
	}
	d.Mapping(n, keys)
	return sets
}

// known reads an entry of results.
func (d *decoder) known(n *yaml.Node, f *File) {
	var k Known
	k.set = d.sets(n, map[string]func(*yaml.Node){
		"id":   func(n *yaml.Node) { k.ID = d.Text(n) },
		"file": func(n *yaml.Node) { k.file = d.Text(n) },
		"nth": func(n *yaml.Node) {
			if v := count(d.Text(n)); v.V < 1 {
				d.Wrong(n, "nth: want the number of the result, from 1")
			} else {
				k.Nth = int(v.V)
			}
		},
	})
	if k.ID == "" && k.file == "" && k.Nth == 0 {
		d.Wrong(n, "want id, file or nth, to say which result this is")
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
			d.Wrong(n, "want 2 to 20 ids of results")
		}
		for _, id := range c.IDs {
			f.places = append(f.places, place{id, n.Line, n.Column})
		}
	}
	if n.Kind == yaml.SequenceNode {
		ids(n)
	} else {
		d.Mapping(n, map[string]func(*yaml.Node){
			"of":   ids,
			"vary": func(n *yaml.Node) { c.Varies = d.texts(n) },
			"scales": func(n *yaml.Node) {
				v, err := truth(d.Text(n))
				if c.Scales = v; err != nil {
					d.Wrong(n, "scales: %v", err)
				}
			},
		})
	}
	f.Compare = append(f.Compare, c)
}

func (d *decoder) claim(n *yaml.Node, f *File) {
	c, err := ParseClaim(d.Text(n))
	if err != nil {
		d.Wrong(n, "%v", err)
		return
	}
	f.Claims = append(f.Claims, c)
}

func (d *decoder) shard(n *yaml.Node, f *File) {
	var s Shard
	whole := func(to *int64) func(*yaml.Node) {
		return func(n *yaml.Node) {
			v := count(d.Text(n))
			if !v.Known {
				d.Wrong(n, "want a whole number")
			}
			*to = int64(v.V)
		}
	}
	at := func(to *float64) func(*yaml.Node) {
		return func(n *yaml.Node) {
			v, err := quantityTime(d.Text(n))
			if err != nil {
				d.Wrong(n, "%v", err)
			}
			*to = v.V
		}
	}
	d.Mapping(n, map[string]func(*yaml.Node){"index": whole(&s.Index), "of": whole(&s.Of), "planned": whole(&s.Planned),
		"done": whole(&s.Done), "start": at(&s.StartUS), "end": at(&s.EndUS)})
	f.Shards = append(f.Shards, s)
}

// limits reads thresholds by the names under which they are printed.
func (d *decoder) limits(n *yaml.Node, f *File) {
	var t Thresholds
	keys := map[string]func(*yaml.Node){}
	for name := range t.byName() {
		keys[name] = func(n *yaml.Node) {
			v := number(d.Text(n))
			if !v.positive() {
				d.Wrong(n, "%s: want a number above 0", name)
				return
			}
			if f.Limits == nil {
				f.Limits = map[string]float64{}
			}
			f.Limits[name] = v.V
		}
	}
	d.Mapping(n, keys)
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
