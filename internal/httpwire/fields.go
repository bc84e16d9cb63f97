package httpwire

import (
	"bytes"
	"math"
)

// fields is what the field lines of one head say about framing.
type fields struct {
	minor        uint8
	silent       bool  // Capture is not to be told
	length       int64 // of the Content-Length, -1 when there is none
	lengthDigits int   // how many digits it was written with
	coded        bool  // a Transfer-Encoding is present
	chunked      bool  // chunked is the last coding so far
	chunkedSeen  bool  // chunked is one of the codings
	closes       bool  // Connection: close
	keeps        bool  // Connection: keep-alive
}

// add takes in a field if it has a say in framing.
func (f *fields) add(name, value []byte) error {
	switch name[0] | 0x20 {
	case 'c':
		if string(name) == "Content-Length" || equalFold(name, "content-length") {
			return f.addLength(value)
		}
		if string(name) == "Connection" || equalFold(name, "connection") {
			f.addConnection(value)
		}
	case 't':
		if equalFold(name, "transfer-encoding") {
			return f.addCoding(value)
		}
	}
	return nil
}

// addLength takes in a Content-Length. Repeating the same text is tolerated:
// digits are the same text when value and count agree.
func (f *fields) addLength(value []byte) error {
	n, ok := parseDecimal(value)
	if !ok {
		return fault(BadLength, "content-length", value)
	}
	if f.length >= 0 && (n != f.length || len(value) != f.lengthDigits) {
		return fault(BadLength, "two different content-length fields, the second", value)
	}
	f.length, f.lengthDigits = n, len(value)
	return nil
}

// addConnection looks for close and keep-alive in a list of options.
func (f *fields) addConnection(value []byte) {
	for len(value) > 0 {
		var option []byte
		option, value = cutElement(value)
		switch {
		case string(option) == "close" || equalFold(option, "close"):
			f.closes = true
		case string(option) == "keep-alive" || equalFold(option, "keep-alive"):
			f.keeps = true
		}
	}
}

// addCoding takes in a list of transfer codings, empty elements ignored. In
// HTTP/1.0 there are none, so only the presence of the field counts.
func (f *fields) addCoding(value []byte) error {
	f.coded = true
	if f.minor == 0 {
		return nil
	}
	list, found := value, false
	for len(list) > 0 {
		var coding []byte
		if coding, list = cutElement(list); len(coding) == 0 {
			continue
		}
		found = true
		f.chunked = equalFold(coding, "chunked")
		if f.chunked && f.chunkedSeen || hasParameters(coding) {
			return fault(BadLength, "chunked twice or with parameters:", value)
		}
		f.chunkedSeen = f.chunkedSeen || f.chunked
	}
	if !found {
		return fault(BadLength, "transfer-encoding without a coding:", value)
	}
	return nil
}

// hasParameters tells whether coding is chunked with parameters, which has no
// meaning (RFC 9112 section 7.1).
func hasParameters(coding []byte) bool {
	name, _, found := bytes.Cut(coding, []byte(";"))
	return found && equalFold(trimSpace(name), "chunked")
}

// head decides the framing, in the order of RFC 9112 section 6.3, and whether
// the connection survives (section 9.3).
func (f *fields) head(status int, kind MethodKind) head {
	h := head{status: status, minor: f.minor, bothLengths: f.coded && f.length >= 0}
	h.keepAlive = !f.closes && (f.minor > 0 || f.keeps) && !h.bothLengths && !(f.coded && f.minor == 0)
	switch {
	case isInterim(status):
		h.framing = frameInterim
	case status == 101, kind == MethodConnect && status < 300:
		h.framing, h.keepAlive = frameNone, false
	case kind == MethodHead, status == 204, status == 304:
		h.framing = frameNone
	case f.chunked:
		h.framing = frameChunked
	case f.coded && f.minor > 0, f.length < 0:
		h.framing, h.keepAlive = frameClose, false
	case f.length > 0:
		h.framing, h.length = frameLength, f.length
	}
	return h
}

// parseDecimal reads a number of decimal digits and nothing else.
func parseDecimal(b []byte) (n int64, ok bool) {
	for _, c := range b {
		if !isDigit(c) {
			return 0, false
		}
		d := int64(c - '0')
		if n > (math.MaxInt64-d)/10 {
			return 0, false
		}
		n = n*10 + d
	}
	return n, len(b) > 0
}
