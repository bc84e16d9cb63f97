package httpwire

import "fmt"

// MethodKind is what a response's framing depends on in the request's method.
type MethodKind uint8

// The kinds of method. The zero value stands for all that frame alike.
const (
	MethodOther   MethodKind = iota // GET, POST and all others
	MethodHead                      // no body, whatever the fields announce
	MethodConnect                   // no body after a 2xx: a tunnel begins
)

// MethodKindOf returns the kind of a method, compared exactly: methods are case
// sensitive (RFC 9110 section 9.1).
func MethodKindOf(method string) MethodKind {
	switch method {
	case "HEAD":
		return MethodHead
	case "CONNECT":
		return MethodConnect
	}
	return MethodOther
}

// phase is what the next byte of a response belongs to.
type phase uint8

const (
	phaseHead       phase = iota // a status line or field line; the zero State waits for it
	phaseBody                    // a body of known length, left bytes to come
	phaseUntilClose              // a body that ends when the peer closes
	phaseChunkLine               // the size of the next chunk
	phaseChunkData               // left bytes of a chunk
	phaseChunkCR                 // the CR after a chunk
	phaseChunkLF                 // the LF after a chunk
	phaseTrailer                 // trailer lines, left bytes seen
	phaseDone                    // complete
	phaseFailed                  // an error was returned
)

// State is where one connection stands in its response: 64 bytes, and a zero
// State waits for a response to a method of kind [MethodOther]. The exported
// fields are meaningful once [Parser.Parse] or [Parser.EOF] has said done, until
// the next call with this State.
type State struct {
	BodyLen     int64  // bytes of body, chunked coding undone
	left        int64  // see the phases
	carry       []byte // a head or line cut by a read; nil nearly always
	Status      int    // 101 or 200 to 999
	HeaderLen   int    // bytes of the final head, blank line included, trailer not
	Minor       uint8  // 1 for HTTP/1.1
	Interim     uint8  // 1xx responses that came before
	KeepAlive   bool   // the connection may carry another request
	Chunked     bool   // the body came in chunks
	BothLengths bool   // Transfer-Encoding and Content-Length came together
	kind        MethodKind
	phase       phase
	started     bool
}

// Reset forgets everything, for a connection that was closed or replaced.
func (s *State) Reset() { *s = State{} }

// Started tells whether a byte of the expected response, or of an interim one
// before it, has been seen.
func (s *State) Started() bool { return s.started }

// Done tells whether the response is complete and the exported fields hold.
func (s *State) Done() bool { return s.phase == phaseDone }

// Begin says that a response to a request of kind m is expected next. Needed
// before each response whose kind differs from the one before; without it, the
// next Parse after a complete response expects one of the same kind.
func (p *Parser) Begin(s *State, m MethodKind) {
	if s.carry != nil {
		p.release(s)
	}
	*s = State{kind: m}
}

// EOF says that the peer has closed. It returns done when that ends the
// response (a body without length), [ErrIdleClose] when no byte of a response
// had come, and an [Error] of kind [Truncated] in the middle of one.
func (p *Parser) EOF(s *State) (done bool, err error) {
	switch {
	case s.phase == phaseUntilClose:
		s.phase = phaseDone
		return true, nil
	case s.phase == phaseFailed:
		return false, ErrFailed
	case s.phase == phaseDone, !s.started:
		return false, ErrIdleClose
	}
	err = &Error{Truncated, s.whereCut()}
	p.fail(s)
	return false, err
}

// whereCut tells people in which part of the response the peer closed.
func (s *State) whereCut() string {
	switch s.phase {
	case phaseHead:
		if len(s.carry) == 0 {
			return fmt.Sprintf("closed after %d interim responses", s.Interim)
		}
		return fmt.Sprintf("closed after %d bytes of the head", len(s.carry))
	case phaseBody:
		return fmt.Sprintf("closed after %d of %d bytes of the body", s.BodyLen, s.BodyLen+s.left)
	case phaseTrailer:
		return fmt.Sprintf("closed in the trailer after %d bytes of the body", s.BodyLen)
	}
	return fmt.Sprintf("closed between or inside chunks after %d bytes of the body", s.BodyLen)
}
