package engine

import (
	"errors"
	"io"
	"math"
	"syscall"
	"testing"
	"time"

	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/schedule"
)

// silence is a server that reads and says nothing.
func silence(simQuery) simFate { return simFate{silent: true} }

// TestF1SilentServer: every request older than its timeout is one timeout, and
// nothing else, during the run and at its end; the age counts from the send in
// the closed model and from the plan in the open one. F21: once each. F36: the
// end is bounded.
func TestF1SilentServer(t *testing.T) {
	tests := []struct {
		name           string
		load           func(*plan.Load)
		asked, timeout int64
		oldestMS       float64
	}{
		{"closed", func(l *plan.Load) { l.Connections, l.Duration = 4, 2*time.Second }, 0, 0, 530},
		{"closed, the end meets the timeout", func(l *plan.Load) {
			l.Connections, l.Duration, l.Drain = 4, 490*time.Millisecond, 20*time.Millisecond
		}, 4, 4, 510},
		{"open", func(l *plan.Load) { openAt(100, 2*time.Second)(l); l.Drain = time.Second }, 200, 200, 530},
		{"open, few connections", func(l *plan.Load) {
			openAt(100, 2*time.Second)(l)
			l.Connections, l.Drain = 2, time.Second
		}, 200, 200, 530},
		{"open, short drain", func(l *plan.Load) { openAt(100, 2*time.Second)(l); l.Drain = 100 * time.Millisecond }, 200, 160, 530},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newSim(t)
			n.server.fate = silence
			res := n.run(func(l *plan.Load) {
				l.Timeouts.Request = 500 * time.Millisecond
				tt.load(l)
			})
			q := res.Requests
			if tt.asked > 0 && (q.Asked != tt.asked || q.Failed != tt.timeout) || q.Completed != 0 || q.Failed == 0 {
				t.Errorf("got %+v, want %d timeouts of %d", q, tt.timeout, tt.asked)
			}
			if res.Failures["timeout"] != q.Failed || len(res.Failures) != 1 {
				t.Errorf("failures: got %v, want %d timeouts only", res.Failures, q.Failed)
			}
			youngest, oldest := float64(res.Latency.Failed.Min())/1e6, float64(res.Latency.Failed.Max())/1e6
			if youngest < 500 || oldest > tt.oldestMS {
				t.Errorf("requests timed out after %.3f to %.3f ms, want 500 to %.0f", youngest, oldest, tt.oldestMS)
			}
			if q.CutOffOldestUS > 500e3 {
				t.Errorf("a request of %.0f ms was cut off instead of timed out", q.CutOffOldestUS/1e3)
			}
			if lasted := n.at(); lasted > int64(3100*time.Millisecond) {
				t.Errorf("lasted %v", time.Duration(lasted))
			}
		})
	}
}

// TestF36DrainIsBounded: the run ends with its drain, even if nothing answers.
func TestF36DrainIsBounded(t *testing.T) {
	tests := []struct {
		name        string
		drain       time.Duration
		model       plan.Model
		least, most time.Duration // after the start
	}{
		{"closed default", 0, plan.Closed, 2 * time.Second, 2 * time.Second},
		{"open default", 0, plan.Open, 10900 * time.Millisecond, 11 * time.Second},
		{"set", 300 * time.Millisecond, plan.Open, 1300 * time.Millisecond, 1300 * time.Millisecond},
		{"none", -1, plan.Closed, time.Second, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newSim(t)
			n.server.fate = silence
			res := n.run(func(l *plan.Load) {
				l.Connections, l.Duration, l.Drain = 5, time.Second, tt.drain
				l.Timeouts.Request = 10 * time.Second
				if tt.model == plan.Open {
					l.Arrivals = schedule.Rate(100)
				}
			})
			if got := time.Duration(n.at()); got < tt.least || got > tt.most {
				t.Errorf("lasted %v, want %v to %v", got, tt.least, tt.most)
			}
			if q := res.Requests; q.Completed != 0 || q.Asked < 5 {
				t.Errorf("got %+v", q)
			}
		})
	}
}

