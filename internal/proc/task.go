package proc

import (
	"bytes"
	"errors"
	"strconv"
	"time"
)

// Task is /proc/PID/stat, or the same of one thread.
type Task struct {
	ID    int
	Comm  [16]byte // as the kernel keeps it: at most 15 bytes, then zeros
	State byte     // R running or runnable, S sleeping, D blocked, T stopped, Z zombie
	// Parent is the id of the process that started it, or inherited it.
	Parent int
	// MajorFaults are page faults that had to wait for a disk.
	MajorFaults int64
	// User and System are CPU time in ticks: of all threads of a process, dead
	// ones included, or of the one thread.
	User, System int64
	Threads      int64
	Start        int64 // ticks after boot
	RSSPages     int64 // resident memory in pages, whose size is the machine's
}

// Name is the task's name.
func (t *Task) Name() string {
	name, _, _ := bytes.Cut(t.Comm[:], []byte{0})
	return string(name)
}

// CPU is the time the task has run, in steps of 10 ms.
func (t *Task) CPU() time.Duration { return TickTime(t.User + t.System) }

// Process reads /proc/PID/stat; pid 0 is the process that asks.
func (f FS) Process(pid int) (Task, error) {
	return read(f.path(process(pid), "stat"), parseTask)
}

// OpenProcess opens /proc/PID/stat for many readings.
func (f FS) OpenProcess(pid int) (*Reader[Task], error) {
	return open(f.path(process(pid), "stat"), parseTask)
}

// Thread reads /proc/PID/task/TID/stat.
func (f FS) Thread(pid, tid int) (Task, error) { return read(f.thread(pid, tid, "stat"), parseTask) }

// OpenThread opens /proc/PID/task/TID/stat for many readings.
func (f FS) OpenThread(pid, tid int) (*Reader[Task], error) {
	return open(f.thread(pid, tid, "stat"), parseTask)
}

func (f FS) thread(pid, tid int, name string) string {
	return f.path(process(pid), "task", strconv.Itoa(tid), name)
}

var (
	errNoComm = errors.New("no name in parentheses")
	errState  = errors.New("the state is not one letter")
)

// parseTask reads the one line
//
//	pid (comm) state ppid pgrp session tty_nr tpgid flags minflt cminflt majflt
//	cmajflt utime stime cutime cstime priority nice num_threads itrealvalue
//	starttime vsize rss ...
//
// (proc_pid_stat(5)). The name may hold blanks and parentheses, so it ends at
// the last parenthesis of the text.
func parseTask(text []byte, t *Task) error {
	line := bytes.TrimRight(text, "\n")
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return bad(line, errNoComm)
	}
	*t = Task{}
	copy(t.Comm[:], line[open+1:end])
	id, err := number(bytes.TrimSpace(line[:open]))
	if err != nil {
		return bad(line, err)
	}
	t.ID = int(id)
	state, rest := cutField(line[end+1:])
	if len(state) != 1 {
		return bad(line, errState)
	}
	t.State = state[0]
	var parent int64
	rest, err = numbers(rest, &parent)
	t.Parent = int(parent)
	if err == nil {
		rest, err = numbers(skipFields(rest, 7), &t.MajorFaults)
	}
	if err == nil {
		rest, err = numbers(skipFields(rest, 1), &t.User, &t.System)
	}
	if err == nil {
		rest, err = numbers(skipFields(rest, 4), &t.Threads)
	}
	if err == nil {
		rest, err = numbers(skipFields(rest, 1), &t.Start)
	}
	if err == nil {
		_, err = numbers(skipFields(rest, 1), &t.RSSPages)
	}
	if err != nil {
		return bad(line, err)
	}
	return nil
}

// SchedStat is /proc/PID/schedstat, or the same of one thread: CPU time in
// nanoseconds, where stat has ticks. For a process the file counts its first
// thread only.
type SchedStat struct {
	RunNS  int64 // on a core
	WaitNS int64 // ready to run, waiting for a core
	Slices int64 // times it was put on a core
}

// SchedStat reads /proc/PID/task/TID/schedstat. Kernels without
// CONFIG_SCHED_INFO have no such file.
func (f FS) SchedStat(pid, tid int) (SchedStat, error) {
	return read(f.thread(pid, tid, "schedstat"), parseSchedStat)
}

// OpenSchedStat opens /proc/PID/task/TID/schedstat for many readings.
func (f FS) OpenSchedStat(pid, tid int) (*Reader[SchedStat], error) {
	return open(f.thread(pid, tid, "schedstat"), parseSchedStat)
}

// MainSchedStat reads /proc/PID/schedstat, the process's first thread.
func (f FS) MainSchedStat(pid int) (SchedStat, error) {
	return read(f.path(process(pid), "schedstat"), parseSchedStat)
}

// parseSchedStat reads "1239055 122158 2": time on the CPU and on the run
// queue in ns, and time slices (Documentation/scheduler/sched-stats.rst).
func parseSchedStat(text []byte, s *SchedStat) error {
	line, _ := cutLine(text)
	*s = SchedStat{}
	if _, err := numbers(line, &s.RunNS, &s.WaitNS, &s.Slices); err != nil {
		return bad(line, err)
	}
	return nil
}
