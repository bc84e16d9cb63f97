package monitor

import (
	"runtime/metrics"
	"slices"
)

// The runtime's own figures (package runtime/metrics).
const (
	metricTotal   = "/cpu/classes/total:cpu-seconds"
	metricIdle    = "/cpu/classes/idle:cpu-seconds"
	metricGC      = "/cpu/classes/gc/total:cpu-seconds"
	metricIdleGC  = "/cpu/classes/gc/mark/idle:cpu-seconds"
	metricPauses  = "/sched/pauses/total/gc:seconds"
	metricLatency = "/sched/latencies:seconds"
)

// golang reads the runtime's figures.
type golang struct {
	read              []metrics.Sample
	pauses, latencies growing
}

// growing is a histogram of the runtime as it was at the last sample.
type growing struct {
	counts []uint64
	bounds []float64 // in seconds
}

func newGolang() *golang {
	g := &golang{}
	for _, name := range []string{metricTotal, metricIdle, metricGC, metricIdleGC, metricPauses, metricLatency} {
		g.read = append(g.read, metrics.Sample{Name: name})
	}
	metrics.Read(g.read)
	g.pauses.delta(g.read[4].Value) // what was before the first sample is not ours
	g.latencies.delta(g.read[5].Value)
	return g
}

// sample fills in the runtime's part. The collector's share is of the time in
// which Go code ran: idle time, and the marking that only fills idle time, are
// left out of both, since neither takes anything from anybody. The runtime
// estimates these times by the wall clock, so they compare with each other
// only.
func (g *golang) sample(s *sample) {
	metrics.Read(g.read)
	total, ok1 := seconds(g.read[0].Value)
	idle, ok2 := seconds(g.read[1].Value)
	gc, ok3 := seconds(g.read[2].Value)
	filler, ok4 := seconds(g.read[3].Value)
	if ok1 && ok2 && ok3 && ok4 {
		s.count(gcCPU, gc-filler)
		s.count(goCPU, total-idle-filler)
	}
	s.pauses = g.pauses.delta(g.read[4].Value)
	s.latencies = g.latencies.delta(g.read[5].Value)
}

func seconds(v metrics.Value) (float64, bool) {
	if v.Kind() != metrics.KindFloat64 {
		return 0, false
	}
	return v.Float64(), true
}

// delta is what was added since the last time.
func (h *growing) delta(v metrics.Value) tally {
	if v.Kind() != metrics.KindFloat64Histogram {
		return nil // a runtime without it: bounds stay empty
	}
	now := v.Float64Histogram()
	t := tallyDelta(h.counts, now.Counts)
	h.counts = append(h.counts[:0], now.Counts...)
	if h.bounds == nil {
		h.bounds = slices.Clone(now.Buckets)
	}
	return t
}
