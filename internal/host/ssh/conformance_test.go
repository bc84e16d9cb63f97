//go:build unix

package ssh_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"prony/internal/host"
)

// conform is what every host has to do alike.
func conform(t *testing.T, h host.Host) {
	for _, c := range []struct {
		name string
		test func(*testing.T, host.Host)
	}{
		{"output", testOutput}, {"arguments", testArguments}, {"environment and folder", testEnvironment},
		{"input", testInput}, {"both outputs", testBothOutputs}, {"a lot of output", testMuch},
		{"exit status", testStatus}, {"no such program", testMissing}, {"no such folder", testNoFolder},
		{"wrong use", testWrongUse}, {"killed", testKilled}, {"signal", testSignal},
		{"the group is signalled", testGroup}, {"no orphan", testOrphan}, {"a daemon does not hold us", testDaemon},
		{"the context ends", testCancel}, {"deaf to SIGTERM", testDeaf}, {"many at once", testMany},
		{"facts", testFacts}, {"files", testFiles}, {"no such file", testNoFile}, {"links", testLinks}, {"copy", testCopy},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, h) })
	}
}

func output(t *testing.T, c *host.Cmd) string {
	t.Helper()
	out, err := c.Output(t.Context())
	if err != nil {
		t.Fatalf("Output: %v", err)
	}
	return string(out)
}

func testOutput(t *testing.T, h host.Host) {
	if got := output(t, h.Command("echo", "hello")); got != "hello\n" {
		t.Errorf("got %q, want hello", got)
	}
}

func testArguments(t *testing.T, h host.Host) {
	args := []string{"plain", "", "two words", "it's", `"quoted"`, "$HOME", "`id`", `back\slash`, "a\nb", "\n", "*", "!x", "-n", "ü", "\t", ";"}
	got := output(t, h.Command("sh", append([]string{"-c", `for a; do printf '%s\0' "$a"; done`, "sh"}, args...)...))
	if want := strings.Join(args, "\x00") + "\x00"; got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func testEnvironment(t *testing.T, h host.Host) {
	dir := t.TempDir()
	c := h.Command("sh", "-c", `echo "$ONE|$TWO"; pwd`)
	c.Env, c.Dir = []string{"ONE=a b'c", "TWO=x\ny=$z"}, dir
	if got, want := output(t, c), "a b'c|x\ny=$z\n"+dir+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func testInput(t *testing.T, h host.Host) {
	text := strings.Repeat("0123456789\n", 30000)
	c := h.Command("cat")
	c.Stdin = strings.NewReader(text)
	if got := output(t, c); got != text {
		t.Errorf("got %d bytes, want the %d written", len(got), len(text))
	}
	if got := output(t, h.Command("cat")); got != "" {
		t.Errorf("without input: got %q, want an empty one", got)
	}
	c = h.Command("true")
	c.Stdin = strings.NewReader(strings.Repeat("x", 1<<20))
	if err := c.Run(t.Context()); err != nil {
		t.Errorf("a command that does not read: %v", err)
	}
}

func testBothOutputs(t *testing.T, h host.Host) {
	var out, both bytes.Buffer
	c := h.Command("sh", "-c", "echo out; echo err >&2")
	c.Stdout, c.Stderr = &out, &both
	if err := c.Run(t.Context()); err != nil || out.String() != "out\n" || both.String() != "err\n" {
		t.Errorf("got %q and %q, %v", out.String(), both.String(), err)
	}
	c = h.Command("sh", "-c", "i=0; while [ $i -lt 200 ]; do echo o; echo e >&2; i=$((i+1)); done")
	both.Reset()
	c.Stdout, c.Stderr = &both, &both
	if err := c.Run(t.Context()); err != nil || both.Len() != 800 {
		t.Errorf("one writer for both: got %d bytes, want 800, %v", both.Len(), err)
	}
}

func testMuch(t *testing.T, h host.Host) {
	if got := output(t, h.Command("head", "-c", "8000000", "/dev/zero")); len(got) != 8000000 {
		t.Errorf("got %d bytes, want 8000000", len(got))
	}
	out, err := h.Command("head", "-c", "20000000", "/dev/zero").Output(t.Context())
	if err == nil || len(out) != 16<<20 {
		t.Errorf("got %d bytes, error %v; want 16 MiB and an error", len(out), err)
	}
}

func testStatus(t *testing.T, h host.Host) {
	c := h.Command("sh", "-c", "echo first >&2; echo 'last line' >&2; exit 3")
	c.Env = []string{"DB_PASSWORD=hunter2", "MODE=fast"}
	err := c.Run(t.Context())
	var e *host.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a host.Error", err)
	}
	if e.Exit != (host.Exit{Code: 3}) || e.Stderr != "first\nlast line" || e.Err != nil {
		t.Errorf("got %+v", e)
	}
	for _, want := range []string{"exit status 3", "first; last line", "MODE=fast", "exit 3"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Errorf("error %q shows a password", err)
	}
}

func testMissing(t *testing.T, h host.Host) {
	err := h.Command("prony-no-such-program").Run(t.Context())
	if !errors.Is(err, exec.ErrNotFound) || !strings.Contains(err.Error(), "prony-no-such-program") {
		t.Errorf("got %v, want exec.ErrNotFound with the name", err)
	}
}

func testNoFolder(t *testing.T, h host.Host) {
	c := h.Command("true")
	c.Dir = "/prony-no-such-folder"
	if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), c.Dir) {
		t.Errorf("got %v, want an error with the folder", err)
	}
}