// TestF34WhicheverComesFirst: of two limits the first one ends the run, which
// says so. F46: both together do not hang.
func TestF34WhicheverComesFirst(t *testing.T) {
	tests := []struct {
		name     string
		rate     float64
		count    int64
		duration time.Duration
		ended    string
		asked    int64
		window   time.Duration
	}{
		{"closed, count", 0, 100, time.Minute, "count", 100, 500 * time.Millisecond},
		{"closed, duration", 0, 100_000, time.Second, "duration", 200, time.Second},
		{"closed, count alone", 0, 7, 0, "count", 7, 40 * time.Millisecond},
		{"open, count", 100, 50, time.Minute, "count", 50, 500 * time.Millisecond},
		{"open, duration", 100, 100_000, time.Second, "duration", 100, time.Second},
		{"open, both at once", 100, 100, time.Second, "count", 100, time.Second},
		{"open, count alone", 100, 50, 0, "count", 50, 500 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newSim(t)
			n.server = simServer{service: fixed(10 * time.Millisecond), servers: make([]float64, 2)}
			res := n.run(func(l *plan.Load) {
				l.Count, l.Duration, l.Connections = tt.count, tt.duration, 2
				if tt.rate > 0 {
					l.Arrivals = schedule.Rate(tt.rate)
				}
			})
			if res.EndedBy != tt.ended || res.Requests.Asked != tt.asked || res.Requests.Completed != tt.asked {
				t.Errorf("ended by %s with %+v, want %s with %d", res.EndedBy, res.Requests, tt.ended, tt.asked)
			}
			if got := time.Duration(res.DurationUS) * time.Microsecond; got != tt.window {
				t.Errorf("window of %v, want %v", got, tt.window)
			}
		})
	}
}

// TestF37IdleCloseIsResent: a connection that had served ends as it is used
// again. That is nobody's failure, if the method allows a second sending.
func TestF37IdleCloseIsResent(t *testing.T) {
	tests := []struct {
		name           string
		method         string
		served         int64 // answers before the close
		end            error
		depth          int
		resent, failed bool
		kind           string
	}{
		{"GET, closed", "GET", 3, io.EOF, 1, true, false, ""},
		{"GET, reset", "GET", 3, syscall.ECONNRESET, 1, true, false, ""},
		{"PUT, closed", "PUT", 3, io.EOF, 1, true, false, ""},
		{"POST, closed", "POST", 3, io.EOF, 1, false, true, "closed-early"},
		{"POST, reset", "POST", 3, syscall.ECONNRESET, 1, false, true, "reset"},
		{"GET, fresh", "GET", 0, io.EOF, 1, false, true, "closed-early"},
		{"GET, pipeline", "GET", 10, io.EOF, 4, true, false, ""},
	}
	for _, tt := range tests {
		for _, model := range []plan.Model{plan.Closed, plan.Open} {
			t.Run(tt.name+", "+string(model), func(t *testing.T) {
				n := newSim(t)
				closes := int64(0)
				n.server.fate = func(q simQuery) simFate {
					if q.onConn == tt.served {
						closes++
						return simFate{end: tt.end}
					}
					return simFate{extra: time.Millisecond, silent: q.onConn > tt.served}
				}
				res := n.run(func(l *plan.Load) {
					l.Requests[0].Method = tt.method
					l.Count, l.Connections, l.Pipeline = 200, 2, tt.depth
					if model == plan.Open {
						l.Arrivals = schedule.Rate(300)
					}
				})
				checkResent(t, res, tt.resent, closes)
				if tt.failed && res.Failures[tt.kind] != closes || !tt.failed && res.Requests.Failed != 0 {
					t.Errorf("%d closes: got %v, %+v", closes, res.Failures, res.Requests)
				}
			})
		}
	}
}

func checkResent(t *testing.T, res *result.Load, resent bool, closes int64) {
	t.Helper()
	if closes < 10 || res.Requests.Asked != 200 {
		t.Errorf("%d closes, %+v", closes, res.Requests)
	}
	if c := res.Connections; resent && c.Resent < closes || !resent && c.Resent != 0 || c.ClosedByPeer != closes {
		t.Errorf("%d closes: got %+v", closes, c)
	}
	// On connections that never serve, requests of the open model wait too long.
	if q := res.Requests; q.Started != q.Asked-res.Failures["timeout"] {
		t.Errorf("%d started of %d: a second sending is no second request", q.Started, q.Asked)
	}
}

