package testserver

import (
	"io"
	"time"
)

// resetGrace is how long a reset waits for what was written before it to
// arrive: a reset discards what has not been sent yet.
const resetGrace = 10 * time.Millisecond

// faultyBody is the size of the bodies that are cut off, in bytes.
const faultyBody = 8000

// faulty returns the behaviours that are not what a client hopes for.
func faulty(name string) func(*exchange) outcome {
	switch name {
	case "excess":
		return (*exchange).excess
	case "idle-close":
		return (*exchange).idleClose
	case "close-after":
		return (*exchange).closeAfter
	case "silent":
		return (*exchange).silent
	case "reset":
		return func(x *exchange) outcome { return outcome{faulted, cut} }
	case "reset-body":
		return (*exchange).resetBody
	case "truncated-body":
		return func(x *exchange) outcome { return x.spoil(x.half(false), hangUp) }
	case "truncated-chunk":
		return func(x *exchange) outcome { return x.spoil(x.half(true), hangUp) }
	case "garbage":
		return func(x *exchange) outcome {
			return x.spoil([]byte("SSH-2.0-prony\r\n\x00\xff\xfe\x7f this is not HTTP\r\n\r\n"), hangUp)
		}
	}
	return nil
}

// half returns an answer that lacks the second half of its body, or of its
// only chunk.
func (x *exchange) half(chunked bool) []byte {
	p := response{body: filler(faultyBody), chunked: chunked}
	if chunked {
		p.body = chunk(p.body, faultyBody, Header{"Prony-Crc32", "00000000"})
	}
	all, head := x.render(&p)
	return all[:head+(len(all)-head)/2]
}

func (x *exchange) resetBody() outcome {
	o := x.spoil(x.half(false), cut)
	if o.fate == faulted && !x.pause(resetGrace) {
		o.fate = aborted
	}
	return o
}

// excess sends bytes behind the answer that belong to nothing.
func (x *exchange) excess() outcome {
	p := response{body: x.standard()}
	all, _ := x.render(&p)
	return x.wrote(p, x.send(append(all, "EXCESS BYTES\r\n"...)))
}

// idleClose answers, and closes the connection later without a word: at the
// next request, so that it is lost, or after a time.
func (x *exchange) idleClose() outcome {
	d, err := parseDelay(x.arg, 0)
	if err != nil && x.arg != "" {
		return x.mistake(err)
	}
	if x.idle = d; d == 0 {
		x.idle, x.lastGasp = x.server.config.IdleTimeout, true
	}
	return x.reply(response{body: x.standard()})
}

func (x *exchange) closeAfter() outcome {
	n, err := parseCount(x.arg, 1, 1<<30)
	if err != nil {
		return x.mistake(err)
	}
	o := x.reply(response{body: x.standard()})
	if x.answers >= n {
		o.end = hangUp
	}
	return o
}

// silent reads for as long as the client writes.
func (x *exchange) silent() outcome {
	_, _ = io.Copy(io.Discard, x.in)
	return outcome{faulted, cut}
}
