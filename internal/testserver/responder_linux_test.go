//go:build amd64 || arm64

package testserver_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"prony/internal/testserver"
)

func startResponder(t testing.TB, c testserver.ResponderConfig) *testserver.Responder {
	t.Helper()
	if threads := max(c.Threads, 1); runtime.GOMAXPROCS(0) <= threads {
		old := runtime.GOMAXPROCS(threads + 1)
		t.Cleanup(func() { runtime.GOMAXPROCS(old) })
	}
	r, err := testserver.StartResponder(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func dialResponder(t testing.TB, r *testserver.Responder) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", r.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return c
}

const minimal = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

// responderAnswer is what a responder with a body of size bytes says.
func responderAnswer(size int) string {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog, again and again...\n", size/64+1)
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nServer: prony\r\nContent-Length: %d\r\n\r\n%s", size, text[:size])
}

func expect(t *testing.T, c net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Fatalf("got %d bytes, %v: %.200q\nwant %.200q", n, err, got, want)
	}
}

func TestResponderAnswers(t *testing.T) {
	tests := []struct {
		name   string
		writes []string
		want   int // answers
	}{
		{"one", []string{minimal}, 1},
		{"three in a pipeline", []string{minimal + minimal + minimal}, 3},
		{"more than one send holds", []string{strings.Repeat(minimal, 200)}, 200},
		{"more than one receive holds", []string{strings.Repeat(minimal, 3000)}, 3000},
		{"split in the head", []string{minimal[:10], minimal[10:]}, 1},
		{"split in its end", []string{minimal[:len(minimal)-3], "\n", "\r", "\n" + minimal}, 2},
	}
	for _, hold := range []time.Duration{0, time.Millisecond} {
		r := startResponder(t, testserver.ResponderConfig{Hold: hold})
		for _, tt := range tests {
			t.Run(fmt.Sprintf("%s, held %v", tt.name, hold), func(t *testing.T) {
				before := r.Requests()
				c := dialResponder(t, r)
				for _, part := range tt.writes {
					write(t, c, part)
				}
				expect(t, c, strings.Repeat(responderAnswer(33), tt.want))
				if got := r.Requests() - before; got != int64(tt.want) {
					t.Errorf("requests: got %d, want %d", got, tt.want)
				}
			})
		}
		r.Close()
	}
}

// TestResponderWaitsForSlowReaders fills the send buffer: nothing may be lost
// or repeated, and a half-closed client still gets what it asked for.
func TestResponderWaitsForSlowReaders(t *testing.T) {
	const size, n = 300_000, 60
	r := startResponder(t, testserver.ResponderConfig{BodySize: size})
	c := dialResponder(t, r)
	_ = c.(*net.TCPConn).SetReadBuffer(16 << 10)
	write(t, c, strings.Repeat(minimal, n/2))
	write(t, c, strings.Repeat(minimal, n/2))
	_ = c.(*net.TCPConn).CloseWrite()
	eventually(t, "requests arrive", func() bool { return r.Requests() >= n/2 })
	other := dialResponder(t, r) // is not held up
	write(t, other, minimal)
	expect(t, other, responderAnswer(size))
	for range n {
		expect(t, c, responderAnswer(size))
	}
	if got, err := io.ReadAll(c); len(got) > 0 || err != nil {
		t.Errorf("after the answers: got %d bytes, %v; want EOF", len(got), err)
	}
}

