package spec

import (
	"slices"
	"strings"
)

// Overrides are changes that flags make to a file before it is checked.
type Overrides struct {
	// Set are changes name=value. A name under vary gets other values
	// (instances=1,3), a path or a key of the file gets the value
	// (load.duration=2s), and any other word becomes an axis.
	Set []string
	// Only keeps the variants that one of these names: by the whole name, by
	// some of its parts (instances=3, or several with commas), or by a value
	// alone.
	Only []string
	// Repeat replaces the number of repeats; 0 keeps it.
	Repeat int
}

// change is one --set.
type change struct {
	flag, name, text string
	at               place
}

// apply puts the changes of the flags into the tree.
func (o Overrides) apply(root *node) (*node, Mistakes) {
	var mistakes Mistakes
	if o.Repeat != 0 {
		at := place{file: "--repeat"}
		root = root.with("repeat", at, &node{at: at, shape: scalar, text: repeatText(o.Repeat)})
	}
	for _, text := range o.Set {
		c := change{flag: "--set " + text, at: place{file: "--set " + shortFlag(text)}}
		name, value, ok := strings.Cut(text, "=")
		c.name, c.text = strings.TrimSpace(name), strings.TrimSpace(value)
		if !ok || c.name == "" || c.text == "" {
			mistakes = append(mistakes, Mistake{File: c.at.file, Problem: "want name=value, such as load.duration=2s"})
			continue
		}
		changed, wrong := c.apply(root)
		mistakes = append(mistakes, wrong...)
		if changed != nil {
			root = changed
		}
	}
	return root, mistakes
}

func repeatText(n int) string { return number(float64(n)) }

// shortFlag keeps a flag readable in a message, on one line.
func shortFlag(s string) string {
	quoted := shorten(s)
	return quoted[1 : len(quoted)-1]
}

// apply makes one change; nil if it cannot be made.
func (c change) apply(root *node) (*node, Mistakes) {
	name, listed := strings.CutPrefix(c.name, "vary.")
	vary := root.get("vary")
	_, key := fileForm().field(strings.SplitN(strings.ReplaceAll(c.name, "[", "."), ".", 2)[0])
	if listed || vary.get(c.name) != nil || !key && !strings.ContainsAny(c.name, ".[") {
		return c.axis(root, vary, name)
	}
	value, mistakes := c.value(c.text)
	if value == nil {
		return nil, mistakes
	}
	changed, err := set(root, c.name, c.at, value)
	if err != nil {
		return nil, append(mistakes, Mistake{File: c.at.file, Path: c.name, Problem: err.Error()})
	}
	return changed, mistakes
}

// axis gives an axis its values: a list, or words with commas between them.
func (c change) axis(root, vary *node, name string) (*node, Mistakes) {
	var mistakes Mistakes
	values := &node{at: c.at, shape: sequence}
	if strings.HasPrefix(c.text, "[") {
		list, wrong := c.value(c.text)
		if list == nil {
			return nil, wrong
		}
		values, mistakes = list, wrong
	} else {
		for part := range strings.SplitSeq(c.text, ",") {
			values.items = append(values.items, &node{at: c.at, shape: scalar, text: strings.TrimSpace(part)})
		}
	}
	if vary == nil || vary.shape != mapping {
		vary = &node{at: c.at, shape: mapping}
	}
	vary = vary.with(name, c.at, values)
	vary.keys = slices.Clone(vary.keys)
	for i, k := range vary.keys {
		if k.text == name { // mistakes about the axis are the flag's now
			vary.keys[i] = &node{at: c.at, shape: scalar, text: name}
		}
	}
	return root.with("vary", c.at, vary), mistakes
}

// value is the text behind the sign as a single value, or as YAML if it begins
// like a list, a mapping or a quoted text.
func (c change) value(text string) (*node, Mistakes) {
	if !strings.ContainsAny(text[:1], `[{'"`) {
		return &node{at: c.at, shape: scalar, text: text}, nil
	}
	p := planter{file: c.at.file, fixed: true}
	return p.plant([]byte(text)), p.mistakes
}

// keep leaves the variants that --only names.
func (o Overrides) keep(v *varied, all []Combination) []Combination {
	if len(o.Only) == 0 {
		return all
	}
	kept := map[int]bool{}
	for _, text := range o.Only {
		found := false
		for i, c := range all {
			if c.named(text) {
				kept[i], found = true, true
			}
		}
		if !found {
			v.mistakes = append(v.mistakes, noVariant(text, all))
		}
	}
	var left []Combination
	for i, c := range all {
		if kept[i] {
			left = append(left, c)
		}
	}
	return left
}

// noVariant is the mistake of an --only that nothing is called.
func noVariant(text string, all []Combination) Mistake {
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.Name()
	}
	near, _ := Nearest(text, names)
	return Mistake{File: "--only " + shortFlag(text), Problem: "no variant is called that", Nearest: near, Allowed: strings.Split(enumerate(names, maxListed), ", ")}
}

// named reports whether a text names the combination: by its name, by some of
// its parts, or by one of its values.
func (c Combination) named(text string) bool {
	if text == c.Name() {
		return true
	}
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if !slices.ContainsFunc(c, func(v Value) bool { return part == v.Text || part == v.Axis+"="+v.Text }) {
			return false
		}
	}
	return len(c) > 0
}
