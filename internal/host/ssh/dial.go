package ssh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"prony/internal/host"
)

// Host is a machine reached over ssh. Close it.
type Host struct {
	name    string // for people: what the user called it
	where   where
	config  Config
	client  *ssh.Client
	beneath []*ssh.Client // the jump hosts, nearest first
	guard   *guard
	lost    chan struct{} // closed when the connection is no more
	alive   sync.WaitGroup

	mu    sync.Mutex // guards cause and files
	cause error
	files *sftpFiles
}

var _ host.Host = (*Host)(nil)

// Address is the machine's name or IP address, after the configuration of ssh
// was read.
func (h *Host) Address() string { return h.where.host }

// Defaults of Config.
const (
	timeoutDefault   = 15 * time.Second
	keepAliveDefault = 10 * time.Second
	missesDefault    = 3
	jumpsMax         = 8
)

func (c Config) defaults() Config {
	if c.Timeout == 0 {
		c.Timeout = timeoutDefault
	}
	if c.KeepAlive == 0 {
		c.KeepAlive = keepAliveDefault
	}
	if c.Misses == 0 {
		c.Misses = missesDefault
	}
	return c
}

// Dial connects to a host named as ssh://user@host:port, where host may be an
// alias of the ssh configuration. The errors [UnknownKeyError],
// [ChangedKeyError] and [RevokedKeyError] can be told apart; all name the
// remedy.
func Dial(ctx context.Context, target string, c Config) (*Host, error) {
	c = c.defaults()
	name, err := parseURL(target)
	if err != nil {
		return nil, fmt.Errorf("connect over ssh: %w", err)
	}
	h := &Host{name: name.alias, config: c, lost: make(chan struct{})}
	if err := h.dial(ctx, name); err != nil {
		h.hangUp()
		return nil, fmt.Errorf("connect over ssh to %s: %w", name.alias, err)
	}
	h.alive.Go(h.keepAlive)
	if h.guard, err = h.startGuard(ctx); err != nil {
		_ = h.Close()
		return nil, fmt.Errorf("connect over ssh to %s: %w", name.alias, err)
	}
	return h, nil
}

// dial goes from jump host to jump host.
func (h *Host) dial(ctx context.Context, name named) error {
	s, err := h.config.settings()
	if err != nil {
		return err
	}
	way, err := h.config.way(s, name)
	if err != nil {
		return err
	}
	h.where = way[len(way)-1]
	for i, w := range way {
		var through *ssh.Client
		if i > 0 {
			through = h.beneath[i-1]
		}
		client, err := h.connect(ctx, w, through)
		if err != nil && len(way) > 1 {
			return fmt.Errorf("hop %d of %d, %s: %w", i+1, len(way), w, err)
		}
		if err != nil {
			return err
		}
		if i == len(way)-1 {
			h.client = client
			return nil
		}
		h.beneath = append(h.beneath, client)
	}
	return nil
}

var errJumps = fmt.Errorf("more than %d jump hosts: does ProxyJump lead in a circle?", jumpsMax)

// way is the machines to pass, the target last. A jump host may have jump hosts
// of its own, as ssh has it for the first of a list.
func (c Config) way(s settings, name named) ([]where, error) {
	w, err := c.resolve(s, name)
	if err != nil {
		return nil, err
	}
	way := []where{w}
	for jumps := w.jumps; len(jumps) > 0; {
		if len(way)+len(jumps) > jumpsMax+1 {
			return nil, errJumps
		}
		var before []where
		for _, jump := range jumps {
			n, err := parseJump(strings.TrimSpace(jump))
			if err != nil {
				return nil, fmt.Errorf("ProxyJump %q: %w", jump, err)
			}
			hop, err := c.resolve(s, n)
			if err != nil {
				return nil, fmt.Errorf("ProxyJump %q: %w", jump, err)
			}
			before = append(before, hop)
		}
		jumps = before[0].jumps
		way = append(before, way...)
	}
	return way, nil
}

// connect reaches one machine, through another one or directly, and logs in.
// Both together take at most the timeout twice.
func (h *Host) connect(ctx context.Context, w where, through *ssh.Client) (*ssh.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, h.config.Timeout)
	defer cancel()
	keys, err := w.keyring()
	if err != nil {
		return nil, err
	}
	dial := (&net.Dialer{}).DialContext
	if through != nil {
		dial = through.DialContext
	}
	conn, err := dial(ctx, "tcp", w.address())
	if err != nil {
		return nil, err
	}
	return h.login(ctx, conn, w, keys)
}