// TestF37ResentKeepsItsPlan: what was lost on the way counts in the response
// time, and the users of a closed model are still never in two places.
func TestF37ResentKeepsItsPlan(t *testing.T) {
	n := newSim(t)
	n.connect = func(int64, int64) (int64, error) { return int64(5 * time.Millisecond), nil }
	n.server.fate = func(q simQuery) simFate {
		if q.onConn == 1 {
			return simFate{end: io.EOF, extra: time.Millisecond}
		}
		return simFate{extra: time.Millisecond}
	}
	res := n.run(func(l *plan.Load) { l.Connections, l.Count = 3, 300 })
	// 1 ms lost, 5 ms for the connection, 1 ms for the answer.
	quantiles(t, "response", res.Latency.Response, 0, simP{hdr.P50, 7}, simP{hdr.P100, 7})
	quantiles(t, "service", res.Latency.Service, 0, simP{hdr.P100, 1})
	near(t, "in flight", res.InFlight, 3, 0.01)
}

// TestIdleCloseBetweenRequests: a close that hits no request is counted, and
// the connection comes back.
func TestIdleCloseBetweenRequests(t *testing.T) {
	n := newSim(t)
	n.server.fate = func(simQuery) simFate { return simFate{answer: simOK, end: io.EOF} }
	res := n.run(func(l *plan.Load) {
		l.Connections, l.Duration = 2, time.Second
		l.Think = schedule.Think{Mean: 10 * time.Millisecond}
	})
	c := res.Connections
	if res.Requests.Failed != 0 || c.IdleCloses != res.Requests.Completed || c.Reopened < c.IdleCloses-2 || c.Resent != 0 {
		t.Errorf("got %+v, %+v", res.Requests, c)
	}
}

// outage is a network in which connects are refused in a span of time, in
// which also every open connection is reset.
func (n *simNet) outage(from, to time.Duration) {
	out := func(at int64) bool { return at >= int64(from) && at < int64(to) }
	n.connect = func(_ int64, at int64) (int64, error) {
		if n.start() != 0 && out(at) {
			return 1000, syscall.ECONNREFUSED
		}
		return 100_000, nil
	}
	n.server.fate = func(q simQuery) simFate {
		if out(q.at) {
			return simFate{end: syscall.ECONNRESET}
		}
		return simFate{extra: time.Millisecond}
	}
}

// TestF5ServerComesBack: for three seconds all connects are refused. F6: they
// are tried again, more and more seldom; afterwards every connection serves
// again.
func TestF5ServerComesBack(t *testing.T) {
	tests := []struct {
		name string
		open int64 // connections at the end
		edit func(*plan.Load)
	}{
		{"closed", 20, func(l *plan.Load) { l.Connections = 20 }},
		{"a connection a request", 0, func(l *plan.Load) { l.Connections, l.NoKeepAlive = 20, true }},
		{"open", 20, func(l *plan.Load) { l.Connections, l.Arrivals = 20, schedule.Rate(500) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newSim(t)
			n.outage(time.Second, 4*time.Second)
			var tried int64
			connect := n.connect
			n.connect = func(number, at int64) (int64, error) {
				length, err := connect(number, at)
				if err != nil {
					tried++
				}
				return length, err
			}
			res := n.run(func(l *plan.Load) {
				l.Duration = 8 * time.Second
				tt.edit(l)
			})
			// 10 ms doubled up to 1 s, less up to half: 8 tries at least and 14 at most.
			if tried < 20*7 || tried > 20*15 {
				t.Errorf("%d connects of 20 connections in 3 s", tried)
			}
			if got := res.Connections.Failed; got != tried {
				t.Errorf("%d failed connects, the network saw %d", got, tried)
			}
			if res.Failures["connect-refused"] != tried {
				t.Errorf("failures: got %v, want %d refused connects", res.Failures, tried)
			}
			if n.opens < tt.open || res.Connections.Peak != 20 {
				t.Errorf("%d connections open at the end, peak %d, want %d and 20", n.opens, res.Connections.Peak, tt.open)
			}
			for _, iv := range res.Intervals[6:8] {
				if iv.Failed != 0 || iv.Completed < 490 {
					t.Errorf("at %v us: %d answers, %d failures; the server is back", iv.StartUS, iv.Completed, iv.Failed)
				}
			}
		})
	}
}

