package e2e_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const sshExperiment = `prony: 1
name: far
question: Does it scale on another host?
hosts:
  sut: ssh://root@127.0.0.1:%d
services:
  app:
    catalog: hello
    instances: ${instances}
    limits: {cpus: 0.2, memory: 200MiB}
    on: sut
  gateway:
    catalog: nginx
    upstream: app
    on: sut
load: {target: gateway, connections: 16, duration: 1s, warmup: 300ms}
vary: {instances: [1, 2]}
repeat: 1
cooldown: 0s
`

// sshd runs a real server on loopback, with keys of its own, and returns its
// port and a home folder from which it can be reached.
func sshd(t *testing.T) (port int, home string) {
	t.Helper()
	server := need(t, "sshd", "apt-get install openssh-server")
	keygen := need(t, "ssh-keygen", "apt-get install openssh-client")
	dir := t.TempDir()
	home = filepath.Join(dir, "home")
	port = freePort(t)
	for _, d := range []string{filepath.Join(home, ".ssh"), "/run/sshd"} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	hostKey, userKey := filepath.Join(dir, "host"), filepath.Join(home, ".ssh", "id_ed25519")
	for _, key := range []string{hostKey, userKey} {
		if out := command(t, keygen, "-q", "-t", "ed25519", "-N", "", "-f", key); out.code != 0 {
			t.Fatalf("ssh-keygen: %s", out.stderr)
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	public, err := os.ReadFile(hostKey + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(home, ".ssh", "known_hosts"), fmt.Sprintf("[127.0.0.1]:%d %s", port, public))
	write(filepath.Join(dir, "config"), fmt.Sprintf("Port %d\nListenAddress 127.0.0.1\nHostKey %s\nPidFile none\nAuthorizedKeysFile %s.pub\n"+
		"StrictModes no\nPermitRootLogin yes\nUsePAM no\nSubsystem sftp internal-sftp\n", port, hostKey, userKey))
	cmd := exec.Command(server, "-D", "-e", "-f", filepath.Join(dir, "config"))
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	eventually(t, "sshd listens", func() bool {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	})
	return port, home
}

// reachable runs an sshd that this test and the programs that it starts may use,
// and returns its port.
func reachable(t *testing.T) int {
	t.Helper()
	port, home := sshd(t)
	t.Setenv("HOME", home)
	t.Setenv("SSH_AUTH_SOCK", "")
	return port
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// TestOverSSH carries an experiment out on another host, reached over a real
// sshd: limits, counters, monitors, and nothing is left there.
func TestOverSSH(t *testing.T) {
	need(t, "nginx", "apt-get install nginx-core")
	needRoot(t)
	port := reachable(t)
	home := t.TempDir()
	experiment, file := filepath.Join(home, "far.yaml"), filepath.Join(home, "result.json")
	if err := os.WriteFile(experiment, fmt.Appendf(nil, sshExperiment, port), 0o600); err != nil {
		t.Fatal(err)
	}
	out := withHome(t, home, "run", experiment, "-q", "--json", file)
	if out.code != 0 && out.code != 1 {
		t.Fatalf("status %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	for _, trial := range readExperiment(t, file).Trials {
		checkTrial(t, trial)
		if trial.Hosts["sut"].Kernel == "" {
			t.Errorf("trial %d knows nothing of its host: %+v", trial.Number, trial.Hosts)
		}
		watched := map[string]bool{}
		for _, o := range trial.Observed {
			watched[o.Kind+" "+o.Name+" on "+o.Host] = true
		}
		for _, want := range []string{"host sut on sut", "service app on sut", "service gateway on sut"} {
			if !watched[want] {
				t.Errorf("trial %d did not watch %s: %v", trial.Number, want, watched)
			}
		}
	}
	if left := withHome(t, home, "cleanup"); left.code != 0 || !strings.Contains(left.stdout, "nothing left") {
		t.Errorf("cleanup: status %d\n%s%s", left.code, left.stdout, left.stderr)
	}
	if copies, _ := filepath.Glob(filepath.Join(os.TempDir(), "prony-????????????????-????????")); len(copies) > 0 {
		t.Errorf("copies of the program are left: %v", copies)
	}
}

// TestScaleAutoOverSSH: limits are reduced to what the other host has, which is
// asked before anything starts there.
func TestScaleAutoOverSSH(t *testing.T) {
	needRoot(t)
	port, home := reachable(t), t.TempDir()
	text := fmt.Sprintf("prony: 1\nname: fitted\nhosts: {sut: ssh://root@127.0.0.1:%d}\nservices:\n  app:\n    catalog: hello\n    on: sut\n"+
		"    limits: {cpus: 5000, memory: 900TiB}\nload: {target: app, connections: 4, duration: 500ms, warmup: 100ms}\nrepeat: 1\nscale: auto\n", port)
	experiment, file := filepath.Join(home, "fitted.yaml"), filepath.Join(home, "result.json")
	if err := os.WriteFile(experiment, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := withHome(t, home, "run", experiment, "-q", "--no-store", "--json", file)
	if out.code != 0 && out.code != 1 {
		t.Fatalf("status %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	for _, want := range []string{"scale auto", "cpus 5000 -> ", "for app: host sut has"} {
		if !strings.Contains(out.stdout, want) {
			t.Errorf("the report does not say %q:\n%s", want, out.stdout)
		}
	}
	limits := readExperiment(t, file).Trials[0].Run.Services[0].Limits
	if limits.CPUs <= 0 || limits.CPUs > float64(runtime.NumCPU()) || limits.Memory <= 0 || limits.Memory > 900<<30 {
		t.Errorf("got %+v, want limits that a host with %d cores has", limits, runtime.NumCPU())
	}
}
