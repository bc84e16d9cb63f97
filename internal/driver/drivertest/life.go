//go:build unix

package drivertest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"prony/internal/driver"
	"prony/internal/plan"
)

func testStart(t *testing.T, s trial) {
	r := s.start(t, s.request(roleTarget))
	if got := ask(t, r.Endpoint(), "/"); got != "hello\n" {
		t.Errorf("got answer %q, want hello", got)
	}
	if got := ask(t, r.Endpoint(), "/run"); got != string(s.run) {
		t.Errorf("got PRONY_RUN=%q in its environment, want %q", got, s.run)
	}
	if p := r.Place(); p.Host == nil || p.PID == 0 && p.Container == "" {
		t.Errorf("got place %+v, want a host and a process or container", p)
	}
	if r.Name() != "app[0]" || r.Took() <= 0 || r.Err() != nil {
		t.Errorf("got name %q, took %s, error %v", r.Name(), r.Took(), r.Err())
	}
	left, err := driver.Find(t.Context(), s.Driver, s.Site, s.run)
	if err != nil || len(left) == 0 {
		t.Errorf("find while it runs: got %v, %v, want it to be found by its label", left, err)
	}
	other, err := driver.Find(t.Context(), s.Driver, s.Site, s.run+"x")
	if err != nil || len(other) != 0 {
		t.Errorf("find another run: got %v, %v, want nothing", other, err)
	}
	all, err := driver.Find(t.Context(), s.Driver, s.Site, "")
	if err != nil || !slices.ContainsFunc(all, func(l driver.Leftover) bool { return l.Run == s.run }) {
		t.Errorf("find any run: got %v, %v, want ours among them", all, err)
	}
}

func testRecord(t *testing.T, s trial) {
	var records []driver.Record
	q := s.request(roleTarget)
	q.Record = func(r driver.Record) error {
		if len(records) == 0 {
			s.nothing(t)
		}
		records = append(records, r)
		return nil
	}
	s.start(t, q)
	if len(records) == 0 {
		t.Fatal("got no record")
	}
	if r := records[0]; r.Run != s.run || r.Name != "app[0]" || r.Kind == "" || len(r.Ports) == 0 {
		t.Errorf("got first record %+v, want run, name, kind and ports in it", r)
	}
}

func testNoJournal(t *testing.T, s trial) {
	full := errors.New("disk full")
	q := s.request(roleTarget)
	q.Record = func(driver.Record) error { return full }
	if _, err := driver.Start(t.Context(), s.Driver, q); !errors.Is(err, full) {
		t.Errorf("got %v, want the journal's error", err)
	}
}

func testTwo(t *testing.T, s trial) {
	q := s.request(roleTarget)
	first := s.start(t, q)
	q.Index = 1
	second := s.start(t, q)
	if first.Endpoint() == second.Endpoint() {
		t.Errorf("got %s twice", first.Endpoint())
	}
	for _, r := range []*driver.Running{first, second} {
		if got := ask(t, r.Endpoint(), "/"); got != "hello\n" {
			t.Errorf("%s: got answer %q", r.Name(), got)
		}
		if log := logged(r, "as "+r.Name()); !strings.Contains(log, "as "+r.Name()) {
			t.Errorf("%s: got log %q, want its own", r.Name(), log)
		}
	}
}

func testReadyLog(t *testing.T, s trial) {
	q := s.request(roleTarget)
	q.Service.Ready = plan.Ready{Log: `^listening on \S+ as app\[0\]$`, Within: 20 * time.Second}
	r := s.start(t, q)
	if !listens(t, r.Endpoint()) {
		t.Error("nobody listens there")
	}
}

func testNeverReady(t *testing.T, s trial) {
	q := s.request(roleMute)
	q.Service.Ready = plan.Ready{TCP: true, Within: 500 * time.Millisecond}
	_, err := driver.Start(t.Context(), s.Driver, q)
	for _, want := range []string{"app[0]", "not ready within 500ms", "its last lines:\n  thinking"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q in it", err, want)
		}
	}
}

