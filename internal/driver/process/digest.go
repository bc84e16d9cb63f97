package process

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"prony/internal/driver"
)

// Bounds of looking at a source tree.
const (
	filesMax   = 200_000
	wholeBytes = 4 << 20 // of a file larger than that, size and time stand for the content
)

var errLarge = fmt.Errorf("more than %d files: the folder of the service is too wide", filesMax)

// digest is what a build is found again by: its command, environment, tools and
// sources.
func digest(ctx context.Context, b driver.Build) (string, error) {
	d := sha256.New()
	fmt.Fprintf(d, "prony build 1\x00%s/%s\x00%q\x00%q\x00%q\x00", runtime.GOOS, runtime.GOARCH, b.Command, settings(b.Env), relevant(os.Environ()))
	tool := ""
	if len(b.Command) > 0 {
		tool = b.Command[0]
	}
	if name, err := exec.LookPath(tool); err == nil {
		stamp(d, name)
	}
	roots := []string{sources(b.Dir)}
	for _, word := range b.Command[min(1, len(b.Command)):] {
		// A word may lead out of the tree: a module beside it, a script.
		if !strings.Contains(word, "$") && strings.Contains(word, "/") {
			roots = append(roots, absolute(b.Dir, word))
		}
	}
	count := 0
	for _, root := range apart(roots) {
		if err := tree(ctx, d, root, &count); err != nil {
			return "", fmt.Errorf("look at the sources in %s: %w", root, err)
		}
	}
	fmt.Fprintf(d, "in %s", b.Dir)
	return hex.EncodeToString(d.Sum(nil)), nil
}

func absolute(dir, name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(dir, name)
}

// apart leaves out what is not there and what another root holds already.
func apart(roots []string) []string {
	var kept []string
	for _, root := range roots {
		if _, err := os.Stat(root); err != nil {
			continue
		}
		if !slices.ContainsFunc(kept, func(k string) bool { return root == k || strings.HasPrefix(root, strings.TrimSuffix(k, "/")+"/") }) {
			kept = append(kept, root)
		}
	}
	return kept
}

// relevant are the variables that builds listen to.
func relevant(environ []string) []string {
	starts := strings.Fields("GO CGO_ JAVA_ MAVEN_ MVN_ GRADLE_ CARGO_ RUST NODE_ NPM_ CC= CXX= CPP LD AR= PATH= PKG_CONFIG")
	var kept []string
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		if slices.ContainsFunc(starts, func(s string) bool { return strings.HasPrefix(e, s) }) || strings.HasSuffix(name, "FLAGS") {
			kept = append(kept, e)
		}
	}
	slices.Sort(kept)
	return kept
}

// sources is the tree that a folder's build can draw from: up to the next
// repository, else the widest folder with a build file, else the folder.
func sources(dir string) string {
	widest := dir
	for at := dir; ; at = filepath.Dir(at) {
		if is(at, ".git", ".hg", ".svn") {
			return at
		}
		if is(at, "go.mod", "go.work", "pom.xml", "build.gradle", "settings.gradle", "Cargo.toml", "package.json") {
			widest = at
		}
		if at == filepath.Dir(at) {
			return widest
		}
	}
}

func is(dir string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// tree takes a file, or a folder with all that is in it, into the digest. The
// order is that of WalkDir: by name.
func tree(ctx context.Context, d hash.Hash, root string, count *int) error {
	return filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		if e.IsDir() {
			if slices.Contains([]string{".git", ".hg", ".svn"}, e.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if *count++; *count > filesMax {
			return errLarge
		}
		return file(d, name, e)
	})
}

// file takes one file into the digest.
func file(d hash.Hash, name string, e fs.DirEntry) error {
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a temporary file of somebody's editor
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(d, "\x00%q %s ", name, info.Mode())
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(name)
		fmt.Fprintf(d, "%q", to)
		return err
	case !info.Mode().IsRegular():
		return nil
	case info.Size() > wholeBytes:
		stamp(d, name)
		return nil
	}
	in, err := os.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	fmt.Fprintf(d, "%d ", info.Size())
	_, err = io.Copy(d, in)
	return err
}

// stamp takes a file's size and time into the digest in place of its content.
func stamp(d hash.Hash, name string) {
	if info, err := os.Stat(name); err == nil {
		fmt.Fprintf(d, "%q %d %d", name, info.Size(), info.ModTime().UnixNano())
	}
}
