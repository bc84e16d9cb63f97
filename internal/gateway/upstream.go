package gateway

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"time"
)

// upstream is one server behind the gateway, with connections and counters of
// its own.
type upstream struct {
	address   string
	timeout   time.Duration
	transport *http.Transport
	proxy     *httputil.ReverseProxy

	requests, connections, failures, active atomic.Int64
}

func newUpstream(address string, c Config) *upstream {
	u := &upstream{address: address, timeout: c.Timeout}
	http1 := new(http.Protocols)
	http1.SetHTTP1(true)
	u.transport = &http.Transport{
		DialContext:           u.dial,
		MaxIdleConnsPerHost:   max(c.KeepAlive, 0),
		DisableKeepAlives:     c.KeepAlive < 0,
		MaxConnsPerHost:       c.MaxConns,
		IdleConnTimeout:       upstreamIdle,
		DisableCompression:    true, // the client's Accept-Encoding is the client's
		ExpectContinueTimeout: time.Second,
		Protocols:             http1,
	}
	u.proxy = &httputil.ReverseProxy{
		Rewrite:        u.rewrite,
		Transport:      u,
		BufferPool:     &buffers{},
		ModifyResponse: u.watchBody,
		ErrorHandler:   u.refuse,
		ErrorLog:       slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	return u
}

func (u *upstream) dial(ctx context.Context, network, address string) (net.Conn, error) {
	u.connections.Add(1)
	return new(net.Dialer).DialContext(ctx, network, address)
}

// rewrite points the request at the upstream. ReverseProxy has taken the
// hop-by-hop fields away (RFC 9110, section 7.6.1); the forwarding fields and
// the query, which it edits too, go on as they came.
func (u *upstream) rewrite(p *httputil.ProxyRequest) {
	p.Out.URL.Scheme, p.Out.URL.Host = "http", u.address
	p.Out.URL.RawQuery = p.In.URL.RawQuery
	p.Out.Host = p.In.Host
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := p.In.Header[name]; ok {
			p.Out.Header[name] = values
		}
	}
}

// errLate ends a request whose answer did not begin in time.
var errLate = errors.New("the upstream did not answer in time")

// RoundTrip sends a request and waits for the head of the answer, at most the
// timeout. The body is read under the same context, which ends when the
// request is done with.
func (u *upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	u.requests.Add(1)
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(u.timeout, func() { cancel(errLate) })
	response, err := u.transport.RoundTrip(r.WithContext(ctx))
	if !timer.Stop() && context.Cause(ctx) == errLate {
		if response != nil {
			_ = response.Body.Close()
		}
		return nil, errLate
	}
	return response, err
}

// refuse answers for an upstream that did not. A client that has left, which
// ends the request's context, is not the upstream's failure.
func (u *upstream) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status := http.StatusBadGateway
	if errors.Is(err, errLate) {
		status = http.StatusGatewayTimeout
	}
	if r.Context().Err() == nil {
		u.failures.Add(1)
	}
	http.Error(w, http.StatusText(status), status)
}

// watchBody notices answers that break off. What follows a change of protocol
// is no body.
func (u *upstream) watchBody(r *http.Response) error {
	if r.StatusCode != http.StatusSwitchingProtocols {
		r.Body = &watched{ReadCloser: r.Body, upstream: u, ctx: r.Request.Context()}
	}
	return nil
}

// watched is the body of an upstream's answer.
type watched struct {
	io.ReadCloser
	upstream *upstream
	ctx      context.Context // of the request: ended when the client left
	failed   bool
}

// Read counts the first error that is the upstream's.
func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF && !b.failed && b.ctx.Err() == nil {
		b.failed = true
		b.upstream.failures.Add(1)
	}
	return n, err
}

// bufferSize is what is copied at a time, in bytes.
const bufferSize = 32 << 10

// buffers lends buffers for copying bodies.
type buffers struct{ pool sync.Pool }

// Get lends a buffer.
func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[]byte); ok {
		return *p
	}
	return make([]byte, bufferSize)
}

// Put takes it back.
func (b *buffers) Put(p []byte) { b.pool.Put(&p) }
