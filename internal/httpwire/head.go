package httpwire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
)

// framing is how the end of a response is found.
type framing uint8

const (
	frameNone    framing = iota // no body
	frameLength                 // a known number of bytes, not 0
	frameChunked                // chunked coding
	frameClose                  // until the peer closes
	frameInterim                // an interim response: another head follows
)

// head is what a head means for the rest of the response.
type head struct {
	length      int64 // bytes of body, for frameLength
	status      int
	minor       uint8
	framing     framing
	keepAlive   bool
	bothLengths bool
}

// readHead consumes a head, or what there is of it.
func (p *Parser) readHead(s *State, data []byte) (int, error) {
	s.started = true
	if s.carry != nil {
		return p.readCutHead(s, data)
	}
	if p.Capture != nil {
		// Nothing may be told of a head before all of it is there.
		if headEnd(data) < 0 {
			return len(data), p.carryHead(s, data)
		}
	} else if n := p.memo.match(data, s.kind); n > 0 {
		return n, p.apply(s, &p.memo.head, data[:n])
	}
	return p.finishHead(s, data)
}

// match returns the length of the remembered head if data starts with it and it
// answered the same kind of method, else 0.
func (m *memo) match(data []byte, kind MethodKind) int {
	n := len(m.bytes)
	if len(data) < n || kind != m.kind || !bytes.Equal(data[:n], m.bytes) {
		return 0
	}
	return n
}

// readCutHead consumes the rest of a head that began in an earlier read. An end
// that straddles the cut lies within the first two bytes of data.
func (p *Parser) readCutHead(s *State, data []byte) (int, error) {
	old := len(s.carry)
	near := min(2, len(data))
	p.keep(s, data[:near])
	from := max(0, old-2)
	used := 0
	if end := headEnd(s.carry[from:]); end >= 0 {
		used = from + end - old
	} else if end := headEnd(data); end >= 0 {
		used = end
	} else {
		return len(data), p.carryHead(s, data[near:])
	}
	s.carry = append(s.carry[:old], data[:used]...)
	_, err := p.finishHead(s, s.carry)
	p.release(s)
	return used, err
}

// carryHead keeps a piece of a head for later. What can be said of the piece is
// said at once: the peer may never send more.
func (p *Parser) carryHead(s *State, data []byte) error {
	p.keep(s, data)
	return p.checkHead(s.carry)
}

// headEnd returns the index after the first blank line, or -1. A line ends with
// CRLF or a bare LF (RFC 9112 section 2.2).
func headEnd(b []byte) int {
	end := bytes.Index(b, []byte("\n\r\n"))
	if end >= 0 {
		end += 3
		b = b[:end]
	}
	if bare := bytes.Index(b, []byte("\n\n")); bare >= 0 {
		return bare + 2
	}
	return end
}

// finishHead reads the head that b starts with, remembers it and sets s
// accordingly. If the head is not complete, it is kept for later.
func (p *Parser) finishHead(s *State, b []byte) (int, error) {
	h, end, err := p.parseHead(b, s.kind)
	if err != nil {
		// Later lines have a say: what is wrong must not depend on how much of
		// the head came at once.
		end = headEnd(b)
	}
	if end < 0 {
		return len(b), p.carryHead(s, b)
	}
	if err := p.checkHead(b[:end]); err != nil {
		return 0, err
	}
	if err != nil {
		return 0, err
	}
	if h.framing != frameInterim && end <= maxKeptHead {
		p.memo.bytes = append(p.memo.bytes[:0], b[:end]...)
		p.memo.kind, p.memo.head = s.kind, h
	}
	return end, p.apply(s, &h, b[:end])
}

// checkHead refuses a head, or a piece of one, by its start and its length.
func (p *Parser) checkHead(b []byte) error {
	if err := checkPrefix(b); err != nil {
		return err
	}
	if len(b) > p.limits.HeaderBytes {
		return tooLarge("head", p.limits.HeaderBytes)
	}
	return nil
}

// tooLarge is the error for a head or trailer above the limit.
func tooLarge(what string, limit int) error {
	return &Error{HeaderTooLarge, fmt.Sprintf("%s of more than %d bytes", what, limit)}
}

// apply sets s for what follows the head b, which means h.
func (p *Parser) apply(s *State, h *head, b []byte) error {
	if h.framing == frameInterim {
		if s.Interim++; s.Interim > maxInterim {
			return &Error{TooManyInterim, fmt.Sprintf("more than %d", maxInterim)}
		}
		return nil
	}
	s.Status, s.HeaderLen, s.Minor = h.status, len(b), h.minor
	s.KeepAlive, s.BothLengths = h.keepAlive, h.bothLengths
	switch h.framing {
	case frameLength:
		s.left, s.phase = h.length, phaseBody
		return p.checkBody(s, h.length)
	case frameChunked:
		s.Chunked, s.phase = true, phaseChunkLine
	case frameClose:
		s.phase = phaseUntilClose
	default:
		s.phase = phaseDone
	}
	return nil
}

// checkPrefix refuses a head that does not start like HTTP/1.x, however little
// of it there is.
func checkPrefix(b []byte) error {
	const want = "HTTP/1."
	n := min(len(b), len(want))
	if string(b[:n]) != want[:n] {
		return fault(BadStatusLine, "not HTTP/1.x:", firstLine(b))
	}
	return nil
}

