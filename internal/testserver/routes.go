package testserver

import (
	"crypto/rand"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
	"time"
)

// route is a behaviour chosen by path.
type route struct {
	run      func(*exchange) outcome
	arg      string
	ordinary bool // the default: goes through delay, queue and errors
	early    bool // runs before the request body is read
	keeps    bool // wants the request body
}

// routeOf returns the behaviour of a path: its first segment names it, the
// rest is its argument.
func routeOf(path string) route {
	name, arg, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	r := route{run: legal(name), arg: arg}
	if r.run == nil {
		r.run = limiting(name)
	}
	if r.run == nil {
		r.run = faulty(name)
	}
	if r.run == nil {
		return route{run: (*exchange).ordinary, ordinary: true}
	}
	r.early, r.keeps = name == "early", name == "echo"
	return r
}

// legal returns the behaviours that are HTTP as it should be.
func legal(name string) func(*exchange) outcome {
	switch name {
	case "delay":
		return (*exchange).delay
	case "status":
		return (*exchange).answerStatus
	case "bytes":
		return (*exchange).bytes
	case "chunked":
		return (*exchange).chunks
	case "close":
		return func(x *exchange) outcome { return x.reply(response{body: x.standard(), close: true}) }
	case "until-close":
		return func(x *exchange) outcome { return x.reply(response{body: x.standard(), unframed: true}) }
	case "http10":
		return func(x *exchange) outcome {
			return x.reply(response{body: x.standard(), http10: true, close: true, silent: true})
		}
	case "http10-keepalive":
		return func(x *exchange) outcome { return x.reply(response{body: x.standard(), http10: true}) }
	case "early":
		// A client that waits for 100 and gets the final answer need not send its body.
		return func(x *exchange) outcome {
			return x.reply(response{body: x.standard(), close: x.expects && x.hasBody()})
		}
	case "1xx":
		return (*exchange).interim
	case "204":
		return func(x *exchange) outcome { return x.reply(response{status: 204}) }
	case "304":
		return func(x *exchange) outcome {
			return x.reply(response{status: 304, fields: []Header{{"ETag", `"prony"`}}, body: x.standard()})
		}
	case "head":
		return func(x *exchange) outcome { return x.reply(response{body: x.standard()}) }
	case "slow-body":
		return (*exchange).slowBody
	case "drip":
		return (*exchange).drip
	case "huge-header":
		return (*exchange).hugeHeader
	case "redirect":
		return (*exchange).redirect
	case "uuid":
		return (*exchange).uuid
	case "echo":
		return (*exchange).echo
	case "variable":
		return func(x *exchange) outcome {
			return x.reply(response{body: filler(100 + int(x.server.tick.Add(1)%1000))})
		}
	}
	return nil
}

// standard is the default body.
func (x *exchange) standard() []byte { return x.server.config.Body }

// mistake answers a path whose argument makes no sense.
func (x *exchange) mistake(err error) outcome {
	return x.reply(response{status: 400, body: fmt.Appendf(nil, "path %.200s: %v\n", x.path, err)})
}

func (x *exchange) ordinary() outcome {
	if !x.fails {
		return x.reply(response{body: x.standard()})
	}
	return x.reply(response{status: x.server.config.ErrorStatus, body: []byte("error as planned\n")})
}

func (x *exchange) delay() outcome {
	d, err := parseDelay(x.arg, 0)
	if err != nil {
		return x.mistake(err)
	}
	if !x.server.clock.until(x.at+d, x.server.config.Precise, x.life.over) {
		return outcome{aborted, cut}
	}
	return x.reply(response{body: x.standard()})
}

func (x *exchange) answerStatus() outcome {
	status, err := parseCount(x.arg, 200, 999)
	if err != nil {
		return x.mistake(err)
	}
	return x.reply(response{status: status, body: fmt.Appendf(nil, "status %d\n", status)})
}

func (x *exchange) bytes() outcome {
	n, err := parseSize(x.arg)
	if err != nil {
		return x.mistake(err)
	}
	return x.reply(response{body: filler(n)})
}

