//go:build unix

package ssh_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	osuser "os/user"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"prony/internal/host"
	prony "prony/internal/host/ssh"
)

const sshdPath = "/usr/sbin/sshd"

// sshd starts OpenSSH's server on loopback, with its own configuration, and a
// user who may log in. It skips where there is none.
func sshd(t *testing.T) (u *user, target string) {
	t.Helper()
	if _, err := os.Stat(sshdPath); err != nil || os.Getuid() != 0 {
		if os.Getenv("PRONY_E2E") == "require" {
			t.Fatalf("PRONY_E2E=require, and this needs root and %s (apt-get install openssh-server): %v", sshdPath, err)
		}
		t.Skipf("needs root and %s (apt-get install openssh-server)", sshdPath)
	}
	u = newUser(t)
	who, err := osuser.Current()
	if err != nil {
		t.Fatal(err)
	}
	dir, key := t.TempDir(), newKey(t, "ed25519")
	writeKey(t, dir+"/host_key", key, "")
	write(t, dir+"/authorized_keys", string(ssh.MarshalAuthorizedKey(u.public(t)[0])))
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // its privilege separation wants it
		t.Fatal(err)
	}
	address := freeAddress(t)
	name, port, _ := net.SplitHostPort(address)
	write(t, dir+"/sshd_config", fmt.Sprintf("ListenAddress %s\nPort %s\nHostKey %s/host_key\nAuthorizedKeysFile %[3]s/authorized_keys\n"+
		"PidFile none\nUsePAM no\nStrictModes no\nPermitRootLogin prohibit-password\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"+
		"Subsystem sftp internal-sftp\n", name, port, dir))
	var log bytes.Buffer
	server := exec.Command(sshdPath, "-D", "-e", "-f", dir+"/sshd_config")
	server.Stderr = &log
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		if t.Failed() {
			t.Logf("sshd says:\n%s", log.String())
		}
	})
	listening(t, address)
	write(t, u.path("known_hosts"), line(address, signer(t, key).PublicKey()))
	return u, "ssh://" + who.Username + "@" + address
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func listening(t *testing.T, address string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("sshd does not listen: %v", err)
		}
		time.Sleep(20 * time.Millisecond) //house:sleep sshd has no other sign of being ready
	}
}

func TestSSHDConforms(t *testing.T) {
	u, target := sshd(t)
	conform(t, u.dial(t, target))
}

// TestSSHDKilled kills the server's process for our connection: what runs
// there must end, and our copy must go.
func TestSSHDKilled(t *testing.T) {
	u, target := sshd(t)
	h := u.dial(t, target)
	copied, _, err := h.CopySelf(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// The parent of a session's program is the connection's process.
	parent := strings.TrimSpace(output(t, h.Command("sh", "-c", "echo $PPID")))
	c := h.Command("sh", "-c", "trap : TERM; sleep 1000 & echo $!; while :; do sleep 0.1; done")
	child := begun(t, c, t.Context())
	if err := host.Local().Command("kill", "-KILL", parent).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	says(t, c.Wait(), "lost")
	gone(t, "the command's child", child)
	vanished(t, copied)
}

func TestSSHDRefusesForeignKey(t *testing.T) {
	u, target := sshd(t)
	writeKey(t, u.path("id_ed25519"), newKey(t, "ed25519"), "")
	_, err := prony.Dial(t.Context(), target, u.conf)
	says(t, err, "none of our keys is allowed", "ssh-copy-id")
}

func TestSSHDTooManyKeys(t *testing.T) {
	u, target := sshd(t)
	_ = os.Remove(u.path("id_ed25519"))
	var keys []any
	for range 8 { // MaxAuthTries is 6
		keys = append(keys, newKey(t, "ed25519"))
	}
	u.conf.Agent = agentWith(t, keys...)
	_, err := prony.Dial(t.Context(), target, u.conf)
	says(t, err, "IdentitiesOnly yes")
}
