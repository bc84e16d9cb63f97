//go:build unix

package ssh_test

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"prony/internal/host"
	prony "prony/internal/host/ssh"
)

// says checks that an error is there and names what helps.
func says(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("got no error")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

func TestUnknownHostKey(t *testing.T) {
	u := newUser(t)
	s := start(t, u.public(t), nil)
	_, err := prony.Dial(t.Context(), "ssh://me@"+s.address, u.conf)
	var unknown *prony.UnknownKeyError
	if !errors.As(err, &unknown) {
		t.Fatalf("got %v, want an UnknownKeyError", err)
	}
	says(t, err, ssh.FingerprintSHA256(s.keys[0].PublicKey()), "echo ", ">> "+u.path("known_hosts"))

	// The command in the text is the remedy.
	_, command, _ := strings.Cut(err.Error(), "then: ")
	if out, err := host.Local().Command("sh", "-c", command).Output(t.Context()); err != nil {
		t.Fatalf("the remedy: %s, %v", out, err)
	}
	u.dial(t, "ssh://me@"+s.address)
}

func TestChangedHostKey(t *testing.T) {
	for _, strict := range []string{"yes", "accept-new", "no"} {
		t.Run("StrictHostKeyChecking "+strict, func(t *testing.T) {
			u := newUser(t)
			s := start(t, u.public(t), nil)
			write(t, u.path("config"), "Host *\n  StrictHostKeyChecking "+strict+"\n")
			write(t, u.path("known_hosts"), line(s.address, signer(t, newKey(t, "ed25519")).PublicKey()))
			_, err := prony.Dial(t.Context(), "ssh://me@"+s.address, u.conf)
			var changed *prony.ChangedKeyError
			if !errors.As(err, &changed) {
				t.Fatalf("got %v, want a ChangedKeyError", err)
			}
			says(t, err, "HAS CHANGED", u.path("known_hosts")+":1", "ssh-keygen -R")
		})
	}
}

func TestRevokedHostKey(t *testing.T) {
	u := newUser(t)
	s := start(t, u.public(t), nil)
	write(t, u.path("known_hosts"), "@revoked * "+string(ssh.MarshalAuthorizedKey(s.keys[0].PublicKey())))
	_, err := prony.Dial(t.Context(), "ssh://me@"+s.address, u.conf)
	var revoked *prony.RevokedKeyError
	if !errors.As(err, &revoked) {
		t.Fatalf("got %v, want a RevokedKeyError", err)
	}
}

// TestHostKeyOrder has a host with three kinds of key, of which we know one:
// without the proper order of algorithms it would show another one.
func TestHostKeyOrder(t *testing.T) {
	keys := []any{newKey(t, "ed25519"), newKey(t, "ecdsa"), newKey(t, "rsa")}
	for i, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		t.Run(kind, func(t *testing.T) {
			u := newUser(t)
			s := start(t, u.public(t), nil, keys...)
			write(t, u.path("known_hosts"), line(s.address, s.keys[i].PublicKey()))
			u.dial(t, "ssh://me@"+s.address)
		})
	}
	t.Run("a kind that is gone", func(t *testing.T) {
		u := newUser(t)
		s := start(t, u.public(t), nil, keys[0])
		write(t, u.path("known_hosts"), line(s.address, signer(t, keys[1]).PublicKey()))
		_, err := prony.Dial(t.Context(), "ssh://me@"+s.address, u.conf)
		says(t, err, "no key of the kinds that are known", "ssh-keygen -R")
	})
}

func TestAcceptNew(t *testing.T) {
	u := newUser(t)
	s := start(t, u.public(t), nil)
	write(t, u.path("config"), "Host *\n  StrictHostKeyChecking accept-new\n  UserKnownHostsFile ~/.ssh/mine\n")
	_ = u.dial(t, "ssh://me@"+s.address).Close()
	text, err := os.ReadFile(u.path("mine"))
	if want := line(s.address, s.keys[0].PublicKey()); err != nil || string(text) != want {
		t.Errorf("got %q, want %q, %v", text, want, err)
	}
	u.dial(t, "ssh://me@"+s.address)
}

func TestEncryptedKey(t *testing.T) {
	u := newUser(t)
	s := start(t, u.public(t), nil)
	u.knows(t, s)
	writeKey(t, u.path("id_ed25519"), u.key, "secret")
	_, err := prony.Dial(t.Context(), "ssh://me@"+s.address, u.conf)
	says(t, err, u.path("id_ed25519")+" is encrypted", "ssh-add "+u.path("id_ed25519"))

	u.conf.Agent = agentWith(t, u.key)
	u.dial(t, "ssh://me@"+s.address)
}