// TestF6AcceptAndClose: a server that accepts and closes at once is not
// hammered either.
func TestF6AcceptAndClose(t *testing.T) {
	n := newSim(t)
	n.server.fate = func(simQuery) simFate { return simFate{end: io.EOF} }
	res := n.run(func(l *plan.Load) { l.Connections, l.Duration = 10, 10*time.Second })
	if got := res.Connections.Connects; got < 10*8 || got > 10*35 {
		t.Errorf("%d connects of 10 connections in 10 s", got)
	}
	if res.Requests.Completed != 0 {
		t.Errorf("got %+v", res.Requests)
	}
}

// TestF6AbortAfter: failures in a row end the load, if that was asked for,
// also if nothing but connects fails.
func TestF6AbortAfter(t *testing.T) {
	tests := []struct {
		name  string
		fate  func(q simQuery) simFate
		gone  time.Duration // connects are refused from then on
		abort bool
	}{
		{"resets", func(simQuery) simFate { return simFate{end: syscall.ECONNRESET, extra: time.Millisecond} }, time.Hour, true},
		{"server gone", nil, time.Second, true},
		{"every other one", func(q simQuery) simFate {
			if q.number%2 == 1 {
				return simFate{end: syscall.ECONNRESET, extra: time.Millisecond}
			}
			return simFate{extra: time.Millisecond}
		}, time.Hour, false},
		{"error statuses are answers", func(simQuery) simFate { return simFate{answer: simAnswer(503, ""), extra: time.Millisecond} }, time.Hour, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := newSim(t)
			n.outage(tt.gone, time.Hour)
			if tt.fate != nil {
				n.server.fate = tt.fate
			}
			res := n.run(func(l *plan.Load) { l.Connections, l.Duration, l.AbortAfter = 5, 10*time.Second, 30 })
			if got := res.EndedBy == "abort"; got != tt.abort {
				t.Errorf("ended by %s after %v: %v", res.EndedBy, time.Duration(n.at()), res.Failures)
			}
		})
	}
}

// TestF12EndsWhenNothingIsLeft: the count is reached and the server is gone, so
// that no connection will ever ask for more.
func TestF12EndsWhenNothingIsLeft(t *testing.T) {
	n := newSim(t)
	gone := false
	n.connect = func(int64, int64) (int64, error) {
		if gone {
			return 1000, syscall.ECONNREFUSED
		}
		return 1000, nil
	}
	n.server.fate = func(q simQuery) simFate {
		gone = q.number >= 98
		if gone {
			return simFate{answer: simOK, extra: time.Millisecond, end: io.EOF}
		}
		return simFate{extra: time.Millisecond}
	}
	n.joined = true
	res := n.run(func(l *plan.Load) {
		l.Connections, l.Count = 2, 100
		l.Think = schedule.Think{Mean: time.Millisecond}
	})
	if res.EndedBy != "count" || res.Requests.Completed != 100 || n.at() > int64(time.Second) {
		t.Errorf("ended by %s after %v: %+v", res.EndedBy, time.Duration(n.at()), res.Requests)
	}
}

