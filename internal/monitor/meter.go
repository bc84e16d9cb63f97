package monitor

import (
	"math"
	"time"

	"prony/internal/result"
)

// meter makes samples of one thing: it knows what the counters were the last
// time.
type meter struct {
	id   int
	head Head
	last map[result.Metric]int64

	at      time.Duration // of the last sample
	began   bool          // there was one
	seconds float64       // since the last sample
	points  []point
}

func newMeter(id int, h Head) *meter {
	if h.Facts == nil {
		h.Facts = map[string]string{}
	}
	if h.Unknown == nil {
		h.Unknown = map[string]string{}
	}
	return &meter{id: id, head: h, last: map[result.Metric]int64{}}
}

// begin starts a sample that ends at a time after the epoch.
func (m *meter) begin(at time.Duration) {
	m.points = m.points[:0]
	m.seconds = 0
	if m.began {
		m.seconds = (at - m.at).Seconds()
	}
}

// end hands the sample over. The first one has no length, and is only what the
// next is measured from.
func (m *meter) end(at time.Duration, to sink) {
	if m.began && at > m.at && len(m.points) > 0 {
		to.take(m.id, &m.head, at, at-m.at, m.points)
	}
	m.at, m.began = at, true
}

// fact notes something that does not change.
func (m *meter) fact(name, value string) {
	if value != "" {
		m.head.Facts[name] = value
	}
}

// gauge notes a value.
func (m *meter) gauge(metric result.Metric, x float64) {
	if !math.IsNaN(x) {
		m.points = append(m.points, point{metric, x})
	}
}

// count notes a counter as a rate: its growth times the unit, per second. A
// negative counter is absent. One that was set back gives no value this time:
// what it had counted before is not known.
func (m *meter) count(metric result.Metric, now int64, unit float64) {
	if d, ok := m.grown(metric, now); ok {
		m.rate(metric, float64(d)*unit)
	}
}

// rate notes what was counted in this sample, as a rate.
func (m *meter) rate(metric result.Metric, n float64) {
	if m.seconds > 0 {
		m.gauge(metric, n/m.seconds)
	}
}

// grown is by how much a counter grew since the last sample.
func (m *meter) grown(metric result.Metric, now int64) (int64, bool) {
	before, known := m.last[metric]
	if now < 0 {
		delete(m.last, metric)
		return 0, false
	}
	m.last[metric] = now
	if !known {
		return 0, false
	}
	return growth(before, now)
}

// ratio notes the growth of one counter by that of another; nothing grew is 0.
func (m *meter) ratio(metric result.Metric, part, all int64) {
	p, ok1 := m.grown(metric+"/part", part)
	a, ok2 := m.grown(metric+"/all", all)
	switch {
	case !ok1 || !ok2:
	case a == 0:
		m.gauge(metric, 0)
	default:
		m.gauge(metric, float64(p)/float64(a))
	}
}

// growth is the difference of two readings of a counter. Many of the kernel's
// have 32 bits and wrap; what goes back otherwise was set back.
func growth(before, now int64) (int64, bool) {
	const (
		wrap    = 1 << 32
		quarter = wrap / 4
	)
	switch {
	case now >= before:
		return now - before, true
	case before < wrap && before >= wrap-quarter && now < quarter:
		return now + wrap - before, true
	}
	return 0, false
}
