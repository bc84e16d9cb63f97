package engine

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"iter"
	"net"
	"os"
	"time"

	"prony/internal/result"
)

// tlsConn is a TLS session over an event loop. crypto/tls wants a blocking
// net.Conn; it gets one whose reads, during the handshake, suspend a coroutine
// until the loop has brought more bytes, and afterwards say "not now", which
// crypto/tls passes on without harm because the error is temporary.
type tlsConn struct {
	conn   *tls.Conn
	in     []byte // ciphertext that came and was not read
	out    []byte // ciphertext to send
	spare  []byte // the buffer of the send before
	eof    bool
	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool // not nil during the handshake
	err    error               // of the handshake
}

// errNotNow is the temporary error of a read that found nothing.
var errNotNow net.Error = notNow{}

type notNow struct{}

func (notNow) Error() string   { return "no more bytes yet" }
func (notNow) Timeout() bool   { return true }
func (notNow) Temporary() bool { return true }

func newTLSConn(cfg *tls.Config) *tlsConn {
	t := &tlsConn{}
	t.conn = tls.Client(t, cfg)
	t.resume, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		t.err = t.conn.Handshake()
		t.yield = nil
	})
	return t
}

// Read implements net.Conn for crypto/tls.
func (t *tlsConn) Read(p []byte) (int, error) {
	for len(t.in) == 0 {
		switch {
		case t.eof:
			return 0, io.EOF
		case t.yield == nil:
			return 0, errNotNow
		case !t.yield(struct{}{}):
			t.eof = true
		}
	}
	n := copy(p, t.in)
	t.in = t.in[n:]
	return n, nil
}

// Write implements net.Conn for crypto/tls.
func (t *tlsConn) Write(p []byte) (int, error) {
	t.out = append(t.out, p...)
	return len(p), nil
}

// Close implements net.Conn; the loop closes the socket.
func (t *tlsConn) Close() error                       { return nil }
func (t *tlsConn) LocalAddr() net.Addr                { return &net.TCPAddr{} }
func (t *tlsConn) RemoteAddr() net.Addr               { return &net.TCPAddr{} }
func (t *tlsConn) SetDeadline(time.Time) error        { return os.ErrNoDeadline }
func (t *tlsConn) SetReadDeadline(time.Time) error    { return os.ErrNoDeadline }
func (t *tlsConn) SetWriteDeadline(_ time.Time) error { return nil }

// abort ends a handshake under way.
func (t *tlsConn) abort() {
	if t.stop != nil {
		t.stop()
	}
}

// take returns the ciphertext to send; it stays valid until the next take.
func (t *tlsConn) take() []byte {
	b := t.out
	t.out, t.spare = t.spare[:0], b
	return b
}

// encrypt returns p as ciphertext.
func (t *tlsConn) encrypt(p []byte) ([]byte, error) {
	if _, err := t.conn.Write(p); err != nil {
		return nil, err
	}
	return t.take(), nil
}

// tlsStory is what a worker saw of its sessions.
type tlsStory struct {
	full, resumed int64
	state         tls.ConnectionState
}

// shake starts or goes on with a handshake.
func (w *worker) shake(slot int32, t *tlsConn) {
	c := &w.conns[slot]
	c.tls = t
	_, more := t.resume()
	if !more && t.err != nil {
		// An alert that explains the failure is not worth a send.
		w.connectFailed(slot, tlsKind(t.err), "tls", t.err, "TLS handshake with "+w.pools[c.target].target.origin)
		return
	}
	w.flushTLS(slot, c)
	if !more {
		w.shaken(slot, c)
	}
}

// flushTLS sends what the handshake has to say, one send at a time.
func (w *worker) flushTLS(slot int32, c *conn) {
	if c.tls == nil || c.sending || len(c.tls.out) == 0 {
		return
	}
	c.sending = true
	w.loop.Send(slot, c.tls.take(), w.loop.Now())
}

func (w *worker) shaken(slot int32, c *conn) {
	now := w.loop.Now()
	state := c.tls.conn.ConnectionState()
	s := &w.story
	if state.DidResume {
		s.tls.resumed++
	} else {
		s.tls.full++
	}
	if s.tls.state.Version == 0 || s.tls.state.PeerCertificates == nil {
		s.tls.state = state
	}
	s.tlsTime.Record(now - c.since)
	c.opened += now - c.since
	sending := c.sending
	w.becomeReadyTLS(slot, now, sending)
}

// becomeReadyTLS keeps a send of the handshake (the client's last flight) in
// force: the first request waits for it.
func (w *worker) becomeReadyTLS(slot int32, now int64, sending bool) {
	c := &w.conns[slot]
	if !sending {
		w.becomeReady(slot, now)
		return
	}
	started := w.started
	w.started = false
	w.becomeReady(slot, now)
	w.started = started
	c.sending = true
}

// cipher takes ciphertext from the loop.
func (w *worker) cipher(slot int32, c *conn, p []byte) {
	t := c.tls
	t.in = p
	if c.state == stateHandshaking {
		w.shake(slot, t)
		if c.state != stateReady || c.tls != t {
			return
		}
	}
	if w.plain == nil {
		w.plain = make([]byte, 16<<10)
	}
	gen := c.gen
	for {
		n, err := t.conn.Read(w.plain)
		if n > 0 {
			w.answers(slot, c, w.plain[:n], 0)
			if c.tls != t || c.gen != gen && c.state != stateReady {
				return
			}
		}
		if err != nil {
			w.cipherEnd(slot, err)
			return
		}
	}
}

// cipherEnd handles the error that ended a read of plaintext.
func (w *worker) cipherEnd(slot int32, err error) {
	c := &w.conns[slot]
	switch {
	case errors.Is(err, errNotNow):
	case c.answers > 0 || c.parse.Started() || errors.Is(err, io.EOF):
		w.Gone(slot, err)
	default:
		w.rejected(slot, c, err)
	}
}

// rejected ends a session that broke before its first answer. A TLS 1.3 server
// that refuses the client's certificate can tell only then: the client's part
// of the handshake is over before its certificate is read.
func (w *worker) rejected(slot int32, c *conn, err error) {
	now := w.loop.Now()
	w.story.conns.ClosedByPeer++
	if c.n > 0 {
		w.failHead(slot, c, result.TLSHandshake, "tls", err, now)
	} else {
		w.countInARow(result.TLSHandshake, now)
		w.note(result.TLSHandshake, "tls", err, "TLS session with "+w.pools[c.target].target.origin)
		w.story.kinds[result.TLSHandshake]++
	}
	w.renew(slot, c, now)
}

// tlsKind classifies the error of a handshake.
func tlsKind(err error) result.FailureKind {
	var cert *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	if errors.As(err, &cert) || errors.As(err, &unknown) || errors.As(err, &host) || errors.As(err, &invalid) {
		return result.TLSCertificate
	}
	return result.TLSHandshake
}

// stopHandshakes ends the coroutines of handshakes that never finished.
func (w *worker) stopHandshakes() {
	for i := range w.conns {
		if t := w.conns[i].tls; t != nil {
			t.abort()
		}
	}
}
