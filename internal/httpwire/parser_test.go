package httpwire_test

import (
	"errors"
	"strings"
	"testing"
	"unsafe"

	"prony/internal/httpwire"
)

// sample is a response of 180 bytes, as a server with a body of 13 would send.
const sample = "HTTP/1.1 200 OK\r\n" +
	"Server: testserver/1.0\r\n" +
	"Date: Tue, 29 Sep 2026 10:00:00 GMT\r\n" +
	"Content-Type: text/plain; charset=utf-8\r\n" +
	"Age: 123\r\n" +
	"Connection: keep-alive\r\n" +
	"Content-Length: 6\r\n\r\n" + "hello\n"

const chunkedSample = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
	"5\r\nhello\r\n6\r\n world\r\n0\r\nX-Sum: 1\r\n\r\n"

func TestSampleSize(t *testing.T) {
	if got, want := len(sample), 180; got != want {
		t.Errorf("the sample has %d bytes, its comment says %d", got, want)
	}
	if got, want := unsafe.Sizeof(httpwire.State{}), uintptr(64); got != want {
		t.Errorf("State has %d bytes, its comment says %d", got, want)
	}
}

func TestLimits(t *testing.T) {
	head := ok + "A: " + strings.Repeat("x", 43) + "\r\n\r\n"
	chunks := ok + "Transfer-Encoding: chunked\r\n\r\n"
	tests := []struct {
		name   string
		limits httpwire.Limits
		in     string
		want   httpwire.Kind // 0 = fits
	}{
		{"head fits", httpwire.Limits{HeaderBytes: len(head)}, head, 0},
		{"head too large", httpwire.Limits{HeaderBytes: len(head) - 1}, head, httpwire.HeaderTooLarge},
		{"head without end", httpwire.Limits{HeaderBytes: 20}, head[:21], httpwire.HeaderTooLarge},
		{"not HTTP comes first", httpwire.Limits{HeaderBytes: 10}, "x" + head, httpwire.BadStatusLine},
		{"length fits", httpwire.Limits{BodyBytes: 5}, ok + "Content-Length: 5\r\n\r\nhello", 0},
		{"length too large", httpwire.Limits{BodyBytes: 4}, ok + "Content-Length: 5\r\n\r\n", httpwire.BodyTooLarge},
		{"until close fits", httpwire.Limits{BodyBytes: 5}, ok + "\r\nhello", 0},
		{"until close too large", httpwire.Limits{BodyBytes: 4}, ok + "\r\nhello", httpwire.BodyTooLarge},
		{"chunks fit", httpwire.Limits{BodyBytes: 5}, chunks + "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", 0},
		{"chunks too large", httpwire.Limits{BodyBytes: 4}, chunks + "3\r\nhel\r\n2\r\n", httpwire.BodyTooLarge},
		{"chunk line fits", httpwire.Limits{ChunkLine: 4}, chunks + "1;ab\r\nh\r\n0\r\n\r\n", 0},
		{"chunk line too long", httpwire.Limits{ChunkLine: 3}, chunks + "1;ab\r\nh\r\n0\r\n\r\n", httpwire.BadChunk},
		{"chunk line without end", httpwire.Limits{ChunkLine: 3}, chunks + "1;abc", httpwire.BadChunk},
		{"trailer fits", httpwire.Limits{HeaderBytes: 52}, chunks + "0\r\nA: " + strings.Repeat("y", 45) + "\r\n\r\n", 0},
		{"trailer too large", httpwire.Limits{HeaderBytes: 51}, chunks + "0\r\nA: " + strings.Repeat("y", 45) + "\r\n\r\n", httpwire.HeaderTooLarge},
		{"trailer lines too large", httpwire.Limits{HeaderBytes: 50}, chunks + "0\r\n" + strings.Repeat("A: 5678\r\n", 6), httpwire.HeaderTooLarge},
		{"trailer without end", httpwire.Limits{HeaderBytes: 50}, chunks + "0\r\nA: " + strings.Repeat("y", 50), httpwire.HeaderTooLarge},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := checkSplits(t, tt.limits, httpwire.MethodOther, tt.in); got.kind != tt.want {
				t.Errorf("got kind %v, want %v", got.kind, tt.want)
			}
		})
	}
}

func TestDefaultHeaderLimit(t *testing.T) {
	p := httpwire.NewParser(httpwire.Limits{})
	const end = "\r\nContent-Length: 0\r\n\r\n"
	head := ok + "A: " + strings.Repeat("x", 256<<10-len(ok)-len("A: ")-len(end)) + end
	cut := len(head) / 2
	if got := drive(t, p, httpwire.MethodOther, head[:cut], head[cut:]); got.headerLen != 256<<10 {
		t.Errorf("head of 256 KiB: got %+v", got)
	}
	if got := drive(t, p, httpwire.MethodOther, ok+"A"+head[len(ok):]); got.kind != httpwire.HeaderTooLarge {
		t.Errorf("head of 256 KiB and a byte: got %+v", got)
	}
}

