package httpwire_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"prony/internal/httpwire"
)

// pair is one input and what both sides made of it.
type pair struct {
	in        string
	ours      outcome
	ourErr    error
	theirs    outcome
	theirsErr error
}

// difference is one way in which the parser may differ from net/http.
type difference struct {
	why  string
	when func(p pair) bool
}

// theySay makes a condition on the text of net/http's error.
func theySay(text string) func(pair) bool {
	return func(p pair) bool { return p.theirsErr != nil && strings.Contains(p.theirsErr.Error(), text) }
}

// weSay makes a condition on our error, where net/http has none.
func weSay(kind httpwire.Kind, pattern string) func(pair) bool {
	re := regexp.MustCompile("(?s)" + pattern)
	return func(p pair) bool {
		return p.theirsErr == nil && httpwire.KindOf(p.ourErr) == kind && re.MatchString(p.ourErr.Error())
	}
}

// refusedLine returns the whole field line that we refused and net/http did not;
// the error quotes only its beginning.
func refusedLine(p pair) string {
	if !weSay(httpwire.BadHeader, "cannot read field line")(p) {
		return ""
	}
	_, quoted, _ := strings.Cut(p.ourErr.Error(), "field line ")
	begin, err := strconv.Unquote(strings.TrimSuffix(quoted, "..."))
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(p.in, "\n"+begin)
	rest, _, _ := strings.Cut(after, "\n")
	return begin + rest
}

// onlyCloseDiffers tells whether all agrees but that we close.
func onlyCloseDiffers(p pair) bool {
	theirs := p.theirs
	theirs.keepAlive = false
	return p.ourErr == nil && p.theirsErr == nil && p.ours == theirs
}

// permitted lists every difference between the parser and http.ReadResponse
// that FuzzResponse tolerates. Each is stricter by RFC 9112, or more tolerant
// where the RFC asks for it, or a bound of net/http that has no place in a tool
// that only counts.
func permitted() []difference {
	return []difference{
		{"net/http knows no coding but one lone chunked; section 6.3 says until close, or chunked if last",
			theySay("transfer encoding")},
		{"net/http judges the names announced in Trailer; trailers are dropped here", theySay("bad trailer key")},
		{"net/http wants a trailer to fit in its read buffer", theySay("suspiciously long trailer")},
		{"net/http bounds chunk overhead; here only the line is bounded", theySay("too much non-data")},
		{"net/http bounds a chunk line at 4095 bytes with its end, here 4096 without", theySay("header line too long")},
		{"section 7.1.1 allows white space before a chunk extension", func(p pair) bool {
			return theySay("invalid byte in chunk length")(p) && regexp.MustCompile(`[0-9A-Fa-f][ \t]+;`).MatchString(p.in)
		}},
		{"net/http reads any major version", weSay(httpwire.BadStatusLine, `not HTTP/1\.x: "HTTP/[02-9]`)},
		{"net/http reads codes such as 007, +20 and -00", weSay(httpwire.BadStatusLine, `(HTTP/1\.\d +[+-]|below 100)`)},
		{"net/http keeps a name with spaces as an unusable field; section 5.1 calls it an error",
			func(p pair) bool {
				name, _, _ := strings.Cut(refusedLine(p), ":")
				return strings.Contains(name, " ")
			}},
		{"a bare LF ends no line of the chunked coding here, trailer included",
			weSay(httpwire.BadHeader, "line of the chunked coding")},
		{"more than 64 interim responses", weSay(httpwire.TooManyInterim, "")},
		{"after 101 the connection speaks no HTTP", func(p pair) bool { return p.ours.status == 101 && onlyCloseDiffers(p) }},
		{"both lengths at once close the connection, section 6.3", func(p pair) bool { return p.ours.bothLengths && onlyCloseDiffers(p) }},
		{"a coding in HTTP/1.0 closes the connection, section 6.1", func(p pair) bool {
			return p.ours.minor == 0 && strings.Contains(strings.ToLower(p.in), "transfer-encoding") && onlyCloseDiffers(p)
		}},
	}
}

