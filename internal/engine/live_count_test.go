package engine_test

import (
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"prony/internal/plan"
	"prony/internal/schedule"
	"prony/internal/testserver"
)

// post is a POST with a body of n bytes.
func post(url string, n int) []plan.Request {
	return []plan.Request{{Method: "POST", URL: url, Body: make([]byte, n)}}
}

// poisson is an open load of rate requests per second.
func poisson(l *plan.Load, rate float64) {
	l.Arrivals = schedule.Rate(rate)
	l.Arrivals.Process = schedule.Poisson
}

// TestLiveF13CountsAgree compares every way to send with the server's own count.
func TestLiveF13CountsAgree(t *testing.T) {
	const body = "text of thirty-two bytes, no more"
	cases := []struct {
		name   string
		server testserver.Config
		path   string
		change func(*plan.Load)
	}{
		{"closed keep-alive", testserver.Config{}, "/", nil},
		{"closed, two threads", testserver.Config{}, "/", func(l *plan.Load) { l.Threads = 2 }},
		{"closed no keep-alive", testserver.Config{}, "/", func(l *plan.Load) { l.NoKeepAlive = true }},
		{"pipeline of 8", testserver.Config{}, "/", func(l *plan.Load) { l.Pipeline = 8 }},
		{"open constant", testserver.Config{}, "/", func(l *plan.Load) { l.Arrivals = schedule.Rate(2000) }},
		{"open Poisson", testserver.Config{}, "/", func(l *plan.Load) { poisson(l, 2000); l.Connections = 64 }},
		{"open no keep-alive", testserver.Config{}, "/", func(l *plan.Load) { poisson(l, 500); l.NoKeepAlive = true; l.Connections = 64 }},
		{"open pipeline of 4", testserver.Config{Delay: time.Millisecond}, "/", func(l *plan.Load) { poisson(l, 1000); l.Pipeline = 4 }},
		{"exact count", testserver.Config{}, "/", func(l *plan.Load) { l.Count = 1001 }},
		{"exact count, two threads", testserver.Config{}, "/", func(l *plan.Load) { l.Count, l.Threads, l.Connections = 1001, 2, 7 }},
		{"exact count no keep-alive", testserver.Config{}, "/", func(l *plan.Load) { l.Count, l.NoKeepAlive = 301, true }},
		{"exact count open", testserver.Config{}, "/", func(l *plan.Load) { l.Count, l.Threads = 301, 2; poisson(l, 3000) }},
		{"HTTP/1.0", testserver.Config{}, "/", func(l *plan.Load) { l.Requests[0].Proto = "HTTP/1.0" }},
		{"HTTP/1.0 keep-alive", testserver.Config{}, "/", func(l *plan.Load) {
			l.Requests[0].Proto, l.Requests[0].Headers = "HTTP/1.0", []plan.Header{{Name: "Connection", Value: "keep-alive"}}
		}},
		{"HEAD", testserver.Config{BodySize: 5000}, "/head", func(l *plan.Load) { l.Requests[0].Method = "HEAD" }},
		{"HEAD in a pipeline", testserver.Config{BodySize: 5000}, "/head", func(l *plan.Load) {
			l.Requests[0].Method, l.Pipeline = "HEAD", 4
		}},
		{"small POST", testserver.Config{}, "/echo", func(l *plan.Load) {
			l.Requests[0].Method, l.Requests[0].Body = "POST", []byte(body)
		}},
		{"POST of 100 KB", testserver.Config{}, "/", func(l *plan.Load) { l.Requests, l.Count = post(l.Requests[0].URL, 100_000), 100 }},
		{"POST of 1 MB", testserver.Config{}, "/", func(l *plan.Load) { l.Requests, l.Count = post(l.Requests[0].URL, 1_000_000), 20 }},
		{"POST of 100 KB, no keep-alive", testserver.Config{}, "/", func(l *plan.Load) {
			l.Requests, l.Count, l.NoKeepAlive = post(l.Requests[0].URL, 100_000), 50, true
		}},
		{"POST of 10 KB in a pipeline", testserver.Config{}, "/", func(l *plan.Load) {
			l.Requests, l.Count, l.Pipeline = post(l.Requests[0].URL, 10_000), 200, 8
		}},
		{"IPv6", testserver.Config{Network: "tcp6"}, "/", nil},
		{"warm-up", testserver.Config{}, "/", func(l *plan.Load) { l.Warmup = 100 * time.Millisecond }},
		{"warm-up open", testserver.Config{}, "/", func(l *plan.Load) { l.Warmup = 100 * time.Millisecond; poisson(l, 1000) }},
		{"think time", testserver.Config{}, "/", func(l *plan.Load) { l.Think.Mean = 2 * time.Millisecond }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				s := serve(t, c.server)
				res := must(t, s.URL()+c.path, func(l *plan.Load) {
					l.Engine = e
					if c.change != nil {
						c.change(l)
					}
				})
				sameCount(t, res, s)
			})
		})
	}
}

