package catalog

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Place is where an entry is to run: what only its driver knows.
type Place struct {
	// Host is the address to listen on, default 127.0.0.1 and in a container
	// 0.0.0.0; Port is the port, which has to be given.
	Host string
	Port int
	// Work is the folder that the program starts in and writes to, absolute;
	// the driver puts the files there. With Image the entry's own folder in
	// the container takes its place.
	Work string
	// Cache is the folder of builds, absolute; entries without a build need
	// none.
	Cache string
	// Prony is this program's file, by default what the system says it is.
	Prony string
	// User and Group run it; by default those of this process, in a container
	// root.
	User, Group string
	// Upstreams are what a gateway passes requests on to, host:port.
	Upstreams []string
	// Image asks for the way to run in a container.
	Image bool
	// Find looks for needs, by default on this machine. In a container they
	// are taken to be there.
	Find Finder
}

func (p Place) withDefaults() Place {
	if p.Host == "" && p.Image {
		p.Host = "0.0.0.0"
	}
	if p.Host == "" {
		p.Host = "127.0.0.1"
	}
	if p.User == "" && p.Image {
		p.User, p.Group = "root", "root"
	}
	if p.Find == nil {
		p.Find = FindHere
	}
	if p.Prony == "" {
		p.Prony, _ = os.Executable() // where it fails, commands that want it do
	}
	if p.User == "" {
		p.User, p.Group = identity()
	}
	return p
}

// identity names the user and the group of this process. The numbers do where
// there are no names.
func identity() (name, group string) {
	me, err := user.Current()
	if err != nil {
		return fmt.Sprint(os.Getuid()), fmt.Sprint(os.Getgid())
	}
	if g, err := user.LookupGroupId(me.Gid); err == nil {
		return me.Username, g.Name
	}
	return me.Username, me.Gid
}

// Command is how to start an entry that was rendered.
type Command struct {
	Args []string
	Env  []string // NAME=value, on top of what is there
	Dir  string   // where to start
	// Build comes first; nil if there is nothing to build.
	Build *BuildCommand
	// Image is set if the command runs in a container. Empty Args are then the
	// image's own.
	Image *ImageCommand
}

// ImageCommand is the container of a command: the image by its name, or how to
// build it. The files of the entry belong into Dir of the command.
type ImageCommand struct {
	Name       string
	Dockerfile string // in Context
	Context    Files
	// Output is where the command expects what Build made; "" without one.
	Output string
}

// Render fills in the entry for a place. Parameters that are not given have
// their defaults. It fails with every mistake in the parameters and the place,
// and with a [MissingError] if something is not on the machine.
func (e *Entry) Render(params map[string]string, place Place) (Files, Command, error) {
	r := rendering{entry: e, place: place.withDefaults()}
	values, err := e.Values(params)
	if err = errors.Join(err, r.check()); err != nil {
		return nil, Command{}, fmt.Errorf("render catalog entry %s: %w", e.Name, err)
	}
	r.values = values
	files, command, err := r.render()
	var missing *MissingError
	if err != nil && !errors.As(err, &missing) {
		err = fmt.Errorf("render catalog entry %s: %w", e.Name, err)
	}
	return files, command, err
}

// Values are the values of all parameters, the given ones checked.
func (e *Entry) Values(params map[string]string) (map[string]string, error) {
	values := map[string]string{}
	for _, p := range e.Parameters {
		values[p.Name] = p.Default
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(params)) {
		p := e.parameter(name)
		if p == nil {
			errs = append(errs, errors.New(unknown("parameter "+name, name, e.parameterNames())))
			continue
		}
		if err := p.accepts(params[name]); err != nil {
			errs = append(errs, fmt.Errorf("parameter %s: %w", name, err))
		}
		values[name] = params[name]
	}
	return values, errors.Join(errs...)
}

// accepts says what is wrong with a value.
func (p Parameter) accepts(value string) error {
	switch {
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("%q holds a line break or another control character", value)
	case len(p.Allowed) > 0 && !slices.Contains(p.Allowed, value):
		return errors.New(unknown("value "+quoted(value), value, p.Allowed))
	case p.Pattern != nil && !p.Pattern.MatchString(value):
		form := strings.TrimSuffix(strings.TrimPrefix(p.Pattern.String(), "^(?:"), ")$")
		return fmt.Errorf("%q does not look like %s", value, form)
	}
	return nil
}

// rendering is one call of Render.
type rendering struct {
	entry  *Entry
	place  Place
	values map[string]string // of parameters
}

// check says what is wrong with the place.
func (r *rendering) check() error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	p, e := r.place, r.entry
	bad(p.Port < 1 || p.Port > 65535, "port %d: want 1 to 65535", p.Port)
	bad(!p.Image && !filepath.IsAbs(p.Work), "work folder %q: want an absolute path", p.Work)
	bad(e.Build != nil && !p.Image && !filepath.IsAbs(p.Cache), "folder of builds %q: want an absolute path", p.Cache)
	bad(e.Kind == Gateway && len(p.Upstreams) == 0, "a gateway needs at least one upstream")
	bad(e.Kind != Gateway && len(p.Upstreams) > 0, "it is no gateway, and has no use for upstreams")
	bad(p.Image && e.Image == nil, "it has no image to run in a container")
	for _, address := range p.Upstreams {
		bad(strings.ContainsAny(address, " \t\r\n;{}/"), "upstream %q: want host:port", address)
	}
	return errors.Join(errs...)
}

