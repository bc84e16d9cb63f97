package serve

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// pagePolicy allows a page what comes from this server, and no inline script.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// ownHeader is what a request that changes something carries. A page of another
// origin has to ask (a CORS preflight) before it sends one, and is never allowed.
const ownHeader = "X-Prony"

// guarded stands in front of everything.
func (s *Server) guarded(next http.Handler) http.Handler {
	g := guard{public: s.c.Public, names: s.c.Hosts, token: s.c.Token, origin: http.NewCrossOriginProtection()}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protect(w.Header())
		if p := g.refusal(r); p != nil {
			if p.Status == http.StatusUnauthorized {
				w.Header().Set("WWW-Authenticate", `Basic realm="prony: the token is the password", charset="UTF-8"`)
			}
			p.write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// protect sets what browsers are to know of every answer.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY") // for browsers that do not know frame-ancestors
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// guard decides whom to answer.
type guard struct {
	public bool
	names  []string
	token  string
	origin *http.CrossOriginProtection
}

// refusal says why a request is not answered; nil answers it.
func (g guard) refusal(r *http.Request) *problem {
	bearer := g.bears(r)
	switch {
	case !g.ours(r.Host):
		return trouble(http.StatusForbidden, "the request is for the host %q, which is not a name of this server; --host adds one", r.Host)
	case g.token != "" && !bearer && !g.basic(r):
		return trouble(http.StatusUnauthorized, "the token is needed, as Authorization: Bearer TOKEN or as the password of Basic")
	case r.Header.Get("Sec-Fetch-Site") == "cross-site" && strings.HasPrefix(r.URL.Path, "/api/"):
		return trouble(http.StatusForbidden, "a page elsewhere sent this request")
	case !changes(r):
		return nil
	case g.origin.Check(r) != nil:
		return trouble(http.StatusForbidden, "a page elsewhere sent this request")
	case !bearer && r.Header.Get(ownHeader) == "":
		return trouble(http.StatusForbidden, "a request that changes something needs the header %s: 1", ownHeader)
	}
	return nil
}

// changes says that a method is not one of those that only read (RFC 9110,
// 9.2.1).
func changes(r *http.Request) bool {
	return r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
}

// ours reports whether a host is this server: a loopback address or localhost,
// with any port, since a tunnel may have its own; one of the names; and any
// address where others may reach it, since only names can be made to lie.
func (g guard) ours(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), "."))
	if host == "localhost" {
		return true
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().IsLoopback() || g.public
	}
	return slices.ContainsFunc(g.names, func(name string) bool { return host != "" && strings.EqualFold(name, host) })
}

// bears reports whether a request has the token in a header that only a program
// or our own page sets.
func (g guard) bears(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return g.token != "" && strings.EqualFold(scheme, "Bearer") && g.same(token)
}

// basic reports whether a browser sent the token as a password. It does so by
// itself, also for other pages, which is why it stands for no header.
func (g guard) basic(r *http.Request) bool {
	_, password, ok := r.BasicAuth()
	return ok && g.same(password)
}

// same compares without telling by its time how much was right.
func (g guard) same(token string) bool {
	a, b := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(g.token))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}
