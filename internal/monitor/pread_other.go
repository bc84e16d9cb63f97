//go:build !unix

package monitor

import (
	"errors"
	"io"
	"os"
)

// readAt reads once; the end of the file is no error.
func readAt(f *os.File, b []byte, at int64) (int, error) {
	n, err := f.ReadAt(b, at)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
