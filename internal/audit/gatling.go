package audit

import (
	"regexp"
	"strings"
)

var gatlingPercentile = regexp.MustCompile(`^response time (\d+(?:\.\d+)?)(?:st|nd|rd|th) percentile$`)

func gatlingBegins(line string) bool { return strings.HasPrefix(line, "---- Global Information ") }

// readGatling reads the console summary in both layouts: up to 3.13.3 a total
// with "(OK=… KO=…)" behind it, since 3.13.4 three columns between bars. Times
// are whole milliseconds; the rate is the count over whole seconds.
func readGatling(_ string, c *cursor, b *Block) bool {
	b.KeepAlive = "on"
	c.follow(func(line string) bool {
		if strings.HasPrefix(line, "=====") || strings.HasPrefix(line, "---- ") && !strings.HasPrefix(line, "---- Resp") {
			return true
		}
		if label, figures, ok := gatlingRow(line); ok {
			b.gatlingLine(label, figures)
		}
		return false
	})
	return b.Requests.Known
}

// gatlingRow splits a row into its label without the unit, and the figures of
// all, good and failed requests.
func gatlingRow(line string) (label string, figures []string, ok bool) {
	if left, right, found := strings.Cut(line, "|"); found {
		label = left
		for f := range strings.SplitSeq(right, "|") {
			figures = append(figures, strings.TrimSpace(f))
		}
	} else if left, right, found := strings.Cut(line, "(OK="); found {
		f := strings.Fields(left)
		if len(f) < 2 {
			return "", nil, false
		}
		good, bad, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(right), ")"), "KO=")
		label = strings.Join(f[:len(f)-1], " ")
		figures = []string{f[len(f)-1], strings.TrimSpace(good), strings.TrimSpace(bad)}
	}
	label = spaces(label)
	label = strings.TrimSuffix(strings.TrimSuffix(label, " (ms)"), " (rps)")
	return label, figures, len(figures) == 3
}

// gatlingLine reads one row.
func (b *Block) gatlingLine(label string, figures []string) {
	ms := number(figures[0]).times(1e3)
	switch label {
	case "request count":
		b.Requests = count(figures[0])
		if ko := figures[2]; ko == "-" {
			b.fail("KO", Exactly(0))
		} else {
			b.fail("KO", count(ko))
		}
	case "min response time":
		b.Latency.Min = ms
	case "max response time":
		b.Latency.Max = ms
	case "mean response time":
		b.Latency.Mean = ms
	case "std deviation", "response time std deviation":
		b.Latency.Stdev = ms
	case "mean requests/sec", "mean throughput":
		b.Rate = number(figures[0])
	default:
		if m := gatlingPercentile.FindStringSubmatch(label); m != nil {
			b.Latency.add(number(m[1]).V/100, ms)
		}
	}
}
