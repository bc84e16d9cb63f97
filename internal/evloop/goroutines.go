package evloop

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// goLoop is the portable implementation: a goroutine per connection on
// net.Conn. It is here so that Prony runs everywhere; it makes no claim of
// speed.
type goLoop struct {
	h      Handler
	conns  []goConn
	events chan goEvent
	stop   chan struct{}
	wg     sync.WaitGroup
}

type goConn struct {
	gen    uint32
	used   bool
	cancel context.CancelFunc
	conn   net.Conn
	send   chan []byte
	sendAt int64         // of a send that Sent has not told of; 0: none
	sends  int           // on this connection
	next   chan struct{} // the reader may go on
	broken chan error    // why a send failed
}

type goEvent struct {
	slot   int32
	gen    uint32
	opened *goConn // not nil: the connection stands
	sent   int     // which send of the connection, from 1
	data   []byte
	next   chan struct{}
	err    error
	at     int64
}

const goBatch = 256

func openGoroutines(o Options, h Handler) (Loop, error) {
	if o.KernelTimestamps {
		return nil, ErrKind
	}
	return &goLoop{h: h, conns: make([]goConn, o.Slots), events: make(chan goEvent, goBatch), stop: make(chan struct{})}, nil
}

func (l *goLoop) Now() int64 { return Now() }

func (l *goLoop) Open(slot int32, to, from *Address) error {
	c := &l.conns[slot]
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel, c.used = cancel, true
	gen := c.gen
	l.wg.Go(func() { l.dial(ctx, slot, gen, to, from) })
	return nil
}

func (l *goLoop) dial(ctx context.Context, slot int32, gen uint32, to, from *Address) {
	var d net.Dialer
	if from != nil {
		d.LocalAddr = from.local()
	}
	addr := to.Unix
	if addr == "" {
		addr = to.TCP.String()
	}
	conn, err := d.DialContext(ctx, to.network(), addr)
	if err != nil {
		l.emit(goEvent{slot: slot, gen: gen, err: plain(err)})
		return
	}
	defer conn.Close() // for the case that nobody takes it
	c := &goConn{conn: conn, send: make(chan []byte, 16), next: make(chan struct{}, 1), broken: make(chan error, 1)}
	if !l.emit(goEvent{slot: slot, gen: gen, opened: c}) {
		return
	}
	l.wg.Go(func() { l.write(c, slot, gen) })
	l.read(c, slot, gen)
}

// emit hands an event over; false once the loop is released.
func (l *goLoop) emit(e goEvent) bool {
	select {
	case l.events <- e:
		return true
	case <-l.stop:
		return false
	}
}

func (l *goLoop) read(c *goConn, slot int32, gen uint32) {
	buf := make([]byte, 4096)
	for {
		n, err := c.conn.Read(buf)
		if n > 0 {
			if !l.emit(goEvent{slot: slot, gen: gen, data: buf[:n], next: c.next}) {
				return
			}
			select {
			case <-c.next:
			case <-l.stop:
				return
			}
		}
		if err != nil {
			select {
			case err = <-c.broken:
			default:
			}
			l.emit(goEvent{slot: slot, gen: gen, err: plain(err)})
			return
		}
	}
}

func (l *goLoop) write(c *goConn, slot int32, gen uint32) {
	for n := 1; ; n++ {
		var p []byte
		var more bool
		select {
		case p, more = <-c.send:
		case <-l.stop:
		}
		if !more {
			return
		}
		e := goEvent{slot: slot, gen: gen, sent: n, at: Now()}
		if _, err := c.conn.Write(p); err != nil {
			c.breakOff(err)
			continue
		}
		if len(p) > heldSend {
			e.at = Now()
		}
		l.emit(e)
	}
}

// breakOff leaves it to the reader to tell that a send failed, after what the
// peer said before; the deadline is for the case that it says nothing.
func (c *goConn) breakOff(err error) {
	select {
	case c.broken <- err:
		_ = c.conn.SetReadDeadline(time.Now().Add(MaxWait))
	default: // a later send
	}
}

// plain reduces an error to io.EOF or an errno, as the other loops report it.
func plain(err error) error {
	var errno syscall.Errno
	switch {
	case errors.Is(err, io.EOF):
		return io.EOF
	case errors.As(err, &errno):
		return errno
	case errors.Is(err, os.ErrDeadlineExceeded):
		return syscall.ETIMEDOUT
	}
	return err
}

func (l *goLoop) Close(slot int32) {
	c := &l.conns[slot]
	if !c.used {
		return
	}
	c.cancel()
	if c.conn != nil {
		_ = c.conn.Close()
		close(c.send)
	}
	*c = goConn{gen: c.gen + 1}
}

// Send queues a copy. The queue only grows beyond one entry when answers come
// before their requests were taken.
func (l *goLoop) Send(slot int32, p []byte, at int64) {
	c := &l.conns[slot]
	c.sendAt = at
	c.sends++
	c.send <- bytes.Clone(p)
}

func (l *goLoop) Wait(until int64) error {
	e, ok := l.first(until)
	for n := 0; ok && n < goBatch; n++ {
		l.handle(e)
		select {
		case e = <-l.events:
		default:
			ok = false
		}
	}
	if ok {
		l.handle(e)
	}
	return nil
}

func (l *goLoop) first(until int64) (goEvent, bool) {
	select {
	case e := <-l.events:
		return e, true
	default:
	}
	d := MaxWait
	if until != Forever {
		d = min(max(time.Duration(until-Now()), 0), MaxWait)
	}
	if d == 0 {
		return goEvent{}, false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case e := <-l.events:
		return e, true
	case <-t.C:
		return goEvent{}, false
	}
}

func (l *goLoop) handle(e goEvent) {
	c := &l.conns[e.slot]
	current := c.used && c.gen == e.gen
	switch {
	case e.opened != nil && !current:
		_ = e.opened.conn.Close()
		close(e.opened.send)
	case e.opened != nil:
		c.conn, c.send, c.next = e.opened.conn, e.opened.send, e.opened.next
		l.h.Opened(e.slot)
	case e.data != nil:
		if current {
			// Reader and writer report on their own: an answer says that its
			// request was sent, even if that is heard later.
			l.tellSent(e.slot, c.sendAt)
		}
		if c.used && c.gen == e.gen {
			l.h.Data(e.slot, e.data, 0)
		}
		e.next <- struct{}{}
	case !current:
	case e.sent > 0 && e.sent == c.sends:
		l.tellSent(e.slot, e.at)
	case e.sent > 0: // of a send that its answer has told of
	default:
		l.h.Gone(e.slot, e.err)
	}
}

func (l *goLoop) tellSent(slot int32, at int64) {
	if c := &l.conns[slot]; c.sendAt != 0 {
		c.sendAt = 0
		l.h.Sent(slot, at)
	}
}

func (l *goLoop) Release() error {
	for i := range l.conns {
		l.Close(int32(i))
	}
	close(l.stop)
	ended := make(chan struct{})
	go func() {
		l.wg.Wait()
		close(ended)
	}()
	// A connection may still be handed over while its goroutine has not seen
	// the stop: it would then wait for its peer for ever.
	for {
		select {
		case e := <-l.events:
			if e.opened != nil {
				_ = e.opened.conn.Close()
				close(e.opened.send)
			}
		case <-ended:
			return nil
		}
	}
}
