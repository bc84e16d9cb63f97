package drivertest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// noEngine is the variable in which [Engine] says why there is none.
const noEngine = "PRONY_DRIVERTEST_NO_ENGINE"

// Bounds of an engine of our own.
const (
	turnPatience = 10 * time.Minute // for other tests to be done with theirs
	upPatience   = 60 * time.Second
	downPatience = 30 * time.Second
	enginePause  = 50 * time.Millisecond
)

// Engine is for the TestMain of drivers that need a Docker engine. It takes the
// one that answers, or starts the machine's dockerd with folders of its own, one
// at a time on a machine, and points DOCKER_HOST to it. The caller calls done at
// the end. Tests call [NeedEngine]. A process in another role gets nothing.
func Engine() (done func()) {
	flag.Parse() // this is called before the tests do
	if os.Getenv(role) != "" || testing.Short() {
		return func() {}
	}
	done, err := engine()
	if err != nil {
		_ = os.Setenv(noEngine, err.Error())
		return func() {}
	}
	return done
}

// NeedEngine skips a test where there is no engine, or fails it with
// PRONY_E2E=require.
func NeedEngine(t *testing.T) {
	t.Helper()
	why := os.Getenv(noEngine)
	switch {
	case testing.Short():
		t.Skip("starts a Docker engine")
	case why == "":
	case os.Getenv("PRONY_E2E") == "require":
		t.Fatalf("PRONY_E2E=require: no Docker engine: %s", why)
	default:
		t.Skipf("no Docker engine: %s", why)
	}
}

func engine() (done func(), err error) {
	for _, socket := range []string{strings.TrimPrefix(os.Getenv("DOCKER_HOST"), "unix://"), "/var/run/docker.sock"} {
		if socket == "" || !answers(socket) {
			continue
		}
		release, err := turn()
		if err != nil {
			return nil, err
		}
		return release, os.Setenv("DOCKER_HOST", "unix://"+socket)
	}
	program, err := exec.LookPath("dockerd")
	if err != nil {
		return nil, fmt.Errorf("none answers, and there is no dockerd to start (apt-get install -y docker.io): %w", err)
	}
	if os.Geteuid() != 0 {
		return nil, errors.New("none answers, and only root can start dockerd")
	}
	release, err := turn()
	if err != nil {
		return nil, err
	}
	stop, err := daemon(program)
	if err != nil {
		release()
		return nil, err
	}
	return func() { stop(); release() }, nil
}

func answers(socket string) bool {
	c := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}}}
	answer, err := c.Get("http://docker/_ping")
	if err != nil {
		return false
	}
	return answer.Body.Close() == nil && answer.StatusCode == http.StatusOK
}

// turn waits until no other test has an engine: two of their own would hand out
// the same addresses on the same bridge, and of one that they share each would
// remove the other's images, which have the same names.
func turn() (release func(), err error) {
	f, err := os.OpenFile(filepath.Join(os.TempDir(), "prony-drivertest-engine.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(turnPatience); ; <-time.After(enginePause) {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = f.Close() }, nil
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(fmt.Errorf("wait for the engine of another test: %w", err), f.Close())
		}
	}
}

// daemonPrefix begins the names of daemons' folders; short, for sockets have
// short names.
const daemonPrefix = "prony-dockerd-"

// bridge is the interface that dockerd makes, and leaves.
const bridge = "docker0"

// daemon starts dockerd below a temporary folder, without packet filter rules:
// published ports need none. Its death with ours is seen to.
func daemon(program string) (stop func(), err error) {
	old, _ := filepath.Glob(filepath.Join(os.TempDir(), daemonPrefix+"*"))
	for _, name := range old { // of a test that was killed: it is our turn, so that none is in use
		unmount(name)
		_ = os.RemoveAll(name)
	}
	dir, err := os.MkdirTemp("", daemonPrefix)
	if err != nil {
		return nil, err
	}
	_, bridged := net.InterfaceByName(bridge)
	runtime.LockOSThread() // the signal at our death comes with that of this thread
	socket := filepath.Join(dir, "docker.sock")
	c := exec.Command(program, "--data-root", filepath.Join(dir, "data"), "--exec-root", filepath.Join(dir, "exec"), "--pidfile", filepath.Join(dir, "pid"),
		"-H", "unix://"+socket, "--iptables=false", "--ip6tables=false", "--ip-masq=false")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Setpgid: true}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = c.Wait() }()
	stop = func() {
		end(c.Process, ended)
		if bridged != nil {
			_ = exec.Command("ip", "link", "delete", bridge).Run() // where there is no ip(8) it stays
		}
		unmount(dir)
		_ = os.RemoveAll(dir)
	}
	if err := up(socket, ended); err != nil {
		text, _ := os.ReadFile(filepath.Join(dir, "log"))
		stop()
		return nil, fmt.Errorf("start %s: %w: %s", program, err, text[max(0, len(text)-2000):])
	}
	return stop, os.Setenv("DOCKER_HOST", "unix://"+socket)
}

func up(socket string, ended <-chan struct{}) error {
	for deadline := time.Now().Add(upPatience); ; {
		if answers(socket) {
			return nil
		}
		select {
		case <-ended:
			return errors.New("it ended")
		case <-time.After(enginePause):
		}
		if time.Now().After(deadline) {
			return errors.New("it does not answer in time")
		}
	}
}

// unmount lets go of what the daemon left mounted below a folder: network
// namespaces, and more after a crash (proc_pid_mountinfo(5), field 5).
func unmount(dir string) {
	text, _ := os.ReadFile("/proc/self/mountinfo")
	lines := strings.Split(string(text), "\n")
	for i := len(lines) - 1; i >= 0; i-- { // the last are on top of the first
		if fields := strings.Fields(lines[i]); len(fields) > 4 && strings.HasPrefix(fields[4], dir+"/") {
			_ = syscall.Unmount(fields[4], syscall.MNT_DETACH)
		}
	}
}

// end asks the daemon to end, with the containerd that it started.
func end(p *os.Process, ended <-chan struct{}) {
	_ = p.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(downPatience):
		_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
		<-ended
	}
}
