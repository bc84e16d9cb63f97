package evloop_test

import (
	"os"
	"testing"
)

// descriptors counts this process's open files.
func descriptors(t testing.TB) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(list) - 1 // the directory's own
}
