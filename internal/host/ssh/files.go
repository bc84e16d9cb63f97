package ssh

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/pkg/sftp"

	"prony/internal/host"
)

// sftpFiles is the sftp side of a connection, opened with the first use.
type sftpFiles struct{ client *sftp.Client }

// FS is the host's files, over sftp. What waits for an answer ends with the
// connection at the latest.
func (h *Host) FS() *host.FS {
	return host.NewFS(host.Disk{
		Open: with(h, func(c *sftp.Client, name string) (io.ReadCloser, error) { return c.Open(name) }),
		Create: func(name string, perm fs.FileMode) (io.WriteCloser, error) {
			return with(h, func(c *sftp.Client, name string) (io.WriteCloser, error) { return create(c, name, perm) })(name)
		},
		Rename: func(from, to string) error {
			_, err := with(h, func(c *sftp.Client, from string) (struct{}, error) { return struct{}{}, rename(c, from, to) })(from)
			return err
		},
		Remove: func(name string) error {
			_, err := with(h, func(c *sftp.Client, name string) (struct{}, error) { return struct{}{}, remove(c, name) })(name)
			return err
		},
		MkdirAll: func(name string, perm fs.FileMode) error {
			_, err := with(h, func(c *sftp.Client, name string) (struct{}, error) { return struct{}{}, makeAll(c, name, perm) })(name)
			return err
		},
		Stat: with(h, func(c *sftp.Client, name string) (fs.FileInfo, error) { return c.Stat(name) }),
		Glob: with(h, func(c *sftp.Client, pattern string) ([]string, error) {
			names, err := c.Glob(pattern)
			slices.Sort(names)
			return names, err
		}),
	})
}

// with gives an operation the client, and its error the reason.
func with[T any](h *Host, do func(*sftp.Client, string) (T, error)) func(string) (T, error) {
	return func(name string) (T, error) {
		var none T
		c, err := h.sftp()
		if err != nil {
			return none, err
		}
		v, err := do(c, name)
		if err != nil {
			return none, h.why(err)
		}
		return v, nil
	}
}

// sftp is the client; the first call starts it. A failure is not kept: a
// session may be free the next time.
func (h *Host) sftp() (*sftp.Client, error) {
	h.mu.Lock()
	files := h.files
	h.mu.Unlock()
	if files != nil {
		return files.client, nil
	}
	c, err := sftp.NewClient(h.client)
	if err != nil {
		return nil, h.why(fmt.Errorf("start sftp: does the server have it (Subsystem sftp in sshd_config), and a session left (MaxSessions)? %w", err))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.files != nil { // somebody was faster
		_ = c.Close()
		return h.files.client, nil
	}
	h.files = &sftpFiles{c}
	return c, nil
}

// create makes a new file with exactly these permissions.
func create(c *sftp.Client, name string, perm fs.FileMode) (io.WriteCloser, error) {
	f, err := c.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(perm); err != nil {
		_ = f.Close()
		_ = c.Remove(name)
		return nil, err
	}
	return written{f}, nil
}

// written is a file that is on the disk when it is closed, where the server can
// promise that.
type written struct{ *sftp.File }

func (f written) Close() error {
	err := f.Sync()
	var status *sftp.StatusError
	if errors.As(err, &status) && status.FxCode() == sftp.ErrSSHFxOpUnsupported {
		err = nil
	}
	if e := f.File.Close(); err == nil {
		err = e
	}
	return err
}

// rename replaces in one step where the server can. The plain operation of
// the protocol refuses to replace; then the old file has to go first.
func rename(c *sftp.Client, from, to string) error {
	if _, ok := c.HasExtension("posix-rename@openssh.com"); ok {
		return c.PosixRename(from, to)
	}
	if err := c.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return c.Rename(from, to)
}

// remove removes a tree without following links: what it is about to enter is
// looked at first.
func remove(c *sftp.Client, name string) error {
	info, err := c.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return c.Remove(name)
	}
	entries, err := c.ReadDir(name)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := remove(c, path.Join(name, e.Name())); err != nil {
			return err
		}
	}
	return c.RemoveDirectory(name)
}

// makeAll makes the folders that are missing, with these permissions.
func makeAll(c *sftp.Client, name string, perm fs.FileMode) error {
	info, err := c.Stat(name)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file: %w", name, fs.ErrExist)
	}
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := makeAll(c, path.Dir(name), perm); err != nil {
		return err
	}
	if err := c.Mkdir(name); err != nil {
		if info, e := c.Stat(name); e == nil && info.IsDir() {
			return nil // somebody was faster
		}
		return err
	}
	return c.Chmod(name, perm)
}
