package e2e_test

import (
	"slices"
	"testing"
)

// TestRestart: the target ends in the middle of a load and comes back. What was
// lost has its kind, the books balance, and the load goes on.
func TestRestart(t *testing.T) {
	for _, engine := range []string{"auto", "epoll", "goroutines"} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			n := startNginx(t)
			wait := launchProny(t, "load", "-c", "8", "-d", "2500ms", "--engine", engine, n.url("/"))
			eventually(t, "the load has begun", func() bool { return n.counters(t).requests > 500 })
			n.stop(t)
			n.start(t)
			eventually(t, "the load goes on", func() bool { return n.counters(t).requests > 500 })
			got, _ := wait()
			checkRestart(t, got)
		})
	}
}

func checkRestart(t *testing.T, got figures) {
	t.Helper()
	known := []string{"connect-refused", "connect-reset", "reset", "closed-early", "truncated", "write-failed"}
	for kind, n := range got.Load.Failures {
		if !slices.Contains(known, kind) {
			t.Errorf("got %d failures of kind %s, want only %v", n, kind, known)
		}
	}
	if got.Load.EndedBy != "duration" || got.Load.Connections.Reopened < 8 {
		t.Errorf("got an end by %s with %d connections opened again, want duration and at least 8", got.Load.EndedBy, got.Load.Connections.Reopened)
	}
	if last := got.Load.Intervals[len(got.Load.Intervals)-1]; last.Completed == 0 {
		t.Errorf("got no answer in the last interval: %+v", got.Load.Intervals)
	}
}