func (r *rendering) render() (Files, Command, error) {
	variant, found, err := r.choose()
	if err != nil {
		return nil, Command{}, err
	}
	command := Command{Dir: r.place.Work}
	output := ""
	if r.place.Image {
		command.Dir, command.Image = r.entry.Image.Work, r.image()
	}
	if r.entry.Build != nil && (command.Image == nil || command.Image.Dockerfile == "") {
		if command.Build, err = r.build(); err != nil {
			return nil, Command{}, err
		}
		output = command.Build.Result
		if command.Image != nil {
			output = command.Image.Output
		}
	}
	if command.Image != nil && command.Image.Dockerfile != "" {
		if command.Image.Context, err = r.context(); err != nil {
			return nil, Command{}, err
		}
	}
	s := r.scope(variant, found, command.Dir, output)
	if !variant.Command.IsZero() {
		if command.Args, err = s.words(variant.Command); err != nil {
			return nil, Command{}, err
		}
	}
	command.Env = s.environment(variant.Env)
	files, err := r.files(s)
	return files, command, err
}

// choose takes the first way to run whose needs are there.
func (r *rendering) choose() (Variant, map[string]Found, error) {
	if r.place.Image {
		return r.entry.Image.Variant, r.inContainer(), nil
	}
	missing := &MissingError{Entry: r.entry.Name}
	for _, v := range r.entry.Run {
		found, lacks := r.entry.find(r.place.Find, v.Needs)
		if len(lacks) == 0 {
			return v, found, nil
		}
		missing.Ways = append(missing.Ways, lacks)
	}
	return Variant{}, nil, missing
}

// inContainer are the needs by the names that an image's path resolves.
func (r *rendering) inContainer() map[string]Found {
	found := map[string]Found{}
	for _, n := range r.entry.Needs {
		found[n.Name] = Found{Path: n.Program}
		if len(n.Files) > 0 {
			found[n.Name] = Found{Path: n.Files[0]}
		}
	}
	return found
}

// scope is what the templates of the chosen way see.
func (r *rendering) scope(v Variant, found map[string]Found, work, output string) scope {
	join := filepath.Join
	if r.place.Image {
		join = path.Join
	}
	values := maps.Clone(r.values)
	for name, f := range found {
		values[name] = f.Path
	}
	own := map[string]string{}
	for _, s := range v.Set {
		own[s.Name] = scope{values: values}.fill(s.Value)
	}
	maps.Copy(values, own)
	maps.Copy(values, map[string]string{
		"host": r.place.Host, "port": fmt.Sprint(r.place.Port), "work": work, "entry": join(work, entryFolder),
		"output": output, "prony": r.place.Prony, "user": r.place.User, "group": r.place.Group,
	})
	return scope{values, r.place.Upstreams}
}

// environment is a list of settings filled in; empty ones are left unset.
func (s scope) environment(env []Setting) []string {
	var all []string
	for _, one := range env {
		if v := s.fill(one.Value); v != "" {
			all = append(all, one.Name+"="+v)
		}
	}
	return all
}

// image says which container the command runs in.
func (r *rendering) image() *ImageCommand {
	im := r.entry.Image
	c := &ImageCommand{Name: im.Name, Dockerfile: im.Dockerfile}
	if r.entry.Build != nil && im.Dockerfile == "" {
		c.Output = path.Join(im.Work, "output", path.Base(r.entry.Build.Output))
	}
	return c
}

// entryFolder is the folder, below work, of the entry's files.
const entryFolder = "entry"

// files are those that belong into the work folder: all but what makes the
// entry and what only its build takes.
func (r *rendering) files(s scope) (Files, error) {
	e := r.entry
	return e.collect(s, func(name string) (string, bool) {
		if name == targetFile || name == e.Manifest || e.Image != nil && name == e.Image.Dockerfile || e.Build != nil && e.Build.concerns(name) {
			return "", false
		}
		return path.Join(entryFolder, name), true
	})
}

// collect fills in and renames the files that choose wants.
func (e *Entry) collect(s scope, choose func(name string) (string, bool)) (Files, error) {
	var files Files
	err := fs.WalkDir(e.files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		to, ok := choose(name)
		if !ok {
			return nil
		}
		f, err := e.file(name, to, s)
		files = append(files, f)
		return err
	})
	return files, err
}

// file reads a file of the entry, filled in if it is a template.
func (e *Entry) file(name, to string, s scope) (File, error) {
	info, err := fs.Stat(e.files, name)
	if err != nil {
		return File{}, err
	}
	mode := fs.FileMode(0o644) | info.Mode().Perm()&0o111
	if t, ok := e.templates[name]; ok {
		return File{strings.TrimSuffix(to, templateSuffix), mode, []byte(s.fill(t))}, nil
	}
	text, err := readFile(e.files, name)
	return File{to, mode, text}, err
}
