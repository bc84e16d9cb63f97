package compose

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"go.yaml.in/yaml/v4"

	"prony/internal/driver"
	"prony/internal/driver/docker"
)

// The labels that Compose gives to containers.
const (
	labelProject = "com.docker.compose.project"
	labelService = "com.docker.compose.service"
)

// Patience of steps that an interrupt does not cut short.
const (
	abandonPatience = 60 * time.Second
	limitPatience   = 30 * time.Second
)

// launch is a start that is under way.
type launch struct {
	driver  *Driver
	request driver.Request
	project project
	part    part
	notes   []string
	undo    *driver.Undo
}

// Start starts an instance of a service. See driver.Driver.
func (d *Driver) Start(ctx context.Context, r driver.Request) (*driver.Started, error) {
	l := &launch{driver: d, request: r, undo: &driver.Undo{}}
	started, err := l.start(ctx)
	if err == nil {
		return started, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonPatience)
	defer cancel()
	return nil, errors.Join(err, l.undo.Run(ctx))
}

func (l *launch) start(ctx context.Context) (*driver.Started, error) {
	var err error
	if l.project, err = l.driver.project(ctx, l.request); err != nil {
		return nil, err
	}
	id, err := l.create(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.limit(ctx, id); err != nil {
		return nil, err
	}
	endpoint := driver.Setting{Host: l.request.Site.Reach(), Port: l.part.port}.URL()
	return l.driver.docker.Take(ctx, docker.Created{Request: l.request, ID: id, Endpoint: endpoint, Inside: l.part.inside,
		Ready: l.request.ReadyOf(driver.Program{}), Ports: []int{l.part.port}, Notes: l.notes, Undo: l.undo, Kind: Kind})
}

// create has Compose make the container, and what the service needs before.
func (l *launch) create(ctx context.Context) (string, error) {
	d := l.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	f, err := d.resolved(ctx, l.project)
	if err != nil {
		return "", err
	}
	if err := l.prepare(ctx, f); err != nil {
		return "", err
	}
	text, err := f.with(l.part)
	if err != nil {
		return "", err
	}
	r := l.request
	if err := r.Keep(driver.Record{Run: r.Run, Name: r.Name(), Host: r.Site.Name, Kind: Kind, Files: []string{docker.LogFolder(r)}, Ports: []int{l.part.port}}); err != nil {
		return "", err
	}
	l.undo.Add("remove the project", func(ctx context.Context) error { return l.project.clear(ctx) })
	if err := l.up(ctx, f, text); err != nil {
		return "", err
	}
	return l.made(ctx)
}

// prepare decides what will be made, and takes the port.
func (l *launch) prepare(ctx context.Context, f file) error {
	c, r := l.request.Service.Compose, l.request
	serves, err := f.serves(c.Service, c.Port)
	if err != nil {
		return err
	}
	images, err := l.project.found(ctx, f, c.Service)
	if err != nil {
		return err
	}
	want := r.Service.Port
	if f.onHost(c.Service) {
		want, serves = serves, 0
	}
	port, err := r.Ports.Take(ctx, r.Site, want)
	if err != nil {
		return err
	}
	l.undo.Add("give the port back", func(context.Context) error { r.Ports.Give(r.Site, port); return nil })
	l.part = part{request: r, service: c.Service, inside: serves, port: port, images: images}
	return nil
}

// up starts what the service needs, unless it is up, and makes one container
// more of the service. An interrupt ends Compose; what it made is found by its
// label.
func (l *launch) up(ctx context.Context, f file, text []byte) error {
	there, err := l.project.containers(ctx)
	if err != nil {
		return err
	}
	count, running := map[string]int{}, map[string]bool{}
	for _, c := range there {
		name := c.Labels[labelService]
		count[name]++
		running[name] = running[name] || c.State == container.StateRunning
		if c.Labels[docker.LabelInstance] == l.request.Name() {
			return fmt.Errorf("container %s is there already: was something left by a crash? prony cleanup removes it", c.ID[:12])
		}
	}
	needs := slices.DeleteFunc(f.needs(l.part.service), func(name string) bool { return running[name] })
	if len(needs) > 0 {
		if _, err := l.driver.compose(ctx, l.project, text, slices.Concat([]string{"up", "-d", "--no-recreate", "--no-build"}, kept(count), needs)...); err != nil {
			return err
		}
	}
	count[l.part.service]++
	_, err = l.driver.compose(ctx, l.project, text,
		slices.Concat([]string{"up", "--no-start", "--no-deps", "--no-recreate", "--no-build"}, kept(count), []string{l.part.service})...)
	return err
}

// kept keeps the numbers of containers as they are.
func kept(count map[string]int) []string {
	var words []string
	for name, n := range count {
		words = append(words, "--scale", name+"="+strconv.Itoa(n))
	}
	return words
}

var errMade = errors.New("compose made no container for it")

// made finds the container of the instance.
func (l *launch) made(ctx context.Context) (string, error) {
	all, err := l.project.containers(ctx)
	if err != nil {
		return "", err
	}
	for _, c := range all {
		if c.Labels[docker.LabelInstance] == l.request.Name() {
			l.undo.Add("remove the container", func(ctx context.Context) error { return docker.Remove(ctx, l.project.api, c.ID) })
			return c.ID, nil
		}
	}
	return "", errMade
}

// limit sets the limits before the container starts.
func (l *launch) limit(ctx context.Context, id string) error {
	asked := l.request.Service.Limits
	err := l.driver.docker.Able(ctx, asked)
	switch {
	case err != nil && l.request.Advisory && errors.Is(err, errors.ErrUnsupported):
		l.notes = append(l.notes, driver.Unlimited(asked, err))
		return nil
	case err != nil:
		return err
	}
	resources := docker.Resources(asked)
	ctx, cancel := context.WithTimeout(ctx, limitPatience)
	defer cancel()
	if _, err := l.project.api.ContainerUpdate(ctx, id, client.ContainerUpdateOptions{Resources: &resources}); err != nil {
		return fmt.Errorf("limit it to %s: %w", asked, err)
	}
	return nil
}

// resolved is a project's file as Compose reads it, once in the life of the
// driver: all trials measure the same. The lock is held.
func (d *Driver) resolved(ctx context.Context, p project) (file, error) {
	if f, done := d.files[p.name]; done {
		return f, nil
	}
	text, err := d.compose(ctx, p, nil, "config")
	if err != nil {
		return file{}, err
	}
	f, err := parse(text, p.path)
	if err != nil {
		return file{}, fmt.Errorf("%s: %w", p.path, err)
	}
	d.files[p.name] = f
	return f, nil
}

// images reports which images are missing of what a service needs.
func (p project) images(ctx context.Context, f file, service string) error {
	_, err := p.found(ctx, f, service)
	return err
}

// found are the images of a service and of what it needs, by service, where they
// are not those that the file names.
func (p project) found(ctx context.Context, f file, service string) (map[string]string, error) {
	if f.service(service) == nil {
		return nil, nil // was said
	}
	images := map[string]string{}
	var errs []error
	for _, name := range append(f.needs(service), service) {
		s := f.service(name)
		var names []string
		verb := "pull"
		if image, ok := s["image"].(string); ok {
			names = []string{image}
		} else {
			names, verb = f.builtNames(name, userProject(f.origin)), "build"
		}
		if s["build"] != nil {
			verb = "build"
		}
		found, err := p.first(ctx, names)
		if err == nil && found == "" {
			err = &missingImage{service: name, image: names[0], file: p.path, verb: verb}
		}
		images[name] = found
		errs = append(errs, err)
	}
	return images, errors.Join(errs...)
}

// first is the first of some images that is there; "" for none.
func (p project) first(ctx context.Context, names []string) (string, error) {
	for _, name := range names {
		_, err := p.api.ImageInspect(ctx, name)
		if err == nil {
			return name, nil
		}
		if !errdefs.IsNotFound(err) {
			return "", fmt.Errorf("look for image %s: %w", name, err)
		}
	}
	return "", nil
}

// userProject is the name of the project that the user builds in, if it is not
// that of the folder.
func userProject(origin string) string {
	if name := os.Getenv("COMPOSE_PROJECT_NAME"); name != "" {
		return name
	}
	var named struct {
		Name string `yaml:"name"`
	}
	text, err := os.ReadFile(origin)
	if err != nil || yaml.Unmarshal(text, &named) != nil {
		return ""
	}
	return named.Name
}
