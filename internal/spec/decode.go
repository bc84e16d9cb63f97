package spec

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// decoder turns trees into structs along their forms and collects what is
// wrong. A struct's fields are found by the names in their yaml tags, the same
// that Write uses.
type decoder struct {
	root     *form
	late     bool // decode the fields that depend on what is varied, and only those
	mistakes Mistakes
}

func (d *decoder) wrong(n *node, path, format string, args ...any) {
	d.add(n, Mistake{Path: path, Problem: fmt.Sprintf(format, args...)})
}

// add places a mistake at a node.
func (d *decoder) add(n *node, m Mistake) {
	m.File, m.Line, m.Column = n.at.file, n.at.line, n.at.column
	d.mistakes = append(d.mistakes, m)
}

// decode reads a value into a target.
func (d *decoder) decode(n *node, f *form, target reflect.Value, path string) {
	if n.broken {
		return
	}
	if n.shape == nothing {
		d.add(n, Mistake{Path: path, Problem: "nothing there", Remedy: "want " + f.hint() + ", or leave the key out"})
		return
	}
	if n.shape == scalar && f.short != nil {
		d.short(n, f, target, path)
		return
	}
	switch f.kind {
	case object:
		d.object(n, f, target, path)
	case table:
		d.table(n, f, target, path)
	case list:
		d.list(n, f, target, path)
	case fields:
		d.fields(n, f, target, path)
	default:
		d.scalar(n, f, target, path)
	}
}

// is reports whether a value has a shape, and a mistake if not.
func (d *decoder) is(n *node, want shape, f *form, path string) bool {
	if n.shape == want {
		return true
	}
	d.wrong(n, path, "found %s; want %s", n.described(), f.hint())
	return false
}

// described is what a message calls a value of the wrong shape.
func (n *node) described() string {
	if n.shape == scalar {
		return shorten(n.text)
	}
	return n.shape.String()
}

func (d *decoder) scalar(n *node, f *form, target reflect.Value, path string) {
	if !d.is(n, scalar, f, path) {
		return
	}
	if f.kind == word && !slices.Contains(f.words, n.text) {
		near, _ := Nearest(strings.ToLower(n.text), f.words)
		d.add(n, Mistake{Path: path, Problem: "unknown word", Found: n.text, Nearest: near, Allowed: f.words})
		return
	}
	if f.plain(n.text) && n.quoted {
		d.wrong(n, path, "found the text %s; want %s, without quotes", shorten(n.text), f.hint())
		return
	}
	if strings.ContainsRune(n.text, 0) {
		d.wrong(n, path, "found a NUL character; no program could take it")
		return
	}
	v, err := f.read(n.text)
	if err != nil {
		d.wrong(n, path, "%v", err)
		return
	}
	if !assign(target, v) {
		d.wrong(n, path, "found %s; want less", shorten(n.text))
	}
}

// assign puts a value into a field, or behind its pointer; false if it does not
// fit.
func assign(target reflect.Value, v any) bool {
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	value := reflect.ValueOf(v)
	if n, ok := v.(int64); ok && target.CanInt() && target.OverflowInt(n) || ok && target.Kind() == reflect.Int && n > math.MaxInt32 {
		return false
	}
	target.Set(value.Convert(target.Type()))
	return true
}

// short reads the scalar that stands for an object or a list.
func (d *decoder) short(n *node, f *form, target reflect.Value, path string) {
	switch f.kind {
	case list: // a command on one line
		words, err := split(n.text)
		if err != nil {
			d.wrong(n, path, "%v", err)
			return
		}
		target.Set(reflect.ValueOf(words))
	default: // the first field of the struct
		d.decode(n, f.short, target.Field(0), path)
	}
}

func (d *decoder) object(n *node, f *form, target reflect.Value, path string) {
	if !d.is(n, mapping, f, path) {
		return
	}
	if target.Kind() == reflect.Pointer {
		target.Set(reflect.New(target.Type().Elem()))
		target = target.Elem()
	}
	for i, k := range n.keys {
		known, ok := f.field(k.text)
		switch under := join(path, k.text); {
		case !ok:
			d.unknown(k, f, under)
		case f == d.root && known.late != d.late:
			// Its turn is another pass.
		default:
			if into := tagged(target, k.text); into.IsValid() {
				d.decode(n.items[i], known.form, into, under)
			}
		}
	}
	d.complete(n, f, path)
}

// unknown is the mistake of a key that nothing is called.
func (d *decoder) unknown(k *node, f *form, path string) {
	m := Mistake{Path: path, Problem: "unknown key", Allowed: f.names(), Nearest: f.meant(k.text)}
	if m.Nearest == "" {
		if homes := d.root.home(k.text, map[*form]bool{}); len(homes) > 0 {
			m.Remedy = k.text + " belongs to " + strings.Join(slices.Compact(homes), " or ")
		}
	}
	d.add(k, m)
}

