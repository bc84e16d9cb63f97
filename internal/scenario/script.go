package scenario

import "time"

// Header is a header field of a response, in the case it was received.
type Header struct{ Name, Value string }

// Script builds requests and reads answers while a load runs. Each worker has
// its own; it is used from that worker's thread only.
type Script interface {
	// Wants says which of the calls below have an effect. A script that wants
	// none costs nothing per request: Request is called once.
	Wants() Wants
	// Request returns the bytes to send: Batch requests joined. The engine
	// copies them.
	Request() ([]byte, error)
	// Response hands over one whole answer, with the body de-chunked. The
	// arguments are valid during the call.
	Response(status int, headers []Header, body []byte) error
	// Delay is how long to wait before a send.
	Delay() (time.Duration, error)
}

// Wants lists what a script does for each request.
type Wants struct {
	Request, Response, Delay bool
	// Batch is the number of requests that one call of Request returns, at
	// least 1.
	Batch int
	// Stopped reports, when not nil, that the script asked its worker to stop.
	Stopped func() bool
	// Dial, when not empty, is the address this worker connects to.
	Dial string
}
