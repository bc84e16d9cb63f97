package monitor

import (
	"context"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"
)

// The probe: a sleep, again and again. The first are short, to learn what is
// usual and what a wake-up costs.
const (
	hiccupEvery       = 20 * time.Millisecond
	hiccupShort       = time.Millisecond
	hiccupCalibration = 16
	hiccupCostMax     = 200 * time.Microsecond // more is somebody else's work
)

// hiccups records by how much a short sleep comes late: the idea of jHiccup
// (Gil Tene). A program that is late without any work of its own was held up
// by the host, or by its own runtime.
//
// Every sleep comes late by the granularity of timers. The smallest lateness
// seen is taken for that, so only the excess counts.
//
// Most of the cost of a probe is in the kernel and in the runtime's scheduler,
// where no thread's clock shows it. So it is measured once, as CPU time of the
// process while it did little else, and charged for every probe: an estimate. A
// process that is awake anyway pays less, an idle one up to twice as much.
type hiccups struct {
	bounds []float64    // of the buckets, in microseconds
	cost   atomic.Int64 // CPU time spent so far, in nanoseconds

	mu     sync.Mutex
	counts tally
}

func newHiccups() *hiccups { return &hiccups{bounds: hiccupBounds()} }

// hiccupBounds are 0, and then from 1 us to a minute in steps of 2^(1/8), so
// that a quantile is off by 9 % at most.
func hiccupBounds() []float64 {
	bounds := []float64{0}
	for b := 0; bounds[len(bounds)-1] < 60e6; b++ {
		bounds = append(bounds, math.Exp2(float64(b)/8))
	}
	return append(bounds, math.Inf(1))
}

// run probes until ctx ends.
func (h *hiccups) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	usual, each, ok := calibrate(ctx, timer)
	for ok {
		var late time.Duration
		if late, ok = lateness(ctx, timer, hiccupEvery); ok {
			usual = min(usual, late)
			h.record(late - usual)
			h.cost.Add(int64(each))
		}
	}
}

// calibrate finds the least lateness of a sleep, and the CPU time that the
// process spent on one. The median is taken for the latter, because the process
// may do something else meanwhile.
func calibrate(ctx context.Context, timer *time.Timer) (usual, each time.Duration, ok bool) {
	usual = math.MaxInt64
	var costs []time.Duration
	for range hiccupCalibration {
		before, _ := processTime()
		late, ok := lateness(ctx, timer, hiccupShort)
		if !ok {
			return 0, 0, false
		}
		after, _ := processTime()
		usual, costs = min(usual, late), append(costs, after-before)
	}
	slices.Sort(costs)
	return usual, min(costs[len(costs)/2], hiccupCostMax), true
}

// lateness sleeps and says by how much it was late; ok is false when ctx ended.
func lateness(ctx context.Context, timer *time.Timer, sleep time.Duration) (late time.Duration, ok bool) {
	start := time.Now()
	timer.Reset(sleep)
	select {
	case <-ctx.Done():
		return 0, false
	case <-timer.C:
		return time.Since(start) - sleep, true
	}
}

// record counts an excess.
func (h *hiccups) record(excess time.Duration) {
	us := float64(excess) / float64(time.Microsecond)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.counts = h.counts.add(sort.Search(len(h.bounds), func(i int) bool { return h.bounds[i] > us }) - 1)
}

// drain hands over what was counted since the last time.
func (h *hiccups) drain() tally {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.counts
	h.counts = nil
	return t
}
