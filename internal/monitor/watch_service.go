package monitor

import (
	"strconv"
	"strings"
	"time"

	"prony/internal/result"
)

// serviceProbe samples an instance of a service: its processes, their threads,
// its control group, its virtual machines and its listening sockets.
type serviceProbe struct {
	ids       *ids
	target    Target
	host      string
	meter     *meter
	processes map[int]*processProbe
	roots     map[int]bool
	strangers map[int]bool // processes that are not of the container
	groups    map[string]*threadGroup
	group     *groupProbe
	jvms      []*jvmProbe
	ports     portProbe
	lost      bool // a process has ended since the members were collected
	sum       use  // of this sample
}

func newServiceProbe(i *ids, host string, t Target) *serviceProbe {
	s := &serviceProbe{
		ids: i, target: t, host: host,
		processes: map[int]*processProbe{}, roots: map[int]bool{}, strangers: map[int]bool{},
		groups: map[string]*threadGroup{}, group: &groupProbe{}, lost: true,
	}
	for _, pid := range t.PIDs {
		s.roots[pid] = pid > 0
	}
	s.meter = newMeter(i.next(), s.head(result.OfService, t.Name))
	return s
}

// head names a part of the service.
func (s *serviceProbe) head(kind, name string) Head {
	return Head{Kind: kind, Name: name, Service: s.target.Name, Instance: s.target.Instance, Host: s.host,
		Facts: map[string]string{}, Unknown: map[string]string{}}
}

// use is what processes or threads did in one sample.
type use struct {
	user, system, cpu, wait float64 // seconds
	faults                  int64
	voluntary, involuntary  int64
	switches                bool // they are known
	waits                   bool // wait is known
	threads, blocked        int
	most                    float64 // seconds of the busiest thread
	rss                     int64
}

// sample takes one.
func (s *serviceProbe) sample(c *collector) {
	at := c.moment()
	if c.tree.changed || s.lost {
		s.collect(c)
	}
	s.sum = use{}
	s.meter.begin(at)
	for _, g := range s.groups {
		g.sum = use{}
	}
	for pid, p := range s.processes {
		if !p.sample(c, s) {
			delete(s.processes, pid)
			s.roots[pid] = false // whoever has the number next is somebody else
			s.lost = true
		}
	}
	s.emitProcesses()
	s.emitGroup(c)
	s.ports.sample(c, s)
	s.files(c)
	s.meter.end(at, c.sink)
	s.emitThreads(c, at)
	s.sampleJVMs(c, at)
}

// collect finds the processes of the instance. Who once belonged to it does so
// until it ends, whoever inherits it.
func (s *serviceProbe) collect(c *collector) {
	s.lost = false
	members := map[int]bool{}
	for pid := range s.processes {
		members[pid] = true
	}
	for pid, alive := range s.roots {
		if alive {
			members[pid] = true
		}
	}
	s.contained(c, members)
	for _, pid := range s.group.members(c.src) {
		members[pid] = true
	}
	c.tree.grow(c.src, members)
	for pid := range members {
		if s.processes[pid] == nil {
			if p := newProcessProbe(c, pid, s.meter.began); p != nil {
				s.processes[pid] = p
				s.ports.stale = true
			}
		}
	}
	s.locate(c)
}

// contained adds the processes of the container: those whose control group has
// its id in the name.
func (s *serviceProbe) contained(c *collector, members map[int]bool) {
	if len(s.target.Container) < containerDigits {
		return
	}
	id := s.target.Container
	for pid := range s.strangers {
		if _, alive := c.tree.parents[pid]; !alive {
			delete(s.strangers, pid)
		}
	}
	for pid := range c.tree.parents {
		if members[pid] || s.strangers[pid] {
			continue
		}
		b, err := c.src.read("/proc/" + strconv.Itoa(pid) + "/cgroup")
		switch {
		case err != nil:
		case strings.Contains(string(b), id):
			members[pid] = true
		default:
			s.strangers[pid] = true
		}
	}
}

// containerDigits is the least of a container's id that tells it apart.
const containerDigits = 12

