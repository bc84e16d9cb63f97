package script_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"prony/internal/plan"
	"prony/internal/scenario"
	"prony/internal/wrk/script"
)

// load loads a script with 127.0.0.1:8080 as its target; out receives what it
// prints.
func load(t testing.TB, c script.Config) (p *script.Program, out *bytes.Buffer) {
	t.Helper()
	out = &bytes.Buffer{}
	p, err := script.Load(target(c, out))
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	t.Cleanup(p.Close)
	return p, out
}

// target fills in what a test does not care about.
func target(c script.Config, out *bytes.Buffer) script.Config {
	c.Host, c.Port = "127.0.0.1", "8080"
	c.Stdout, c.Stderr = out, out
	if c.Args == nil {
		c.Args = []string{"http://127.0.0.1:8080/"}
	}
	if c.Addrs == nil {
		c.Addrs = []string{"127.0.0.1:8080"}
	}
	return c
}

// fails expects an error of Load that holds want.
func fails(t *testing.T, c script.Config, want string) {
	t.Helper()
	p, err := script.Load(target(c, &bytes.Buffer{}))
	if err == nil {
		p.Close()
		t.Fatalf("load succeeded, want an error with %q", want)
	}
	if !strings.Contains(err.Error(), want) {
		t.Errorf("got error %q, want %q in it", err, want)
	}
}

func request(t testing.TB, s scenario.Script) string {
	t.Helper()
	b, err := s.Request()
	if err != nil {
		t.Fatalf("request: %v", err)
	}
	return string(b)
}

func example(name string) script.Config {
	return script.Config{File: filepath.Join("testdata", name)}
}

const hostLine = "Host: 127.0.0.1:8080\r\n"

func TestNoScript(t *testing.T) {
	p, _ := load(t, script.Config{Headers: []plan.Header{{Name: "X-B", Value: "1"}, {Name: "X-A", Value: "2"}}, Path: "/p?q=1"})
	s := p.Thread(0)
	want := "GET /p?q=1 HTTP/1.1\r\n" + hostLine + "X-B: 1\r\nX-A: 2\r\n\r\n"
	if got := request(t, s); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	w := s.Wants()
	if w.Request || w.Response || w.Delay || w.Batch != 1 || w.Dial != "127.0.0.1:8080" || w.Stopped() {
		t.Errorf("got %+v, want nothing but one request to 127.0.0.1:8080", w)
	}
}