// login shakes hands. The connection is closed when the context ends, because
// one through a jump host knows no deadlines.
func (h *Host) login(ctx context.Context, conn net.Conn, w where, keys *keyring) (*ssh.Client, error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	id := identify(w, h.config.Timeout)
	defer id.close()
	c, channels, requests, err := ssh.NewClientConn(conn, w.address(), &ssh.ClientConfig{
		User:              w.user,
		Auth:              []ssh.AuthMethod{ssh.PublicKeys(id.signers...)},
		HostKeyCallback:   keys.check,
		HostKeyAlgorithms: keys.algorithms(),
		ClientVersion:     "SSH-2.0-prony",
	})
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		return ssh.NewClient(c, channels, requests), nil
	}
	_ = conn.Close()
	switch {
	case keys.seen != nil:
		return nil, keys.seen
	case ctx.Err() != nil:
		return nil, fmt.Errorf("log in within %s: %w", h.config.Timeout, context.Cause(ctx))
	case strings.Contains(err.Error(), "no common algorithm for host key"):
		return nil, fmt.Errorf("the host shows no key of the kinds that are known for it (%s): if it was installed anew, "+
			"ssh-keygen -R %s and add its new key: %w", strings.Join(keys.algorithms(), ", "), w.host, err)
	}
	return nil, id.refused(w, err)
}

var errLost = errors.New("the ssh connection is lost")

// keepAlive asks for signs of life until the connection is no more.
func (h *Host) keepAlive() {
	ended := make(chan error, 1)
	go func() { ended <- h.client.Wait() }() // ends with the connection
	tick := time.NewTicker(h.config.KeepAlive)
	defer tick.Stop()
	answers := make(chan struct{}, 1)
	missed, asking := 0, false
	for {
		select {
		case err := <-ended:
			h.lose(err)
			return
		case <-answers:
			missed, asking = 0, false
		case <-tick.C:
			if missed++; missed > h.config.Misses {
				h.lose(fmt.Errorf("no sign of life for %s", time.Duration(missed)*h.config.KeepAlive))
				h.hangUp() // and then it ends
				<-ended
				return
			}
			if !asking {
				asking = true
				go h.ask(answers)
			}
		}
	}
}

// ask sends a request that nobody knows; to refuse it is a sign of life.
func (h *Host) ask(answers chan<- struct{}) {
	if _, _, err := h.client.SendRequest("keepalive@openssh.com", true, nil); err == nil {
		answers <- struct{}{} // one at a time is under way: there is room
	}
}

// lose marks the connection as lost, once.
func (h *Host) lose(cause error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cause == nil {
		h.cause = errLost
		if cause != nil {
			h.cause = fmt.Errorf("%w: %w", errLost, cause)
		}
		close(h.lost)
	}
}

// why is the reason of an error on the connection: that it is lost, if it is.
func (h *Host) why(err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cause != nil {
		return h.cause
	}
	return err
}

// hangUp closes all connections, the farthest first.
func (h *Host) hangUp() {
	if h.client != nil {
		_ = h.client.Close()
	}
	for i := len(h.beneath) - 1; i >= 0; i-- {
		_ = h.beneath[i].Close()
	}
}

// Close ends the commands that still run on the host, removes what CopySelf
// left there, and closes the connection. It takes seconds at most.
func (h *Host) Close() error {
	if h.guard != nil {
		h.guard.close(h.config.Timeout)
	}
	h.mu.Lock()
	files := h.files
	h.mu.Unlock()
	if files != nil {
		_ = files.client.Close()
	}
	h.hangUp()
	h.alive.Wait()
	return nil
}

// String is the host as the user may name it.
func (h *Host) String() string { return h.where.String() }

// Facts asks the host what it is.
func (h *Host) Facts(ctx context.Context) (host.Facts, error) {
	f, err := host.Probe(ctx, h)
	if err != nil {
		return f, fmt.Errorf("on %s: %w", h.name, err)
	}
	return f, nil
}
