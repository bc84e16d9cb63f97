package monitor

import (
	"testing"
	"time"
)

// TestDumpsAreBounded: dumps take no more than a hundredth of the time.
func TestDumpsAreBounded(t *testing.T) {
	for _, c := range []struct{ every, took, want time.Duration }{
		{5 * time.Second, 0, 5 * time.Second},
		{5 * time.Second, 20 * time.Millisecond, 5 * time.Second},
		{5 * time.Second, 50 * time.Millisecond, 5 * time.Second},
		{5 * time.Second, 140 * time.Millisecond, 14 * time.Second},
		{time.Second, 20 * time.Millisecond, 2 * time.Second},
	} {
		if got := spacing(c.every, c.took); got != c.want {
			t.Errorf("every %v, taking %v: got %v, want %v", c.every, c.took, got, c.want)
		}
	}
}
