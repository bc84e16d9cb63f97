package engine

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"prony/internal/evloop"
	"prony/internal/hdr"
	"prony/internal/httpwire"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/scenario"
	"prony/internal/schedule"
)

// worker owns a share of the load: connections, timetable, histograms, loop.
// Only its own thread touches it while it runs.
type worker struct {
	r      *run
	id, of int
	tid    int

	loop   evloop.Loop
	gather evloop.Gatherer
	parser *httpwire.Parser
	random schedule.SplitMix64
	script scenario.Script
	wants  scenario.Wants
	dial   *evloop.Address // the script's choice for this worker
	plain  []byte          // decrypted bytes, for TLS

	conns    []conn
	stamps   []stamp // depth per connection
	captures []*capture
	depth    int
	pools    []pool
	sources  []*evloop.Address
	timers   timers

	toOpen     ring[int32]
	opening    int // connects and handshakes under way
	openBudget float64
	openAt     int64 // when openBudget was brought up to date
	unresolved int   // first connects without an outcome
	preopened  int   // connections that stood when the worker was ready

	table  *schedule.Timetable
	index  int64 // of the table's next arrival in the global plan
	queued int64 // requests waiting for a connection
	ticket int64 // claimed of an exact count

	mostQueued int64 // more waiting requests are an overload

	started   bool
	stopping  bool // no new requests
	exhausted bool
	drainEnd  int64
	boundary  int64 // of the current interval
	nextTurn  int64
	scanEvery int64
	slack     int64 // spin this long before a planned send

	inFlight int64 // planned and unfinished
	lastEnd  int64 // when a request last ended, well or badly
	area     float64
	edges    int64

	tally *tally
	spare chan *tally

	story story
}

// story is what a worker remembers beyond intervals.
type story struct {
	conns        result.Connections
	open         int
	asked        int64
	cutOff       int64
	cutOffOldest int64
	unsent       int64
	warmup       int64
	warmupDone   int64
	backlogPeak  int64
	statuses     [1000]int64
	kinds        [result.FailureKinds]int64
	details      []result.Failure
	samples      []result.Sample
	sampled      [10]bool
	lastDone     int64
	connectTime  *hdr.Histogram
	tlsTime      *hdr.Histogram
	tls          tlsStory
	perThread    *hdr.Histogram
	rateAt       int64
	rateCount    int64
	dispatched   []int64 // first dispatch times of the window, for the KS check
	records      []result.Record
	inARow       int64 // failures without a success between them
	spun         bool
	gathered     time.Duration // the longest gathering wait that was in force
}

const (
	ksSends     = 1000
	turnPeriod  = int64(100 * time.Millisecond)
	secondNS    = int64(time.Second)
	maxDetails  = 64
	maxOpening  = 256
	gatherMost  = 50 * time.Microsecond
	gatherConns = 16
	gatherLeast = 2 // answers
	spinConns   = 4
)

func newWorker(r *run, id, of int) (*worker, error) {
	l := &r.load
	w := &worker{r: r, id: id, of: of, depth: max(l.Pipeline, 1), index: int64(id),
		random: schedule.SplitMix64(l.Seed + uint64(id)*0x9e3779b97f4a7c15), drainEnd: math.MaxInt64,
		boundary: math.MaxInt64, tally: newTally(), spare: make(chan *tally, 1)}
	w.spare <- newTally()
	w.parser = httpwire.NewParser(httpwire.Limits{HeaderBytes: l.MaxHeader, BodyBytes: l.MaxBody})
	h := func() *hdr.Histogram { return hdr.MustNew(hdr.Config{}) }
	w.story.connectTime, w.story.tlsTime = h(), h()
	w.story.perThread = hdr.MustNew(hdr.Config{Lowest: 1, Highest: 1e9, Digits: 3})
	w.scanEvery = scanPeriod(l.Timeouts)
	if l.Model == plan.Open {
		w.table = l.Arrivals.Shard(id, of)
	}
	if l.Record > 0 {
		w.story.records = make([]result.Record, 0, min(share(l.Record, id, of), 1<<16))
	}
	var err error
	if w.sources, err = sources(l); err != nil {
		return nil, err
	}
	if err := w.setScript(); err != nil {
		return nil, err
	}
	w.layOut()
	r.ready.Add(1)
	return w, nil
}

// share is part k of n of a total, remainders spread over the first parts.
func share(total int64, k, n int) int64 {
	part := total / int64(n)
	if int64(k) < total%int64(n) {
		part++
	}
	return part
}

// scanPeriod is how often timeouts are looked for: a twentieth of the shortest.
func scanPeriod(t plan.Timeouts) int64 {
	shortest := min(t.Connect, t.TLS, t.Request)
	return int64(min(max(shortest/20, time.Millisecond), 100*time.Millisecond))
}

