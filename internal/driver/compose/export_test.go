package compose

import (
	"prony/internal/driver"
	"prony/internal/plan"
)

// Resolved is a parsed file, for tests.
type Resolved struct{ file }

// Parse reads what Compose says a file is.
func Parse(text, origin string) (Resolved, error) {
	f, err := parse(text, origin)
	return Resolved{f}, err
}

// Serves is the port on which a service serves.
func (r Resolved) Serves(name string, want int) (int, error) { return r.serves(name, want) }

// Needs are the services that one needs.
func (r Resolved) Needs(name string) []string { return r.needs(name) }

// BuiltNames are the names of an image that was built.
func (r Resolved) BuiltNames(service, project string) []string { return r.builtNames(service, project) }

// With is the file for an instance.
func (r Resolved) With(q driver.Request, service string, inside, port int, images map[string]string) (string, error) {
	text, err := r.with(part{request: q, service: service, inside: inside, port: port, images: images})
	return string(text), err
}

// Replaced takes limits out of a service.
func Replaced(s map[string]any, asked plan.Limits) { replaced(s, asked) }

// ProjectName is the name of a file's project in a run.
func ProjectName(run driver.RunID, path string) string { return projectName(run, path) }