func testWrongStatus(t *testing.T, s trial) {
	q := s.request(roleTarget)
	q.Service.Ready = plan.Ready{Path: "/nowhere", Status: 200, Within: time.Second}
	var err error
	for range 3 { // the time may be up in the middle of a question
		_, err = driver.Start(t.Context(), s.Driver, q)
		if err == nil || strings.Contains(err.Error(), "/nowhere: status 404, want 200") {
			break
		}
	}
	if err == nil || !strings.Contains(err.Error(), "/nowhere: status 404, want 200") {
		t.Errorf("got error %v, want the status that was answered", err)
	}
	q.Service.Ready.Status = 404
	if err := s.start(t, q).Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

func testEarly(t *testing.T, s trial) {
	begin := time.Now()
	_, err := driver.Start(t.Context(), s.Driver, s.request(roleEarly))
	death := died(t, err)
	if !death.Early || death.Exit.OOM || !strings.Contains(death.Exit.Reason, "exit status 7") {
		t.Errorf("got %+v, want an early end with status 7", death)
	}
	if n := len(death.Log); n != 20 || death.Log[0] != "line 11" || death.Log[n-1] != "line 30" {
		t.Errorf("got lines %q, want the last 20", death.Log)
	}
	if !strings.Contains(err.Error(), "app[0] ended by itself before it was ready: exit status 7; its last lines:\n  line 11\n") {
		t.Errorf("got text %q", err)
	}
	if took := time.Since(begin); took > 15*time.Second {
		t.Errorf("took %s, want no waiting for readiness (20 s) after the end", took)
	}
}

func testCrash(t *testing.T, s trial) {
	r := s.start(t, s.request(roleTarget))
	_, _ = get(t.Context(), r.Endpoint(), "/crash")
	wait(t, r.Ended(), "the end")
	death := died(t, r.Err())
	if death.Early || !strings.Contains(death.Error(), "app[0] ended by itself: exit status 3; its last lines:\n") ||
		!slices.Contains(death.Log, "about to crash") {
		t.Errorf("got %v, want status 3 and the last line", death)
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Errorf("stop what has ended: %v", err)
	}
	died(t, r.Err()) // is remembered
}

func testLogs(t *testing.T, s trial) {
	r := s.start(t, s.request(roleTarget))
	check := func(when string) {
		t.Helper()
		for _, want := range []string{"to stderr\n", "listening on "} {
			if text := logged(r, want); !strings.Contains(text, want) {
				t.Errorf("%s: got %q, want %q in it", when, text, want)
			}
		}
	}
	check("while it runs")
	if err := r.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("after the stop")
}

func testStop(t *testing.T, s trial) {
	r := s.start(t, s.request(roleTarget))
	for range 2 {
		if err := r.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	wait(t, r.Ended(), "the end")
	if listens(t, r.Endpoint()) {
		t.Error("somebody still listens there")
	}
	if err := r.Err(); err != nil {
		t.Errorf("got %v, want no death: we stopped it", err)
	}
	again := s.start(t, s.request(roleTarget)) // its names are free again
	if got := ask(t, again.Endpoint(), "/"); got != "hello\n" {
		t.Errorf("started again: got answer %q", got)
	}
}

func testDeaf(t *testing.T, s trial) {
	q := s.request(roleDeaf)
	q.Grace = 200 * time.Millisecond
	r := s.start(t, q)
	if err := r.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if listens(t, r.Endpoint()) {
		t.Error("somebody still listens there")
	}
}

func testDaemon(t *testing.T, s trial) {
	r := s.start(t, s.limited(t, plan.Limits{}))
	if got := ask(t, r.Endpoint(), "/spawn"); got == "" {
		t.Fatal("it started nothing")
	}
	if err := r.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	left, err := driver.Find(t.Context(), s.Driver, s.Site, s.run)
	switch {
	case err != nil:
		t.Fatal(err)
	case len(left) == 0:
		return
	case len(r.Notes()) == 0:
		t.Errorf("left behind: %v", left)
	}
	// Without a group that holds it, its label has to find it.
	if _, err := driver.Cleanup(t.Context(), s.Driver, s.Site, s.run); err != nil {
		t.Error(err)
	}
}

func testInterrupted(t *testing.T, s trial) {
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	q := s.request(roleMute)
	q.Service.Ready = plan.Ready{TCP: true, Within: 20 * time.Second}
	q.Record = func(r driver.Record) error {
		time.AfterFunc(200*time.Millisecond, func() { cancel(cause) })
		return nil
	}
	if _, err := driver.Start(ctx, s.Driver, q); !errors.Is(err, cause) {
		t.Errorf("got %v, want the cause of the context", err)
	}
}
