package httpwire

import (
	"bytes"
	"fmt"
	"math"
)

// readChunkLine consumes a chunk-size line, or what there is of it.
func (p *Parser) readChunkLine(s *State, data []byte) (int, error) {
	line, used, err := p.takeLine(s, data, p.limits.ChunkLine, BadChunk)
	if line == nil || err != nil {
		return used, err
	}
	size, err := parseChunkLine(line)
	if err != nil {
		return 0, err
	}
	if size > math.MaxInt64-s.BodyLen {
		return 0, fault(BadChunk, "body beyond 2^63 bytes by chunk size", line)
	}
	if err := p.checkBody(s, size); err != nil {
		return 0, err
	}
	s.left, s.phase = size, phaseChunkData
	if size == 0 {
		s.phase = phaseTrailer
	}
	return used, nil
}

// takeLine returns the next line without its CRLF, at most room bytes long, and
// how much of data it took; or no line and all of data when its end has not come.
func (p *Parser) takeLine(s *State, data []byte, room int, kind Kind) (line []byte, used int, err error) {
	i := bytes.IndexByte(data, '\n')
	if i < 0 {
		// A CR may already be there, beyond the room.
		if len(s.carry)+len(data) > room+1 {
			return nil, 0, tooLong(kind, room)
		}
		p.keep(s, data)
		return nil, len(data), nil
	}
	line = data[:i+1]
	if s.carry != nil {
		s.carry = append(s.carry, line...)
		line = s.carry
		p.release(s)
	}
	n := len(line) - 2
	if n > room {
		return nil, 0, tooLong(kind, room)
	}
	if n < 0 || bytes.IndexByte(line, '\r') != n {
		return nil, 0, fault(kind, "line of the chunked coding without a single CRLF:", line)
	}
	return line[:n:n], i + 1, nil
}

// tooLong is the error for a line that found no room: a trailer line is bounded
// by what the trailer may hold.
func tooLong(kind Kind, room int) error {
	if kind == BadHeader {
		return &Error{HeaderTooLarge, "trailer"}
	}
	return &Error{kind, fmt.Sprintf("line of more than %d bytes", room)}
}

// parseChunkLine reads a chunk size and skips white space and extensions after
// it (RFC 9112 section 7.1). Like net/http it takes 16 digits at most.
func parseChunkLine(line []byte) (size int64, err error) {
	i := 0
	for ; i < len(line); i++ {
		digit := hexDigit(line[i])
		if digit < 0 {
			break
		}
		if size > math.MaxInt64>>4 || i == 16 {
			return 0, fault(BadChunk, "chunk size does not fit:", line)
		}
		size = size<<4 | int64(digit)
	}
	after := trimSpace(line[i:])
	if i == 0 || len(after) > 0 && after[0] != ';' {
		return 0, fault(BadChunk, "no chunk size in", line)
	}
	return size, nil
}

// readChunkData consumes bytes of a chunk, and the CRLF after it if it is there.
func (p *Parser) readChunkData(s *State, data []byte) (int, error) {
	n := p.take(s, data)
	if s.left > 0 {
		return n, nil
	}
	s.phase = phaseChunkCR
	if len(data) >= n+2 && data[n] == '\r' && data[n+1] == '\n' {
		s.phase = phaseChunkLine
		n += 2
	}
	return n, nil
}

// readChunkEnd consumes one byte after a chunk, which must be want.
func readChunkEnd(s *State, got, want byte, next phase) (int, error) {
	if got != want {
		return 0, &Error{BadChunk, fmt.Sprintf("%q instead of %q after a chunk", got, want)}
	}
	s.phase = next
	return 1, nil
}

// readTrailer consumes a trailer line, or what there is of it. The fields are
// checked and dropped. s.left counts the bytes of the lines before.
func (p *Parser) readTrailer(s *State, data []byte) (int, error) {
	room := p.limits.HeaderBytes - int(s.left) - 2
	line, used, err := p.takeLine(s, data, room, BadHeader)
	if line == nil || err != nil {
		return used, err
	}
	if len(line) == 0 {
		s.left, s.phase = 0, phaseDone
		return used, nil
	}
	if err := checkTrailerLine(line, s.left == 0); err != nil {
		return 0, err
	}
	s.left += int64(len(line) + 2)
	return used, nil
}

// splitField cuts a field line into a name and a value without the white space
// around it.
func splitField(line []byte) (name, value []byte, err error) {
	i := scanName(line, 0)
	if i == 0 || i == len(line) || line[i] != ':' {
		return nil, nil, badLine(line)
	}
	return line[:i], trimSpace(line[i+1:]), nil
}

// checkTrailerLine accepts a field line, or after the first the continuation of
// one.
func checkTrailerLine(line []byte, first bool) error {
	value := line
	if first || line[0] != ' ' && line[0] != '\t' {
		var err error
		if _, value, err = splitField(line); err != nil {
			return err
		}
	}
	if !validValue(value) {
		return fault(BadHeader, "control character in trailer line", line)
	}
	return nil
}
