package httpwire

import (
	"bytes"
	"fmt"
)

// RequestError is a place in request bytes where they stop being requests. Line
// and Column count from 1, columns in bytes.
type RequestError struct {
	Reason string
	Line   int
	Column int
}

// Error returns the reason and the place, such as "incomplete request at 3:1".
func (e *RequestError) Error() string {
	return fmt.Sprintf("%s at %d:%d", e.Reason, e.Line, e.Column)
}

// CheckRequest verifies that b holds complete requests and nothing else, counts
// them and returns their methods in order. Line ends before a request are
// skipped and a bare LF ends a line of the head, as servers do (RFC 9112 section
// 2.2). The error is a [RequestError].
func CheckRequest(b []byte) (count int, methods []string, err error) {
	c := checker{all: b, rest: b}
	for c.skipLineEnds(); len(c.rest) > 0 || count == 0; c.skipLineEnds() {
		method, err := c.request()
		if err != nil {
			return count, methods, err
		}
		methods = append(methods, method)
		count++
	}
	return count, methods, nil
}

// checker walks through request bytes.
type checker struct{ all, rest []byte }

// errorAt makes an error for the place where at, a tail of all, begins.
func (c *checker) errorAt(at []byte, reason string) error {
	before := c.all[:len(c.all)-len(at)]
	column := len(before) - (bytes.LastIndexByte(before, '\n') + 1) + 1
	return &RequestError{reason, bytes.Count(before, []byte("\n")) + 1, column}
}

// incomplete is the error for bytes that end too early.
func (c *checker) incomplete() error { return c.errorAt(nil, "incomplete request") }

func (c *checker) skipLineEnds() {
	for len(c.rest) > 0 && (c.rest[0] == '\r' || c.rest[0] == '\n') {
		c.rest = c.rest[1:]
	}
}

// request consumes one request.
func (c *checker) request() (method string, err error) {
	if method, err = c.requestLine(); err != nil {
		return "", err
	}
	f := fields{minor: 1, length: -1}
	for {
		more, err := c.field(&f)
		if err != nil {
			return "", err
		}
		if !more {
			return method, c.body(&f)
		}
	}
}

// requestLine consumes "METHOD TARGET HTTP/1.x".
func (c *checker) requestLine() (method string, err error) {
	start := c.rest
	i := 0
	for i < len(start) && isToken(start[i]) {
		i++
	}
	if i == 0 && len(start) > 0 || i < len(start) && start[i] != ' ' {
		return "", c.errorAt(start[i:], "invalid HTTP method")
	}
	target := start[min(i+1, len(start)):]
	j := badTargetByte(target)
	switch {
	case j < 0:
		return "", c.incomplete()
	case j == 0 || target[j] != ' ':
		return "", c.errorAt(target[j:], "invalid URL")
	}
	return string(start[:i]), c.version(target[j+1:])
}

// version consumes the rest of the request line.
func (c *checker) version(at []byte) error {
	const want = "HTTP/1."
	n := min(len(at), len(want))
	if string(at[:n]) != want[:n] || len(at) > n && !isDigit(at[n]) {
		return c.errorAt(at, "invalid HTTP version")
	}
	if len(at) < len(want)+2 {
		return c.incomplete()
	}
	c.rest = at
	line, err := c.line()
	if err == nil && len(line) != len(want)+1 {
		return c.errorAt(at, "invalid HTTP version")
	}
	return err
}

// line consumes a line and returns it without its end.
func (c *checker) line() ([]byte, error) {
	i := bytes.IndexByte(c.rest, '\n')
	if i < 0 {
		return nil, c.incomplete()
	}
	line := trimCR(c.rest[:i])
	c.rest = c.rest[i+1:]
	return line, nil
}

// field consumes a field line; more is false at the blank line.
func (c *checker) field(f *fields) (more bool, err error) {
	start := c.rest
	line, err := c.line()
	if err != nil || len(line) == 0 {
		return false, err
	}
	name, value, err := splitField(line)
	if err != nil || !validValue(value) {
		return false, c.errorAt(start, "invalid character in header")
	}
	if err := f.add(name, value); err != nil {
		return false, c.errorAt(start, "invalid content-length or transfer-encoding")
	}
	if f.coded && f.length >= 0 {
		return false, c.errorAt(start, "unexpected content-length header")
	}
	return true, nil
}

// body consumes the body that the fields announce.
func (c *checker) body(f *fields) error {
	switch {
	case f.coded && !f.chunked:
		return c.errorAt(c.rest, "transfer-encoding does not end in chunked")
	case f.chunked:
		return c.chunked()
	case f.length > int64(len(c.rest)):
		return c.incomplete()
	case f.length > 0:
		c.rest = c.rest[f.length:]
	}
	return nil
}

// chunked consumes a body in chunked coding.
func (c *checker) chunked() error {
	p, s := NewParser(Limits{}), State{phase: phaseChunkLine}
	for len(c.rest) > 0 {
		used, err := p.step(&s, c.rest)
		if err != nil {
			return c.errorAt(c.rest, "invalid chunked body")
		}
		if c.rest = c.rest[used:]; s.phase == phaseDone {
			return nil
		}
	}
	return c.incomplete()
}
