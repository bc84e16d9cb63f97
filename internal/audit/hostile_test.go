package audit_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"prony/internal/audit"
)

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// fixture reads a file of testdata.
func fixture(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestReadLargeText: whatever is repeated, the work on a text grows with its
// length only, and little is kept. The bounds are far above what is needed.
func TestReadLargeText(t *testing.T) {
	size := 1 << 20
	if testing.Short() {
		size = 1 << 18
	}
	for name, unit := range map[string]string{
		"line ends":        "\n",
		"braces":           "{\n",
		"open strings":     "{\"a\":\"\n",
		"one line":         "x",
		"starts of wrk":    "Running 1s test @ http://h/\n",
		"starts of ab":     "Server Software: x\n",
		"starts of h2load": "starting benchmark...\n",
		"starts of hey":    "Summary:\n",
		"starts of k6":     "checks.....: 1\n",
		"commands":         "$ wrk -t1 http://h/ \\\n",
		"entities":         "&amp;&lt;\x1b[1m",
	} {
		t.Run(name, func(t *testing.T) {
			s := strings.Repeat(unit, size/len(unit))
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			start := time.Now()
			if all := blocks(t, audit.Source{File: "f", Text: s}); len(all) != 0 {
				t.Errorf("got %d results, want none", len(all))
			}
			if took := time.Since(start); took > 2*time.Minute {
				t.Errorf("took %v", took)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			if kept := int64(after.HeapAlloc) - int64(before.HeapAlloc); kept > int64(size) {
				t.Errorf("kept %d bytes of a text of %d", kept, size)
			}
		})
	}
}
