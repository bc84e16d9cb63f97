package monitor

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"prony/internal/proc"
	"prony/internal/result"
)

// hostProbe samples the machine as a whole.
type hostProbe struct {
	meter *meter
	cost  time.Duration // of the watch, until before this sample
	far   bool          // the watch runs somewhere else

	now, before proc.Stat
	read        bool // before holds a reading
	shares      shares
	disks       proc.Disks
	diskBusy    map[string]*meter
	memory      proc.Memory
}

func newHostProbe(id int, name string) *hostProbe {
	return &hostProbe{
		meter:    newMeter(id, Head{Kind: result.OfHost, Name: name, Host: name}),
		diskBusy: map[string]*meter{},
	}
}

// sample takes one; load is /proc/loadavg, if it is known.
func (h *hostProbe) sample(c *collector, load proc.Load, known bool) {
	at := c.moment()
	m := h.meter
	m.begin(at)
	if !h.far {
		m.count(WatchCores, int64(h.cost), 1e-9)
	}
	h.cpu(c.src)
	if known {
		m.gauge(Load, load.One)
	}
	h.pressure(c.src)
	h.store(c.src)
	sampleTCP(c.src, m, "/proc/net/")
	h.sockets(c.src)
	h.packets(c.src)
	h.disk(c.src, at)
	if c.slow() {
		h.frequency(c.src)
	}
	m.end(at, c.sink)
}

func (h *hostProbe) cpu(src source) {
	if !into(src, "/proc/stat", &h.now) {
		h.read = false
		return
	}
	m := h.meter
	m.gauge(result.RunQueue, float64(h.now.Running))
	m.count(result.ContextSwitches, h.now.ContextSwitches, 1)
	m.gauge(CPUs, float64(len(h.now.Cores)))
	if d := h.now.All.Sub(h.before.All); h.read && d.Total() > 0 {
		all := float64(d.Total())
		m.gauge(result.HostBusy, float64(d.Busy())/all)
		m.gauge(result.HostUser, float64(d.User+d.Nice)/all)
		m.gauge(result.HostSystem, float64(d.System+d.IRQ)/all)
		m.gauge(result.HostSoftIRQ, float64(d.SoftIRQ)/all)
		m.gauge(result.HostIOWait, float64(d.IOWait)/all)
		m.gauge(result.HostSteal, float64(d.Steal)/all)
		h.shares.of(h.before.Cores, h.now.Cores)
		h.shares.sample(m)
	}
	h.now, h.before = h.before, h.now // the slices change places and are used again
	h.read = true
}

// shares are what each core did with its time.
type shares struct{ busy, softIRQ []float64 }

// of compares two readings; cores that came or went in between are left out.
func (s *shares) of(before, now []proc.Core) {
	s.busy, s.softIRQ = s.busy[:0], s.softIRQ[:0]
	for _, c := range now {
		for len(before) > 0 && before[0].Number < c.Number {
			before = before[1:]
		}
		if len(before) == 0 || before[0].Number != c.Number {
			continue
		}
		d := c.Sub(before[0].CPU)
		if total := float64(d.Total()); total > 0 {
			s.busy = append(s.busy, float64(d.Busy())/total)
			s.softIRQ = append(s.softIRQ, float64(d.SoftIRQ)/total)
		}
	}
}

// coreFull is when a core counts as fully used.
const coreFull = 0.95

func (s *shares) sample(m *meter) {
	if len(s.busy) == 0 {
		return
	}
	full := 0
	for _, x := range s.busy {
		if x >= coreFull {
			full++
		}
	}
	m.gauge(result.CoresFull, float64(full))
	most, middle := extremes(s.busy)
	m.gauge(result.CoreBusyMax, most)
	m.gauge(result.CoreBusyMedian, middle)
	most, middle = extremes(s.softIRQ)
	m.gauge(result.CoreSoftIRQMax, most)
	m.gauge(result.CoreSoftIRQMed, middle)
}

// extremes sorts the values and gives the largest and the median.
func extremes(x []float64) (most, middle float64) {
	slices.Sort(x)
	n := len(x)
	return x[n-1], (x[(n-1)/2] + x[n/2]) / 2
}

// samplePressure notes the waiting for a resource, as shares of the time.
func samplePressure(src source, m *meter, name string, some, full result.Metric) {
	var p proc.Pressure
	if !into(src, name, &p) {
		return
	}
	if some != "" {
		m.count(some, p.SomeUS, 1e-6)
	}
	if full != "" && p.FullOK {
		m.count(full, p.FullUS, 1e-6)
	}
}

