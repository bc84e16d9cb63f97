package audit

import (
	"regexp"
	"strconv"
	"strings"
)

var vegetaRow = regexp.MustCompile(`^(Requests|Duration|Latencies|Bytes In|Success|Status Codes|Error Set)\s*(?:\[([^\]]*)\]|:)\s*(.*)$`)

func vegetaBegins(line string) bool {
	return strings.HasPrefix(line, "Requests ") && vegetaRow.MatchString(line)
}

// readVegeta reads vegeta's text report, old ("[total, rate]") and new. The
// names in brackets say what the figures are. An attack is an open load.
func readVegeta(first string, c *cursor, b *Block) bool {
	b.Model, b.BytesAre, b.KeepAlive = openModel, bodyBytes, "on"
	b.vegetaLine(first)
	c.follow(func(line string) bool {
		b.vegetaLine(line)
		return strings.HasPrefix(line, "Error Set")
	})
	b.vegetaStatuses()
	return b.Requests.Known && b.Latency.Mean.Known
}

// vegetaLine reads one row.
func (b *Block) vegetaLine(line string) {
	m := vegetaRow.FindStringSubmatch(line)
	if m == nil {
		return
	}
	if m[1] == "Status Codes" {
		for _, pair := range strings.Fields(m[3]) {
			code, n, _ := strings.Cut(pair, ":")
			b.status(code, count(n))
		}
		b.fail("error", Exactly(0))
		return
	}
	names, figures := strings.Split(m[2], ","), strings.Split(m[3], ", ")
	for i := range min(len(names), len(figures)) {
		b.vegetaFigure(m[1], strings.TrimSpace(names[i]), strings.TrimSpace(figures[i]))
	}
}

func (b *Block) vegetaFigure(row, name, figure string) {
	switch row + " " + name {
	case "Requests total":
		b.Requests = count(figure)
	case "Requests rate":
		b.OfferedRate = number(figure)
	case "Requests throughput":
		b.Rate = number(figure)
	case "Duration total":
		b.DurationPrinted = duration(figure)
	case "Bytes In total":
		b.Bytes = count(figure)
	case "Latencies min":
		b.Latency.Min = duration(figure)
	case "Latencies mean":
		b.Latency.Mean = duration(figure)
	case "Latencies max":
		b.Latency.Max = duration(figure)
	default:
		if p, err := strconv.ParseFloat(name, 64); err == nil && row == "Latencies" {
			b.Latency.add(p/100, duration(figure))
		}
	}
}

// vegetaStatuses takes the failures from the codes: 0 is no answer at all. The
// rate that vegeta calls throughput counts successes only; what ended is more.
func (b *Block) vegetaStatuses() {
	for code, n := range b.Statuses {
		switch {
		case code == "0":
			b.fail("error", Exactly(float64(n)))
		case code >= "400":
			b.fail("status", Exactly(float64(n)))
		}
	}
	if q := quotient(b.Requests, b.DurationPrinted.times(1e-6)); q.positive() {
		b.Rate = q
	}
}