// agentWith runs an agent that holds keys, and returns its socket.
func agentWith(t *testing.T, keys ...any) string {
	t.Helper()
	ring := agent.NewKeyring()
	for _, key := range keys {
		if err := ring.Add(agent.AddedKey{PrivateKey: key}); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp("", "agent") // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", dir+"/s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = l.Close()
		_ = os.RemoveAll(dir)
	})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_ = agent.ServeAgent(ring, conn)
				_ = conn.Close()
			}()
		}
	}()
	return dir + "/s"
}

func TestLogin(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(*testing.T, *user)
		want    []string // of the error; nil is a login
	}{
		"by key file": {func(*testing.T, *user) {}, nil},
		"by agent": {func(t *testing.T, u *user) {
			_ = os.Remove(u.path("id_ed25519"))
			u.conf.Agent = agentWith(t, newKey(t, "rsa"), u.key)
		}, nil},
		"by $SSH_AUTH_SOCK": {func(t *testing.T, u *user) {
			_ = os.Remove(u.path("id_ed25519"))
			u.conf.Agent = ""
			t.Setenv("SSH_AUTH_SOCK", agentWith(t, u.key))
		}, nil},
		"by IdentityFile": {func(t *testing.T, u *user) {
			_ = os.Rename(u.path("id_ed25519"), u.path("other"))
			write(t, u.path("config"), "IdentityFile %d/.ssh/other\n")
		}, nil},
		"by Config.Identities": {func(t *testing.T, u *user) {
			_ = os.Rename(u.path("id_ed25519"), u.path("other"))
			u.conf.Identities = []string{u.path("other")}
		}, nil},
		"only a public half, the agent has the rest": {func(t *testing.T, u *user) {
			_ = os.Remove(u.path("id_ed25519"))
			write(t, u.path("id_ed25519.pub"), string(ssh.MarshalAuthorizedKey(u.public(t)[0])))
			write(t, u.path("config"), "IdentitiesOnly yes\n")
			u.conf.Agent = agentWith(t, newKey(t, "rsa"), u.key)
		}, nil},
		"IdentitiesOnly leaves the agent out": {func(t *testing.T, u *user) {
			_ = os.Remove(u.path("id_ed25519"))
			write(t, u.path("config"), "IdentitiesOnly yes\n")
			u.conf.Agent = agentWith(t, u.key)
		}, []string{"no key to offer"}},
		"no key at all": {func(_ *testing.T, u *user) { _ = os.Remove(u.path("id_ed25519")) },
			[]string{"no key to offer", "no agent", "ssh-copy-id"}},
		"a foreign key": {func(t *testing.T, u *user) { writeKey(t, u.path("id_ed25519"), newKey(t, "ed25519"), "") },
			[]string{"none of our keys is allowed", "ssh-ed25519 SHA256:", "ssh-copy-id"}},
		"a broken key": {func(t *testing.T, u *user) { write(t, u.path("id_ed25519"), "nonsense") },
			[]string{"id_ed25519 is not a key"}},
		"an agent that is gone": {func(t *testing.T, u *user) {
			_ = os.Remove(u.path("id_ed25519"))
			u.conf.Agent = u.home + "/none"
		}, []string{"the agent does not answer"}},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			s := start(t, u.public(t), nil)
			u.knows(t, s)
			c.arrange(t, u)
			h, err := prony.Dial(t.Context(), "ssh://me@"+s.address, u.conf)
			if err == nil {
				_ = h.Close()
			}
			if c.want == nil && err != nil {
				t.Fatalf("got %v, want a login", err)
			}
			if c.want != nil {
				says(t, err, c.want...)
			}
		})
	}
}

