package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Signal is a signal by its POSIX name, without SIG.
type Signal string

// The signals that commands are sent.
const (
	Hangup    Signal = "HUP"
	Interrupt Signal = "INT"
	Quit      Signal = "QUIT"
	Kill      Signal = "KILL"
	Terminate Signal = "TERM"
	User1     Signal = "USR1"
	User2     Signal = "USR2"
	Stop      Signal = "STOP"
	Continue  Signal = "CONT"
)

// Known reports whether the signal is one of those above; others are refused.
func (s Signal) Known() bool {
	switch s {
	case Hangup, Interrupt, Quit, Kill, Terminate, User1, User2, Stop, Continue:
		return true
	}
	return false
}

// Spec is what a host is told to start.
type Spec struct {
	Name string
	Args []string
	Env  []string // "NAME=value", on top of the host's own environment
	Dir  string   // absolute; "" is where the host puts commands

	Input bool // something will be written to its standard input
	// Files are standard input, output and error where they are files of this
	// machine; a host that can hand them over does, and offers no pipe then.
	Files [3]*os.File
}

var (
	errName     = errors.New("want a name and arguments without NUL")
	errEnv      = errors.New("want NAME=value, the name without blanks or NUL")
	errAbsolute = errors.New("want an absolute path: hosts differ in where a relative one begins")
)

// check refuses what could not be carried to every host alike.
func (s Spec) check() error {
	if s.Name == "" || strings.ContainsRune(s.Name+strings.Join(s.Args, ""), 0) {
		return errName
	}
	for _, e := range s.Env {
		name, _, ok := strings.Cut(e, "=")
		if !ok || !variable(name) || strings.ContainsRune(e, 0) {
			return fmt.Errorf("environment %q: %w", name, errEnv)
		}
	}
	if s.Dir != "" && !absolute(s.Dir) {
		return fmt.Errorf("folder %q: %w", s.Dir, errAbsolute)
	}
	return nil
}

// absolute takes the paths of Unix, and of Windows on Windows.
func absolute(name string) bool { return path.IsAbs(name) || filepath.IsAbs(name) }

func variable(name string) bool {
	return name != "" && !strings.ContainsAny(name, " \t\r\n\x00'\"\\$`")
}

// line is the command as one line for a shell.
func (s Spec) line(env []string) string {
	words := append([]string{s.Name}, s.Args...)
	if len(env) > 0 {
		words = append(append([]string{"env"}, env...), words...)
	}
	line := Quote(words...)
	if s.Dir != "" {
		line = "cd " + Quote(s.Dir) + " && " + line
	}
	return line
}

// Process is a started command, as a host hands it out. It is for those who
// write a host; others use [Cmd].
type Process struct {
	PID    int            // on the host; also the number of the group
	Stdin  io.WriteCloser // nil without input, or if it reads a file
	Stdout io.Reader      // nil if it goes to a file
	Stderr io.Reader      // nil if it goes to a file

	// Wait returns when the first process has ended. An error means that we do
	// not know how (the connection broke).
	Wait func() (Exit, error)
	// Signal reaches every process of the group; os.ErrProcessDone if there is
	// none left, where the host can know.
	Signal func(Signal) error
	// Close frees what is left: pipes, channels. It is called once, after Wait
	// and after the output was read.
	Close func()
}

// Exit is how a process ended.
type Exit struct {
	Code   int    // 0 to 255; -1 if a signal ended it
	Signal string // by its name, "KILL"; "" if it ended by itself
}

// Launcher starts commands on one host.
type Launcher struct {
	// Start starts a process in a group of its own. It gives up when ctx ends,
	// and leaves nothing behind then.
	Start func(ctx context.Context, spec Spec) (*Process, error)
	// Host names the host in errors; "" is this machine.
	Host string
	// Form makes a line that can be pasted here of one for the host's shell;
	// nil leaves it as it is.
	Form func(line string) string
}
