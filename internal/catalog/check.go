package catalog

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// templateSuffix marks files that are filled in.
const templateSuffix = ".tmpl"

// Variables that a place gives, in the order of the package comment.
func placeVariables() []string {
	return []string{"host", "port", "work", "entry", "output", "prony", "user", "group"}
}

// upstreamVariables are those inside a block for upstreams.
func upstreamVariables() []string { return []string{"address", "index"} }

// check finds what is wrong with an entry that was read without mistakes.
func (d *decoder) check(e *Entry) {
	if e.Description == "" {
		d.wrongAt("description", "say in one line what this is")
	}
	if e.Kind == "" {
		d.wrongAt("kind", "say whether this is an app or a gateway")
	}
	if len(e.Run) == 0 {
		d.wrongAt("run", "say how it is started")
	}
	if e.SampleUpstream != "" && e.Kind != Gateway {
		d.wrongAt("sample-upstream", "only a gateway has one")
	}
	d.checkNames(e)
	d.checkNeeds(e)
	d.checkParameters(e)
	d.checkRoutes(e)
	d.checkBuild(e)
	d.checkImage(e)
	d.checkManifest(e)
	d.checkTemplates(e)
}

// checkNames refuses two things of one name.
func (d *decoder) checkNames(e *Entry) {
	taken := map[string]string{}
	for _, name := range append(placeVariables(), upstreamVariables()...) {
		taken[name] = "a variable that every entry has"
	}
	claim := func(path, name, what string) {
		if by := taken[name]; by != "" {
			d.wrongAt(path, "the name %s is taken by %s", name, by)
			return
		}
		taken[name] = what
	}
	for _, n := range e.Needs {
		claim("needs."+n.Name, n.Name, "a need")
	}
	for _, p := range e.Parameters {
		claim("parameters."+p.Name, p.Name, "a parameter")
	}
	for path, set := range e.sets() {
		for _, s := range set {
			if by := taken[s.Name]; by != "" {
				d.wrongAt(path+"."+s.Name, "the name %s is taken by %s", s.Name, by)
			}
			if !validName.MatchString(s.Name) {
				d.wrongAt(path+"."+s.Name, "want a name of small letters, digits, - and _, a letter in front")
			}
		}
	}
}

// sets are the variables that the ways to run set, by path.
func (e *Entry) sets() map[string][]Setting {
	all := map[string][]Setting{}
	for i, v := range e.Run {
		all[e.runPath(i)+".set"] = v.Set
	}
	if e.Image != nil {
		all["image.set"] = e.Image.Set
	}
	return all
}

// runPath is the path of a way to run; the list may be left out around one.
func (e *Entry) runPath(i int) string {
	if len(e.Run) == 1 {
		return "run"
	}
	return fmt.Sprintf("run[%d]", i)
}

func (d *decoder) checkNeeds(e *Entry) {
	for _, n := range e.Needs {
		kinds := 0
		for _, there := range []bool{n.Program != "", len(n.Files) > 0, n.JDK > 0} {
			if there {
				kinds++
			}
		}
		if kinds != 1 {
			d.wrongAt("needs."+n.Name, "want one of program, file and jdk")
		}
		if n.Install == "" {
			d.wrongAt("needs."+n.Name, "say with install which command or package brings it")
		}
	}
	refer := func(path string, names []string) {
		for _, name := range names {
			if e.need(name) == nil {
				d.wrongAt(path, "%s", unknown("need "+quoted(name), name, e.needNames()))
			}
		}
	}
	for i, v := range e.Run {
		refer(e.runPath(i)+".needs", v.Needs)
	}
	if e.Build != nil {
		refer("build.needs", e.Build.Needs)
	}
}

func (d *decoder) checkParameters(e *Entry) {
	for _, p := range e.Parameters {
		if p.Doc == "" {
			d.wrongAt("parameters."+p.Name, "say with doc what it does")
		}
		if err := p.accepts(p.Default); err != nil {
			d.wrongAt("parameters."+p.Name, "default: %v", err)
		}
	}
}

func (d *decoder) checkRoutes(e *Entry) {
	if len(e.Routes) == 0 && e.Kind == App {
		d.wrongAt("routes", "name at least one path and the answer it owes")
	}
	paths := map[string]string{"ready.path": e.Ready.Path}
	if e.Counters != nil {
		paths["counters.path"] = e.Counters.Path
		if e.Counters.Format == "" {
			d.wrongAt("counters", "%s", unknown("format", "", names(formats(), CounterFormat.String)))
		}
	}
	for i, r := range e.Routes {
		at := fmt.Sprintf("routes[%d]", i)
		paths[at+".path"] = r.Path
		expected := 0
		for _, there := range []bool{r.Body != nil, r.BodyLength != nil, r.BodyRegexp != nil} {
			if there {
				expected++
			}
		}
		if expected > 1 {
			d.wrongAt(at, "want one of body, body_length and body_regexp")
		}
	}
	for at, p := range paths {
		if !strings.HasPrefix(p, "/") || strings.ContainsAny(p, " \t\r\n#") {
			d.wrongAt(at, "want a path that begins with /, found %q", p)
		}
	}
}

