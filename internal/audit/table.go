package audit

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
)

// isTable reports whether a text is a CSV table of results: its first line names
// columns, id and rps among them.
func isTable(text string) bool {
	first, _, _ := strings.Cut(text[:min(len(text), longestLine)], "\n")
	columns := strings.Split(strings.TrimSpace(strings.TrimPrefix(first, "\ufeff")), ",")
	return slices.Contains(columns, "id") && slices.Contains(columns, "rps")
}

// readTable reads a CSV table of results, a row each. Columns that are not known
// are left aside, they may hold remarks; an empty field is unknown.
func readTable(s Source, limit int) ([]Block, error) {
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(s.Text, "\ufeff")))
	header, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.File, err)
	}
	var all []Block
	for {
		row, err := r.Read()
		if row == nil {
			return all, nil
		}
		line, _ := r.FieldPos(0)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.File, err)
		}
		if len(all) == limit {
			return nil, fmt.Errorf("%s:%d: more than %d results: audit fewer at once", s.File, line, limit)
		}
		b := Block{File: s.File, FirstLine: line, LastLine: line, BytesAre: wireBytes, KeepAlive: "on"}
		for i, name := range header {
			b.column(name, strings.TrimSpace(row[i]))
		}
		b.fromTable()
		all = append(all, b)
	}
}

// column takes one field of a table.
func (b *Block) column(name, text string) {
	if text == "" {
		return
	}
	for _, c := range []struct {
		name string
		read func(string) Value
		to   *Value
	}{
		{"threads", firstCount, &b.Threads}, {"connections", count, &b.Connections},
		{"duration_printed", duration, &b.DurationPrinted}, {"requests", count, &b.Requests}, {"rps", number, &b.Rate},
		{"bytes_read", binary, &b.Bytes}, {"transfer_rate", binary, &b.TransferRate},
		{"lat_min", milliseconds, &b.Latency.Min}, {"lat_avg", milliseconds, &b.Latency.Mean},
		{"lat_stdev", milliseconds, &b.Latency.Stdev}, {"lat_max", milliseconds, &b.Latency.Max},
		{"threadrate_avg", si, &b.ThreadRate.Mean}, {"threadrate_stdev", si, &b.ThreadRate.Stdev}, {"threadrate_max", si, &b.ThreadRate.Max},
	} {
		if c.name == name {
			*c.to = c.read(text)
			return
		}
	}
	switch name {
	case "id":
		b.ID = text
	case "system":
		b.Label = text
	case "tool":
		b.Tool = strings.ToLower(text)
	case "command":
		b.Command = text
	case "throughput_as_printed":
		b.Facts.RateAs = text
	case "duration_stated":
		b.DurationStated = firstDuration(text)
	case "errors":
		b.tableErrors(strings.ToLower(text))
	default:
		if p, ok := strings.CutPrefix(name, "p"); ok && number(p).Known {
			b.Latency.add(number(p).V/100, milliseconds(text))
		}
	}
}

// fromTable completes a row by its command and by what its tool is known for.
func (b *Block) fromTable() {
	if b.Tool == "ab" {
		b.KeepAlive = "off"
	}
	b.take(b.Command)
	if v := number(strings.TrimSuffix(b.Facts.RateAs, " req/min")); !b.Rate.Known && v.Known {
		b.Rate = v.times(1.0 / 60)
	}
	// wrk's own output says nothing when there were no errors; a table of some
	// of its figures does not show that.
	if b.Tool == "wrk" && b.Requests.Known && b.Errors == nil {
		b.Errors = map[string]int64{}
	}
}

// tableErrors reads "KO=0; …" and counts; words leave it unknown.
func (b *Block) tableErrors(text string) {
	text = strings.TrimPrefix(text, "ko=")
	first, _, _ := strings.Cut(text, ";")
	b.fail("failed", count(first))
}

// milliseconds reads a time; a bare number is milliseconds.
func milliseconds(s string) Value {
	if v := number(s); v.Known {
		return v.times(1e3)
	}
	return duration(s)
}

// firstCount reads the number in front of a remark: "1 (ab 2.4)".
func firstCount(s string) Value {
	first, _, _ := strings.Cut(s, " ")
	return count(first)
}

// firstDuration reads "60s; run twice" and "5 min (300 s)".
func firstDuration(s string) Value {
	first, _, _ := strings.Cut(s, ";")
	first, _, _ = strings.Cut(first, "(")
	return duration(first)
}