// locate finds the control group, that of any process, when the one it knew
// has no process left.
func (s *serviceProbe) locate(c *collector) {
	if s.processes[s.group.pid] != nil {
		return
	}
	oldest := s.oldest()
	if oldest == nil {
		return
	}
	own := s.target.Cgroup != "" || len(s.target.Container) >= containerDigits
	s.group = findGroup(c.src, oldest.pid, own)
	clear(s.meter.last) // counters of another group
	s.group.tell(c.src, s.meter)
	s.ports.settle(c, oldest.pid)
	s.meter.fact("pid", strconv.Itoa(oldest.pid))
	s.meter.fact("command", word(c.src, oldest.path+"/comm"))
	s.meter.fact("cpus_allowed", oldest.cpus)
	if to, err := c.src.link(oldest.path + "/exe"); err == nil {
		s.meter.fact("executable", to)
	}
}

// oldest is the process that began first: the root, as a rule.
func (s *serviceProbe) oldest() *processProbe {
	var first *processProbe
	for _, p := range s.processes {
		if first == nil || p.start < first.start || p.start == first.start && p.pid < first.pid {
			first = p
		}
	}
	return first
}

// emitProcesses notes the sums over the processes. Their CPU time is the
// group's, if that is known; see emitGroup.
func (s *serviceProbe) emitProcesses() {
	m := s.meter
	m.gauge(result.Processes, float64(len(s.processes)))
	if len(s.processes) == 0 {
		return
	}
	m.gauge(result.Threads, float64(s.sum.threads))
	m.gauge(result.ResidentSet, float64(s.sum.rss))
	m.gauge(result.SleepD, float64(s.sum.blocked))
	m.rate(result.ServiceFault, float64(s.sum.faults))
	s.sum.emit(m)
}

// emit notes what threads did besides running.
func (u *use) emit(m *meter) {
	if u.waits {
		m.rate(result.RunDelay, u.wait)
	}
	if u.switches {
		m.rate(result.Voluntary, float64(u.voluntary))
		m.rate(result.Involuntary, float64(u.involuntary))
	}
	if m.seconds > 0 {
		// A thread cannot have had more than the time there was; the kernel's
		// count is brought up to date in steps, and may seem to say so.
		m.gauge(result.ThreadMax, min(1, u.most/m.seconds))
	}
}

// emitGroup notes CPU time and what the control group tells.
func (s *serviceProbe) emitGroup(c *collector) {
	m := s.meter
	if s.group.sample(c.src, m) || len(s.processes) == 0 {
		return
	}
	m.rate(result.CPUCores, s.sum.user+s.sum.system)
	m.rate(result.CPUUser, s.sum.user)
	m.rate(result.CPUSystem, s.sum.system)
}

// files notes the descriptors of the process that is nearest to its limit.
func (s *serviceProbe) files(c *collector) {
	var open, limit int64
	for _, p := range s.processes {
		if n, ok := p.files(c); ok && p.limit > 0 && (limit == 0 || float64(n)*float64(limit) > float64(open)*float64(p.limit)) {
			open, limit = n, p.limit
		}
	}
	if limit > 0 {
		s.meter.gauge(result.Files, float64(open))
		s.meter.gauge(result.FilesMost, float64(limit))
	}
}

// threadGroupsMax bounds the names that are told apart; threads of further ones
// are together under otherThreads.
const (
	threadGroupsMax = 32
	otherThreads    = "(others)"
)

// threadGroup is the threads of one name.
type threadGroup struct {
	meter *meter
	sum   use
}

// named is the group of a name.
func (s *serviceProbe) named(name string) *threadGroup {
	if g := s.groups[name]; g != nil {
		return g
	}
	if len(s.groups) >= threadGroupsMax {
		name = otherThreads
		if g := s.groups[name]; g != nil {
			return g
		}
	}
	g := &threadGroup{meter: newMeter(s.ids.next(), s.head(result.OfThread, name))}
	g.meter.at, g.meter.began = s.meter.at, s.meter.began
	s.groups[name] = g
	return g
}

// emitThreads notes a sample of each group that has threads.
func (s *serviceProbe) emitThreads(c *collector, at time.Duration) {
	for _, g := range s.groups {
		m := g.meter
		m.begin(at)
		if g.sum.threads > 0 {
			m.gauge(result.Threads, float64(g.sum.threads))
			m.gauge(result.SleepD, float64(g.sum.blocked))
			m.rate(result.CPUCores, g.sum.cpu)
			m.rate(result.CPUUser, g.sum.user)
			m.rate(result.CPUSystem, g.sum.system)
			g.sum.emit(m)
		}
		m.end(at, c.sink)
	}
}
