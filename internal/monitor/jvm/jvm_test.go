package jvm_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"prony/internal/monitor/jvm"
)

// entry is a scalar, or a text if text is not empty.
type entry struct {
	name string
	n    int64
	text string
}

// perf writes performance data as HotSpot lays it out.
func perf(order binary.ByteOrder, entries ...entry) []byte {
	b := make([]byte, 32)
	copy(b, "\xca\xfe\xc0\xc0\x00\x02\x00\x01")
	if order == binary.LittleEndian {
		b[4] = 1
	}
	for _, e := range entries {
		name := append([]byte(e.name), 0)
		for (20+len(name))%8 != 0 {
			name = append(name, 0)
		}
		head := make([]byte, 20)
		order.PutUint32(head[4:], 20)
		order.PutUint32(head[16:], uint32(20+len(name)))
		value := make([]byte, 8)
		if head[12] = 'J'; e.text != "" {
			head[12] = 'B'
			value = append([]byte(e.text), make([]byte, 16-len(e.text)%16)...)
			order.PutUint32(head[8:], uint32(len(value)))
		} else {
			order.PutUint64(value, uint64(e.n))
		}
		order.PutUint32(head, uint32(20+len(name)+len(value)))
		b = append(append(append(b, head...), name...), value...)
	}
	order.PutUint32(b[8:], uint32(len(b)))
	order.PutUint32(b[24:], 32)
	order.PutUint32(b[28:], uint32(len(entries)))
	return append(b, make([]byte, 64)...)
}

// machine is one with two generations and two collectors.
func machine(policy string) []entry {
	return []entry{
		{name: "sun.os.hrt.frequency", n: 1000}, {name: "sun.gc.policy.name", text: policy},
		{name: "sun.gc.generation.0.maxCapacity", n: 100}, {name: "sun.gc.generation.1.maxCapacity", n: 300},
		{name: "sun.gc.generation.0.space.0.used", n: 10}, {name: "sun.gc.generation.0.space.1.used", n: 2}, {name: "sun.gc.generation.0.space.2.used", n: 0},
		{name: "sun.gc.generation.1.space.0.used", n: 50}, {name: "sun.gc.generation.1.space.0.capacity", n: 200},
		{name: "sun.gc.collector.0.invocations", n: 7}, {name: "sun.gc.collector.0.time", n: 1500},
		{name: "sun.gc.collector.1.invocations", n: 1}, {name: "sun.gc.collector.1.time", n: 500},
		{name: "sun.rt.safepoints", n: 9}, {name: "sun.rt.safepointTime", n: 3000}, {name: "java.ci.totalTime", n: 250},
		{name: "java.cls.loadedClasses", n: 400}, {name: "java.cls.sharedLoadedClasses", n: 600}, {name: "java.threads.live", n: 12},
	}
}

func TestPerf(t *testing.T) {
	want := jvm.Figures{
		HeapUsed: 62, HeapCapacity: 200, HeapMax: 400, OldUsed: 50, MetaspaceUsed: jvm.Unknown, Collections: 8, CollectionTime: 2 * time.Second,
		Safepoints: 9, SafepointTime: 3 * time.Second, Classes: 1000, Compilations: jvm.Unknown, CompileTime: 250 * time.Millisecond, Threads: 12,
	}
	for _, c := range []struct {
		name, policy string
		order        binary.ByteOrder
		heap         int64
	}{
		{"generations", "ParScav:MSC", binary.LittleEndian, 400},
		{"regions", "GarbageFirst", binary.LittleEndian, 300},
		{"big-endian", "Copy:MSC", binary.BigEndian, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			want.HeapMax = c.heap
			var p jvm.Perf
			for range 2 {
				if err := p.Parse(perf(c.order, machine(c.policy)...)); err != nil {
					t.Fatal(err)
				}
				if got := p.Figures(); got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
			}
			if got := p.Facts()["collector"]; got != c.policy {
				t.Errorf("got collector %q, want %q", got, c.policy)
			}
		})
	}
}

// TestPerfChanges: values are read anew each time, and entries that are added
// later are found.
func TestPerfChanges(t *testing.T) {
	var p jvm.Perf
	for i, entries := range [][]entry{{{name: "a", n: 1}}, {{name: "a", n: 2}}, {{name: "a", n: 3}, {name: "b", n: 4}}} {
		if err := p.Parse(perf(binary.LittleEndian, entries...)); err != nil {
			t.Fatal(err)
		}
		if n, ok := p.Number("a"); !ok || n != int64(i+1) {
			t.Errorf("reading %d: got %d, %t", i, n, ok)
		}
	}
	if n, ok := p.Number("b"); !ok || n != 4 {
		t.Errorf("got %d, %t, want the entry that was added", n, ok)
	}
}

