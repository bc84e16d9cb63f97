package generator

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// What is kept of an output: reports stand at its end, and what went wrong at
// its beginning.
const (
	keptHead = 64 << 10
	keptTail = 256 << 10
)

// kept is an output as it comes: its head and its tail, whatever its length.
type kept struct {
	tee   io.Writer // gets all of it; may be nil
	began string    // text whose coming is told, once
	tell  func()

	mu   sync.Mutex // guards the rest: the pipes of a program have a reader each
	head []byte
	tail []byte
	lost int64
}

// Write never fails, so that a program is not stopped by who listens to it.
func (k *kept) Write(b []byte) (int, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.tee != nil {
		if _, err := k.tee.Write(b); err != nil {
			k.tee = nil
		}
	}
	rest := b
	if room := keptHead - len(k.head); room > 0 {
		n := min(room, len(rest))
		k.head, rest = append(k.head, rest[:n]...), rest[n:]
		if k.began != "" && bytes.Contains(k.head, []byte(k.began)) {
			k.began = ""
			k.tell()
		}
	}
	k.tail = append(k.tail, rest...)
	if over := len(k.tail) - keptTail; over > keptTail { // moved seldom
		k.lost += int64(over)
		k.tail = append(k.tail[:0], k.tail[over:]...)
	}
	return len(b), nil
}

// String is what was kept, with a line that says how much is missing.
func (k *kept) String() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.lost == 0 {
		return string(k.head) + string(k.tail)
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", k.head, k.lost, k.tail)
}

// locked lets both outputs of a program share a writer.
type locked struct {
	mu sync.Mutex // guards w
	w  io.Writer
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// fewLines is how many lines of what a program said make an error.
const fewLines = 4

// lastLines is the end of what a program said, short enough for an error.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return joined(lines[max(len(lines)-fewLines, 0):])
}

// firstLines is its beginning.
func firstLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return joined(lines[:min(len(lines), fewLines)])
}

func joined(lines []string) string {
	for i, l := range lines {
		lines[i] = strings.ToValidUTF8(strings.TrimSpace(l[:min(len(l), 200)]), "")
	}
	return strings.Join(lines, "; ")
}
