package monitor

import (
	"strings"

	"prony/internal/proc"
)

// threadProbe samples one thread. Most threads sleep, so what says whether it
// ran at all is read first, and the rest only then.
type threadProbe struct {
	sched, stat, status    string
	comm                   [16]byte
	group                  string
	state                  byte
	spent                  proc.SchedStat
	fine                   bool // spent is counted by this kernel
	user, system           int64
	voluntary, involuntary int64
	switches               bool
}

// newThreadProbe takes a first reading; nil if the thread is not there. A
// thread that began after the last sample did all of it in this one.
func newThreadProbe(c *collector, path string, watched bool) *threadProbe {
	t := &threadProbe{sched: path + "/schedstat", stat: path + "/stat", status: path + "/status"}
	var task proc.Task
	if !into(c.src, t.stat, &task) {
		return nil
	}
	t.name(&task)
	// A kernel may have the file and not count: a thread with CPU time has run.
	t.fine = into(c.src, t.sched, &t.spent) && (t.spent.RunNS > 0 || task.User+task.System == 0)
	if watched && c.tree.born(task.Start) {
		t.spent, t.switches = proc.SchedStat{}, true
		return t
	}
	t.user, t.system = task.User, task.System
	t.readSwitches(c.src)
	return t
}

// name finds the group of a thread; a thread may change its name.
func (t *threadProbe) name(task *proc.Task) {
	t.state = task.State
	if t.comm != task.Comm || t.group == "" {
		t.comm, t.group = task.Comm, commonName(task.Name())
	}
}

// commonName is a thread's name without the number at its end: "exec-12" and
// "exec-7" are both "exec-*".
func commonName(name string) string {
	short := strings.TrimRight(name, "0123456789")
	switch {
	case len(short) < len(name):
		return short + "*"
	}
	return name
}

// sample adds what the thread did to the sums of its group and service. It is
// false when the thread has ended.
func (t *threadProbe) sample(src source, s *serviceProbe) bool {
	var u use
	if t.fine {
		before := t.spent
		if !into(src, t.sched, &t.spent) {
			return false
		}
		u.cpu, u.wait, u.waits = seconds64(before.RunNS, t.spent.RunNS), seconds64(before.WaitNS, t.spent.WaitNS), true
		if before == t.spent && t.state != 'R' {
			t.add(s, u) // it slept
			return true
		}
	}
	var task proc.Task
	if !into(src, t.stat, &task) {
		return false
	}
	t.name(&task)
	u.user = proc.TickTime(max(0, task.User-t.user)).Seconds()
	u.system = proc.TickTime(max(0, task.System-t.system)).Seconds()
	if !t.fine {
		u.cpu = u.user + u.system
	}
	t.user, t.system = max(t.user, task.User), max(t.system, task.System)
	voluntary, involuntary := t.voluntary, t.involuntary
	if known := t.switches; t.readSwitches(src) && known {
		u.voluntary, u.involuntary = max(0, t.voluntary-voluntary), max(0, t.involuntary-involuntary)
	}
	t.add(s, u)
	return true
}

func seconds64(before, now int64) float64 { return float64(max(0, now-before)) / 1e9 }

// readSwitches reads how often the thread gave up its core and was put off it.
func (t *threadProbe) readSwitches(src source) bool {
	var status proc.Status
	if t.switches = into(src, t.status, &status); t.switches {
		t.voluntary, t.involuntary = status.Voluntary, status.Involuntary
	}
	return t.switches
}

func (t *threadProbe) add(s *serviceProbe, u use) {
	u.switches = t.switches
	u.most = u.cpu
	if t.state == 'D' {
		u.blocked = 1
	}
	s.sum.thread(u) // the process counted its threads and ticks
	g := s.named(t.group)
	g.sum.thread(u)
	g.sum.user += u.user
	g.sum.system += u.system
	g.sum.threads++
}

// thread adds what one thread did, without what the process knows better.
func (u *use) thread(t use) {
	u.cpu += t.cpu
	u.wait += t.wait
	u.waits = u.waits || t.waits
	u.voluntary += t.voluntary
	u.involuntary += t.involuntary
	u.switches = u.switches || t.switches
	u.blocked += t.blocked
	u.most = max(u.most, t.most)
}
