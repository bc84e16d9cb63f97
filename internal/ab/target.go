package ab

import (
	"math"
	"net"
	"strconv"
	"strings"
)

// setURL takes the argument apart as ab does: an optional scheme, everything
// up to the first slash as host and port, the rest as the path. What ab would
// look up as a host name although it cannot be one (a name and password, an
// unknown scheme, a colon without port) is an invalid URL here.
func (o *Options) setURL(arg string) error {
	o.URL = arg
	rest := arg
	if after, ok := strings.CutPrefix(arg, "http://"); ok && after != "" {
		rest = after
	} else if after, ok := strings.CutPrefix(arg, "https://"); ok && after != "" {
		rest, o.TLS = after, true
	}
	slash := strings.IndexByte(rest, '/')
	if slash < 0 || !o.setAuthority(rest[:slash]) {
		return misuse("invalid URL")
	}
	o.Path = rest[slash:]
	return nil
}

// setAuthority splits host and port; false if it is not host[:port].
func (o *Options) setAuthority(s string) bool {
	host, port := s, ""
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 || net.ParseIP(s[1:end]) == nil || s[end+1:] != "" && s[end+1] != ':' {
			return false
		}
		host, port, o.bracketed = s[1:end], s[end+1:], true
	} else if i := strings.IndexByte(s, ':'); i >= 0 {
		host, port = s[:i], s[i:]
	}
	// A number alone is a port without a host.
	if host == "" || strings.Trim(host, "0123456789") == "" || strings.ContainsAny(host, "@%?# ") {
		return false
	}
	o.Host, o.Port = host, o.defaultPort()
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port[1:], 10, 16)
	if err != nil || n < 1 || n > math.MaxUint16 {
		return false
	}
	o.Port = int(n)
	return true
}

// defaultPort is the scheme's.
func (o Options) defaultPort() int {
	if o.TLS {
		return 443
	}
	return 80
}

// authority is host and port as a Host header has them: the scheme's own port
// is left out.
func (o Options) authority() string {
	if o.Port == o.defaultPort() {
		return o.hostField()
	}
	return o.hostField() + ":" + strconv.Itoa(o.Port)
}

// root is the URL up to the path, with its scheme even when none was typed.
func (o Options) root() string {
	if o.TLS {
		return "https://" + o.authority()
	}
	return "http://" + o.authority()
}

// serverName is the name for TLS's SNI, "" for none: the Host header given
// with -H, else the URL's host; addresses have no SNI (RFC 6066 section 3).
func (o Options) serverName() string {
	if !o.TLS || o.NoSNI {
		return ""
	}
	name := o.Host
	if h, ok := o.has("Host"); ok {
		name = h
		if host, _, err := net.SplitHostPort(h); err == nil {
			name = host
		}
	}
	if net.ParseIP(strings.Trim(name, "[]")) != nil {
		return ""
	}
	return name
}
