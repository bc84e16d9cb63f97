package audit

import (
	"encoding/json"
	"strconv"
	"strings"
)

// longestObject bounds one JSON result.
const longestObject = 8 << 20

// jsonBudget bounds the bytes looked at in search of JSON in one text.
type jsonBudget struct{ left int }

// readJSON reads a JSON result that begins in the line, whatever its layout.
func readJSON(line string, start cursor, c *cursor, budget *jsonBudget) (Block, bool) {
	if !strings.HasPrefix(bare(line), "{") {
		return Block{}, false
	}
	from := start.pos + strings.IndexByte(start.text[start.pos:], '{')
	text := object(start.text[from:], budget)
	if text == "" {
		return Block{}, false
	}
	for _, read := range []func([]byte, *Block) bool{vegetaJSON, fortioJSON, ohaJSON, bombardierJSON, k6JSON, pronyJSON} {
		var b Block
		if read([]byte(text), &b) && b.printed() {
			c.skip(from + len(text))
			return b, true
		}
	}
	return Block{}, false
}

// skip moves behind a position, and the line it is in.
func (c *cursor) skip(pos int) {
	for c.pos < pos {
		if _, ok := c.next(); !ok {
			return
		}
	}
}

// object returns the text up to the brace that closes the first one, or "".
func object(text string, budget *jsonBudget) string {
	depth, quoted := 0, false
	for i := 0; i < len(text) && i < longestObject && budget.left > 0; i++ {
		budget.left--
		switch ch := text[i]; {
		case quoted && ch == '\\':
			i++
		case ch == '"':
			quoted = !quoted
		case quoted:
		case ch == '{':
			depth++
		case ch == '}':
			if depth--; depth == 0 {
				return text[:i+1]
			}
		}
	}
	return ""
}

// figure is a number of JSON; absent is unknown.
func figure(p *float64, scale float64) Value {
	if p == nil || !(*p >= 0 && *p < maxFigure) {
		return Value{}
	}
	return Exactly(*p * scale)
}

// vegetaJSON reads "vegeta report -type json": times in nanoseconds.
func vegetaJSON(text []byte, b *Block) bool {
	var r struct {
		Latencies map[string]float64 `json:"latencies"`
		BytesIn   struct {
			Total *float64 `json:"total"`
		} `json:"bytes_in"`
		Duration   *float64           `json:"duration"`
		Wait       *float64           `json:"wait"`
		Requests   *float64           `json:"requests"`
		Rate       *float64           `json:"rate"`
		Throughput *float64           `json:"throughput"`
		Codes      map[string]float64 `json:"status_codes"`
	}
	if json.Unmarshal(text, &r) != nil || r.Latencies == nil || r.Requests == nil || r.Throughput == nil {
		return false
	}
	b.Tool, b.Model, b.BytesAre, b.KeepAlive = "vegeta", openModel, bodyBytes, "on"
	b.Requests, b.OfferedRate, b.Rate = figure(r.Requests, 1), figure(r.Rate, 1), figure(r.Throughput, 1)
	b.Bytes = figure(r.BytesIn.Total, 1)
	if r.Duration != nil && r.Wait != nil {
		total := *r.Duration + *r.Wait
		b.DurationPrinted = figure(&total, 1e-3)
	}
	for name, ns := range r.Latencies {
		b.jsonLatency(strings.TrimSuffix(strings.TrimSuffix(name, "th"), "st"), figure(&ns, 1e-3))
	}
	b.fail("error", Exactly(0))
	for code, n := range r.Codes {
		b.status(code, figure(&n, 1))
	}
	b.vegetaStatuses()
	return b.Latency.Mean.Known
}

// jsonLatency takes a figure by the name it has in JSON: mean, avg, min, max, a
// percentile as 99 or p99.
func (b *Block) jsonLatency(name string, v Value) {
	switch name {
	case "mean", "avg", "average":
		b.Latency.Mean = v
	case "min", "fastest":
		b.Latency.Min = v
	case "max", "slowest":
		b.Latency.Max = v
	case "med":
		b.Latency.add(0.5, v)
	default:
		name = strings.TrimSuffix(strings.TrimLeft(name, "p("), ")")
		if p, err := strconv.ParseFloat(name, 64); err == nil {
			b.Latency.add(p/100, v)
		}
	}
}

// fortioJSON reads fortio's result: times in seconds; a percentile is
// interpolated within cells as wide as the resolution.
func fortioJSON(text []byte, b *Block) bool {
	var r struct {
		RunType        string
		URL            string
		RequestedQPS   string
		ActualQPS      *float64
		ActualDuration *float64 // nanoseconds
		NumThreads     *float64
		Resolution     float64
		DurationHist   struct {
			Count, Min, Max, Avg, StdDev *float64
			Percentiles                  []struct{ Percentile, Value float64 }
		} `json:"DurationHistogram"`
		RetCodes         map[string]float64
		DisableKeepAlive bool
		Sizes            struct{ Sum *float64 }
	}
	if json.Unmarshal(text, &r) != nil || r.ActualQPS == nil || r.DurationHist.Count == nil {
		return false
	}
	b.Tool, b.URL, b.BytesAre, b.KeepAlive, b.Model = "fortio", r.URL, wireBytes, "on", closedModel
	if r.DisableKeepAlive {
		b.KeepAlive = "off"
	}
	if v := number(r.RequestedQPS); v.positive() {
		b.OfferedRate, b.Model = v, openModel
	}
	h := r.DurationHist
	b.Rate, b.Requests, b.Connections = figure(r.ActualQPS, 1), figure(h.Count, 1), figure(r.NumThreads, 1)
	b.DurationPrinted, b.Bytes = figure(r.ActualDuration, 1e-3), figure(r.Sizes.Sum, 1)
	b.Latency.Mean, b.Latency.Min, b.Latency.Max, b.Latency.Stdev = figure(h.Avg, 1e6), figure(h.Min, 1e6), figure(h.Max, 1e6), figure(h.StdDev, 1e6)
	for _, p := range h.Percentiles {
		v := figure(&p.Value, 1e6)
		v.Half = max(r.Resolution, 0) * 1e6
		b.Latency.add(p.Percentile/100, v)
	}
	b.codes(r.RetCodes)
	return true
}

// codes takes the answers by status; -1 and other words are no answers.
func (b *Block) codes(all map[string]float64) {
	b.fail("error", Exactly(0))
	for code, n := range all {
		v := figure(&n, 1)
		b.status(code, v)
		switch {
		case len(code) != 3 || code < "100" || code > "599":
			b.fail("error", v)
		case code >= "400":
			b.fail("status", v)
		}
	}
}
