package evloop

import (
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
)

// Address is where to connect to or from: a TCP address or a unix socket path.
// Loops on several threads may share one; it must not change once it was used.
type Address struct {
	TCP  netip.AddrPort
	Unix string

	raw atomic.Pointer[raw] // the kernel's form, made on first use
}

// String returns "host:port" or "unix:/path".
func (a *Address) String() string {
	if a.Unix != "" {
		return "unix:" + a.Unix
	}
	return a.TCP.String()
}

// IsLoopback reports whether the address is on this machine.
func (a *Address) IsLoopback() bool {
	return a.Unix != "" || a.TCP.Addr().Unmap().IsLoopback()
}

// ParseAddress reads "ip:port", "[ip6]:port" or "unix:/path". Names are not
// looked up.
func ParseAddress(s string) (*Address, error) {
	if path, ok := strings.CutPrefix(s, "unix:"); ok {
		if path == "" {
			return nil, fmt.Errorf("address %q: no path behind the colon", s)
		}
		return &Address{Unix: path}, nil
	}
	ap, err := netip.ParseAddrPort(s)
	if err != nil {
		return nil, fmt.Errorf("address %q: %w", s, err)
	}
	return &Address{TCP: ap}, nil
}

func (a *Address) network() string {
	if a.Unix != "" {
		return "unix"
	}
	return "tcp"
}

func (a *Address) local() net.Addr {
	if a.Unix != "" {
		return &net.UnixAddr{Name: a.Unix, Net: "unix"}
	}
	return net.TCPAddrFromAddrPort(a.TCP)
}
