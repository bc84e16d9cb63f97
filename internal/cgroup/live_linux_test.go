package cgroup_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"prony/internal/cgroup"
)

// TestMain lets the test binary be a program that uses what it is told to.
func TestMain(m *testing.M) {
	switch os.Getenv("PRONY_TEST_ROLE") {
	case "burn":
		for end := time.Now().Add(60 * time.Second); time.Now().Before(end); {
		}
		os.Exit(0)
	case "eat":
		for total := 0; total < 1<<30; total += 1 << 20 {
			kept = append(kept, make([]byte, 1<<20))
			for i := 0; i < 1<<20; i += 4096 {
				kept[len(kept)-1][i] = 1
			}
		}
		os.Exit(0)
	case "aside":
		parent := os.Getenv("PRONY_TEST_PARENT")
		err := os.WriteFile(parent+"/cgroup.procs", []byte(strconv.Itoa(os.Getpid())), 0)
		if err == nil {
			err = cgroup.HandFromOwn(parent, os.Getenv("PRONY_TEST_CONTROLLER"))
		}
		text, _ := os.ReadFile("/proc/self/cgroup")
		_, _ = fmt.Fprintf(os.Stderr, "error: %v\n%s", err, text)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var kept [][]byte

// made makes a group on this machine, or skips where we may not.
func made(t *testing.T, limits cgroup.Limits) *cgroup.Owned {
	t.Helper()
	o, err := cgroup.Create("", fmt.Sprintf("prony-test-%d-%d", os.Getpid(), time.Now().UnixNano()), limits)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrNotExist) {
		if os.Getenv("PRONY_E2E") == "require" {
			t.Fatalf("PRONY_E2E=require: %v", err)
		}
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(o.Kill(), o.Remove()); err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	return o
}

// child starts this binary in the group, in a role.
func child(t *testing.T, o *cgroup.Owned, role string) *exec.Cmd {
	t.Helper()
	args := o.Enter(os.Args[0])
	c := exec.Command(args[0], args[1:]...)
	c.Env = append(os.Environ(), "PRONY_TEST_ROLE="+role, "GOMAXPROCS=2")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

func stat(t *testing.T, o *cgroup.Owned) cgroup.Stat {
	t.Helper()
	s, err := o.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestLiveCPUQuota(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 5 s of wall time")
	}
	o := made(t, cgroup.Limits{CPUs: 0.2})
	if got, err := o.Limits(); err != nil || got.CPUs != 0.2 {
		t.Errorf("Limits: got %+v, %v", got, err)
	}
	c := child(t, o, "burn")
	for stat(t, o).Throttled.Throttled < 2 { // it runs, and has hit the wall
		time.Sleep(10 * time.Millisecond) //house:sleep polls a counter of the kernel's
	}
	before, begin := stat(t, o), time.Now()
	time.Sleep(5 * time.Second) //house:sleep the use over this time is measured
	after, wall := stat(t, o), time.Since(begin)
	cores := float64(after.CPU-before.CPU) / float64(wall)
	periods, throttled := after.Throttled.Periods-before.Throttled.Periods, after.Throttled.Throttled-before.Throttled.Throttled
	t.Logf("%.4f cores over %s, %d of %d periods throttled", cores, wall, throttled, periods)
	// Less than the quota is what a machine with more to do than cores gives.
	if cores > 0.21 || cores < 0.19 && throttled > periods*9/10 {
		t.Errorf("got %.4f cores, want 0.200 ± 0.01", cores)
	}
	if throttled < 1 || periods < 30 {
		t.Errorf("got %d of %d periods throttled, want most of 50", throttled, periods)
	}
	if err := o.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.Wait()
	if got := c.ProcessState.Sys().(syscall.WaitStatus); got.Signal() != syscall.SIGKILL {
		t.Errorf("got %v, want an end by SIGKILL", c.ProcessState)
	}
}

func TestLiveMemoryLimit(t *testing.T) {
	o := made(t, cgroup.Limits{Memory: 64 << 20})
	c := child(t, o, "eat")
	_ = c.Wait()
	s := stat(t, o)
	t.Logf("%+v", s)
	if s.OOMKills < 1 {
		t.Errorf("got %d kills by the memory limit, want 1; the child ended with %v", s.OOMKills, c.ProcessState)
	}
	// The kernel lets some of its own charges pass the limit by a few pages.
	if s.MemoryPeak < 60<<20 || s.MemoryPeak > 65<<20 {
		t.Errorf("got a peak of %d bytes, want nearly 64 MiB", s.MemoryPeak)
	}
}

func TestLiveCPUSetAndPids(t *testing.T) {
	o := made(t, cgroup.Limits{CPUSet: "0", Pids: 5})
	args := o.Enter("sh", "-c", "grep Cpus_allowed_list /proc/self/status; for i in 1 2 3 4 5 6 7 8; do sleep 5 >/dev/null 2>&1 & done")
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if !strings.Contains(string(out), "Cpus_allowed_list:\t0\n") {
		t.Errorf("got %q, want core 0", out)
	}
	if err == nil || !strings.Contains(strings.ToLower(string(out)), "fork") {
		t.Errorf("got %q, %v, want a fork refused", out, err)
	}
	if got, count, ok := o.CPUs(); got != "0" || count != 1 || !ok {
		t.Errorf("CPUs: got %q, %d, %t", got, count, ok)
	}
}

func TestLiveFindAndRemove(t *testing.T) {
	o := made(t, cgroup.Limits{Pids: 100})
	args := o.Enter("sh", "-c", "echo ready; trap : TERM; while :; do sleep 1; done")
	c := exec.Command(args[0], args[1:]...)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	go func() { ended <- c.Wait() }()
	if err := o.Remove(); err == nil || !strings.Contains(err.Error(), strconv.Itoa(c.Process.Pid)) {
		t.Errorf("Remove: got %v, want the process that is left", err)
	}
	found, err := cgroup.Find("", o.Name())
	if err != nil || len(found) != 1 || found[0].Name() != o.Name() {
		t.Fatalf("Find: got %v, %v", found, err)
	}
	if l, err := found[0].Limits(); err != nil || l.Pids != 100 {
		t.Errorf("Limits: got %+v, %v", l, err)
	}
	if err := errors.Join(found[0].Kill(), found[0].Remove()); err != nil {
		t.Error(err)
	}
	<-ended
	if found, err := cgroup.Find("", o.Name()); len(found) != 0 || err != nil {
		t.Errorf("Find: got %v, %v, want nothing left", found, err)
	}
	if _, err := o.Stat(); err == nil {
		t.Error("Stat of a removed group: got no error")
	}
	if err := o.Add(os.Getpid()); err == nil {
		t.Error("Add to a removed group: got no error")
	}
}

func TestLiveAdd(t *testing.T) {
	o := made(t, cgroup.Limits{Memory: 1 << 30})
	c := exec.Command("sleep", "100")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	pid := c.Process.Pid
	if err := o.Add(pid); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid)); err != nil || !strings.Contains(string(text), "/"+o.Name()) {
		t.Errorf("got %q, %v", text, err)
	}
	if s := stat(t, o); s.Pids != 1 && s.Pids != cgroup.Unknown {
		t.Errorf("got %d processes, want 1", s.Pids)
	}
	if err := o.Kill(); err != nil {
		t.Error(err)
	}
	_ = c.Wait()
	if err := o.Add(pid); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("Add of a process that ended: got %v, want os.ErrProcessDone", err)
	}
	if _, err := cgroup.Create("", o.Name(), cgroup.Limits{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second of the same name: got %v, want fs.ErrExist", err)
	}
}

// TestLiveUnprivileged is somebody without rights.
func TestLiveUnprivileged(t *testing.T) {
	if os.Getuid() != 0 {
		_, err := cgroup.Create("", "prony-test-rights", cgroup.Limits{CPUs: 1})
		if err == nil {
			t.Skip("this user may make groups")
		}
		if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("got %v, want fs.ErrPermission", err)
		}
		return
	}
	made(t, cgroup.Limits{}) // skips where even root may not
	copied := copySelf(t)
	c := exec.Command(copied, "-test.run", "^TestLiveUnprivileged$", "-test.v")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	c.Dir = "/"
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

// copySelf puts this binary where anybody may run it.
func copySelf(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "prony")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(dir+"/self", text, 0o755)); err != nil {
		t.Fatal(err)
	}
	return dir + "/self"
}