func testWrongUse(t *testing.T, h host.Host) {
	for name, c := range map[string]*host.Cmd{
		"no name":           h.Command(""),
		"NUL":               h.Command("echo", "a\x00b"),
		"relative folder":   {Name: "true", Dir: "x"},
		"environment":       {Name: "true", Env: []string{"novalue"}},
		"environment blank": {Name: "true", Env: []string{"a b=c"}},
	} {
		made := h.Command(c.Name, c.Args...)
		made.Dir, made.Env = c.Dir, c.Env
		if err := made.Start(t.Context()); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
	c := h.Command("true")
	if err := c.Wait(); err == nil {
		t.Error("Wait before Start: got no error")
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err == nil {
		t.Error("a second Run: got no error")
	}
	if err := c.Signal(host.Terminate); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("Signal after the end: got %v, want os.ErrProcessDone", err)
	}
	if err := c.Signal("NONSENSE; reboot"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("unknown signal: got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Command("true").Run(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: got %v", err)
	}
}

func testKilled(t *testing.T, h host.Host) {
	err := h.Command("sh", "-c", "kill -KILL $$").Run(t.Context())
	var e *host.Error
	if !errors.As(err, &e) || e.Exit != (host.Exit{Code: -1, Signal: "KILL"}) {
		t.Errorf("got %v, want an end by KILL", err)
	}
}

// begun starts a shell script that says a line when it is ready, and returns
// that line.
func begun(t *testing.T, c *host.Cmd, ctx context.Context) string {
	t.Helper()
	lines := make(firstLine, 1)
	c.Stdout = lines
	if err := c.Start(ctx); err != nil {
		t.Fatalf("Start: %v", err)
	}
	select {
	case line := <-lines:
		return line
	case <-time.After(20 * time.Second):
		t.Fatal("the script does not get ready within 20 s")
		return ""
	}
}

// firstLine gets the first text written.
type firstLine chan string

func (f firstLine) Write(p []byte) (int, error) {
	select {
	case f <- strings.TrimSpace(string(p)):
	default:
	}
	return len(p), nil
}

// gone waits for a process of this machine to end (all hosts here are).
func gone(t *testing.T, what, pid string) {
	t.Helper()
	number, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatalf("%s: pid %q", what, pid)
	}
	deadline := time.Now().Add(15 * time.Second)
	for alive(number) {
		if time.Now().After(deadline) {
			t.Fatalf("%s, process %d, still runs", what, number)
		}
		time.Sleep(10 * time.Millisecond) //house:sleep polls for an end that has no other sign
	}
}

// alive reports whether a process runs; zombies do not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && syscall.Kill(pid, 0) == nil
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z") && !strings.HasPrefix(after, "X")
}

