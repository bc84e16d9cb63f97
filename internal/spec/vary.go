package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxCombinations bounds what an experiment can vary: each combination is a
// variant, measured several times.
const maxCombinations = 1000

// maxWork bounds the values of services and loads in all combinations together.
const maxWork = 1_000_000

// Axis is one thing that is varied.
type Axis struct {
	// Name is a word, and then a variable, or a path of the file.
	Name string
	// Values are its values as they were written.
	Values []string

	key    *node
	values []*node
}

// field reports whether the axis sets a field of the file.
func (a Axis) field() bool { return strings.ContainsAny(a.Name, ".[") }

// set reports whether its values are those of a flag.
func (a Axis) set() bool { return strings.HasPrefix(a.key.at.file, "--set ") }

// Value is one axis with one of its values.
type Value struct{ Axis, Text string }

// Combination is a value for each axis, in the order of the axes.
type Combination []Value

// Name is the combination as people write it, "instances=3 app.catalog=go";
// "base" if nothing is varied.
func (c Combination) Name() string {
	if len(c) == 0 {
		return "base"
	}
	parts := make([]string, len(c))
	for i, v := range c {
		parts[i] = v.Axis + "=" + v.Text
	}
	return strings.Join(parts, " ")
}

// Map gives the values by their axes.
func (c Combination) Map() map[string]string {
	m := map[string]string{}
	for _, v := range c {
		m[v.Axis] = v.Text
	}
	return m
}

// match is a set of values that some axes have to have.
type match map[string][]string

func (m match) holds(c Combination) bool {
	values := c.Map()
	for axis, allowed := range m {
		if !slices.Contains(allowed, values[axis]) {
			return false
		}
	}
	return true
}

func anyHolds(matches []match, c Combination) bool {
	return slices.ContainsFunc(matches, func(m match) bool { return m.holds(c) })
}

// varied is the vary section.
type varied struct {
	axes         []Axis
	only, except []match
	mistakes     Mistakes
}

func (v *varied) wrong(n *node, path, format string, args ...any) {
	v.mistakes = append(v.mistakes, Mistake{File: n.at.file, Line: n.at.line, Column: n.at.column, Path: path, Problem: fmt.Sprintf(format, args...)})
}

// readVary reads the vary section; n may be nil.
func readVary(n *node) *varied {
	v := &varied{}
	if n == nil {
		return v
	}
	if n.shape != mapping {
		v.wrong(n, "vary", "found %s; want a mapping of axes, {instances: [1, 2, 3]}", n.described())
		return v
	}
	for i, k := range n.keys {
		if k.text != "only" && k.text != "except" {
			v.axis(k, n.items[i])
		}
	}
	v.only = v.matches(n.get("only"), "vary.only")
	v.except = v.matches(n.get("except"), "vary.except")
	return v
}

// axis reads one axis.
func (v *varied) axis(k, n *node) {
	path := "vary." + k.text
	a := Axis{Name: k.text, key: k}
	switch {
	case a.field() && !variable(steps(k.text)):
		v.wrong(k, path, "an axis can vary services and load only")
		return
	case !a.field() && badName(k.text) != "":
		v.wrong(k, path, "%s; want a word, or a path such as app.catalog", badName(k.text))
		return
	case slices.Contains(provided(), k.text):
		v.wrong(k, path, "the variable %s has its value from the service; take another word", k.text)
		return
	case n.shape == scalar:
		n = &node{at: n.at, shape: sequence, items: []*node{n}}
	case n.shape == sequence && len(n.items) == 0:
		v.wrong(n, path, "an empty list; want the values, [1, 2, 3]")
		return
	case n.shape != sequence:
		v.wrong(n, path, "found %s; want a list of values, [1, 2, 3]", n.described())
		return
	}
	for i, item := range n.items {
		text := item.String()
		switch {
		case item.shape == nothing:
			v.wrong(item, index(path, i), "nothing there; want a value")
		case item.shape != scalar && !a.field():
			v.wrong(item, index(path, i), "found %s; want a single value", item.described())
		case slices.Contains(a.Values, text):
			v.wrong(item, index(path, i), "the value %s stands twice", shorten(text))
		case item.shape == scalar && strings.Contains(text, "${"):
			v.wrong(item, index(path, i), "found %s; want a value, an axis cannot depend on another", shorten(text))
		default:
			a.Values, a.values = append(a.Values, text), append(a.values, item)
		}
	}
	v.axes = append(v.axes, a)
}

