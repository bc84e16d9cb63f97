package monitor

import "time"

// counter is a number that only grows. Figures are differences of it, and
// between two samples it is taken to grow evenly.
type counter int

// The counters of a sample. Times are in seconds.
const (
	processCPU  counter = iota // of all our threads
	monitorCPU                 // of this package's own work, a part of the above
	threadBusy                 // of the worker thread that was busiest in each period, summed
	coreBusy                   // of the host's core that was busiest in each period, summed
	coreSoftIRQ                // the same for time in soft interrupts
	hostBusy                   // of all cores
	hostSteal                  // that the hypervisor gave to others
	hostTotal                  // all the time of all cores
	periods                    // of the CPU quota, a number
	throttled                  // of them, those in which we were stopped, a number
	pressure                   // in which some task of the host waited for a core
	gcCPU                      // of the garbage collector, as the runtime estimates it
	goCPU                      // of all Go code, collector included, on the same scale
	counters                   // how many there are
)

// gauge is a number that goes up and down; the highest counts.
type gauge int

// The gauges of a sample.
const (
	openFiles gauge = iota
	portsUsed
	goProcs // GOMAXPROCS
	gauges  // how many there are
)

// sample is what was read at one moment. Its memory is bounded: about 250
// bytes and a few dozen cells.
type sample struct {
	at       time.Duration // since the epoch of the watch
	counters [counters]float64
	gauges   [gauges]int64
	// What could not be read has no bit.
	haveCounters, haveGauges uint32
	// Events since the sample before.
	pauses, latencies, hiccups tally
}

func (s *sample) count(c counter, value float64) {
	s.counters[c] = value
	s.haveCounters |= 1 << c
}

func (s *sample) gauge(g gauge, value int64) {
	s.gauges[g] = value
	s.haveGauges |= 1 << g
}

func (s *sample) hasCounter(c counter) bool { return s.haveCounters&(1<<c) != 0 }
func (s *sample) hasGauge(g gauge) bool     { return s.haveGauges&(1<<g) != 0 }

// absorb takes over what an earlier sample knows besides its counters, so that
// it can be dropped.
func (s *sample) absorb(earlier *sample) {
	for g := range gauges {
		if earlier.hasGauge(g) {
			s.gauge(g, max(s.gauges[g], earlier.gauges[g]))
		}
	}
	s.pauses = s.pauses.plus(earlier.pauses)
	s.latencies = s.latencies.plus(earlier.latencies)
	s.hiccups = s.hiccups.plus(earlier.hiccups)
}

// samplesMax bounds what a watch keeps: 18 hours of seconds, about 30 MB.
const samplesMax = 1 << 16

// thin halves the samples when there are too many of them: each second one
// absorbs the one before it, and the first and the last stay. Counters lose
// nothing but resolution.
func thin(samples []sample, most int) []sample {
	if len(samples) < most {
		return samples
	}
	kept := samples[:1]
	for i := 2; i < len(samples); i += 2 {
		samples[i].absorb(&samples[i-1])
		kept = append(kept, samples[i])
	}
	if len(samples)%2 == 0 {
		kept = append(kept, samples[len(samples)-1])
	}
	clear(samples[len(kept):])
	return kept
}

// span is a time from one moment to another.
type span struct{ from, to time.Duration }

func (s span) length() time.Duration { return s.to - s.from }

// overlap is how long two spans have in common.
func (s span) overlap(o span) time.Duration {
	return max(0, min(s.to, o.to)-max(s.from, o.from))
}

// curve is one counter over time, from the samples that have it.
type curve struct {
	at    []time.Duration // rising
	value []float64
}

// curveOf collects a counter.
func curveOf(samples []sample, c counter) curve {
	var v curve
	for i := range samples {
		if s := &samples[i]; s.hasCounter(c) {
			v.at = append(v.at, s.at)
			v.value = append(v.value, s.counters[c])
		}
	}
	return v
}

// covered is the part of a span that lies between the first and last point.
func (v curve) covered(s span) span {
	if len(v.at) < 2 {
		return span{}
	}
	from, to := max(s.from, v.at[0]), min(s.to, v.at[len(v.at)-1])
	return span{from, max(from, to)}
}

// coveredMin is the share of the window that samples must cover for a figure
// to stand for the window.
const coveredMin = 0.9

// knows reports whether the curve can speak for a span.
func (v curve) knows(s span) bool {
	return s.length() > 0 && float64(v.covered(s).length()) >= coveredMin*float64(s.length())
}

// grown is by how much the counter grew in a span. The part of the span that is
// not covered is taken to be like the rest.
func (v curve) grown(s span) float64 {
	c := v.covered(s)
	if c.length() <= 0 {
		return 0
	}
	return (v.read(c.to) - v.read(c.from)) * float64(s.length()) / float64(c.length())
}

// rate is the growth in a span by its length in seconds: for a time, a share.
func (v curve) rate(s span) float64 {
	if s.length() <= 0 {
		return 0
	}
	return v.grown(s) / s.length().Seconds()
}

// read interpolates the counter at a moment between the first and last point.
func (v curve) read(t time.Duration) float64 {
	low, high := 0, len(v.at)-1
	for high-low > 1 {
		if middle := (low + high) / 2; v.at[middle] <= t {
			low = middle
		} else {
			high = middle
		}
	}
	width := v.at[high] - v.at[low]
	if width <= 0 {
		return v.value[high]
	}
	share := float64(t-v.at[low]) / float64(width)
	return v.value[low] + share*(v.value[high]-v.value[low])
}
