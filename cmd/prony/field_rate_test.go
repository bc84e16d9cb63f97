package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"prony/internal/hdr"
	"prony/internal/result"
	"prony/internal/testserver"
	"prony/internal/unit"
)

func quantileOf(millionths int) hdr.Quantile { return hdr.Quantile(millionths) }

func durationText(ns int64) string { return unit.FormatDuration(time.Duration(ns)) }

func readResult(t *testing.T, file string) result.Run {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r result.Run
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestF19RatesBelowTheThreads(t *testing.T) {
	url := serveKnown(t, testserver.Config{})
	for rate, want := range map[string]int64{"3/s": 6, "0.5/s": 1, "2.5/s": 5} {
		o := loadRun(t, url, "-r", rate, "--arrivals", "constant", "-t", "4", "-c", "8", "-d", "2s")
		if o.Load.Requests.Asked != want {
			t.Errorf("%s for 2s asked for %d requests, want %d", rate, o.Load.Requests.Asked, want)
		}
	}
}

func TestF22And29RateNotSustained(t *testing.T) {
	url := serveKnown(t, testserver.Config{Queue: testserver.Queue{Rate: 200}})
	o := loadRun(t, url, "-r", "1000/s", "--arrivals", "constant", "-c", "50", "-d", "2s", "--drain", "200ms")
	if o.Load.OfferedRate == nil || *o.Load.OfferedRate < 990 || o.Load.Rate > 500 {
		t.Fatalf("asked %v/s, got %v/s", o.Load.OfferedRate, o.Load.Rate)
	}
	for _, f := range o.Validity.Findings {
		if strings.Contains(f.Message, "target rate not sustained") && strings.Contains(f.Message, "asked") {
			return
		}
	}
	t.Errorf("nothing says that the rate was not sustained: %+v", o.Validity.Findings)
}

func TestF23MaximumAndRateInOneTool(t *testing.T) {
	url := serveKnown(t, testserver.Config{})
	most := loadRun(t, url, "-c", "4", "-d", "500ms")
	at := loadRun(t, url, "-r", "50/s", "-d", "500ms")
	if most.Load.Model != "closed" || at.Load.Model != "open" || most.Load.Rate < at.Load.Rate {
		t.Errorf("%s %.0f/s, %s %.0f/s", most.Load.Model, most.Load.Rate, at.Load.Model, at.Load.Rate)
	}
}

func TestF24WallTimeIsWhatWasAsked(t *testing.T) {
	url := serveKnown(t, testserver.Config{})
	for _, args := range [][]string{{"load", "-q", "--no-store", url, "-c", "2", "-d", "1s"}, {"wrk", "-t1", "-c2", "-d1s", url}} {
		if o := prony(t, args...); o.took < time.Second || o.took > 1800*time.Millisecond {
			t.Errorf("prony %s took %v", strings.Join(args, " "), o.took)
		}
	}
}

func TestF26HighRateEndsInAReport(t *testing.T) {
	o := loadRun(t, serveKnown(t, testserver.Config{Delay: 50 * time.Millisecond}), "-r", "200000/s", "-c", "4", "-d", "1s", "--drain", "100ms")
	if q := o.Load.Requests; q.Asked == 0 || q.Unsent == 0 || o.Load.Latency.Response.Empty() {
		t.Errorf("no full report: %+v", q)
	}
}

func TestF32RateIsATotal(t *testing.T) {
	o := loadRun(t, serveKnown(t, testserver.Config{}), "-r", "100/s", "--arrivals", "constant", "-t", "2", "-c", "10", "-d", "1s")
	if o.Load.Requests.Asked != 100 {
		t.Errorf("100/s for 1s on 2 threads and 10 connections asked for %d requests", o.Load.Requests.Asked)
	}
}

func TestF33CountThatDoesNotDivide(t *testing.T) {
	url := serveKnown(t, testserver.Config{})
	for _, n := range []int64{1, 7, 1009} {
		o := loadRun(t, url, "-n", fmt.Sprint(n), "-c", "5", "-t", "3")
		if o.Load.Requests.Asked != n || o.Load.Requests.Completed != n {
			t.Errorf("-n %d -c 5: %+v", n, o.Load.Requests)
		}
	}
}

func TestF20And40RateIsEvenAndExact(t *testing.T) {
	url := serveKnown(t, testserver.Config{})
	o := loadRun(t, url, "-r", "500/s", "--arrivals", "constant", "-t", "2", "-c", "64", "-d", "2s")
	if o.Load.Requests.Asked != 1000 {
		t.Errorf("500/s for 2s asked for %d requests", o.Load.Requests.Asked)
	}
	for _, iv := range o.Load.Intervals {
		if iv.LengthUS > 999_000 && (iv.Planned < 490 || iv.Planned > 510) {
			t.Errorf("the second at %.0f us planned %d requests, want 500", iv.StartUS, iv.Planned)
		}
	}
}

func TestF44NoThresholdNearARate(t *testing.T) {
	url := serveKnown(t, testserver.Config{})
	for _, rate := range []int64{99, 100, 101, 999, 1000, 1001} {
		o := loadRun(t, url, "-r", fmt.Sprint(rate), "--arrivals", "constant", "-c", "64", "-d", "1s")
		if o.Load.Requests.Asked != rate {
			t.Errorf("%d/s for 1s asked for %d requests", rate, o.Load.Requests.Asked)
		}
	}
}

func TestF46TwoLimitsNeverFreeze(t *testing.T) {
	url := serveKnown(t, testserver.Config{})
	byCount := loadRun(t, url, "-n", "50", "-d", "20s", "-c", "4")
	byTime := loadRun(t, url+"/delay/100ms", "-n", "100000", "-d", "500ms", "-c", "4")
	if byCount.Load.EndedBy != "count" || byTime.Load.EndedBy != "duration" {
		t.Errorf("ended by %s and %s, want count and duration", byCount.Load.EndedBy, byTime.Load.EndedBy)
	}
}

func TestF47MemoryDoesNotGrowWithRequests(t *testing.T) {
	url := serveKnown(t, testserver.Config{})
	short := loadRun(t, url, "-n", "2000", "-c", "8")
	long := loadRun(t, url, "-n", "20000", "-c", "8")
	if a, b := len(short.out), len(long.out); b > 3*a {
		t.Errorf("the result grows with the requests: %d bytes for 2000, %d for 20000", a, b)
	}
}

func TestF58PartialIntervalsAreMarked(t *testing.T) {
	o := loadRun(t, serveKnown(t, testserver.Config{}), "-c", "2", "-d", "1500ms")
	var sum float64
	for _, iv := range o.Load.Intervals {
		if !iv.Drain {
			sum += iv.LengthUS
		}
	}
	if diff := sum - o.Load.DurationUS; diff < -1000 || diff > 1000 {
		t.Errorf("intervals of %v us in a window of %v us: %+v", sum, o.Load.DurationUS, len(o.Load.Intervals))
	}
}

func TestF31CountsStayExact(t *testing.T) {
	h := hdr.MustNew(hdr.Config{})
	h.RecordN(1_000_000, 2_999_999_999)
	h.Record(9_000_000)
	if h.Count() != 3_000_000_000 || h.Max() != 9_000_000 || h.Value(quantileOf(999_999)) > 1_001_000 {
		t.Errorf("count %d, max %d", h.Count(), h.Max())
	}
}

func TestF57NeverZeroForSome(t *testing.T) {
	for _, ratio := range []float64{1e-3, 1e-6, 1e-9} {
		if text := unit.FormatPercent(ratio); text == "0%" || strings.HasPrefix(text, "0.0%") {
			t.Errorf("a share of %g prints as %s", ratio, text)
		}
	}
}

func TestF60EveryAddressOfAName(t *testing.T) {
	ips, err := net.DefaultResolver.LookupNetIP(t.Context(), "ip", "localhost")
	if err != nil || len(ips) < 2 {
		t.Skipf("localhost has one address here: %v %v", ips, err)
	}
	four, err := testserver.Start(testserver.Config{Address: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer four.Close()
	_, port, _ := net.SplitHostPort(four.Addr().String())
	six, err := testserver.Start(testserver.Config{Network: "tcp6", Address: "[::1]:" + port})
	if err != nil {
		t.Skipf("no second address: %v", err)
	}
	defer six.Close()
	loadRun(t, "http://localhost:"+port, "-c", "8", "-d", "300ms")
	if a, b := four.Stats().Requests, six.Stats().Requests; a == 0 || b == 0 {
		t.Errorf("requests per address: %d and %d", a, b)
	}
}
