package testserver

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"time"
)

// Bounds of waiting for a client, on connections that are being set up or
// taken down.
const (
	handshakeTime = 10 * time.Second
	lingerTime    = time.Second
)

// conn is one connection, served by one goroutine. Only raw is touched by
// others, to end it.
type conn struct {
	server *Server
	life   *life
	raw    net.Conn // the socket
	wire   net.Conn // raw, or TLS over it
	in     *bufio.Reader

	answers  int           // whole answers written
	idle     time.Duration // closes after that long without a request; 0: never
	lastGasp bool          // the next request is read and not answered
}

func newConn(s *Server, l *life, raw net.Conn) *conn {
	c := &conn{server: s, life: l, raw: raw, wire: raw, idle: s.config.IdleTimeout}
	if s.config.TLS != nil {
		c.wire = tls.Server(raw, s.config.TLS)
	}
	c.in = bufio.NewReader(counted{c})
	return c
}

// counted reads from the wire and counts.
type counted struct{ *conn }

func (c counted) Read(p []byte) (int, error) {
	n, err := c.wire.Read(p)
	c.server.ledger.update(func(s *Stats) { s.BytesIn += int64(n) })
	return n, err
}

// serve answers requests until the connection ends.
func (c *conn) serve() {
	defer c.raw.Close()
	if !c.handshake() {
		return
	}
	for c.next() {
	}
}

// handshake does the TLS handshake, if there is one to do.
func (c *conn) handshake() bool {
	t, ok := c.wire.(*tls.Conn)
	if !ok {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), handshakeTime)
	defer cancel()
	err := t.HandshakeContext(ctx)
	resumed := err == nil && t.ConnectionState().DidResume
	c.server.ledger.update(func(s *Stats) {
		switch {
		case err != nil:
			s.TLSFailed++
		case resumed:
			s.TLSResumed++
		default:
			s.TLSFull++
		}
	})
	return err == nil
}

// next serves one request and tells whether the connection goes on.
func (c *conn) next() bool {
	if !c.await() {
		c.finish()
		return false
	}
	r, err := readHead(c.in)
	if err != nil {
		return c.fail(err)
	}
	to := routeOf(r.path)
	if !to.early && c.receive(r, to.keeps) != nil {
		return false
	}
	c.server.ledger.request(r.path)
	o := c.answer(r, to)
	c.server.ledger.settle(r.path, o.fate)
	if to.early && o.end == stay && c.receive(r, false) != nil {
		return false
	}
	switch o.end {
	case hangUp:
		c.finish()
	case cut:
		c.abort()
	}
	return o.end == stay
}

// await waits for the first byte of a request, within the idle time.
func (c *conn) await() bool {
	if c.idle > 0 {
		_ = c.wire.SetReadDeadline(time.Now().Add(c.idle))
		defer c.wire.SetReadDeadline(time.Time{})
	}
	_, err := c.in.Peek(1)
	return err == nil
}

// receive reads the body of r, after asking for it if the client waits for that.
// On an error it has said what there is to say.
func (c *conn) receive(r *request, keep bool) error {
	if !r.hasBody() {
		return nil
	}
	if r.expects {
		if err := c.send([]byte("HTTP/1.1 100 Continue\r\n\r\n")); err != nil {
			c.fail(err)
			return err
		}
	}
	kept := 0
	if keep {
		kept = maxKept
	}
	err := r.readBody(c.in, kept)
	if err != nil {
		c.fail(err)
	}
	return err
}

// answer carries out a request that has been received.
func (c *conn) answer(r *request, to route) outcome {
	if c.lastGasp {
		return outcome{faulted, hangUp}
	}
	a := c.server.arrive(to.ordinary)
	if !c.server.clock.until(a.depart, c.server.config.Precise, c.life.over) {
		return outcome{aborted, cut}
	}
	return to.run(&exchange{conn: c, request: r, arrival: a, arg: to.arg})
}

// fail ends a connection on which no request could be read, and returns false.
func (c *conn) fail(err error) bool {
	bad, ok := errors.AsType[*badRequest](err)
	if !ok {
		if !errors.Is(err, io.EOF) { // else only empty lines came
			c.server.ledger.update(func(s *Stats) { s.Partial++ })
		}
		return false
	}
	c.server.ledger.update(func(s *Stats) { s.Malformed++ })
	p := response{status: bad.status, body: []byte(bad.reason + "\n"), close: true}
	all, _ := p.bytes(&request{minor: 1}, nil)
	if c.send(all) == nil {
		c.finish()
	}
	return false
}

// send writes b in one Write.
func (c *conn) send(b []byte) error {
	n, err := c.wire.Write(b)
	c.server.ledger.update(func(s *Stats) { s.BytesOut += int64(n) })
	return err
}

// pause waits for d, longer if the server is frozen, and tells whether the
// server still lives.
func (c *conn) pause(d time.Duration) bool {
	clock := c.server.clock
	return clock.until(clock.now()+d, c.server.config.Precise, c.life.over)
}

// finish closes the connection in an orderly way. It half-closes first and
// reads on for a while: closing a socket with unread bytes would reset it, and
// the reset might destroy the answer before the client has read it.
func (c *conn) finish() {
	w, ok := c.wire.(interface{ CloseWrite() error })
	if ok && w.CloseWrite() == nil {
		if tcp, ok := c.raw.(*net.TCPConn); ok {
			_ = tcp.CloseWrite() // under TLS the half-close above was only a message
		}
		_ = c.wire.SetReadDeadline(time.Now().Add(lingerTime))
		_, _ = io.Copy(io.Discard, c.in)
	}
	c.shut()
}

// shut closes the socket.
func (c *conn) shut() { _ = c.raw.Close() }

// abort closes the socket with a reset, where the network knows resets.
func (c *conn) abort() {
	if tcp, ok := c.raw.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	c.shut()
}
