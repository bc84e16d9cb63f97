package compare_test

import (
	"testing"

	"prony/internal/compare"
)

// FuzzParse: what is read as a metric is read again by its own name, and has a
// value or a reason in any run.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"rate", "p99", "service.p50", "cpu.app", "memory", "errors", "http-status", "p99.9999", "cpu.", "p0", ""} {
		f.Add(name)
	}
	run := measured(100, 1000)
	f.Fuzz(func(t *testing.T, name string) {
		q, err := compare.Parse(name)
		if err != nil {
			return
		}
		if again, err := compare.Parse(q.Name); err != nil || again != q {
			t.Errorf("%q: got %+v, then %+v, %v", name, q, again, err)
		}
		if x, missing := q.Of(&run); missing == "" && !(x >= 0) {
			t.Errorf("%q: got %v without a reason", name, x)
		}
	})
}
