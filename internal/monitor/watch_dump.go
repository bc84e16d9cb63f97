package monitor

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"prony/internal/monitor/jvm"
	"prony/internal/result"
)

// dumps reads the states of a virtual machine's threads in the background, and
// keeps the last. The samples of the machine show them until the next.
type dumps struct {
	c     *collector
	every time.Duration

	mu    sync.Mutex // guards all below
	pid   int        // whose threads; 0 for nobody's
	of    int        // whose threads the last were; 0 for none
	last  jvm.Dump
	at    time.Duration // when they were read, after the epoch
	took  time.Duration
	apart time.Duration // until the next
	err   error         // why the last try gave none
}

// dumpsUnknown is under what it stands why there are no states.
const dumpsUnknown = "thread_states"

// newDumps begins to read; nil if that is not wanted or not possible.
func newDumps(c *collector, every time.Duration, m *meter) *dumps {
	switch local, ok := c.src.(*localFiles); {
	case every <= 0 || c.background == nil:
		return nil
	case !ok || local.root != "":
		m.head.Unknown[dumpsUnknown] = "read only where this program itself runs on the host"
		return nil
	}
	m.fact("thread_dumps_every", every.String())
	d := &dumps{c: c, every: every}
	c.background(d.run)
	return d
}

// dumpShare is how much of the time dumps may take: while one is made, nothing
// else runs in the machine, which takes less than a core for it.
const dumpShare = 0.01

// spacing is how far apart dumps are that take so long.
func spacing(every, took time.Duration) time.Duration {
	return max(every, time.Duration(float64(took)/dumpShare))
}

// dumpPatience bounds the waiting for a dump.
const dumpPatience = 10 * time.Second

// run reads until ctx ends.
func (d *dumps) run(ctx context.Context) {
	for {
		wait := d.once(ctx)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// once reads once and returns how long to wait for the next.
func (d *dumps) once(ctx context.Context) time.Duration {
	d.mu.Lock()
	pid := d.pid
	d.mu.Unlock()
	if pid == 0 {
		return min(d.every, time.Second)
	}
	limited, cancel := context.WithTimeout(ctx, dumpPatience)
	defer cancel()
	started := time.Now()
	var dump jvm.Dump
	var err error
	d.c.polling.Add(int64(measured(func() { dump, err = jvm.Threads(limited, pid) })))
	took := time.Since(started)
	if ctx.Err() != nil {
		return d.every
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
	d.apart = spacing(d.every, took)
	if err == nil {
		if d.of != pid { // the first has the machine open its socket
			d.apart = d.every
		}
		d.last, d.of, d.at, d.took = dump, pid, time.Since(d.c.epoch), took
	}
	return d.apart - took
}

// emit notes the last states in a sample of the machine, and returns its pools.
// States that should have been followed by others are not known.
func (d *dumps) emit(m *meter, pid int, at time.Duration) []jvm.Pool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pid = pid
	delete(m.head.Unknown, dumpsUnknown)
	if d.err != nil {
		m.head.Unknown[dumpsUnknown] = d.err.Error()
	}
	if pid == 0 || d.of != pid || at-d.at > d.apart*3/2 {
		return nil
	}
	for state, metric := range map[string]result.Metric{
		"RUNNABLE": result.Runnable, "BLOCKED": result.Blocked, "WAITING": result.Waiting, "TIMED_WAITING": result.TimedWaiting,
	} {
		m.gauge(metric, float64(d.last.States[state]))
	}
	m.gauge(result.DumpTime, float64(d.took.Microseconds()))
	return d.last.Pools
}

// poolsMax bounds the pools of a machine that are told apart, the largest.
const poolsMax = 16

// samplePools notes what the threads of each pool did.
func (j *jvmProbe) samplePools(c *collector, s *serviceProbe, pools []jvm.Pool, at time.Duration) {
	for _, p := range pools {
		if j.pools[p.Name] == nil && len(j.pools) < poolsMax {
			j.pools[p.Name] = newMeter(s.ids.next(), s.head(result.OfPool, p.Name+"*"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(j.pools)) {
		m := j.pools[name]
		m.begin(at)
		if i := slices.IndexFunc(pools, func(p jvm.Pool) bool { return p.Name == name }); i >= 0 {
			emitPool(m, pools[i])
		}
		m.end(at, c.sink)
	}
}

func emitPool(m *meter, p jvm.Pool) {
	m.gauge(result.PoolThreads, float64(p.Threads))
	m.gauge(result.PoolBusy, float64(p.Busy))
	m.gauge(result.PoolRunning, float64(p.Running))
	m.gauge(result.PoolInIO, float64(p.InIO))
	m.gauge(result.PoolBlocked, float64(p.Blocked))
}
