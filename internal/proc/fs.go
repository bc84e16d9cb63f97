package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// FS is a mounted proc file system. The zero FS is the machine's own.
type FS struct {
	Root string // where it is mounted; default /proc
}

// path names a file below the root.
func (f FS) path(name ...string) string {
	root := f.Root
	if root == "" {
		root = "/proc"
	}
	return filepath.Join(append([]string{root}, name...)...)
}

// process is the folder of a process: 0 is the one that asks.
func process(pid int) string {
	if pid == 0 {
		return "self"
	}
	return strconv.Itoa(pid)
}

// parser fills a struct from the text of its file. It overwrites all of the
// struct, but may reuse the memory of its slices.
type parser[T any] func(text []byte, into *T) error

// read reads one file and parses it. Errors name the file.
func read[T any](path string, parse parser[T]) (T, error) {
	var into T
	text, err := os.ReadFile(path)
	if err != nil {
		return into, err // an *fs.PathError says what and where
	}
	if err := parse(text, &into); err != nil {
		return into, fmt.Errorf("parse %s: %w", path, err)
	}
	return into, nil
}

// Reader reads one file again and again: it keeps the descriptor and the
// buffer, so that a reading costs two system calls and no allocation. It is
// not safe for concurrent use. [Reader.Close] frees the descriptor.
type Reader[T any] struct {
	file  *os.File
	buf   []byte
	parse parser[T]
}

// open opens a file for many readings.
func open[T any](path string, parse parser[T]) (*Reader[T], error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &Reader[T]{file: file, buf: make([]byte, 4096), parse: parse}, nil
}

// Read takes one reading. When the process or thread that the file is about
// has ended, the error wraps ESRCH.
func (r *Reader[T]) Read(into *T) error {
	text, err := r.text()
	if err != nil {
		return err
	}
	if err := r.parse(text, into); err != nil {
		return fmt.Errorf("parse %s: %w", r.file.Name(), err)
	}
	return nil
}

// text reads the whole file from its start. The kernel makes the text anew
// when it is read from the start, and continues with the same text as long as
// the offset continues; so a buffer that was too small can grow on the way.
func (r *Reader[T]) text() ([]byte, error) {
	for n := 0; ; {
		m, err := r.file.ReadAt(r.buf[n:], int64(n))
		n += m
		switch {
		case errors.Is(err, io.EOF):
			return r.buf[:n], nil
		case err != nil:
			return nil, err
		}
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
	}
}

// Close closes the descriptor.
func (r *Reader[T]) Close() error { return r.file.Close() }
