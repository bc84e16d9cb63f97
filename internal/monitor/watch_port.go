package monitor

import (
	"strconv"
	"strings"

	"prony/internal/proc"
	"prony/internal/result"
)

// socketTable is the listening sockets of our own network namespace.
type socketTable struct {
	local     bool // this machine, so the kernel can be asked
	diag      *diag
	listeners proc.Listeners
	wanted    bool // a service lives in this namespace
	version   int  // grows when sockets come or go
	inodes    map[int64]bool
}

func newSocketTable(src source) *socketTable {
	t := &socketTable{inodes: map[int64]bool{}}
	if l, ok := src.(*localFiles); ok && l.root == "" {
		t.local = true
	}
	return t
}

// refresh lists the listening sockets, if anybody wants to know.
func (t *socketTable) refresh(c *collector) {
	if !t.wanted {
		return
	}
	t.listeners = t.listeners[:0]
	if !t.ask() {
		t.listeners = readListeners(c.src, "/proc/net/", t.listeners)
	}
	same := len(t.inodes) == len(t.listeners)
	for _, l := range t.listeners {
		same = same && t.inodes[l.Inode]
	}
	if same {
		return
	}
	t.version++
	clear(t.inodes)
	for _, l := range t.listeners {
		t.inodes[l.Inode] = true
	}
}

// ask has the kernel list them, which tells the limits, too.
func (t *socketTable) ask() bool {
	if !t.local {
		return false
	}
	if t.diag == nil {
		d, err := openDiag()
		if err != nil {
			t.local = false // not allowed here: the files will do
			return false
		}
		t.diag = d
	}
	return t.diag.listeners(&t.listeners) == nil
}

// established counts the connections that came to a port, by port, in our own
// namespace; nil if it is not known.
func (t *socketTable) established() map[int]int {
	if t.diag == nil {
		return nil
	}
	counts, err := t.diag.established()
	if err != nil {
		return nil
	}
	return counts
}

func (t *socketTable) close() {
	if t.diag != nil {
		t.diag.close()
	}
}

// readListeners reads the tables of a namespace as far as they list listeners.
func readListeners(src source, folder string, all proc.Listeners) proc.Listeners {
	for _, name := range []string{"tcp", "tcp6"} {
		b, err := src.head(folder + name)
		if err == nil {
			_, _ = all.Add(b) // a line that does not read ends the list
		}
	}
	return all
}

// portProbe samples the listening sockets of a service.
type portProbe struct {
	foreign string         // folder of its own network namespace; "" in ours
	settled bool           // foreign is known
	stale   bool           // processes have come
	version int            // of the table that inodes were found in
	inodes  map[int64]bool // that the processes have open
}

// settle finds out whose network namespace the service lives in.
func (p *portProbe) settle(c *collector, pid int) {
	id := strconv.Itoa(pid)
	p.settled, p.stale, p.foreign = true, true, ""
	theirs, err1 := c.src.link("/proc/" + id + "/ns/net")
	ours, err2 := c.src.link("/proc/self/ns/net")
	if err1 == nil && err2 == nil && theirs != ours {
		p.foreign = "/proc/" + id + "/net/"
		return
	}
	c.sockets.wanted = true
}

// sample notes the fullest accept queue and the connections.
func (p *portProbe) sample(c *collector, s *serviceProbe) {
	if !p.settled {
		return
	}
	if p.foreign != "" {
		// All that TCP counts there is the service's own.
		t := sampleTCP(c.src, s.meter, p.foreign)
		s.meter.count(result.InService, t.PassiveOpens, 1)
		emitQueue(s.meter, readListeners(c.src, p.foreign, nil))
		return
	}
	if p.stale || p.version != c.sockets.version {
		p.find(c, s)
	}
	var own proc.Listeners
	for _, l := range c.sockets.listeners {
		if p.inodes[l.Inode] {
			own = append(own, l)
		}
	}
	emitQueue(s.meter, own)
	p.connections(c, s, own)
}

// manyConnections is from when on connections are counted seldom: the kernel
// lists them all.
const manyConnections = 2000

func (p *portProbe) connections(c *collector, s *serviceProbe, own proc.Listeners) {
	if len(own) == 0 {
		return
	}
	counts := c.connections()
	if counts == nil {
		return
	}
	n, seen := 0, map[int]bool{}
	for _, l := range own {
		if !seen[l.Port] {
			seen[l.Port] = true
			n += counts[l.Port]
		}
	}
	s.meter.gauge(result.Sockets, float64(n))
}

// connections counts connections by port, once for all services in a sample.
func (c *collector) connections() map[int]int {
	if c.countedAt != c.tick {
		c.countedAt = c.tick
		total := 0
		for _, n := range c.counted {
			total += n
		}
		if total <= manyConnections || c.slow() {
			c.counted = c.sockets.established()
			c.countedNow = c.counted != nil
		} else {
			c.countedNow = false
		}
	}
	if !c.countedNow {
		return nil
	}
	return c.counted
}

// descriptorsMax bounds the descriptors of a process that are looked at to find
// its listening sockets; those are opened early and have low numbers.
const descriptorsMax = 4096

// find learns which of the listening sockets the processes have open.
func (p *portProbe) find(c *collector, s *serviceProbe) {
	p.stale, p.version, p.inodes = false, c.sockets.version, map[int64]bool{}
	for _, one := range s.processes {
		names, err := c.src.list(one.path + "/fd")
		if err != nil || len(names) > descriptorsMax {
			names = lowDescriptors()
		}
		for _, name := range names {
			to, err := c.src.link(one.path + "/fd/" + name)
			if err != nil || !strings.HasPrefix(to, "socket:[") {
				continue
			}
			inode, err := strconv.ParseInt(strings.Trim(to[len("socket:"):], "[]"), 10, 64)
			if err == nil && c.sockets.inodes[inode] {
				p.inodes[inode] = true
			}
		}
	}
}

// lowDescriptors are tried where there are too many.
func lowDescriptors() []string {
	all := make([]string, 256)
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return all
}

// emitQueue notes the socket that is nearest to its limit.
func emitQueue(m *meter, all proc.Listeners) {
	if len(all) == 0 {
		return
	}
	fullest := all[0]
	for _, l := range all[1:] {
		if float64(l.Queue)*float64(max(1, fullest.Limit)) > float64(fullest.Queue)*float64(max(1, l.Limit)) {
			fullest = l
		}
	}
	m.gauge(result.AcceptQueue, float64(fullest.Queue))
	if fullest.Limit >= 0 {
		m.gauge(result.AcceptLimit, float64(fullest.Limit))
	}
	m.fact("accept_port", strconv.Itoa(fullest.Port))
}