func (h *hostProbe) pressure(src source) {
	samplePressure(src, h.meter, "/proc/pressure/cpu", result.PSICPUSome, "")
	samplePressure(src, h.meter, "/proc/pressure/memory", result.PSIMemorySome, result.PSIMemoryFull)
	samplePressure(src, h.meter, "/proc/pressure/io", result.PSIIOSome, "")
}

// store samples memory, swapping and descriptors.
func (h *hostProbe) store(src source) {
	m := h.meter
	if into(src, "/proc/meminfo", &h.memory) {
		m.gauge(result.MemoryTotal, float64(h.memory.Total))
		if h.memory.AvailableOK {
			m.gauge(result.MemoryAvailable, float64(h.memory.Available))
		}
		m.gauge(SwapUsed, float64(h.memory.SwapTotal-h.memory.SwapFree))
	}
	var v proc.VM
	if into(src, "/proc/vmstat", &v) {
		if v.SwapIn >= 0 && v.SwapOut >= 0 {
			m.count(result.SwapRate, v.SwapIn+v.SwapOut, 1)
		}
		m.count(result.MajorFaults, v.MajorFaults, 1)
		m.count(result.OOMKills, v.OOMKills, 1)
	}
	if n, ok := whole(src, "/proc/sys/fs/file-nr"); ok {
		m.gauge(result.OpenFiles, float64(n))
	}
}

// sampleTCP notes what TCP counts in the network namespace whose files are in
// a folder, and returns it.
func sampleTCP(src source, m *meter, folder string) proc.TCP {
	t := proc.NoTCP()
	for _, name := range []string{"snmp", "netstat"} {
		if b, err := src.read(folder + name); err == nil && t.Add(b) != nil {
			return proc.NoTCP()
		}
	}
	m.count(result.OutSegments, t.OutSegments, 1)
	m.count(result.RetransSegments, t.RetransSegments, 1)
	m.count(result.TCPTimeouts, t.Timeouts, 1)
	m.count(result.ListenOverflows, t.ListenOverflows, 1)
	m.count(result.ListenDrops, t.ListenDrops, 1)
	m.count(result.SynCookies, t.SynCookies, 1)
	m.count(result.PassiveOpens, t.PassiveOpens, 1)
	m.count(result.ActiveOpens, t.ActiveOpens, 1)
	m.count(result.TimeWaitOver, t.TimeWaitOverflow, 1)
	if t.RequestFullDrop >= 0 && t.RequestFullCookie >= 0 {
		m.count(result.RequestQFull, t.RequestFullDrop+t.RequestFullCookie, 1)
	}
	if t.Established >= 0 {
		m.gauge(result.Established, float64(t.Established))
	}
	return t
}

// sockets samples TIME_WAIT and the table of tracked connections.
func (h *hostProbe) sockets(src source) {
	m := h.meter
	var s proc.Sockets
	if into(src, "/proc/net/sockstat", &s) {
		m.gauge(result.TimeWait, float64(s.TimeWait))
		m.gauge(Orphans, float64(s.Orphans))
	}
	if n, ok := whole(src, "/proc/sys/net/netfilter/nf_conntrack_count"); ok {
		m.gauge(result.ConntrackUsed, float64(n))
	}
	if n, ok := whole(src, "/proc/sys/net/netfilter/nf_conntrack_max"); ok {
		m.gauge(result.ConntrackMax, float64(n))
	}
	var t proc.Conntrack
	if into(src, "/proc/net/stat/nf_conntrack", &t) {
		m.count(result.ConntrackDrops, t.Dropped+t.EarlyDropped+t.InsertFailed, 1)
	}
}

func (h *hostProbe) packets(src source) {
	var s proc.Softnet
	if into(src, "/proc/net/softnet_stat", &s) {
		h.meter.count(result.SoftnetDrops, s.Dropped, 1)
		h.meter.count(result.SoftnetSqueezed, s.Squeezed, 1)
	}
}

