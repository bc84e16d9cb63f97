// Package lab is the conductor: it knows the order of things and nothing else.
//
// For a load on a target that runs already that order is: look at the
// environment, start to watch the generator, drive, stop watching, and put the
// parts of the result together. The lab does not know which engine drives: the
// Loader is given to it, so that engine and monitor never meet.
package lab

import (
	"context"
	"fmt"
	"time"

	"prony/internal/monitor"
	"prony/internal/plan"
	"prony/internal/result"
)

// Loader drives one load. It may return a result together with an error: what
// was measured until then.
type Loader interface {
	Load(ctx context.Context, l plan.Load, tell Tell) (*result.Load, error)
}

// Tell is what a Loader reports while it runs; every function may be nil.
type Tell struct {
	// Progress hears of each finished interval.
	Progress func(result.Progress)
	// Threads hears once which threads carry the load.
	Threads func(ids []int)
	// Window hears when the measured window begins and, unless zero, will end.
	Window func(start, end time.Time)
	// Cost hears what a program of its own that made the load has cost.
	Cost func(cpu time.Duration, maxRSS int64)
	// Warn hears of doubts that the result has to carry.
	Warn func(text string)
	// Start, when not nil, is asked when the connections stand and says when to
	// begin: several loads begin together.
	Start func() time.Time
}

// Options of a run; the zero value is useful.
type Options struct {
	Kind    string // "load", "wrk", "ab"
	Version string
	Command []string
	// Watch is the watching of everything but the generator; nil is none. Run
	// does not stop it.
	Watch Watcher
	// Progress hears of each finished interval and of how busy the generator
	// was, as a share of the cores it may use.
	Progress func(result.Progress, float64)
	// Window hears, shortly before, when the measured window begins.
	Window func(start time.Time)

	warm *warmed // what came before the load; nil is nothing
}

// Watcher watches hosts and services until it is stopped. Stop may be called
// again.
type Watcher interface {
	Stop()
	// Into puts what was seen into a run, around its window; after Stop.
	Into(run *result.Run)
}

// nobody watches nothing.
type nobody struct{}

func (nobody) Stop()            {}
func (nobody) Into(*result.Run) {}

// Run carries out a plan and returns what happened. With an error of the
// loader it returns both, as far as there is a result.
func Run(ctx context.Context, p plan.Plan, loader Loader, o Options) (*result.Run, error) {
	run := &result.Run{Schema: result.Schema, Kind: o.Kind, Version: o.Version, Command: redactWords(o.Command),
		Started: time.Now(), Services: []result.Service{}, Plan: redacted(p), Environment: monitor.Environment()}
	watch := monitor.StartSelf(ctx, monitor.Self{})
	tell := Tell{Threads: watch.Threads, Window: func(start, end time.Time) {
		if o.Window != nil {
			o.Window(start)
		}
		if !end.IsZero() {
			watch.Window(start, end)
		}
	}}
	var other *result.Generator
	tell.Cost = func(cpu time.Duration, maxRSS int64) {
		other = &result.Generator{CPUUS: float64(cpu.Microseconds()), MaxRSSBytes: maxRSS}
	}
	tell.Warn = func(text string) { run.Warnings = append(run.Warnings, text) }
	if o.Progress != nil {
		tell.Progress = func(pr result.Progress) { o.Progress(pr, watch.Busy()) }
	}
	load, also, err := drive(ctx, p, loader, tell)
	watch.Stop()
	if load == nil {
		return run, err
	}
	run.Load, run.Also = *load, also
	o.warm.into(run)
	start := time.UnixMicro(load.StartedUS)
	run.Generator = watch.Result(start, time.Duration(load.DurationUS*1000))
	if other != nil {
		run.Generator = instead(run.Generator, *other, load.DurationUS, len(p.Load.Cores))
	}
	if o.Watch != nil {
		o.Watch.Stop()
		o.Watch.Into(run)
	}
	if err != nil {
		err = fmt.Errorf("drive load: %w", err)
	}
	return run, err
}

// instead is the generator where another program made the load: what it cost,
// and what was seen of the machine. Of itself nothing more is known. It may have
// been kept to some cores; its start, outside of the window, is in its CPU time.
func instead(seen, other result.Generator, windowUS float64, cores int) result.Generator {
	g := seen
	g.CPUUS, g.MaxRSSBytes = other.CPUUS, other.MaxRSSBytes
	if cores > 0 {
		g.CPUs = min(g.CPUs, float64(cores))
	}
	if windowUS > 0 && g.CPUs > 0 {
		g.MeanBusy = min(other.CPUUS/windowUS/g.CPUs, 1)
	}
	g.PeakBusy, g.PeakThreadBusy, g.BusySeries, g.ThreadSeries = 0, 0, nil, nil
	g.GCCPUShare, g.GCPauseP99US, g.SchedP99US = 0, 0, 0
	g.Unknown = append(g.Unknown, "busy_series", "peak_busy", "thread_series", "peak_thread_busy", "gc_cpu_share", "gc_pause_p99_us",
		"sched_latency_p99_us", "open_files_peak")
	return g
}
