package httpwire_test

import (
	"fmt"
	"testing"

	"prony/internal/httpwire"
)

// responseCase is one response and what is wanted of it. With kind set an error
// is wanted; else the fields that are left zero are wanted to be zero, except
// minor, which is 1 unless the input starts with HTTP/1.0.
type responseCase struct {
	name   string
	method httpwire.MethodKind
	in     string
	rest   string // bytes of in after the response
	status int
	body   string
	keep   bool
	chunk  bool
	both   bool
	inter  int
	atEOF  bool
	kind   httpwire.Kind
}

// run checks one case, however it is cut.
func (c responseCase) run(t *testing.T) {
	t.Helper()
	got := checkSplits(t, httpwire.Limits{}, c.method, c.in+c.rest)
	if c.kind != 0 {
		if got.kind != c.kind {
			t.Errorf("got %+v, want error kind %q", got, c.kind)
		}
		return
	}
	want := outcome{
		status: c.status, keepAlive: c.keep, chunked: c.chunk, bothLengths: c.both, interim: c.inter,
		minor: int(c.in[7] - '0'), bodyLen: int64(len(c.body)), body: c.body, used: len(c.in), atEOF: c.atEOF,
	}
	got.headerLen, got.fields = 0, ""
	if got != want {
		t.Errorf("\n got %+v\nwant %+v", got, want)
	}
}

func runResponses(t *testing.T, cases []responseCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(t) })
	}
}

const ok = "HTTP/1.1 200 OK\r\n"

func TestStatusLine(t *testing.T) {
	bad := func(name, in string) responseCase {
		return responseCase{name: name, in: in, kind: httpwire.BadStatusLine}
	}
	good := func(name, line string, status int) responseCase {
		in := line + "\r\nContent-Length: 0\r\n\r\n"
		return responseCase{name: name, in: in, status: status, keep: true}
	}
	runResponses(t, []responseCase{
		good("reason", "HTTP/1.1 404 Not Found", 404),
		good("empty reason", "HTTP/1.1 200 ", 200),
		good("no reason", "HTTP/1.1 200", 200),
		good("several spaces", "HTTP/1.1   200 OK", 200),
		good("later minor version", "HTTP/1.7 200 OK", 200),
		good("unknown class", "HTTP/1.1 999 Denied", 999),
		good("obs-text in reason", "HTTP/1.1 200 \xe9t\xe9", 200),
		bad("empty line first", "\r\nHTTP/1.1 200 OK\r\n\r\n"),
		bad("lower case", "http/1.1 200 OK\r\n\r\n"),
		bad("other protocol", "ICY 200 OK\r\n\r\n"),
		bad("other major version", "HTTP/2.0 200 OK\r\n\r\n"),
		bad("no minor version", "HTTP/1. 200 OK\r\n\r\n"),
		bad("two digits of minor version", "HTTP/1.10 200 OK\r\n\r\n"),
		bad("two digits of code", "HTTP/1.1 20 OK\r\n\r\n"),
		bad("four digits of code", "HTTP/1.1 2000 OK\r\n\r\n"),
		bad("code glued to reason", "HTTP/1.1 200OK\r\n\r\n"),
		bad("signed code", "HTTP/1.1 +20 OK\r\n\r\n"),
		bad("code below 100", "HTTP/1.1 099 OK\r\n\r\n"),
		bad("tab after version", "HTTP/1.1\t200 OK\r\n\r\n"),
		bad("two CR", "HTTP/1.1 200\r\r\n\r\n"),
		bad("version alone", "HTTP/1.1\r\n\r\n"),
		bad("garbage without end", "SSH-2.0-OpenSSH_9.6"),
		bad("TLS alert", "\x15\x03\x01\x00\x02\x02\x0a"),
		{name: "cut in the version", in: "HTT", kind: httpwire.Truncated},
		{name: "cut in the head", in: ok + "Content-Le", kind: httpwire.Truncated},
		{name: "cut after a bad status line", in: "HTTP/1.1 20 OK\r\n", kind: httpwire.Truncated},
		{name: "cut after a bad field line", in: ok + "no colon\r\n", kind: httpwire.Truncated},
		{name: "cut before the blank line", in: ok, kind: httpwire.Truncated},
	})
}

