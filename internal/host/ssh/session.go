package ssh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"prony/internal/host"
)

// session is a channel that runs one program on the host. It is our own,
// because that of x/crypto tells the exit status only after the last holder of
// the output let go, and an orphan never does.
type session struct {
	channel ssh.Channel
	exit    chan host.Exit // gets the exit once; closed when none will come
}

// open opens a session and starts a program given to the host's login shell.
// It gives up when the context ends, after the timeout, and when the connection
// is lost.
func (h *Host) open(ctx context.Context, command string) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, h.config.Timeout)
	defer cancel()
	type opened struct {
		s   *session
		err error
	}
	done := make(chan opened, 1)
	go func() {
		s, err := h.request(command)
		done <- opened{s, err}
	}()
	select {
	case o := <-done:
		return o.s, o.err
	case <-ctx.Done():
	case <-h.lost:
	}
	go func() { (<-done).s.abandon() }() // it comes late, or with the end of the connection
	return nil, fmt.Errorf("open a session: %w", h.why(context.Cause(ctx)))
}

// abandon closes a session that nobody wants any more, if there is one.
func (s *session) abandon() {
	if s != nil {
		_ = s.channel.Close()
	}
}

var errRefused = errors.New("the server does not start commands for this user")

// request opens the channel and has the program started.
func (h *Host) request(command string) (*session, error) {
	channel, requests, err := h.client.OpenChannel("session", nil)
	var refused *ssh.OpenChannelError
	if errors.As(err, &refused) {
		return nil, fmt.Errorf("open a session: %w: each running command takes one: raise MaxSessions in the server's sshd_config", err)
	}
	if err != nil {
		return nil, fmt.Errorf("open a session: %w", h.why(err))
	}
	s := &session{channel: channel, exit: make(chan host.Exit, 1)}
	go s.listen(requests)
	ok, err := channel.SendRequest("exec", true, ssh.Marshal(struct{ Command string }{command}))
	if err == nil && !ok {
		err = errRefused
	}
	if err != nil {
		_ = channel.Close()
		return nil, fmt.Errorf("open a session: %w", h.why(err))
	}
	return s, nil
}

// listen waits for the exit of the program (RFC 4254, 6.10) until the channel
// is closed.
func (s *session) listen(requests <-chan *ssh.Request) {
	defer close(s.exit)
	told := false
	for r := range requests {
		exit, ok := parseExit(r)
		if r.WantReply {
			_ = r.Reply(ok, nil)
		}
		if ok && !told {
			told = true
			s.exit <- exit
		}
	}
}

func parseExit(r *ssh.Request) (host.Exit, bool) {
	switch r.Type {
	case "exit-status":
		var m struct{ Status uint32 }
		err := ssh.Unmarshal(r.Payload, &m)
		return host.Exit{Code: int(m.Status & 0xff)}, err == nil
	case "exit-signal":
		var m struct {
			Signal     string
			CoreDumped bool
			Message    string
			Language   string
		}
		err := ssh.Unmarshal(r.Payload, &m)
		return host.Exit{Code: -1, Signal: m.Signal}, err == nil
	}
	return host.Exit{}, false
}

// wrap gives a script without single quotes to sh, whatever the login shell is.
func wrap(script string) string { return "exec sh -c '" + script + "'" }

// guard is the process on the host that outlives us by a moment, and cleans up.
type guard struct {
	mu      sync.Mutex // one line at a time
	session *session
	guard   *host.Guard
}

// startGuard starts it. It is in a group of its own by the server's doing, or
// not; it does not matter, for it ignores what a group may be sent.
func (h *Host) startGuard(ctx context.Context) (*guard, error) {
	s, err := h.open(ctx, wrap(host.GuardScript))
	if err != nil {
		return nil, err
	}
	go drop(s.channel)
	go drop(s.channel.Stderr())
	return &guard{session: s, guard: host.NewGuard(s.channel)}, nil
}

// drop reads what a login script or kill may say, so that nobody waits for us.
func drop(r io.Reader) { _, _ = io.Copy(io.Discard, r) }

func (g *guard) tell(say func(*host.Guard) error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return say(g.guard)
}

// close lets the guard do its work, and waits for it. A line that hangs in a
// dead connection holds the lock until that ends, so nobody here waits for it.
func (g *guard) close(patience time.Duration) {
	go func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		_ = g.session.channel.CloseWrite()
	}()
	select {
	case <-g.session.exit:
	case <-time.After(patience):
	}
	_ = g.session.channel.Close()
}

// quote is host.Quote in one line: a newline is written as the variable nl of
// the leader's script.
func quote(words ...string) string {
	return strings.ReplaceAll(host.Quote(words...), "\n", `'"$nl"'`)
}