func TestResponderThreads(t *testing.T) {
	r := startResponder(t, testserver.ResponderConfig{Threads: 2, BodySize: 7})
	var clients sync.WaitGroup
	for range 20 {
		c := dialResponder(t, r)
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return c, nil }}}
			for range 50 {
				resp, err := client.Get(r.URL())
				if err != nil {
					t.Error(err)
					return
				}
				if body, err := io.ReadAll(resp.Body); string(body) != "the qui" || err != nil {
					t.Errorf("got %q, %v", body, err)
				}
				resp.Body.Close()
			}
		})
	}
	clients.Wait()
	if r.Requests() != 1000 || r.Connections() != 20 {
		t.Errorf("got %d requests on %d connections, want 1000 on 20", r.Requests(), r.Connections())
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", r.Addr().String()); err == nil {
		c.Close()
		t.Error("dial after close: got a connection")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestResponderHolds(t *testing.T) {
	const hold = 3 * time.Millisecond
	r := startResponder(t, testserver.ResponderConfig{Hold: hold})
	c := dialResponder(t, r)
	for range 50 {
		from := time.Now()
		write(t, c, minimal)
		expect(t, c, responderAnswer(33))
		if got := time.Since(from); got < hold {
			t.Errorf("answered after %v, want at least %v", got, hold)
		}
	}
	gone := dialResponder(t, r) // while its answer is held
	write(t, gone, minimal)
	gone.Close()
	eventually(t, "the lost request is read", func() bool { return r.Requests() == 51 })
	if got := r.Held(); got != nil {
		t.Errorf("before close: got %d hold times, want none", len(got))
	}
	r.Close()
	held := r.Held()
	if len(held) < 50 || held[0] < hold {
		t.Fatalf("got %d hold times from %v, want at least 50 from %v", len(held), held[0], hold)
	}
	t.Logf("held %v to %v, median %v", held[0], held[len(held)-1], held[len(held)/2])
	if best := held[0]; best > hold+time.Millisecond {
		t.Errorf("the best of 50 was held for %v, want %v", best, hold)
	}
}

func TestResponderMistakes(t *testing.T) {
	for _, c := range []testserver.ResponderConfig{
		{Address: "nowhere"}, {BodySize: -1}, {BodySize: 2 << 20}, {Hold: -1}, {Hold: time.Hour}, {Address: "192.0.2.1:80"},
	} {
		if r, err := testserver.StartResponder(c); err == nil {
			r.Close()
			t.Errorf("%+v: got no error", c)
		}
	}
}

// FuzzCountHeads compares, over every split in three, with a plain count.
func FuzzCountHeads(f *testing.F) {
	f.Add([]byte("a\r\n\r\n\r\n\r\r\n\r\n"), uint(3), uint(2))
	f.Add([]byte("\r\n\r\r\n\r\nx\r\n\r\n"), uint(1), uint(5))
	f.Fuzz(func(t *testing.T, b []byte, first, second uint) {
		i := int(first % uint(len(b)+1))
		j := i + int(second%uint(len(b)-i+1))
		want := bytes.Count(b, []byte("\r\n\r\n"))
		if got := testserver.CountHeads(b[:i], b[i:j], b[j:]); got != want {
			t.Errorf("%q split at %d and %d: got %d, want %d", b, i, j, got, want)
		}
	})
}

// BenchmarkResponder has wrk load a responder for two seconds, if asked to by
// PRONY_WRK=1 and if there is a wrk. The responder outruns it if it needs less
// processor time for a request.
func BenchmarkResponder(b *testing.B) {
	wrk, err := exec.LookPath("wrk")
	if err != nil || os.Getenv("PRONY_WRK") == "" {
		b.Skip("needs wrk, and PRONY_WRK=1")
	}
	r := startResponder(b, testserver.ResponderConfig{})
	before, from := cpuTime(b, unix.RUSAGE_SELF), time.Now()
	load := exec.Command(wrk, "-t1", "-c64", "-d2s", r.URL())
	out, err := load.CombinedOutput()
	if err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	b.Logf("%s", out)
	requests := float64(r.Requests())
	b.ReportMetric(requests/time.Since(from).Seconds(), "req/s")
	b.ReportMetric(float64(cpuTime(b, unix.RUSAGE_SELF)-before)/requests, "cpu-ns/req")
	b.ReportMetric(float64(load.ProcessState.UserTime()+load.ProcessState.SystemTime())/requests, "wrk-cpu-ns/req")
}

// cpuTime returns the processor time used so far.
func cpuTime(b *testing.B, who int) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(who, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
