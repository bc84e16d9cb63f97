package wrk

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Target is the URL in parts, as wrk understands it.
type Target struct {
	Scheme string // in small letters; with Quirks as typed
	Host   string // without brackets
	Port   string // as typed, or empty
	// Path goes on the wire: with the query and without the fragment. With
	// Quirks it is everything from the first slash on, or "/".
	Path string
}

// TLS reports whether the scheme asks for it: every scheme that begins with
// "https" does.
func (t Target) TLS() bool { return strings.HasPrefix(t.Scheme, "https") }

// Service is the port, or the name of the scheme to look one up with.
func (t Target) Service() string {
	if t.Port != "" {
		return t.Port
	}
	return t.Scheme
}

// Authority is the Host field: the port stands there only if it was typed.
func (t Target) Authority() string {
	host := t.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if t.Port != "" {
		host += ":" + t.Port
	}
	return host
}

// port is the number of the port.
func (t Target) port() (int, error) {
	switch {
	case t.Port != "":
		return strconv.Atoi(t.Port)
	case t.Scheme == "http":
		return 80, nil
	case t.Scheme == "https":
		return 443, nil
	}
	n, err := net.LookupPort("tcp", t.Scheme)
	if err != nil {
		return 0, fmt.Errorf("unable to resolve %s:%s %w", t.Host, t.Scheme, err)
	}
	return n, nil
}

// Target splits the URL. User and password are skipped, as in wrk.
func (o Options) Target() (Target, error) {
	t, ok := splitURL(o.URL, o.Quirks)
	if !ok {
		return Target{}, errors.New("invalid URL: " + o.URL)
	}
	return t, nil
}

// splitURL accepts what wrk's URL parser accepts and, without quirks, also
// underscores in host names and a fragment directly behind the host.
func splitURL(url string, quirks bool) (t Target, ok bool) {
	scheme, rest, found := strings.Cut(url, "://")
	if !found || !only(scheme, isLetter) || !only(rest, isVisible) {
		return t, false
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, path := rest[:end], rest[end:]
	if quirks && strings.HasPrefix(path, "#") {
		return t, false
	}
	t.Scheme = scheme
	if !quirks {
		t.Scheme = strings.ToLower(scheme)
	}
	t.Path = pathOf(path, quirks)
	return t, t.setAuthority(authority, quirks)
}

// pathOf is what is requested. wrk loses a query without a path and sends the
// fragment along; neither is what the URL means.
func pathOf(rest string, quirks bool) string {
	if quirks {
		if !strings.HasPrefix(rest, "/") {
			return "/"
		}
		return rest
	}
	rest, _, _ = strings.Cut(rest, "#")
	if !strings.HasPrefix(rest, "/") {
		rest = "/" + rest
	}
	return rest
}

// setAuthority splits "user@host:port".
func (t *Target) setAuthority(s string, quirks bool) (ok bool) {
	if user, host, found := strings.Cut(s, "@"); found {
		if !only(user+"u", isUserByte) {
			return false
		}
		s = host
	}
	rest := ""
	if strings.HasPrefix(s, "[") {
		t.Host, rest, ok = strings.Cut(s[1:], "]")
		ok = ok && strings.Contains(t.Host, ":") && only(t.Host, isIPv6Byte)
	} else {
		end := strings.IndexByte(s+":", ':')
		t.Host, rest = s[:end], s[end:]
		ok = only(t.Host, func(c byte) bool { return isHostByte(c) || c == '_' && !quirks })
	}
	if !ok || rest == "" {
		return ok
	}
	t.Port = rest[1:]
	_, err := strconv.ParseUint(t.Port, 10, 16)
	return rest[0] == ':' && err == nil
}

// only reports whether s has bytes and all are of the class.
func only(s string, class func(byte) bool) bool {
	for i := range len(s) {
		if !class(s[i]) {
			return false
		}
	}
	return s != ""
}

func isLetter(c byte) bool   { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool    { return c >= '0' && c <= '9' }
func isVisible(c byte) bool  { return c > ' ' && c < 0x7f }
func isHostByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '.' || c == '-' }
func isIPv6Byte(c byte) bool {
	return isHostByte(c) || c == ':' || c == '%' || c == '_'
}
func isUserByte(c byte) bool {
	return isLetter(c) || isDigit(c) || strings.IndexByte("-_.!~*'();:&=+$,%", c) >= 0
}
