package driver

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
)

// Bounds of a log.
const (
	logBytes  = 1 << 20  // on disk, of one instance
	tailBytes = 16 << 10 // in memory
	lineBytes = 8 << 10  // of a line that a pattern is tried on
	tailLines = 20       // in errors
)

// Log keeps the end of what an instance writes: in a file and its predecessor,
// which follow each other like the halves of a ring. It is an io.Writer that
// always takes everything, since a full disk here must not stop a target.
type Log struct {
	seen chan struct{} // closed when a line matched

	mu      sync.Mutex // guards all below
	name    string     // of the file; "" keeps the tail alone
	file    *os.File
	size    int    // of the file
	tail    []byte // the last bytes
	text    []byte // everything kept, once closed
	closed  bool
	err     error // why the file is not complete
	pattern *regexp.Regexp
	line    []byte // the line that has begun
}

// NewLog makes a log in a file of this machine, "" for none. Lines are held
// against the pattern, nil for none.
func NewLog(name string, pattern *regexp.Regexp) *Log {
	l := &Log{name: name, pattern: pattern, seen: make(chan struct{})}
	if name != "" {
		l.file, l.err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	}
	return l
}

// Write keeps p. It never fails.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.match(p)
	l.tail = append(l.tail, p[max(0, len(p)-tailBytes):]...)
	if extra := len(l.tail) - tailBytes; extra > 0 {
		l.tail = append(l.tail[:0], l.tail[extra:]...)
	}
	l.store(p[max(0, len(p)-logBytes/2):])
	return len(p), nil
}

// store writes to the file, and begins a new one when it is half the bound.
func (l *Log) store(p []byte) {
	if l.file == nil || l.err != nil {
		return
	}
	if l.size+len(p) > logBytes/2 {
		if l.err = l.turn(); l.err != nil {
			return
		}
	}
	n, err := l.file.Write(p)
	l.size, l.err = l.size+n, err
}

func (l *Log) turn() error {
	if err := os.Rename(l.name, l.name+".1"); err != nil {
		return err
	}
	next, err := os.OpenFile(l.name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_ = l.file.Close()
	l.file, l.size = next, 0
	return nil
}

// match tries the pattern on each line, also on one that has no end yet, such
// as a prompt.
func (l *Log) match(p []byte) {
	if l.pattern == nil {
		return
	}
	for part := range bytes.Lines(p) {
		l.line = append(l.line, part[:min(len(part), max(0, lineBytes-len(l.line)))]...)
		if l.pattern.Match(bytes.TrimRight(l.line, "\r\n")) {
			l.pattern, l.line = nil, nil
			close(l.seen)
			return
		}
		if bytes.HasSuffix(part, []byte("\n")) {
			l.line = l.line[:0]
		}
	}
}

// Seen is closed when a line has matched the pattern.
func (l *Log) Seen() <-chan struct{} { return l.seen }

// Tail is the last lines, at most n of those in the last 16 KiB, without empty
// ones.
func (l *Log) Tail(n int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.tail
	if len(text) == tailBytes { // the first line may have lost its beginning
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, " \t\r\n"); line != "" {
			lines = append(lines, strings.ToValidUTF8(line, "?"))
		}
	}
	return lines[max(0, len(lines)-n):]
}

// Text is everything kept, at most 1 MiB. What is missing because it could not
// be stored is said in its last line.
func (l *Log) Text() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return l.text
	}
	return l.read()
}

func (l *Log) read() []byte {
	if l.name == "" {
		return bytes.Clone(l.tail)
	}
	before, _ := os.ReadFile(l.name + ".1") // there may be none
	now, err := os.ReadFile(l.name)
	if l.err == nil {
		l.err = err
	}
	text := append(before, now...)
	if l.err != nil {
		text = fmt.Appendf(text, "\nprony: the log is not complete: %v; its end:\n%s", l.err, l.tail)
	}
	return text
}

// Close removes the file; what was kept stays readable from memory. The log
// takes what is written later into its tail.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil
	}
	l.text, l.closed = l.read(), true
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	_ = os.Remove(l.name + ".1") // there may be none
	if e := os.Remove(l.name); err == nil && !os.IsNotExist(e) {
		err = e
	}
	return err
}

// ending is how an error ends: with the last lines.
func (l *Log) ending() string {
	lines := l.Tail(tailLines)
	if len(lines) == 0 {
		return "; it wrote nothing"
	}
	return "; its last lines:\n  " + strings.Join(lines, "\n  ")
}
