package engine

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"prony/internal/evloop"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/scenario"
)

// target is one origin of the load: where its connections go and what they
// carry.
type target struct {
	origin string // "https://host:port"
	addrs  []*evloop.Address
	tls    *tls.Config
	mix    *scenario.Mix
	share  float64
	upTo   int // the number of the first connection that is the next target's
}

// resolve groups the requests by origin, looks the names up and encodes the
// requests.
func resolve(ctx context.Context, l *plan.Load) ([]*target, error) {
	var order []string
	groups := map[string][]plan.Request{}
	for _, q := range l.Requests {
		u, err := url.Parse(q.URL)
		if err != nil || u.Host == "" && l.Dial == "" {
			return nil, fmt.Errorf("invalid URL %q", q.URL)
		}
		key := u.Scheme + "://" + u.Host
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], q)
	}
	total := scenario.Share(l.Requests)
	var targets []*target
	for _, key := range order {
		t, err := newTarget(ctx, l, key, groups[key])
		if err != nil {
			return nil, err
		}
		t.share = scenario.Share(groups[key]) / total
		targets = append(targets, t)
	}
	return targets, divide(targets, l)
}

// divide gives each target its share of the connections, and at least one. In
// the open model it takes away threads that would lack a connection to some
// target: any of them may have to send there.
func divide(targets []*target, l *plan.Load) error {
	left := l.Connections
	if left < len(targets) {
		return fmt.Errorf("%d connections for %d origins: want at least one for each", left, len(targets))
	}
	for i, t := range targets {
		after := len(targets) - 1 - i
		n := left
		if after > 0 {
			n = min(max(int(math.Round(t.share*float64(l.Connections))), 1), left-after)
		}
		left -= n
		t.upTo = l.Connections - left
		if l.Model == plan.Open {
			l.Threads = min(l.Threads, n)
		}
	}
	return nil
}

// own copies addresses for a worker: they keep the kernel's form of themselves,
// made on first use, and are not for sharing between threads.
func own(shared []*evloop.Address) []*evloop.Address {
	list := make([]*evloop.Address, len(shared))
	for i, a := range shared {
		list[i] = &evloop.Address{TCP: a.TCP, Unix: a.Unix}
	}
	return list
}

func newTarget(ctx context.Context, l *plan.Load, origin string, requests []plan.Request) (*target, error) {
	u, err := url.Parse(origin)
	if err != nil {
		return nil, err
	}
	t := &target{origin: origin}
	if t.mix, err = scenario.NewMix(requests, l.NoKeepAlive, l.Pipeline); err != nil {
		return nil, err
	}
	if u.Scheme == "https" {
		if t.tls, err = tlsConfig(l.TLS, u.Hostname()); err != nil {
			return nil, err
		}
	}
	t.addrs, err = addresses(ctx, l, u)
	return t, err
}

