package monitor

import (
	"io/fs"
	"os"
	"path/filepath"

	"prony/internal/proc"
)

// keptMax bounds the descriptors that are kept open; what is beyond is opened
// anew in each sample. A process may have 1,024 by default.
const keptMax = 512

// keptFor is how many samples an open file is kept that none of them needed.
const keptFor = 10

// localFiles reads the files of this machine. It keeps descriptors and one
// buffer, so that a reading is mostly one system call.
type localFiles struct {
	root string // "" is the machine's own
	proc proc.FS
	kept map[string]*kept
	buf  []byte
	tick uint64
}

// kept is an open file.
type kept struct {
	file *os.File
	used uint64 // the last sample that needed it
}

func newLocalFiles(root string) *localFiles {
	l := &localFiles{root: root, kept: map[string]*kept{}, buf: make([]byte, 1<<16)}
	if root != "" {
		l.proc.Root = filepath.Join(root, "proc")
	}
	return l
}

func (l *localFiles) path(name string) string {
	if l.root == "" {
		return name
	}
	return filepath.Join(l.root, name)
}

func (l *localFiles) begin() error {
	l.tick++
	return nil
}

func (l *localFiles) read(name string) ([]byte, error) {
	file, keep, err := l.open(name)
	if err != nil {
		return nil, err
	}
	text, err := l.text(file)
	if !keep || err != nil {
		l.drop(name, file, keep)
	}
	return text, err
}

// open returns a descriptor and whether it is one of those that are kept.
func (l *localFiles) open(name string) (file *os.File, keep bool, err error) {
	if k := l.kept[name]; k != nil {
		k.used = l.tick
		return k.file, true, nil
	}
	file, err = os.Open(l.path(name))
	if err != nil {
		return nil, false, err
	}
	if len(l.kept) >= keptMax {
		return file, false, nil
	}
	l.kept[name] = &kept{file, l.tick}
	return file, true, nil
}

func (l *localFiles) drop(name string, file *os.File, keep bool) {
	_ = file.Close() // it was only read from
	if keep {
		delete(l.kept, name)
	}
}

// surelyAll is a length below which a first reading of a file in proc is the
// whole: the kernel hands out a page at a time and cuts between records, none
// of which is as long as a page less this.
const surelyAll = 1024

// fileMax bounds what is read of one file.
const fileMax = 8 << 20

func (l *localFiles) text(file *os.File) ([]byte, error) {
	for n := 0; ; {
		m, err := readAt(file, l.buf[n:], int64(n))
		if err != nil {
			return nil, err
		}
		first := n == 0
		n += m
		if m == 0 || first && m < surelyAll || n >= fileMax {
			return l.buf[:n], nil
		}
		if n == len(l.buf) {
			l.buf = append(l.buf, make([]byte, len(l.buf))...)
		}
	}
}

func (l *localFiles) head(name string) ([]byte, error) {
	file, keep, err := l.open(name)
	if err != nil {
		return nil, err
	}
	n, err := readAt(file, l.buf, 0)
	if !keep || err != nil {
		l.drop(name, file, keep)
	}
	return l.buf[:max(n, 0)], err
}

func (l *localFiles) list(name string) ([]string, error) {
	dir, err := os.Open(l.path(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	return dir.Readdirnames(-1)
}

func (l *localFiles) link(name string) (string, error) { return os.Readlink(l.path(name)) }

func (l *localFiles) descriptors(pid int) (int64, error) { return l.proc.OpenFiles(pid) }

// regular reports whether a file is one, and no link: what a foreign process
// may have put there is not followed.
func (l *localFiles) regular(name string) bool {
	info, err := os.Lstat(l.path(name))
	return err == nil && info.Mode()&fs.ModeType == 0
}

func (l *localFiles) end() {
	for name, k := range l.kept {
		if l.tick-k.used >= keptFor {
			l.drop(name, k.file, true)
		}
	}
}

func (l *localFiles) close() {
	for name, k := range l.kept {
		l.drop(name, k.file, true)
	}
}