func testSignal(t *testing.T, h host.Host) {
	c := h.Command("sh", "-c", "trap 'exit 42' USR1; echo ready; while :; do sleep 0.05; done")
	begun(t, c, t.Context())
	if c.PID() < 2 {
		t.Errorf("got PID %d", c.PID())
	}
	if err := c.Signal(host.User1); err != nil {
		t.Fatalf("Signal: %v", err)
	}
	var e *host.Error
	if err := c.Wait(); !errors.As(err, &e) || e.Exit.Code != 42 {
		t.Errorf("got %v, want exit status 42", err)
	}
}

func testGroup(t *testing.T, h host.Host) {
	c := h.Command("sh", "-c", "sleep 1000 & echo $!; wait")
	child := begun(t, c, t.Context())
	if err := c.Signal(host.Terminate); err != nil {
		t.Fatalf("Signal: %v", err)
	}
	if err := c.Wait(); err == nil {
		t.Error("got no error from a terminated command")
	}
	gone(t, "the child", child)
}

func testOrphan(t *testing.T, h host.Host) {
	begin := time.Now()
	child := strings.TrimSpace(output(t, h.Command("sh", "-c", "sleep 1000 & echo $!")))
	gone(t, "the background child", child)
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %s: the child held us", took)
	}
}

func testDaemon(t *testing.T, h host.Host) {
	begin := time.Now()
	// The pipe tells that it has left the group; it keeps standard error open.
	pipe := t.TempDir() + "/pipe"
	child := strings.TrimSpace(output(t, h.Command("sh", "-c", `mkfifo "$0"
		setsid sh -c 'echo $$; exec >/dev/null; exec sleep 1000' >"$0" &
		read -r pid <"$0"; echo $pid`, pipe)))
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %s: the daemon held us", took)
	}
	number, err := strconv.Atoi(child)
	if err != nil || number < 2 {
		t.Fatalf("got pid %q of the daemon", child)
	}
	if !alive(number) {
		t.Error("the daemon does not run: setsid is the documented way out")
	}
	_ = syscall.Kill(number, syscall.SIGKILL)
}

func testCancel(t *testing.T, h host.Host) {
	ctx, cancel := context.WithCancelCause(t.Context())
	c := h.Command("sh", "-c", "sleep 1000 & echo $!; wait")
	child := begun(t, c, ctx)
	why := errors.New("enough")
	cancel(why)
	if err := c.Wait(); !errors.Is(err, why) {
		t.Errorf("got %v, want the cause", err)
	}
	gone(t, "the child", child)
}

func testDeaf(t *testing.T, h host.Host) {
	ctx, cancel := context.WithCancel(t.Context())
	c := h.Command("sh", "-c", "trap : TERM; echo $$; while :; do sleep 0.05; done")
	c.Grace = 200 * time.Millisecond
	pid := begun(t, c, ctx)
	cancel()
	var e *host.Error
	if err := c.Wait(); !errors.As(err, &e) || e.Exit.Signal != "KILL" || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want an end by KILL for the context", err)
	}
	gone(t, "the command", pid)
}