// ourResponse reads a response with the parser, whole, and byte by byte to see
// that it makes no difference.
func ourResponse(t *testing.T, m httpwire.MethodKind, in string) (outcome, error) {
	t.Helper()
	whole := drive(t, capturing(httpwire.Limits{}), m, in)
	if got := drive(t, capturing(httpwire.Limits{}), m, strings.Split(in, "")...); len(in) > 0 && got != whole {
		t.Errorf("%q byte by byte:\n got %+v\nwant %+v", in, got, whole)
	}
	half := len(in) / 2
	if got := drive(t, httpwire.NewParser(httpwire.Limits{}), m, in[:half], in[half:]); got != whole.bare() {
		t.Errorf("%q in halves, not captured:\n got %+v\nwant %+v", in, got, whole.bare())
	}
	var s httpwire.State
	p := httpwire.NewParser(httpwire.Limits{})
	p.Begin(&s, m)
	_, done, err := p.Parse(&s, []byte(in))
	if err == nil && !done {
		_, err = p.EOF(&s)
	}
	return whole, err
}

// theirResponse reads a response with net/http, interim ones skipped.
func theirResponse(method, in string) (outcome, error) {
	br := bufio.NewReader(strings.NewReader(in))
	var o outcome
	for {
		res, err := http.ReadResponse(br, &http.Request{Method: method})
		if err != nil {
			return outcome{}, err
		}
		if res.StatusCode/100 == 1 && res.StatusCode != 101 {
			o.interim++
			continue
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return outcome{}, err
		}
		rest, err := io.ReadAll(br)
		if err != nil {
			return outcome{}, err
		}
		o.status, o.minor, o.keepAlive = res.StatusCode, res.ProtoMinor, !res.Close
		o.body, o.bodyLen = string(body), int64(len(body))
		o.chunked = len(res.TransferEncoding) > 0 && res.Body != http.NoBody
		o.used = len(in) - len(rest)
		return o, nil
	}
}

// compareResponse reports a difference that is not permitted.
func compareResponse(t *testing.T, head bool, in string) {
	t.Helper()
	m, method := httpwire.MethodOther, "GET"
	if head {
		m, method = httpwire.MethodHead, "HEAD"
	}
	p := pair{in: in}
	p.ours, p.ourErr = ourResponse(t, m, in)
	p.theirs, p.theirsErr = theirResponse(method, in)
	// What net/http does not tell, or only in another way.
	ours := p.ours
	ours.headerLen, ours.fields, ours.atEOF = 0, "", false
	p.ours = ours
	p.theirs.bothLengths = ours.bothLengths
	switch {
	case p.ourErr != nil && p.theirsErr != nil:
		return
	case p.ourErr == nil && p.theirsErr == nil && p.ours == p.theirs:
		return
	}
	for _, d := range permitted() {
		if d.when(p) {
			return
		}
	}
	t.Errorf("%s %q:\n  ours %+v, %v\ntheirs %+v, %v", method, in, p.ours, p.ourErr, p.theirs, p.theirsErr)
}

// FuzzResponse compares the parser with http.ReadResponse: error or not, status,
// body, bytes consumed and close decision. The differences that may be are in
// permitted.
func FuzzResponse(f *testing.F) {
	for _, in := range seeds() {
		f.Add(in, false)
		f.Add(in, true)
	}
	f.Fuzz(func(t *testing.T, in []byte, head bool) {
		if len(in) > 1<<14 {
			return
		}
		compareResponse(t, head, string(in))
	})
}

// seeds are inputs from which the fuzzer reaches every rule.
func seeds() [][]byte {
	const te = ok + "Transfer-Encoding: chunked\r\n\r\n"
	texts := []string{
		"", sample, chunkedSample, sample + sample, "HTTP/1.1 100 Continue\r\n\r\n" + sample,
		ok + "\r\nuntil close", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi",
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 204 \r\n\r\nx",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", "HTTP/1.1 101 Switching\r\n\r\n\x81",
		"HTTP/1.0 204 \r\nConnection: keep-alive\r\nTransfer-Encoding: x\r\n\r\n", "HTTP/2.0 200 OK\r\n\r\n", "HTTP/1.1 007 OK\r\n\r\n", "HTTP/1.1 +20 OK\r\n\r\n",
		ok + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi", ok + "Content-Length: 2\r\nContent-Length: 02\r\n\r\nhi",
		ok + "Content-Length : 2\r\n\r\nhi", ok + "A: b\r\n c\r\n\td\r\nContent-Length:\r\n 2\r\n\r\nhi",
		"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", ok + "Connection: x, close\r\nContent-Length: 0\r\n\r\n",
		ok + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", ok + "Transfer-Encoding: chunked;a=b\r\n\r\n0\r\n\r\n",
		ok + "Transfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
		te + "2 ;a=b\r\nhi\r\n0\r\n\r\n", te + "2;a\r\nhi\r\n0\r\nA: b\r\n c\r\n\r\n", te + "2\r\nhi\r\n0\r\n\n",
		te + "2\nhi\n0\n\n", te + "0\r\n A: b\r\n\r\n", te + "8000000000000000\r\nhi\r\n0\r\n\r\n",
		te + "00000000000000002\r\nhi\r\n0\r\n\r\n", te + "2\r\nhi\r\n0\r\nA: b\nC: d\r\n\r\n",
		ok + "Trailer: Content-Length\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		ok + "A: \x00\r\n\r\n", ok + "A\x80: b\r\n\r\n", ok + ": b\r\n\r\n", ok + "no colon\r\n\r\n",
	}
	var all [][]byte
	for _, text := range texts {
		all = append(all, []byte(text))
	}
	return all
}

