package httpwire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"prony/internal/httpwire"
)

// outcome is all that can be observed of one response.
type outcome struct {
	status      int
	keepAlive   bool
	chunked     bool
	bothLengths bool
	interim     int
	minor       int
	headerLen   int
	bodyLen     int64
	body        string // with capture only
	fields      string // "name=value;" each, with capture only
	used        int    // bytes consumed, when complete
	atEOF       bool   // it took the peer's close to complete it
	idle        bool   // ErrIdleClose
	kind        httpwire.Kind
}

// recorder is a Capture that keeps everything.
type recorder struct{ body, fields strings.Builder }

func (r *recorder) Header(name, value []byte) { fmt.Fprintf(&r.fields, "%s=%s;", name, value) }
func (r *recorder) Body(chunk []byte)         { r.body.Write(chunk) }

var _ httpwire.Capture = (*recorder)(nil)

// drive feeds one response in pieces, then the peer's close if it is not
// complete, and returns what came of it.
func drive(t testing.TB, p *httpwire.Parser, m httpwire.MethodKind, pieces ...string) outcome {
	t.Helper()
	var s httpwire.State
	var r recorder
	capturing := p.Capture != nil
	if capturing {
		p.Capture = &r
	}
	p.Begin(&s, m)
	used, done, err := feed(t, p, &s, pieces)
	atEOF := false
	if err == nil && !done {
		done, err = p.EOF(&s)
		atEOF = true
	}
	if err != nil || !done {
		return failure(t, done, err)
	}
	o := outcome{
		status: s.Status, keepAlive: s.KeepAlive, chunked: s.Chunked, bothLengths: s.BothLengths,
		interim: int(s.Interim), minor: int(s.Minor), headerLen: s.HeaderLen, bodyLen: s.BodyLen,
		used: used, atEOF: atEOF,
	}
	if capturing {
		o.body, o.fields = r.body.String(), r.fields.String()
		if int64(len(o.body)) != s.BodyLen {
			t.Errorf("captured %d bytes of body, BodyLen says %d", len(o.body), s.BodyLen)
		}
	}
	return o
}

// feed hands the pieces over, each in memory of its own that is overwritten
// after the call: a parser that kept a reference would be found out.
func feed(t testing.TB, p *httpwire.Parser, s *httpwire.State, pieces []string) (used int, done bool, err error) {
	t.Helper()
	for _, piece := range pieces {
		data := []byte(piece)
		n, done, err := p.Parse(s, data)
		for i := range data {
			data[i] = '#'
		}
		if err != nil {
			return used, false, err
		}
		used += n
		if done {
			return used, true, nil
		}
		if n != len(data) {
			t.Fatalf("Parse consumed %d of %d bytes without done", n, len(data))
		}
		if len(data) > 0 && !s.Started() {
			t.Errorf("Started() is false after %d bytes", used)
		}
	}
	return used, false, nil
}

// failure turns an error into an outcome.
func failure(t testing.TB, done bool, err error) outcome {
	t.Helper()
	if done || err == nil {
		t.Fatalf("done %v with error %v", done, err)
	}
	if errors.Is(err, httpwire.ErrIdleClose) {
		return outcome{idle: true}
	}
	kind := httpwire.KindOf(err)
	if kind == 0 {
		t.Fatalf("error %v has no kind", err)
	}
	if len(err.Error()) > 512 {
		t.Errorf("error text of %d bytes", len(err.Error()))
	}
	return outcome{kind: kind}
}

// capturing returns a parser that captures.
func capturing(l httpwire.Limits) *httpwire.Parser {
	p := httpwire.NewParser(l)
	p.Capture = &recorder{}
	return p
}

// bare removes what only a capture shows.
func (o outcome) bare() outcome {
	o.body, o.fields = "", ""
	return o
}

// checkSplits drives in through parsers with and without capture, with a cold
// and a warm memo, at every split point and byte by byte, and wants the same
// outcome each time, which it returns.
func checkSplits(t testing.TB, l httpwire.Limits, m httpwire.MethodKind, in string) outcome {
	t.Helper()
	want := drive(t, capturing(l), m, in)
	captured, plain := capturing(l), httpwire.NewParser(l)
	check := func(how string, pieces ...string) {
		t.Helper()
		if got := drive(t, captured, m, pieces...); got != want {
			t.Errorf("%s, captured:\n got %+v\nwant %+v", how, got, want)
		}
		if got := drive(t, plain, m, pieces...); got != want.bare() {
			t.Errorf("%s:\n got %+v\nwant %+v", how, got, want.bare())
		}
	}
	check("whole", in)
	check("whole again", in)
	for i := range len(in) {
		check(fmt.Sprintf("split at %d", i), in[:i], in[i:])
	}
	check("byte by byte", strings.Split(in, "")...)
	return want
}
