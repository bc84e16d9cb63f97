package monitor_test

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prony/internal/monitor"
	"prony/internal/result"
)

// pool is a program with a pool of eight threads, of which one spins, two wait
// for a lock, three wait for nothing that comes, and two are idle.
const pool = `import java.util.concurrent.*;
public class Pool { static final Object lock = new Object();
  public static void main(String[] a) throws Exception {
    ThreadPoolExecutor p = new ThreadPoolExecutor(8, 8, 1, TimeUnit.DAYS, new LinkedBlockingQueue<>(), new ThreadFactory() {
      int i; public Thread newThread(Runnable r) { return new Thread(r, "http-nio-8080-exec-" + (++i)); } });
    p.prestartAllCoreThreads();
    CountDownLatch never = new CountDownLatch(1);
    synchronized (lock) {
      p.execute(() -> { while (true); });
      for (int i = 0; i < 2; i++) p.execute(() -> { synchronized (lock) { } });
      for (int i = 0; i < 3; i++) p.execute(() -> { try { never.await(); } catch (Exception e) { } });
      while (true) Thread.sleep(1000); } } }`

// javaPool starts it.
func javaPool(t *testing.T) monitor.Target {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a Java virtual machine")
	}
	if _, err := exec.LookPath("java"); err != nil {
		if os.Getenv("PRONY_E2E") == "require" {
			t.Fatal(err)
		}
		t.Skipf("needs a JDK: %v", err)
	}
	file := filepath.Join(t.TempDir(), "Pool.java")
	if err := os.WriteFile(file, []byte(pool), 0o600); err != nil {
		t.Fatal(err)
	}
	c := start(t, "java", "-Xmx64m", file)
	return monitor.Target{Name: "app", PIDs: []int{c.Process.Pid}}
}

// TestWatchLiveThreads: the states of the threads of a real machine are series,
// and so is what its pool does.
func TestWatchLiveThreads(t *testing.T) {
	target := javaPool(t)
	target.ThreadDumps = time.Second
	began := time.Now()
	w, err := monitor.Watch(t.Context(), monitor.Request{Services: []monitor.Target{target}})
	if err != nil {
		t.Fatal(err)
	}
	await(t, w, func(all monitor.Snapshot) bool {
		for _, o := range all {
			if o.Kind == result.OfPool && o.Window(result.PoolBusy, math.Inf(1)).Max() == 6 && o.Window(result.PoolBlocked, math.Inf(1)).Max() == 2 {
				return true
			}
		}
		return false
	})
	all := w.Stop().Cut(began, 0, time.Since(began))
	p := find(t, all, result.OfPool, "http-nio-8080-exec-*")
	for metric, want := range map[result.Metric]float64{result.PoolThreads: 8, result.PoolBusy: 6, result.PoolRunning: 1, result.PoolInIO: 0, result.PoolBlocked: 2} {
		if got := last(p, metric); got != want {
			t.Errorf("%s: got %v, want %v", metric, got, want)
		}
	}
	vm := find(t, all, result.OfJVM, "app")
	if blocked, waiting := last(vm, result.Blocked), last(vm, result.Waiting); blocked != 2 || waiting < 5 {
		t.Errorf("got %v blocked and %v waiting, want 2 and at least the 5 of the pool", blocked, waiting)
	}
	if last(vm, result.Runnable) < 1 || last(vm, result.TimedWaiting) < 1 || !(last(vm, result.DumpTime) > 0) {
		t.Errorf("got series %v", vm.Series)
	}
	if p.Service != "app" || vm.Facts["thread_dumps_every"] != "1s" {
		t.Errorf("got service %q and facts %v", p.Service, vm.Facts)
	}
}

// TestWatchLiveNoDumps: a machine whose states nobody asked for is not stopped.
func TestWatchLiveNoDumps(t *testing.T) {
	target := javaPool(t)
	began := time.Now()
	w, err := monitor.Watch(t.Context(), monitor.Request{Services: []monitor.Target{target}})
	if err != nil {
		t.Fatal(err)
	}
	await(t, w, func(all monitor.Snapshot) bool {
		for _, o := range all {
			if o.Kind == result.OfJVM && o.Has(result.LiveThreads) {
				return true
			}
		}
		return false
	})
	all := w.Stop().Cut(began, 0, time.Since(began))
	vm := find(t, all, result.OfJVM, "app")
	if vm.Has(result.Runnable) || vm.Has(result.DumpTime) || len(vm.Unknown) > 0 {
		t.Errorf("got %v, %v, want no states", vm.Series, vm.Unknown)
	}
	sockets, _ := filepath.Glob("/proc/" + vm.Facts["pid"] + "/root/tmp/.java_pid" + vm.Facts["pid"])
	if len(sockets) > 0 || strings.Contains(vm.Facts["thread_dumps_every"], "s") {
		t.Errorf("got %v, want a machine that nobody attached to", sockets)
	}
}

// last is the newest known value.
func last(o result.Observed, m result.Metric) float64 {
	values := o.Window(m, math.Inf(1))
	if len(values) == 0 {
		return math.NaN()
	}
	return values[len(values)-1]
}
