package httpwire

import (
	"errors"
	"fmt"
)

// Kind says in what way a response was wrong. The set is closed, so that errors
// can be counted in an array.
type Kind uint8

// The kinds of [Error].
const (
	BadStatusLine  Kind = iota + 1 // not "HTTP/1.x NNN ..."
	BadHeader                      // a field line or a trailer line that cannot be read
	HeaderTooLarge                 // head or trailer above Limits.HeaderBytes
	BadLength                      // Content-Length or Transfer-Encoding that cannot be trusted
	BadChunk                       // chunk size, chunk line or the CRLF after a chunk
	BodyTooLarge                   // body above Limits.BodyBytes
	TooManyInterim                 // more than 64 interim responses before the final one
	Truncated                      // the peer closed in the middle of a response

	// KindCount is one more than the highest Kind, the length of an array
	// indexed by it.
	KindCount = int(Truncated) + 1
)

// String returns a short name such as "bad status line", fit for a report.
func (k Kind) String() string {
	switch k {
	case BadStatusLine:
		return "bad status line"
	case BadHeader:
		return "bad header"
	case HeaderTooLarge:
		return "header too large"
	case BadLength:
		return "bad length"
	case BadChunk:
		return "bad chunk"
	case BodyTooLarge:
		return "body too large"
	case TooManyInterim:
		return "too many interim responses"
	case Truncated:
		return "truncated"
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Error is a response that breaks the protocol or a limit. After it the
// connection is of no use and must be closed.
type Error struct {
	Kind   Kind
	Detail string // for people; of bounded length, quotes at most 64 bytes received
}

// Error returns the kind and the detail.
func (e *Error) Error() string { return e.Kind.String() + ": " + e.Detail }

// ErrIdleClose is returned by [Parser.EOF] when the peer closed before the first
// byte of a response. On a connection that has served a response before, this is
// the close of an idle connection and no failure of the request.
var ErrIdleClose = errors.New("connection closed before a response")

// ErrFailed is returned for a [State] that has already failed and was not begun
// again.
var ErrFailed = errors.New("response already failed")

// KindOf returns the kind of an error returned by [Parser.Parse] or
// [Parser.EOF], or 0 when there is no [Error] in its chain.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return 0
}

// quoteBytes bounds what an error repeats of the bytes received.
const quoteBytes = 64

// fault makes an Error whose detail quotes the offending bytes.
func fault(k Kind, what string, b []byte) *Error {
	if len(b) > quoteBytes {
		return &Error{k, fmt.Sprintf("%s %q...", what, b[:quoteBytes])}
	}
	return &Error{k, fmt.Sprintf("%s %q", what, b)}
}
