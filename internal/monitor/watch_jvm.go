package monitor

import (
	"fmt"
	"maps"
	"strconv"
	"time"

	"prony/internal/monitor/jvm"
	"prony/internal/result"
)

// jvmProbe samples the virtual machine of a process, and that of its successor
// after a restart.
type jvmProbe struct {
	meter *meter
	pid   int // 0 while there is none
	file  string
	perf  jvm.Perf
	dumps *dumps // nil: none are wanted
	pools map[string]*meter
}

// sampleJVMs samples the machines there are and looks for new ones.
func (s *serviceProbe) sampleJVMs(c *collector, at time.Duration) {
	if s.target.JVM == "no" {
		return
	}
	for _, p := range s.processes {
		if p.seek(c) && !s.watches(p.pid) {
			s.adopt(c, p)
		}
	}
	for _, j := range s.jvms {
		if j.pid != 0 && s.processes[j.pid] == nil {
			j.pid = 0
		}
		j.sample(c, s, at)
	}
}

// seek reports whether to look for a machine in a process: it makes the file
// some time after its start, and is mostly, but not always, called java.
func (p *processProbe) seek(c *collector) bool {
	return p.age <= 10 || c.slow() && (p.name == "java" || p.age <= 60)
}

func (s *serviceProbe) watches(pid int) bool {
	for _, j := range s.jvms {
		if j.pid == pid {
			return true
		}
	}
	return false
}

// adopt gives the machine of a process a track: that of a machine which has
// ended, if there is one.
func (s *serviceProbe) adopt(c *collector, p *processProbe) {
	file := findPerf(c.src, p)
	if file == "" {
		return
	}
	for _, j := range s.jvms {
		if j.pid == 0 {
			j.take(c, p.pid, file)
			return
		}
	}
	name := s.target.Name
	if n := len(s.jvms); n > 0 {
		name = fmt.Sprintf("%s #%d", name, n+1)
	}
	j := &jvmProbe{meter: newMeter(s.ids.next(), s.head(result.OfJVM, name)), pools: map[string]*meter{}}
	j.dumps = newDumps(c, s.target.ThreadDumps, j.meter)
	j.take(c, p.pid, file)
	s.jvms = append(s.jvms, j)
}

// findPerf finds the performance data of a process, "" if it has none.
func findPerf(src source, p *processProbe) string {
	var users []string
	for _, passwd := range []string{p.path + "/root/etc/passwd", "/etc/passwd"} {
		if b, err := src.read(passwd); err == nil {
			if user := jvm.UserName(b, p.uid); user != "" {
				users = append(users, user)
			}
		}
	}
	var perf jvm.Perf
	for _, user := range users {
		for _, file := range jvm.Files(p.pid, int(p.inner), user) {
			if local, ok := src.(*localFiles); ok && !local.regular(file) {
				continue
			}
			if into(src, file, &perf) {
				return file
			}
		}
	}
	return ""
}

// take turns to a new machine, whose counters begin anew.
func (j *jvmProbe) take(c *collector, pid int, file string) {
	j.pid, j.file, j.perf = pid, file, jvm.Perf{}
	clear(j.meter.last)
	if into(c.src, file, &j.perf) {
		maps.Copy(j.meter.head.Facts, j.perf.Facts())
	}
	j.meter.fact("pid", strconv.Itoa(pid))
}

func (j *jvmProbe) sample(c *collector, s *serviceProbe, at time.Duration) {
	m := j.meter
	m.begin(at)
	if j.pid != 0 && into(c.src, j.file, &j.perf) {
		emitFigures(m, j.perf.Figures())
	}
	var pools []jvm.Pool
	if j.dumps != nil {
		pools = j.dumps.emit(m, j.pid, at)
	}
	m.end(at, c.sink)
	j.samplePools(c, s, pools, at)
}

func emitFigures(m *meter, f jvm.Figures) {
	for _, g := range []struct {
		metric result.Metric
		n      int64
	}{
		{result.HeapUsed, f.HeapUsed}, {result.HeapCapacity, f.HeapCapacity}, {result.HeapMax, f.HeapMax},
		{result.OldUsed, f.OldUsed}, {result.MetaspaceUsed, f.MetaspaceUsed}, {result.LiveThreads, f.Threads},
	} {
		if g.n >= 0 {
			m.gauge(g.metric, float64(g.n))
		}
	}
	m.count(result.GCCount, f.Collections, 1)
	m.count(result.GCTime, int64(f.CollectionTime), 1e-9)
	m.count(Safepoints, f.Safepoints, 1)
	m.count(result.SafepointTime, int64(f.SafepointTime), 1e-9)
	m.count(result.Classes, f.Classes, 1)
	m.count(result.Compilations, f.Compilations, 1)
	m.count(result.CompileTime, int64(f.CompileTime), 1e-9)
}
