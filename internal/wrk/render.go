package wrk

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"

	"prony/internal/result"
)

// Render writes the report: the two lines of [RenderStart], the rest in wrk's
// layout, and the notes. The error is that of the writer.
func Render(w io.Writer, r *result.Run, o Options) error {
	if err := RenderStart(w, o); err != nil {
		return err
	}
	return RenderResult(w, r, o)
}

// RenderStart writes the two lines that wrk prints before the test begins.
func RenderStart(w io.Writer, o Options) error {
	_, err := fmt.Fprintf(w, "Running %s test @ %s\n  %d threads and %d connections\n",
		formatSeconds(o.Duration.Seconds()), o.URL, o.Threads, o.Connections)
	return err
}

// RenderResult writes what wrk prints when the test has ended, and the notes.
func RenderResult(w io.Writer, r *result.Run, o Options) error {
	var b strings.Builder
	latency, totals := Latency(r, o), Count(r)
	fmt.Fprintf(&b, "  Thread Stats%6s%11s%8s%12s\n", "Avg", "Stdev", "Max", "+/- Stdev")
	b.WriteString(row("Latency", latency, formatTime, o.Quirks))
	b.WriteString(row("Req/Sec", Rates(r, o), formatCount, o.Quirks))
	if o.Latency {
		b.WriteString(percentiles(latency))
	}
	b.WriteString(totals.lines())
	if !o.Plain {
		for _, note := range Notes(r, o) {
			b.WriteString(note + "\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// row is a line of the table.
func row(name string, v *Values, format func(float64) string, quirks bool) string {
	share := "0.00"
	switch within := v.Within(); {
	case !math.IsNaN(within):
		share = long(within*100).Text('f', 2)
	case quirks: // wrk divides by the number of samples
		share = "-nan"
	}
	return fmt.Sprintf("    %-10s%s%s%s%8s%%\n", name, column(format(v.Mean()), 8),
		column(format(v.StDev()), 10), column(format(v.Max()), 9), share)
}

// percentiles is the block of --latency.
func percentiles(v *Values) string {
	var b strings.Builder
	b.WriteString("  Latency Distribution\n")
	for _, p := range []float64{50, 75, 90, 99} {
		fmt.Fprintf(&b, "%7.0f%%%s\n", p, column(formatTime(v.Percentile(p)), 10))
	}
	return b.String()
}

// lines are the lines below the table.
func (t Totals) lines() string {
	var b strings.Builder
	fmt.Fprintf(&b, "  %d requests in %s, %sB read\n", t.Requests, formatTime(float64(t.DurationUS)), formatBytes(long(float64(t.Bytes))))
	if t.socketErrors() > 0 {
		fmt.Fprintf(&b, "  Socket errors: connect %d, read %d, write %d, timeout %d\n", t.Connect, t.Read, t.Write, t.Timeout)
	}
	if t.Status > 0 {
		fmt.Fprintf(&b, "  Non-2xx or 3xx responses: %d\n", t.Status)
	}
	fmt.Fprintf(&b, "Requests/sec: %9s\n", t.perSecond(t.Requests).Text('f', 2))
	fmt.Fprintf(&b, "Transfer/sec: %10sB\n", formatBytes(t.perSecond(t.Bytes)))
	return b.String()
}

// perSecond divides by the time the run really took.
func (t Totals) perSecond(n int64) *big.Float {
	return quotient(float64(n), float64(t.DurationUS)/1e6)
}
