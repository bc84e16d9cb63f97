package gateway

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// Policy says which upstream gets the next request.
type Policy string

const (
	// RoundRobin takes them in turn; it is the default.
	RoundRobin Policy = "roundrobin"
	// LeastConn takes the one with the fewest requests in progress.
	LeastConn Policy = "leastconn"
)

// Config says where a [Gateway] listens and what is behind it. All but
// Upstreams may be left at zero.
type Config struct {
	// Address to listen on; the default is a free port on 127.0.0.1.
	Address string
	// Upstreams are host:port each, at least one; "http://" in front is
	// understood.
	Upstreams []string
	// Policy is the choice among them; the default is RoundRobin.
	Policy Policy
	// KeepAlive is how many idle connections are kept to each upstream: 0 is
	// DefaultKeepAlive, a negative number is none, so that each request opens
	// a connection of its own and closes it.
	KeepAlive int
	// Timeout is how long an upstream may take until the head of its answer
	// is there: waiting for a connection, opening it and sending the request
	// count too. The default is DefaultTimeout. The answer's body may take as
	// long as it likes.
	Timeout time.Duration
	// MaxConns is the most connections open to one upstream; 0 is no limit.
	// Requests beyond it wait, within Timeout.
	MaxConns int
	// Status turns on the status page at StatusPath.
	Status bool
}

// Defaults of a [Config].
const (
	// DefaultKeepAlive is large enough that a load never loses connections
	// for the lack of room.
	DefaultKeepAlive = 65535
	// DefaultTimeout is that of nginx's proxy_read_timeout.
	DefaultTimeout = 60 * time.Second
)

func (c Config) withDefaults() Config {
	if c.Address == "" {
		c.Address = "127.0.0.1:0"
	}
	if c.Policy == "" {
		c.Policy = RoundRobin
	}
	if c.KeepAlive == 0 {
		c.KeepAlive = DefaultKeepAlive
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	addresses := make([]string, len(c.Upstreams)) // the caller's slice stays as it is
	for i, u := range c.Upstreams {
		addresses[i] = strings.TrimSuffix(strings.TrimPrefix(u, "http://"), "/")
	}
	c.Upstreams = addresses
	return c
}

// Validate returns every mistake in c, nil if there is none.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	if len(c.Upstreams) == 0 {
		errs = append(errs, errors.New("no upstream: name at least one, as host:port"))
	}
	for _, u := range c.Upstreams {
		if err := checkAddress(u); err != nil {
			errs = append(errs, fmt.Errorf("upstream %q: %w", u, err))
		}
	}
	if c.Policy != RoundRobin && c.Policy != LeastConn {
		errs = append(errs, fmt.Errorf("policy %q: want %s or %s", c.Policy, RoundRobin, LeastConn))
	}
	if c.Timeout < 0 {
		errs = append(errs, fmt.Errorf("timeout %v: is negative", c.Timeout))
	}
	if c.MaxConns < 0 {
		errs = append(errs, fmt.Errorf("connections %d: is negative", c.MaxConns))
	}
	return errors.Join(errs...)
}

func checkAddress(s string) error {
	if strings.ContainsAny(s, "/?#@ ") {
		return errors.New("want host:port and nothing else (plain HTTP, no path)")
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil || host == "" {
		return errors.New("want host:port")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return errors.New("want a port from 1 to 65535")
	}
	return nil
}
