package spec

import "slices"

// kind is what a value of the file is.
type kind uint8

const (
	text      kind = iota + 1 // any text; numbers are taken as they are written
	word                      // one of a few words
	whole                     // a whole number, 500k for thousands
	fraction                  // a number above zero
	truth                     // true or false
	duration                  // 10s
	rate                      // 500/s, a ramp or steps
	perSecond                 // 500/s
	size                      // 400MiB
	cpus                      // 0.2 or 200m
	percent                   // 3%
	cores                     // 0-3,6
	address                   // an http or https URL
	machine                   // an ssh URL
	pause                     // 10ms, 10ms exponential
	warming                   // auto, or a duration
	factor                    // auto, or a number above zero
	fields                    // header fields
	object                    // a mapping with known keys
	table                     // a mapping whose keys are names
	list                      // a list
)

// form is what may stand at a place of the file.
type form struct {
	kind  kind
	words []string // of a word
	least int64    // of a whole number, a duration in ns or a size in bytes
	keys  []field  // of an object
	each  *form    // of a list's items and of a table's values
	// short is the scalar that may stand in place of an object or a list.
	short *form
	// single lets one item stand in place of a list of them.
	single bool
	// choice are keys of an object of which exactly one has to be there.
	choice []string
	// name is what the schema calls an object.
	name string
}

// field is one key of an object.
type field struct {
	name string
	form *form
	doc  string
	// also are other words for it, from elsewhere: they are not taken, but the
	// message knows what was meant.
	also []string
	need bool
	// late fields depend on what is varied.
	late bool
}

func (f *form) names() []string {
	names := make([]string, len(f.keys))
	for i, k := range f.keys {
		names[i] = k.name
	}
	return names
}

func (f *form) field(name string) (field, bool) {
	i := slices.IndexFunc(f.keys, func(k field) bool { return k.name == name })
	if i < 0 {
		return field{}, false
	}
	return f.keys[i], true
}

// meant finds the key that was probably meant.
func (f *form) meant(word string) string {
	for _, k := range f.keys {
		if slices.Contains(k.also, word) {
			return k.name
		}
	}
	name, _ := Nearest(word, f.names())
	return name
}

// home finds the only other object that knows a key, and returns its name.
func (f *form) home(key string, seen map[*form]bool) []string {
	if f == nil || seen[f] {
		return nil
	}
	seen[f] = true
	var found []string
	if _, ok := f.field(key); ok && f.name != "" {
		found = append(found, f.name)
	}
	for _, k := range f.keys {
		found = append(found, k.form.home(key, seen)...)
	}
	return append(found, f.each.home(key, seen)...)
}

func of(k kind) *form             { return &form{kind: k} }
func oneOf(words ...string) *form { return &form{kind: word, words: words} }
func atLeast(n int64) *form       { return &form{kind: whole, least: n} }
func listOf(each *form) *form     { return &form{kind: list, each: each} }
func tableOf(each *form) *form    { return &form{kind: table, each: each} }

// above is a quantity of which zero would mean nothing.
func above(k kind) *form { return &form{kind: k, least: 1} }

// lineOrList is a command: words on a line, or a list of them.
func lineOrList() *form { return &form{kind: list, each: of(text), short: of(text)} }

// oneOrMore is a list whose only item may stand alone.
func oneOrMore(each *form) *form { return &form{kind: list, each: each, single: true} }
