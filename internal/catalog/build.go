package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// File is a file of an entry, filled in.
type File struct {
	Name string // a path with slashes, relative
	Mode fs.FileMode
	Text []byte
}

// Files are some files, by name.
type Files []File

// Write puts the files into a folder, which it makes if need be.
func (f Files) Write(dir string) error {
	for _, one := range f {
		name := filepath.Join(dir, filepath.FromSlash(one.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("write %s: %w", one.Name, err)
		}
		if err := os.WriteFile(name, one.Text, one.Mode); err != nil {
			return fmt.Errorf("write %s: %w", one.Name, err)
		}
	}
	return nil
}

// BuildCommand is a build, filled in.
type BuildCommand struct {
	Files  Files
	Args   []string
	Env    []string // on top of what is there
	Output string   // what it makes, in the folder it runs in
	Folder string   // where the finished build is kept, named after what went into it
	Result string   // Output in Folder: ${output} of commands
}

// takes reports whether a file goes into the build.
func (b *Build) takes(name string) bool {
	return slices.ContainsFunc(b.Inputs, func(in string) bool {
		in = strings.TrimSuffix(in, "/")
		return name == in || strings.HasPrefix(name, in+"/")
	})
}

// concerns reports whether a file belongs to the build and not to running. What
// an author's own build has left in the folder, such as Maven's target, is
// neither.
func (b *Build) concerns(name string) bool {
	top, _, _ := strings.Cut(b.Output, "/")
	return b.takes(name) || name == top || strings.HasPrefix(name, top+"/")
}

// build fills in the build. It sees parameters and needs, not the place.
func (r *rendering) build() (*BuildCommand, error) {
	b := r.entry.Build
	found, lacks := r.entry.find(r.place.Find, b.Needs)
	if len(lacks) > 0 {
		return nil, &MissingError{Entry: r.entry.Name, Ways: [][]Lack{lacks}}
	}
	s := scope{values: map[string]string{"output": b.Output}}
	for name, v := range r.values {
		s.values[name] = v
	}
	var stamps []string
	for _, name := range b.Needs {
		s.values[name] = found[name].Path
		stamps = append(stamps, name, found[name].Stamp)
	}
	args, err := s.words(b.Command)
	if err != nil {
		return nil, err
	}
	c := &BuildCommand{Args: args, Env: s.environment(b.Env), Output: b.Output}
	c.Files, err = r.entry.collect(s, func(name string) (string, bool) { return name, b.takes(name) })
	if err != nil {
		return nil, err
	}
	c.Folder = filepath.Join(r.place.Cache, r.entry.Name, c.key(stamps))
	c.Result = filepath.Join(c.Folder, filepath.FromSlash(b.Output))
	return c, nil
}

// key is a digest of all that a build depends on.
func (c *BuildCommand) key(stamps []string) string {
	h := sha256.New()
	add := func(parts ...string) {
		for _, p := range parts {
			fmt.Fprintf(h, "%d:%s", len(p), p) // a hash never fails to take text
		}
		fmt.Fprint(h, ";")
	}
	add(c.Args...)
	add(c.Env...)
	add(stamps...)
	add(c.Output)
	for _, f := range c.Files {
		add(f.Name, f.Mode.String(), string(f.Text))
	}
	return hex.EncodeToString(h.Sum(nil)[:10])
}

// buildWithin bounds a build: the first one may fetch what it depends on.
const buildWithin = 15 * time.Minute

// There reports whether the result is there, so that Build has nothing to do.
func (c *BuildCommand) There() bool {
	_, err := os.Stat(c.Result)
	return err == nil
}

// turnFile is what builds lock, in the folder of all builds.
const turnFile = ".turn"

// Build makes the result unless it is there. Builds on one machine take turns:
// they share Maven's folder of packages, which bears no two of them, and those
// of one entry find the result of the first. It runs in a folder beside the
// final one, which appears whole or not at all. When the context ends, the
// command is ended with all that it started.
func (c *BuildCommand) Build(ctx context.Context) error {
	if c.There() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(c.Folder), 0o755); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	leave, err := turn(ctx, filepath.Join(filepath.Dir(filepath.Dir(c.Folder)), turnFile))
	if err != nil {
		return fmt.Errorf("build: wait for another build: %w", err)
	}
	defer leave()
	if c.There() {
		return nil
	}
	dir, err := os.MkdirTemp(filepath.Dir(c.Folder), ".build-")
	if err != nil {
		return fmt.Errorf("build: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := c.run(ctx, dir); err != nil {
		return err
	}
	if err := os.Rename(dir, c.Folder); err != nil {
		if c.There() {
			return nil // somebody else was faster, where turns cannot be taken
		}
		return fmt.Errorf("build: keep the result: %w", err)
	}
	return nil
}

func (c *BuildCommand) run(ctx context.Context, dir string) error {
	if err := c.Files.Write(dir); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, buildWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), c.Env...)
	tidyEnd(cmd)
	tidyEndAll(cmd)
	defer sweep(cmd)
	var said tail
	cmd.Stdout, cmd.Stderr = &said, &said
	line := strings.Join(c.Args, " ")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build: %s: %w%s", line, errors.Join(err, ctx.Err()), said.lines())
	}
	if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(c.Output))); err != nil {
		return fmt.Errorf("build: %s made no %s%s", line, c.Output, said.lines())
	}
	return nil
}

// context are the files that an image is built from: the Dockerfile and what a
// build would take.
func (r *rendering) context() (Files, error) {
	e := r.entry
	s := scope{values: maps.Clone(r.values)}
	if e.Build != nil {
		s.values["output"] = e.Build.Output
	}
	return e.collect(s, func(name string) (string, bool) {
		return name, name == e.Image.Dockerfile || e.Build != nil && e.Build.takes(name)
	})
}

// tailSize bounds what is kept of a program's words, in bytes.
const tailSize = 4 << 10

// tail keeps the end of what is written to it. It is for one writer.
type tail struct{ text []byte }

// Write keeps the end of p.
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if extra := len(t.text) - tailSize; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(p), nil
}

// lines is what was kept, indented, with a line break in front; "" for nothing.
func (t *tail) lines() string {
	text := bytes.TrimSpace(t.text)
	if len(text) == 0 {
		return ""
	}
	return "\n  " + strings.ReplaceAll(string(text), "\n", "\n  ")
}
