//go:build unix

package ssh_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pkg/sftp"
	"golang.org/x/crypto/ssh"

	"prony/internal/host"
	prony "prony/internal/host/ssh"
)

// server is an ssh server in this process. Like sshd it lets programs live when
// their connection goes, and tells an exit before the output has ended.
type server struct {
	address string
	config  *ssh.ServerConfig
	keys    []ssh.Signer // host keys

	joined   bool // programs stay in our group instead of leading their own
	noisy    string
	noSftp   bool
	path     string // looked in first for programs
	sessions int    // at a time, 0 is any number

	deaf     atomic.Bool // answers nothing any more, but keeps the connection
	open     atomic.Int64
	jumps    atomic.Int64
	listener net.Listener

	mu    sync.Mutex // guards conns
	conns []net.Conn
	all   sync.WaitGroup
}

// newKey makes a private key of a kind.
func newKey(t *testing.T, kind string) any {
	t.Helper()
	var key any
	var err error
	switch kind {
	case "ed25519":
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case "ecdsa":
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "rsa":
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		t.Fatalf("make a %s key: %v", kind, err)
	}
	return key
}

func signer(t *testing.T, key any) ssh.Signer {
	t.Helper()
	s, err := ssh.NewSignerFromKey(key)
	if err != nil {
		t.Fatalf("make a signer: %v", err)
	}
	return s
}

// writeKey writes a private key as ssh-keygen does, locked if there is a
// passphrase.
func writeKey(t *testing.T, name string, key any, passphrase string) {
	t.Helper()
	var block *pem.Block
	var err error
	if passphrase == "" {
		block, err = ssh.MarshalPrivateKey(key, "")
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(passphrase))
	}
	if err != nil {
		t.Fatalf("encode a key: %v", err)
	}
	write(t, name, string(pem.EncodeToMemory(block)))
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start starts a server that lets in whoever has one of the keys. adjust may be
// nil.
func start(t *testing.T, allowed []ssh.PublicKey, adjust func(*server), hostKeys ...any) *server {
	t.Helper()
	s := &server{config: &ssh.ServerConfig{}}
	s.config.PublicKeyCallback = func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		for _, a := range allowed {
			if string(a.Marshal()) == string(key.Marshal()) {
				return nil, nil
			}
		}
		return nil, fmt.Errorf("key not allowed")
	}
	if len(hostKeys) == 0 {
		hostKeys = []any{newKey(t, "ed25519")}
	}
	for _, key := range hostKeys {
		s.keys = append(s.keys, signer(t, key))
		s.config.AddHostKey(s.keys[len(s.keys)-1])
	}
	if adjust != nil {
		adjust(s)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.listener, s.address = l, l.Addr().String()
	s.all.Go(s.accept)
	t.Cleanup(func() {
		_ = l.Close()
		s.cut()
		s.all.Wait()
	})
	return s
}

// cut breaks all connections.
func (s *server) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		_ = c.Close()
	}
}

func (s *server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns = append(s.conns, conn)
		s.mu.Unlock()
		s.all.Go(func() { s.serve(conn) })
	}
}

func (s *server) serve(conn net.Conn) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, s.config)
	if err != nil {
		return
	}
	s.all.Go(func() {
		for r := range requests {
			if !s.deaf.Load() && r.WantReply {
				_ = r.Reply(false, nil)
			}
		}
	})
	for c := range channels {
		switch c.ChannelType() {
		case "session":
			s.session(c)
		case "direct-tcpip":
			s.forward(c)
		default:
			_ = c.Reject(ssh.UnknownChannelType, "unknown")
		}
	}
}

func (s *server) session(c ssh.NewChannel) {
	if s.sessions > 0 && s.open.Load() >= int64(s.sessions) {
		_ = c.Reject(ssh.Prohibited, "open failed")
		return
	}
	channel, requests, err := c.Accept()
	if err != nil {
		return
	}
	s.open.Add(1)
	s.all.Go(func() {
		defer s.open.Add(-1)
		for r := range requests {
			if s.deaf.Load() {
				continue
			}
			var m struct{ Text string }
			_ = ssh.Unmarshal(r.Payload, &m)
			ok := r.Type == "exec" || r.Type == "subsystem" && !s.noSftp
			_ = r.Reply(ok, nil)
			switch {
			case !ok:
			case r.Type == "exec":
				s.all.Go(func() { s.exec(channel, m.Text) })
			default:
				s.all.Go(func() { s.sftp(channel) })
			}
		}
	})
}

