package e2e_test

import (
	"os"
	"testing"
)

// needLive skips what judges a machine: planted causes and the published
// experiments have to have it for themselves, and take a quarter of an hour.
func needLive(t *testing.T) {
	t.Helper()
	if os.Getenv("PRONY_LIVE") == "" {
		t.Skip("PRONY_LIVE is not set: make test-live, on a machine that does nothing else")
	}
}