// TestLiveF12ExactCount checks the number asked for itself, also where threads,
// connections and pipelines do not divide it (F33).
func TestLiveF12ExactCount(t *testing.T) {
	s := serve(t, testserver.Config{})
	for _, c := range []struct {
		name string
		n    int64
		l    plan.Load
	}{
		{"one of many connections", 1, plan.Load{Connections: 7, Threads: 2}},
		{"a prime over threads", 997, plan.Load{Connections: 7, Threads: 2}},
		{"a prime over a pipeline", 997, plan.Load{Connections: 3, Pipeline: 16}},
		{"open", 101, plan.Load{Connections: 16, Threads: 2, Arrivals: schedule.Rate(2000)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				before := settled(t, s).Requests
				res := must(t, s.URL(), func(l *plan.Load) {
					l.Count, l.Connections, l.Threads, l.Pipeline, l.Arrivals = c.n, c.l.Connections, c.l.Threads, c.l.Pipeline, c.l.Arrivals
					l.Engine = e
				})
				if res.Requests.Asked != c.n || res.Requests.Completed != c.n || settled(t, s).Requests-before != c.n {
					t.Errorf("got %+v, the server %d, want %d", res.Requests, settled(t, s).Requests-before, c.n)
				}
				if res.EndedBy != "count" {
					t.Errorf("ended by %q, want count", res.EndedBy)
				}
			})
		})
	}
}

// TestLiveF34WhicheverFirst gives both limits and expects the report to say which
// one ended the load.
func TestLiveF34WhicheverFirst(t *testing.T) {
	s := serve(t, testserver.Config{Delay: time.Millisecond})
	for _, c := range []struct {
		name string
		n    int64
		d    time.Duration
		want string
	}{
		{"count first", 20, patience, "count"},
		{"duration first", 1e9, 100 * time.Millisecond, "duration"},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				res := must(t, s.URL(), func(l *plan.Load) { l.Count, l.Duration, l.Engine = c.n, c.d, e })
				if res.EndedBy != c.want {
					t.Errorf("ended by %q, want %q", res.EndedBy, c.want)
				}
			})
		})
	}
}

// TestLiveOneConnectionEach: a count of requests without keep-alive takes that
// many connections, and none that sees no request.
func TestLiveOneConnectionEach(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*plan.Load)
	}{
		{"closed", func(l *plan.Load) { l.NoKeepAlive = true }},
		{"fewer than connections", func(l *plan.Load) { l.NoKeepAlive, l.Count, l.Connections = true, 3, 3 }},
		{"HTTP/1.0", func(l *plan.Load) { l.Requests[0].Proto = "HTTP/1.0" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				s := serve(t, testserver.Config{})
				res := must(t, s.URL(), func(l *plan.Load) { l.Engine, l.Count, l.Connections = e, 101, 8; c.change(l) })
				sameCount(t, res, s)
				if st := s.Stats(); st.Accepted != res.Requests.Asked {
					t.Errorf("%d connections for %d requests", st.Accepted, res.Requests.Asked)
				}
				if res.EndedBy != "count" {
					t.Errorf("ended by %q, want count", res.EndedBy)
				}
			})
		})
	}
}

func TestLiveF17UnixSocket(t *testing.T) {
	eachEngine(t, func(t *testing.T, e plan.Engine) {
		path := filepath.Join(t.TempDir(), "s")
		s := serve(t, testserver.Config{Network: "unix", Address: path})
		for _, close := range []bool{false, true} {
			before := settled(t, s)
			res := must(t, "http://name.invalid/", func(l *plan.Load) { l.Engine, l.Dial, l.NoKeepAlive = e, "unix:"+path, close })
			if got := settled(t, s).Requests - before.Requests; got != res.Requests.Asked || got == 0 {
				t.Errorf("the server counted %d requests, the engine %+v (failures %v)", got, res.Requests, res.FailureDetails)
			}
			if !res.Loopback {
				t.Errorf("a unix socket is not counted as loopback")
			}
		}
	})
}

