package httpwire

import "fmt"

// Limits bounds what a response may hold. The zero value means the defaults.
type Limits struct {
	HeaderBytes int   // bytes of a head, and of a trailer; 0 = 256 KiB
	BodyBytes   int64 // bytes of a body, chunked coding undone; 0 = no limit
	ChunkLine   int   // bytes of a chunk-size line with its extensions; 0 = 4096
}

const (
	defaultHeaderBytes = 256 << 10
	defaultChunkLine   = 4096
	maxInterim         = 64
	maxKeptHead        = 4 << 10  // the longest head the memo holds
	maxSpares          = 16       // carry-over buffers kept for reuse
	maxSpareBytes      = 16 << 10 // a larger one goes to the collector
)

// withDefaults fills in what was left zero.
func (l Limits) withDefaults() Limits {
	if l.HeaderBytes <= 0 {
		l.HeaderBytes = defaultHeaderBytes
	}
	if l.ChunkLine <= 0 {
		l.ChunkLine = defaultChunkLine
	}
	return l
}

// Capture is told what a response holds. The slices are valid during the call
// only. Fields of interim responses and of trailers are not told, and what was
// told of a response that fails in the end is void.
type Capture interface {
	// Header is called per field in order, the name in the case received.
	Header(name, value []byte)
	// Body is called per piece of the body, chunked coding undone.
	Body(chunk []byte)
}

// Parser reads responses for all connections of one worker. It is not for
// concurrent use. Capture may be changed between calls.
type Parser struct {
	// Capture, if not nil, gets the fields and the body of what is parsed. One
	// Parser serves interleaved connections, so the caller sets it per connection.
	Capture Capture
	limits  Limits
	memo    memo
	fold    []byte   // where folded values are joined
	spares  [][]byte // carry-over buffers not in use
}

// memo is the last head read and what it means. Response heads of a server
// under load are the same bytes until the Date field changes.
type memo struct {
	bytes []byte
	kind  MethodKind
	head  head
}

// NewParser returns a parser with the given limits.
func NewParser(l Limits) *Parser { return &Parser{limits: l.withDefaults()} }

// Head returns the head that the memo holds: the last final head that was read
// on any connection of this parser, unless it was longer than 4 KiB. The slice
// is valid until the next Parse.
func (p *Parser) Head() []byte { return p.memo.bytes }

// Parse consumes the bytes of data that belong to the response s expects. With
// done, the response is complete, s tells what it was, and data[n:] belongs to
// the next. Without done all of data was consumed, n == len(data). After an error, an
// [Error] or [ErrFailed], n is of no meaning. data is not kept.
func (p *Parser) Parse(s *State, data []byte) (n int, done bool, err error) {
	if s.phase == phaseDone {
		p.Begin(s, s.kind)
	}
	for n < len(data) {
		used, err := p.step(s, data[n:])
		if err != nil {
			p.fail(s)
			return n, false, err
		}
		n += used
		if s.phase == phaseDone {
			return n, true, nil
		}
	}
	return n, false, nil
}

// step consumes at least one byte of data, which is not empty, in one phase.
func (p *Parser) step(s *State, data []byte) (int, error) {
	switch s.phase {
	case phaseHead:
		return p.readHead(s, data)
	case phaseBody:
		used := p.take(s, data)
		if s.left == 0 {
			s.phase = phaseDone
		}
		return used, nil
	case phaseUntilClose:
		return p.readUntilClose(s, data)
	case phaseChunkLine:
		return p.readChunkLine(s, data)
	case phaseChunkData:
		return p.readChunkData(s, data)
	case phaseChunkCR:
		return readChunkEnd(s, data[0], '\r', phaseChunkLF)
	case phaseChunkLF:
		return readChunkEnd(s, data[0], '\n', phaseChunkLine)
	case phaseTrailer:
		return p.readTrailer(s, data)
	}
	return 0, ErrFailed
}

// take counts what data holds of the s.left bytes of body or chunk to come.
func (p *Parser) take(s *State, data []byte) int {
	n := int(min(s.left, int64(len(data))))
	s.left -= int64(n)
	s.BodyLen += int64(n)
	if p.Capture != nil {
		p.Capture.Body(data[:n])
	}
	return n
}

// readUntilClose counts a body that only the peer's close will end.
func (p *Parser) readUntilClose(s *State, data []byte) (int, error) {
	if err := p.checkBody(s, int64(len(data))); err != nil {
		return 0, err
	}
	s.left = int64(len(data))
	return p.take(s, data), nil
}

// checkBody refuses more bytes of body than the limit allows.
func (p *Parser) checkBody(s *State, more int64) error {
	limit := p.limits.BodyBytes
	if limit > 0 && more > limit-s.BodyLen {
		return &Error{BodyTooLarge, fmt.Sprintf("more than %d bytes", limit)}
	}
	return nil
}

// fail makes s unusable until it is begun again.
func (p *Parser) fail(s *State) {
	p.release(s)
	s.phase = phaseFailed
}

// keep appends to the carry-over of s, taking a spare buffer if it has none.
func (p *Parser) keep(s *State, data []byte) {
	if s.carry == nil && len(p.spares) > 0 {
		last := len(p.spares) - 1
		s.carry = p.spares[last]
		p.spares = p.spares[:last]
	}
	s.carry = append(s.carry, data...)
}

// release takes the carry-over from s. Its bytes stay as they are until the next
// call of keep, so a caller may still look at a line it has just found.
func (p *Parser) release(s *State) {
	if s.carry != nil && cap(s.carry) <= maxSpareBytes && len(p.spares) < maxSpares {
		p.spares = append(p.spares, s.carry[:0])
	}
	s.carry = nil
}
