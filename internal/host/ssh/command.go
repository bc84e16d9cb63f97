package ssh

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"prony/internal/host"
)

// leader is what a command's session runs: it makes sure that it leads a
// process group, tells its number, waits until the guard knows it, and becomes
// the command, which comes as a line. So the environment of a command does not
// stay in the arguments of a shell for all to see, and nothing runs unguarded:
// when the connection breaks before, the line does not come. sshd makes each
// session's program a leader (setsid); where a server does not, setsid(1) does,
// with the same script, which is its own first argument.
const leader = `p=; [ -r /proc/$$/stat ] && read -r a b c d p e </proc/$$/stat; ` +
	`[ -n "$p" ] || p=$(ps -o pgid= -p $$); ` +
	`[ $p -eq $$ ] || exec setsid sh -c "$1" sh "$1"; ` +
	`nl=$(printf "\n_"); nl=${nl%_}; echo prony-leads $$; ` +
	`IFS= read -r line || exit 125; eval "$line"`

// lead is the whole of it, for the login shell.
func lead() string { return `exec sh -c 'eval "$1"' sh '` + leader + `'` }

// mark begins the line in which the leader tells its number.
const mark = "prony-leads "

// noise bounds what login scripts may say before.
const noise = 64 << 10

var errNoise = errors.New("no answer of its shell: does a login script (.bashrc) wait, exit or write a lot? " +
	"is there a POSIX sh, and setsid where the server makes no process groups?")

// Command prepares a command. A name without a slash is looked up in the PATH
// that the server gives to commands.
func (h *Host) Command(name string, args ...string) *host.Cmd {
	return host.NewCmd(host.Launcher{Start: h.start, Host: h.name, Form: h.form}, name, args...)
}

// form is a line for the host's shell as one for the shell here.
func (h *Host) form(line string) string {
	words := []string{"ssh"}
	if h.where.port != 22 {
		words = append(words, "-p", strconv.Itoa(h.where.port))
	}
	// Its configuration may do more than we know of, so it gets the alias.
	return host.Quote(append(words, h.where.user+"@"+h.where.alias, line)...)
}

// start starts a command under guard.
func (h *Host) start(ctx context.Context, spec host.Spec) (*host.Process, error) {
	s, err := h.open(ctx, lead())
	if err != nil {
		return nil, err
	}
	out := bufio.NewReader(s.channel)
	pid, err := h.leads(ctx, s, out)
	if err != nil {
		_ = s.channel.Close()
		return nil, err
	}
	if err := h.send(s, pid, spec); err != nil {
		_ = s.channel.Close() // the leader reads the end, and ends
		return nil, h.why(err)
	}
	p := &host.Process{PID: pid, Stdout: out, Stderr: s.channel.Stderr()}
	if spec.Input {
		p.Stdin = input{s}
	} else {
		_ = s.channel.CloseWrite()
	}
	p.Wait = func() (host.Exit, error) { return h.ended(s) }
	p.Signal = func(sig host.Signal) error {
		return h.guard.tell(func(g *host.Guard) error { return g.Signal(sig, pid) })
	}
	p.Close = func() {
		_ = h.guard.tell(func(g *host.Guard) error { return g.Drop(pid) })
		_ = s.channel.Close()
	}
	return p, nil
}

// send puts the group under guard and then lets the command go. The server
// reads both from one connection in this order, so either both arrive or the
// command does not start.
func (h *Host) send(s *session, pid int, spec host.Spec) error {
	if err := h.guard.tell(func(g *host.Guard) error { return g.Add(pid) }); err != nil {
		return err
	}
	_, err := io.WriteString(s.channel, line(spec)+"\n")
	return err
}

// line is the command for the leader.
func line(spec host.Spec) string {
	words := append([]string{spec.Name}, spec.Args...)
	if len(spec.Env) > 0 {
		words = append(append([]string{"env"}, spec.Env...), words...)
	}
	text := "exec " + quote(words...)
	if spec.Dir != "" {
		text = "cd " + quote(spec.Dir) + " || exit 126; " + text
	}
	return text
}

// leads reads the number of the group. While it waits, the end of the context
// closes the channel.
func (h *Host) leads(ctx context.Context, s *session, out *bufio.Reader) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, h.config.Timeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = s.channel.Close() })
	pid, err := readLeader(out)
	if !stop() {
		return 0, h.why(fmt.Errorf("%w: %w", errNoise, context.Cause(ctx)))
	}
	if err != nil {
		return 0, h.why(err)
	}
	return pid, nil
}

// readLeader skips what login scripts say, up to the leader's line.
func readLeader(out *bufio.Reader) (int, error) {
	for read := 0; read < noise; {
		text, err := out.ReadSlice('\n')
		read += len(text)
		if number, ok := strings.CutPrefix(strings.TrimSpace(string(text)), mark); ok && err == nil {
			pid, err := strconv.ParseUint(number, 10, 31)
			if err == nil && pid > 1 { // to signal group 0 or 1 would hit others
				return int(pid), nil
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return 0, errNoise
		}
	}
	return 0, errNoise
}

// settle is how long a lost connection may take to say so after a channel
// ended without an exit.
const settle = time.Second

var errNoExit = errors.New("the server closed the session without an exit status")

// ended waits for the exit of a session's program.
func (h *Host) ended(s *session) (host.Exit, error) {
	select {
	case exit, ok := <-s.exit:
		if ok {
			return exit, nil
		}
	case <-h.lost:
	}
	select {
	case <-h.lost:
	case <-time.After(settle):
	}
	return host.Exit{Code: -1}, h.why(errNoExit)
}

// input is a command's standard input: to close it is to end it, the channel
// stays.
type input struct{ s *session }

func (i input) Write(p []byte) (int, error) { return i.s.channel.Write(p) }
func (i input) Close() error                { return i.s.channel.CloseWrite() }
