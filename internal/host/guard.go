package host

import (
	"fmt"
	"io"
)

// GuardScript is the program of a guard, for a POSIX shell: it reads lines that
// a [Guard] writes, and when its input ends, because we closed it, died or the
// connection broke, it stops the groups that it was told of, gives them two
// seconds, kills them, and removes what we own on the host. It is one line
// without quotes, backslashes or exclamation marks, so that it survives any
// login shell within single quotes.
const GuardScript = `g=; d=; trap : HUP INT TERM PIPE; ` +
	`while read -r op a; do case $op in ` +
	`add) g="$g $a";; ` +
	`drop) n=; for x in $g; do [ $x = $a ] || n="$n $x"; done; g=$n;; ` +
	`own) d="$d $a";; ` +
	`*) kill -s $op -- -$a;; esac; done; ` +
	`for x in $g; do kill -s TERM -- -$x; done; ` +
	`for i in 1 2 3; do l=; for x in $g; do kill -s 0 -- -$x && l="$l $x"; done; ` +
	`[ -z "$l" ] && break; [ $i = 3 ] || sleep 1; done; ` +
	`for x in $g; do kill -s KILL -- -$x; done; ` +
	`for x in $d; do rm -rf -- $x; done`

// Guard speaks to a running [GuardScript]. It is for those who write a host;
// its methods write one line each and may not be called at once.
type Guard struct {
	in io.Writer
}

// NewGuard speaks to the guard that reads its lines from in.
func NewGuard(in io.Writer) *Guard { return &Guard{in} }

func (g *Guard) line(format string, args ...any) error {
	if _, err := fmt.Fprintf(g.in, format+"\n", args...); err != nil {
		return fmt.Errorf("tell the guard of our processes: %w", err)
	}
	return nil
}

// Add puts a process group under guard.
func (g *Guard) Add(group int) error { return g.line("add %d", group) }

// Drop forgets a group that has ended.
func (g *Guard) Drop(group int) error { return g.line("drop %d", group) }

// Signal sends a signal to a group. The guard does not answer: that a group
// had ended before stays unknown.
func (g *Guard) Signal(s Signal, group int) error { return g.line("%s %d", s, group) }

// Own has a folder removed at the end; its name must be free of blanks.
func (g *Guard) Own(dir string) error { return g.line("own %s", dir) }
