package engine

import (
	"math"
	"testing"
	"time"

	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/schedule"
)

// simLoad is a load of one worker with its defaults written out.
func simLoad(t *testing.T, edit func(*plan.Load)) plan.Load {
	t.Helper()
	l := plan.Load{Requests: []plan.Request{{Method: "GET", URL: "http://127.0.0.1:9/"}}, Threads: 1, Engine: plan.Epoll, Seed: 1}
	edit(&l)
	l = l.WithDefaults(plan.Facts{CPUs: 1, Loopback: true})
	if err := l.Validate(); err != nil {
		t.Fatalf("validate load: %v", err)
	}
	return l
}

// run drives a load over the network. The ledger has to balance and the
// intervals to add up whatever is tested.
func (n *simNet) run(edit func(*plan.Load)) *result.Load {
	n.t.Helper()
	l := simLoad(n.t, edit)
	res, err := Run(n.t.Context(), l, n.options())
	if err != nil {
		n.t.Fatalf("run load: %v", err)
	}
	if !n.released {
		n.t.Errorf("the loop was not released")
	}
	audit(n.t, res)
	return res
}

// audit checks what holds for every result: one outcome a request, histograms
// with one value a request, and intervals that add up to the whole.
func audit(t *testing.T, res *result.Load) {
	t.Helper()
	q, lat := res.Requests, res.Latency
	if !q.Balanced() {
		t.Errorf("ledger does not balance: %+v", q)
	}
	for name, h := range map[string]result.Histogram{"response": lat.Response, "service": lat.Service, "lag": lat.Lag, "first byte": lat.FirstByte} {
		if h.Count() != q.Completed || h.ClockErrors() != 0 {
			t.Errorf("%s: %d values and %d clock errors for %d answers", name, h.Count(), h.ClockErrors(), q.Completed)
		}
	}
	if lat.Failed.Count() != q.Failed || lat.Failed.ClockErrors() != 0 {
		t.Errorf("failed: %d values for %d failures", lat.Failed.Count(), q.Failed)
	}
	auditIntervals(t, res)
}

func auditIntervals(t *testing.T, res *result.Load) {
	t.Helper()
	var completed, failed, started, bytesIn int64
	response, errors := hdr.MustNew(hdr.Config{}), hdr.MustNew(hdr.Config{})
	for _, iv := range res.Intervals {
		if iv.Warmup {
			continue
		}
		completed += iv.Completed
		failed += iv.Failed
		started += iv.Started
		bytesIn += iv.BytesIn
		mergePacked(t, response, iv.Response)
		mergePacked(t, errors, iv.Errors)
	}
	q := res.Requests
	if completed != q.Completed || failed != q.Failed || started != q.Started || bytesIn != res.BytesIn {
		t.Errorf("intervals: %d completed, %d failed, %d started, %d bytes; totals: %+v, %d bytes", completed, failed, started, bytesIn, q, res.BytesIn)
	}
	sameCells(t, "response", response, res.Latency.Response.Histogram)
	sameCells(t, "errors", errors, res.Latency.Failed.Histogram)
}

func mergePacked(t *testing.T, into *hdr.Histogram, p result.Packed) {
	t.Helper()
	h, err := p.Unpack()
	if err != nil {
		t.Fatalf("unpack interval: %v", err)
	}
	if h == nil {
		return
	}
	if err := into.Merge(h); err != nil {
		t.Fatalf("merge interval: %v", err)
	}
}

// sameCells compares two histograms counter by counter.
func sameCells(t *testing.T, name string, got, want *hdr.Histogram) {
	t.Helper()
	counts := map[hdr.Cell]int64{}
	for cell, n := range want.Cells() {
		counts[cell] += n
	}
	for cell, n := range got.Cells() {
		counts[cell] -= n
	}
	for cell, n := range counts {
		if n != 0 {
			t.Errorf("%s: cell %v differs by %d", name, cell, n)
			return
		}
	}
}

// open is an open load at a constant rate.
func openAt(rate float64, d time.Duration) func(*plan.Load) {
	return func(l *plan.Load) { l.Arrivals, l.Duration = schedule.Rate(rate), d }
}

// near checks a number against a relative tolerance.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s: got %.6g, want %.6g to %.2g", what, got, want, tolerance)
	}
}

// simP is a quantile and its value in milliseconds.
type simP struct {
	q  hdr.Quantile
	ms float64
}

// resolution is what the histogram may add to a quantile, and exact the
// precision to which the references are known.
const resolution = 0.001

// quantiles checks values against references in milliseconds; what the
// histogram reports lies from the true value to 0.1 % above it.
func quantiles(t *testing.T, name string, h result.Histogram, exactMS float64, want ...simP) {
	t.Helper()
	for _, p := range want {
		got := float64(h.Value(p.q)) / 1e6
		if got < p.ms-exactMS || got > p.ms*(1+resolution)+exactMS {
			t.Errorf("%s %v: got %.6f ms, want %.6f ms", name, p.q, got, p.ms)
		}
	}
}