func testMany(t *testing.T, h host.Host) {
	errs := make(chan error, 6)
	for i := range cap(errs) {
		go func() {
			out, err := h.Command("sh", "-c", "sleep 0.1; echo $0", strconv.Itoa(i)).Output(t.Context())
			if err == nil && strings.TrimSpace(string(out)) != strconv.Itoa(i) {
				err = fmt.Errorf("got %q, want %d", out, i)
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func testFacts(t *testing.T, h host.Host) {
	f, err := h.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	name, _ := os.Hostname()
	if f.OS != runtime.GOOS || f.Arch != runtime.GOARCH || f.Hostname != name || f.UID != os.Getuid() || f.Loopback != "127.0.0.1" {
		t.Errorf("got %+v", f)
	}
	if f.CPUs < 1 || f.Memory < 1<<20 || f.Kernel == "" || f.User == "" || !strings.HasPrefix(f.TempDir, "/") {
		t.Errorf("got %+v", f)
	}
	if boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil && f.BootID != strings.TrimSpace(string(boot)) {
		t.Errorf("got boot id %q, want %q", f.BootID, boot)
	}
}

func testFiles(t *testing.T, h host.Host) {
	files, dir := h.FS(), t.TempDir()
	deep := dir + "/a/b"
	if err := files.MkdirAll(deep, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := files.MkdirAll(deep, 0o750); err != nil {
		t.Errorf("a second time: %v", err)
	}
	for _, text := range []string{"first", "", strings.Repeat("second\n", 50000)} {
		if err := files.WriteFile(deep+"/x.conf", []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		got, err := files.ReadFile(deep + "/x.conf")
		if err != nil || string(got) != text {
			t.Errorf("got %d bytes, want %d, %v", len(got), len(text), err)
		}
	}
	info, err := files.Stat(deep + "/x.conf")
	if err != nil || info.Size() != 350000 || info.Mode() != 0o640 {
		t.Errorf("Stat: got %v, %v", info, err)
	}
	if err := files.WriteFile(deep+"/y.conf", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := files.Glob(deep + "/*.conf")
	if want := deep + "/x.conf " + deep + "/y.conf"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("Glob: got %v, want %s, %v", got, want, err)
	}
	if entries, _ := os.ReadDir(deep); len(entries) != 2 {
		t.Errorf("got %v, want the two files and nothing beside them", entries)
	}
	if err := files.Remove(dir + "/a"); err != nil {
		t.Fatal(err)
	}
	if err := files.Remove(dir + "/a"); err != nil {
		t.Errorf("to remove nothing: %v", err)
	}
	if _, err := os.Stat(dir + "/a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want it removed", err)
	}
}

func testNoFile(t *testing.T, h host.Host) {
	files, dir := h.FS(), t.TempDir()
	write(t, dir+"/file", "x")
	_, read := files.ReadFile(dir + "/none")
	_, stat := files.Stat(dir + "/none")
	_, relative := files.ReadFile("none")
	for name, c := range map[string]struct {
		err  error
		want error
	}{
		"read": {read, fs.ErrNotExist}, "stat": {stat, fs.ErrNotExist},
		"write without a folder": {files.WriteFile(dir+"/none/x", nil, 0o600), fs.ErrNotExist},
		"copy of nothing":        {files.Copy(t.Context(), dir+"/none", dir+"/x"), fs.ErrNotExist},
		"a folder over a file":   {files.MkdirAll(dir+"/file/x", 0o700), nil},
		"relative":               {relative, nil},
		"the root":               {files.Remove("/"), fs.ErrInvalid},
		"the root, long":         {files.Remove("/tmp/.."), fs.ErrInvalid},
	} {
		if c.err == nil || c.want != nil && !errors.Is(c.err, c.want) {
			t.Errorf("%s: got %v, want %v", name, c.err, c.want)
		}
	}
}

func testLinks(t *testing.T, h host.Host) {
	dir := t.TempDir()
	write(t, dir+"/kept/file", "x")
	write(t, dir+"/tree/sub/file", "x")
	for _, link := range []string{dir + "/tree/link", dir + "/tree/sub/link"} {
		if err := os.Symlink(dir+"/kept", link); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.FS().Remove(dir + "/tree"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir + "/kept/file"); err != nil {
		t.Errorf("Remove followed a link: %v", err)
	}
}

func testCopy(t *testing.T, h host.Host) {
	dir := t.TempDir()
	text := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	write(t, dir+"/from", string(text))
	if err := os.Chmod(dir+"/from", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := h.FS().Copy(t.Context(), dir+"/from", dir+"/to"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(dir + "/to")
	info, _ := os.Stat(dir + "/to")
	if err != nil || !bytes.Equal(got, text) || info.Mode() != 0o755 {
		t.Errorf("got %d bytes, mode %v, %v", len(got), info.Mode(), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.FS().Copy(ctx, dir+"/from", dir+"/late"); !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: got %v", err)
	}
	if left, _ := filepath.Glob(dir + "/.*late*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLocalConforms(t *testing.T) { conform(t, host.Local()) }

func TestSSHConforms(t *testing.T) {
	for name, adjust := range map[string]func(*server){
		"as sshd":                  nil,
		"without groups":           func(s *server) { s.joined = true },
		"with a noisy login shell": func(s *server) { s.noisy = "Welcome!\nprony-leads me\nLast login: " + strings.Repeat("x", 5000) + "\n" },
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			s := start(t, u.public(t), adjust)
			u.knows(t, s)
			conform(t, u.dial(t, "ssh://me@"+s.address))
		})
	}
}
