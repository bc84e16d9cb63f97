package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"prony/internal/host"
)

// tree is what an image holds: files of this machine by their paths in it. A
// symbolic link is there as the file that it leads to.
type tree struct {
	host  host.Host
	files map[string]string
	size  int64
}

func newTree(h host.Host) *tree { return &tree{host: h, files: map[string]string{}} }

// Bounds of an image.
const (
	treeBytes = 1 << 30
	treeFiles = 20000
)

var errBig = errors.New("more than 1 GiB or 20000 files would go into the image: does a word name a folder that is too large?")

// put notes a file; it was there already if new is false.
func (t *tree) put(at, from string, size int64) (isNew bool, err error) {
	at = path.Clean(at) // loaders answer with paths like /a/../b
	if _, there := t.files[at]; there {
		return false, nil
	}
	t.files[at] = from
	if t.size += size; t.size > treeBytes || len(t.files) > treeFiles {
		return false, fmt.Errorf("%s: %w", from, errBig)
	}
	return true, nil
}

// add takes a file, or a folder with all that is in it, to the same path.
func (t *tree) add(ctx context.Context, name string) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return t.folder(ctx, name, name)
	case !info.Mode().IsRegular():
		return nil // sockets and the like are made by programs
	}
	return t.file(ctx, name, name, info.Size())
}

// folder takes a folder to a path. What a file in it may lack to be started is
// for the program that uses the folder: a library in it may be loaded after the
// one that it needs, and a script may never run.
func (t *tree) folder(ctx context.Context, from, to string) error {
	return filepath.WalkDir(from, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			return nil // links that lead nowhere, folders
		}
		err = t.file(ctx, path.Join(to, strings.TrimPrefix(name, from)), name, info.Size())
		if errors.Is(err, errBig) || ctx.Err() != nil {
			return err
		}
		return nil
	})
}

// file takes a file, with what it needs to be started.
func (t *tree) file(ctx context.Context, at, from string, size int64) error {
	isNew, err := t.put(at, from, size)
	if err != nil || !isNew {
		return err
	}
	for _, folder := range companions(from) {
		if err := t.folder(ctx, folder, folder); err != nil {
			return err
		}
	}
	head, err := headOf(from)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(head, []byte(elf.ELFMAG)) {
		return t.interpreter(ctx, head)
	}
	if !dynamic(from) {
		return nil
	}
	return t.libraries(ctx, from)
}

// headBytes is enough of a file to see how it is started.
const headBytes = 256

func headOf(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, headBytes)
	n, err := io.ReadFull(f, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
}

// interpreter takes the program of a script's first line, "#!/bin/sh -e".
func (t *tree) interpreter(ctx context.Context, head []byte) error {
	line, _, _ := bytes.Cut(head, []byte("\n"))
	words := strings.Fields(strings.TrimPrefix(string(line), "#!"))
	if !bytes.HasPrefix(head, []byte("#!")) || len(words) == 0 || !path.IsAbs(words[0]) {
		return nil
	}
	if err := t.add(ctx, words[0]); err != nil {
		return err
	}
	if path.Base(words[0]) == "env" && len(words) > 1 {
		name, err := located(words[1], "")
		if err != nil {
			return err
		}
		return t.add(ctx, name)
	}
	return nil
}

// dynamic reports whether a program or library needs others: static ones have
// no such section (System V ABI, chapter 5).
func dynamic(name string) bool {
	f, err := elf.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	return err == nil && len(libraries) > 0
}

// libraries takes what the loader of this machine would take.
func (t *tree) libraries(ctx context.Context, name string) error {
	out, err := t.host.Command("ldd", name).Output(ctx)
	if err != nil {
		return fmt.Errorf("find the shared libraries of %s: %w", name, err)
	}
	found, missing := parseLibraries(string(out))
	for _, library := range found {
		if err := t.add(ctx, library); err != nil {
			return err
		}
		if strings.HasPrefix(path.Base(library), "libc.so") {
			t.lookups(path.Dir(library))
		}
	}
	if missing != nil {
		return fmt.Errorf("find the shared libraries of %s: %w", name, missing)
	}
	return nil
}

// lookups takes the libraries through which an older glibc looks up users and
// hosts; they are loaded by name, and may not be there.
func (t *tree) lookups(dir string) {
	for _, name := range []string{"libnss_files.so.2", "libnss_dns.so.2"} {
		if info, err := os.Stat(path.Join(dir, name)); err == nil {
			_, _ = t.put(path.Join(dir, name), path.Join(dir, name), info.Size()) // a bound that it breaks shows at the next file
		}
	}
}

var errLibrary = fmt.Errorf("a shared library is missing: %w", fs.ErrNotExist)

// parseLibraries reads the output of ldd(1): "name => /path (0x...)", or
// "/path (0x...)" for the loader; what the kernel brings has no path. The error
// names the first that was not found.
func parseLibraries(text string) ([]string, error) {
	var all []string
	var err error
	for line := range strings.Lines(text) {
		name, where, arrow := strings.Cut(strings.TrimSpace(line), " => ")
		if !arrow {
			where = name
		}
		if where == "not found" && err == nil {
			err = fmt.Errorf("%s: %w", name, errLibrary)
		}
		if where, _, _ = strings.Cut(where, " (0x"); path.IsAbs(where) {
			all = append(all, where)
		}
	}
	return all, err
}

// made are the files of an image that are not this machine's: programs ask who
// root and nobody are.
func made() map[string]string {
	return map[string]string{
		"/etc/passwd":        "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
		"/etc/group":         "root:x:0:\nnogroup:x:65534:\n",
		"/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
	}
}

// digest names the contents.
func (t *tree) digest() (string, error) {
	h := sha256.New()
	for _, at := range slices.Sorted(maps.Keys(t.files)) {
		info, err := os.Stat(t.files[at])
		if err != nil {
			return "", err
		}
		_, _ = fmt.Fprintf(h, "%q %o %d\n", at, info.Mode().Perm(), info.Size())
		f, err := os.Open(t.files[at])
		if err != nil {
			return "", err
		}
		_, err = io.Copy(h, f)
		_ = f.Close()
		if err != nil {
			return "", err
		}
	}
	for _, at := range slices.Sorted(maps.Keys(made())) {
		_, _ = fmt.Fprintf(h, "%q %q\n", at, made()[at])
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// pack writes the tree as an archive.
func (t *tree) pack(to io.Writer) error {
	w := tar.NewWriter(to)
	for _, dir := range []tar.Header{{Name: "tmp/", Mode: 0o1777}, {Name: strings.TrimPrefix(work, "/") + "/", Mode: 0o755}} {
		dir.Typeflag = tar.TypeDir
		if err := w.WriteHeader(&dir); err != nil {
			return err
		}
	}
	for _, at := range slices.Sorted(maps.Keys(made())) {
		text := made()[at]
		if err := w.WriteHeader(&tar.Header{Name: at[1:], Mode: 0o644, Size: int64(len(text)), Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	for _, at := range slices.Sorted(maps.Keys(t.files)) {
		if err := packFile(w, at, t.files[at]); err != nil {
			return err
		}
	}
	return w.Close()
}

func packFile(w *tar.Writer, at, from string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	header := &tar.Header{Name: strings.TrimPrefix(at, "/"), Mode: int64(info.Mode().Perm()), Size: info.Size(), Typeflag: tar.TypeReg}
	if err := w.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(w, f)
	return err
}
