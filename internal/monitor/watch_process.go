package monitor

import (
	"strconv"

	"prony/internal/proc"
)

// processProbe samples one process.
type processProbe struct {
	pid                 int
	start               int64
	name                string // as the kernel keeps it
	path                string // its folder
	stat                string
	user, system, fault int64
	page                int64 // bytes
	uid, inner          int64
	cpus                string
	limit               int64 // of open files; 0 if unknown
	open                int64
	threads             map[int]*threadProbe
	age                 int // samples
	task                proc.Task
}

// newProcessProbe takes a first reading; nil if the process is not there. If
// the service is being watched and the process is younger than the last sample,
// all that it did belongs to this sample.
func newProcessProbe(c *collector, pid int, watched bool) *processProbe {
	path := "/proc/" + strconv.Itoa(pid)
	p := &processProbe{pid: pid, path: path, stat: path + "/stat", threads: map[int]*threadProbe{}, page: pageSize}
	if !into(c.src, p.stat, &p.task) || p.task.State == 'Z' {
		return nil
	}
	p.start, p.name = p.task.Start, p.task.Name()
	if !watched || !c.tree.born(p.start) {
		p.user, p.system, p.fault = p.task.User, p.task.System, p.task.MajorFaults
	}
	var status proc.Status
	if into(c.src, path+"/status", &status) {
		p.uid, p.inner, p.cpus = status.UID, status.Inner, status.CPUs
		p.page = pageOf(status.RSS, p.task.RSSPages)
	}
	var limits proc.Limits
	if into(c.src, path+"/limits", &limits) {
		p.limit = limits.OpenFiles
	}
	return p
}

// pageSize is the usual size of a page in bytes.
const pageSize = 4096

// pageOf finds the size of a page from the same memory in bytes and in pages.
// The two are read one after the other, so it is about.
func pageOf(bytes, pages int64) int64 {
	for _, size := range []int64{4096, 16384, 65536} {
		if pages > 0 && bytes/pages >= size*3/4 && bytes/pages < size*3/2 {
			return size
		}
	}
	return pageSize
}

// sample adds what the process did to the sums of its service. It is false when
// the process has ended.
func (p *processProbe) sample(c *collector, s *serviceProbe) bool {
	t := &p.task
	if !into(c.src, p.stat, t) || t.Start != p.start || t.State == 'Z' {
		return false
	}
	u := &s.sum
	u.user += proc.TickTime(max(0, t.User-p.user)).Seconds()
	u.system += proc.TickTime(max(0, t.System-p.system)).Seconds()
	u.faults += max(0, t.MajorFaults-p.fault)
	u.rss += t.RSSPages * p.page
	u.threads += int(t.Threads)
	p.user, p.system, p.fault = max(p.user, t.User), max(p.system, t.System), t.MajorFaults
	if c.tree.changed || p.age == 0 || int(t.Threads) != len(p.threads) {
		p.list(c, s)
	}
	p.age++
	for tid, one := range p.threads {
		if !one.sample(c.src, s) {
			delete(p.threads, tid)
		}
	}
	return true
}

// list finds the threads.
func (p *processProbe) list(c *collector, s *serviceProbe) {
	names, err := c.src.list(p.path + "/task")
	if err != nil {
		return
	}
	for _, name := range names {
		tid, err := strconv.Atoi(name)
		if err == nil && p.threads[tid] == nil {
			if t := newThreadProbe(c, p.path+"/task/"+name, s.meter.began); t != nil {
				p.threads[tid] = t
			}
		}
	}
}

// manyFiles is from when on descriptors are counted seldom: before Linux 6.2
// that means to list them.
const manyFiles = 500

// files counts the open descriptors; ok is false if it is not known this time.
func (p *processProbe) files(c *collector) (n int64, ok bool) {
	if p.open > manyFiles && c.tick%5 != 0 {
		return p.open, true
	}
	n, err := c.src.descriptors(p.pid)
	if err != nil {
		return 0, false
	}
	p.open = n
	return n, true
}
