package engine_test

import (
	"fmt"
	"net"
	"testing"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/testserver"
)

// TestLiveF8LegalAnswers covers the answers that HTTP allows and that have been
// taken for errors before: every request succeeds, and the server agrees.
func TestLiveF8LegalAnswers(t *testing.T) {
	cases := []struct {
		name, path string
		n          int64
		status     string
		body       int64 // of one answer; -1: varies
	}{
		{"length", "/bytes/1000", 200, "200", 1000},
		{"empty body", "/bytes/0", 200, "200", 0},
		{"chunks with extensions and trailer", "/chunked/5x1000", 200, "200", 5000},
		{"no chunk but the last", "/chunked/0x0", 200, "200", 0},
		{"many small chunks", "/chunked/2000x3", 20, "200", 6000},
		{"until close", "/until-close", 100, "200", 3},
		{"204", "/204", 200, "204", 0},
		{"304 with a length", "/304", 200, "304", 0},
		{"interim answers", "/1xx", 200, "200", 3},
		{"redirect is not followed", "/redirect", 200, "302", 0},
		{"large body", "/bytes/5MB", 8, "200", 5_000_000},
		{"huge body", "/bytes/50MB", 1, "200", 50_000_000},
		{"huge chunked body", "/chunked/50x1MB", 1, "200", 50_000_000},
		{"byte by byte", "/drip/100us", 8, "200", 3},
		{"slow body", "/slow-body/50ms", 8, "200", 1000},
		{"announced close", "/close", 100, "200", 3},
		{"HTTP/1.0 close", "/http10", 100, "200", 3},
		{"HTTP/1.0 keep-alive", "/http10-keepalive", 200, "200", 3},
		{"large header", "/huge-header/200000", 8, "200", 3},
		{"lengths that vary", "/variable", 200, "200", -1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				s := serve(t, testserver.Config{})
				res := must(t, s.URL()+c.path, func(l *plan.Load) { l.Engine, l.Count, l.Timeouts.Request = e, c.n, time.Minute })
				sameCount(t, res, s)
				if got := res.Statuses[c.status]; got != c.n {
					t.Errorf("statuses: %v, want %d times %s", res.Statuses, c.n, c.status)
				}
				if c.body >= 0 && res.BodyBytes != c.body*c.n {
					t.Errorf("body: %d bytes, want %d times %d", res.BodyBytes, c.n, c.body)
				}
			})
		})
	}
}

// TestLiveHeadAnswers sends HEAD where a GET would bring a body of every framing.
func TestLiveHeadAnswers(t *testing.T) {
	for _, path := range []string{"/bytes/100000", "/chunked/5x1000", "/until-close", "/204", "/304", "/http10-keepalive", "/1xx"} {
		t.Run(path[1:4], func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				s := serve(t, testserver.Config{})
				res := must(t, s.URL()+path, func(l *plan.Load) { l.Engine, l.Count, l.Requests[0].Method = e, 60, "HEAD" })
				sameCount(t, res, s)
				if res.BodyBytes != 0 {
					t.Errorf("%d bytes of body, want none", res.BodyBytes)
				}
			})
		})
	}
}

// TestLiveBrokenAnswers covers what a server may do wrong: the failure has a kind
// of its own, every request is accounted for, and the load goes on.
func TestLiveBrokenAnswers(t *testing.T) {
	cases := []struct {
		name, path string
		kind       result.FailureKind
		change     func(*plan.Load)
	}{
		{"header of 10 MB", "/huge-header/10MB", result.HeaderTooLarge, nil},
		{"header over a limit of one's own", "/huge-header/20kB", result.HeaderTooLarge, func(l *plan.Load) { l.MaxHeader = 10_000 }},
		{"body over a limit", "/bytes/100000", result.BodyTooLarge, func(l *plan.Load) { l.MaxBody = 99_999 }},
		{"chunked body over a limit", "/chunked/10x10000", result.BodyTooLarge, func(l *plan.Load) { l.MaxBody = 99_999 }},
		{"garbage", "/garbage", result.BadResponse, nil},
		{"truncated body", "/truncated-body", result.Truncated, nil},
		{"truncated chunk", "/truncated-chunk", result.Truncated, nil},
		{"reset instead of an answer", "/reset", result.Reset, nil},
		{"reset in the body", "/reset-body", result.Reset, nil},
		{"never answers", "/silent", result.RequestTimeout, func(l *plan.Load) { l.Timeouts.Request = 50 * time.Millisecond }},
		{"slower than the timeout", "/slow-body/1s", result.RequestTimeout, func(l *plan.Load) { l.Timeouts.Request = 50 * time.Millisecond }},
		{"lengths differ", "/variable", result.BodyDiffers, func(l *plan.Load) { l.SameLength = true }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				s := serve(t, testserver.Config{})
				res := must(t, s.URL()+c.path, func(l *plan.Load) {
					l.Engine, l.Count = e, 16
					if c.change != nil {
						c.change(l)
					}
				})
				failed := res.Requests.Failed
				if c.kind == result.BodyDiffers {
					failed++ // the first one sets the length
				}
				if res.Requests.Asked != 16 || failed != 16 {
					t.Errorf("ledger: %+v, want 16 failed", res.Requests)
				}
				if got := res.Failures[c.kind.String()]; got != res.Requests.Failed || len(res.Failures) != 1 {
					t.Errorf("failures: %v, want %d times %v; details %+v", res.Failures, res.Requests.Failed, c.kind, res.FailureDetails)
				}
				if len(res.FailureDetails) == 0 || res.FailureDetails[0].Example == "" || res.FailureDetails[0].Phase == "" {
					t.Errorf("details: %+v, want an example and a phase (F7)", res.FailureDetails)
				}
			})
		})
	}
}

