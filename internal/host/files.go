package host

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// FS is the files of a host. All names are absolute and, on hosts reached over
// a network, separated by slashes. Errors name the operation and the file, and
// wrap fs.ErrNotExist and fs.ErrPermission where that is the reason.
type FS struct{ disk Disk }

// Disk is what a host can do with files; FS makes the rest of it. It is for
// those who write a host. Names are absolute.
type Disk struct {
	Open     func(name string) (io.ReadCloser, error)
	Create   func(name string, perm fs.FileMode) (io.WriteCloser, error) // fails if it exists
	Rename   func(from, to string) error                                 // replaces
	Remove   func(name string) error                                     // with all below it; follows no link; nothing there is no error
	MkdirAll func(name string, perm fs.FileMode) error
	Stat     func(name string) (fs.FileInfo, error)
	Glob     func(pattern string) ([]string, error)
}

// NewFS is for those who write a host.
func NewFS(d Disk) *FS { return &FS{d} }

// named adds what was done to what, and refuses relative names.
func named[T any](op, name string, do func(string) (T, error)) (T, error) {
	var none T
	if !absolute(name) {
		return none, fmt.Errorf("%s %q: %w", op, name, errAbsolute)
	}
	v, err := do(name)
	if err != nil {
		return none, fmt.Errorf("%s %s: %w", op, name, bare(err))
	}
	return v, nil
}

// bare takes a *fs.PathError apart, whose operation and path were said.
func bare(err error) error {
	if p, ok := err.(*fs.PathError); ok {
		return p.Err
	}
	return err
}

// done makes a value of an operation that has none.
func done(do func(string) error) func(string) (struct{}, error) {
	return func(name string) (struct{}, error) { return struct{}{}, do(name) }
}

// readBytes bounds a file that is read whole.
const readBytes = 1 << 30

// ReadFile reads a whole file, at most 1 GiB.
func (f *FS) ReadFile(name string) ([]byte, error) {
	return named("read", name, func(name string) ([]byte, error) {
		r, err := f.disk.Open(name)
		if err != nil {
			return nil, err
		}
		defer r.Close()
		text, err := io.ReadAll(io.LimitReader(r, readBytes+1))
		if err == nil && len(text) > readBytes {
			err = fmt.Errorf("it is larger than %d MiB", readBytes>>20)
		}
		return text, err
	})
}

// WriteFile replaces a file: whoever reads it sees the old text or the new one,
// never a part. Its folder must exist.
func (f *FS) WriteFile(name string, text []byte, perm fs.FileMode) error {
	_, err := named("write", name, done(func(name string) error {
		return f.replace(name, perm, func(w io.Writer) error {
			_, err := w.Write(text)
			return err
		})
	}))
	return err
}

// replace writes beside the file and renames.
func (f *FS) replace(name string, perm fs.FileMode, fill func(io.Writer) error) error {
	dir, base := path.Split(filepath.ToSlash(name))
	beside := dir + "." + base + "." + rand.Text()[:8]
	w, err := f.disk.Create(beside, perm)
	if err != nil {
		return err
	}
	err = fill(w)
	if e := w.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = f.disk.Rename(beside, name)
	}
	if err != nil {
		_ = f.disk.Remove(beside) // the first error tells
	}
	return err
}

// Copy copies a file of this machine to the host, with its permissions, in the
// manner of WriteFile. It stops when the context ends.
func (f *FS) Copy(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copy to %s: %w", to, err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return fmt.Errorf("copy to %s: %w", to, err)
	}
	_, err = named("copy "+from+" to", to, done(func(to string) error {
		return f.replace(to, info.Mode().Perm(), func(w io.Writer) error {
			_, err := io.Copy(w, &interruptible{ctx, in})
			return err
		})
	}))
	return err
}

// interruptible is a reader that ends with a context. It hides what the reader
// could do beyond reading, so that the copying comes by here for each block.
type interruptible struct {
	ctx  context.Context
	from io.Reader
}

func (r *interruptible) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}

// MkdirAll makes a folder and those above it that are missing.
func (f *FS) MkdirAll(name string, perm fs.FileMode) error {
	_, err := named("make folder", name, done(func(name string) error { return f.disk.MkdirAll(name, perm) }))
	return err
}

// Remove removes a file or a folder with all that is in it; links are removed,
// not followed. Nothing there is no error. It refuses a root.
func (f *FS) Remove(name string) error {
	_, err := named("remove", name, done(func(name string) error {
		if clean := filepath.Clean(name); clean == filepath.Dir(clean) {
			return fs.ErrInvalid
		}
		return f.disk.Remove(name)
	}))
	return err
}

// Glob lists the names that match a pattern of path.Match, sorted.
func (f *FS) Glob(pattern string) ([]string, error) { return named("list", pattern, f.disk.Glob) }

// Stat describes a file, or what a link leads to.
func (f *FS) Stat(name string) (fs.FileInfo, error) { return named("look at", name, f.disk.Stat) }

// disk is the files of this machine.
func disk() Disk {
	return Disk{
		Open: func(name string) (io.ReadCloser, error) { return os.Open(name) },
		Create: func(name string, perm fs.FileMode) (io.WriteCloser, error) {
			return create(name, perm)
		},
		Rename:   os.Rename,
		Remove:   os.RemoveAll,
		MkdirAll: os.MkdirAll,
		Stat:     os.Stat,
		Glob:     filepath.Glob,
	}
}

// create makes a new file with exactly these permissions, whatever the umask.
func create(name string, perm fs.FileMode) (io.WriteCloser, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm&0o700|0o200)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(perm); err != nil {
		_ = f.Close()
		_ = os.Remove(name)
		return nil, err
	}
	return synced{f}, nil
}

// synced is on the disk when it is closed, so that a rename cannot overtake
// the text when the power goes.
type synced struct{ *os.File }

func (f synced) Close() error {
	err := f.Sync()
	if e := f.File.Close(); err == nil {
		err = e
	}
	return err
}
