package compose

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/moby/moby/client"

	"prony/internal/driver"
	"prony/internal/driver/docker"
	"prony/internal/host"
)

// Kind names the driver in records.
const Kind = "compose"

// Config says what the driver works with.
type Config struct {
	// Engine is where the engine is; see docker.Config.
	Engine docker.Config
	// Command is the program with its first words; empty is docker compose, or
	// docker-compose where the first is not there.
	Command []string
}

// Driver starts services of Compose files; see New.
type Driver struct {
	config Config
	docker *docker.Driver

	mu      sync.Mutex // guards all below; held while Compose works: one at a time
	command []string
	files   map[string]file // as Compose resolved them, by path and project
}

var _ driver.Driver = (*Driver)(nil)

// New makes a driver. It starts and makes nothing.
func New(c Config) *Driver {
	return &Driver{config: c, docker: docker.New(c.Engine), command: c.Command, files: map[string]file{}}
}

// Features says what a service can have.
func (d *Driver) Features() driver.Features {
	f := d.docker.Features()
	f.Builds = false
	return f
}

var (
	errFile  = errors.New("it names no Compose file")
	errHost  = errors.New("services of Compose files can be started on this machine only")
	errFound = errors.New("neither docker compose nor docker-compose is there: apt-get install -y docker-compose, or Docker's compose plugin")
)

// Check looks for the engine, the program, the service in the file, and the
// images of what would be started.
func (d *Driver) Check(ctx context.Context, r driver.Request) error {
	if err := d.check(ctx, r); err != nil {
		return fmt.Errorf("check %s: %w", r.Name(), err)
	}
	return nil
}

func (d *Driver) check(ctx context.Context, r driver.Request) error {
	p, err := d.project(ctx, r)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.resolved(ctx, p)
	if err != nil {
		return err
	}
	_, err = f.serves(r.Service.Compose.Service, r.Service.Compose.Port)
	errs := []error{err, p.images(ctx, f, r.Service.Compose.Service)}
	if !r.Advisory {
		errs = append(errs, d.docker.Able(ctx, r.Service.Limits))
	}
	return errors.Join(errs...)
}

// project is a Compose file in a run.
type project struct {
	run  driver.RunID
	name string
	path string // of the file, absolute
	api  *client.Client
}

// project finds out what a request is about.
func (d *Driver) project(ctx context.Context, r driver.Request) (project, error) {
	c := r.Service.Compose
	switch {
	case c == nil || c.File == "" || c.Service == "":
		return project{}, errFile
	case !r.Site.Here():
		return project{}, fmt.Errorf("host %q: %w", r.Site.Name, errHost)
	}
	path := c.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.Base, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return project{}, err
	}
	if _, err := os.Stat(path); err != nil {
		return project{}, err
	}
	api, err := d.docker.Engine(ctx)
	return project{run: r.Run, name: projectName(r.Run, path), path: path, api: api}, err
}

// Find lists what carries a run's label: containers and folders as the docker
// driver does, then networks and volumes.
func (d *Driver) Find(ctx context.Context, s driver.Site, run driver.RunID) ([]driver.Leftover, error) {
	found, err := d.docker.Find(ctx, s, run)
	if err != nil || !s.Here() {
		return found, err
	}
	api, err := d.docker.Engine(ctx)
	if docker.Absent(err) {
		return found, nil
	}
	if err != nil {
		return found, err
	}
	more, err := belongings(ctx, api, docker.Mark(run))
	return append(found, more...), err
}

// program finds the user's Compose once. The lock is held.
func (d *Driver) program(ctx context.Context) ([]string, error) {
	if len(d.command) > 0 {
		return d.command, nil
	}
	for _, words := range [][]string{{"docker", "compose"}, {"docker-compose"}} {
		asked := append(words[1:len(words):len(words)], "version")
		if host.Local().Command(words[0], asked...).Run(ctx) == nil {
			d.command = words
			return words, nil
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, cause
		}
	}
	return nil, &absentProgram{}
}

// absentProgram is a missing program, which is a thing that is missing.
type absentProgram struct{}

func (*absentProgram) Error() string   { return errFound.Error() }
func (*absentProgram) Unwrap() []error { return []error{errFound, fs.ErrNotExist} }

// compose runs the user's Compose on a project. The lock is held.
func (d *Driver) compose(ctx context.Context, p project, input []byte, words ...string) (string, error) {
	command, err := d.program(ctx)
	if err != nil {
		return "", err
	}
	from := p.path
	if input != nil {
		from = "-"
	}
	args := append(command[1:len(command):len(command)], "-p", p.name, "--project-directory", filepath.Dir(p.path), "-f", from)
	c := host.Local().Command(command[0], append(args, words...)...)
	c.Env = []string{client.EnvOverrideHost + "=" + p.api.DaemonHost()}
	if input != nil {
		c.Stdin = strings.NewReader(string(input))
	}
	out, err := c.Output(ctx)
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", strings.Join(command, " "), words[0], err)
	}
	return string(out), nil
}