func (s *server) sftp(channel ssh.Channel) {
	if server, err := sftp.NewServer(channel); err == nil {
		_ = server.Serve()
	}
	_ = channel.Close()
}

// exec runs a program as sshd does.
func (s *server) exec(channel ssh.Channel, command string) {
	cmd := exec.Command("sh", "-c", command)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: !s.joined}
	if s.path != "" {
		cmd.Env = append(os.Environ(), "PATH="+s.path+":"+os.Getenv("PATH"))
	}
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	err, _ := cmd.StderrPipe()
	_, _ = io.WriteString(channel, s.noisy)
	if e := cmd.Start(); e != nil {
		_ = channel.Close()
		return
	}
	go func() {
		_, _ = io.Copy(in, channel)
		_ = in.Close()
	}()
	var outputs sync.WaitGroup
	outputs.Go(func() { _, _ = io.Copy(channel, out) })
	outputs.Go(func() { _, _ = io.Copy(channel.Stderr(), err) })
	state, _ := cmd.Process.Wait()
	status := state.Sys().(syscall.WaitStatus)
	if status.Signaled() {
		name := map[syscall.Signal]string{syscall.SIGKILL: "KILL", syscall.SIGTERM: "TERM", syscall.SIGINT: "INT"}[status.Signal()]
		_, _ = channel.SendRequest("exit-signal", false, ssh.Marshal(struct {
			Name       string
			Core       bool
			Text, Lang string
		}{name, false, "", ""}))
	} else {
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status.ExitStatus())}))
	}
	outputs.Wait()
	_ = channel.Close()
}

// forward connects on, for jumps.
func (s *server) forward(c ssh.NewChannel) {
	var m struct {
		Host       string
		Port       uint32
		OriginHost string
		OriginPort uint32
	}
	_ = ssh.Unmarshal(c.ExtraData(), &m)
	to, err := net.Dial("tcp", net.JoinHostPort(m.Host, strconv.Itoa(int(m.Port))))
	if err != nil {
		_ = c.Reject(ssh.ConnectionFailed, err.Error())
		return
	}
	channel, requests, err := c.Accept()
	if err != nil {
		_ = to.Close()
		return
	}
	s.jumps.Add(1)
	go ssh.DiscardRequests(requests)
	s.all.Go(func() {
		defer to.Close()
		_, _ = io.Copy(to, channel)
	})
	s.all.Go(func() {
		defer channel.Close()
		_, _ = io.Copy(channel, to)
	})
}

// user is somebody with a home, a key and known hosts.
type user struct {
	home string
	key  any
	conf prony.Config
}

// newUser makes one whose key is in the usual place.
func newUser(t *testing.T) *user {
	t.Helper()
	t.Setenv("SSH_AUTH_SOCK", "")
	u := &user{home: t.TempDir(), key: newKey(t, "ed25519")}
	writeKey(t, u.path("id_ed25519"), u.key, "")
	u.conf = prony.Config{Home: u.home, Files: []string{u.path("config")}, Agent: "none"}
	return u
}

func (u *user) path(name string) string { return filepath.Join(u.home, ".ssh", name) }

func (u *user) public(t *testing.T) []ssh.PublicKey {
	t.Helper()
	return []ssh.PublicKey{signer(t, u.key).PublicKey()}
}

// knows adds the host keys of servers to the known ones.
func (u *user) knows(t *testing.T, servers ...*server) {
	t.Helper()
	text, _ := os.ReadFile(u.path("known_hosts"))
	for _, s := range servers {
		text = append(text, line(s.address, s.keys[0].PublicKey())...)
	}
	write(t, u.path("known_hosts"), string(text))
}

// line is a line of known_hosts.
func line(address string, key ssh.PublicKey) string {
	name, port, _ := net.SplitHostPort(address)
	return fmt.Sprintf("[%s]:%s %s", name, port, ssh.MarshalAuthorizedKey(key))
}

// dial connects and closes at the end.
func (u *user) dial(t *testing.T, target string) *prony.Host {
	t.Helper()
	h, err := prony.Dial(t.Context(), target, u.conf)
	if err != nil {
		t.Fatalf("Dial: %v", err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

var _ host.Host = (*prony.Host)(nil)