func TestPost(t *testing.T) {
	p, _ := load(t, example("post.lua"))
	want := "POST / HTTP/1.1\r\n" + hostLine +
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 14\r\n\r\nname=value&n=1"
	if got := request(t, p.Thread(0)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if p.Thread(0).Wants().Request {
		t.Error("a script without request() wants it called")
	}
}

func TestAuth(t *testing.T) {
	p, _ := load(t, example("auth.lua"))
	s := p.Thread(0)
	if w := s.Wants(); !w.Request || !w.Response || w.Delay {
		t.Fatalf("got %+v, want request and response", w)
	}
	if got, want := request(t, s), "GET /login HTTP/1.1\r\n"+hostLine+"\r\n"; got != want {
		t.Errorf("before: got %q, want %q", got, want)
	}
	answer := []scenario.Header{{Name: "x-token", Value: "no"}, {Name: "X-Token", Value: "no"}, {Name: "X-Token", Value: "s3cret"}}
	if err := s.Response(200, answer, []byte("ok")); err != nil {
		t.Fatal(err)
	}
	if got, want := request(t, s), "GET /data HTTP/1.1\r\n"+hostLine+"X-Token: s3cret\r\n\r\n"; got != want {
		t.Errorf("after: got %q, want %q", got, want)
	}
}

func TestCounter(t *testing.T) {
	c := example("counter.lua")
	c.Threads = 2
	p, _ := load(t, c)
	for i, want := range []string{"/item/2", "/item/1"} { // the trial call took the first of thread 0
		if got := strings.Fields(request(t, p.Thread(i)))[1]; got != want {
			t.Errorf("thread %d: got %s, want %s", i, got, want)
		}
	}
}

func TestPipeline(t *testing.T) {
	c := example("pipeline.lua")
	c.Args = []string{"http://127.0.0.1:8080/", "a", "b", "c"}
	p, _ := load(t, c)
	if got := p.Thread(0).Wants().Batch; got != 3 {
		t.Errorf("got batch %d, want 3", got)
	}
	if got := strings.Count(request(t, p.Thread(0)), hostLine); got != 3 {
		t.Errorf("got %d requests, want 3", got)
	}
}

func TestSetupAndStop(t *testing.T) {
	c := example("stop.lua")
	c.Threads = 3
	p, out := load(t, c)
	for i, want := range []string{"/thread1", "/thread2", "/thread3"} {
		if got := strings.Fields(request(t, p.Thread(i)))[1]; got != want {
			t.Errorf("thread %d: got %s, want %s", i, got, want)
		}
	}
	s := p.Thread(1)
	for _, want := range []bool{false, true} {
		if err := s.Response(200, nil, nil); err != nil {
			t.Fatal(err)
		}
		if got := s.Wants().Stopped(); got != want {
			t.Errorf("got stopped %v, want %v", got, want)
		}
	}
	if p.Thread(0).Wants().Stopped() {
		t.Error("one thread stopped another")
	}
	if err := p.Done(script.Summary{}, values{}, values{}); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "answers 2\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDelay(t *testing.T) {
	p, _ := load(t, example("delay.lua"))
	s := p.Thread(0)
	if !s.Wants().Delay {
		t.Fatal("the script does not want delays")
	}
	for _, want := range []time.Duration{10 * time.Millisecond, 20 * time.Millisecond} {
		if got, err := s.Delay(); got != want || err != nil {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
}

func TestDelayValues(t *testing.T) {
	tests := []struct {
		name, value  string
		want, quirks time.Duration
	}{
		{"fraction", "1.5", 1500 * time.Microsecond, time.Millisecond},
		{"numeral", "'7'", 7 * time.Millisecond, 7 * time.Millisecond},
		{"nothing", "nil", 0, 0},
		{"negative", "-5", 0, 0},
		{"not a number", "0/0", 0, 0},
		{"endless", "math.huge", 240 * time.Hour, 240 * time.Hour},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for quirks, want := range map[bool]time.Duration{false: test.want, true: test.quirks} {
				p, _ := load(t, script.Config{Source: []byte("function delay() return " + test.value + " end"), Quirks: quirks})
				if got, err := p.Thread(0).Delay(); got != want || err != nil {
					t.Errorf("quirks %v: got %v, %v, want %v", quirks, got, err, want)
				}
			}
		})
	}
}

func TestAddr(t *testing.T) {
	c := example("addr.lua")
	c.Threads = 2
	c.Lookup = func(host, service string) ([]string, error) {
		return []string{"127.0.0.1:" + service, "127.0.0.2:" + service, "127.0.0.3:" + service}, nil
	}
	c.Connect = func(addr string) bool { return addr != "127.0.0.2:8080" }
	p, out := load(t, c)
	var dial []string
	for i := range 2 {
		dial = append(dial, p.Thread(i).Wants().Dial)
	}
	if want := []string{"127.0.0.3:8080", "127.0.0.1:8080"}; !slices.Equal(dial, want) {
		t.Errorf("got %q, want %q", dial, want)
	}
	if got, want := out.String(), "thread addr: 127.0.0.3:8080\nthread addr: 127.0.0.1:8080\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// values is a small distribution: each value once, in ascending order.
type values []int64

func (v values) Min() float64            { return v.Percentile(0) }
func (v values) Max() float64            { return v.Percentile(100) }
func (v values) Mean() float64           { return 1645.34661076173 }
func (v values) StDev() float64          { return 0.5 }
func (v values) Len() int                { return len(v) }
func (v values) At(i int) (int64, int64) { return v[i], int64(i + 1) }
func (v values) Percentile(p float64) float64 {
	if len(v) == 0 {
		return 0
	}
	return float64(v[int(p/100*float64(len(v)-1))])
}

func TestReport(t *testing.T) {
	p, out := load(t, example("report.lua"))
	s := script.Summary{Duration: 1_000_123, Requests: 10, Bytes: 1000,
		Errors: script.Errors{Connect: 1, Read: 2, Write: 3, Status: 4, Timeout: 5}}
	if err := p.Done(s, values{10, 20, 30}, values{7}); err != nil {
		t.Fatal(err)
	}
	want := `percentile,latency_us
50%,20
90%,20
99%,20
99.999%,20
3 distinct values
10 x 1
20 x 2
30 x 3
1000123	10	1000	1	2	3	4	5
10	30	1645.3466107617	0.5	nil	1645.3466107617
`
	if got := out.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestMissingScript(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.lua")
	fails(t, script.Config{File: missing}, "none.lua")
	p, out := load(t, script.Config{File: missing, Quirks: true, Threads: 2})
	if got, want := request(t, p.Thread(1)), "GET / HTTP/1.1\r\n"+hostLine+"\r\n"; got != want {
		t.Errorf("with quirks: got %q, want %q", got, want)
	}
	if got := strings.Count(out.String(), "none.lua"); got != 3 { // the main state and two threads
		t.Errorf("got %d complaints, want 3:\n%s", got, out)
	}
}

func TestBrokenScripts(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{"syntax", "x = = 1", "x.lua line:1"},
		{"while loading", "error('boom')", "x.lua: load: x.lua:1: boom"},
		{"setup", "function setup() error('boom') end", "x.lua: setup(): x.lua:1: boom"},
		{"init", "function init() nothing.at = 1 end", "x.lua: init():"},
		{"request", "function request() return nil + 1 end", "x.lua: request():"},
		{"no request", "function request() end", "incomplete request at 1:1"},
		{"cut request", `function request() return "GET / HTTP/1.1\r\nHost: a\r\n" end`, "incomplete request at 3:1"},
		{"bad method", `function request() return "GE\1T / HTTP/1.1\r\n\r\n" end`, "invalid HTTP method at 1:3"},
		{"static", "wrk.path = '/a b'", "request(): invalid HTTP version at 1:8"},
		{"body", "wrk.body = {}", "body is a table, want a string"},
		{"ffi", "local ffi = require 'ffi'", "the ffi library of LuaJIT is not available"},
		{"object as header", "wrk.headers = 3", "headers is no table"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fails(t, script.Config{File: "x.lua", Source: []byte(test.source)}, test.want)
		})
	}
}

func TestQuirksKeepWhatWasDefined(t *testing.T) {
	p, _ := load(t, script.Config{Source: []byte("wrk.path = '/kept' error('boom')"), Quirks: true})
	if got := strings.Fields(request(t, p.Thread(0)))[1]; got != "/kept" {
		t.Errorf("got path %s, want /kept", got)
	}
}

func TestErrorsWhileRunning(t *testing.T) {
	source := `
local calls = 0
function request() calls = calls + 1; if calls > 1 then error("no more") end return wrk.format() end
function response(status) return status + nil end
function delay() return {} end
function done() error("at the end") end`
	p, _ := load(t, script.Config{File: "x.lua", Source: []byte(source)})
	s := p.Thread(0)
	_, request := s.Request()
	_, delay := s.Delay()
	errs := map[string]error{
		"x.lua: request(): x.lua:3: no more":  request,
		"x.lua: response(): x.lua:4:":         s.Response(200, nil, nil),
		"x.lua: delay(): it returned a table": delay,
		"x.lua: done(): x.lua:6: at the end":  p.Done(script.Summary{}, values{}, values{}),
	}
	for want, err := range errs {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q in it", err, want)
		}
	}
}

