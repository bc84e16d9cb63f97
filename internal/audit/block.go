package audit

import (
	"cmp"
	"slices"
)

// Block is one result of one tool: what was printed, and what is known beside
// it. Times are microseconds, sizes bytes, rates per second, shares 0 to 1.
type Block struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
	// Label names what was loaded, if the facts say so.
	Label string `json:"label,omitempty"`
	File  string `json:"file,omitempty"`
	// FirstLine and LastLine bound the output in its text, from 1; 0 when the
	// result was given as facts.
	FirstLine int    `json:"first_line,omitempty"`
	LastLine  int    `json:"last_line,omitempty"`
	Command   string `json:"command,omitempty"`
	URL       string `json:"url,omitempty"`
	// Model is closed, open, or empty when that cannot be seen.
	Model           string `json:"model,omitempty"`
	Connections     Value  `json:"connections,omitzero"`
	Threads         Value  `json:"threads,omitzero"`
	Pipeline        Value  `json:"pipeline,omitzero"`
	DurationStated  Value  `json:"duration_stated_us,omitzero"`
	DurationPrinted Value  `json:"duration_printed_us,omitzero"`
	Asked           Value  `json:"asked,omitzero"`
	Requests        Value  `json:"requests,omitzero"`
	Rate            Value  `json:"rate,omitzero"`
	OfferedRate     Value  `json:"offered_rate,omitzero"`
	// Bytes were received; BytesAre says which: wire, body, or both
	// directions.
	Bytes        Value   `json:"bytes,omitzero"`
	TransferRate Value   `json:"transfer_rate,omitzero"`
	BytesAre     string  `json:"bytes_are,omitempty"`
	Latency      Latency `json:"latency"`
	ThreadRate   Moments `json:"thread_rate"`
	// Errors by kind; nil when nothing was printed about errors where the tool
	// would always print it, so that none is not known to be none.
	Errors   map[string]int64 `json:"errors"`
	Statuses map[string]int64 `json:"statuses,omitempty"`
	// KeepAlive is on, off or empty.
	KeepAlive string `json:"keep_alive,omitempty"`
	// Odd are contradictions between the command and the output behind it.
	Odd   []string `json:"odd,omitempty"`
	Facts Facts    `json:"facts"`
}

// What the bytes of a block are.
const (
	wireBytes = "wire"
	bodyBytes = "body"
	bothBytes = "both directions"
)

// Models of load.
const (
	closedModel = "closed"
	openModel   = "open"
)

// Moments sum up a distribution as tools print it.
type Moments struct {
	Mean  Value `json:"mean,omitzero"`
	Stdev Value `json:"stdev,omitzero"`
	Max   Value `json:"max,omitzero"`
	// Within is the share of samples within one deviation of the mean.
	Within Value `json:"within_stdev,omitzero"`
}

// Latency is what was printed of response times, in microseconds.
type Latency struct {
	Moments
	Min         Value        `json:"min,omitzero"`
	Percentiles []Percentile `json:"percentiles,omitempty"`
}

// Percentile is one row: the share P of the requests took at most Value.
type Percentile struct {
	P     float64 `json:"p"` // 0 to 1
	Value Value   `json:"value_us"`
}

// at returns a percentile.
func (l Latency) at(p float64) Value {
	for _, q := range l.Percentiles {
		if q.P > p-1e-9 && q.P < p+1e-9 {
			return q.Value
		}
	}
	return Value{}
}

// add keeps a percentile that was read; 100 is the maximum.
func (l *Latency) add(p float64, v Value) {
	switch {
	case !v.Known || p <= 0 || p > 1 || l.at(p).Known:
	case p == 1:
		l.Max = l.Max.or(v)
	default:
		l.Percentiles = append(l.Percentiles, Percentile{p, v})
	}
}

// printed reports whether a block holds anything worth judging.
func (b *Block) printed() bool {
	return b.Rate.Known || b.Requests.Known && (b.Latency.Mean.Known || b.DurationPrinted.Known)
}

// failed is the number of failures, 0 when nothing is known.
func (b *Block) failed() int64 {
	n := int64(0)
	for _, k := range b.Errors {
		n += k
	}
	return n
}

// answerBytes is the size of one answer on the wire or of its body, by what was
// printed more finely: the transfer rate over the rate, or the total over the
// count.
func (b *Block) answerBytes() Value {
	if v := b.Facts.AnswerBytes; v.Known {
		return v
	}
	if b.BytesAre == bothBytes {
		return Value{}
	}
	byRate, byTotal := quotient(b.TransferRate, b.Rate), quotient(b.Bytes, b.Requests)
	if !byTotal.Known || byRate.Known && byRate.Half < byTotal.Half {
		return byRate
	}
	return byTotal
}

// quotient divides figures, and their roundings to first order.
func quotient(a, b Value) Value {
	if !a.Known || !b.positive() {
		return Value{}
	}
	return Value{V: a.V / b.V, Half: a.Half/b.V + a.V*b.Half/(b.V*b.V), Known: true}
}

// product multiplies figures, and their roundings to first order.
func product(a, b Value) Value {
	if !a.Known || !b.Known {
		return Value{}
	}
	return Value{V: a.V * b.V, Half: a.Half*b.V + a.V*b.Half, Known: true}
}

// ran is how long the load lasted in microseconds, by the arithmetic of the
// output itself where it gives both, else as printed, else as stated.
func (b *Block) ran() Value {
	if q := quotient(b.Requests, b.Rate); q.positive() {
		return q.times(1e6)
	}
	return b.DurationPrinted.or(b.DurationStated)
}

// sortedPercentiles returns the rows from the least share on.
func sortedPercentiles(l Latency) []Percentile {
	rows := slices.Clone(l.Percentiles)
	slices.SortFunc(rows, func(a, b Percentile) int { return cmp.Compare(a.P, b.P) })
	return rows
}
