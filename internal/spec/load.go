package spec

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Setup is what one combination amounts to: its services and its loads.
type Setup struct {
	Services Services `yaml:"services"`
	Load     Loads    `yaml:"load"`
}

// Load reads an experiment file, with the changes of the flags. The name of the
// file is for messages only. The error is a [Mistakes] with all that is wrong.
func Load(name string, text []byte, o Overrides) (*Experiment, error) {
	p := planter{file: name}
	root := p.plant(text)
	if root == nil {
		return nil, p.mistakes.Sorted()
	}
	if root.shape != mapping {
		p.wrong(root.at, "", "found "+root.described()+" in place of an experiment", "begin with 'prony: 1'")
		return nil, p.mistakes.Sorted()
	}
	if wrong := version(root); wrong != nil {
		return nil, append(p.mistakes, *wrong).Sorted()
	}
	root, mistakes := o.apply(root)
	form := fileForm()
	r := reader{e: &Experiment{file: name, form: form, tree: root}, vary: readVary(root.get("vary")), form: form, used: map[string]bool{}}
	r.mistakes = append(p.mistakes, mistakes...)
	r.head()
	r.combine(o)
	r.judge()
	if all := append(r.mistakes, r.vary.mistakes...); len(all) > 0 {
		return nil, all.Sorted()
	}
	return r.e, nil
}

// version looks at the header alone: the rest of a file of another version
// would only give mistakes that are none.
func version(root *node) *Mistake {
	n := root.get("prony")
	switch {
	case n == nil:
		at := root.at
		return &Mistake{File: at.file, Line: at.line, Column: at.column, Path: "prony", Problem: "missing", Remedy: "begin with 'prony: " + strconv.Itoa(Version) + "', the version of the format"}
	case n.text == strconv.Itoa(Version) && !n.quoted:
		return nil
	}
	return &Mistake{File: n.at.file, Line: n.at.line, Column: n.at.column, Path: "prony",
		Problem: fmt.Sprintf("found %s; this program reads version %d of the format", n.described(), Version)}
}

// reader is a file under way.
type reader struct {
	e        *Experiment
	form     *form
	vary     *varied
	used     map[string]bool
	mistakes Mistakes
}

// head decodes what does not depend on what is varied.
func (r *reader) head() {
	d := decoder{root: r.form}
	d.decode(r.e.tree, r.form, reflect.ValueOf(r.e).Elem(), "")
	r.mistakes = append(r.mistakes, d.mistakes...)
	for _, k := range r.form.keys {
		if n := r.e.tree.get(k.name); n != nil && !k.late {
			r.noVariables(n, k.name)
		}
	}
}

// noVariables refuses variables where no combination could give them a value.
func (r *reader) noVariables(n *node, path string) {
	if strings.HasPrefix(path, "vary") {
		return // the axes see to it themselves
	}
	if n.shape == scalar && strings.Contains(n.text, "${") {
		r.add(n, Mistake{Path: path, Problem: "variables are known in services and load only", Found: n.text})
	}
	for i, item := range n.items {
		under := index(path, i)
		if n.shape == mapping {
			under = join(path, n.keys[i].text)
		}
		r.noVariables(item, under)
	}
}

func (r *reader) add(n *node, m Mistake) {
	m.File, m.Line, m.Column = n.at.file, n.at.line, n.at.column
	r.mistakes = append(r.mistakes, m)
}

// combine resolves every combination, so that a value that fits nowhere is
// found before anything runs.
func (r *reader) combine(o Overrides) {
	e := r.e
	e.Axes = r.vary.axes
	all := r.vary.combinations()
	if size := e.tree.get("services").count() + e.tree.get("load").count(); len(all)*size > maxWork {
		r.vary.wrong(e.tree.get("vary"), "vary", "%d combinations of services and loads with %d values are too much to check; vary less in one experiment", len(all), size)
		all = nil
	}
	if len(all) == 0 && len(r.vary.mistakes) == 0 {
		r.vary.wrong(e.tree.get("vary"), "vary", "only and except leave no combination")
	}
	e.combs = o.keep(r.vary, all)
	e.Narrowed = len(e.combs) < len(all) || slices.ContainsFunc(r.vary.axes, Axis.set)
	tell := len(all) == 0 // nothing can be checked with values
	for i, c := range all {
		setup, root, mistakes := e.resolve(c, r.vary, r.used)
		r.mistakes = append(r.mistakes, mistakes...)
		r.mistakes = append(r.mistakes, check(e, root, setup)...)
		if i == 0 || len(e.combs) > 0 && c.Name() == e.combs[0].Name() {
			e.Services, e.Load = setup.Services, setup.Load
		}
		if len(r.mistakes) > 4*maxMistakes {
			break
		}
	}
	if tell {
		return
	}
	for _, a := range r.vary.unused(r.used) {
		m := Mistake{Path: "vary." + a.Name, Problem: "this axis does nothing: no text of services or load mentions ${" + a.Name + "}", Remedy: "use the variable, or name a field such as load." + a.Name}
		r.add(a.key, m)
	}
}

