package driver

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"prony/internal/plan"
)

// Program is what to start, with all values in place.
type Program struct {
	Command []string // words; no shell
	Env     map[string]string
	Dir     string // absolute, on the host; "" is ${work}
	Files   []File // written before it starts
	// Build makes files in ${work} first; nil if there is nothing to build.
	Build *Build
	// Ready is used where the service does not say when it is ready.
	Ready plan.Ready
}

// File is a file of a program.
type File struct {
	Name string // relative to ${work}, or absolute on the host
	Text []byte
	Perm fs.FileMode // 0 is 0o644
}

// Build is a command that runs on this machine. Its words may hold ${work},
// which is where it has to put its result; from there it comes into the ${work}
// of the instances.
type Build struct {
	Command []string
	Dir     string // absolute, on this machine
	Env     map[string]string
}

var errEmpty = errors.New("it has no command")

// Program is the program of a request.
func (r Request) Program(s Setting) (Program, error) {
	p, err := r.program(s)
	if err == nil && len(p.Command) == 0 {
		err = errEmpty
	}
	if err != nil {
		return Program{}, fmt.Errorf("prepare the program: %w", err)
	}
	return p, nil
}

func (r Request) program(s Setting) (Program, error) {
	if r.Render != nil {
		p, err := r.Render(s)
		if err != nil {
			return p, err
		}
		return p, r.environment(s, &p)
	}
	if r.Service.Process == nil {
		return Program{}, errEmpty
	}
	command, err := Words(r.Service.Process.Command, s.values())
	if err != nil {
		return Program{}, err
	}
	p := Program{Command: command}
	if r.Site.Here() {
		p.Dir = r.Folder()
	}
	if len(r.Service.Process.Build) > 0 {
		p.Build = &Build{Command: r.Service.Process.Build, Dir: r.Folder(), Env: r.Service.Env}
	}
	return p, r.environment(s, &p)
}

// environment puts the service's variables on top of the program's.
func (r Request) environment(s Setting, p *Program) error {
	env := map[string]string{}
	for name, value := range p.Env {
		env[name] = value
	}
	for name, text := range r.Service.Env {
		value, err := plan.Fill(text, s.values())
		if err != nil {
			return fmt.Errorf("environment %s: %w", name, err)
		}
		env[name] = value
	}
	p.Env = env
	return nil
}

// Folder is where the service's program starts on this machine, and where it is
// built.
func (r Request) Folder() string {
	dir := ""
	if r.Service.Process != nil {
		dir = r.Service.Process.Dir
	}
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(r.Base, dir)
}

// Words fills in the variables of each word.
func Words(words []string, values map[string]string) ([]string, error) {
	filled := make([]string, len(words))
	for i, word := range words {
		var err error
		if filled[i], err = plan.Fill(word, values); err != nil {
			return nil, err
		}
	}
	return filled, nil
}
