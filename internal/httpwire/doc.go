// Package httpwire is HTTP/1.x as bytes: a request encoded once and sent many
// times, and a response parser that takes whatever a read brought and never
// allocates. It opens no socket, starts no goroutine and reads no clock.
//
// # Requests
//
// [Request.Append] writes the request line, Host, the given fields in their
// order, and Content-Length when there is something to announce. No field is
// added that was not asked for. [CheckRequest] verifies bytes made elsewhere,
// by a script for instance, and counts the requests in them.
//
// # Responses
//
// A [Parser] belongs to one worker, a [State] to one connection:
//
//	p.Begin(&s, httpwire.MethodKindOf("GET"))
//	n, done, err := p.Parse(&s, data)  // data[n:] belongs to the next response
//	done, err = p.EOF(&s)              // when the peer has closed
//
// # What it decides for you
//
// Framing follows RFC 9112 section 6.3. Interim responses (1xx, but not 101) are
// consumed and counted. A bare LF ends a line of the head, and a folded field
// (obs-fold) is joined by one space, as in net/http; inside the chunked coding,
// trailer included, only CRLF ends a line. Transfer-Encoding wins over
// Content-Length, and a response with both closes the connection. In HTTP/1.0
// Transfer-Encoding is ignored and closes the connection (section 6.1). A coding
// list that does not end in chunked runs until the peer closes.
//
// The parser remembers the last head with its meaning, and when the next
// response starts with the very same bytes it uses that. This is exact: the same
// bytes asked for by the same kind of method mean the same.
//
// # What it refuses
//
// Any version but HTTP/1.x, status codes below 100, white space in or after a
// field name, control characters in values, Content-Length that is a list, is
// signed, does not fit or contradicts another one, chunked applied twice, and
// whatever passes the [Limits]. Bodies are counted, not stored, and content
// codings are not undone.
package httpwire
