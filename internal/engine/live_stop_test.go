package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"prony/internal/engine"
	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/schedule"
	"prony/internal/testserver"
)

// TestLiveErrorsKeepTheirOwnLatency: fast errors among slow successes stay out of
// the latency of the successes.
func TestLiveErrorsKeepTheirOwnLatency(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*plan.Load)
	}{
		{"closed", func(*plan.Load) {}},
		{"open", func(l *plan.Load) { l.Arrivals = schedule.Rate(400); l.Duration = time.Second }},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				s := serve(t, testserver.Config{Delay: 20 * time.Millisecond, ErrorShare: 0.25, ErrorStatus: 503})
				res := must(t, s.URL(), func(l *plan.Load) { l.Engine, l.Connections, l.Count = e, 16, 200; c.change(l) })
				q := res.Requests
				if q.Completed != 150 || q.Failed != 50 || res.Failures["http-status"] != 50 || res.Statuses["200"] != 150 || res.Statuses["503"] != 50 {
					t.Errorf("got %+v, failures %v, statuses %v, want 150 good and 50 bad of 200", q, res.Failures, res.Statuses)
				}
				if q.InWindow != 200 && c.name == "closed" {
					t.Errorf("%d answers in the window, want all 200", q.InWindow)
				}
				if low := time.Duration(res.Latency.Response.Min()); low < 20*time.Millisecond {
					t.Errorf("a success took %v, which only an error can", low)
				}
				if bad, good := time.Duration(res.Latency.Failed.Value(hdr.P50)), time.Duration(res.Latency.Response.Value(hdr.P50)); bad > good-5*time.Millisecond {
					t.Errorf("errors took %v in the median and successes %v, want 20 ms between them", bad, good)
				}
			})
		})
	}
}

// TestLiveF38Samples keeps one head of each class of status, the right one even
// where answers overlap.
func TestLiveF38Samples(t *testing.T) {
	paths := []string{"/slow-body/10ms", "/status/404", "/redirect", "/status/503", "/slow-body/5ms", "/drip/100us"}
	eachEngine(t, func(t *testing.T, e plan.Engine) {
		s := serve(t, testserver.Config{})
		res := must(t, s.URL(), func(l *plan.Load) {
			l.Engine, l.Connections, l.Count, l.Requests = e, 16, 300, nil
			for _, p := range paths {
				l.Requests = append(l.Requests, get(s.URL()+p)...)
			}
		})
		classes := ""
		for _, sample := range res.Samples {
			classes += fmt.Sprint(sample.Status / 100)
			if want := fmt.Sprintf("HTTP/1.1 %d ", sample.Status); !strings.HasPrefix(sample.Head, want) || !strings.Contains(sample.Head, "Server: prony") {
				t.Errorf("sample of %d: head %q", sample.Status, sample.Head)
			}
		}
		if len(classes) != 4 || !strings.Contains(classes, "2") || !strings.Contains(classes, "3") || !strings.Contains(classes, "4") || !strings.Contains(classes, "5") {
			t.Errorf("samples of the classes %q, want one of each of 2, 3, 4 and 5", classes)
		}
	})
}