// variable reports whether a path leads to what combinations may change.
func variable(keys []string) bool {
	f, _ := fileForm().field(keys[0])
	return f.late && len(keys) > 1
}

// matches reads a list of combinations, or one alone.
func (v *varied) matches(n *node, path string) []match {
	if n == nil {
		return nil
	}
	items := []*node{n}
	if n.shape == sequence {
		items = n.items
	}
	var all []match
	for i, item := range items {
		under := path
		if n.shape == sequence {
			under = index(path, i)
		}
		if item.shape != mapping || len(item.keys) == 0 {
			v.wrong(item, under, "found %s; want a mapping of axes to values, {instances: 3}", item.described())
			continue
		}
		all = append(all, v.match(item, under))
	}
	return all
}

// match reads one combination and holds it against the axes.
func (v *varied) match(n *node, path string) match {
	m := match{}
	for i, k := range n.keys {
		values := []*node{n.items[i]}
		if n.items[i].shape == sequence && !v.has(k.text, n.items[i].String()) {
			values = n.items[i].items
		}
		for _, value := range values {
			v.known(k, value, join(path, k.text))
			m[k.text] = append(m[k.text], value.String())
		}
	}
	return m
}

func (v *varied) find(axis string) (Axis, bool) {
	i := slices.IndexFunc(v.axes, func(a Axis) bool { return a.Name == axis })
	if i < 0 {
		return Axis{}, false
	}
	return v.axes[i], true
}

func (v *varied) has(axis, value string) bool {
	a, _ := v.find(axis)
	return slices.Contains(a.Values, value)
}

// known demands that an axis exists and has a value.
func (v *varied) known(k, value *node, path string) {
	names := make([]string, len(v.axes))
	for i, a := range v.axes {
		names[i] = a.Name
	}
	m := Mistake{File: k.at.file, Line: k.at.line, Column: k.at.column, Path: path}
	a, ok := v.find(k.text)
	text := value.String()
	switch {
	case !ok:
		m.Problem, m.Allowed = "no axis of that name", names
		m.Nearest, _ = Nearest(k.text, names)
	case !slices.Contains(a.Values, text) && !a.set(): // what a flag took away is no mistake of the file
		m.Line, m.Column, m.File = value.at.line, value.at.column, value.at.file
		m.Problem, m.Found, m.Allowed = "not a value of the axis", text, a.Values
		m.Nearest, _ = Nearest(text, a.Values)
	default:
		return
	}
	v.mistakes = append(v.mistakes, m)
}

// combinations is the product of the axes, the first axis slowest, less what
// only and except leave out. It stops one above maxCombinations.
func (v *varied) combinations() []Combination {
	size := 1
	for _, a := range v.axes {
		if size *= len(a.Values); size > maxCombinations {
			break
		}
	}
	if size > maxCombinations {
		v.wrong(v.axes[0].key, "vary", "more than %d combinations; vary less in one experiment", maxCombinations)
		return nil
	}
	all := []Combination{nil}
	for _, a := range v.axes {
		var longer []Combination
		for _, c := range all {
			for _, text := range a.Values {
				longer = append(longer, append(slices.Clone(c), Value{a.Name, text}))
			}
		}
		all = longer
	}
	return slices.DeleteFunc(all, func(c Combination) bool {
		return len(v.only) > 0 && !anyHolds(v.only, c) || anyHolds(v.except, c)
	})
}

// bind gives the nodes behind the values of a combination.
func (v *varied) bind(c Combination) map[string]*node {
	bound := map[string]*node{}
	for i, value := range c {
		a := v.axes[i]
		bound[value.Axis] = a.values[slices.Index(a.Values, value.Text)]
	}
	return bound
}

// unused are the variables that no text mentions.
func (v *varied) unused(used map[string]bool) []Axis {
	return slices.DeleteFunc(slices.Clone(v.axes), func(a Axis) bool { return a.field() || used[a.Name] })
}

// sortedKeys gives the keys of a map in order, for messages.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