// complete demands the keys that have to be there.
func (d *decoder) complete(n *node, f *form, path string) {
	for _, k := range f.keys {
		if k.need && n.get(k.name) == nil && (f != d.root || !d.late) {
			d.add(n, Mistake{Path: join(path, k.name), Problem: "missing", Remedy: "want " + k.form.hint()})
		}
	}
	if f.choice == nil {
		return
	}
	var found []string
	for _, k := range n.keys {
		if slices.Contains(f.choice, k.text) {
			found = append(found, k.text)
		}
	}
	switch {
	case len(found) == 0:
		d.add(n, Mistake{Path: path, Problem: "does not say what it is", Allowed: f.choice, Remedy: "write exactly one of them"})
	case len(found) > 1:
		d.add(n, Mistake{Path: path, Problem: "is " + strings.Join(found, " and ") + " at once", Allowed: f.choice, Remedy: "write exactly one of them"})
	}
}

// tagged finds the field of a struct by its yaml name.
func tagged(target reflect.Value, name string) reflect.Value {
	t := target.Type()
	for i := range t.NumField() {
		if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); tag == name {
			return target.Field(i)
		}
	}
	return reflect.Value{}
}

// table reads a mapping of names into a map, or into a slice of structs that
// have a Name.
func (d *decoder) table(n *node, f *form, target reflect.Value, path string) {
	if !d.is(n, mapping, f, path) {
		return
	}
	element := target.Type().Elem()
	if target.Kind() == reflect.Map {
		target.Set(reflect.MakeMap(target.Type()))
	}
	for i, k := range n.keys {
		under := join(path, k.text)
		value := reflect.New(element).Elem()
		if problem := badName(k.text); problem != "" && target.Kind() == reflect.Slice {
			d.add(k, Mistake{Path: under, Problem: problem, Remedy: "want letters, digits, - and _"})
		}
		d.decode(n.items[i], f.each, value, under)
		if target.Kind() == reflect.Map {
			target.SetMapIndex(reflect.ValueOf(k.text), value)
			continue
		}
		value.FieldByName("Name").SetString(k.text)
		target.Set(reflect.Append(target, value))
	}
}

// badName says why a name would not do as a part of a path, a host name or a
// variable.
func badName(name string) string {
	switch {
	case name == "":
		return "an empty name"
	case len(name) > 63:
		return "a name of more than 63 characters"
	case strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "":
		return "not a name"
	case strings.ContainsRune("-_0123456789", rune(name[0])):
		return "a name that does not begin with a letter"
	}
	return ""
}

func (d *decoder) list(n *node, f *form, target reflect.Value, path string) {
	element := target.Type().Elem()
	if n.shape != sequence && f.single {
		value := reflect.New(element).Elem()
		d.decode(n, f.each, value, path)
		target.Set(reflect.Append(target, value))
		return
	}
	if !d.is(n, sequence, f, path) {
		return
	}
	if len(n.items) == 0 {
		d.add(n, Mistake{Path: path, Problem: "an empty list", Remedy: "leave the key out, or put something in"})
	}
	for i, item := range n.items {
		value := reflect.New(element).Elem()
		d.decode(item, f.each, value, index(path, i))
		target.Set(reflect.Append(target, value))
	}
}

// fields reads header fields: a mapping, or a list of pairs where order or
// repetition matters.
func (d *decoder) fields(n *node, f *form, target reflect.Value, path string) {
	var pairs [][]string
	add := func(name, value *node, path string) {
		if d.is(value, scalar, of(text), path) && d.header(name, value, path) {
			pairs = append(pairs, []string{name.text, value.text})
		}
	}
	switch n.shape {
	case mapping:
		for i, k := range n.keys {
			add(k, n.items[i], join(path, k.text))
		}
	case sequence:
		for i, item := range n.items {
			if item.shape != sequence || len(item.items) != 2 || item.items[0].shape != scalar {
				d.wrong(item, index(path, i), "found %s; want a pair [name, value]", item.described())
				continue
			}
			add(item.items[0], item.items[1], index(path, i))
		}
	default:
		d.is(n, mapping, f, path)
	}
	target.Set(reflect.ValueOf(pairs))
}

// header refuses what would break the request it is sent in (RFC 9110, 5.1 and
// 5.5).
func (d *decoder) header(name, value *node, path string) bool {
	const token = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	switch {
	case name.text == "" || strings.Trim(name.text, token) != "":
		d.wrong(name, path, "found %s, which is no name of a header field", shorten(name.text))
	case strings.ContainsAny(value.text, "\r\n\x00"):
		d.wrong(value, path, "found a line break in a header field; write it on one line")
	default:
		return true
	}
	return false
}
