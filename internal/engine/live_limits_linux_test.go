package engine_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"prony/internal/plan"
	"prony/internal/testserver"
)

// inChild names, in the environment of a child, the URL it is to load. Limits
// of a process and namespaces of a network cannot be changed for a test alone,
// so these tests run themselves again in a process of their own.
const inChild = "PRONY_TEST_CHILD_URL"

// child runs the calling test again, alone, and reports its output.
func child(t *testing.T, url string, attr *syscall.SysProcAttr) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=60s")
	c.Env = append(os.Environ(), inChild+"="+url)
	c.SysProcAttr = attr
	out, err := c.CombinedOutput()
	if _, ran := err.(*exec.ExitError); err != nil && !ran {
		t.Skipf("start the child: %v", err)
	}
	if err != nil {
		t.Errorf("child: %v\n%s", err, out)
	} else if testing.Verbose() {
		t.Logf("child:\n%s", out)
	}
}

// TestLiveF4FileLimit runs into the limit of open files: what could be opened
// carries the load, and what could not is told.
func TestLiveF4FileLimit(t *testing.T) {
	url := os.Getenv(inChild)
	if url == "" {
		s := serve(t, testserver.Config{})
		child(t, s.URL(), nil)
		return
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: 64}); err != nil {
		t.Skipf("lower the limit: %v", err)
	}
	eachEngine(t, func(t *testing.T, e plan.Engine) {
		res := must(t, url, func(l *plan.Load) { l.Engine, l.Connections, l.Duration = e, 200, 300*time.Millisecond })
		c := res.Connections
		if c.Asked != 200 || c.Opened < 10 || c.Opened >= 64 || c.Peak != c.Opened {
			t.Errorf("connections: %+v, want fewer than 64 of 200", c)
		}
		if res.Failures["file-limit"] == 0 || res.Requests.Completed == 0 || res.Requests.Failed != 0 {
			t.Errorf("got %+v, failures %v, want file-limit beside completed requests", res.Requests, res.Failures)
		}
		if d := res.FailureDetails[0]; d.Errno != "EMFILE" || d.Phase != "connect" {
			t.Errorf("detail: %+v, want EMFILE of connect", d)
		}
	})
}

// TestLiveNoPorts runs out of local ports, in a network namespace with sixteen.
func TestLiveNoPorts(t *testing.T) {
	if os.Getenv(inChild) == "" {
		if os.Getuid() != 0 {
			t.Skip("a network namespace needs root")
		}
		child(t, "here", &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET})
		return
	}
	if err := loopbackUp(); err != nil {
		t.Skipf("set lo up: %v", err)
	}
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 40015"), 0); err != nil {
		t.Skipf("narrow the port range: %v", err)
	}
	eachEngine(t, func(t *testing.T, e plan.Engine) {
		s := serve(t, testserver.Config{Address: map[plan.Engine]string{
			plan.IOURing: "127.0.0.1:8001", plan.Epoll: "127.0.0.1:8002", plan.Goroutines: "127.0.0.1:8003"}[e]})
		res := must(t, s.URL(), func(l *plan.Load) { l.Engine, l.Connections, l.Duration = e, 40, 300*time.Millisecond })
		if c := res.Connections; c.Opened == 0 || c.Opened > 16 || c.Asked != 40 {
			t.Errorf("connections: %+v, want at most 16 of 40", c)
		}
		if res.Failures["no-ports"] == 0 || res.Requests.Completed == 0 || res.Requests.Failed != 0 {
			t.Errorf("got %+v, failures %v, want no-ports beside completed requests", res.Requests, res.Failures)
		}
	})
}

// loopbackUp does what "ip link set lo up" does.
func loopbackUp() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	var request struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], "lo")
	request.flags = syscall.IFF_UP | syscall.IFF_RUNNING
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}
