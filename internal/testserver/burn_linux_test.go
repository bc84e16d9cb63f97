package testserver_test

import (
	"syscall"
	"testing"
	"time"

	"prony/internal/testserver"
)

// TestWorkIsWork: it takes CPU time, and not only time.
func TestWorkIsWork(t *testing.T) {
	s := start(t, testserver.Config{})
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			t.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	together(t, s, "/work/50ms", 4)
	if got := used() - before; got < 190*time.Millisecond {
		t.Errorf("got %v of CPU time for four times 50 ms of work", got)
	}
}
