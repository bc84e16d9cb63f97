package httpwire

import (
	"bytes"
	"fmt"
	"strconv"
)

// Header is one field of a request. Order and case are kept as given.
type Header struct{ Name, Value string }

// Request is a request to be encoded once and sent many times.
type Request struct {
	Method  string   // "" = GET
	Target  string   // as it goes on the wire, such as "/a?b=c"; "" = "/"
	Proto   string   // "HTTP/1.1" or "HTTP/1.0"; "" = HTTP/1.1
	Host    string   // may be empty in HTTP/1.0 only, unless Headers holds a Host
	Headers []Header // in this order; a Host here replaces Host above, at its own place
	Body    []byte   // if Headers holds a Transfer-Encoding, in that coding already
	Close   bool     // adds "Connection: close"
}

// Append appends the request as it goes on the wire: request line, Host unless
// it is among the fields, the fields in their order, Connection if Close is
// set, Content-Length, blank line, body.
// Content-Length is added when there is a body or the method is POST, PUT or
// PATCH, unless it or Transfer-Encoding is given (RFC 9110 section 8.6).
//
// It refuses what would make other requests of the bytes than the one asked for:
// control characters anywhere, a method or a field name that is no token, spaces
// in the target, a body that is not what the fields announce.
func (r Request) Append(b []byte) ([]byte, error) {
	r.setDefaults()
	if err := r.checkLine(); err != nil {
		return b, fmt.Errorf("encode request: %w", err)
	}
	w, err := r.checkFields()
	if err == nil {
		err = r.checkMeaning(w)
	}
	if err != nil {
		return b, fmt.Errorf("encode request: %w", err)
	}
	return r.append(b, w), nil
}

// wellKnown is what the given fields say about the ones this package knows.
type wellKnown struct {
	host       *Header // the Host given among the fields
	length     bool    // a Content-Length is given
	coded      bool    // a Transfer-Encoding is given
	connection fields  // closes and keeps
}

func (r *Request) setDefaults() {
	if r.Method == "" {
		r.Method = "GET"
	}
	if r.Target == "" {
		r.Target = "/"
	}
	if r.Proto == "" {
		r.Proto = "HTTP/1.1"
	}
}

// checkLine checks what stands in the request line, and Host.
func (r *Request) checkLine() error {
	if !isTokens(r.Method) {
		return fmt.Errorf("method %q is not a token", r.Method)
	}
	if i := badTargetByte([]byte(r.Target)); i >= 0 {
		return fmt.Errorf("target %q: space or control character at byte %d", r.Target, i)
	}
	if r.Proto != "HTTP/1.1" && r.Proto != "HTTP/1.0" {
		return fmt.Errorf("protocol %q is neither HTTP/1.1 nor HTTP/1.0", r.Proto)
	}
	if i := badTargetByte([]byte(r.Host)); i >= 0 {
		return fmt.Errorf("host %q: space or control character at byte %d", r.Host, i)
	}
	return nil
}

// checkFields checks each given field.
func (r *Request) checkFields() (wellKnown, error) {
	var w wellKnown
	for i := range r.Headers {
		h := &r.Headers[i]
		if !isTokens(h.Name) {
			return w, fmt.Errorf("header name %q is not a token", h.Name)
		}
		if !validValue([]byte(h.Value)) {
			return w, fmt.Errorf("header %s: control character in %q", h.Name, h.Value)
		}
		if err := r.note(&w, h); err != nil {
			return w, fmt.Errorf("header %s: %w", h.Name, err)
		}
	}
	return w, nil
}

// note takes in a field that this package gives a meaning to.
func (r *Request) note(w *wellKnown, h *Header) error {
	switch {
	case equalFold(h.Name, "host"):
		return w.setHost(h)
	case equalFold(h.Name, "content-length"):
		n, ok := parseDecimal(trimSpace([]byte(h.Value)))
		if !ok || n != int64(len(r.Body)) {
			return fmt.Errorf("%q, but the body has %d bytes", h.Value, len(r.Body))
		}
		if w.length {
			return fmt.Errorf("given twice")
		}
		w.length = true
	case equalFold(h.Name, "transfer-encoding"):
		w.coded = true
		w.connection.minor = 1
		return w.connection.addCoding([]byte(h.Value))
	case equalFold(h.Name, "connection"):
		w.connection.addConnection([]byte(h.Value))
	}
	return nil
}

func (w *wellKnown) setHost(h *Header) error {
	if w.host != nil {
		return fmt.Errorf("given twice")
	}
	if i := badTargetByte(trimSpace([]byte(h.Value))); i >= 0 {
		return fmt.Errorf("space in %q", h.Value)
	}
	w.host = h
	return nil
}

// checkMeaning checks what only all fields together can tell.
func (r *Request) checkMeaning(w wellKnown) error {
	switch {
	case r.Host == "" && w.host == nil && r.Proto == "HTTP/1.1":
		return fmt.Errorf("no host, which HTTP/1.1 demands")
	case r.Close && w.connection.keeps:
		return fmt.Errorf("both close and keep-alive asked for")
	case w.coded && w.length:
		return fmt.Errorf("both transfer-encoding and content-length")
	case w.coded && r.Proto == "HTTP/1.0":
		return fmt.Errorf("transfer-encoding in HTTP/1.0")
	case w.coded && !w.connection.chunked:
		return fmt.Errorf("transfer-encoding does not end in chunked")
	case w.coded:
		return checkChunkedBody(r.Body)
	}
	return nil
}

// checkChunkedBody tells whether body is one complete chunked body and no more.
func checkChunkedBody(body []byte) error {
	p, s := NewParser(Limits{}), State{phase: phaseChunkLine}
	n, done, err := p.Parse(&s, body)
	switch {
	case err != nil:
		return fmt.Errorf("chunked body: %w", err)
	case !done:
		return fmt.Errorf("chunked body is incomplete")
	case n < len(body):
		return fmt.Errorf("%d bytes after the chunked body", len(body)-n)
	}
	return nil
}

// append writes the checked request.
func (r *Request) append(b []byte, w wellKnown) []byte {
	b = append(b, r.Method...)
	b = append(b, ' ')
	b = append(b, r.Target...)
	b = append(b, ' ')
	b = append(b, r.Proto...)
	b = append(b, "\r\n"...)
	if w.host == nil && r.Host != "" {
		b = appendField(b, "Host", r.Host)
	}
	for i := range r.Headers {
		b = appendField(b, r.Headers[i].Name, r.Headers[i].Value)
	}
	if r.Close && !w.connection.closes {
		b = appendField(b, "Connection", "close")
	}
	if !w.length && !w.coded && (len(r.Body) > 0 || expectsBody(r.Method)) {
		b = appendField(b, "Content-Length", strconv.Itoa(len(r.Body)))
	}
	b = append(b, "\r\n"...)
	return append(b, r.Body...)
}

func appendField(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, ": "...)
	b = append(b, value...)
	return append(b, "\r\n"...)
}

// expectsBody tells whether an empty body is worth announcing.
func expectsBody(method string) bool {
	return method == "POST" || method == "PUT" || method == "PATCH"
}

// isTokens tells whether s is a token of at least one byte.
func isTokens(s string) bool {
	for i := range len(s) {
		if !isToken(s[i]) {
			return false
		}
	}
	return s != ""
}

// badTargetByte returns the index of the first byte that ends or breaks a
// request target or a host, or -1.
func badTargetByte(b []byte) int {
	return bytes.IndexFunc(b, func(c rune) bool { return c <= ' ' || c == 0x7f })
}