func (w *worker) setScript() error {
	if w.r.opts.Script == nil {
		return nil
	}
	w.script = w.r.opts.Script(w.id)
	w.wants = w.script.Wants()
	if w.wants.Batch > 1 {
		w.depth = w.wants.Batch
	}
	if w.wants.Response {
		w.captures = make([]*capture, 0)
	}
	if w.wants.Dial != "" {
		var err error
		if w.dial, err = evloop.ParseAddress(w.wants.Dial); err != nil {
			return fmt.Errorf("script's address of thread %d: %w", w.id, err)
		}
	}
	return nil
}

// layOut takes this worker's connections: every of-th of all, which the targets
// have divided among them.
func (w *worker) layOut() {
	mine := share(int64(w.r.load.Connections), w.id, w.of)
	w.conns = make([]conn, max(mine, 1))
	w.stamps = make([]stamp, len(w.conns)*w.depth)
	if w.captures != nil {
		w.captures = make([]*capture, len(w.conns))
	}
	w.conns = w.conns[:mine]
	slot, number := int32(0), w.id // of a connection, here and among all
	for i, t := range w.r.targets {
		p := pool{target: t, addrs: own(t.addrs)}
		if w.dial != nil {
			p.addrs = []*evloop.Address{w.dial}
		}
		for ; number < t.upTo; number += w.of {
			w.conns[slot].target = uint16(i)
			w.conns[slot].addr = uint16(number)
			p.unopened.push(slot)
			slot++
		}
		w.pools = append(w.pools, p)
	}
}

// moveIn binds the thread and opens its event loop.
func (w *worker) moveIn() error {
	if cores := w.r.load.Cores; len(cores) > 0 {
		if err := keepTo(cores); err != nil {
			return err
		}
	}
	return w.openLoop()
}

// unlock gives the thread back, but one that was bound ends with the worker.
func (w *worker) unlock() {
	if len(w.r.load.Cores) == 0 {
		runtime.UnlockOSThread()
	}
}

// run is the whole life of the worker.
func (w *worker) run() (err error) {
	runtime.LockOSThread()
	defer w.unlock()
	w.tid = threadID()
	defer w.signOff()
	if err = w.moveIn(); err != nil {
		w.r.ready.Done()
		w.r.end("engine", w.r.clock())
		return err
	}
	defer func() {
		w.stopHandshakes()
		if e := w.loop.Release(); err == nil && e != nil {
			err = fmt.Errorf("release event loop: %w", e)
		}
	}()
	w.preopen()
	w.preopened = w.story.conns.Opened // which may go on to grow
	w.r.ready.Done()
	if err = w.awaitStart(); err != nil {
		return err
	}
	w.begin()
	for !w.finished() {
		if err = w.loop.Wait(w.until()); err != nil {
			w.r.end("engine", w.loop.Now())
			err = fmt.Errorf("worker %d: wait for events: %w", w.id, err)
			break
		}
		w.dispatch(w.loop.Now())
	}
	w.close()
	return err
}

func (w *worker) openLoop() error {
	o := evloop.Options{Slots: max(len(w.conns), 1), KernelTimestamps: w.r.load.Timestamps == plan.KernelTimestamps}
	if n := len(w.conns); n > 0 && n < spinConns && w.table == nil {
		o.Spin = breakEven()
	}
	w.slack = spinSlack(w.r)
	var err error
	if w.loop, err = w.r.opts.open(w.r.kind, o, w); err != nil {
		return fmt.Errorf("worker %d: %w", w.id, err)
	}
	if len(w.conns) >= gatherConns {
		w.gather, _ = w.loop.(evloop.Gatherer)
	}
	return nil
}

// preopen opens the connections and waits for the outcome of the first try of
// each. In the open model some are left to be opened on demand.
func (w *worker) preopen() {
	now := w.loop.Now()
	w.openAt, w.openBudget = now, 1
	first := math.MaxInt
	if w.table != nil {
		first = max(64/w.of, 1)
	}
	for i := range w.pools {
		p := &w.pools[i]
		for n := 0; n < first && p.unopened.len() > 0; n++ {
			w.wantOpen(p.unopened.pop())
			w.unresolved++
		}
	}
	limit := now + int64(w.r.load.Timeouts.Connect+w.r.load.Timeouts.TLS)
	for w.unresolved > 0 && now < min(limit, w.r.endAt.Load()) {
		w.openSome(now)
		if w.loop.Wait(now+int64(2*time.Millisecond)) != nil {
			return
		}
		now = w.loop.Now()
		w.fire(now)
		w.scanDue(now)
	}
}

// awaitStart keeps the connections until all workers are ready.
func (w *worker) awaitStart() error {
	for {
		at := w.r.startAt.Load()
		now := w.loop.Now()
		if at != 0 && (now >= at || now >= w.r.endAt.Load()) {
			return nil
		}
		until := now + int64(time.Millisecond)
		if at != 0 {
			until = at
		}
		if err := w.loop.Wait(until); err != nil {
			w.r.end("engine", w.loop.Now())
			return fmt.Errorf("worker %d: wait for the start: %w", w.id, err)
		}
	}
}