func TestLiveWeightsShareRequests(t *testing.T) {
	weights := map[string]float64{"/a": 1, "/b": 2, "/c": 5}
	eachEngine(t, func(t *testing.T, e plan.Engine) {
		s := serve(t, testserver.Config{})
		res := must(t, s.URL(), func(l *plan.Load) {
			l.Engine, l.Count, l.Requests, l.Pipeline = e, 4000, nil, 2
			for path, w := range weights {
				l.Requests = append(l.Requests, plan.Request{Method: "GET", URL: s.URL() + path, Weight: w})
			}
		})
		sameCount(t, res, s)
		st := settled(t, s)
		for path, w := range weights {
			n, p := float64(res.Requests.Asked), w/8
			got := float64(st.ByPath[path].Requests)
			if math.Abs(got-n*p) > 5*math.Sqrt(n*p*(1-p)) {
				t.Errorf("%s: %.0f of %.0f requests, want %.0f within five deviations", path, got, n, n*p)
			}
		}
	})
}

// TestLiveTwoOrigins checks that both get their share of the connections, however
// few there are.
func TestLiveTwoOrigins(t *testing.T) {
	for _, c := range []struct {
		name           string
		conns, threads int
		rate           float64
	}{
		{"closed", 8, 1, 0},
		{"closed, two threads", 8, 2, 0},
		{"closed, one connection each", 2, 2, 0},
		{"open", 64, 2, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				a, b := serve(t, testserver.Config{}), serve(t, testserver.Config{})
				res := must(t, a.URL(), func(l *plan.Load) {
					l.Engine, l.Connections, l.Threads = e, c.conns, c.threads
					l.Requests = append(l.Requests, get(b.URL())...)
					if c.rate > 0 {
						poisson(l, c.rate)
					}
				})
				sa, sb := settled(t, a), settled(t, b)
				if sa.Requests == 0 || sb.Requests == 0 || sa.Requests+sb.Requests != res.Requests.Asked || res.Requests.Completed != res.Requests.Asked {
					t.Errorf("the servers counted %d and %d requests, the engine %+v", sa.Requests, sb.Requests, res.Requests)
				}
				if c.rate == 0 && sa.Accepted != sb.Accepted {
					t.Errorf("connections: %d and %d, want equal shares", sa.Accepted, sb.Accepted)
				}
			})
		})
	}
}

// TestLiveF18Sources checks the addresses that the peer sees.
func TestLiveF18Sources(t *testing.T) {
	sources := []string{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"}
	eachEngine(t, func(t *testing.T, e plan.Engine) {
		var mu sync.Mutex
		peers := map[string]int{}
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok")) }))
		s.Config.ConnState = func(c net.Conn, state http.ConnState) {
			if host, _, err := net.SplitHostPort(c.RemoteAddr().String()); err == nil && state == http.StateNew {
				mu.Lock()
				defer mu.Unlock()
				peers[host]++
			}
		}
		s.Start()
		defer s.Close()
		res := must(t, s.URL, func(l *plan.Load) {
			l.Engine, l.Connections, l.Threads, l.Count, l.Sources = e, 8, 2, 100, sources
		})
		if res.Requests.Completed != 100 || res.Connections.Opened != 8 {
			t.Errorf("got %+v, connections %+v", res.Requests, res.Connections)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, from := range sources {
			if peers[from] != 2 {
				t.Errorf("%d connections from %s, want 2 (all: %v)", peers[from], from, peers)
			}
		}
	})
}

// TestLiveF39PipelineStamps gives each request of a pipe its own start: the server
// answers one after the other, so the latencies differ.
func TestLiveF39PipelineStamps(t *testing.T) {
	s := serve(t, testserver.Config{Delay: 5 * time.Millisecond})
	eachEngine(t, func(t *testing.T, e plan.Engine) {
		res := must(t, s.URL(), func(l *plan.Load) { l.Engine, l.Connections, l.Pipeline, l.Count = e, 1, 4, 40 })
		response := res.Latency.Response
		if low, high := time.Duration(response.Min()), time.Duration(response.Max()); low < 5*time.Millisecond || high < 18*time.Millisecond {
			t.Errorf("response times from %v to %v, want from 5 ms (the first of the pipe) to 20 ms (the last)", low, high)
		}
	})
}
