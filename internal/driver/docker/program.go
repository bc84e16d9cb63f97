package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"prony/internal/driver"
	"prony/internal/host"
)

// work is ${work} in the container of a program.
const work = "/prony/work"

var (
	errLinux   = errors.New("only a program for Linux can run in a container, and this machine's programs are for another system")
	errProgram = fmt.Errorf("no such program: %w", fs.ErrNotExist)
)

// checkProgram looks for the program of a process service.
func checkProgram(r driver.Request) error {
	p := r.Service.Process
	switch {
	case runtime.GOOS != "linux":
		return fmt.Errorf("%w: %w", errLinux, errors.ErrUnsupported)
	case len(p.Build) > 0 && !strings.Contains(p.Build[0], "/"):
		if _, err := exec.LookPath(p.Build[0]); err != nil {
			return err
		}
	}
	if len(p.Command) == 0 || strings.Contains(p.Command[0], "$") || len(p.Build) > 0 {
		return nil
	}
	_, err := located(p.Command[0], r.Folder())
	return err
}

// located is the absolute path of a command: beside dir, or in the PATH.
func located(name, dir string) (string, error) {
	if strings.Contains(name, "/") && !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, errProgram)
	}
	found, err = filepath.Abs(found)
	return settled(found), err
}

// prepareProgram is about a program that gets a container of its own.
func (l *launch) prepareProgram(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		return errLinux
	}
	if err := l.take(ctx, l.request.Service.Port); err != nil {
		return err
	}
	p, err := l.request.Program(driver.Setting{Host: l.request.Site.Reach(), Port: l.port, Work: work})
	if err != nil {
		return err
	}
	l.program, l.ready = &p, l.request.ReadyOf(p)
	l.host.NetworkMode = hostNetwork
	l.config.WorkingDir = work
	if p.Dir != "" {
		l.config.WorkingDir = p.Dir
	}
	if shared := sharedFolder(l.request, p); shared != "" {
		l.host.Binds = []string{shared + ":" + shared + ":ro"}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		l.config.Env = append(l.config.Env, name+"="+p.Env[name])
	}
	return nil
}

// sharedFolder is the folder that a process service starts in: the container
// sees it, but cannot write to it. A catalog entry has its own files.
func sharedFolder(r driver.Request, p driver.Program) string {
	info, err := os.Stat(p.Dir)
	if r.Render != nil || !filepath.IsAbs(p.Dir) || filepath.Clean(p.Dir) == "/" || err != nil || !info.IsDir() {
		return ""
	}
	return filepath.Clean(p.Dir)
}

// pack makes the image of the program, unless that was done in the life of this
// driver: all trials of an experiment measure the same program.
func (l *launch) pack(ctx context.Context) error {
	if l.program == nil {
		return nil
	}
	d := l.driver
	d.making.Lock()
	defer d.making.Unlock()
	command := slices.Clone(l.program.Command)
	if l.program.Build == nil {
		first, err := located(command[0], l.program.Dir)
		if err != nil && !inWork(command[0]) {
			return err
		}
		if err == nil {
			command[0] = first
		}
	}
	l.config.Entrypoint = command
	identity := l.identity(command)
	if name, made := d.images[identity]; made {
		l.config.Image = name
		return nil
	}
	name, err := l.image(ctx, command)
	if err != nil {
		return fmt.Errorf("make an image of the program: %w", err)
	}
	l.config.Image, d.images[identity] = name, name
	return nil
}

func inWork(name string) bool { return strings.HasPrefix(path.Clean(name), work+"/") }

// identity is what an image is made from. It must not hold values that differ
// between instances, nor depend on what a build leaves elsewhere.
func (l *launch) identity(command []string) string {
	var parts []string
	if p := l.request.Service.Process; l.request.Render == nil && p != nil {
		parts = slices.Concat(p.Command, []string{p.Dir}, settings(l.request.Service.Env))
	} else {
		parts = append([]string{command[0]}, l.references(command)...)
	}
	if b := l.program.Build; b != nil {
		parts = slices.Concat(parts, []string{"build"}, b.Command, []string{b.Dir}, settings(b.Env))
	}
	return strings.Join(parts, "\x00")
}

func settings(env map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		all = append(all, name+"="+env[name])
	}
	return all
}

// references are the absolute paths of this machine that the program's words,
// variables and files name, sorted. Folders count in words alone.
func (l *launch) references(command []string) []string {
	var all []string
	skip := ""
	if len(l.host.Binds) > 0 {
		skip = l.program.Dir
	}
	for _, word := range command[1:] {
		all = append(all, named(word, skip, true)...)
	}
	for _, value := range l.program.Env {
		all = append(all, named(value, skip, false)...)
	}
	for _, f := range l.program.Files {
		all = append(append(all, named(string(f.Text), skip, false)...), loaded(string(f.Text))...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// image makes the image and returns its name.
func (l *launch) image(ctx context.Context, command []string) (string, error) {
	tree := newTree(l.request.Site.Host)
	if l.program.Build != nil {
		dir, err := os.MkdirTemp("", logPrefix(l.request.Run)+"build-")
		if err != nil {
			return "", err
		}
		defer os.RemoveAll(dir)
		if err := build(ctx, l.request, *l.program.Build, dir); err != nil {
			return "", err
		}
		if err := tree.folder(ctx, dir, work); err != nil {
			return "", err
		}
	}
	for _, name := range append([]string{command[0]}, l.references(command)...) {
		if inWork(name) {
			continue // it was built, or is put there before the start
		}
		if err := tree.add(ctx, name); err != nil {
			return "", err
		}
	}
	for _, f := range l.program.Files {
		if err := tree.interpreter(ctx, f.Text); err != nil {
			return "", err
		}
	}
	return l.engine.imported(ctx, tree)
}

// buildLines is how much of a build's output an error shows.
const buildLines = 20

// build runs a build on this machine, with its result in dir.
func build(ctx context.Context, r driver.Request, b driver.Build, dir string) error {
	values := map[string]string{"work": dir}
	words, err := driver.Words(b.Command, values)
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	c := host.Local().Command(words[0], words[1:]...)
	c.Dir = b.Dir
	for _, name := range slices.Sorted(maps.Keys(b.Env)) {
		// A text that needs the port of an instance is none for a build.
		if filled, err := driver.Words([]string{b.Env[name]}, values); err == nil {
			c.Env = append(c.Env, name+"="+filled[0])
		}
	}
	c.Env = append(c.Env, r.Labels()...)
	log := driver.NewLog("", nil)
	c.Stdout, c.Stderr = log, log
	if err := c.Run(ctx); err != nil {
		return fmt.Errorf("build: %w; its last lines:\n  %s", err, strings.Join(log.Tail(buildLines), "\n  "))
	}
	return nil
}
