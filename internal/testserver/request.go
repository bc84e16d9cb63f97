package testserver

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bounds of a request.
const (
	maxHead = 64 << 10 // bytes of the request line and the header, or of a trailer
	maxBody = 64 << 20 // bytes
	maxKept = 1 << 20  // bytes of a body kept for /echo; the rest is read and dropped
)

// request is one parsed request head, and what has been kept of its body.
type request struct {
	head   []byte // as received, without the empty line at its end
	method string
	path   string // of the target, without scheme, host and query
	minor  int    // HTTP/1.minor
	length int64  // of the body; 0 when chunked

	chunked  bool
	expects  bool // 100-continue
	closes   bool // the client wants the connection closed
	body     []byte
	hasLen   bool
	connKeep bool // "Connection: keep-alive" was there
}

// badRequest is a request the server refuses, with the status that says why.
type badRequest struct {
	status int
	reason string
}

func (b *badRequest) Error() string { return b.reason }

func refuse(status int, format string, args ...any) error {
	return &badRequest{status, fmt.Sprintf(format, args...)}
}

// readHead reads a request head. The error is io.EOF if the connection ended
// before its first byte, and a *badRequest if it is not HTTP/1.
func readHead(br *bufio.Reader) (*request, error) {
	r := &request{}
	line, err := readLine(br, &r.head)
	for err == nil && len(line) == 0 && len(r.head) < 16 { // RFC 9112, 2.2: skip empty lines before a request
		line, err = readLine(br, &r.head)
	}
	if err != nil {
		if errors.Is(err, io.EOF) && len(bytes.Trim(r.head, "\r\n")) == 0 {
			return nil, io.EOF
		}
		return nil, err
	}
	if err := r.parseLine(string(line)); err != nil {
		return nil, err
	}
	for {
		line, err := readLine(br, &r.head)
		if err != nil {
			return nil, err
		}
		if len(line) == 0 {
			break
		}
		if err := r.parseField(line); err != nil {
			return nil, err
		}
	}
	r.head = bytes.TrimLeft(bytes.TrimRight(r.head, "\r\n"), "\r\n")
	r.closes = r.closes || r.minor == 0 && !r.connKeep
	if r.chunked && r.hasLen {
		return nil, refuse(400, "both Content-Length and Transfer-Encoding")
	}
	if r.chunked && r.minor == 0 {
		return nil, refuse(400, "Transfer-Encoding in HTTP/1.0")
	}
	return r, nil
}

// readLine reads a line, appends it as it came to all, and returns it without
// its end. The error is io.ErrUnexpectedEOF if the line has no end.
func readLine(br *bufio.Reader, all *[]byte) ([]byte, error) {
	start := len(*all)
	for {
		part, err := br.ReadSlice('\n')
		*all = append(*all, part...)
		if len(*all) > maxHead {
			return nil, refuse(431, "head over %d bytes", maxHead)
		}
		if err == nil {
			line := (*all)[start : len(*all)-1]
			return bytes.TrimSuffix(line, []byte("\r")), nil
		}
		if errors.Is(err, io.EOF) {
			return nil, io.ErrUnexpectedEOF
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

// parseLine parses the request line.
func (r *request) parseLine(line string) error {
	method, rest, _ := strings.Cut(line, " ")
	target, proto, ok := strings.Cut(rest, " ")
	if !ok || !isToken(method) || target == "" {
		return refuse(400, "request line %.40q", line)
	}
	switch proto {
	case "HTTP/1.1":
		r.minor = 1
	case "HTTP/1.0":
	default:
		return refuse(505, "protocol %.20q", proto)
	}
	r.method = method
	// The absolute form is what a client sends to a proxy.
	if _, after, ok := strings.Cut(target, "://"); ok && target[0] != '/' {
		host := strings.IndexAny(after, "/?")
		if host < 0 {
			host = len(after)
		}
		target = after[host:]
	}
	r.path, _, _ = strings.Cut(target, "?")
	if r.path == "" {
		r.path = "/"
	}
	return nil
}

// parseField parses a header field, as far as it concerns framing.
func (r *request) parseField(line []byte) error {
	name, value, ok := bytes.Cut(line, []byte(":"))
	if !ok || !isToken(string(name)) {
		return refuse(400, "header field %.40q", line)
	}
	v := strings.Trim(string(value), " \t")
	switch strings.ToLower(string(name)) {
	case "content-length":
		return r.parseLength(v)
	case "transfer-encoding":
		if r.chunked || !strings.EqualFold(v, "chunked") {
			return refuse(501, "transfer encoding %.40q", v)
		}
		r.chunked = true
	case "expect":
		r.expects = strings.EqualFold(v, "100-continue")
	case "connection":
		for option := range strings.SplitSeq(v, ",") {
			option = strings.Trim(option, " \t")
			r.closes = r.closes || strings.EqualFold(option, "close")
			r.connKeep = r.connKeep || strings.EqualFold(option, "keep-alive")
		}
	}
	return nil
}

func (r *request) parseLength(v string) error {
	n, err := strconv.ParseUint(v, 10, 63)
	if err != nil || r.hasLen && int64(n) != r.length {
		return refuse(400, "content length %.40q", v)
	}
	if n > maxBody {
		return refuse(413, "body over %d bytes", maxBody)
	}
	r.length, r.hasLen = int64(n), true
	return nil
}

// hasBody tells whether bytes of a body follow the head.
func (r *request) hasBody() bool { return r.chunked || r.length > 0 }

// readBody reads the body and keeps up to keep bytes of it.
func (r *request) readBody(br *bufio.Reader, keep int) error {
	if !r.chunked {
		return r.take(br, r.length, keep)
	}
	var total int64
	for {
		n, err := readChunkSize(br)
		if err != nil {
			return err
		}
		if total += n; total > maxBody {
			return refuse(413, "body over %d bytes", maxBody)
		}
		if n == 0 {
			return skipTrailer(br)
		}
		if err := r.take(br, n, keep); err != nil {
			return err
		}
		var end []byte
		if line, err := readLine(br, &end); err != nil || len(line) > 0 {
			return cmp.Or(err, refuse(400, "chunk longer than its size"))
		}
	}
}

// take reads n bytes of the body.
func (r *request) take(br *bufio.Reader, n int64, keep int) error {
	kept := min(n, int64(keep-len(r.body)))
	at := len(r.body)
	r.body = append(r.body, make([]byte, kept)...)
	_, err := io.ReadFull(br, r.body[at:])
	if err == nil {
		_, err = io.CopyN(io.Discard, br, n-kept)
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readChunkSize reads a chunk's first line; extensions are ignored.
func readChunkSize(br *bufio.Reader) (int64, error) {
	var all []byte
	line, err := readLine(br, &all)
	if err != nil {
		return 0, err
	}
	size, _, _ := strings.Cut(string(line), ";")
	n, err := strconv.ParseUint(strings.TrimRight(size, " \t"), 16, 31)
	if err != nil {
		return 0, refuse(400, "chunk size %.20q", size)
	}
	return int64(n), nil
}

// skipTrailer reads up to the empty line behind the last chunk.
func skipTrailer(br *bufio.Reader) error {
	var all []byte
	for {
		line, err := readLine(br, &all)
		if err != nil || len(line) == 0 {
			return err
		}
	}
}

// isToken tells whether s is a token of RFC 9110, 5.6.2.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return s != ""
}
