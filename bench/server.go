package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// server is a target in a process of its own, on the servers' core.
type server struct {
	name   string
	url    string // of what it answers with
	tlsURL string // the same over TLS, if it has that
	cmd    *exec.Cmd
	out    *bufio.Reader
	log    *strings.Builder
}

// launch starts a server process; out is nil for one that prints nothing.
func (b *bench) launch(name string, prints bool, argv []string) (*server, error) {
	argv = pinned(b.serverCore, argv)
	s := &server{name: name, cmd: exec.Command(argv[0], argv[1:]...), log: &strings.Builder{}}
	s.cmd.Stderr = s.log
	s.cmd.WaitDelay = 5 * time.Second
	dieWithParent(s.cmd)
	if prints {
		out, err := s.cmd.StdoutPipe()
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", name, err)
		}
		s.out = bufio.NewReader(out)
	}
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return s, nil
}

// announced starts a server that prints "listening on URL".
func (b *bench) announced(name string, argv ...string) (*server, error) {
	s, err := b.launch(name, true, argv)
	if err != nil {
		return nil, err
	}
	line, err := s.out.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		_, _ = s.stop()
		return nil, errors.Join(fmt.Errorf("start %s: it said %q and %q", name, line, s.log), err)
	}
	s.url = strings.TrimSuffix(url, "/") + "/"
	return s, nil
}

// fast starts the responder that answers as fast as one thread can.
func (b *bench) fast() (*server, error) {
	return b.announced("fast responder", b.tools.path("prony"), "target", "--fast", "--addr", "127.0.0.1:0", "--body-size", "33B")
}

// stop ends the server and returns what it printed since it listened.
func (s *server) stop() ([]byte, error) {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return nil, fmt.Errorf("stop %s: %w", s.name, err)
	}
	var rest []byte
	var err error
	if s.out != nil {
		rest, err = io.ReadAll(s.out)
	}
	return rest, errors.Join(err, s.cmd.Wait())
}

// close ends a server whose last words nobody needs.
func (s *server) close() { _, _ = s.stop() }

// answers waits until something listens at an address.
func answers(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// freePort returns an address nobody listens on at the moment.
func freePort() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find free port: %w", err)
	}
	return ln.Addr().String(), ln.Close()
}

// self is the path of this program.
func self() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find own binary: %w", err)
	}
	return path, nil
}