// disk samples the busiest device and the longest queue, perhaps of another.
func (h *hostProbe) disk(src source, at time.Duration) {
	if !into(src, "/proc/diskstats", &h.disks) {
		return
	}
	busy, queue, known := 0.0, 0.0, false
	for _, d := range h.disks {
		m := h.diskBusy[d.Name]
		if m == nil {
			m = newMeter(0, Head{})
			h.diskBusy[d.Name] = m
		}
		seconds := (at - m.at).Seconds()
		b, ok1 := m.grown(result.DiskBusyMax, d.BusyMS)
		q, ok2 := m.grown(result.DiskQueueMax, d.WeightedMS)
		m.at = at
		if ok1 && ok2 && seconds > 0 {
			busy, queue, known = max(busy, float64(b)/1e3/seconds), max(queue, float64(q)/1e3/seconds), true
		}
	}
	if known {
		h.meter.gauge(result.DiskBusyMax, min(1, busy))
		h.meter.gauge(result.DiskQueueMax, queue)
	}
}

// frequency is the mean of the cores, which asks each of them: seldom.
func (h *hostProbe) frequency(src source) {
	var info proc.CPUInfo
	if len(h.before.Cores) > 64 || !into(src, "/proc/cpuinfo", &info) || len(info.MHz) == 0 {
		return
	}
	h.meter.gauge(result.FrequencyMHz, result.Values(info.MHz).Mean())
}

// linkProbes samples network interfaces.
type linkProbes struct {
	ids    *ids
	host   string
	wanted []string
	links  proc.Links
	known  map[string]*linkProbe
}

type linkProbe struct {
	meter *meter
	up    bool
	speed int64 // bits a second; absent if unknown
	dir   string
	miss  string
}

func newLinkProbes(i *ids, r Request) *linkProbes {
	return &linkProbes{ids: i, host: r.Host, wanted: r.Interfaces, known: map[string]*linkProbe{}}
}

func (l *linkProbes) sample(c *collector) {
	at := c.moment()
	if !into(c.src, "/proc/net/dev", &l.links) {
		return
	}
	for i := range l.links {
		one := &l.links[i]
		if len(l.wanted) > 0 && !slices.Contains(l.wanted, one.Name) || strings.ContainsRune(one.Name, '/') {
			continue
		}
		p := l.known[one.Name]
		if p == nil {
			dir := "/sys/class/net/" + one.Name
			p = &linkProbe{dir: dir, miss: dir + "/statistics/rx_missed_errors"}
			p.meter = newMeter(l.ids.next(), Head{Kind: result.OfInterface, Name: one.Name, Host: l.host})
			l.known[one.Name] = p
			p.look(c.src)
		} else if c.slow() {
			p.look(c.src)
		}
		if p.up {
			p.sample(c, one, at)
		}
	}
}

// look reads what changes seldom.
func (p *linkProbe) look(src source) {
	flags, err := strconv.ParseUint(strings.TrimPrefix(word(src, p.dir+"/flags"), "0x"), 16, 32)
	p.up = err != nil || flags&1 != 0 // IFF_UP; without sysfs it is not known
	p.speed = absent
	if n, ok := whole(src, p.dir+"/speed"); ok && n > 0 {
		p.speed = n * 1e6
		p.meter.fact("speed_mbit", strconv.FormatInt(n, 10))
	} else {
		p.meter.head.Unknown[string(result.LinkSpeed)] = "the driver does not say"
	}
	p.meter.fact("mtu", word(src, p.dir+"/mtu"))
	p.meter.fact("duplex", word(src, p.dir+"/duplex"))
	p.meter.fact("state", word(src, p.dir+"/operstate"))
	if to, err := src.link(p.dir + "/device/driver"); err == nil {
		p.meter.fact("driver", to[strings.LastIndexByte(to, '/')+1:])
	}
}

func (p *linkProbe) sample(c *collector, l *proc.Link, at time.Duration) {
	m := p.meter
	m.begin(at)
	m.count(result.BytesIn, l.BytesIn, 1)
	m.count(result.BytesOut, l.BytesOut, 1)
	m.count(result.PacketsIn, l.PacketsIn, 1)
	m.count(result.PacketsOut, l.PacketsOut, 1)
	m.count(result.LinkDrops, l.DropsIn+l.DropsOut, 1)
	m.count(result.LinkErrors, l.ErrorsIn+l.ErrorsOut, 1)
	if n, ok := whole(c.src, p.miss); ok {
		m.count(result.LinkMissed, n, 1)
	}
	if p.speed > 0 {
		m.gauge(result.LinkSpeed, float64(p.speed))
	}
	m.end(at, c.sink)
}