// TestLiveF36Cancel ends a load from outside, soon and with a report, whatever the
// server does.
func TestLiveF36Cancel(t *testing.T) {
	conf, _ := testserver.SelfSigned()
	cases := []struct {
		name, path string
		server     testserver.Config
		change     func(*plan.Load)
		cutOff     bool
	}{
		{"silent server", "/silent", testserver.Config{}, func(*plan.Load) {}, true},
		{"silent server, open model", "/silent", testserver.Config{}, func(l *plan.Load) { l.Arrivals = schedule.Rate(500) }, true},
		{"silent server over TLS", "/silent", testserver.Config{TLS: conf}, func(l *plan.Load) { l.TLS.Insecure = true }, true},
		{"busy server", "/", testserver.Config{}, func(l *plan.Load) { l.Connections, l.Threads = 32, 2 }, false},
		{"busy server, pipeline", "/", testserver.Config{}, func(l *plan.Load) { l.Pipeline = 8 }, false},
		{"busy server, open model", "/", testserver.Config{}, func(l *plan.Load) { poisson(l, 3000) }, false},
		{"exact count", "/", testserver.Config{}, func(l *plan.Load) { l.Count, l.Duration = 1e9, 0 }, false},
		{"warm-up", "/", testserver.Config{}, func(l *plan.Load) { l.Warmup = patience }, false},
		{"thinking users", "/", testserver.Config{}, func(l *plan.Load) { l.Think.Mean = patience }, false},
		{"endless answer", "/drip/5ms", testserver.Config{BodySize: 10_000}, func(*plan.Load) {}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				s := serve(t, c.server)
				l := brief(s.URL()+c.path, func(l *plan.Load) { l.Engine, l.Duration = e, patience; c.change(l) })
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				stopped := make(chan time.Time, 1)
				// From its start on: a handshake may take long on a busy machine.
				begun := func([]int) { after(200*time.Millisecond, func() { stopped <- time.Now(); cancel() }) }
				res, err := drive(t, ctx, l, engine.Options{Started: begun})
				if ctx.Err() == nil {
					t.Fatalf("it ended by itself: %v, error %v", res, err)
				}
				if took := time.Since(<-stopped); took > time.Second {
					t.Errorf("the load ended %v after it was told to", took)
				}
				if err != nil || res == nil {
					t.Fatalf("got %v and error %v, want a report", res, err)
				}
				if res.EndedBy != "interrupt" || (res.Requests.CutOff > 0) != c.cutOff {
					t.Errorf("ended by %q, ledger %+v, want interrupt and cut-offs: %v", res.EndedBy, res.Requests, c.cutOff)
				}
				if c.cutOff && res.Requests.CutOffOldestUS < 100_000 {
					t.Errorf("the oldest request cut off was %.0f us old, want most of the load (F28)", res.Requests.CutOffOldestUS)
				}
				if res.DurationUS > 2e6 {
					t.Errorf("window of %.0f us, want what there was of it", res.DurationUS)
				}
			})
		})
	}
}

// TestLiveCancelBeforeStart ends a load that has not begun.
func TestLiveCancelBeforeStart(t *testing.T) {
	s := serve(t, testserver.Config{})
	eachEngine(t, func(t *testing.T, e plan.Engine) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start := time.Now()
		res, err := drive(t, ctx, brief(s.URL(), func(l *plan.Load) { l.Engine, l.Duration = e, patience }), engine.Options{})
		if time.Since(start) > time.Second {
			t.Errorf("took %v", time.Since(start))
		}
		if err == nil && (res == nil || res.Requests.Asked != 0) {
			t.Errorf("got %+v, want an error or an empty report", res)
		}
	})
}

// lateness is the worst of some timers, as a measure of how busy the machine is.
func lateness() time.Duration {
	var worst time.Duration
	for range 20 {
		start := time.Now()
		<-time.After(5 * time.Millisecond)
		worst = max(worst, time.Since(start)-5*time.Millisecond)
	}
	return worst
}

// TestLiveF1SilentServer counts each request that got no answer, during the run
// and at its end, once (F21).
func TestLiveF1SilentServer(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*plan.Load)
	}{
		{"closed", func(*plan.Load) {}},
		{"pipeline", func(l *plan.Load) { l.Pipeline = 3 }},
		{"open", func(l *plan.Load) { l.Arrivals = schedule.Rate(200) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			eachEngine(t, func(t *testing.T, e plan.Engine) {
				s := serve(t, testserver.Config{})
				res := must(t, s.URL()+"/silent", func(l *plan.Load) {
					l.Engine, l.Duration, l.Timeouts.Request, l.Connections = e, 400*time.Millisecond, 100*time.Millisecond, 100
					c.change(l)
				})
				q := res.Requests
				if q.Completed != 0 || q.Failed != q.Asked || q.Failed < 50 || res.Failures["timeout"] != q.Failed || len(res.Failures) != 1 {
					t.Errorf("got %+v, failures %v, want timeouts only", q, res.Failures)
				}
				if low := time.Duration(res.Latency.Failed.Min()); low < 100*time.Millisecond && c.name != "pipeline" {
					t.Errorf("a request timed out after %v, want 100 ms", low)
				}
				// One timeout, and not much later (F35), unless the machine keeps
				// the clock's own waiters waiting as well.
				mid := time.Duration(res.Latency.Failed.Value(hdr.P50))
				if late := lateness(); mid > 200*time.Millisecond+10*late {
					t.Errorf("half of the requests timed out after %v or more, want about 100 ms (timers are %v late here)", mid, late)
				}
			})
		})
	}
}