func TestPerfMalformed(t *testing.T) {
	good := perf(binary.LittleEndian, machine("x")...)
	change := func(at int, b ...byte) []byte {
		text := append([]byte{}, good...)
		copy(text[at:], b)
		return text
	}
	for _, c := range []struct {
		name string
		text []byte
		want string
	}{
		{"empty", nil, "begin"},
		{"another file", []byte(strings.Repeat("x", 100)), "begin"},
		{"another version", change(5, 1), "version"},
		{"too early", change(7, 0), "still writing"},
		{"too many entries", change(28, 0xff, 0xff, 0, 0), "fit"},
		{"negative entries", change(28, 0xff, 0xff, 0xff, 0xff), "fit"},
		{"a long entry", change(32, 0xff, 0xff, 0xff, 0x7f), "fit"},
		{"an empty entry", change(32, 0, 0, 0, 0), "fit"},
		{"a name outside", change(36, 0xff, 0xff), "fit"},
		{"a value outside", change(48, 0xff, 0xff), "fit"},
		{"cut", good[:200], "fit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p jvm.Perf
			if err := p.Parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
}

func FuzzPerf(f *testing.F) {
	f.Add(perf(binary.LittleEndian, machine("GarbageFirst")...))
	f.Add(perf(binary.BigEndian, machine("Copy:MSC")...))
	f.Fuzz(func(t *testing.T, text []byte) {
		var once, twice jvm.Perf
		err := once.Parse(text)
		_ = twice.Parse(perf(binary.LittleEndian, entry{name: "a", n: 1}))
		if again := twice.Parse(text); (err == nil) != (again == nil) {
			t.Fatalf("got %v, then %v", err, again)
		}
		if err == nil && (once.Figures() != twice.Figures() || !reflect.DeepEqual(once.Facts(), twice.Facts())) {
			t.Errorf("got %+v, then %+v", once.Figures(), twice.Figures())
		}
	})
}

func TestUserName(t *testing.T) {
	const passwd = "root:x:0:0:root:/root:/bin/sh\n# comment\nbroken:x\napp:x:1000:1000::/app:/bin/false\n"
	for uid, want := range map[int64]string{0: "root", 1000: "app", 5: ""} {
		if got := jvm.UserName([]byte(passwd), uid); got != want {
			t.Errorf("user %d: got %q, want %q", uid, got, want)
		}
	}
}

// TestRefuses: a program that does not catch SIGQUIT must not get it.
func TestRefuses(t *testing.T) {
	sleep := exec.Command("sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Skipf("no program to ask: %v", err)
	}
	defer func() {
		if err := sleep.Process.Kill(); err != nil {
			t.Errorf("it ended: %v", err)
		}
		_ = sleep.Wait()
	}()
	_, err := jvm.Threads(t.Context(), sleep.Process.Pid)
	if err == nil || !strings.Contains(err.Error(), "SIGQUIT") && !strings.Contains(err.Error(), "Linux only") {
		t.Errorf("got %v, want a refusal", err)
	}
	if _, err := jvm.Command(t.Context(), 1<<30, "threaddump"); err == nil {
		t.Error("no process: got no error")
	}
}

const program = `
public class Work {
  static synchronized void hold(long ms) throws Exception { Thread.sleep(ms); }
  public static void main(String[] a) throws Exception {
    for (int i = 0; i < 3; i++) {
      Thread t = new Thread(() -> { try { hold(600000); } catch (Exception e) {} }, "locked-" + i);
      t.setDaemon(true); t.start();
    }
    Thread b = new Thread(() -> { long n = 0; while (true) n++; }, "spinning-thread-with-a-long-name");
    b.setDaemon(true); b.start();
    System.out.println("ready");
    System.in.read();
  }
}`

// java starts a real machine that runs the program, and waits for it.
func java(t *testing.T) int {
	t.Helper()
	_, err := exec.LookPath("java")
	if err == nil {
		_, err = exec.LookPath("javac")
	}
	if err != nil {
		if os.Getenv("PRONY_E2E") == "require" {
			t.Fatal(err)
		}
		t.Skipf("needs a JDK: %v", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "Work.java"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	compile := exec.Command("javac", "-d", dir, filepath.Join(dir, "Work.java"))
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := exec.Command("java", "-cp", dir, "Work")
	c.Dir = dir
	in, _ := c.StdinPipe()
	out, _ := c.StdoutPipe()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = c.Process.Kill(); _ = c.Wait() })
	if _, err := out.Read(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
	return c.Process.Pid
}

// TestLive looks into a real machine.
func TestLive(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a Java virtual machine")
	}
	pid := java(t)
	var p jvm.Perf
	text, err := os.ReadFile(jvm.Files(pid, 0, "root")[0])
	if err != nil && os.Geteuid() == 0 {
		t.Fatal(err)
	}
	if err == nil {
		if err := p.Parse(text); err != nil {
			t.Fatal(err)
		}
		f := p.Figures()
		t.Logf("%+v", f)
		if f.HeapUsed < 0 || f.HeapCapacity <= 0 || f.HeapMax < f.HeapUsed || f.Threads < 5 || f.Classes < 100 || f.Collections < 0 || f.CompileTime <= 0 {
			t.Errorf("got %+v", f)
		}
		if !strings.Contains(p.Facts()["command"], "Work") {
			t.Errorf("got facts %v", p.Facts())
		}
	}
	for range 2 { // the first wakes the machine, the second finds its socket
		d, err := jvm.Threads(t.Context(), pid)
		if err != nil {
			t.Fatal(err)
		}
		if d.States["BLOCKED"] != 2 || d.States["TIMED_WAITING"] < 1 || d.States["RUNNABLE"] < 1 {
			t.Errorf("got states %v, want two blocked", d.States)
		}
		spins := slices.ContainsFunc(d.Threads, func(one jvm.Thread) bool { return one.Name == "spinning-thread-with-a-long-name" })
		if !spins {
			t.Errorf("got %+v, want the thread with its full name", d.Threads)
		}
		if _, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/task/" + strconv.Itoa(d.Threads[0].ID)); err != nil {
			t.Errorf("the id of a thread is not the kernel's: %v", err)
		}
	}
	answer, err := jvm.Command(t.Context(), pid, "jcmd", "VM.version")
	if err != nil || !strings.Contains(answer, "JDK") {
		t.Errorf("got %q, %v", answer, err)
	}
	if _, err := jvm.Command(t.Context(), pid, "nonsense"); err == nil {
		t.Error("an unknown command: got no error")
	}
}
