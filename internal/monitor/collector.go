package monitor

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"prony/internal/proc"
)

// collector takes the samples of one machine. One goroutine uses it.
type collector struct {
	src     source
	request Request
	sink    sink
	epoch   time.Time
	// moment is when a reading was taken, after the epoch: of files that come
	// from afar, not the time at which they are looked at.
	moment func() time.Duration
	ids    *ids
	tick   int

	host     *hostProbe
	links    *linkProbes
	tree     *tree
	sockets  *socketTable
	services []*serviceProbe
	polls    []*poll
	spent    time.Duration // CPU time of our own samples
	polling  atomic.Int64  // CPU time in ns of reading what endpoints answered
	// background runs something until the watch ends; nil before it begins.
	background func(func(context.Context))

	counted    map[int]int // connections by port
	countedAt  int         // the sample that asked for them last
	countedNow bool        // they are of this sample
}

// ids numbers the tracks.
type ids struct {
	mu   sync.Mutex
	last int
}

func (i *ids) next() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.last++
	return i.last
}

func newCollector(r Request, src source, to sink, epoch time.Time) *collector {
	c := &collector{src: src, request: r, sink: to, epoch: epoch, ids: &ids{}, countedAt: -1}
	c.moment = func() time.Duration { return time.Since(epoch) }
	c.host = newHostProbe(c.ids.next(), r.Host)
	c.links = newLinkProbes(c.ids, r)
	c.tree = newTree()
	c.sockets = newSocketTable(src)
	for _, t := range r.Services {
		c.services = append(c.services, newServiceProbe(c.ids, r.Host, t))
	}
	return c
}

// start takes the first sample and goes on in the background. The function it
// returns ends that and waits.
func (c *collector) start(ctx context.Context) (halt func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	c.background = func(f func(context.Context)) { done.Go(func() { f(ctx) }) }
	c.sample()
	c.polls = newPolls(c)
	for _, p := range c.polls {
		done.Go(func() { p.run(ctx, c.request.every()) })
	}
	done.Go(func() { c.run(ctx) })
	return func() {
		cancel()
		done.Wait()
	}
}

// run samples at whole multiples of the period after the epoch, until ctx ends,
// and then once more. A sample that took too long makes the next one late, but
// none are caught up with.
func (c *collector) run(ctx context.Context) {
	defer c.src.close()
	defer c.sockets.close()
	every := c.request.every()
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		now := time.Since(c.epoch)
		timer.Reset(now.Truncate(every) + every - now)
		select {
		case <-ctx.Done():
			// A very short sample would be all rounding.
			if time.Since(c.epoch)-c.host.meter.at > every/4 {
				c.sample()
			}
			return
		case <-timer.C:
			c.sample()
		}
	}
}

// sample takes one sample of everything and counts what it cost.
func (c *collector) sample() {
	c.host.cost = c.spent + time.Duration(c.polling.Load())
	c.spent += measured(c.take)
	c.tick++
}

func (c *collector) take() {
	if c.src.begin() != nil {
		return // an outage: the next sample is longer
	}
	var load proc.Load
	known := into(c.src, "/proc/loadavg", &load)
	c.host.sample(c, load, known)
	c.links.sample(c)
	if len(c.services) > 0 {
		c.tree.refresh(c, load.LastPID, known)
		c.sockets.refresh(c)
		for _, s := range c.services {
			s.sample(c)
		}
	}
	c.src.end()
	c.sink.flush()
}

// slow reports whether it is time for what need not be looked at each time.
func (c *collector) slow() bool { return c.tick%10 == 0 }
