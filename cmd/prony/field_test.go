package main

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"prony/internal/result"
	"prony/internal/testserver"
)

// The tests named TestF... answer public bug reports about other load tools;
// docs/field-reports.md lists the reports by these numbers. Here are those
// that a user meets at the command line.

// outcome is what one call of the program did.
type outcome struct {
	result.Run
	code     int
	out, err string
	took     time.Duration
}

// prony runs the program in this process.
func prony(t *testing.T, args ...string) outcome {
	t.Helper()
	t.Setenv("PRONY_HOME", t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var out, errs bytes.Buffer
	start := time.Now()
	code := run(ctx, append([]string{"prony"}, args...), streams{in: strings.NewReader(""), out: &out, err: &errs})
	o := outcome{code: code, out: out.String(), err: errs.String(), took: time.Since(start)}
	if ctx.Err() != nil {
		t.Fatalf("prony %s hangs\n%s%s", strings.Join(args, " "), o.out, o.err)
	}
	return o
}

// load runs "prony load" and reads its JSON.
func loadRun(t *testing.T, args ...string) outcome {
	t.Helper()
	o := prony(t, append([]string{"load", "--json", "-", "-q"}, args...)...)
	if err := json.Unmarshal([]byte(o.out), &o.Run); err != nil {
		t.Fatalf("prony load %s: %v\n%s%s", strings.Join(args, " "), err, o.out, o.err)
	}
	if !o.Load.Requests.Balanced() {
		t.Errorf("prony load %s: the books do not balance: %+v", strings.Join(args, " "), o.Load.Requests)
	}
	return o
}

// serveKnown starts a target for one test and returns its URL.
func serveKnown(t *testing.T, c testserver.Config) string {
	t.Helper()
	s, err := testserver.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return strings.TrimSuffix(s.URL(), "/")
}

var nanWord = regexp.MustCompile(`(?i)\bnan\b`)

func TestF2SlowAnswersStay(t *testing.T) {
	url := serveKnown(t, testserver.Config{})
	o := loadRun(t, url+"/delay/300ms", "-c", "2", "-d", "1s")
	if o.Load.Latency.Service.Count() == 0 || o.Load.Latency.Service.Min() < int64(300*time.Millisecond) {
		t.Errorf("slow answers are not in the latency: %+v", o.Load.Requests)
	}
	for _, args := range [][]string{{"load", "-q", url + "/silent", "-c", "1", "-d", "300ms", "--timeout", "100ms"}, {"wrk", "-t1", "-c1", "-d1s", url + "/silent"}} {
		if text := prony(t, args...).out; nanWord.MatchString(text) {
			t.Errorf("prony %s prints NaN:\n%s", strings.Join(args, " "), text)
		}
	}
}

func TestF7FailuresAreBrokenDown(t *testing.T) {
	o := loadRun(t, serveKnown(t, testserver.Config{})+"/reset-body", "-c", "1", "-d", "300ms")
	for _, d := range o.Load.FailureDetails {
		if d.Kind == "reset" && d.Errno == "ECONNRESET" && d.Phase == "body" && d.Count > 0 && d.Example != "" {
			return
		}
	}
	t.Errorf("no reset with errno, phase and example: %+v", o.Load.FailureDetails)
}

func TestF9NoDataYetIsNoError(t *testing.T) {
	url := serveKnown(t, testserver.Config{})
	for _, engine := range []string{"auto", "epoll", "goroutines"} {
		if o := loadRun(t, url+"/drip", "-c", "8", "-d", "500ms", "--engine", engine); len(o.Load.Failures) > 0 || o.Load.Requests.Completed == 0 {
			t.Errorf("%s: %+v, %+v", engine, o.Load.Requests, o.Load.Failures)
		}
	}
}

func TestF16LittlesLaw(t *testing.T) {
	o := loadRun(t, serveKnown(t, testserver.Config{})+"/delay/20ms", "-c", "8", "-d", "2s")
	n := o.Load.Rate * o.Load.Latency.Response.Mean() / 1e9
	if diff := n/o.Load.InFlight - 1; diff < -0.05 || diff > 0.05 {
		t.Errorf("rate x response time = %.3f, in flight %.3f", n, o.Load.InFlight)
	}
}

func TestF27ConnectFailuresAreReported(t *testing.T) {
	s, err := testserver.Start(testserver.Config{})
	if err != nil {
		t.Fatal(err)
	}
	url := s.URL()
	_ = s.Close()
	o := loadRun(t, url, "-c", "3", "-d", "1s")
	if o.code != exitEnvironment || o.Load.Failures["connect-refused"] == 0 || !strings.Contains(o.err, "connection refused") {
		t.Errorf("status %d, failures %v, standard error %q", o.code, o.Load.Failures, o.err)
	}
}

func TestF28CutOffIsItsOwnClass(t *testing.T) {
	o := loadRun(t, serveKnown(t, testserver.Config{})+"/delay/3s", "-c", "4", "-d", "500ms", "--drain", "100ms")
	if q := o.Load.Requests; q.CutOff != 4 || q.CutOffOldestUS < 500e3 || q.Failed != 0 || len(o.Load.Failures) != 0 {
		t.Errorf("got %+v, failures %v; want 4 cut off, with their age, and no failure", q, o.Load.Failures)
	}
}

func TestF30PhasesApart(t *testing.T) {
	o := loadRun(t, serveKnown(t, testserver.Config{}), "-c", "2", "-d", "500ms", "--no-keepalive")
	l := &o.Load
	if l.Connections.ConnectTime.Count() < l.Requests.Completed || l.Latency.Response.Mean() < l.Latency.Service.Mean() {
		t.Errorf("connects %d of %d requests; response %.0f, service %.0f ns", l.Connections.ConnectTime.Count(), l.Requests.Completed,
			l.Latency.Response.Mean(), l.Latency.Service.Mean())
	}
}

func TestF35TimeoutIsTheTruth(t *testing.T) {
	o := loadRun(t, serveKnown(t, testserver.Config{})+"/delay/900ms", "-c", "2", "-d", "1s", "--timeout", "100ms")
	if o.Load.Requests.Completed != 0 || o.Load.Failures["timeout"] == 0 {
		t.Fatalf("got %+v, %v", o.Load.Requests, o.Load.Failures)
	}
	if low, high := o.Load.Latency.Failed.Min(), o.Load.Latency.Failed.Max(); low < int64(100*time.Millisecond) || high > int64(700*time.Millisecond) {
		t.Errorf("a timeout of 100ms ended requests after %v to %v", time.Duration(low), time.Duration(high))
	}
}

func TestF41BooksBalanceUnderFaults(t *testing.T) {
	url := serveKnown(t, testserver.Config{ErrorShare: 0.1})
	args := []string{"-c", "8", "-d", "1s", "--timeout", "200ms"}
	for _, path := range []string{"/", "/reset", "/truncated-body", "/close-after/3", "/silent", "/garbage", "/status/503", "/idle-close"} {
		args = append(args, url+path)
	}
	o := loadRun(t, args...)
	var failed int64
	for _, n := range o.Load.Failures {
		failed += n
	}
	if q := o.Load.Requests; q.Failed != failed-o.Load.Connections.Failed {
		t.Errorf("%d failed, by kind %v (%d connects failed)", q.Failed, o.Load.Failures, o.Load.Connections.Failed)
	}
}

func TestF42And43PercentilesAreInside(t *testing.T) {
	o := loadRun(t, serveKnown(t, testserver.Config{})+"/delay/5ms", "-c", "4", "-d", "1s")
	h := o.Load.Latency.Response
	last := h.Min()
	for q := 10_000; q <= 1_000_000; q += 10_000 {
		v := h.Value(quantileOf(q))
		if v < last || v > h.Max() {
			t.Fatalf("quantile %d is %d: before it %d, max %d", q, v, last, h.Max())
		}
		last = v
	}
}

func TestF45BooksCloseAfterTheDrain(t *testing.T) {
	o := loadRun(t, serveKnown(t, testserver.Config{})+"/delay/30ms", "-c", "16", "-d", "500ms")
	var answers int64
	for _, n := range o.Load.Statuses {
		answers += n
	}
	if q := o.Load.Requests; answers != q.Completed || q.CutOff != 0 {
		t.Errorf("%d answers by status, books %+v", answers, q)
	}
}

func TestF48DefinitionsBesideTheNumber(t *testing.T) {
	url := serveKnown(t, testserver.Config{})
	closed := prony(t, "load", "-q", url, "-c", "2", "-d", "300ms").out
	open := prony(t, "load", "-q", url, "-r", "50/s", "-d", "500ms").out
	for text, want := range map[string]string{closed: "response counts from the moment its connection was free", open: "response counts from the planned start"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestF51And52ErrorsCountAndFail(t *testing.T) {
	o := loadRun(t, serveKnown(t, testserver.Config{})+"/status/403", "-c", "2", "-d", "500ms")
	if q := o.Load.Requests; o.code != exitVerdict || q.Completed != 0 || q.Failed == 0 || o.Validity.Verdict != result.Invalid {
		t.Errorf("status %d, %+v, verdict %s; want 1, all failed, invalid", o.code, q, o.Validity.Verdict)
	}
}

func TestF59OneSetOfPercentiles(t *testing.T) {
	url := serveKnown(t, testserver.Config{})
	file := t.TempDir() + "/r.json"
	text := prony(t, "load", "-q", url+"/delay/10ms", "-c", "4", "-d", "1s", "--json", file).out
	r := readResult(t, file)
	if want := durationText(r.Load.Latency.Response.Value(quantileOf(500_000))); !strings.Contains(text, want) {
		t.Errorf("JSON has p50 %s, the text does not:\n%s", want, text)
	}
}

func TestF61ConnectionPolicyIsStated(t *testing.T) {
	text := prony(t, "load", "-q", serveKnown(t, testserver.Config{}), "-c", "3", "-d", "300ms").out
	if !strings.Contains(text, "closed model, 3 connections") || !strings.Contains(text, "3 asked, 3 opened") {
		t.Errorf("the report does not state the connections:\n%s", text)
	}
}

func TestF15And62StableSchema(t *testing.T) {
	o := loadRun(t, serveKnown(t, testserver.Config{}), "-n", "10")
	if o.Schema != "prony.result/1" || o.Kind != "load" {
		t.Errorf("schema %q, kind %q", o.Schema, o.Kind)
	}
}

func TestF21OneTimeoutPerRequest(t *testing.T) {
	o := loadRun(t, serveKnown(t, testserver.Config{})+"/silent", "-c", "2", "-d", "1s", "--timeout", "200ms")
	q := o.Load.Requests
	if n := o.Load.Failures["timeout"]; n != q.Failed || q.Failed+q.CutOff != q.Asked || n < 4 || n > 10 {
		t.Errorf("%d timeouts of %+v", n, q)
	}
}