// firstLine returns b up to its first line end.
func firstLine(b []byte) []byte {
	if i := bytes.IndexAny(b, "\r\n"); i >= 0 {
		return b[:i]
	}
	return b
}

// parseHead reads the head that b starts with, and returns where it ends or -1
// if b ends before.
func (p *Parser) parseHead(b []byte, kind MethodKind) (h head, end int, err error) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return h, -1, nil
	}
	line := trimCR(b[:i])
	status, err := parseStatusLine(line)
	if err != nil {
		return h, 0, err
	}
	f := fields{minor: line[7] - '0', length: -1, silent: p.Capture == nil || isInterim(status)}
	end, err = p.parseFields(&f, b, i+1)
	return f.head(status, kind), end, err
}

// trimCR cuts one CR from the end of a line.
func trimCR(line []byte) []byte {
	if n := len(line) - 1; n >= 0 && line[n] == '\r' {
		return line[:n]
	}
	return line
}

// parseStatusLine reads "HTTP/1.x NNN[ reason]" whose first seven bytes have
// been checked. As in net/http several spaces may stand before the code, and the
// reason may be missing with its space.
func parseStatusLine(line []byte) (status int, err error) {
	if len(line) < len("HTTP/1.1 200") || !isDigit(line[7]) || line[8] != ' ' {
		return 0, fault(BadStatusLine, "cannot read", line)
	}
	code := line[9:]
	for len(code) > 0 && code[0] == ' ' {
		code = code[1:]
	}
	if len(code) < 3 || !isDigit(code[0]) || !isDigit(code[1]) || !isDigit(code[2]) ||
		len(code) > 3 && code[3] != ' ' {
		return 0, fault(BadStatusLine, "no status code of three digits in", line)
	}
	status = int(code[0]-'0')*100 + int(code[1]-'0')*10 + int(code[2]-'0')
	if status < 100 {
		return 0, fault(BadStatusLine, "status code below 100 in", line)
	}
	return status, nil
}

func isInterim(status int) bool { return status < 200 && status != 101 }

// parseFields reads the field lines of b from i on, and returns the index after
// the blank line that ends them, or -1 if b ends before.
func (p *Parser) parseFields(f *fields, b []byte, i int) (end int, err error) {
	for {
		if end := blankLine(b, i); end >= 0 {
			return end, nil
		}
		colon := scanName(b, i)
		if colon == len(b) || i+1 == len(b) {
			return -1, nil
		}
		if colon == i || b[colon] != ':' {
			return 0, badLine(b[i:])
		}
		stop, next := scanValue(b, colon+1)
		value := trimSpace(b[colon+1 : stop])
		if next >= 0 && next < len(b) && isSpace(b[next]) {
			value, next = p.unfold(value, b, next)
		}
		if next < 0 {
			return 0, badLine(b[i:])
		}
		if next >= len(b) {
			return -1, nil
		}
		if !f.silent {
			p.Capture.Header(b[i:colon], value)
		}
		if first := b[i] | 0x20; first == 'c' || first == 't' {
			if err := f.add(b[i:colon], value); err != nil {
				return 0, err
			}
		}
		i = next
	}
}

// badLine is the error for the field line that b starts with.
func badLine(b []byte) error { return fault(BadHeader, "cannot read field line", firstLine(b)) }

// blankLine returns the index after the blank line at i, or -1 if there is none.
func blankLine(b []byte, i int) int {
	switch {
	case i < len(b) && b[i] == '\n':
		return i + 1
	case i+1 < len(b) && b[i] == '\r' && b[i+1] == '\n':
		return i + 2
	}
	return -1
}

// scanName returns the index of the first byte from i on that is no part of a
// field name. White space before the colon is one (RFC 9112 section 5.1).
func scanName(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if m := nonLetters(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			i += bits.TrailingZeros64(m) / 8
			break
		}
	}
	for i < len(b) && isToken(b[i]) {
		i++
	}
	return i
}

// scanValue looks for the end of the line from i on, and for control characters
// on the way. It returns where the value stops and where the next line starts:
// len(b) if b ends before that is known, -1 if a control character is in the way.
func scanValue(b []byte, i int) (stop, next int) {
	for i = nextControl(b, i); i < len(b); i = nextControl(b, i+1) {
		switch {
		case b[i] == '\t':
		case b[i] == '\n':
			return i, i + 1
		case b[i] != '\r':
			return i, -1
		case i+1 == len(b):
			return i, len(b)
		case b[i+1] == '\n':
			return i, i + 2
		default:
			return i, -1
		}
	}
	return len(b), len(b)
}

// unfold joins a value with the continuation lines from next on, one space
// between (RFC 9112 section 5.2), in a buffer of the parser. It returns next as
// scanValue does.
func (p *Parser) unfold(value, b []byte, next int) (joined []byte, after int) {
	p.fold = append(p.fold[:0], value...)
	for next >= 0 && next < len(b) && isSpace(b[next]) {
		stop, after := scanValue(b, next)
		p.fold = append(p.fold, ' ')
		p.fold = append(p.fold, trimSpace(b[next:stop])...)
		next = after
	}
	return trimSpace(p.fold), next
}
