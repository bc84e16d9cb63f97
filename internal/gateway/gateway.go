// Package gateway is a small HTTP/1.1 reverse proxy: several upstreams behind
// one address, so that experiments with a gateway need nothing installed.
//
// It is a subject of measurement and a stand-in for nginx or HAProxy in the
// demo and in tests. It is written plainly on net/http and is not meant to be
// the fastest.
//
// What it decides for you: connections to upstreams are kept and used again;
// the request reaches the upstream with the Host, path, query and end-to-end
// fields that the client sent, and nothing is added; bodies stream in both
// directions; an upstream that cannot be reached is answered with 502, one
// that does not answer in time with 504.
//
// What it refuses: to retry a request elsewhere and to take an upstream out of
// the rotation, since either would hide what an experiment wants to see (the
// one exception is net/http's own: a request without a body that met a kept
// connection which the upstream had just closed is sent again on a fresh
// one); TLS; HTTP/2; to log.
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"
)

// StatusPath is where the status page is, if it is on. Requests for it never
// reach an upstream.
const StatusPath = "/.prony/status"

// clientIdle is how long a client's connection may wait for its next request,
// and an upstream's for its next use; closeWithin bounds the end of requests
// that run when the gateway closes.
const (
	clientIdle   = 65 * time.Second
	upstreamIdle = 65 * time.Second
	closeWithin  = 2 * time.Second
)

// Gateway is a running reverse proxy.
type Gateway struct {
	listener  net.Listener
	server    *http.Server
	upstreams []*upstream
	policy    Policy
	status    bool
	turn      atomic.Uint64 // where the next round begins
	served    chan error    // what Serve returned, once
}

// Start listens and serves until [Gateway.Close]. It returns every mistake in
// the configuration at once, or why it cannot listen.
func Start(c Config) (*Gateway, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("start gateway: %w", err)
	}
	c = c.withDefaults()
	listener, err := net.Listen("tcp", c.Address)
	if err != nil {
		return nil, fmt.Errorf("start gateway: %w", err)
	}
	g := &Gateway{listener: listener, policy: c.Policy, status: c.Status, served: make(chan error, 1)}
	for _, address := range c.Upstreams {
		g.upstreams = append(g.upstreams, newUpstream(address, c))
	}
	http1 := new(http.Protocols)
	http1.SetHTTP1(true)
	g.server = &http.Server{Handler: g, IdleTimeout: clientIdle, ReadHeaderTimeout: c.Timeout, Protocols: http1,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	go func() { g.served <- g.server.Serve(listener) }()
	return g, nil
}

// Address is where the gateway listens, as host:port.
func (g *Gateway) Address() string { return g.listener.Addr().String() }

// URL is the gateway's address with http:// in front and no slash behind.
func (g *Gateway) URL() string { return "http://" + g.Address() }

// Close stops listening, gives running requests two seconds, ends what is left
// and waits for it. It may be called once.
func (g *Gateway) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	err := g.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = g.server.Close()
	}
	if served := <-g.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	for _, u := range g.upstreams {
		u.transport.CloseIdleConnections()
	}
	if err != nil {
		return fmt.Errorf("close gateway: %w", err)
	}
	return nil
}

// ServeHTTP passes a request on to the upstream whose turn it is.
func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if g.status && r.URL.Path == StatusPath {
		g.writeStatus(w)
		return
	}
	if r.ContentLength != 0 {
		// An upstream may answer while it still reads; without this the
		// server would swallow the rest of the request first.
		_ = http.NewResponseController(w).EnableFullDuplex()
	}
	u := g.pick()
	u.active.Add(1)
	defer u.active.Add(-1)
	u.proxy.ServeHTTP(w, r)
}

// pick chooses an upstream. With least-conn two requests that arrive at once
// may see the same counts; what it costs to avoid that is not worth it here.
func (g *Gateway) pick() *upstream {
	n := uint64(len(g.upstreams))
	first := g.turn.Add(1) - 1
	best := first
	for i := first + 1; g.policy == LeastConn && i < first+n; i++ { // ties go to the next in turn
		if g.upstreams[i%n].active.Load() < g.upstreams[best%n].active.Load() {
			best = i
		}
	}
	if best != first {
		g.turn.Store(best + 1) // or the neighbour of a busy one would get its share too
	}
	return g.upstreams[best%n]
}

// Status is what the status page shows.
type Status struct {
	Upstreams []UpstreamStatus `json:"upstreams"`
}

// UpstreamStatus counts what happened to one upstream since the start.
type UpstreamStatus struct {
	Address     string `json:"address"`
	Requests    int64  `json:"requests"`    // passed on, failed ones included
	Connections int64  `json:"connections"` // opened
	Failures    int64  `json:"failures"`    // without a whole answer through the upstream's fault
	Active      int64  `json:"active"`      // requests in progress
}

// Status reads the counters, in the order of the configuration.
func (g *Gateway) Status() Status {
	var s Status
	for _, u := range g.upstreams {
		s.Upstreams = append(s.Upstreams, UpstreamStatus{Address: u.address, Requests: u.requests.Load(),
			Connections: u.connections.Load(), Failures: u.failures.Load(), Active: u.active.Load()})
	}
	return s
}

func (g *Gateway) writeStatus(w http.ResponseWriter) {
	text, err := json.Marshal(g.Status())
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(text, '\n')) // a client that left does not need it
}
