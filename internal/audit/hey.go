package audit

import (
	"regexp"
	"strings"
)

var (
	heyPercentile = regexp.MustCompile(`^(\d{1,2}(?:\.\d+)?)%%? in (.+)$`)
	heyStatus     = regexp.MustCompile(`^\[(\d{3})\]\s+(\d+) responses?$`)
	heyError      = regexp.MustCompile(`^\[(\d+)\]\s+(\S.*)$`)
)

func heyBegins(line string) bool { return line == "Summary:" }

// heySection is a part of the report, begun by its heading.
type heySection int

const (
	heySummary heySection = iota
	heyHistogram
	heyDistribution
	heyDetails
	heyStatuses
	heyErrors
)

// readHey reads the reports of hey and of oha, which follows hey's and begins
// with a success rate. Their bytes are bodies.
func readHey(_ string, c *cursor, b *Block) bool {
	b.BytesAre, b.Model, b.KeepAlive = bodyBytes, closedModel, "on"
	section, extra := heySummary, false
	c.follow(func(line string) bool {
		label, value, _ := strings.Cut(line, ":")
		switch {
		case strings.Contains(line, "only):"): // oha's further tables, by status
			extra = true
		case strings.HasPrefix(label, "Response time histogram"):
			section = heyHistogram
		case strings.HasPrefix(label, "Latency distribution"), strings.HasPrefix(label, "Response time distribution"):
			section = heyDistribution
		case strings.HasPrefix(label, "Details"):
			section, extra = heyDetails, false
		case label == "Status code distribution":
			section = heyStatuses
			b.fail("error", Exactly(0))
		case label == "Error distribution":
			section = heyErrors
		case !extra:
			return b.heyLine(section, label, strings.TrimSpace(value), line)
		}
		return false
	})
	b.heyCount()
	return b.Rate.Known
}

// heyLine reads a line by its section; it reports that the output has ended.
func (b *Block) heyLine(s heySection, label, value, line string) (done bool) {
	switch s {
	case heySummary:
		b.heySummaryLine(label, value)
	case heyDistribution:
		if m := heyPercentile.FindStringSubmatch(line); m != nil {
			b.Latency.add(number(m[1]).V/100, heyTime(m[2]))
		}
	case heyStatuses:
		if m := heyStatus.FindStringSubmatch(line); m != nil {
			b.status(m[1], count(m[2]))
			return false
		}
		return line != ""
	case heyErrors:
		if m := heyError.FindStringSubmatch(line); m != nil {
			b.fail(ohaKind(m[2]), count(m[1]))
			return false
		}
		return line != ""
	}
	return false
}

// ohaKind is the kind of an error; oha counts the requests that it cut off at
// the deadline among the errors, though they are none.
func ohaKind(text string) string {
	if strings.Contains(text, "deadline") {
		return "cut off"
	}
	return "error"
}

func (b *Block) heySummaryLine(label, value string) {
	switch label {
	case "Success rate":
		b.Tool = "oha"
	case "Total":
		b.DurationPrinted = heyTime(value)
	case "Slowest":
		b.Latency.Max = heyTime(value)
	case "Fastest":
		b.Latency.Min = heyTime(value)
	case "Average":
		b.Latency.Mean = heyTime(value)
	case "Requests/sec":
		b.Rate = number(value)
	case "Total data":
		if v, isBytes := strings.CutSuffix(value, " bytes"); isBytes {
			b.Bytes = count(v)
		} else {
			b.Bytes = binary(value)
		}
	}
}

// heyCount adds up the answers and takes the bad ones as failures.
func (b *Block) heyCount() {
	n := int64(0)
	for code, k := range b.Statuses {
		n += k
		if code >= "400" {
			b.fail("status", Exactly(float64(k)))
		}
	}
	if n += b.Errors["error"]; n > 0 {
		b.Requests = Exactly(float64(n))
	}
}

// heyTime reads "0.0052 secs", and oha's "2.0008 10 sec", which is ten times
// that many seconds.
func heyTime(s string) Value {
	f := strings.Fields(s)
	factor := 1.0
	if len(f) == 3 {
		ten := count(f[1])
		if !ten.positive() {
			return Value{}
		}
		factor, f = ten.V, []string{f[0], f[2]}
	}
	return duration(strings.Join(f, "")).times(factor)
}
