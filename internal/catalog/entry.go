package catalog

import (
	"io/fs"
	"regexp"
	"time"
)

// Kind says what an entry is.
type Kind string

const (
	// App answers requests itself.
	App Kind = "app"
	// Gateway passes them on to upstreams.
	Gateway Kind = "gateway"
)

// Entry is one target or gateway of the catalog, as its folder describes it.
type Entry struct {
	Name        string // of the folder
	Origin      string // the folder, for people
	Description string
	Kind        Kind
	Versions    []Pair // of what it is made of, for people
	Needs       []Need
	Build       *Build
	Run         []Variant // the first whose needs are there is taken
	Image       *Image    // nil: there is no way to run it in a container
	Manifest    string    // the file with its Kubernetes objects; "" if there is none
	Ready       Ready
	Routes      []Route
	Parameters  []Parameter
	Counters    *Counters
	// SampleUpstream is the entry that stands behind a gateway when it is
	// tried out.
	SampleUpstream string
	sampleAt       Mistake // where it says so

	files     fs.FS
	templates map[string]Template // by file name, with .tmpl
}

// Pair is a name and a text, in the order of the file.
type Pair struct{ Name, Text string }

// Setting is a name and a template, in the order of the file.
type Setting struct {
	Name  string
	Value Template
}

// Need is something that has to be on the machine. Exactly one of Program,
// Files and JDK says what. Its name is a variable: the path that was found.
type Need struct {
	Name    string
	Program string   // a command, in the path or where system programs are; or in Paths
	Paths   []string // further files that would do for Program
	Files   []string // the first that exists
	JDK     int      // a Java development kit of that release or newer; the path is its home
	Install string   // the command or the package that brings it
}

// Build makes something before the first start. Its result is kept, and found
// again by the inputs, the command and the environment.
type Build struct {
	Needs   []string
	Command Template
	Env     []Setting
	Inputs  []string // files and folders of the entry; they are there, filled in, when it runs
	Output  string   // the file or folder it makes
}

// Variant is a way to run an entry.
type Variant struct {
	Needs   []string
	Set     []Setting // variables of its own
	Command Template
	Env     []Setting // one that comes out empty is left unset
}

// Image is how an entry runs in a container: in an image by its name, or in one
// built from a Dockerfile of the entry. The folder Work in it holds what
// ${work} holds elsewhere.
type Image struct {
	Name       string
	Dockerfile string
	Work       string
	Variant
}

// Ready says when an entry serves: when GET Path has that status.
type Ready struct {
	Path   string
	Status int
	Within time.Duration
}

// Route is a path with the answer that it owes. At most one of Body, BodyLength
// and BodyRegexp is set; a gateway owes its upstream's routes as well.
type Route struct {
	Path, Method string
	Status       int
	Body         *string
	BodyLength   *int // in bytes
	BodyRegexp   *regexp.Regexp
}

// Parameter is a setting that a user may change.
type Parameter struct {
	Name, Default, Doc string
	Allowed            []string       // the values, or
	Pattern            *regexp.Regexp // what a value has to look like; nil with Allowed empty: anything
}

// Counters says where an entry counts requests.
type Counters struct {
	Format CounterFormat
	Path   string
}

// parameter finds a parameter by its name.
func (e *Entry) parameter(name string) *Parameter {
	for i := range e.Parameters {
		if e.Parameters[i].Name == name {
			return &e.Parameters[i]
		}
	}
	return nil
}

// need finds a need by its name.
func (e *Entry) need(name string) *Need {
	for i := range e.Needs {
		if e.Needs[i].Name == name {
			return &e.Needs[i]
		}
	}
	return nil
}

func (e *Entry) parameterNames() []string {
	return names(e.Parameters, func(p Parameter) string { return p.Name })
}

func (e *Entry) needNames() []string {
	return names(e.Needs, func(n Need) string { return n.Name })
}

// names lists what name says of each.
func names[T any](all []T, name func(T) string) []string {
	list := make([]string, len(all))
	for i, one := range all {
		list[i] = name(one)
	}
	return list
}