// judge checks what concerns the experiment as a whole. What a flag took away
// is no mistake of the file.
func (r *reader) judge() {
	baseline := r.e.tree.get("baseline")
	if r.e.Narrowed || baseline == nil || baseline.shape != mapping || len(r.vary.mistakes) > 0 {
		return
	}
	before := len(r.vary.mistakes)
	m := r.vary.match(baseline, "baseline")
	if len(r.vary.mistakes) == before && len(r.e.combs) > 0 && !slices.ContainsFunc(r.e.combs, m.holds) {
		r.add(baseline, Mistake{Path: "baseline", Problem: "no variant has these values", Found: baseline.String(), Remedy: "only or except leave it out"})
	}
}

// Combinations are those that are to be measured, in the file's order. There is
// always one; without axes it is empty.
func (e *Experiment) Combinations() []Combination {
	if e.combs == nil {
		return []Combination{nil}
	}
	return slices.Clone(e.combs)
}

// Resolve gives the services and loads of one of the Combinations, with the
// values in place of the variables. ${port}, ${work} and ${host} stay in the
// texts of services, and $${ with them, for [Fill].
func (e *Experiment) Resolve(c Combination) (Setup, error) {
	if e.tree == nil {
		return Setup{e.Services, e.Load}, nil
	}
	v := &varied{axes: e.Axes}
	if len(c) != len(v.axes) || slices.ContainsFunc(c, func(value Value) bool { return !v.has(value.Axis, value.Text) }) {
		return Setup{}, fmt.Errorf("resolve %s: not a combination of this experiment", c.Name())
	}
	setup, _, mistakes := e.resolve(c, v, map[string]bool{})
	if len(mistakes) > 0 {
		return setup, fmt.Errorf("resolve %s: %w", c.Name(), mistakes.Sorted())
	}
	return setup, nil
}

// resolve puts a combination into the tree and decodes it. It also returns the
// tree, for the positions in it.
func (e *Experiment) resolve(c Combination, v *varied, used map[string]bool) (Setup, *node, Mistakes) {
	root := e.tree
	bound := v.bind(c)
	f := filler{values: map[string]*node{}, used: used}
	for _, a := range v.axes {
		if !a.field() {
			f.values[a.Name] = bound[a.Name]
			continue
		}
		changed, err := set(root, a.Name, a.key.at, bound[a.Name])
		if err != nil {
			f.add(a.key, Mistake{Path: "vary." + a.Name, Problem: err.Error()})
			continue
		}
		root = changed
	}
	for _, key := range []string{"services", "load"} {
		if n := root.get(key); n != nil {
			f.running = key == "services"
			root = root.with(key, n.at, f.fill(n, key))
		}
	}
	var setup Setup
	d := decoder{root: e.form, late: true}
	d.decode(root, d.root, reflect.ValueOf(&setup).Elem(), "")
	return setup, root, append(f.mistakes, d.mistakes...)
}

// Wrong makes a mistake of what was found out about a value later, at its
// position: expect[0], load.capacity.slo[1].
func (e *Experiment) Wrong(path string, err error) Mistake {
	return e.tree.wrong(e.file, path, err)
}

// wrong makes a mistake at the position of a path.
func (n *node) wrong(file, path string, err error) Mistake {
	m := Mistake{File: file, Path: path, Problem: err.Error()}
	if at, _ := n.find(path); at != nil {
		m.File, m.Line, m.Column = at.at.file, at.at.line, at.at.column
	}
	return m
}

// find follows a path of the file as far as it leads, and tells whether it led
// to the end.
func (n *node) find(path string) (last *node, whole bool) {
	if path == "" {
		return n, true
	}
	for key := range strings.SplitSeq(strings.NewReplacer("[", ".", "]", "").Replace(path), ".") {
		next := n.get(key)
		if i, err := strconv.Atoi(key); err == nil && n != nil && n.shape == sequence && i < len(n.items) && i >= 0 {
			next = n.items[i]
		}
		if next == nil {
			return n, false
		}
		n = next
	}
	return n, true
}
