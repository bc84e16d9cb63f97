package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// tool is a program that the bench runs.
type tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Path    string `json:"-"`
}

// tools are the programs that are there.
type tools []tool

// path returns the path of a program, "" if it is not there.
func (t tools) path(name string) string {
	for _, tool := range t {
		if tool.Name == name {
			return tool.Path
		}
	}
	return ""
}

// packaged is a program of the distribution.
type packaged struct {
	name    string
	version []string // arguments that make it print its version
	debian  string   // package
}

func packagedTools() []packaged {
	return []packaged{
		{"taskset", []string{"-V"}, "util-linux"},
		{"nginx", []string{"-v"}, "nginx"},
		{"wrk", []string{"-v"}, "wrk"},
		{"ab", []string{"-V"}, "apache2-utils"},
		{"h2load", []string{"--version"}, "nghttp2-client"},
		{"strace", []string{"-V"}, "strace"},
		{"perf", []string{"version"}, "linux-perf"},
	}
}

// goTool is a program that is built from its module.
type goTool struct{ name, path, version string }

func goTools() []goTool {
	return []goTool{
		{"bombardier", "github.com/codesenberg/bombardier", "v1.2.6"},
		{"vegeta", "github.com/tsenart/vegeta/v12", "v12.13.0"},
		{"fortio", "fortio.org/fortio", "v1.75.3"},
		{"hey", "github.com/rakyll/hey", "v0.1.5"},
	}
}

// prepare finds or builds every program, and describes the machine before
// anything disturbs it.
func (b *bench) prepare(ctx context.Context) error {
	b.report.begin(b.settings, b.files)
	if err := b.findProny(ctx); err != nil {
		return err
	}
	var missing []string
	for _, p := range packagedTools() {
		if !b.findPackaged(ctx, p) {
			missing = append(missing, p.debian)
		}
	}
	if len(missing) > 0 {
		b.say("bench: for the whole comparison: apt-get install %s", strings.Join(missing, " "))
	}
	if b.tools.path("taskset") == "" {
		return errors.New("find taskset: servers and generators must be kept apart: apt-get install util-linux")
	}
	for _, g := range goTools() {
		b.addGoTool(ctx, g)
	}
	b.report.Tools = b.tools
	return nil
}

// findPackaged looks in the places of servers too.
func (b *bench) findPackaged(ctx context.Context, p packaged) bool {
	path, err := exec.LookPath(p.name)
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin"} {
		if err != nil {
			path, err = exec.LookPath(filepath.Join(dir, p.name))
		}
	}
	if err != nil {
		b.skip(p.name, fmt.Errorf("not installed: apt-get install %s", p.debian))
		return false
	}
	o, err := execute(ctx, 10*time.Second, false, nil, append([]string{path}, p.version...))
	if err != nil {
		b.skip(p.name, err)
		return false
	}
	b.tools = append(b.tools, tool{p.name, firstLine(o.stdout, o.stderr), path})
	return true
}

// firstLine is the first line that is not empty, without the copyright.
func firstLine(texts ...[]byte) string {
	for _, text := range texts {
		for line := range strings.Lines(string(text)) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), " Copyright")
			if line != "" {
				return line
			}
		}
	}
	return "unknown"
}

// findProny takes the binary that was named, or builds one.
func (b *bench) findProny(ctx context.Context) error {
	if b.prony == "" {
		return b.buildProny(ctx)
	}
	path, err := filepath.Abs(b.prony)
	if err != nil {
		return fmt.Errorf("find prony: %w", err)
	}
	o, err := execute(ctx, 10*time.Second, false, nil, []string{path, "--version"})
	if err = errors.Join(err, o.failed); err != nil {
		return fmt.Errorf("find prony: %w", err)
	}
	b.tools = append(b.tools, tool{"prony", firstLine(o.stdout), path})
	return nil
}

// buildProny builds what is to be measured: as released, without cgo.
func (b *bench) buildProny(ctx context.Context) error {
	o, err := execute(ctx, time.Minute, false, nil, []string{"go", "env", "GOMOD"})
	if err = errors.Join(err, o.failed); err != nil {
		return fmt.Errorf("find the module: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(o.stdout)))
	version := pronyVersion(ctx, root)
	path := filepath.Join(b.dir, "prony")
	b.say("bench: building prony %s", version)
	o, err = execute(ctx, 10*time.Minute, false, []string{"CGO_ENABLED=0"},
		[]string{"go", "build", "-C", root, "-trimpath", "-ldflags", "-X main.version=" + version, "-o", path, "./cmd/prony"})
	if err = errors.Join(err, o.failed); err != nil {
		return fmt.Errorf("build prony: %w\n%s", err, o.stderr)
	}
	b.tools = append(b.tools, tool{"prony", version, path})
	return nil
}

// pronyVersion is what the Makefile would call it.
func pronyVersion(ctx context.Context, root string) string {
	argv := []string{"git", "--no-optional-locks", "-C", root, "describe", "--tags", "--always", "--dirty"}
	if o, err := execute(ctx, time.Minute, false, nil, argv); err == nil && o.failed == nil {
		return firstLine(o.stdout)
	}
	return "unknown"
}

// addGoTool builds a generator into the user's cache, once per version.
func (b *bench) addGoTool(ctx context.Context, g goTool) {
	dir, err := os.UserCacheDir()
	if err != nil {
		b.skip(g.name, err)
		return
	}
	dir = filepath.Join(dir, "prony-bench", g.name+"-"+g.version)
	path := filepath.Join(dir, g.name)
	if _, err := os.Stat(path); err != nil {
		if b.quick {
			b.skip(g.name, errors.New("not built yet, and -quick does not build it"))
			return
		}
		if err := b.install(ctx, g, dir); err != nil {
			b.skip(g.name, err)
			return
		}
	}
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		b.skip(g.name, err)
		return
	}
	b.tools = append(b.tools, tool{g.name, info.Main.Version + ", built with " + info.GoVersion, path})
}

// install runs "go install" as anyone would. The module's own requirements
// hold: ours are not looked at.
func (b *bench) install(ctx context.Context, g goTool, dir string) error {
	b.say("bench: building %s %s", g.name, g.version)
	env := []string{"GOBIN=" + dir, "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false"}
	o, err := execute(ctx, 10*time.Minute, false, env, []string{"go", "install", g.path + "@" + g.version})
	if err == nil && o.failed != nil {
		err = o.failed
	}
	if err != nil {
		return fmt.Errorf("does not resolve or build as %s@%s: %w", g.path, g.version, err)
	}
	return nil
}