func (d *decoder) checkBuild(e *Entry) {
	b := e.Build
	if b == nil {
		return
	}
	if len(b.Inputs) == 0 {
		d.wrongAt("build.inputs", "name the files that go in: the build is made anew when they change")
	}
	for _, in := range b.Inputs {
		if _, err := fs.Stat(e.files, in); err != nil {
			d.wrongAt("build.inputs", "%s is no file or folder of the entry", quoted(in))
		}
	}
	if b.Output == "" || !fs.ValidPath(b.Output) || b.Output == "." {
		d.wrongAt("build.output", "want the path of what the build makes, from its folder, found %q", b.Output)
	}
}

func (d *decoder) checkImage(e *Entry) {
	im := e.Image
	if im == nil {
		return
	}
	if (im.Name == "") == (im.Dockerfile == "") {
		d.wrongAt("image", "want one of name and dockerfile")
	}
	if !path.IsAbs(im.Work) {
		d.wrongAt("image.work", "want an absolute folder in the container, found %q", im.Work)
	}
	if im.Dockerfile != "" {
		if _, err := fs.Stat(e.files, im.Dockerfile); err != nil {
			d.wrongAt("image.dockerfile", "%s is no file of the entry", quoted(im.Dockerfile))
		}
	}
}

// known are the variables that a template may use.
func (e *Entry) known(own []Setting, more ...string) []string {
	all := slices.Concat(e.parameterNames(), e.needNames(), names(own, func(s Setting) string { return s.Name }), more)
	slices.Sort(all)
	return all
}

// checkTemplates finds names that nothing gives a value to.
func (d *decoder) checkTemplates(e *Entry) {
	if b := e.Build; b != nil {
		d.templates(e, "build", nil, e.known(nil, "output"), b.Command, b.Env)
	}
	for i, v := range e.Run {
		d.templates(e, e.runPath(i), v.Set, e.known(v.Set, placeVariables()...), v.Command, v.Env)
	}
	if im := e.Image; im != nil {
		d.templates(e, "image", im.Set, e.known(im.Set, placeVariables()...), im.Command, im.Env)
	}
	for _, name := range slices.Sorted(maps.Keys(e.templates)) {
		known, t := e.knownIn(name), e.templates[name]
		walk(t.nodes, false, func(n node, inside bool) {
			if text := strange(n, inside, known); text != "" {
				d.wrongIn(e.fileName(name), t.text, n.at, "%s", text)
			}
		})
	}
}

// knownIn are the variables that a file may use: a build's, or those that any
// way to run gives. One that the way taken does not set is empty.
func (e *Entry) knownIn(file string) []string {
	if e.Build != nil && e.Build.takes(file) {
		return e.known(nil, "output")
	}
	var own []Setting
	for _, set := range e.sets() {
		own = append(own, set...)
	}
	return slices.Compact(e.known(own, placeVariables()...))
}

// templates checks those of one way to build or run.
func (d *decoder) templates(e *Entry, path string, set []Setting, known []string, command Template, env []Setting) {
	one := func(path string, t Template, known []string) {
		walk(t.nodes, false, func(n node, inside bool) {
			if text := strange(n, inside, known); text != "" {
				d.wrongAt(path, "%s", text)
			}
		})
	}
	one(path+".command", command, known)
	for _, s := range env {
		one(path+".env."+s.Name, s.Value, known)
	}
	for _, s := range set { // before the place is known, and not of each other
		one(path+".set."+s.Name, s.Value, e.known(nil))
	}
	if path == "image" && command.IsZero() {
		return // the image's own
	}
	dummy := scope{values: map[string]string{}, upstreams: []string{"a:1"}}
	for _, name := range known {
		dummy.values[name] = name
	}
	if _, err := dummy.words(command); err != nil {
		d.wrongAt(path+".command", "%v", err)
	}
}

// strange says what is wrong with the name in a piece of a template, if anything.
func strange(n node, inside bool, known []string) string {
	switch {
	case n.kind == repeat && inside:
		return "a block for upstreams inside another"
	case n.kind == repeat || inside && slices.Contains(upstreamVariables(), n.text):
		return ""
	case !slices.Contains(known, n.text):
		return unknown("variable "+n.text, n.text, known)
	}
	return ""
}
