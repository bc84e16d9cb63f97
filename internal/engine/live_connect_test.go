package engine_test

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/schedule"
	"prony/internal/testserver"
)

// nobody is an address of this machine on which nothing listens.
func nobody(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

// TestLiveUnreachable covers targets that take no connection at all.
func TestLiveUnreachable(t *testing.T) {
	cases := []struct {
		name   string
		change func(*plan.Load)
		want   result.FailureKind
		text   string
	}{
		{"refused", func(l *plan.Load) { l.Requests = get("http://" + nobody(t)) }, result.ConnectRefused, "refused"},
		{"refused, https", func(l *plan.Load) { l.Requests = get("https://" + nobody(t)) }, result.ConnectRefused, "refused"},
		{"refused, open model", func(l *plan.Load) {
			l.Requests, l.Arrivals = get("http://"+nobody(t)), schedule.Rate(100)
		}, result.ConnectRefused, "refused"},
		{"no such name", func(l *plan.Load) { l.Requests = get("http://name.invalid/") }, result.DNSFailed, "name.invalid"},
		{"no such socket", func(l *plan.Load) { l.Dial = "unix:" + filepath.Join(t.TempDir(), "none") }, result.ConnectRefused, "none"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				start := time.Now()
				_, err := load(t, "http://127.0.0.1:1/", func(l *plan.Load) {
					l.Duration, l.Timeouts.Connect = patience, patience/2
					c.change(l)
					l.Engine = e
				})
				unreachable(t, err, c.want)
				if !strings.Contains(err.Error(), c.text) {
					t.Errorf("error: %q does not say %q", err, c.text)
				}
				if took := time.Since(start); took > patience {
					t.Errorf("took %v: there was nothing to wait for", took)
				}
			})
		})
	}
}

// TestLiveFullAcceptQueue: a server that never accepts lets a few connections in
// and ignores the rest.
func TestLiveFullAcceptQueue(t *testing.T) {
	eachEngine(t, func(t *testing.T, e plan.Engine) {
		s := serve(t, testserver.Config{NeverAccept: true, Backlog: 1})
		short := func(l *plan.Load) {
			l.Engine, l.Connections = e, 6
			l.Timeouts.Connect, l.Timeouts.Request = 150*time.Millisecond, 100*time.Millisecond
		}
		res := must(t, s.URL(), short)
		if res.Connections.Opened == 0 || res.Connections.Opened >= 6 || res.Connections.Asked != 6 {
			t.Errorf("connections: %+v, want some of 6 opened (F4)", res.Connections)
		}
		if res.Failures["connect-timeout"] == 0 || res.Failures["timeout"] == 0 || res.Requests.Completed != 0 {
			t.Errorf("failures: %v, want connect-timeout and timeout; %+v", res.Failures, res.Requests)
		}
		for range 2 { // fill what is left of the queue
			if c, err := net.DialTimeout("tcp", s.Addr().String(), 100*time.Millisecond); err == nil {
				defer c.Close()
			}
		}
		_, err := load(t, s.URL(), short)
		unreachable(t, err, result.ConnectTimeout)
	})
}

// after runs actions one after the other, each after its own wait, while the
// test drives its load; the returned function waits for the last.
func after(steps ...any) func() {
	done := make(chan struct{})
	go func() {
		defer close(done) // also when a step ends the test
		for _, s := range steps {
			switch s := s.(type) {
			case time.Duration:
				<-time.After(s)
			case func():
				s()
			}
		}
	}()
	return func() { <-done }
}