// TestPermittedDifferences wants each permitted difference to be one: an entry
// that no input needs would hide a defect.
func TestPermittedDifferences(t *testing.T) {
	const te = ok + "Transfer-Encoding: chunked\r\n\r\n"
	inputs := append(seeds(),
		[]byte(te+"0\r\nA: "+strings.Repeat("x", 5000)+"\r\n\r\n"),
		[]byte(te+strings.Repeat("1;"+strings.Repeat("x", 1000)+"\r\na\r\n", 20)+"0\r\n\r\n"),
		[]byte(te+"1;"+strings.Repeat("x", 4094)+"\r\na\r\n0\r\n\r\n"),
		bytes.Repeat([]byte("HTTP/1.1 102 \r\n\r\n"), 65), []byte("HTTP/1.1 200 OK\r\nA B: c\r\n\r\n"))
	inputs[len(inputs)-2] = append(inputs[len(inputs)-2], sample...)
	needed := map[string]bool{}
	for _, in := range inputs {
		for _, method := range []string{"GET", "HEAD"} {
			p := pair{in: string(in)}
			p.ours, p.ourErr = ourResponse(t, httpwire.MethodKindOf(method), p.in)
			p.theirs, p.theirsErr = theirResponse(method, p.in)
			p.ours.headerLen, p.ours.fields, p.ours.atEOF = 0, "", false
			p.theirs.bothLengths = p.ours.bothLengths
			if (p.ourErr == nil) == (p.theirsErr == nil) && (p.ourErr != nil || p.ours == p.theirs) {
				continue
			}
			for _, d := range permitted() {
				if d.when(p) {
					needed[d.why] = true
				}
			}
		}
	}
	for _, d := range permitted() {
		if !needed[d.why] {
			t.Errorf("no input shows the difference %q", d.why)
		}
	}
}

// isTokenByte is the definition of RFC 9110 section 5.6.2, spelled out.
func isTokenByte(c byte) bool {
	return strings.IndexByte("!#$%&'*+-.^_`|~0123456789"+
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", c) >= 0
}

// TestEveryByte puts each byte at each place of a name and of a value: the
// parser looks at eight bytes at a time, this does not.
func TestEveryByte(t *testing.T) {
	p := httpwire.NewParser(httpwire.Limits{})
	accepts := func(line string) bool {
		in := ok + line + "\r\nContent-Length: 0\r\n\r\n"
		return drive(t, p, httpwire.MethodOther, in).kind == 0
	}
	for i := range 256 * 18 * 2 {
		b, at, fill := byte(i), i/256%18, []string{"x", "~"}[i/256/18]
		if b == '\n' || b == '\r' {
			continue // line ends have tests of their own
		}
		text := []byte(strings.Repeat(fill, 18))
		text[at] = b
		if got, want := accepts(fmt.Sprintf("%s: v", text)), isTokenByte(b) || b == ':' && at > 0; got != want {
			t.Errorf("byte %#x at %d of a name: accepted %v, want %v", b, at, got, want)
		}
		want := b >= ' ' && b != 0x7f || b == '\t'
		if got := accepts(fmt.Sprintf("n: %s", text)); got != want {
			t.Errorf("byte %#x at %d of a value: accepted %v, want %v", b, at, got, want)
		}
	}
}
