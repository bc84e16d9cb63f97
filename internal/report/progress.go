package report

import (
	"fmt"
	"strings"
	"time"

	"prony/internal/result"
	"prony/internal/unit"
)

// ProgressLine is the state of a running load on one line. busy is the CPU use
// of the generator as a share of the cores it may use; negative: unknown.
func ProgressLine(p result.Progress, busy float64) string {
	iv, elapsed := &p.Interval, max(p.Elapsed, 0) // below 0 when the load never began
	var b strings.Builder
	if p.Total > 0 {
		fmt.Fprintf(&b, "%3.0f%% ", 100*min(elapsed.Seconds()/p.Total.Seconds(), 1))
	}
	fmt.Fprintf(&b, "%5s", unit.FormatDuration(elapsed.Truncate(time.Second)))
	if iv.Warmup {
		b.WriteString("  warm-up")
	}
	fmt.Fprintf(&b, "  %9s  p50 %8s  p99 %8s", unit.FormatRate(perSecond(float64(iv.Completed), iv.LengthUS)), micros(iv.Response.P50()), micros(iv.Response.P99()))
	fmt.Fprintf(&b, "  errors %s  open %d", unit.FormatCount(p.Failed), p.Open)
	if busy >= 0 {
		fmt.Fprintf(&b, "  generator %.0f%%", 100*busy)
	}
	return b.String()
}

func micros(us float64) string {
	if us == 0 {
		return "-"
	}
	return unit.FormatDuration(time.Duration(us * 1000))
}