// TestUnreachable: not one connection opens. There is no load, and the error
// names the cause.
func TestUnreachable(t *testing.T) {
	tests := []struct {
		name string
		err  error
		kind result.FailureKind
		net  func(n *simNet, err error)
	}{
		{"refused", syscall.ECONNREFUSED, result.ConnectRefused, connectFails},
		{"no route", syscall.EHOSTUNREACH, result.ConnectUnreachable, connectFails},
		{"closed in the handshake", io.EOF, result.ConnectReset, connectFails},
		{"no ports", syscall.EADDRNOTAVAIL, result.NoPorts, openFails},
		{"no files", syscall.EMFILE, result.FileLimit, openFails},
		{"no answer", nil, result.ConnectTimeout, func(n *simNet, _ error) {
			n.connect = func(int64, int64) (int64, error) { return -1, nil }
		}},
	}
	for _, tt := range tests {
		for _, rate := range []float64{0, 100} {
			t.Run(tt.name, func(t *testing.T) {
				n := newSim(t)
				tt.net(n, tt.err)
				res, err := Run(t.Context(), simLoad(t, func(l *plan.Load) {
					l.Connections, l.Duration, l.Arrivals = 5, time.Second, schedule.Rate(rate)
					if rate == 0 {
						l.Arrivals = schedule.Arrivals{}
					}
				}), n.options())
				var gone *UnreachableError
				if !errors.As(err, &gone) || gone.Kind != tt.kind || gone.Failure.Example == "" {
					t.Fatalf("got error %v, want %v", err, tt.kind)
				}
				if res == nil || res.Requests.Asked != 0 || n.requests != 0 || !n.released {
					t.Errorf("got %+v, %d requests on the network", res, n.requests)
				}
			})
		}
	}
}

func connectFails(n *simNet, err error) {
	n.connect = func(int64, int64) (int64, error) { return 1000, err }
}

func openFails(n *simNet, err error) { n.refuse = func(int64) error { return err } }

// TestF4SomeNeverOpen: some connections open and the others never will; the load
// runs on those that did, and the report has the numbers.
func TestF4SomeNeverOpen(t *testing.T) {
	n := newSim(t)
	n.refuse = func(int64) error {
		if n.opens+int64(openingNow(n)) >= 6 {
			return syscall.EMFILE
		}
		return nil
	}
	n.server.fate = func(simQuery) simFate { return simFate{extra: time.Millisecond} }
	res := n.run(func(l *plan.Load) { l.Connections, l.Duration = 10, 2*time.Second })
	c := res.Connections
	if c.Asked != 10 || c.Opened != 6 || c.Peak != 6 || res.Failures["file-limit"] != c.Failed || c.Failed < 4 || c.Failed > 4*12 {
		t.Errorf("got %+v, %v", c, res.Failures)
	}
	if q := res.Requests; q.Failed != 0 || q.Completed != 6*2000 {
		t.Errorf("got %+v, want 2000 answers on each of 6 connections", q)
	}
}

func openingNow(n *simNet) int {
	k := 0
	for i := range n.conns {
		if n.conns[i].opening {
			k++
		}
	}
	return k
}

// TestF50NoStormAtTheStart: opening takes its time, and the timetable begins
// behind it.
func TestF50NoStormAtTheStart(t *testing.T) {
	n := newSim(t)
	n.connect = func(number int64, _ int64) (int64, error) { return (number + 1) * int64(100*time.Millisecond), nil }
	n.server.fate = func(simQuery) simFate { return simFate{extra: time.Millisecond} }
	res := n.run(func(l *plan.Load) {
		openAt(1000, time.Second)(l)
		l.Connections = 20
	})
	if got := res.Latency.Lag.Max(); got != 0 {
		t.Errorf("lag of %v", time.Duration(got))
	}
	if before := time.Duration(n.start() - simEpoch); before < 2*time.Second || before > 2*time.Second+20*time.Millisecond {
		t.Errorf("started after %v, want as soon as the connections stood", before)
	}
	if got := float64(res.Connections.ConnectTime.Max()); math.Abs(got-2e9) > 1 {
		t.Errorf("slowest connect %v ns, want 2 s", got)
	}
}

// TestStallEnds: a load by count alone whose server is gone for good ends by
// itself, since nobody else would end it.
func TestStallEnds(t *testing.T) {
	n := newSim(t)
	gone := false
	n.server.fate = func(q simQuery) simFate {
		gone = q.onConn >= 5
		if gone {
			return simFate{end: io.EOF}
		}
		return simFate{extra: time.Millisecond}
	}
	n.connect = func(_, _ int64) (int64, error) {
		if gone {
			return 0, syscall.ECONNREFUSED
		}
		return 0, nil
	}
	res := n.run(func(l *plan.Load) { l.Count, l.Duration, l.Connections = 1000, 0, 2 })
	if res.EndedBy != "stall" || !res.Requests.Balanced() {
		t.Errorf("ended by %s with %+v, want stall", res.EndedBy, res.Requests)
	}
}