func TestFraming(t *testing.T) {
	head, connect := httpwire.MethodHead, httpwire.MethodConnect
	runResponses(t, []responseCase{
		{name: "length", in: ok + "Content-Length: 5\r\n\r\nhello", rest: "HTTP", status: 200, body: "hello", keep: true},
		{name: "length 0", in: ok + "Content-Length: 0\r\n\r\n", rest: "x", status: 200, keep: true},
		{name: "any case", in: ok + "cONTENT-lENGTH:5\r\n\r\nhello", status: 200, body: "hello", keep: true},
		{name: "white space around", in: ok + "Content-Length:\t 5 \t\r\n\r\nhello", status: 200, body: "hello", keep: true},
		{name: "leading zeros", in: ok + "Content-Length: 000000000000000000000005\r\n\r\nhello", status: 200, body: "hello", keep: true},
		{name: "until close", in: ok + "\r\nhello", status: 200, body: "hello", atEOF: true},
		{name: "until close, empty", in: ok + "\r\n", status: 200, atEOF: true},
		{name: "until close, asked to keep", in: ok + "Connection: keep-alive\r\n\r\nhi", status: 200, body: "hi", atEOF: true},
		{name: "no content", in: "HTTP/1.1 204 No Content\r\n\r\n", rest: "x", status: 204, keep: true},
		{name: "no content with length", in: "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", rest: "hello", status: 204, keep: true},
		{name: "not modified", in: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", status: 304, keep: true},
		{name: "not modified, chunked", in: "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", status: 304, keep: true},
		{name: "head", method: head, in: ok + "Content-Length: 5\r\n\r\n", rest: "HTTP", status: 200, keep: true},
		{name: "head, chunked", method: head, in: ok + "Transfer-Encoding: chunked\r\n\r\n", status: 200, keep: true},
		{name: "head, nothing", method: head, in: ok + "\r\n", status: 200, keep: true},
		{name: "connect", method: connect, in: ok + "Content-Length: 5\r\n\r\n", rest: "tunnel", status: 200},
		{name: "connect refused", method: connect, in: "HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno", status: 407, body: "no", keep: true},
		{name: "switching protocols", in: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", rest: "\x81\x05", status: 101},
		{name: "continue", in: "HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi", status: 200, body: "hi", keep: true, inter: 1},
		{name: "early hints with a length", in: "HTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\nConnection: close\r\n\r\nHTTP/1.1 102 \r\n\r\n" + ok + "Content-Length: 0\r\n\r\n", status: 200, keep: true, inter: 2},
		{name: "cut after continue", in: "HTTP/1.1 100 Continue\r\n\r\n", kind: httpwire.Truncated},
		{name: "cut body", in: ok + "Content-Length: 5\r\n\r\nhell", kind: httpwire.Truncated},
		{name: "chunked and length", in: ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", status: 200, body: "a", chunk: true, both: true},
		{name: "gzip and length", in: ok + "Transfer-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabcdef", status: 200, body: "abcdef", both: true, atEOF: true},
		{name: "gzip, chunked", in: ok + "Transfer-Encoding: gzip, Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n", status: 200, body: "a", chunk: true, keep: true},
		{name: "two coding fields", in: ok + "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", status: 200, chunk: true, keep: true},
		{name: "chunked, gzip", in: ok + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", status: 200, body: "0\r\n\r\n", atEOF: true},
		{name: "identity", in: ok + "Transfer-Encoding: identity\r\n\r\nabc", status: 200, body: "abc", atEOF: true},
		{name: "empty elements", in: ok + "Transfer-Encoding: , chunked,\r\n\r\n0\r\n\r\n", status: 200, chunk: true, keep: true},
		{name: "chunked in HTTP/1.0", in: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", status: 200, body: "0\r\n\r\n", both: true},
	})
}

func TestBadLength(t *testing.T) {
	for name, line := range map[string]string{
		"list":               "Content-Length: 5, 5",
		"plus":               "Content-Length: +5",
		"minus":              "Content-Length: -5",
		"hexadecimal":        "Content-Length: 0x5",
		"empty":              "Content-Length:",
		"inner space":        "Content-Length: 5 5",
		"folded":             "Content-Length: 5\r\n 5",
		"overflow":           "Content-Length: 9223372036854775808",
		"far overflow":       "Content-Length: 99999999999999999999999999999",
		"different":          "Content-Length: 5\r\nContent-Length: 6",
		"different text":     "Content-Length: 5\r\nContent-Length: 05",
		"empty coding":       "Transfer-Encoding:",
		"commas only":        "Transfer-Encoding: ,,",
		"chunked twice":      "Transfer-Encoding: chunked, chunked",
		"chunked around":     "Transfer-Encoding: chunked\r\nTransfer-Encoding: gzip, chunked",
		"chunked parameters": "Transfer-Encoding: chunked;q=1",
	} {
		t.Run(name, responseCase{in: ok + line + "\r\n\r\n", kind: httpwire.BadLength}.run)
	}
	for name, line := range map[string]string{
		"same twice":     "Content-Length: 5\r\nContent-Length:  5",
		"folded at once": "Content-Length:\r\n 5",
	} {
		t.Run(name, responseCase{in: ok + line + "\r\n\r\nhello", status: 200, body: "hello", keep: true}.run)
	}
	largest := ok + "Content-Length: 9223372036854775807\r\n\r\n"
	t.Run("largest", responseCase{in: largest, kind: httpwire.Truncated}.run)
}

func TestKeepAlive(t *testing.T) {
	tests := []struct {
		name, proto, lines string
		want               bool
	}{
		{"1.1", "HTTP/1.1", "", true},
		{"1.1 close", "HTTP/1.1", "Connection: close\r\n", false},
		{"1.1 any case", "HTTP/1.1", "CONNECTION:CLOSE\r\n", false},
		{"1.1 in a list", "HTTP/1.1", "Connection: Upgrade ,\tclose , x\r\n", false},
		{"1.1 second field", "HTTP/1.1", "Connection: keep-alive\r\nConnection: close\r\n", false},
		{"1.1 folded", "HTTP/1.1", "Connection: keep-alive,\r\n\tclose\r\n", false},
		{"1.1 part of a word", "HTTP/1.1", "Connection: closed, unclose\r\n", true},
		{"1.1 another field", "HTTP/1.1", "Proxy-Connection: close\r\n", true},
		{"1.0", "HTTP/1.0", "", false},
		{"1.0 keep-alive", "HTTP/1.0", "Connection: Keep-Alive\r\n", true},
		{"1.0 both", "HTTP/1.0", "Connection: keep-alive, close\r\n", false},
		{"1.0 keep-alive in another field", "HTTP/1.0", "X: keep-alive\r\n", false},
	}
	for _, tt := range tests {
		in := tt.proto + " 200 OK\r\n" + tt.lines + "Content-Length: 1\r\n\r\n!"
		t.Run(tt.name, responseCase{in: in, rest: "?", status: 200, body: "!", keep: tt.want}.run)
	}
}

func TestHeaderLines(t *testing.T) {
	for name, lines := range map[string]string{
		"no colon":               "Nonsense\r\n",
		"no name":                ": value\r\n",
		"space before the colon": "Content-Length : 5\r\n",
		"tab before the colon":   "Content-Length\t: 5\r\n",
		"space in the name":      "Content Length: 5\r\n",
		"fold without a field":   " folded\r\n",
		"byte above 127 in name": "Na\xefve: 1\r\n",
		"NUL":                    "A: some longer value with \x00 in it\r\n",
		"CR":                     "A: b\rc\r\n",
		"control before LF":      "A: b\x01\n",
		"DEL":                    "A: 12345678901234\x7f\r\n",
		"escape in fold":         "A: b\r\n c\x1b\r\n",
	} {
		t.Run(name, responseCase{in: ok + lines + "\r\n", kind: httpwire.BadHeader}.run)
	}
	for name, lines := range map[string]string{
		"empty value":       "A:\r\nContent-Length: 2\r\n\r\n",
		"tab and obs-text":  "A: b\tc\xff\x80 and some more text\r\nContent-Length: 2\r\n\r\n",
		"fold":              "A: b\r\n  c\r\n\t\r\nContent-Length: 2\r\n\r\n",
		"bare LF":           "A: b\nContent-Length: 2\n\n",
		"bare LF, mixed":    "A: b\r\nContent-Length: 2\n\r\n",
		"bare LF at end":    "A: b\nContent-Length: 2\r\n\n",
		"all token letters": "!#$%&'*+-.^_`|~09azAZ: 1\r\nContent-Length: 2\r\n\r\n",
	} {
		c := responseCase{in: ok + lines + "hi", rest: "\n\n\r\n\r\n", status: 200, body: "hi", keep: true}
		t.Run(name, c.run)
	}
}

func TestChunked(t *testing.T) {
	const te = ok + "Transfer-Encoding: chunked\r\n\r\n"
	for name, body := range map[string]string{
		"plain":              "5\r\nhello\r\n0\r\n\r\n",
		"several":            "1\r\nh\r\n2\r\nel\r\n02\r\nlo\r\n000\r\n\r\n",
		"extensions":         "5;a=b;c=\"d\"\r\nhello\r\n0;last\r\n\r\n",
		"white space":        "5 \t; a\r\nhello\r\n0  \r\n\r\n",
		"trailer":            "5\r\nhello\r\n0\r\nX-Sum: 1\r\nY:\r\n\r\n",
		"folded trailer":     "5\r\nhello\r\n0\r\nX-Sum: 1\r\n 2\r\n\r\n",
		"framing in trailer": "5\r\nhello\r\n0\r\nContent-Length: 99\r\nConnection: close\r\n\r\n",
	} {
		t.Run(name, responseCase{in: te + body, rest: "HTTP/1.1", status: 200, body: "hello", keep: true, chunk: true}.run)
	}
	hex := te + "0000A\r\n0123456789\r\nb\r\n0123456789a\r\n0\r\n\r\n"
	t.Run("hexadecimal", responseCase{in: hex, status: 200, body: "01234567890123456789a", keep: true, chunk: true}.run)
	failures := []struct {
		name, body string
		kind       httpwire.Kind
	}{
		{"no size", "\r\n", httpwire.BadChunk},
		{"extension only", ";a\r\n", httpwire.BadChunk},
		{"not a digit", "g\r\n", httpwire.BadChunk},
		{"prefix", "0x5\r\nhello\r\n", httpwire.BadChunk},
		{"sign", "-5\r\nhello\r\n", httpwire.BadChunk},
		{"leading space", " 5\r\nhello\r\n", httpwire.BadChunk},
		{"seventeen digits", "00000000000000005\r\nhello\r\n", httpwire.BadChunk},
		{"overflow", "8000000000000000\r\n", httpwire.BadChunk},
		{"overflow in sum", "1\r\na\r\n7fffffffffffffff\r\n", httpwire.BadChunk},
		{"bare LF after size", "5\nhello\r\n0\r\n\r\n", httpwire.BadChunk},
		{"CR in extension", "5;a\rb\r\nhello\r\n0\r\n\r\n", httpwire.BadChunk},
		{"LF after another byte", "5\r\nhellox\n0\r\n\r\n", httpwire.BadChunk},
		{"CR in size line", "5\r;a\r\nhello\r\n", httpwire.BadChunk},
		{"no CRLF after chunk", "5\r\nhelloo0\r\n\r\n", httpwire.BadChunk},
		{"bare LF after chunk", "5\r\nhello\n0\r\n\r\n", httpwire.BadChunk},
		{"CR alone after chunk", "5\r\nhello\r0\r\n\r\n", httpwire.BadChunk},
		{"bare LF at the end", "0\r\n\n", httpwire.BadHeader},
		{"trailer without colon", "0\r\nnonsense\r\n\r\n", httpwire.BadHeader},
		{"trailer with bare LF", "0\r\nA: b\n\r\n", httpwire.BadHeader},
		{"trailer starts with a fold", "0\r\n a\r\n\r\n", httpwire.BadHeader},
		{"NUL in trailer", "0\r\nA: \x00\r\n\r\n", httpwire.BadHeader},
		{"cut in size", "5", httpwire.Truncated},
		{"cut in chunk", "5\r\nhel", httpwire.Truncated},
		{"cut after chunk", "5\r\nhello\r", httpwire.Truncated},
		{"cut between chunks", "5\r\nhello\r\n", httpwire.Truncated},
		{"cut in trailer", "0\r\nA: b\r\n", httpwire.Truncated},
		{"largest size", "7fffffffffffffff\r\n", httpwire.Truncated},
	}
	for _, tt := range failures {
		t.Run(tt.name, responseCase{in: te + tt.body, kind: tt.kind}.run)
	}
}

func TestTooManyInterim(t *testing.T) {
	in := ""
	for range 64 {
		in += "HTTP/1.1 102 x\r\n\r\n"
	}
	final := ok + "Content-Length: 0\r\n\r\n"
	got := drive(t, httpwire.NewParser(httpwire.Limits{}), httpwire.MethodOther, in+final)
	if got.interim != 64 || got.status != 200 {
		t.Errorf("64 interim responses: got %+v", got)
	}
	got = drive(t, httpwire.NewParser(httpwire.Limits{}), httpwire.MethodOther, "HTTP/1.1 100 \r\n\r\n"+in+final)
	if want := (outcome{kind: httpwire.TooManyInterim}); got != want {
		t.Errorf("65 interim responses: got %+v, want %+v", got, want)
	}
}

func TestKindString(t *testing.T) {
	seen := map[string]bool{}
	for k := httpwire.BadStatusLine; int(k) < httpwire.KindCount; k++ {
		text := k.String()
		if text == "" || text == fmt.Sprintf("kind %d", k) || seen[text] {
			t.Errorf("kind %d: name %q is missing or taken", k, text)
		}
		seen[text] = true
	}
	if got, want := httpwire.Kind(99).String(), "kind 99"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
