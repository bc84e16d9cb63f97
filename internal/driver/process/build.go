package process

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"prony/internal/driver"
	"prony/internal/host"
	"prony/internal/plan"
)

// keptFor is how long a build stays in the cache without being used.
const keptFor = 30 * 24 * time.Hour

func (d *Driver) builds() string { return filepath.Join(d.cache, "builds") }

// removeAll and glob are those of this machine, where builds are.
func removeAll(name string) error           { return os.RemoveAll(name) }
func glob(pattern string) ([]string, error) { return filepath.Glob(pattern) }

// build returns the folder with what a build made, "" if that is not in
// ${work}. A build is done once in the life of a driver, whatever happens to
// its sources meanwhile: all trials of an experiment measure the same program.
func (d *Driver) build(ctx context.Context, r driver.Request, b driver.Build) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	identity := strings.Join(slices.Concat(b.Command, []string{b.Dir}, settings(b.Env)), "\x00")
	if made, done := d.built[identity]; done {
		return made, nil
	}
	digest, err := digest(ctx, b)
	if err != nil {
		return "", err
	}
	made := filepath.Join(d.builds(), digest)
	now := time.Now()
	if os.Chtimes(made, now, now) != nil { // it is not there
		if made, err = d.make(ctx, r, b, made); err != nil {
			return "", err
		}
	}
	d.built[identity] = made
	return made, nil
}

// settings are variables as NAME=text, sorted.
func settings(env map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		all = append(all, name+"="+env[name])
	}
	return all
}

// make runs a build beside its place in the cache and moves the result there.
func (d *Driver) make(ctx context.Context, r driver.Request, b driver.Build, made string) (string, error) {
	d.evict()
	temp := filepath.Join(d.builds(), driver.Prefix(r.Run)+"build."+filepath.Base(made)[:16])
	if err := os.RemoveAll(temp); err != nil {
		return "", err
	}
	if err := os.MkdirAll(temp, 0o755); err != nil {
		return "", err
	}
	defer os.RemoveAll(temp)
	if err := work(ctx, r, b, temp); err != nil {
		return "", err
	}
	entries, err := os.ReadDir(temp)
	if err != nil || len(entries) == 0 {
		return "", err
	}
	if err := protect(temp); err != nil {
		return "", err
	}
	err = os.Rename(temp, made)
	if _, there := os.Stat(made); err != nil && there == nil {
		err = nil // another process was faster
	}
	return made, err
}

// work runs the command of a build.
func work(ctx context.Context, r driver.Request, b driver.Build, dir string) error {
	values := map[string]string{"work": dir}
	words, err := driver.Words(b.Command, values)
	if err != nil {
		return err
	}
	c := host.Local().Command(words[0], words[1:]...)
	c.Dir = b.Dir
	for _, name := range slices.Sorted(maps.Keys(b.Env)) {
		// A text that needs the port of an instance is none for a build.
		if value, err := plan.Fill(b.Env[name], values); err == nil {
			c.Env = append(c.Env, name+"="+value)
		}
	}
	c.Env = append(c.Env, r.Labels()...)
	log := driver.NewLog("", nil)
	c.Stdout, c.Stderr = log, log
	if err := c.Run(ctx); err != nil {
		return withLog(err, log)
	}
	return nil
}

// logLines is how much of a build's output an error shows.
const logLines = 20

// withLog puts a build's last lines in place of the few that the error has.
func withLog(err error, log *driver.Log) error {
	var e *host.Error
	lines := log.Tail(logLines)
	if !errors.As(err, &e) || len(lines) == 0 {
		return err
	}
	bare := *e
	bare.Stderr = ""
	return fmt.Errorf("%w; its last lines:\n  %s", &bare, strings.Join(lines, "\n  "))
}

// protect takes the right to write from the files: instances share them.
func protect(dir string) error {
	return filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		return os.Chmod(name, info.Mode().Perm()&^0o222)
	})
}

// evict removes builds that nobody has used for long. What cannot be removed
// stays; the next build tries again.
func (d *Driver) evict() {
	entries, _ := os.ReadDir(d.builds())
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keptFor {
			_ = os.RemoveAll(filepath.Join(d.builds(), e.Name()))
		}
	}
}

// bring puts what a build made into the instance's folder: links on this
// machine, copies on another.
func (l *launch) bring(ctx context.Context, made string) error {
	if made == "" {
		return nil
	}
	if !l.request.Site.Here() {
		return l.copyTree(ctx, made)
	}
	entries, err := os.ReadDir(made)
	if err != nil {
		return fmt.Errorf("bring the build: %w", err)
	}
	for _, e := range entries {
		if err := os.Symlink(filepath.Join(made, e.Name()), filepath.Join(l.setting.Work, e.Name())); err != nil {
			return fmt.Errorf("bring the build: %w", err)
		}
	}
	return nil
}

func (l *launch) copyTree(ctx context.Context, made string) error {
	files := l.request.Site.Host.FS()
	return filepath.WalkDir(made, func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == made {
			return err
		}
		to := l.setting.Work + "/" + filepath.ToSlash(strings.TrimPrefix(name, made+string(filepath.Separator)))
		if e.IsDir() {
			return files.MkdirAll(to, 0o755)
		}
		return files.Copy(ctx, name, to)
	})
}
