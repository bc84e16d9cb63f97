package catalog

import (
	"net/http"
	"regexp"
	"slices"
	"time"

	"go.yaml.in/yaml/v4"
)

// targetFile is what makes a folder an entry.
const targetFile = "target.yaml"

// Defaults of an entry.
const (
	defaultWithin = 30 * time.Second
	defaultWork   = "/srv/prony"
)

// entry reads target.yaml. Each function below is the table of one mapping.
func (d *decoder) entry(n *yaml.Node, e *Entry) {
	e.Ready = Ready{Path: "/", Status: http.StatusOK, Within: defaultWithin}
	d.fields(n, "",
		field{"description", d.text(&e.Description)},
		field{"kind", d.word((*string)(&e.Kind), string(App), string(Gateway))},
		field{"versions", d.versions(&e.Versions)},
		field{"needs", d.needs(&e.Needs)},
		field{"build", func(n *yaml.Node, path string) { e.Build = &Build{}; d.build(n, path, e.Build) }},
		field{"run", d.variants(&e.Run)},
		field{"image", func(n *yaml.Node, path string) { e.Image = &Image{Work: defaultWork}; d.image(n, path, e.Image) }},
		field{"manifest", d.text(&e.Manifest)},
		field{"ready", d.ready(&e.Ready)},
		field{"routes", d.routes(&e.Routes)},
		field{"parameters", d.parameters(&e.Parameters)},
		field{"counters", func(n *yaml.Node, path string) { e.Counters = &Counters{}; d.counters(n, path, e.Counters) }},
		field{"sample-upstream", d.text(&e.SampleUpstream)},
	)
}

// word reads one of a few words.
func (d *decoder) word(to *string, allowed ...string) reading {
	return func(n *yaml.Node, path string) {
		d.text(to)(n, path)
		if n.Kind == yaml.ScalarNode && !slices.Contains(allowed, *to) {
			d.wrong(n, path, "%s", unknown("word "+quoted(*to), *to, allowed))
		}
	}
}

func (d *decoder) versions(to *[]Pair) reading {
	return func(n *yaml.Node, path string) {
		d.pairs(n, path, func(key, value *yaml.Node, at string) {
			p := Pair{Name: key.Value}
			d.text(&p.Text)(value, at)
			*to = append(*to, p)
		})
	}
}

func (d *decoder) needs(to *[]Need) reading {
	return func(n *yaml.Node, path string) {
		d.named(n, path, func(name string, value *yaml.Node, at string) {
			need := Need{Name: name}
			d.fields(value, at,
				field{"program", d.text(&need.Program)},
				field{"paths", d.texts(&need.Paths)},
				field{"file", d.texts(&need.Files)},
				field{"jdk", d.number(&need.JDK, 8, 99)},
				field{"install", d.text(&need.Install)},
			)
			*to = append(*to, need)
		})
	}
}

func (d *decoder) build(n *yaml.Node, path string, to *Build) {
	d.fields(n, path,
		field{"needs", d.texts(&to.Needs)},
		field{"command", d.template(&to.Command)},
		field{"env", d.settings(&to.Env)},
		field{"inputs", d.texts(&to.Inputs)},
		field{"output", d.text(&to.Output)},
	)
}

// variants reads one way to run, or a list of them.
func (d *decoder) variants(to *[]Variant) reading {
	return func(n *yaml.Node, path string) {
		one := func(n *yaml.Node, path string) {
			var v Variant
			d.fields(n, path, d.variant(&v)...)
			*to = append(*to, v)
		}
		if n.Kind == yaml.MappingNode {
			one(n, path)
			return
		}
		d.items(n, path, one)
	}
}

func (d *decoder) variant(to *Variant) []field {
	return []field{
		{"needs", d.texts(&to.Needs)},
		{"set", d.settings(&to.Set)},
		{"command", d.template(&to.Command)},
		{"env", d.settings(&to.Env)},
	}
}

func (d *decoder) image(n *yaml.Node, path string, to *Image) {
	d.fields(n, path,
		field{"name", d.text(&to.Name)},
		field{"dockerfile", d.text(&to.Dockerfile)},
		field{"work", d.text(&to.Work)},
		field{"set", d.settings(&to.Set)},
		field{"command", d.template(&to.Command)},
		field{"env", d.settings(&to.Env)},
	)
}

func (d *decoder) ready(to *Ready) reading {
	return func(n *yaml.Node, path string) {
		d.fields(n, path,
			field{"path", d.text(&to.Path)},
			field{"status", d.number(&to.Status, 100, 599)},
			field{"within", d.duration(&to.Within)},
		)
	}
}

func (d *decoder) routes(to *[]Route) reading {
	return func(n *yaml.Node, path string) {
		d.items(n, path, func(n *yaml.Node, path string) {
			r := Route{Path: "/", Method: http.MethodGet, Status: http.StatusOK}
			d.fields(n, path,
				field{"path", d.text(&r.Path)},
				field{"method", d.text(&r.Method)},
				field{"status", d.number(&r.Status, 100, 599)},
				field{"body", func(n *yaml.Node, path string) { r.Body = new(string); d.text(r.Body)(n, path) }},
				field{"body_length", func(n *yaml.Node, path string) {
					r.BodyLength = new(int)
					d.number(r.BodyLength, 0, maxAnswer)(n, path)
				}},
				field{"body_regexp", d.pattern(&r.BodyRegexp, "(?s)", "")},
			)
			*to = append(*to, r)
		})
	}
}

func (d *decoder) parameters(to *[]Parameter) reading {
	return func(n *yaml.Node, path string) {
		d.named(n, path, func(name string, value *yaml.Node, at string) {
			p := Parameter{Name: name}
			d.fields(value, at,
				field{"default", d.text(&p.Default)},
				field{"doc", d.text(&p.Doc)},
				field{"allowed", func(n *yaml.Node, path string) {
					if n.Kind == yaml.SequenceNode {
						d.texts(&p.Allowed)(n, path)
						return
					}
					d.pattern(&p.Pattern, "^(?:", ")$")(n, path)
				}},
			)
			*to = append(*to, p)
		})
	}
}

// pattern reads a regular expression and puts something around it.
func (d *decoder) pattern(to **regexp.Regexp, before, after string) reading {
	return func(n *yaml.Node, path string) {
		var s string
		d.text(&s)(n, path)
		if _, err := regexp.Compile(s); err != nil { // by itself: ")(" would fit between the two
			d.wrong(n, path, "%v", err)
			return
		}
		*to = regexp.MustCompile(before + s + after)
	}
}

func (d *decoder) counters(n *yaml.Node, path string, to *Counters) {
	d.fields(n, path,
		field{"format", d.word((*string)(&to.Format), names(formats(), CounterFormat.String)...)},
		field{"path", d.text(&to.Path)},
	)
}
