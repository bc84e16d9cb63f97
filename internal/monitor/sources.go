package monitor

import (
	"runtime"
	"time"

	"prony/internal/cgroup"
	"prony/internal/proc"
)

// sources are the open files that a sample is read from; nil where there is
// none. One goroutine at a time uses them.
type sources struct {
	fs       proc.FS
	golang   *golang
	stat     *proc.Reader[proc.Stat]
	sockets  *proc.Reader[proc.Sockets]
	sockets6 *proc.Reader[proc.Sockets]
	pressure *proc.Reader[proc.Pressure]
	group    *cgroup.Group
	host     host
	threads  []thread
	workers  busiest
	work     time.Duration // CPU time of our own samples
}

func openSources(cfg Self) *sources {
	fs := cfg.root()
	s := &sources{fs: fs, golang: newGolang()}
	// What does not open stays nil, and its figures will be unknown.
	s.stat, _ = fs.OpenStat()
	s.sockets, _ = fs.OpenSockets()
	s.sockets6, _ = fs.OpenSockets6()
	s.pressure, _ = fs.OpenPressure(proc.PressureCPU)
	s.group, _ = cgroup.Self(cfg.system())
	return s
}

// close closes the files.
func (s *sources) close() {
	closeReader(s.stat)
	closeReader(s.sockets)
	closeReader(s.sockets6)
	closeReader(s.pressure)
	s.closeThreads()
}

func closeReader[T any](r *proc.Reader[T]) {
	if r != nil {
		_ = r.Close() // it was only read from
	}
}

// take reads one sample and keeps it.
func (w *SelfWatch) take() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sample()
}

// sample is take for those who hold the lock.
func (w *SelfWatch) sample() {
	if w.sources == nil {
		return
	}
	s := sample{at: w.now()}
	work := measured(func() { w.sources.sample(&s) })
	s.count(monitorCPU, (w.sources.work + time.Duration(w.hiccup.cost.Load())).Seconds())
	w.sources.work += work
	s.hiccups = w.hiccup.drain()
	w.samples = append(thin(w.samples, samplesMax), s)
}

// sample fills in everything but our own cost.
func (s *sources) sample(into *sample) {
	if cpu, ok := processTime(); ok {
		into.count(processCPU, cpu.Seconds())
	}
	s.sampleThreads(into)
	s.golang.sample(into)
	into.gauge(goProcs, int64(runtime.GOMAXPROCS(0)))
	s.sampleHost(into)
	s.samplePressure(into)
	s.sampleQuota(into)
	s.sampleSockets(into)
	if n, err := s.fs.OpenFiles(0); err == nil {
		into.gauge(openFiles, n)
	}
}

func (s *sources) samplePressure(into *sample) {
	var p proc.Pressure
	if s.pressure != nil && s.pressure.Read(&p) == nil {
		into.count(pressure, float64(p.SomeUS)/1e6)
	}
}

// sampleQuota reads the throttling. Without a quota there are no periods, and
// nothing is throttled: that is known.
func (s *sources) sampleQuota(into *sample) {
	if s.group == nil {
		return
	}
	t, ok := s.group.Throttling()
	if !ok {
		if cores, known := s.group.CPUQuota(); !known || cores < unlimited {
			return
		}
	}
	into.count(periods, float64(t.Periods))
	into.count(throttled, float64(t.Throttled))
}

func (s *sources) sampleSockets(into *sample) {
	var four, six proc.Sockets
	if s.sockets == nil || s.sockets.Read(&four) != nil {
		return
	}
	if s.sockets6 != nil && s.sockets6.Read(&six) != nil {
		return
	}
	into.gauge(portsUsed, four.InUse+four.TimeWait+six.InUse6)
}

// host turns two readings of /proc/stat into growth.
type host struct {
	now, before   proc.Stat
	read          bool // before holds a reading
	at            time.Duration
	core, softIRQ float64 // seconds of the busiest core, summed over samples
}

func (s *sources) sampleHost(into *sample) {
	h := &s.host
	if s.stat == nil || s.stat.Read(&h.now) != nil {
		return
	}
	if h.read {
		core, soft := busiestCore(h.before.Cores, h.now.Cores)
		passed := (into.at - h.at).Seconds()
		h.core += core * passed
		h.softIRQ += soft * passed
	}
	all := h.now.All
	into.count(hostBusy, proc.TickTime(all.Busy()).Seconds())
	into.count(hostSteal, proc.TickTime(all.Steal).Seconds())
	into.count(hostTotal, proc.TickTime(all.Total()).Seconds())
	into.count(coreBusy, h.core)
	into.count(coreSoftIRQ, h.softIRQ)
	h.now, h.before = h.before, h.now // the slices change places and are used again
	h.read, h.at = true, into.at
}

// busiestCore is the largest share of its time that a core was busy, and the
// largest share that a core spent in soft interrupts, perhaps another. Cores
// that came or went in between are left out.
func busiestCore(before, now []proc.Core) (busy, softIRQ float64) {
	for _, c := range now {
		for len(before) > 0 && before[0].Number < c.Number {
			before = before[1:]
		}
		if len(before) == 0 || before[0].Number != c.Number {
			continue
		}
		d := c.Sub(before[0].CPU)
		if total := float64(d.Total()); total > 0 {
			busy = max(busy, float64(d.Busy())/total)
			softIRQ = max(softIRQ, float64(d.SoftIRQ)/total)
		}
	}
	return busy, softIRQ
}

// peakRSS is the largest resident size of the process so far, 0 if unknown.
func (s *sources) peakRSS() int64 {
	if status, err := s.fs.Status(0); err == nil {
		return status.PeakRSS
	}
	return usagePeak()
}

// fileLimit is the soft limit of open files, 0 if unknown.
func (s *sources) fileLimit() int64 {
	if l, err := s.fs.Limits(0); err == nil {
		return l.OpenFiles
	}
	return fileLimit()
}
