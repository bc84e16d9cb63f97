package driver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
)

// Ports hands out the TCP ports of hosts, none twice at the same time. The zero
// value is ready. One that was given back comes round again last, because the
// system may hold it for a while (RFC 9293, TIME-WAIT).
type Ports struct {
	mu    sync.Mutex // guards all below
	taken map[string]map[int]bool
	next  map[string]int // by site
}

var (
	errPort     = errors.New("it is in use")
	errPortRun  = errors.New("another instance of this run has it")
	errPortNone = errors.New("no free port on the host")
)

// Take takes a port on a site: want if it is not 0, else a free one.
func (p *Ports) Take(ctx context.Context, s Site, want int) (int, error) {
	used, span, err := s.sockets(ctx)
	if err != nil {
		return 0, fmt.Errorf("look for a free port: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken == nil {
		p.taken, p.next = map[string]map[int]bool{}, map[string]int{}
	}
	taken := p.taken[s.Name]
	if taken == nil {
		taken = map[int]bool{}
		p.taken[s.Name] = taken
	}
	if want != 0 {
		return want, p.reserve(s, want, used)
	}
	for range span.width() {
		port := p.following(s, span)
		if p.reserve(s, port, used) == nil {
			return port, nil
		}
	}
	return 0, errPortNone
}

// Give gives a port back.
func (p *Ports) Give(s Site, port int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.taken[s.Name], port)
}

// reserve takes one port if it is free. The lock is held.
func (p *Ports) reserve(s Site, port int, used map[int]bool) error {
	var err error
	switch {
	case p.taken[s.Name][port]:
		err = errPortRun
	case used[port] || s.Here() && !bindable(s.Reach(), port):
		err = errPort
	}
	if err != nil {
		return fmt.Errorf("take port %d: %w", port, err)
	}
	p.taken[s.Name][port] = true
	return nil
}

// following goes round the span, from a start that differs between runs. The
// lock is held.
func (p *Ports) following(s Site, span span) int {
	n, begun := p.next[s.Name]
	if !begun || n > span.last {
		n = span.first
		if !begun {
			n += rand.IntN(span.width())
		}
	}
	p.next[s.Name] = n + 1
	return n
}

// bindable tries a port of this machine, for what the tables do not show.
func bindable(address string, port int) bool {
	for _, a := range []string{address, ""} {
		l, err := net.Listen("tcp", net.JoinHostPort(a, strconv.Itoa(port)))
		if err != nil {
			return false
		}
		_ = l.Close()
	}
	return true
}

// span is a range of ports, both ends within.
type span struct{ first, last int }

func (s span) width() int { return s.last - s.first + 1 }

// sockets reads which ports of a host are in use, and where free ones are. A
// host without these files tells nothing, which is no error.
func (s Site) sockets(ctx context.Context) (used map[int]bool, where span, err error) {
	used, where = map[int]bool{}, ordinary()
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		if err := context.Cause(ctx); err != nil {
			return used, where, err
		}
		text, err := s.Host.FS().ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return used, where, err
		}
		for _, port := range parseSockets(string(text)) {
			used[port] = true
		}
	}
	text, err := s.Host.FS().ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return used, where, nil
	}
	return used, parseRange(string(text)), nil
}

// ordinary lies below what Linux takes for outgoing connections by default.
func ordinary() span { return span{20000, 32767} }

// parseSockets lists the local ports of /proc/net/tcp, of sockets in any state:
//
//	sl  local_address rem_address   st ...
//	 0: 0100007F:1F90 00000000:0000 0A ...
//
// (proc_net_tcp.rst: address and port in hexadecimal). Lines that look otherwise
// are skipped: kernels grow.
func parseSockets(text string) []int {
	var ports []int
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 2 {
			continue
		}
		_, hex, found := strings.Cut(fields[1], ":")
		if port, err := strconv.ParseUint(hex, 16, 16); found && err == nil && port > 0 {
			ports = append(ports, int(port))
		}
	}
	return ports
}

// room is how many ports a span should have.
const room = 1000

// parseRange finds a span beside the ports for outgoing connections, "32768
// 60999" (ip-sysctl.rst, ip_local_port_range): below or above them, among them
// if they take all.
func parseRange(text string) span {
	fields := strings.Fields(text)
	if len(fields) != 2 {
		return ordinary()
	}
	low, err := strconv.ParseUint(fields[0], 10, 16)
	high, err2 := strconv.ParseUint(fields[1], 10, 16)
	usual := ordinary()
	switch {
	case err != nil || err2 != nil || low > high:
		return usual
	case int(low) >= usual.first+room:
		return span{usual.first, min(int(low)-1, usual.last)}
	case int(low) >= 10000+room:
		return span{10000, int(low) - 1}
	case int(high) <= 65535-room:
		return span{max(int(high)+1, 10000), 65535}
	}
	return usual
}