func TestEOF(t *testing.T) {
	p := httpwire.NewParser(httpwire.Limits{})
	var s httpwire.State
	wantIdle := func(when string) {
		t.Helper()
		if done, err := p.EOF(&s); done || !errors.Is(err, httpwire.ErrIdleClose) || s.Started() {
			t.Errorf("%s: got done %v, %v, started %v; want ErrIdleClose", when, done, err, s.Started())
		}
	}
	wantIdle("zero State")
	p.Begin(&s, httpwire.MethodHead)
	wantIdle("begun")
	if _, done, err := p.Parse(&s, []byte(ok+"\r\n")); !done || err != nil || !s.Done() {
		t.Fatalf("Parse: done %v, %v", done, err)
	}
	if done, err := p.EOF(&s); done || !errors.Is(err, httpwire.ErrIdleClose) {
		t.Errorf("after a response: got done %v, %v; want ErrIdleClose", done, err)
	}
	p.Begin(&s, httpwire.MethodOther)
	wantIdle("begun again")
}

func TestFailedState(t *testing.T) {
	p := httpwire.NewParser(httpwire.Limits{})
	var s httpwire.State
	if _, _, err := p.Parse(&s, []byte("nonsense")); httpwire.KindOf(err) != httpwire.BadStatusLine {
		t.Fatalf("got %v, want a bad status line", err)
	}
	if _, _, err := p.Parse(&s, []byte(sample)); !errors.Is(err, httpwire.ErrFailed) {
		t.Errorf("Parse: got %v, want %v", err, httpwire.ErrFailed)
	}
	if _, err := p.EOF(&s); !errors.Is(err, httpwire.ErrFailed) {
		t.Errorf("EOF: got %v, want %v", err, httpwire.ErrFailed)
	}
	s.Reset()
	if _, done, err := p.Parse(&s, []byte(sample)); !done || err != nil {
		t.Errorf("after Reset: done %v, %v", done, err)
	}
}

// TestMemoIsExact interleaves heads that share a beginning and methods that
// frame the same bytes differently, in one parser.
func TestMemoIsExact(t *testing.T) {
	p := httpwire.NewParser(httpwire.Limits{})
	const five = ok + "Content-Length: 5\r\n\r\n"
	steps := []struct {
		method  httpwire.MethodKind
		in      string
		bodyLen int64
		keep    bool
	}{
		{httpwire.MethodOther, five + "hello", 5, true},
		{httpwire.MethodHead, five, 0, true},
		{httpwire.MethodConnect, five, 0, false},
		{httpwire.MethodOther, five + "hello", 5, true},
		{httpwire.MethodOther, ok + "Content-Length: 5\n\nhello", 5, true},
		{httpwire.MethodOther, ok + "Content-Length: 6\r\n\r\nhello!", 6, true},
		{httpwire.MethodOther, ok + "Content-Length: 6\r\nConnection: close\r\n\r\nhello!", 6, false},
		{httpwire.MethodOther, "HTTP/1.1 100 Continue\r\n\r\n" + five + "hello", 5, true},
		{httpwire.MethodHead, five, 0, true},
	}
	for i, st := range steps {
		got := drive(t, p, st.method, st.in)
		if got.bodyLen != st.bodyLen || got.keepAlive != st.keep || got.used != len(st.in) {
			t.Errorf("step %d: got %+v, want %+v", i, got, st)
		}
	}
}

func TestCaptureFields(t *testing.T) {
	in := "HTTP/1.1 103 Early\r\nLink: no\r\n\r\n" + ok +
		"x-Case: One\r\nX-CASE:  two \r\nEmpty:\r\nFold: a\r\n\t b \r\n c\r\n" +
		"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nTrail: no\r\n\r\n"
	got := checkSplits(t, httpwire.Limits{}, httpwire.MethodOther, in)
	if want := "x-Case=One;X-CASE=two;Empty=;Fold=a b c;Transfer-Encoding=chunked;"; got.fields != want {
		t.Errorf("fields:\n got %s\nwant %s", got.fields, want)
	}
	if want := "abc"; got.body != want {
		t.Errorf("body: got %q, want %q", got.body, want)
	}
}

func TestHead(t *testing.T) {
	p := httpwire.NewParser(httpwire.Limits{})
	wantHead := func(what, want string) {
		t.Helper()
		if got := string(p.Head()); got != want {
			t.Errorf("%s: got %q, want %q", what, got, want)
		}
	}
	wantHead("nothing read", "")
	drive(t, p, httpwire.MethodOther, sample)
	wantHead("first", sample[:len(sample)-6])
	drive(t, p, httpwire.MethodOther, sample)
	wantHead("from the memo", sample[:len(sample)-6])
	missing := "HTTP/1.1 404 Not Found\r\n\r\n"
	drive(t, p, httpwire.MethodOther, "HTTP/1.1 100 \r\n\r\n"+missing[:9], missing[9:])
	wantHead("cut, after an interim one", missing)
	drive(t, p, httpwire.MethodOther, ok+"A: "+strings.Repeat("x", 5000)+"\r\n\r\n")
	wantHead("one that is too long is not held", missing)
}

