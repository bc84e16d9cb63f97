package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"prony/internal/hdr"
	"prony/internal/result"
)

// GatlingLayout is one of the two forms of Gatling's console summary.
type GatlingLayout int

const (
	// GatlingColumns is the form since Gatling 3.13.4: 120 columns, total, OK and
	// KO side by side.
	GatlingColumns GatlingLayout = iota
	// GatlingClassic is the form up to Gatling 3.13.3: 80 columns, OK and KO in
	// parentheses behind the total.
	GatlingClassic
)

// Bounds of Gatling's response time ranges, in milliseconds, as it has them
// without a configuration of its own.
const (
	gatlingLow  = 800
	gatlingHigh = 1200
)

// Gatling writes the final summary that Gatling prints on the console, byte by
// byte in its layout. Times count from the send, as Gatling's do, in whole
// milliseconds; the deviation is that of the population; the rate is the count
// over whole seconds. Percentiles are Prony's nearest ranks, where Gatling
// estimates. It fails when writing does.
func Gatling(w io.Writer, r *result.Run, layout GatlingLayout) error {
	s := gatlingOf(&r.Load)
	var b strings.Builder
	if layout == GatlingClassic {
		s.classic(&b)
	} else {
		s.columns(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// gatling is what the summary shows.
type gatling struct {
	total, ok, ko gatlingColumn
	ranges        [3]int64 // of OK
	errors        []gatlingError
}

// gatlingColumn is one of the three columns.
type gatlingColumn struct {
	count int64
	h     *hdr.Histogram // nil: "-"
	rate  float64
}

type gatlingError struct {
	message string
	count   int64
}

func gatlingOf(l *result.Load) gatling {
	seconds := max(math.Ceil(l.DurationUS/1e6), 1)
	column := func(n int64, h *hdr.Histogram) gatlingColumn {
		if h != nil && h.Count() == 0 {
			h = nil
		}
		return gatlingColumn{n, h, float64(n) / seconds}
	}
	ok, ko := l.Latency.Service.Histogram, l.Latency.Failed.Histogram
	q := l.Requests
	s := gatling{ok: column(q.Completed, ok), ko: column(q.Failed, ko), total: column(q.Completed+q.Failed, both(ok, ko))}
	if s.ok.h != nil {
		for cell, n := range s.ok.h.Cells() {
			switch ms := min(cell.Highest, s.ok.h.Max()) / 1e6; {
			case ms < gatlingLow:
				s.ranges[0] += n
			case ms < gatlingHigh:
				s.ranges[1] += n
			default:
				s.ranges[2] += n
			}
		}
	}
	for _, f := range failuresOf(l) {
		s.errors = append(s.errors, gatlingError{clean(strings.TrimSuffix(f.Kind+": "+f.Example, ": ")), f.Count})
	}
	return s
}

// both merges two histograms, of which either may be nil or, as a stranger's
// file may have it, of another shape: then the first stands for both.
func both(a, b *hdr.Histogram) *hdr.Histogram {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	sum := a.Copy()
	if sum.Merge(b) != nil {
		return a
	}
	return sum
}

// gatlingStat is a row of times.
type gatlingStat struct {
	name, classic string
	of            func(*hdr.Histogram) float64 // nanoseconds
}

func gatlingStats() []gatlingStat {
	at := func(q hdr.Quantile) func(*hdr.Histogram) float64 {
		return func(h *hdr.Histogram) float64 { return float64(h.Value(q)) }
	}
	return []gatlingStat{
		{"min response time", "min response time", func(h *hdr.Histogram) float64 { return float64(h.Min()) }},
		{"max response time", "max response time", func(h *hdr.Histogram) float64 { return float64(h.Max()) }},
		{"mean response time", "mean response time", func(h *hdr.Histogram) float64 { return h.Mean() }},
		{"response time std deviation", "std deviation", func(h *hdr.Histogram) float64 { return h.StdDev() }},
		{"response time 50th percentile", "response time 50th percentile", at(hdr.P50)},
		{"response time 75th percentile", "response time 75th percentile", at(hdr.P75)},
		{"response time 95th percentile", "response time 95th percentile", at(hdr.P95)},
		{"response time 99th percentile", "response time 99th percentile", at(hdr.P99)},
	}
}

// milliseconds of a column; "-" without values.
func (c gatlingColumn) ms(of func(*hdr.Histogram) float64) string {
	if c.h == nil {
		return "-"
	}
	return strconv.FormatInt(int64(math.Round(of(c.h)/1e6)), 10)
}

// perSec is the rate; "-" where nothing was counted.
func (c gatlingColumn) perSec(format func(string) string) string {
	if c.count == 0 {
		return "-"
	}
	return format(hundredths(c.rate))
}

// hundredths prints a number with two decimals at most.
func hundredths(x float64) string {
	return strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(x, 'f', 2, 64), "0"), ".")
}

// percent is a share for Gatling's parentheses.
func percent(n, of int64) string {
	if of == 0 {
		return "0"
	}
	return hundredths(100 * float64(n) / float64(of))
}

// commas puts commas into the whole part of a number.
func commas(number string) string {
	whole, rest := number, ""
	if dot := strings.IndexByte(number, '.'); dot >= 0 {
		whole, rest = number[:dot], number[dot:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return whole + rest
}

// title is a heading filled up with dashes.
func (s *gatling) title(text string, width int) string {
	head := "---- " + text + " "
	return head + strings.Repeat("-", max(width-len(head), 0)) + "\n"
}

const gatlingWidth = 120

// columns is the layout since 3.13.4.
func (s *gatling) columns(b *strings.Builder) {
	row := func(name, total, ok, ko string) {
		fmt.Fprintf(b, "> %-82s | %9s | %9s | %9s\n", name, total, ok, ko)
	}
	count := func(n int64) string { return commas(whole(n)) }
	fmt.Fprintln(b, strings.Repeat("=", gatlingWidth))
	head := s.title("Global Information", 85)
	b.WriteString(strings.TrimSuffix(head, "\n") + "|---Total---|-----OK----|----KO----\n")
	row("request count", count(s.total.count), count(s.ok.count), count(s.ko.count))
	for _, stat := range gatlingStats() {
		row(stat.name+" (ms)", commas(s.total.ms(stat.of)), commas(s.ok.ms(stat.of)), commas(s.ko.ms(stat.of)))
	}
	row("mean throughput (rps)", s.total.perSec(commas), s.ok.perSec(commas), s.ko.perSec(commas))
	b.WriteString(s.title("Response Time Distribution", gatlingWidth))
	share := func(name string, n int64) {
		fmt.Fprintf(b, "> %-99s %9s %8s\n", name, count(n), "("+percent(n, s.total.count)+"%)")
	}
	share(fmt.Sprintf("OK: t < %d ms", gatlingLow), s.ranges[0])
	share(fmt.Sprintf("OK: %d ms <= t < %d ms", gatlingLow, gatlingHigh), s.ranges[1])
	share(fmt.Sprintf("OK: t >= %d ms", gatlingHigh), s.ranges[2])
	share("KO", s.ko.count)
	s.listErrors(b, gatlingWidth, func(message string, n, of int64) {
		lines := cut(message, 99)
		fmt.Fprintf(b, "> %s %9s %8s\n", pad(lines[0], 99), count(n), "("+percent(n, of)+"%)")
		if len(lines) > 1 {
			fmt.Fprintf(b, "%s\n", lines[1])
		}
	})
	fmt.Fprintln(b, strings.Repeat("=", gatlingWidth))
}

// classic is the layout up to 3.13.3.
func (s *gatling) classic(b *strings.Builder) {
	const width = 80
	row := func(name, total, ok, ko string) {
		fmt.Fprintf(b, "> %-48s %7s (OK=%-6s KO=%-6s)\n", name, total, ok, ko)
	}
	same := func(text string) string { return text }
	count := func(c gatlingColumn) string { return whole(c.count) }
	fmt.Fprintln(b, strings.Repeat("=", width))
	b.WriteString(s.title("Global Information", width))
	row("request count", count(s.total), count(s.ok), count(s.ko))
	for _, stat := range gatlingStats() {
		row(stat.classic, s.total.ms(stat.of), s.ok.ms(stat.of), s.ko.ms(stat.of))
	}
	row("mean requests/sec", s.total.perSec(same), s.ok.perSec(same), s.ko.perSec(same))
	b.WriteString(s.title("Response Time Distribution", width))
	share := func(name string, n int64) {
		fmt.Fprintf(b, "> %-48s %7s (%3s%%)\n", name, whole(n), percent(n, s.total.count))
	}
	share(fmt.Sprintf("t < %d ms", gatlingLow), s.ranges[0])
	share(fmt.Sprintf("%d ms <= t < %d ms", gatlingLow, gatlingHigh), s.ranges[1])
	share(fmt.Sprintf("t >= %d ms", gatlingHigh), s.ranges[2])
	share("failed", s.ko.count)
	s.listErrors(b, width, func(message string, n, of int64) {
		fmt.Fprintf(b, "> %s %6s (%5s%%)\n", pad(cut(message, 62)[0], 62), whole(n), strconv.FormatFloat(100*float64(n)/float64(max(of, 1)), 'f', 2, 64))
	})
	fmt.Fprintln(b, strings.Repeat("=", width))
}

func (s *gatling) listErrors(b *strings.Builder, width int, line func(message string, n, of int64)) {
	if len(s.errors) == 0 {
		return
	}
	b.WriteString(s.title("Errors", width))
	var all int64
	for _, e := range s.errors {
		all += e.count
	}
	for _, e := range s.errors {
		line(e.message, e.count, all)
	}
}

// cut breaks a message into two lines of at most width letters; what is longer
// ends in dots.
func cut(message string, width int) []string {
	letters := []rune(message)
	if len(letters) <= width {
		return []string{message}
	}
	first, rest := string(letters[:width]), letters[width:]
	if len(rest) > width {
		rest = append(slices.Clone(rest[:width-3]), '.', '.', '.')
	}
	return []string{first, string(rest)}
}

// pad fills a text up to a number of letters.
func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(width-len([]rune(text)), 0))
}