// chunks answers /chunked/5x1000. To HTTP/1.0, which knows no chunks, the body
// goes without a length.
func (x *exchange) chunks() outcome {
	count, size, _ := strings.Cut(x.arg, "x")
	n, err := parseCount(count, 0, 1_000_000)
	if err != nil {
		return x.mistake(err)
	}
	each, err := parseSize(size)
	if err != nil || int64(n)*int64(each) > maxSize || n > 0 && each == 0 {
		return x.mistake(fmt.Errorf("want COUNTxSIZE, in all up to %d bytes", maxSize))
	}
	data := filler(n * each)
	if x.minor == 0 {
		return x.reply(response{body: data, unframed: true})
	}
	sum := Header{"Prony-Crc32", fmt.Sprintf("%08x", crc32.ChecksumIEEE(data))}
	return x.reply(response{
		fields:  []Header{{"Trailer", sum.Name}},
		body:    chunk(data, each, sum),
		chunked: true,
	})
}

// chunk encodes data (RFC 9112, 7.1) with two extensions in each chunk, one of
// them quoted with a semicolon inside, and a trailer.
func chunk(data []byte, each int, trailer Header) []byte {
	var b []byte
	for i := 0; len(data) > 0; i++ {
		part := data[:min(each, len(data))]
		data = data[len(part):]
		b = fmt.Appendf(b, "%x;n=%d;note=\"a;b\"\r\n", len(part), i)
		b = append(append(b, part...), "\r\n"...)
	}
	return fmt.Appendf(b, "0;last\r\n%s: %s\r\n\r\n", trailer.Name, trailer.Value)
}

// interim sends 100 and 103 before the answer, which is legal unasked.
func (x *exchange) interim() outcome {
	p := response{body: x.standard()}
	all, _ := x.render(&p)
	if x.minor == 1 {
		all = append([]byte("HTTP/1.1 100 Continue\r\n\r\n"+
			"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"), all...)
	}
	return x.wrote(p, x.send(all))
}

// slowPieces is the number of writes a slow body is spread over.
const slowPieces = 10

func (x *exchange) slowBody() outcome {
	d, err := parseDelay(x.arg, time.Second)
	if err != nil {
		return x.mistake(err)
	}
	p := response{body: filler(slowPieces * 100)}
	all, head := x.render(&p)
	err = x.send(all[:head])
	for rest := all[head:]; len(rest) > 0 && err == nil; rest = rest[100:] {
		if !x.pause(d / slowPieces) {
			return outcome{aborted, cut}
		}
		err = x.send(rest[:100])
	}
	return x.wrote(p, err)
}

func (x *exchange) drip() outcome {
	d, err := parseDelay(x.arg, time.Millisecond)
	if err != nil {
		return x.mistake(err)
	}
	p := response{body: x.standard()}
	all, _ := x.render(&p)
	for i := 0; i < len(all) && err == nil; i++ {
		if i > 0 && !x.pause(d) {
			return outcome{aborted, cut}
		}
		err = x.send(all[i : i+1])
	}
	return x.wrote(p, err)
}

func (x *exchange) hugeHeader() outcome {
	n, err := parseSize(x.arg)
	if err != nil {
		return x.mistake(err)
	}
	huge := Header{"Huge", strings.Repeat("x", n)}
	return x.reply(response{fields: []Header{huge}, body: x.standard()})
}

func (x *exchange) redirect() outcome {
	hops, to := 1, "/"
	if x.arg != "" {
		var err error
		if hops, err = parseCount(x.arg, 1, 1000); err != nil {
			return x.mistake(err)
		}
	}
	if hops > 1 {
		to = "/redirect/" + strconv.Itoa(hops-1)
	}
	return x.reply(response{status: 302, fields: []Header{{"Location", to}}})
}

func (x *exchange) uuid() outcome {
	var u [16]byte
	_, _ = rand.Read(u[:])  // never fails: the program would end
	u[6] = u[6]&0x0f | 0x40 // version 4 (RFC 9562, 5.4)
	u[8] = u[8]&0x3f | 0x80
	return x.reply(response{
		fields: []Header{{"Content-Type", "application/json"}},
		body:   fmt.Appendf(nil, `{"uuid":"%x-%x-%x-%x-%x"}`, u[:4], u[4:6], u[6:8], u[8:10], u[10:]),
	})
}

func (x *exchange) echo() outcome {
	body := append(append(append([]byte{}, x.head...), "\r\n\r\n"...), x.body...)
	return x.reply(response{fields: []Header{{"Content-Type", "text/plain"}}, body: body})
}