// TestLiveExcessBytes: the answers themselves are good, but each of these
// connections is given up, and that is told.
func TestLiveExcessBytes(t *testing.T) {
	eachEngine(t, func(t *testing.T, e plan.Engine) {
		s := serve(t, testserver.Config{})
		res := must(t, s.URL()+"/excess", func(l *plan.Load) { l.Engine, l.Count = e, 20 })
		if res.Requests.Completed != 20 || res.Failures["bad-response"] != 20 {
			t.Errorf("got %+v, failures %v, want 20 completed and 20 bad-response", res.Requests, res.Failures)
		}
	})
}

// TestLiveGreeting: a server that talks first is not HTTP.
func TestLiveGreeting(t *testing.T) {
	addr := serveRaw(t, func(c net.Conn) {
		_, _ = c.Write([]byte("SSH-2.0-OpenSSH_9.6\r\n"))
		_, _ = c.Read(make([]byte, 1000))
	})
	eachEngine(t, func(t *testing.T, e plan.Engine) {
		res := must(t, "http://"+addr, func(l *plan.Load) { l.Engine = e })
		if res.Requests.Completed != 0 || res.Failures["bad-response"] == 0 {
			t.Errorf("got %+v, failures %v, want bad-response only", res.Requests, res.Failures)
		}
	})
}

// TestLiveEarlyAnswer: the answer may come before the request body was read. It
// counts, whatever becomes of the connection.
func TestLiveEarlyAnswer(t *testing.T) {
	for _, size := range []int{0, 1000, 100_000, 1_000_000} {
		eachEngineNamed(t, fmt.Sprint(size, " bytes"), func(t *testing.T, e plan.Engine) {
			s := serve(t, testserver.Config{})
			res := must(t, s.URL()+"/early", func(l *plan.Load) { l.Requests, l.Engine, l.Count = post(l.Requests[0].URL, size), e, 20 })
			if res.Requests.Completed != 20 || res.Statuses["200"] != 20 {
				t.Errorf("body of %d: got %+v, failures %v, want 20 completed", size, res.Requests, res.FailureDetails)
			}
		})
	}
}

// TestLiveF37IdleClose: a server that closes a kept connection without a word, at
// the moment it is used again or before, fails nobody's request.
func TestLiveF37IdleClose(t *testing.T) {
	cases := []struct {
		name, path string
		change     func(*plan.Load)
		resent     bool
	}{
		{"after three answers", "/close-after/3", nil, false},
		{"after each answer", "/close-after/1", nil, false},
		{"at the next request", "/idle-close", nil, true},
		{"after a pause", "/idle-close/1ms", func(l *plan.Load) { l.Think.Mean = 5 * time.Millisecond }, false},
		{"after three answers of a pipeline", "/close-after/3", func(l *plan.Load) { l.Pipeline = 4 }, true},
		{"open model", "/close-after/3", func(l *plan.Load) { poisson(l, 1000); l.Duration = time.Second }, false},
		{"open model, at the next request", "/idle-close", func(l *plan.Load) { poisson(l, 500); l.Duration = time.Second }, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				s := serve(t, testserver.Config{})
				res := must(t, s.URL()+c.path, func(l *plan.Load) {
					l.Engine, l.Count = e, 100
					if c.change != nil {
						c.change(l)
					}
				})
				if q := res.Requests; q.Asked != 100 || q.Completed != 100 || len(res.Failures) != 0 {
					t.Errorf("got %+v, failures %+v, want 100 completed", q, res.FailureDetails)
				}
				if c.resent && res.Connections.Resent == 0 {
					t.Errorf("connections: %+v, want some requests resent", res.Connections)
				}
				if res.Connections.ClosedByPeer == 0 || res.Connections.Reopened == 0 {
					t.Errorf("connections: %+v, want closes by the peer and reopened ones", res.Connections)
				}
				st := settled(t, s)
				if st.Responses != 100 {
					t.Errorf("the server counted %d answers, want 100", st.Responses)
				}
			})
		})
	}
}

// TestLiveNotResent: a POST may have been processed, so it is not sent twice.
func TestLiveNotResent(t *testing.T) {
	eachEngine(t, func(t *testing.T, e plan.Engine) {
		s := serve(t, testserver.Config{})
		res := must(t, s.URL()+"/idle-close", func(l *plan.Load) { l.Requests, l.Engine, l.Count = post(l.Requests[0].URL, 10), e, 40 })
		if res.Connections.Resent != 0 || res.Requests.Failed == 0 || res.Failures["closed-early"]+res.Failures["reset"] != res.Requests.Failed {
			t.Errorf("got %+v, failures %v, resent %d, want failures by close and none resent", res.Requests, res.Failures, res.Connections.Resent)
		}
		if st := settled(t, s); st.Requests != 40 {
			t.Errorf("the server counted %d requests, want 40", st.Requests)
		}
	})
}
