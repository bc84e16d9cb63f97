package host_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"prony/internal/host"
)

// TestMain lets the test binary be a program that starts a command and is then
// killed.
func TestMain(m *testing.M) {
	if os.Getenv("PRONY_TEST_ROLE") == "parent" {
		c := host.Local().Command("sh", "-c", "sleep 1000 & echo $!; wait")
		c.Stdout = os.Stdout
		if err := c.Start(context.Background()); err != nil {
			os.Exit(1)
		}
		_ = c.Wait()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestQuote(t *testing.T) {
	for name, c := range map[string]struct {
		words []string
		want  string
	}{
		"plain":    {[]string{"nginx", "-t", "/etc/nginx.conf"}, "nginx -t /etc/nginx.conf"},
		"empty":    {[]string{"echo", ""}, "echo ''"},
		"blank":    {[]string{"echo", "a b"}, "echo 'a b'"},
		"quote":    {[]string{"it's"}, `'it'\''s'`},
		"variable": {[]string{"$HOME", "~", "a=b"}, `'$HOME' '~' 'a=b'`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := host.Quote(c.words...); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// FuzzQuote has a real shell take the words apart again.
func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "a b", "it's", "\n", "\\", "$x`y`", "-n", "*", "ü\xff"} {
		f.Add(s)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		f.Skip("no shell")
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.ContainsRune(word, 0) || len(word) > 1000 {
			return
		}
		got, err := exec.Command(sh, "-c", "printf %s "+host.Quote(word)).Output()
		if err != nil || string(got) != word {
			t.Errorf("the shell made %q of %q, %v", got, word, err)
		}
	})
}

func TestParseFacts(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want host.Facts
	}{
		"linux": {"Welcome\nprony:os=Linux\nprony:arch=aarch64\nprony:kernel=6.1\nprony:cpus=4\nprony:memory=1024\nprony:user=bench\nprony:uid=1000\n" +
			"prony:hostname=sut1\nprony:boot=abc\nprony:temp=/tmp\nprony:loopback=127.0.0.1\nprony:version=2\nprony:writable=yes\n",
			host.Facts{OS: "linux", Arch: "arm64", Kernel: "6.1", CPUs: 4, Memory: 1 << 20, User: "bench", UID: 1000, Hostname: "sut1",
				BootID: "abc", TempDir: "/tmp", Loopback: "127.0.0.1", Cgroups: host.Cgroups{Version: 2, Writable: true}}},
		"darwin, no cgroups, bytes": {"prony:os=Darwin\nprony:arch=arm64\nprony:bytes=17179869184\nprony:uid=501\nprony:loopback=127.0.0.1",
			host.Facts{OS: "darwin", Arch: "arm64", Memory: 16 << 30, UID: 501, Loopback: "127.0.0.1"}},
		"hybrid": {"prony:os=Linux\r\nprony:version=1\r\nprony:hybrid=yes\r\n",
			host.Facts{OS: "linux", UID: -1, Loopback: "::1", Cgroups: host.Cgroups{Version: 1, Hybrid: true}}},
		"nonsense": {"prony:os=Plan9\nprony:cpus=many\nprony:memory=-3\nprony:=\nprony:x\n",
			host.Facts{OS: "plan9", UID: -1, Loopback: "::1"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := host.ParseFacts(c.text)
			if err != nil || got != c.want {
				t.Errorf("got  %+v, %v\nwant %+v", got, err, c.want)
			}
		})
	}
	if _, err := host.ParseFacts("This account is currently not available.\n"); err == nil {
		t.Error("no facts at all: got no error")
	}
}

func FuzzParseFacts(f *testing.F) {
	f.Add("prony:os=Linux\nprony:cpus=2\nprony:memory=99999999999999999999\n")
	f.Add("prony:bytes=1")
	f.Fuzz(func(t *testing.T, text string) {
		facts, err := host.ParseFacts(text)
		if err == nil && (facts.CPUs < 0 || facts.Memory < 0 || facts.UID < -1 || facts.OS == "" || facts.Loopback == "") {
			t.Errorf("of %q: got %+v", text, facts)
		}
	})
}

func TestErrorText(t *testing.T) {
	for name, c := range map[string]struct {
		err  host.Error
		want string
	}{
		"status": {host.Error{Name: "nginx", Command: "nginx -t", Exit: host.Exit{Code: 1}, Stderr: "a\nb"},
			"run nginx: exit status 1: a; b (command: nginx -t)"},
		"signal": {host.Error{Host: "sut1", Name: "java", Command: "ssh sut1 java", Exit: host.Exit{Code: -1, Signal: "KILL"}},
			"run java on sut1: ended by signal KILL (command: ssh sut1 java)"},
		"cause": {host.Error{Name: "x", Command: "x", Exit: host.Exit{Code: -1}, Err: fs.ErrPermission},
			"run x: permission denied (command: x)"},
		"a long command": {host.Error{Name: "x", Command: strings.Repeat("x", 500), Exit: host.Exit{Code: 2}},
			"run x: exit status 2 (command: " + strings.Repeat("x", 400) + " ...)"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.err.Error(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestErrorTail(t *testing.T) {
	err := host.Local().Command("sh", "-c", `i=0; while [ $i -lt 3000 ]; do echo "line $i" >&2; i=$((i+1)); done; exit 1`).Run(t.Context())
	var e *host.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	lines := strings.Split(e.Stderr, "\n")
	if len(lines) != 8 || lines[7] != "line 2999" {
		t.Errorf("got %q, want the last 8 lines", e.Stderr)
	}
}

func TestCommandLine(t *testing.T) {
	c := host.Local().Command("nginx", "-g", "daemon off;")
	c.Env, c.Dir = []string{"API_TOKEN=abc", "MODE=a b"}, "/srv/my app"
	if got, want := c.String(), `cd '/srv/my app' && env 'API_TOKEN=...' 'MODE=a b' nginx -g 'daemon off;'`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestFilesGoDirectly hands files over: nobody copies between.
func TestFilesGoDirectly(t *testing.T) {
	name := t.TempDir() + "/log"
	log, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	c := host.Local().Command("sh", "-c", "readlink /proc/$$/fd/1; readlink /proc/$$/fd/2 >&2; cat")
	c.Stdout, c.Stderr, c.Stdin = log, log, strings.NewReader("in\n")
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("needs /proc")
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(name)
	if want := name + "\n" + name + "\nin\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestKilledParent kills a program with SIGKILL: what it started must end.
func TestKilledParent(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs /proc")
	}
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "PRONY_TEST_ROLE=parent")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(io.LimitReader(out, 100)).ReadString('\n')
	child, e := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || e != nil || child < 2 {
		t.Fatalf("got %q, %v", line, err)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	for deadline := time.Now().Add(15 * time.Second); running(child); {
		if time.Now().After(deadline) {
			t.Fatalf("the grandchild %d outlives its killed parent", child)
		}
		time.Sleep(20 * time.Millisecond) //house:sleep polls for an end that has no other sign
	}
}

// running reports whether a process is there and no zombie.
func running(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, after, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(after, "Z")
}
