package testserver

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// response is an answer before it is bytes.
type response struct {
	status int      // 0: 200
	http10 bool     // in the status line
	fields []Header // besides framing and Connection
	body   []byte

	chunked  bool // body holds chunks already
	unframed bool // no length: the close ends the body
	close    bool // close the connection afterwards
	silent   bool // and don't say so
}

// bytes returns the response to r with the additional headers, and the length
// of its head.
func (p response) bytes(r *request, more []Header) (all []byte, head int) {
	status := p.status
	if status == 0 {
		status = 200
	}
	minor := 1
	if p.http10 {
		minor = 0
	}
	b := make([]byte, 0, 256+len(p.body))
	b = fmt.Appendf(b, "HTTP/1.%d %d %s\r\nServer: prony\r\n", minor, status, http.StatusText(status))
	for _, h := range slices.Concat(more, p.fields) {
		b = append(append(append(append(b, h.Name...), ": "...), h.Value...), "\r\n"...)
	}
	switch {
	case p.silent:
	case p.close:
		b = append(b, "Connection: close\r\n"...)
	case p.http10 || r.minor == 0:
		b = append(b, "Connection: keep-alive\r\n"...)
	}
	switch {
	case p.chunked:
		b = append(b, "Transfer-Encoding: chunked\r\n"...)
	case !p.unframed && status != 204 && status >= 200:
		b = append(b, "Content-Length: "...)
		b = append(strconv.AppendInt(b, int64(len(p.body)), 10), "\r\n"...)
	}
	b = append(b, "\r\n"...)
	head = len(b)
	if r.method != "HEAD" && status != 204 && status != 304 && status >= 200 {
		b = append(b, p.body...)
	}
	return b, head
}

// exchange is a request being answered.
type exchange struct {
	*conn
	*request
	arrival
	arg string // what followed the route's name in the path
}

// outcome is how an exchange went and how the connection goes on.
type outcome struct {
	fate fate
	end  ending
}

type ending int

const (
	stay   ending = iota // wait for the next request
	hangUp               // close in an orderly way
	cut                  // reset
)

// render makes bytes of p, deciding whether the connection stays.
func (x *exchange) render(p *response) (all []byte, head int) {
	limit := x.server.config.MaxRequestsPerConn
	p.close = p.close || p.unframed || x.closes || limit > 0 && x.answers+1 >= limit
	return p.bytes(x.request, x.headers())
}

// headers returns the headers that every whole answer gets.
func (x *exchange) headers() []Header {
	c := &x.server.config
	if x.server.queue == nil && !c.ServerTime {
		return c.Headers
	}
	// A fixed width keeps equal answers equally long.
	all := append(slices.Clone(c.Headers),
		Header{"Server-Time", fmt.Sprintf("%015d", x.server.clock.real()-x.real)})
	if x.server.queue != nil {
		all = append(all,
			Header{"Server-Arrival", fmt.Sprintf("%015d", x.at)},
			Header{"Server-Departure", fmt.Sprintf("%015d", x.depart)})
	}
	return all
}

// reply sends p in one Write.
func (x *exchange) reply(p response) outcome {
	all, _ := x.render(&p)
	return x.wrote(p, x.send(all))
}

// wrote is the outcome of a whole answer after its last write.
func (x *exchange) wrote(p response, err error) outcome {
	if err != nil {
		return outcome{aborted, hangUp}
	}
	x.answers++
	if p.close {
		return outcome{answered, hangUp}
	}
	return outcome{answered, stay}
}

// spoil sends part of an answer, as a fault, and ends the connection.
func (x *exchange) spoil(b []byte, end ending) outcome {
	if x.send(b) != nil {
		return outcome{aborted, hangUp}
	}
	return outcome{faulted, end}
}
