package hdr_test

import (
	"fmt"
	"time"

	"prony/internal/hdr"
)

// Two agents measure; the total is a merge, never an average of quantiles.
func Example() {
	a, b := hdr.MustNew(hdr.Config{}), hdr.MustNew(hdr.Config{})
	a.RecordN(int64(time.Millisecond), 990)
	a.RecordN(int64(5*time.Millisecond), 10)
	b.RecordN(int64(time.Millisecond), 50)
	b.RecordN(int64(100*time.Millisecond), 50)
	if err := a.Merge(b); err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range []hdr.Quantile{hdr.P50, hdr.P95, hdr.P100} {
		fmt.Println(q, time.Duration(a.Value(q)).Round(10*time.Microsecond), "values beyond:", q.Beyond(a.Count()))
	}
	// Output:
	// p50 1ms values beyond: 550
	// p95 5ms values beyond: 55
	// p100 100ms values beyond: 0
}