// addresses finds every address of the target. Of several, those that refuse
// a trial connection are left out, unless all do.
func addresses(ctx context.Context, l *plan.Load, u *url.URL) ([]*evloop.Address, error) {
	where := l.Dial
	if where == "" {
		where = net.JoinHostPort(u.Hostname(), portOf(u))
	}
	if strings.HasPrefix(where, "unix:") {
		a, err := evloop.ParseAddress(where)
		return []*evloop.Address{a}, err
	}
	host, port, err := net.SplitHostPort(where)
	if err != nil {
		return nil, fmt.Errorf("address %q: want host:port: %w", where, err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("address %q: bad port %q", where, port)
	}
	ips, err := lookup(ctx, host, l.Timeouts.Connect)
	if err != nil {
		return nil, err
	}
	var all []*evloop.Address
	for _, ip := range ips {
		all = append(all, &evloop.Address{TCP: netip.AddrPortFrom(ip.Unmap(), uint16(n))})
	}
	return answering(ctx, all, l.Timeouts.Connect), nil
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

func lookup(ctx context.Context, host string, within time.Duration) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err == nil && len(ips) == 0 {
		err = errors.New("no address")
	}
	if err != nil {
		text := fmt.Sprintf("look up %s: %v", host, err)
		return nil, &UnreachableError{Kind: result.DNSFailed,
			Failure: result.Failure{Kind: result.DNSFailed.String(), Phase: "dns", Count: 1, Example: text}}
	}
	return ips, nil
}

func answering(ctx context.Context, all []*evloop.Address, within time.Duration) []*evloop.Address {
	if len(all) < 2 {
		return all
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	alive := make([]bool, len(all))
	var wg sync.WaitGroup
	for i, a := range all {
		wg.Go(func() {
			var d net.Dialer
			if c, err := d.DialContext(ctx, "tcp", a.TCP.String()); err == nil {
				alive[i] = c.Close() == nil
			}
		})
	}
	wg.Wait()
	var some []*evloop.Address
	for i, a := range all {
		if alive[i] {
			some = append(some, a)
		}
	}
	if len(some) == 0 {
		return all
	}
	return some
}

// sources are the local addresses to connect from; nil: the system's choice.
func sources(l *plan.Load) ([]*evloop.Address, error) {
	var list []*evloop.Address
	for _, s := range l.Sources {
		ip, err := netip.ParseAddr(s)
		if err != nil {
			return nil, fmt.Errorf("source address %q: %w", s, err)
		}
		list = append(list, &evloop.Address{TCP: netip.AddrPortFrom(ip.Unmap(), 0)})
	}
	return list, nil
}

var tlsVersions = map[string]uint16{"": 0, "1.0": tls.VersionTLS10, "1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13}

func tlsConfig(o plan.TLS, host string) (*tls.Config, error) {
	c := &tls.Config{ServerName: host, NextProtos: []string{"http/1.1"}, InsecureSkipVerify: o.Insecure}
	if o.ServerName != "" {
		c.ServerName = o.ServerName
	}
	if o.NoSNI {
		withoutSNI(c)
	}
	if !o.NoResume {
		c.ClientSessionCache = tls.NewLRUClientSessionCache(64)
	}
	var ok1, ok2 bool
	c.MinVersion, ok1 = tlsVersions[o.MinVersion]
	c.MaxVersion, ok2 = tlsVersions[o.MaxVersion]
	if !ok1 || !ok2 {
		return nil, fmt.Errorf("TLS version %q to %q: want 1.0, 1.1, 1.2 or 1.3", o.MinVersion, o.MaxVersion)
	}
	if err := readCertificates(c, o); err != nil {
		return nil, err
	}
	return c, setCiphers(c, o.Ciphers)
}

// withoutSNI leaves the name out of the hello and still verifies the
// certificate for it; crypto/tls has one field for both.
func withoutSNI(c *tls.Config) {
	name := c.ServerName
	c.ServerName = ""
	if c.InsecureSkipVerify {
		return
	}
	c.InsecureSkipVerify = true
	c.VerifyConnection = func(s tls.ConnectionState) error {
		o := x509.VerifyOptions{Roots: c.RootCAs, DNSName: name, Intermediates: x509.NewCertPool()}
		for _, above := range s.PeerCertificates[1:] {
			o.Intermediates.AddCert(above)
		}
		if _, err := s.PeerCertificates[0].Verify(o); err != nil {
			return &tls.CertificateVerificationError{UnverifiedCertificates: s.PeerCertificates, Err: err}
		}
		return nil
	}
}

func readCertificates(c *tls.Config, o plan.TLS) error {
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return fmt.Errorf("read CA certificates: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return fmt.Errorf("read CA certificates: no PEM certificate in %s", o.CAFile)
		}
	}
	if o.CertFile != "" {
		key := o.KeyFile
		if key == "" {
			key = o.CertFile
		}
		pair, err := tls.LoadX509KeyPair(o.CertFile, key)
		if err != nil {
			return fmt.Errorf("read client certificate: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return nil
}

func setCiphers(c *tls.Config, names []string) error {
	all := append(tls.CipherSuites(), tls.InsecureCipherSuites()...)
	for _, name := range names {
		i := slices.IndexFunc(all, func(s *tls.CipherSuite) bool { return s.Name == name })
		if i < 0 {
			return fmt.Errorf("TLS cipher suite %q is not known", name)
		}
		c.CipherSuites = append(c.CipherSuites, all[i].ID)
	}
	return nil
}