func TestBatchMustNotChange(t *testing.T) {
	source := `
local n = 0
function request() n = n + 1 return string.rep(wrk.format(), n) end`
	p, _ := load(t, script.Config{Source: []byte(source)})
	_, err := p.Thread(0).Request()
	if want := "request() returned 2 requests, the first time 1"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want %q in it", err, want)
	}
}

func TestOptionsAmongArguments(t *testing.T) {
	c := script.Config{Args: []string{"-url", "--timeout", "30", "-5", "-", "-t8"}}
	p, _ := load(t, c)
	got := p.Warnings()
	if len(got) != 2 || !strings.Contains(got[0], `"--timeout"`) || !strings.Contains(got[1], `"-t8"`) {
		t.Errorf("got %q, want warnings about --timeout and -t8", got)
	}
}

func TestUnixFirstLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.lua")
	if err := os.WriteFile(file, []byte("#!/usr/bin/env wrk\nwrk.path = '/x'\nfunction request() error('here') end"), 0o600); err != nil {
		t.Fatal(err)
	}
	fails(t, script.Config{File: file}, "x.lua:3: here")
}

// TestThreadsRunApart runs the states in parallel, which share the compiled
// script and the output; it is for the race detector.
func TestThreadsRunApart(t *testing.T) {
	const threads, calls = 4, 200
	source := `
local n = 0
function request() n = n + 1 print(math.random(9)) return wrk.format("GET", "/" .. n, {A = n}) end
function response(status, headers, body) io.write(headers.A, "\n") end`
	p, out := load(t, script.Config{Source: []byte(source), Threads: threads})
	var wg sync.WaitGroup
	errs := make([]error, threads)
	for i := range threads {
		wg.Go(func() {
			s := p.Thread(i)
			for range calls {
				_, err := s.Request()
				errs[i] = errors.Join(errs[i], err, s.Response(200, []scenario.Header{{Name: "A", Value: "a"}}, nil))
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Count(out.String(), "\n"), threads*calls*2+1; got != want { // and the trial call
		t.Errorf("got %d lines, want %d", got, want)
	}
}

// FuzzStringFormat: no format string can do more than raise an error.
func FuzzStringFormat(f *testing.F) {
	for _, seed := range []string{"%5.2f|%-8s|%q", "%%%c%x", "%99999999d", "%.s", "%-+ #0.14g", "%", "%5", "\xff%\xff"} {
		f.Add(seed, "text", 1.5)
	}
	p, err := script.Load(script.Config{Source: []byte(`
function response(status, headers, body)
	pcall(string.format, headers.format, tonumber(headers.number), headers.number, body, status, body)
	pcall(string.format, headers.format, body, tonumber(headers.number), status)
end`)})
	if err != nil {
		f.Fatal(err)
	}
	s := p.Thread(0)
	f.Fuzz(func(t *testing.T, format, text string, number float64) {
		fields := []scenario.Header{{Name: "format", Value: format}, {Name: "number", Value: fmt.Sprint(number)}}
		if err := s.Response(200, fields, []byte(text)); err != nil {
			t.Errorf("%q: %v", format, err)
		}
	})
}
