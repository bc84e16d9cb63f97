package monitor_test

import (
	"math"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"prony/internal/monitor"
)

// threadCPU is the CPU time of the calling thread.
func threadCPU(t *testing.T) time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		t.Error(err)
	}
	return time.Duration(ts.Nano())
}

// burn keeps half a core busy until the end, with one thread: 5 ms of CPU time
// at the start of every 10 ms, as far as the host grants them. It returns the
// CPU time that the thread had between start and end.
func burn(t *testing.T, tids chan<- int, begin <-chan time.Time, length time.Duration) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for used := threadCPU(t); threadCPU(t)-used < time.Millisecond; {
		continue // a new thread has no time yet
	}
	tids <- unix.Gettid()
	start := <-begin
	for time.Now().Before(start) {
		continue
	}
	before := threadCPU(t)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for now := range ticker.C {
		if now.Sub(start) >= length {
			break
		}
		for used := threadCPU(t); threadCPU(t)-used < 5*time.Millisecond; {
			continue
		}
	}
	return threadCPU(t) - before
}

// TestLive burns half a core for two seconds and holds the watch against the
// clock of the thread itself, which also knows what a busy host withheld.
func TestLive(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two seconds")
	}
	const length = 2 * time.Second
	w := monitor.StartSelf(t.Context(), monitor.Self{})
	defer w.Stop()
	tids, begin, burnt := make(chan int), make(chan time.Time), make(chan time.Duration)
	go func() { burnt <- burn(t, tids, begin, length) }()
	w.Threads([]int{<-tids})
	start := time.Now().Add(50 * time.Millisecond)
	w.Window(start, start.Add(length))
	begin <- start
	want := (<-burnt).Seconds()
	w.Stop()
	g := w.Result(start, length)
	t.Logf("burnt %.3f s: %+v", want, g)

	if late := time.Since(start) - length; want < 0.3 || late > 300*time.Millisecond {
		t.Skipf("the host granted %.2f s of CPU, and the end came %v late: too busy to judge", want, late)
	}
	// The process is the thread and what else the test binary does.
	if got := g.CPUUS / 1e6; got < want-0.1 || got > want+0.4 {
		t.Errorf("CPU time: got %.3f s, want %.3f to %.3f", got, want-0.1, want+0.4)
	}
	if got := g.MeanBusy * g.CPUs * length.Seconds(); math.Abs(got-g.CPUUS/1e6) > 1e-6 {
		t.Errorf("mean busy: got %v s of CPU, want %v", got, g.CPUUS/1e6)
	}
	if len(g.ThreadSeries) != 2 || len(g.BusySeries) != 2 {
		t.Fatalf("series: got %v and %v, want two seconds of both", g.ThreadSeries, g.BusySeries)
	}
	if got := g.ThreadSeries[0] + g.ThreadSeries[1]; math.Abs(got-want) > 0.15 {
		t.Errorf("thread: got %.3f s, want %.3f", got, want)
	}
	if g.MonitorCPU <= 0 || g.MonitorCPU > 0.05 {
		t.Errorf("own cost: got %v of a core, want above 0 and at most 0.05", g.MonitorCPU)
	}
	if g.OpenFiles < 3 || g.MaxRSSBytes < 1<<20 || g.ClockReadNS <= 0 || g.HiccupP99US < 0 {
		t.Errorf("got %+v", g)
	}
}