// second finds what version 2 has here, be it hugetlb alone, hands it down and
// makes a group of that tree.
func second(t *testing.T) (parent, name string) {
	t.Helper()
	mount := "/sys/fs/cgroup"
	if _, err := os.Stat(mount + "/cgroup.controllers"); err != nil {
		mount += "/unified"
	}
	names, err := os.ReadFile(mount + "/cgroup.controllers")
	fields := strings.Fields(string(names))
	if err != nil || len(fields) == 0 {
		t.Skip("no version 2 tree with a controller")
	}
	name = fields[len(fields)-1]
	control := mount + "/cgroup.subtree_control"
	before, _ := os.ReadFile(control)
	if err := cgroup.Hand(mount, name); err != nil {
		t.Skipf("may not hand down %s: %v", name, err)
	}
	if !strings.Contains(string(before), name) {
		t.Cleanup(func() { _ = os.WriteFile(control, []byte("-"+name), 0) })
	}
	if err := cgroup.Hand(mount, name); err != nil {
		t.Errorf("once more: %v", err)
	}
	parent = fmt.Sprintf("%s/prony-test-hand-%d", mount, os.Getpid())
	if err := os.Mkdir(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for deadline := time.Now().Add(5 * time.Second); ; {
			_ = os.Remove(parent + "/self.prony")
			err := os.Remove(parent)
			if err == nil {
				return
			}
			if time.Now().After(deadline) {
				t.Fatal(err)
			}
			time.Sleep(5 * time.Millisecond) //house:sleep the kernel keeps a group busy for a moment
		}
	})
	return parent, name
}

// TestLiveHandDown meets the kernel's rule that processes live in leaves only.
func TestLiveHandDown(t *testing.T) {
	parent, name := second(t)
	c := exec.Command("sleep", "100")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	if err := os.WriteFile(parent+"/cgroup.procs", []byte(strconv.Itoa(c.Process.Pid)), 0); err != nil {
		t.Fatal(err)
	}
	if err := cgroup.Hand(parent, name); !errors.Is(err, syscall.EBUSY) || !strings.Contains(err.Error(), "Delegate=yes") {
		t.Errorf("got %v, want EBUSY and the remedy", err)
	}
}

// TestLiveStepAside has a process whose own group was delegated to it.
func TestLiveStepAside(t *testing.T) {
	parent, name := second(t)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "PRONY_TEST_ROLE=aside", "PRONY_TEST_PARENT="+parent, "PRONY_TEST_CONTROLLER="+name)
	out, err := c.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "error: <nil>\n") || !strings.Contains(string(out), "/self.prony\n") {
		t.Errorf("got %q, %v, want it in self.prony", out, err)
	}
	if text, err := os.ReadFile(parent + "/cgroup.subtree_control"); err != nil || strings.TrimSpace(string(text)) != name {
		t.Errorf("subtree_control: got %q, %v, want %s", text, err, name)
	}
}