// TestPipelined reads 16 responses of several kinds from one buffer, cut
// anywhere, without a Begin in between.
func TestPipelined(t *testing.T) {
	one := []string{sample, chunkedSample, "HTTP/1.1 204 \r\n\r\n", ok + "Content-Length: 0\r\n\r\n"}
	all := strings.Repeat(strings.Join(one, ""), 4)
	p := httpwire.NewParser(httpwire.Limits{})
	for cut := range len(all) {
		var s httpwire.State
		var got []int64
		for _, piece := range []string{all[:cut], all[cut:]} {
			for data := []byte(piece); len(data) > 0; {
				n, done, err := p.Parse(&s, data)
				if err != nil {
					t.Fatalf("cut at %d, response %d: %v", cut, len(got), err)
				}
				if done {
					got = append(got, s.BodyLen)
				}
				data = data[n:]
			}
		}
		if len(got) != 16 || got[0] != 6 || got[13] != 11 || got[14] != 0 {
			t.Fatalf("cut at %d: body lengths %v", cut, got)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	p := httpwire.NewParser(httpwire.Limits{})
	states := make([]httpwire.State, 8)
	parse := func(s *httpwire.State, data []byte) {
		for len(data) > 0 {
			n, _, err := p.Parse(s, data)
			if err != nil {
				t.Fatal(err)
			}
			data = data[n:]
		}
	}
	other := strings.Replace(sample, "10:00:00", "10:00:01", 1)
	folded := ok + "A: b\r\n c\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n"
	for name, in := range map[string]string{
		"memo": sample, "no memo": sample + other, "pipelined": strings.Repeat(sample, 16),
		"chunked": chunkedSample, "interim": "HTTP/1.1 100 Continue\r\n\r\n" + sample, "folded": folded,
	} {
		data := []byte(in)
		run := func() {
			for i := range states {
				parse(&states[i], data)
			}
		}
		if got := testing.AllocsPerRun(100, run); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
		cut := func() { // at every place, all connections in mid-response at once
			for at := range data {
				for _, piece := range [][]byte{data[:at], data[at:]} {
					for i := range states {
						parse(&states[i], piece)
					}
				}
			}
		}
		if got := testing.AllocsPerRun(2, cut); got != 0 {
			t.Errorf("%s, cut: %v allocations", name, got)
		}
	}
}

func TestErrorText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"short quote", "ICY 200 OK\r\n\r\n", `bad status line: not HTTP/1.x: "ICY 200 OK"`},
		{"long quote", strings.Repeat("x", 100), `bad status line: not HTTP/1.x: "` + strings.Repeat("x", 64) + `"...`},
		{"cut head", ok, "truncated: closed after 17 bytes of the head"},
		{"cut body", ok + "Content-Length: 5\r\n\r\nhe", "truncated: closed after 2 of 5 bytes of the body"},
		{"cut chunk", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhe", "truncated: closed between or inside chunks after 2 bytes of the body"},
		{"after interim", "HTTP/1.1 100 \r\n\r\n", "truncated: closed after 1 interim responses"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := httpwire.NewParser(httpwire.Limits{})
			var s httpwire.State
			_, _, err := p.Parse(&s, []byte(tt.in))
			if err == nil {
				_, err = p.EOF(&s)
			}
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// TestBeginAbandons begins anew in the middle of a head, as after a timeout.
func TestBeginAbandons(t *testing.T) {
	p := httpwire.NewParser(httpwire.Limits{})
	var s httpwire.State
	for range 3 {
		if _, _, err := p.Parse(&s, []byte(sample[:40])); err != nil || !s.Started() {
			t.Fatalf("Parse: %v, started %v", err, s.Started())
		}
		p.Begin(&s, httpwire.MethodHead)
		if s.Started() {
			t.Errorf("started right after Begin")
		}
	}
	if n, done, err := p.Parse(&s, []byte(sample)); n != len(sample)-6 || !done || err != nil {
		t.Errorf("got %d, %v, %v", n, done, err)
	}
}

func TestMethodKindOf(t *testing.T) {
	for method, want := range map[string]httpwire.MethodKind{
		"": httpwire.MethodOther, "GET": httpwire.MethodOther, "head": httpwire.MethodOther,
		"HEAD": httpwire.MethodHead, "CONNECT": httpwire.MethodConnect,
	} {
		if got := httpwire.MethodKindOf(method); got != want {
			t.Errorf("%q: got %v, want %v", method, got, want)
		}
	}
}
