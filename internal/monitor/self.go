package monitor

import (
	"context"
	"sync"
	"time"

	"prony/internal/proc"
)

// Self says how to watch the process it runs in. The zero Self is the default.
type Self struct {
	// Root is where proc is mounted; default /proc. The folder above it stands
	// for the root of the file system, where sys is looked for. Tests give a
	// tree of files.
	Root string
	// Period is the time between samples, and the step of the series; default
	// 1 s.
	Period time.Duration
}

// root is the configured root, as proc and cgroup want it.
func (c Self) root() proc.FS { return proc.FS{Root: c.Root} }

func (c Self) period() time.Duration {
	if c.Period <= 0 {
		return time.Second
	}
	return c.Period
}

// SelfWatch is a watch that was started. Its methods are safe for concurrent
// use.
type SelfWatch struct {
	epoch  time.Time // times in samples count from here
	period time.Duration
	facts  facts
	bounds bounds
	cancel context.CancelFunc
	done   sync.WaitGroup
	poke   chan struct{} // the window changed: plan the next sample anew
	hiccup *hiccups

	mu      sync.Mutex
	sources *sources // nil after the end
	samples []sample
	window  span
	last    ending
}

// ending is what is read when the watch ends.
type ending struct{ peakRSS, fileLimit int64 }

// StartSelf starts to watch, takes a first sample, and returns. The watch ends
// with ctx, or with [SelfWatch.Stop], which must be called in any case to wait
// for it. Files that are missing or forbidden are no error: see
// [SelfWatch.Unknown].
func StartSelf(ctx context.Context, cfg Self) *SelfWatch {
	ctx, cancel := context.WithCancel(ctx)
	w := &SelfWatch{
		epoch:   time.Now(),
		period:  cfg.period(),
		facts:   gatherFacts(cfg),
		cancel:  cancel,
		poke:    make(chan struct{}, 1),
		hiccup:  newHiccups(),
		sources: openSources(cfg),
	}
	w.bounds = bounds{w.sources.golang.pauses.bounds, w.sources.golang.latencies.bounds, w.hiccup.bounds}
	w.take()
	w.done.Go(func() { w.run(ctx) })
	w.done.Go(func() { w.hiccup.run(ctx) })
	return w
}

// Threads names the worker threads, by their kernel ids, whose CPU is watched
// from now on. It replaces those named before; a thread that cannot be read is
// left out. It takes a sample, so that the figure begins here.
func (w *SelfWatch) Threads(tids []int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sources != nil {
		w.sources.watchThreads(tids, w.now())
		w.sample()
	}
}

// Window announces the measurement window, so that samples are taken at both
// of its edges and in whole periods after its start. It should be called
// before the window begins; without it, edges are interpolated between
// samples. A second call replaces the first.
func (w *SelfWatch) Window(start, end time.Time) {
	w.mu.Lock()
	w.window = span{start.Sub(w.epoch), end.Sub(w.epoch)}
	w.mu.Unlock()
	select {
	case w.poke <- struct{}{}:
	default: // one is waiting already
	}
}

// Busy is the CPU use of this process between the last two samples, as a share
// of the cores it may use; negative while it is not known.
func (w *SelfWatch) Busy() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.samples)
	if n < 2 || !w.facts.cpusOK || w.facts.cpus <= 0 {
		return -1
	}
	a, b := &w.samples[n-2], &w.samples[n-1]
	if !a.hasCounter(processCPU) || !b.hasCounter(processCPU) || b.at <= a.at {
		return -1
	}
	return (b.counters[processCPU] - a.counters[processCPU]) / (b.at - a.at).Seconds() / w.facts.cpus
}

// Stop takes a last sample, ends the watch and waits for it. Further calls do
// nothing.
func (w *SelfWatch) Stop() {
	w.cancel()
	w.done.Wait()
}

// now is the time on the watch's scale.
func (w *SelfWatch) now() time.Duration { return time.Since(w.epoch) }

// run takes samples until ctx ends.
func (w *SelfWatch) run(ctx context.Context) {
	timer := time.NewTimer(w.wait())
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			w.end()
			return
		case <-timer.C:
			w.take()
		case <-w.poke:
		}
		timer.Reset(w.wait())
	}
}

// wait is how long to sleep until the next sample.
func (w *SelfWatch) wait() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	return nextSample(now, w.period, w.window) - now
}

// end takes the last sample and closes the sources.
func (w *SelfWatch) end() {
	w.take()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = ending{w.sources.peakRSS(), w.sources.fileLimit()}
	w.sources.close()
	w.sources = nil
}

// nextSample is when to sample next: in steps of a period that meet the start
// of the window, and at its end.
func nextSample(now, period time.Duration, window span) time.Duration {
	since := (now - window.from) % period
	if since < 0 {
		since += period // before the window
	}
	next := now - since + period
	if now < window.to && window.to < next {
		return window.to
	}
	return next
}