// begin starts the load on the connections that are open.
func (w *worker) begin() {
	start := w.r.startAt.Load()
	w.started = true
	w.tally.index, w.tally.from = floorDiv(start-w.r.windowAt, secondNS), start
	w.boundary = w.r.windowAt + (w.tally.index+1)*secondNS
	w.story.rateAt = start
	w.setBound(start)
	w.nextTurn = start + min(turnPeriod, w.scanEvery)
	for i := range w.conns {
		c := &w.conns[i]
		c.freeAt = start + w.pause()
		if c.state == stateReady {
			w.fill(int32(i), w.loop.Now())
		}
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// until is when the worker has to act next.
func (w *worker) until() int64 {
	until := min(w.nextTurn, w.boundary)
	if at, ok := w.timers.next(); ok {
		until = min(until, at)
	}
	if w.table != nil && !w.stopping && !w.exhausted {
		if at, ok := w.table.Peek(); ok {
			until = min(until, w.r.startAt.Load()+at-w.slack)
		}
	}
	if end := w.r.endAt.Load(); !w.stopping {
		until = min(until, end)
	}
	if w.stopping {
		until = min(until, w.drainEnd)
	}
	return until
}

// dispatch does what is due now.
func (w *worker) dispatch(now int64) {
	if now >= w.boundary {
		w.rotate(now)
	}
	w.fire(now)
	if w.table != nil {
		w.arrive(now)
	}
	if now >= w.nextTurn {
		w.turn(now)
	}
	if w.toOpen.len() > 0 { // after the turn, which may have dropped connections
		w.openSome(now)
	}
	if !w.stopping && now >= w.r.endAt.Load() {
		w.stop(now)
	}
}

// turn is the housekeeping that can wait some milliseconds.
func (w *worker) turn(now int64) {
	w.nextTurn = now + min(turnPeriod, w.scanEvery)
	w.scanDue(now)
	w.setBound(now)
	w.countDown()
	if now-w.story.rateAt >= turnPeriod {
		w.adapt(w.sampleRate(now))
	}
	if w.script != nil && w.wants.Stopped != nil && w.wants.Stopped() {
		w.stop(now)
	}
	w.checkStall(now)
}

// checkStall ends a load by count alone in which no request ends any more, well
// or badly: nothing else would. It waits three times the longest timeout.
func (w *worker) checkStall(now int64) {
	l := &w.r.load
	longest := int64(max(l.Timeouts.Connect, l.Timeouts.TLS, l.Timeouts.Request))
	if l.Duration == 0 && now-max(w.lastEnd, w.r.startAt.Load()) > 3*longest {
		w.r.end("stall", now)
	}
}

// adapt sets how long the loop may gather answers at a rate of them: a twentieth
// of the median latency, so that it stays invisible in it, and at most 50 us. It
// pays only if several come in that time; else it is one sleep more for each.
func (w *worker) adapt(rate int64) {
	if w.gather == nil || w.tally.service.Count() < 100 {
		return
	}
	wait := min(gatherMost, time.Duration(w.tally.service.Value(hdr.P50))/20).Truncate(time.Microsecond)
	if rate*int64(wait) < gatherLeast*secondNS {
		wait = 0
	}
	w.gather.Gather(wait, max(int(w.inFlight-w.queued)/2, 1))
	w.story.gathered = max(w.story.gathered, wait)
}

// sampleRate keeps the answers per second since the last sample.
func (w *worker) sampleRate(now int64) (rate int64) {
	rate = w.story.rateCount * secondNS / (now - w.story.rateAt)
	w.story.perThread.Record(rate)
	w.story.rateAt, w.story.rateCount = now, 0
	return rate
}

// stop ends the planning and starts the drain.
func (w *worker) stop(now int64) {
	if w.stopping {
		return
	}
	w.stopping = true
	drain := int64(w.r.load.Drain)
	if why := w.r.endedBy.Load(); why != nil {
		if *why == overload {
			w.giveUp()
		} else {
			drain = min(drain, int64(500*time.Millisecond))
		}
	}
	w.drainEnd = now + max(drain, 0)
	w.rotateDrain(now)
}

// finished reports whether nothing is left to do.
func (w *worker) finished() bool {
	if w.exhausted && !w.stopping && w.inFlight == 0 {
		return true
	}
	return w.stopping && (w.inFlight == 0 || w.loop.Now() >= w.drainEnd)
}

// close cuts off what is still in flight and hands the last interval over.
func (w *worker) close() {
	now := w.loop.Now()
	w.scanDue(now) // what is older than its timeout is not merely cut off
	w.cutOff(now)
	if s, ok := w.loop.(interface{ Spun() bool }); ok {
		w.story.spun = s.Spun()
	}
	w.tally.to = now
	if end := w.r.endAt.Load(); w.tally.index != drainIndex && end > w.tally.from {
		w.tally.to = min(now, end)
	}
}

// signOff hands over the last tally, whatever happened before.
func (w *worker) signOff() {
	w.tally.inFlight, w.tally.open = w.inFlight, int64(w.story.open)
	w.r.collect.in <- delivery{w.id, w.tally, true}
}