// TestLiveF5ServerRestarts kills the server in mid-run: the failures have kinds,
// the connections come back, and meanwhile nobody is hammered (F6).
func TestLiveF5ServerRestarts(t *testing.T) {
	cases := []struct {
		name   string
		change func(*plan.Load)
	}{
		{"closed", func(*plan.Load) {}},
		{"closed no keep-alive", func(l *plan.Load) { l.NoKeepAlive = true }},
		{"open", func(l *plan.Load) { poisson(l, 300); l.Connections = 8 }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				s := serve(t, testserver.Config{})
				var before testserver.Stats
				wait := after(200*time.Millisecond, func() {
					if err := s.Kill(); err != nil {
						t.Errorf("kill: %v", err)
					}
					before = s.Stats()
				}, 300*time.Millisecond, func() {
					if err := s.Restart(); err != nil {
						t.Errorf("restart: %v", err)
					}
				})
				res := must(t, s.URL()+"/delay/2ms", func(l *plan.Load) { l.Engine, l.Duration = e, 950*time.Millisecond; c.change(l) })
				wait()
				if n := res.Failures["connect-refused"]; n == 0 || n > 100 {
					t.Errorf("failures: %v, want connect-refused, and some dozens of it at most", res.Failures)
				}
				for kind := range res.Failures {
					if !strings.Contains("connect-refused reset closed-early connect-reset", kind) {
						t.Errorf("failures: %v with an unexpected %s: %+v", res.Failures, kind, res.FailureDetails)
					}
				}
				if res.Connections.Connects > 200+res.Requests.Completed {
					t.Errorf("connections: %+v: too many tries", res.Connections)
				}
				if st := s.Stats(); st.Responses-before.Responses < 20 {
					t.Errorf("%d answers before the restart, %d in all: the load did not come back", before.Responses, st.Responses)
				}
				if res.EndedBy != "duration" || res.Connections.Reopened == 0 {
					t.Errorf("ended by %s, connections %+v", res.EndedBy, res.Connections)
				}
			})
		})
	}
}

// TestLiveF6AbortAfter: a server that is gone for good ends the load, if asked to.
func TestLiveF6AbortAfter(t *testing.T) {
	cases := []struct {
		name   string
		change func(*plan.Load)
	}{
		{"closed", func(*plan.Load) {}},
		{"closed, two threads", func(l *plan.Load) { l.Threads = 2 }},
		{"closed no keep-alive", func(l *plan.Load) { l.NoKeepAlive = true }},
		{"exact count", func(l *plan.Load) { l.Count, l.Duration = 1e9, 0 }},
		{"open", func(l *plan.Load) { poisson(l, 300); l.Connections = 8 }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				s := serve(t, testserver.Config{})
				start := time.Now()
				wait := after(func() {
					if !comes(func() bool { return s.Stats().Responses > 40 }) || s.Kill() != nil {
						t.Error("no answers, or no kill")
					}
				})
				res := must(t, s.URL(), func(l *plan.Load) {
					l.Engine, l.Duration, l.AbortAfter = e, 5*time.Second, 20
					c.change(l)
				})
				wait()
				if res.EndedBy != "abort" || time.Since(start) > 4*time.Second {
					t.Errorf("ended by %q after %v, want abort soon", res.EndedBy, time.Since(start))
				}
				if res.Requests.Completed == 0 {
					t.Errorf("ledger: %+v, want what was completed before", res.Requests)
				}
			})
		})
	}
	t.Run("errors between successes", func(t *testing.T) {
		s := serve(t, testserver.Config{ErrorShare: 0.5})
		res := must(t, s.URL(), func(l *plan.Load) { l.AbortAfter, l.Count = 20, 400 })
		if res.EndedBy != "count" {
			t.Errorf("ended by %q: half of the answers were good", res.EndedBy)
		}
	})
}

// TestLiveConnectRate opens no faster than it was told.
func TestLiveConnectRate(t *testing.T) {
	s := serve(t, testserver.Config{})
	for _, threads := range []int{1, 2} {
		eachEngineNamed(t, fmt.Sprint(threads, " threads"), func(t *testing.T, e plan.Engine) {
			start := time.Now()
			res := must(t, s.URL(), func(l *plan.Load) {
				l.Engine, l.Connections, l.Threads, l.ConnectRate, l.Count = e, 20, threads, 50, 20
			})
			took := time.Since(start)
			if res.Connections.Opened != 20 || took < 300*time.Millisecond || took > 5*time.Second {
				t.Errorf("%d threads: %d connections in %v, want 20 in about 0.4 s", threads, res.Connections.Opened, took)
			}
		})
	}
}