func TestConfiguration(t *testing.T) {
	u := newUser(t)
	s := start(t, u.public(t), nil)
	u.knows(t, s)
	name, port, _ := net.SplitHostPort(s.address)
	write(t, u.path("config"), "Host sut*\n  HostName "+name+"\n  Port "+port+"\n  User bench\n\nMatch host other\n  User wrong\n\nHost *\n  Port 1\n")
	h := u.dial(t, "ssh://sut1")
	if got, want := h.String(), "ssh://bench@"+s.address; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := h.Command("id", "-u").String(), "ssh -p "+port+" bench@sut1 'id -u'"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestJumps(t *testing.T) {
	u := newUser(t)
	first, second, target := start(t, u.public(t), nil), start(t, u.public(t), nil), start(t, u.public(t), nil)
	u.knows(t, first, second, target)
	name, port, _ := net.SplitHostPort(second.address)
	write(t, u.path("config"), "Host two\n  HostName "+name+"\n  Port "+port+"\n\nHost 127.0.0.1\n  User me\n\nHost *\n  ProxyJump none\n")
	text, _ := os.ReadFile(u.path("config"))
	targetName, targetPort, _ := net.SplitHostPort(target.address)
	write(t, u.path("config"), "Host sut\n  HostName "+targetName+"\n  Port "+targetPort+"\n  ProxyJump you@"+first.address+", two\n\n"+string(text))
	h := u.dial(t, "ssh://me@sut")
	if got := output(t, h.Command("echo", "through")); got != "through\n" {
		t.Errorf("got %q", got)
	}
	if first.jumps.Load() != 1 || second.jumps.Load() != 1 || target.jumps.Load() != 0 {
		t.Errorf("got %d, %d, %d jumps, want 1, 1, 0", first.jumps.Load(), second.jumps.Load(), target.jumps.Load())
	}

	t.Run("a hop whose key is unknown", func(t *testing.T) {
		write(t, u.path("known_hosts"), "")
		u.knows(t, first, target)
		_, err := prony.Dial(t.Context(), "ssh://me@sut", u.conf)
		says(t, err, "hop 2 of 3", "not known")
	})
	t.Run("a circle", func(t *testing.T) {
		write(t, u.path("config"), "Host sut\n  ProxyJump two\nHost two\n  ProxyJump sut\n")
		_, err := prony.Dial(t.Context(), "ssh://me@sut", u.conf)
		says(t, err, "circle")
	})
}

func TestWrongTargets(t *testing.T) {
	u := newUser(t)
	write(t, u.path("config"), "Host proxied\n  ProxyCommand nc %h %p\nHost ported\n  Port many\nHost jumping\n  ProxyJump a b\n")
	for target, want := range map[string]string{
		"sut1": "want ssh://", "http://sut1": "want ssh://", "ssh://": "want ssh://", "ssh://sut1/path": "want ssh://",
		"ssh://me:secret@sut1": "passwords are not taken", "ssh://sut1:0": "want a port", "ssh://sut1:99999": "want a port",
		"ssh://-oProxyCommand=reboot": "want ssh://", "ssh://-l@sut1": "want ssh://", "ssh://proxied": "ProxyJump",
		"ssh://ported": "want a port", "ssh://jumping": "ProxyJump",
	} {
		t.Run(target, func(t *testing.T) {
			_, err := prony.Dial(t.Context(), target, u.conf)
			says(t, err, want)
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("error %q shows a password", err)
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	u := newUser(t)
	u.conf.Timeout = 300 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // it accepts, and says nothing
	begin := time.Now()
	_, err = prony.Dial(t.Context(), "ssh://me@"+l.Addr().String(), u.conf)
	says(t, err, "log in within 300ms")
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := prony.Dial(ctx, "ssh://me@"+l.Addr().String(), u.conf); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: got %v", err)
	}
}

// TestConnectionBreaks cuts the line under a command: its group must end, Wait
// must tell, and our copy must go.
func TestConnectionBreaks(t *testing.T) {
	u := newUser(t)
	s := start(t, u.public(t), nil)
	u.knows(t, s)
	h := u.dial(t, "ssh://me@"+s.address)
	copied, _, err := h.CopySelf(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := h.Command("sh", "-c", "trap : TERM; sleep 1000 & echo $!; while :; do sleep 0.1; done")
	child := begun(t, c, t.Context())
	s.cut()
	says(t, c.Wait(), "the ssh connection is lost")
	gone(t, "the command's child", child)
	vanished(t, copied)
	says(t, h.Command("true").Run(t.Context()), "lost")
	_, err = h.FS().ReadFile("/etc/passwd")
	says(t, err, "lost")
}

// vanished waits for a file to be removed.
func vanished(t *testing.T, name string) {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); ; {
		if _, err := os.Stat(name); os.IsNotExist(err) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s is still there", name)
		}
		time.Sleep(20 * time.Millisecond) //house:sleep polls for a removal that has no other sign
	}
}

// TestCloseEndsCommands closes under a command.
func TestCloseEndsCommands(t *testing.T) {
	u := newUser(t)
	s := start(t, u.public(t), nil)
	u.knows(t, s)
	h := u.dial(t, "ssh://me@"+s.address)
	c := h.Command("sh", "-c", "sleep 1000 & echo $!; wait")
	child := begun(t, c, t.Context())
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil {
		t.Error("got no error from a command that was cut off")
	}
	gone(t, "the command's child", child)
}

// TestSilence has a server that stops to answer without closing: everything
// that waits must end.
func TestSilence(t *testing.T) {
	u := newUser(t)
	s := start(t, u.public(t), nil)
	u.knows(t, s)
	u.conf.KeepAlive, u.conf.Misses = 50*time.Millisecond, 2
	h := u.dial(t, "ssh://me@"+s.address)
	c := h.Command("sleep", "1000")
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.deaf.Store(true)
	says(t, c.Wait(), "no sign of life")
	says(t, h.Command("true").Run(t.Context()), "lost")
}

// TestLively keeps a connection with a short patience that is answered.
func TestLively(t *testing.T) {
	u := newUser(t)
	s := start(t, u.public(t), nil)
	u.knows(t, s)
	u.conf.KeepAlive, u.conf.Misses = 20*time.Millisecond, 20
	h := u.dial(t, "ssh://me@"+s.address)
	if got := output(t, h.Command("sh", "-c", "sleep 1; echo done")); got != "done\n" {
		t.Errorf("got %q", got)
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		adjust func(*server)
		use    func(*testing.T, *prony.Host) error
		want   string
	}{
		"no session left": {func(s *server) { s.sessions = 2 }, func(t *testing.T, h *prony.Host) error {
			first := h.Command("sh", "-c", "echo ready; exec sleep 1000")
			begun(t, first, t.Context())
			return h.Command("true").Run(t.Context())
		}, "MaxSessions"},
		"no sftp": {func(s *server) { s.noSftp = true }, func(_ *testing.T, h *prony.Host) error {
			_, err := h.FS().ReadFile("/etc/passwd")
			return err
		}, "Subsystem sftp"},
		"a login script that writes without end": {func(s *server) { s.noisy = strings.Repeat("noise\n", 20000) }, func(t *testing.T, h *prony.Host) error {
			return h.Command("true").Run(t.Context())
		}, "login script"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			s := start(t, u.public(t), c.adjust)
			u.knows(t, s)
			says(t, c.use(t, u.dial(t, "ssh://me@"+s.address)), c.want)
		})
	}
}

func TestCopySelf(t *testing.T) {
	u := newUser(t)
	s := start(t, u.public(t), nil)
	u.knows(t, s)
	h := u.dial(t, "ssh://me@"+s.address)
	name, remove, err := h.CopySelf(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := output(t, h.Command(name, "-test.list", "^TestCopySelf$")); !strings.HasPrefix(got, "TestCopySelf\n") {
		t.Errorf("the copy says %q, want what we would", got)
	}
	remove()
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		t.Errorf("after remove: got %v", err)
	}
	remove() // once more is no harm

	name, _, err = h.CopySelf(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	vanished(t, name)
	vanished(t, name[:strings.LastIndex(name, "/")])
}

// TestCopySelfRefuses has hosts that a copy of us is of no use for.
func TestCopySelfRefuses(t *testing.T) {
	for name, c := range map[string]struct{ program, text, want string }{
		"another architecture": {"uname", "#!/bin/sh\ncase $1 in -m) echo s390x;; *) echo Linux;; esac\n", "s390x"},
		"another system":       {"uname", "#!/bin/sh\necho OpenBSD\n", "openbsd"},
		"nowhere to write":     {"mktemp", "#!/bin/sh\nexit 1\n", "set TMPDIR"},
		"it arrives spoiled":   {"sha256sum", "#!/bin/sh\necho 0000 -\n", "differs from the original"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir()) // the server's programs inherit it
			u, dir := newUser(t), t.TempDir()
			write(t, dir+"/"+c.program, c.text)
			if err := os.Chmod(dir+"/"+c.program, 0o755); err != nil {
				t.Fatal(err)
			}
			s := start(t, u.public(t), func(s *server) { s.path = dir })
			u.knows(t, s)
			h := u.dial(t, "ssh://me@"+s.address)
			before := copies(t)
			_, _, err := h.CopySelf(t.Context())
			says(t, err, c.want)
			if after := copies(t); after != before {
				t.Errorf("left behind: %s, before %s", after, before)
			}
		})
	}
}

// copies lists what CopySelf left in the folder for temporary files.
func copies(t *testing.T) string {
	t.Helper()
	all, err := host.Local().FS().Glob(os.TempDir() + "/prony-*")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}
