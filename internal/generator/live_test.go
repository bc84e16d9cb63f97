package generator_test

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"prony/internal/generator"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/schedule"
	"prony/internal/testserver"
)

// eachInstalled runs a test with every program that is here. Gatling has to be
// built first, which takes a network, so that it is asked for.
func eachInstalled(t *testing.T, f func(t *testing.T, p generator.Program)) {
	t.Helper()
	for _, p := range generator.Programs() {
		t.Run(p.Name, func(t *testing.T) {
			switch _, err := exec.LookPath(p.Name); {
			case p.Name == "gatling" && os.Getenv("PRONY_E2E") == "":
				t.Skip("Gatling is built from Maven Central: set PRONY_E2E to try that")
			case p.Name != "gatling" && err != nil:
				t.Skipf("%s is missing: %s", p.Name, p.Install)
			}
			f(t, p)
		})
	}
}

// serve runs a server that ends with the test.
func serve(t *testing.T, c testserver.Config) *testserver.Server {
	t.Helper()
	s, err := testserver.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// heard is what Options told.
type heard struct {
	pid        int
	start, end time.Time
	cost       generator.Cost
	warned     []string
	output     strings.Builder
}

func (h *heard) options() generator.Options {
	return generator.Options{
		Started: func(pid int) { h.pid = pid },
		Window:  func(start, end time.Time) { h.start, h.end = start, end },
		Cost:    func(c generator.Cost) { h.cost = c },
		Warn:    func(s string) { h.warned = append(h.warned, s) },
		Output:  &h.output,
	}
}

// answered is how many requests of a result the server must have answered.
func answered(r *result.Load) int64 { return r.Requests.Completed + r.Failures["http-status"] }

// TestLive: a second of load, and every program counts what the server counted,
// but for the requests in flight when it ended.
func TestLive(t *testing.T) {
	eachInstalled(t, func(t *testing.T, p generator.Program) {
		s := serve(t, testserver.Config{Delay: time.Millisecond})
		var h heard
		l := load(p.Name, s.URL())
		r, err := generator.Run(t.Context(), l, h.options())
		if err != nil {
			t.Fatalf("%v\n%s", err, &h.output)
		}
		got, want := answered(r), s.Stats().Requests
		if got == 0 || got > want || got < want-int64(l.Connections) {
			t.Errorf("got %d requests, the server %d\n%s", got, want, r.Output)
		}
		if !r.Requests.Balanced() || r.Requests.Failed != 0 || r.EndedBy != "duration" || r.With != p.Name {
			t.Errorf("got %+v, ended by %s, with %s", r.Requests, r.EndedBy, r.With)
		}
		if r.DurationUS < 0.9e6 || r.Rate <= 0 || r.Printed["mean"] <= 0 || r.Printed["mean"] > 1e6 {
			t.Errorf("got %g us, %g/s, printed %v", r.DurationUS, r.Rate, r.Printed)
		}
		if h.pid == 0 || h.end.Sub(h.start) != time.Second || h.cost.CPU <= 0 || h.cost.Wall < 900*time.Millisecond {
			t.Errorf("heard %d, %v to %v, %+v", h.pid, h.start, h.end, h.cost)
		}
		if rss := h.cost.MaxRSS; rss != 0 && (rss < 1<<20 || rss > 4<<30) {
			t.Errorf("got %d bytes of memory", rss)
		}
		if !strings.HasPrefix(r.Output, "$ ") || h.output.Len() == 0 {
			t.Errorf("got output %q, told %q", r.Output, &h.output)
		}
	})
}

// TestLiveCount: an exact number is exact.
func TestLiveCount(t *testing.T) {
	eachInstalled(t, func(t *testing.T, p generator.Program) {
		if !p.Can.Count {
			t.Skip("it cannot end after a number of requests")
		}
		s := serve(t, testserver.Config{ErrorShare: 0.25, ErrorStatus: 503})
		l := load(p.Name, s.URL())
		l.Count, l.Duration = 400, 0
		r, err := generator.Run(t.Context(), l, generator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if q := r.Requests; q.Completed != 300 || q.Failed != 100 || q.Asked != 400 || r.Failures["http-status"] != 100 || r.EndedBy != "count" {
			t.Errorf("got %+v, failures %v, ended by %s, want 300 good and 100 bad of 400\n%s", q, r.Failures, r.EndedBy, r.Output)
		}
		if n := s.Stats().Requests; n != 400 {
			t.Errorf("the server counted %d, want 400", n)
		}
	})
}

// TestLiveWarmup: what the warm-up sent is not in the figures.
func TestLiveWarmup(t *testing.T) {
	eachInstalled(t, func(t *testing.T, p generator.Program) {
		s := serve(t, testserver.Config{Delay: 10 * time.Millisecond})
		l := load(p.Name, s.URL())
		l.Warmup = time.Second
		r, err := generator.Run(t.Context(), l, generator.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, sent := answered(r), s.Stats().Requests
		if got == 0 || got > sent*7/10 || r.WarmupUS != 1e6 {
			t.Errorf("got %d of the %d requests that the server counted, warm-up %g us: want about half\n%s", got, sent, r.WarmupUS, r.Output)
		}
	})
}

// TestLiveRequest: method, headers and body arrive.
func TestLiveRequest(t *testing.T) {
	eachInstalled(t, func(t *testing.T, p generator.Program) {
		seen := make(chan string, 1)
		url := listen(t, seen)
		l := load(p.Name, url+"/a?b=c")
		l.Requests[0].Method, l.Requests[0].Body = "PUT", []byte("x=\"1\"\n")
		host := strings.TrimPrefix(url, "http://")
		if p.Can.Host {
			host = "example.org"
			l.Requests[0].Host = host
		}
		l.Requests[0].Headers = []plan.Header{{Name: "Content-Type", Value: "text/csv"}, {Name: "X-A", Value: "#{it's}"}}
		if _, err := generator.Run(t.Context(), l, generator.Options{}); err != nil && !errors.Is(err, generator.ErrNoReport) {
			t.Fatal(err)
		}
		var got string
		select {
		case got = <-seen:
			got = strings.ToLower(got)
		case <-time.After(5 * time.Second):
			t.Fatal("got no request")
		}
		for _, want := range []string{"put /a?b=c http/1.", "\r\nhost: " + host + "\r\n", "\r\ncontent-type: text/csv\r\n", "\r\nx-a: #{it's}\r\n", "\r\n\r\nx=\"1\"\n"} {
			if !strings.Contains(got, want) {
				t.Errorf("got %q, want %q in it", got, want)
			}
		}
	})
}

// TestLiveStalled: a server that takes requests and answers none.
func TestLiveStalled(t *testing.T) {
	eachInstalled(t, func(t *testing.T, p generator.Program) {
		s := serve(t, testserver.Config{})
		l := load(p.Name, s.URL()+"/silent")
		if p.Can.TimeoutStep > 0 {
			l.Timeouts.Request = time.Second
		}
		var h heard
		r, err := generator.Run(t.Context(), l, h.options())
		nothing(t, r, err, h.warned)
	})
}

// TestLiveRefused: a port where nobody listens.
func TestLiveRefused(t *testing.T) {
	eachInstalled(t, func(t *testing.T, p generator.Program) {
		s := serve(t, testserver.Config{})
		url := s.URL()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		var h heard
		r, err := generator.Run(t.Context(), load(p.Name, url), h.options())
		nothing(t, r, err, h.warned)
	})
}

// nothing was answered: an error that says so, or a result in which all failed,
// or a doubt.
func nothing(t *testing.T, r *result.Load, err error, warned []string) {
	t.Helper()
	if err != nil {
		if !errors.Is(err, generator.ErrNoReport) || strings.Contains(err.Error(), "it said nothing") {
			t.Errorf("got %v, want what the program said", err)
		}
		return
	}
	if r.Requests.Completed != 0 || !r.Requests.Balanced() {
		t.Errorf("got %+v, want nothing completed\n%s", r.Requests, r.Output)
	}
	if r.Requests.Failed == 0 && r.Requests.CutOff == 0 && !strings.Contains(strings.Join(warned, "\n"), "got no answer") {
		t.Errorf("got no failure and no doubt: %q\n%s", warned, r.Output)
	}
}

// TestLiveInterrupted: what was measured until then is kept, by those that can.
func TestLiveInterrupted(t *testing.T) {
	eachInstalled(t, func(t *testing.T, p generator.Program) {
		s := serve(t, testserver.Config{Delay: time.Millisecond})
		l := load(p.Name, s.URL())
		l.Duration = time.Minute
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			enough := int64(200)
			if p.Name == "gatling" { // writes its log in blocks of hundreds
				enough = 3000
			}
			for s.Stats().Requests < enough && ctx.Err() == nil {
				<-tick.C
			}
			cancel()
		}()
		r, err := generator.Run(ctx, l, generator.Options{})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v, want the end of the context", err)
		}
		if !p.Can.Interrupt {
			if r != nil || !errors.Is(err, generator.ErrNoReport) {
				t.Errorf("got %v, %v of a program that prints nothing then", r, err)
			}
			return
		}
		if r == nil {
			t.Fatal(err)
		}
		got, want := answered(r), s.Stats().Requests
		if r.EndedBy != "interrupt" || got < 50 || got > want || !r.Requests.Balanced() {
			t.Errorf("got %d of the %d requests of the server, ended by %s\n%s", got, want, r.EndedBy, r.Output)
		}
	})
}

// TestLiveRate: a rate of constant gaps, by the only one that keeps it.
func TestLiveRate(t *testing.T) {
	if _, err := exec.LookPath("vegeta"); err != nil {
		t.Skip("vegeta is missing")
	}
	s := serve(t, testserver.Config{})
	l := load("vegeta", s.URL())
	l.Model, l.Arrivals = plan.Open, schedule.Rate(200)
	r, err := generator.Run(t.Context(), l, generator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if answered(r) != 200 || r.OfferedRate == nil || *r.OfferedRate != 200 || r.Model != "open" {
		t.Errorf("got %+v, offered %v, model %s, want 200", r.Requests, r.OfferedRate, r.Model)
	}
}

// listen is a server that gives away its first request as it came, and answers
// it. ab asks again for what it takes for the rest, which gets the same answer.
func listen(t *testing.T, seen chan<- string) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_ = c.SetReadDeadline(time.Now().Add(2 * time.Second)) // then what there is
				b := make([]byte, 0, 4096)
				for !strings.Contains(string(b), "\r\n\r\nx=\"1\"\n") && len(b) < cap(b) {
					n, err := c.Read(b[len(b):cap(b)])
					if b = b[:len(b)+n]; err != nil {
						break
					}
				}
				if len(b) == 0 { // wrk tries to connect first
					return
				}
				select {
				case seen <- string(b):
				default:
				}
				_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"))
			}()
		}
	}()
	return "http://" + l.Addr().String()
}
