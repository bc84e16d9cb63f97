package host

import (
	"fmt"
	"strings"
)

// Error is a command that did not do its work.
type Error struct {
	Host    string // its name; "" is this machine
	Name    string // of the program
	Command string // a line to paste into a shell here; secrets are left out
	Exit    Exit   // of the first process; Code -1 if it did not get that far
	Stderr  string // the last lines of what it wrote there
	Err     error  // why, where the exit does not say it: the context, a lost connection, exec.ErrNotFound
}

// Error says what failed, how, the last lines of standard error, and the
// command to repeat it by hand.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s", e.Name)
	if e.Host != "" {
		fmt.Fprintf(&b, " on %s", e.Host)
	}
	fmt.Fprintf(&b, ": %s", e.reason())
	if e.Stderr != "" {
		fmt.Fprintf(&b, ": %s", strings.ReplaceAll(e.Stderr, "\n", "; "))
	}
	fmt.Fprintf(&b, " (command: %s)", short(e.Command))
	return b.String()
}

// shown bounds a command in the text of an error; Command holds all of it.
const shown = 400

func short(line string) string {
	if len(line) <= shown {
		return line
	}
	return strings.ToValidUTF8(line[:shown], "") + " ..."
}

func (e *Error) reason() string {
	var parts []string
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	switch {
	case e.Exit.Signal != "":
		parts = append(parts, "ended by signal "+e.Exit.Signal)
	case e.Exit.Code >= 0:
		parts = append(parts, fmt.Sprintf("exit status %d", e.Exit.Code))
	}
	return strings.Join(parts, ", ")
}

// Unwrap is why the command failed, as far as there is more than its exit.
func (e *Error) Unwrap() error { return e.Err }

// Bounds of what is kept of standard error.
const (
	tailBytes = 4096
	tailLines = 8
)

// tail keeps the end of what is written to it.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if extra := len(t.text) - tailBytes; extra > 0 {
		t.text = append(t.text[:0], t.text[extra:]...)
	}
	return len(p), nil
}

// lines are the last lines, without the empty ones.
func (t *tail) lines() string {
	var kept []string
	for line := range strings.Lines(string(t.text)) {
		if line = strings.TrimSpace(line); line != "" {
			kept = append(kept, strings.ToValidUTF8(line, "?"))
		}
	}
	return strings.Join(kept[max(0, len(kept)-tailLines):], "\n")
}
