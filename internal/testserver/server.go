package testserver

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Server is a running test server. Its methods may be called from any
// goroutine.
type Server struct {
	config Config
	clock  *clock
	queue  *FIFO // nil without a queue; guarded by line
	ledger ledger
	tick   atomic.Int64 // the running number that makes /variable vary

	line   sync.Mutex // orders arrivals: the stall, the queue and the errors see one order
	seen   int64      // requests of any path
	served int64      // requests of the default path
	errors *errorPlan

	resources sync.Mutex            // guards what the limiting paths share
	pools     map[int]chan struct{} // by size
	aging     bool                  // /aging has been asked for, first at youth
	youth     time.Duration
	held      [][]byte
	heldBytes int

	mu     sync.Mutex
	addr   net.Addr // of the first life; stays
	life   *life    // nil while down
	closed bool
}

// life is the time between a start and a close or kill.
type life struct {
	listener net.Listener
	over     chan struct{}
	all      sync.WaitGroup // the accept loop and every connection

	mu    sync.Mutex
	ended bool
	conns map[*conn]struct{}
}

// Start starts a server. It fails if the configuration is wrong or the address
// cannot be listened on.
func Start(c Config) (*Server, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("test server: %w", err)
	}
	s := &Server{config: c, clock: newClock(), errors: newErrorPlan(c.ErrorShare, c.ErrorSeed)}
	s.ledger.paths = map[string]PathStats{}
	if c.Queue.Rate > 0 {
		s.queue = NewFIFO(c.Queue)
	}
	if err := s.begin(c.Address); err != nil {
		return nil, err
	}
	return s, nil
}

// begin starts a life on address. The caller holds mu, or nobody else has s.
func (s *Server) begin(address string) error {
	ln, err := listen(s.config.Network, address, s.config.Backlog)
	if err != nil {
		return fmt.Errorf("test server: listen on %s %s: %w", s.config.Network, address, err)
	}
	s.addr = ln.Addr()
	s.life = &life{listener: ln, over: make(chan struct{}), conns: map[*conn]struct{}{}}
	if !s.config.NeverAccept {
		s.life.all.Add(1)
		go s.accept(s.life)
	}
	return nil
}

// accept serves connections until the listener closes.
func (s *Server) accept(l *life) {
	defer l.all.Done()
	for {
		nc, err := l.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, or the peer was gone already
			select {
			case <-l.over:
				return
			case <-time.After(5 * time.Millisecond):
				continue
			}
		}
		s.ledger.accepted()
		c := newConn(s, l, nc)
		if !l.add(c) {
			c.abort()
			s.ledger.left()
			continue
		}
		go func() {
			defer l.all.Done()
			defer s.ledger.left()
			defer l.remove(c)
			c.serve()
		}()
		if every := s.config.AcceptEvery; every > 0 && !sleep(every, nil, l.over) {
			return
		}
	}
}

// add registers c, unless the life has ended.
func (l *life) add(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return false
	}
	l.conns[c] = struct{}{}
	l.all.Add(1)
	return true
}

func (l *life) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// end closes the listener and every connection with end, and waits.
func (l *life) end(end func(*conn)) error {
	l.mu.Lock()
	l.ended = true
	close(l.over)
	err := l.listener.Close()
	for c := range l.conns {
		end(c)
	}
	l.mu.Unlock()
	l.all.Wait()
	return err
}

// Addr returns the address listened on, also after Kill and Close.
func (s *Server) Addr() net.Addr {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addr
}

// URL returns the base URL without a final slash. An unspecified host becomes
// loopback. On a unix socket the URL is that of localhost: the caller dials
// Addr.
func (s *Server) URL() string {
	scheme := "http://"
	if s.config.TLS != nil {
		scheme = "https://"
	}
	tcp, ok := s.Addr().(*net.TCPAddr)
	if !ok {
		return scheme + "localhost"
	}
	host := tcp.AddrPort().Addr().Unmap()
	if host.IsUnspecified() {
		return fmt.Sprintf("%slocalhost:%d", scheme, tcp.Port)
	}
	return scheme + net.JoinHostPort(host.String(), fmt.Sprint(tcp.Port))
}

// Stats returns the counts so far, over all lives.
func (s *Server) Stats() Stats { return s.ledger.snapshot() }

// Pause freezes the server as a [Stall] does, until Resume. Connections are
// still accepted and requests still read.
func (s *Server) Pause() { s.clock.pause(true) }

// Resume ends a Pause; requests go on from where they were frozen.
func (s *Server) Resume() { s.clock.pause(false) }

// Kill closes the listener and resets every connection, as the death of a
// process with unread data would, and waits until all goroutines have ended.
// Killing a server that is down does nothing.
func (s *Server) Kill() error { return s.down((*conn).abort, false) }

// Close stops the server for good and waits until all goroutines have ended.
// Closing twice is fine.
func (s *Server) Close() error { return s.down((*conn).shut, true) }

func (s *Server) down(end func(*conn), forGood bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = s.closed || forGood
	l := s.life
	s.life = nil
	if l == nil {
		return nil
	}
	if err := l.end(end); err != nil {
		return fmt.Errorf("test server: close listener: %w", err)
	}
	return nil
}

// Restart listens on the same address again after Kill. It fails if the server
// runs or was closed, or the address has been taken.
func (s *Server) Restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errors.New("test server: restart: it was closed")
	case s.life != nil:
		return errors.New("test server: restart: it is running")
	}
	return s.begin(strings.TrimPrefix(s.addr.String(), "unix:"))
}
