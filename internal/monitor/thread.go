package monitor

import (
	"time"

	"prony/internal/proc"
)

// thread is a worker thread whose CPU time is read.
type thread struct {
	// One of the two: nanoseconds where the kernel has them, else ticks.
	fine   *proc.Reader[proc.SchedStat]
	coarse *proc.Reader[proc.Task]

	spent proc.SchedStat
	task  proc.Task
	last  time.Duration // CPU time at the last sample
}

// busiest sums, over samples, the CPU time of the thread that had most of it.
type busiest struct {
	since   time.Duration // of the last sample
	seconds float64
}

// watchThreads opens the threads and takes a first reading.
func (s *sources) watchThreads(tids []int, now time.Duration) {
	s.closeThreads()
	for _, tid := range tids {
		if t, ok := openThread(s.fs, tid); ok {
			s.threads = append(s.threads, t)
		}
	}
	s.workers.since = now
}

// openThread prefers schedstat, unless the kernel has the file and does not
// count: a thread that could tell its id has run.
func openThread(fs proc.FS, tid int) (t thread, ok bool) {
	t.fine, _ = fs.OpenSchedStat(0, tid)
	if t.last, ok = t.cpu(); ok && t.last > 0 {
		return t, true
	}
	closeReader(t.fine)
	t.fine = nil
	t.coarse, _ = fs.OpenThread(0, tid)
	if t.last, ok = t.cpu(); !ok {
		t.close()
	}
	return t, ok
}

// cpu is the CPU time of the thread so far.
func (t *thread) cpu() (time.Duration, bool) {
	switch {
	case t.fine != nil:
		err := t.fine.Read(&t.spent)
		return time.Duration(t.spent.RunNS), err == nil
	case t.coarse != nil:
		err := t.coarse.Read(&t.task)
		return t.task.CPU(), err == nil
	}
	return 0, false
}

func (t *thread) close() {
	closeReader(t.fine)
	closeReader(t.coarse)
}

func (s *sources) closeThreads() {
	for i := range s.threads {
		s.threads[i].close()
	}
	s.threads = s.threads[:0]
}

// sampleThreads adds the CPU time of the busiest thread since the last sample.
// Threads that have ended are passed over. Without threads there is no figure.
func (s *sources) sampleThreads(into *sample) {
	if len(s.threads) == 0 {
		return
	}
	var most time.Duration
	for i := range s.threads {
		t := &s.threads[i]
		if cpu, ok := t.cpu(); ok {
			most = max(most, cpu-t.last)
			t.last = cpu
		}
	}
	// A thread cannot have had more than the time there was; the kernel's
	// count is brought up to date in steps, and may seem to say so.
	passed := into.at - s.workers.since
	s.workers.seconds += min(most, max(passed, 0)).Seconds()
	s.workers.since = into.at
	into.count(threadBusy, s.workers.seconds)
}
