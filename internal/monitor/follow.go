package monitor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"prony/internal/result"
)

// Follow watches another machine: at the far end of rw is [Serve]. It estimates
// the difference of the two clocks, starts the watch and returns. Times are on
// this machine's clock; how far they may be off is the fact clock_bound_us of
// the host. The watch ends as that of [Watch] does; rw is closed then. A
// connection that breaks ends the watch early, which is said in Unknown of the
// host. On error rw is closed, too.
func Follow(ctx context.Context, rw io.ReadWriteCloser, r Request) (*Watcher, error) {
	n := &nearSide{rw: rw, news: newLines(rw), recorder: newRecorder(time.Now()), heads: map[int]*Head{}}
	if err := n.begin(ctx, r); err != nil {
		_ = rw.Close() // the first error counts
		return nil, fmt.Errorf("follow host %q: %w", r.Host, err)
	}
	return &Watcher{recorder: n.recorder, every: r.every(), halt: n.start(ctx)}, nil
}

// nearSide is one conversation. Only its reader uses what is not guarded.
type nearSide struct {
	rw       io.ReadWriteCloser
	news     lines
	recorder *recorder
	heads    map[int]*Head
	clock    clock

	writing sync.Mutex // one line at a time
}

// Patience of the near side.
const (
	beginPatience = 20 * time.Second // for the first answers
	endPatience   = 5 * time.Second  // for the last samples
	pingPeriod    = 10 * time.Second
	pingsFirst    = 8 // the quickest counts
)

func (n *nearSide) now() int64 { return time.Since(n.recorder.epoch).Microseconds() }

// ping asks for the time. Zero is no ping, so times are one more in it.
func (n *nearSide) ping() error { return n.send(call{Ping: n.now() + 1}) }

// pong hears the answer.
func (n *nearSide) pong(one *news) { n.clock.hear(one.Pong-1, one.AtUS, n.now()) }

func (n *nearSide) send(c call) error {
	b, err := json.Marshal(c)
	if err != nil {
		return err
	}
	n.writing.Lock()
	defer n.writing.Unlock()
	_, err = n.rw.Write(append(b, '\n'))
	return err
}

// begin agrees on version and clocks, and has the far side start.
func (n *nearSide) begin(ctx context.Context, r Request) error {
	if err := r.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, beginPatience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = n.rw.Close() })
	defer stop()
	err := n.agree(r)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (n *nearSide) agree(r Request) error {
	if err := n.send(call{Schema: RecordingSchema, Request: &r}); err != nil {
		return err
	}
	var hello news
	if err := n.news.next(&hello); err != nil {
		return err
	}
	switch {
	case hello.Error != "":
		return fmt.Errorf("the far side says: %w", errors.New(hello.Error))
	case hello.Schema != RecordingSchema || hello.Environment == nil:
		return errSchema
	}
	n.recorder.environment(*hello.Environment)
	for range pingsFirst {
		if err := n.ping(); err != nil {
			return err
		}
		var pong news
		if err := n.news.next(&pong); err != nil {
			return err
		}
		n.pong(&pong)
	}
	n.clock.worst = n.clock.bound // the less certain ones were not used
	return n.send(call{Start: true})
}

// start reads and pings in the background.
func (n *nearSide) start(ctx context.Context) (halt func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	over := make(chan struct{})
	done.Go(func() {
		defer close(over)
		n.read()
	})
	done.Go(func() { n.attend(ctx, over) })
	return func() {
		cancel()
		done.Wait()
	}
}

// attend pings now and then, and ends the conversation with ctx.
func (n *nearSide) attend(ctx context.Context, over <-chan struct{}) {
	defer func() { _ = n.rw.Close() }()
	ticker := time.NewTicker(pingPeriod)
	defer ticker.Stop()
	for {
		select {
		case <-over:
			return
		case <-ticker.C:
			_ = n.ping() // a broken connection is noticed by the reader
		case <-ctx.Done():
			n.part(over)
			return
		}
	}
}

// part asks for the last samples and waits for them, not for ever. A far side
// that does not even read holds up the asking, so that has a goroutine, which
// closing ends.
func (n *nearSide) part(over <-chan struct{}) {
	timer := time.NewTimer(endPatience)
	defer timer.Stop()
	var asking sync.WaitGroup
	asking.Go(func() { _ = n.send(call{Stop: true}) })
	select {
	case <-over:
	case <-timer.C:
	}
	_ = n.rw.Close()
	asking.Wait()
	<-over
}

var errEnded = errors.New("the connection ended")

// read takes samples until the end.
func (n *nearSide) read() {
	for {
		var one news
		err := n.news.next(&one)
		if errors.Is(err, io.EOF) {
			err = errEnded
		}
		if err != nil {
			n.recorder.note("watch", "it ended early: "+err.Error())
			return
		}
		switch {
		case one.End:
			return
		case one.Pong != 0:
			n.pong(&one)
		case one.ID != 0:
			n.take(&one)
		}
	}
}

// tracksMax bounds what a far side may tell of.
const tracksMax = 100_000

// take keeps one sample, with its time on our clock.
func (n *nearSide) take(one *news) {
	if one.Head != nil {
		n.heads[one.ID] = one.Head
	}
	h := n.heads[one.ID]
	if h == nil || len(n.heads) > tracksMax || one.LengthUS <= 0 {
		return
	}
	if h.Kind == result.OfHost {
		if h.Facts == nil {
			h.Facts = map[string]string{}
		}
		h.Facts["clock_bound_us"] = strconv.FormatInt(n.clock.worst, 10)
	}
	points := make([]point, 0, len(one.Values))
	for metric, x := range one.Values {
		points = append(points, point{metric, float64(x)})
	}
	at := time.Duration(one.AtUS+n.clock.offset) * time.Microsecond
	n.recorder.take(one.ID, h, at, time.Duration(one.LengthUS)*time.Microsecond, points)
}

// clock is what the far side's clock is to ours, in microseconds. A far time
// that was told in answer to a ping lies between sending and hearing; the middle
// is off by half of that at most (Cristian's algorithm).
type clock struct {
	offset int64 // far to near
	bound  int64 // of the offset
	worst  int64 // bound of all that were used
	heard  int64 // when the offset was found; 0 if it was not
}

// staleClock is from when on a less certain offset is taken, too: clocks drift
// apart by up to 100 us in a second.
const staleClock = 60_000_000

// hear takes an answer to a ping.
func (c *clock) hear(sent, far, now int64) {
	bound := (now - sent + 1) / 2
	if sent < 0 || bound < 0 || !c.better(bound, now) {
		return
	}
	c.offset, c.bound, c.heard = (sent+now)/2-far, bound, now
	c.worst = max(c.worst, bound)
}

// better reports whether an offset of a certain bound is worth more than ours:
// it is more certain, or about as certain and younger.
func (c *clock) better(bound, now int64) bool {
	age := now - c.heard
	switch {
	case c.heard == 0 || bound <= c.bound || age >= staleClock:
		return true
	}
	return bound <= 2*c.bound && age >= pingPeriod.Microseconds()/2
}
