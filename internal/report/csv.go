package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"prony/internal/hdr"
	"prony/internal/result"
)

// cell makes text of strangers harmless in a table that a spreadsheet opens:
// one line, and no formula.
func cell(text string) string {
	text = clean(text)
	if text != "" && strings.ContainsRune("=+-@", rune(text[0])) {
		return "'" + text
	}
	return text
}

// decimal prints a number with the digits that it has.
func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

func whole(n int64) string { return strconv.FormatInt(n, 10) }

// CSV writes a table with a row a trial, in the order that they ran, also of
// those that failed; loads that ran side by side have a row each. Times are in
// microseconds (_us), rates per second, shares 0 to 1. A percentile with no
// sample beyond it is empty, as is all that is not known. It fails when writing
// does.
func CSV(w io.Writer, d Document) error {
	trials, axes, err := d.trials()
	if err != nil {
		return err
	}
	c := csv.NewWriter(w)
	head := []string{"trial", "block", "variant"}
	for _, axis := range axes {
		head = append(head, cell(axis))
	}
	if err := c.Write(append(head, csvColumns()...)); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	for i := range trials {
		t := &trials[i]
		row := place(t)
		for _, axis := range axes {
			row = append(row, cell(t.Values[axis]))
		}
		for l := range loadsOf(t) {
			if err := c.Write(append(row[:len(row):len(row)], csvRow(t, l)...)); err != nil {
				return fmt.Errorf("write CSV: %w", err)
			}
		}
	}
	c.Flush()
	return c.Error()
}

// trials are those of an experiment with the axes, or the one run.
func (d *Document) trials() (all []result.Trial, axes []string, err error) {
	switch {
	case d.Run != nil:
		return []result.Trial{{Number: 1, Run: *d.Run}}, nil, nil
	case d.Experiment == nil:
		return nil, nil, errNoResult
	}
	seen := map[string]bool{}
	for _, t := range d.Experiment.Trials {
		for axis := range t.Values {
			seen[axis] = true
		}
	}
	return d.Experiment.Trials, sortedNames(seen), nil
}

func place(t *result.Trial) []string {
	return []string{strconv.Itoa(t.Number), strconv.Itoa(t.Block + 1), cell(t.Variant)}
}

// loadsOf yields the loads of a trial, the first one first.
func loadsOf(t *result.Trial) func(func(*result.Load) bool) {
	return func(yield func(*result.Load) bool) {
		if !yield(&t.Load) {
			return
		}
		for i := range t.Also {
			if !yield(&t.Also[i]) {
				return
			}
		}
	}
}

func csvColumns() []string {
	return []string{"verdict", "findings", "error", "load", "model", "started", "duration_us", "connections", "rate", "offered_rate", "capacity",
		"asked", "completed", "failed", "cut_off", "unsent", "error_ratio", "p50_us", "p90_us", "p99_us", "p99_9_us", "max_us", "mean_us", "stdev_us",
		"service_p99_us", "lag_p99_us", "bytes_in", "generator_cpu_us_per_request", "generator_peak_busy", "expectations_missed", "limited_by"}
}

func csvRow(t *result.Trial, l *result.Load) []string {
	row := []string{cell(string(t.Validity.Verdict)), cell(spoilers(t.Validity)), cell(t.Error)}
	if t.Error != "" {
		return append(row, make([]string, len(csvColumns())-len(row))...)
	}
	q := l.Requests
	started := ""
	if l.StartedUS > 0 {
		started = time.UnixMicro(l.StartedUS).UTC().Format(time.RFC3339Nano)
	}
	row = append(row, cell(l.Name), cell(l.Model), started, decimal(l.DurationUS), strconv.Itoa(l.Connections.Asked), decimal(l.Rate), optional(l.OfferedRate))
	capacity := ""
	if t.Capacity != nil {
		capacity = decimal(t.Capacity.Rate)
	}
	row = append(row, capacity, whole(q.Asked), whole(q.Completed), whole(q.Failed), whole(q.CutOff), whole(q.Unsent), ratio(q.Failed, q.Asked))
	h := l.Latency.Response
	for _, quantile := range []hdr.Quantile{hdr.P50, hdr.P90, hdr.P99, hdr.P999} {
		row = append(row, at(h, quantile))
	}
	if h.Empty() {
		row = append(row, "", "", "")
	} else {
		row = append(row, decimal(float64(h.Max())/1000), decimal(h.Mean()/1000), decimal(h.StdDev()/1000))
	}
	missed, limit := 0, ""
	for _, e := range t.Expect {
		if !e.Met {
			missed++
		}
	}
	if t.Bottleneck != nil {
		limit = t.Bottleneck.What + " " + t.Bottleneck.Where
	}
	return append(row, at(l.Latency.Service, hdr.P99), at(l.Latency.Lag, hdr.P99), whole(l.BytesIn), decimal(t.Generator.CPUUSPerRequest),
		decimal(t.Generator.PeakBusy), strconv.Itoa(missed), cell(strings.TrimSpace(limit)))
}

// spoilers are the rules that spoil the verdict.
func spoilers(v result.Validity) string {
	var rules []string
	for _, f := range v.Findings {
		if f.Severity == result.InvalidLevel || f.Severity == result.SuspectLevel {
			rules = append(rules, f.Rule)
		}
	}
	return strings.Join(rules, ";")
}

func optional(x *float64) string {
	if x == nil {
		return ""
	}
	return decimal(*x)
}

func ratio(n, of int64) string {
	if of == 0 {
		return ""
	}
	return decimal(float64(n) / float64(of))
}

// at is a percentile in microseconds; empty without a sample beyond it.
func at(h result.Histogram, q hdr.Quantile) string {
	if h.Empty() || q.Beyond(h.Count()) < 1 {
		return ""
	}
	return decimal(float64(h.Value(q)) / 1000)
}

// SeriesCSV writes a table with a row a second of each load: warm-up, window and
// drain, told apart by the column phase. Units are those of [CSV].
func SeriesCSV(w io.Writer, d Document) error {
	trials, _, err := d.trials()
	if err != nil {
		return err
	}
	c := csv.NewWriter(w)
	rows := [][]string{{"trial", "block", "variant", "verdict", "load", "phase", "start_us", "length_us", "planned", "started", "completed", "failed",
		"rate", "in_flight", "bytes_in", "p50_us", "p99_us", "max_us", "lag_p99_us"}}
	for i := range trials {
		t := &trials[i]
		for l := range loadsOf(t) {
			for k := range l.Intervals {
				rows = append(rows, append(append(place(t), cell(string(t.Validity.Verdict)), cell(l.Name)), second(&l.Intervals[k])...))
			}
		}
	}
	if err := c.WriteAll(rows); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

func second(iv *result.Interval) []string {
	phase := "window"
	switch {
	case iv.Warmup:
		phase = "warm-up"
	case iv.Drain:
		phase = "drain"
	}
	row := []string{phase, decimal(iv.StartUS), decimal(iv.LengthUS), whole(iv.Planned), whole(iv.Started), whole(iv.Completed), whole(iv.Failed),
		decimal(perSecond(float64(iv.Completed), iv.LengthUS)), whole(iv.InFlight), whole(iv.BytesIn)}
	if iv.Response.Count() == 0 {
		return append(row, "", "", "", "")
	}
	return append(row, decimal(iv.Response.P50()), decimal(iv.Response.P99()), decimal(iv.Response.Max()), decimal(iv.Lag.P99()))
}
