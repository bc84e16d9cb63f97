package jvm_test

import (
	"maps"
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

const dump = `2026-01-01 00:00:00
Full thread dump OpenJDK 64-Bit Server VM (17.0.15 mixed mode):

"main" #1 prio=5 os_prio=0 cpu=61.09ms elapsed=2.02s tid=0x00007f nid=0x1a2b waiting on condition  [0x00007f]
   java.lang.Thread.State: TIMED_WAITING (sleeping)
	at java.lang.Thread.sleep(java.base@17/Native Method)

"a "strange" nid=5 name" #12 daemon prio=5 os_prio=0 cpu=2510.50ms elapsed=1.00s tid=0x00007f nid=4711 runnable  [0x00007f]
   java.lang.Thread.State: RUNNABLE
	at Work.lambda$main$1(Work.java:9)

"exec-1" #13 prio=5 os_prio=0 cpu=0.10ms elapsed=1.00s tid=0x00007f nid=0xb waiting for monitor entry  [0x00007f]
   java.lang.Thread.State: BLOCKED (on object monitor)
	at Work.hold(Work.java:3)

"C2 CompilerThread0" #5 daemon prio=9 os_prio=0 cpu=4.00ms elapsed=2.00s tid=0x00007f nid=0xd waiting on condition  [0x0]
   java.lang.Thread.State: RUNNABLE
   No compile task

"GC Thread#0" os_prio=0 cpu=5.00ms elapsed=2.00s tid=0x00007f nid=0xc runnable

JNI global refs: 15, weak refs: 0
`

func TestParseDump(t *testing.T) {
	got := jvm.ParseDump(dump)
	want := jvm.Dump{States: map[string]int{"TIMED_WAITING": 1, "RUNNABLE": 1, "BLOCKED": 1}, Threads: []jvm.Thread{
		{Name: `a "strange" nid=5 name`, State: "RUNNABLE", ID: 4711, CPU: 2510500 * time.Microsecond, Daemon: true},
		{Name: "main", State: "TIMED_WAITING", ID: 0x1a2b, CPU: 61090 * time.Microsecond},
		{Name: "GC Thread#0", ID: 12, CPU: 5 * time.Millisecond},
		{Name: "C2 CompilerThread0", ID: 13, CPU: 4 * time.Millisecond, Daemon: true},
		{Name: "exec-1", State: "BLOCKED", ID: 11, CPU: 100 * time.Microsecond},
	}, Pools: []jvm.Pool{{Name: "exec-", Threads: 1, Busy: 1, Blocked: 1}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// thread is a thread of a dump as HotSpot prints it, innermost frame first.
func thread(name, state string, frames ...string) string {
	text := `"` + name + `" #1 prio=5 cpu=1.00ms elapsed=1.00s tid=0x1 nid=0x1 x [0x1]` + "\n   java.lang.Thread.State: " + state + "\n"
	for _, f := range frames {
		text += "\tat " + f + "(X.java:1)\n\t- locked <0x00> (a java.lang.Object)\n"
	}
	return text + "\n"
}

func TestIdleAndBusy(t *testing.T) {
	const park = "jdk.internal.misc.Unsafe.park"
	for _, c := range []struct {
		name, text string
		want       jvm.Pool
	}{
		{"java.util.concurrent", thread("p-1", "WAITING (parking)", park, "java.util.concurrent.LinkedBlockingQueue.take", "java.util.concurrent.ThreadPoolExecutor.getTask", "java.util.concurrent.ThreadPoolExecutor.runWorker", "java.lang.Thread.run"), jvm.Pool{}},
		{"Tomcat's own", thread("p-1", "TIMED_WAITING (parking)", park, "org.apache.tomcat.util.threads.TaskQueue.poll", "org.apache.tomcat.util.threads.ThreadPoolExecutor.getTask", "a.b", "a.b", "a.b", "java.lang.Thread.run"), jvm.Pool{}},
		{"fork and join", thread("p-1", "WAITING (parking)", park, "java.util.concurrent.ForkJoinPool.awaitWork", "java.util.concurrent.ForkJoinPool.runWorker"), jvm.Pool{}},
		{"Jetty", thread("p-1", "TIMED_WAITING (parking)", park, "org.eclipse.jetty.util.thread.QueuedThreadPool.idleJobPoll", "a.b", "a.b", "a.b", "a.b"), jvm.Pool{}},
		{"JBoss", thread("p-1", "WAITING (parking)", park, "org.jboss.threads.EnhancedQueueExecutor$PoolThreadNode.park", "a.b", "a.b", "a.b", "a.b"), jvm.Pool{}},
		{"selector", thread("p-1", "RUNNABLE", "sun.nio.ch.EPoll.wait", "sun.nio.ch.EPollSelectorImpl.doSelect", "sun.nio.ch.SelectorImpl.select"), jvm.Pool{}},
		{"epoll of Netty", thread("p-1", "RUNNABLE", "io.netty.channel.epoll.Native.epollWait", "io.netty.channel.epoll.EpollEventLoop.run"), jvm.Pool{}},
		{"a pool of one's own", thread("p-1", "WAITING (parking)", park, "java.util.concurrent.LinkedBlockingQueue.take", "my.Worker.run", "java.lang.Thread.run"), jvm.Pool{}},
		{"an answer by a queue", thread("p-1", "WAITING (parking)", park, "java.util.concurrent.SynchronousQueue.take", "a.b", "a.b", "a.b", "java.lang.Thread.run"), jvm.Pool{Busy: 1}},
		{"a pool of connections", thread("p-1", "WAITING (parking)", park, "org.apache.http.pool.AbstractConnPool.getPoolEntryBlocking", "a.b", "java.util.concurrent.ThreadPoolExecutor.runWorker", "java.lang.Thread.run"), jvm.Pool{Busy: 1}},
		{"a socket", thread("p-1", "RUNNABLE", "sun.nio.ch.Net.poll", "sun.nio.ch.NioSocketImpl.park", "a.b"), jvm.Pool{Busy: 1, InIO: 1}},
		{"a socket before JDK 13", thread("p-1", "RUNNABLE", "java.net.SocketInputStream.socketRead0", "a.b"), jvm.Pool{Busy: 1, InIO: 1}},
		{"a socket that blocks", thread("p-1", "RUNNABLE", "sun.nio.ch.SocketDispatcher.read0", "sun.nio.ch.SocketDispatcher.read", "a.b"), jvm.Pool{Busy: 1, InIO: 1}},
		{"running", thread("p-1", "RUNNABLE", "a.b", "a.b", "sun.nio.ch.Net.poll"), jvm.Pool{Busy: 1, Running: 1}},
		{"blocked", thread("p-1", "BLOCKED (on object monitor)", "a.b"), jvm.Pool{Busy: 1, Blocked: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Name, c.want.Threads = "p-", 1
			if got := jvm.ParseDump(c.text).Pools; len(got) != 1 || got[0] != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// TestPools: threads with a number at the end are a pool, the largest first; the
// machine's own are none.
func TestPools(t *testing.T) {
	text := thread("one", "RUNNABLE", "a.b") + thread("2", "RUNNABLE", "a.b") + thread("b-1", "RUNNABLE", "a.b") + thread("c-1", "RUNNABLE", "a.b") +
		thread("c-22", "RUNNABLE", "a.b") + thread("a-7", "RUNNABLE", "a.b") + thread("C1 CompilerThread0", "RUNNABLE")
	var got []string
	for _, p := range jvm.ParseDump(text).Pools {
		got = append(got, p.Name+" "+strconv.Itoa(p.Threads))
	}
	if want := []string{"c- 2", "a- 1", "b- 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzParseDump(f *testing.F) {
	f.Add(dump)
	f.Add(thread("p-1", "WAITING (parking)", "java.util.concurrent.ThreadPoolExecutor.getTask") + thread("p-2", "RUNNABLE", "sun.nio.ch.Net.poll"))
	f.Fuzz(func(t *testing.T, text string) {
		d, states, pooled := jvm.ParseDump(text), 0, 0
		for _, count := range d.States {
			states += count
		}
		java := 0
		for _, one := range d.Threads {
			if one.State != "" {
				java++
			}
			if one.Idle && one.InIO {
				t.Errorf("got %+v, idle and waiting for a socket", one)
			}
		}
		for _, p := range d.Pools {
			pooled += p.Threads
			if p.Busy > p.Threads || p.Running+p.InIO+p.Blocked > p.Busy || p.Threads < 1 {
				t.Errorf("got %+v", p)
			}
		}
		if states != java || pooled > java {
			t.Errorf("got %d states and %d in pools of %d threads", states, pooled, java)
		}
	})
}

// pools is a program whose threads do what is known, and that says what it
// believes itself: the states of all threads that run Java.
const pools = `
import java.net.*;
import java.util.*;
import java.util.concurrent.*;
public class Pools {
  static final Object lock = new Object();
  static volatile boolean spin = true;
  static ThreadPoolExecutor pool(String name, int n) {
    ThreadPoolExecutor p = new ThreadPoolExecutor(n, n, 1, TimeUnit.DAYS, new LinkedBlockingQueue<>(), new ThreadFactory() {
      int i; public Thread newThread(Runnable r) { Thread t = new Thread(r, name + (++i)); t.setDaemon(true); return t; } });
    p.prestartAllCoreThreads();
    return p;
  }
  static void until(ThreadPoolExecutor p, Thread.State state, int n) throws Exception {
    while (true) {
      int is = 0;
      for (Map.Entry<Thread, StackTraceElement[]> e : Thread.getAllStackTraces().entrySet())
        if (e.getKey().getState() == state && e.getKey().getName().startsWith("http-nio-8080-exec-")) is++;
      if (is >= n) return;
      Thread.sleep(5);
    }
  }
  public static void main(String[] a) throws Exception {
    ThreadPoolExecutor p = pool("http-nio-8080-exec-", 20);
    CountDownLatch never = new CountDownLatch(1);
    until(p, Thread.State.WAITING, 20);
    ServerSocket silent = new ServerSocket(0);
    synchronized (lock) {
      for (int i = 0; i < 3; i++) p.execute(() -> { synchronized (lock) { } });
      for (int i = 0; i < 5; i++) p.execute(() -> { try { never.await(); } catch (Exception e) { } });
      for (int i = 0; i < 4; i++) p.execute(() -> { try { Thread.sleep(600000); } catch (Exception e) { } });
      for (int i = 0; i < 1; i++) p.execute(() -> { while (spin); });
      for (int i = 0; i < 2; i++) p.execute(() -> { try { new Socket("127.0.0.1", silent.getLocalPort()).getInputStream().read(); } catch (Exception e) { } });
      until(p, Thread.State.BLOCKED, 3);
      until(p, Thread.State.WAITING, 10);
      until(p, Thread.State.TIMED_WAITING, 4);
      until(p, Thread.State.RUNNABLE, 3);
      pool("idle-", 7);
      Thread.sleep(300);
      Map<Thread.State, Integer> states = new TreeMap<>();
      for (Map.Entry<Thread, StackTraceElement[]> e : Thread.getAllStackTraces().entrySet())
        if (e.getValue().length > 0) states.merge(e.getKey().getState(), 1, Integer::sum);
      System.out.println(states);
      System.in.read();
    }
  }
}`

// machines are the JDKs that are installed.
func machines(t *testing.T) []string {
	t.Helper()
	all, _ := filepath.Glob("/usr/lib/jvm/*/bin/javac")
	var homes []string
	seen := map[string]bool{}
	for _, path := range all {
		if real, err := filepath.EvalSymlinks(path); err == nil && !seen[real] {
			seen[real] = true
			homes = append(homes, filepath.Dir(filepath.Dir(real)))
		}
	}
	if len(homes) == 0 {
		if os.Getenv("PRONY_E2E") == "require" {
			t.Fatal("no JDK in /usr/lib/jvm")
		}
		t.Skip("needs a JDK in /usr/lib/jvm")
	}
	return homes
}

// runs starts the program and returns the first line that it prints.
func runs(t *testing.T, home string) (pid int, says string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "Pools.java")
	if err := os.WriteFile(file, []byte(pools), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(home+"/bin/javac", "-d", dir, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := exec.Command(home+"/bin/java", "-Xmx64m", "-cp", dir, "Pools")
	c.Dir = dir
	in, _ := c.StdinPipe()
	out, _ := c.StdoutPipe()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = c.Process.Kill(); _ = c.Wait() })
	line := make([]byte, 256)
	n, err := out.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	return c.Process.Pid, strings.TrimSpace(string(line[:n]))
}

// TestPoolsLive: the counts of a real machine are exact, those of its pools by
// what the program does, those of its states by what it says itself.
func TestPoolsLive(t *testing.T) {
	if testing.Short() {
		t.Skip("starts Java virtual machines")
	}
	for _, home := range machines(t) {
		t.Run(filepath.Base(home), func(t *testing.T) {
			pid, says := runs(t, home)
			for range 2 {
				d, err := jvm.Threads(t.Context(), pid)
				if err != nil {
					t.Fatal(err)
				}
				var states []string
				for _, name := range slices.Sorted(maps.Keys(d.States)) {
					states = append(states, name+"="+strconv.Itoa(d.States[name]))
				}
				if got, want := strings.Join(states, ", "), sorted(says); got != want {
					t.Errorf("got states %q, the program says %q", got, want)
				}
				want := []jvm.Pool{{Name: "http-nio-8080-exec-", Threads: 20, Busy: 15, Running: 1, InIO: 2, Blocked: 3}, {Name: "idle-", Threads: 7}}
				if got := d.Pools; !slices.Equal(got, want) {
					t.Errorf("got pools %+v, want %+v", got, want)
				}
			}
		})
	}
}

// sorted is "{B=1, A=2}" as "A=2, B=1".
func sorted(says string) string {
	parts := strings.Split(strings.Trim(says, "{}"), ", ")
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}
