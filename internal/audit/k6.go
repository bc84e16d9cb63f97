package audit

import (
	"regexp"
	"strings"
)

var (
	k6First   = regexp.MustCompile(`^(█ TOTAL RESULTS|(checks|checks_total|data_received|data_sent|group_duration|http_req_blocked|http_req_duration)\.{3,}:)`)
	k6Row     = regexp.MustCompile(`^(?:[✓✗] *)?([a-z_0-9]+)\.{2,}: *(\S.*)$`)
	k6Trend   = regexp.MustCompile(`(avg|min|med|max|p\((\d+(?:\.\d+)?)\))=(\S+)`)
	k6Failed  = regexp.MustCompile(`^\S+% *(?:✓ *(\d+) +✗ *(\d+)|(\d+) out of (\d+))`)
	k6Running = regexp.MustCompile(`^running \((\S+)\), \d+/\d+ VUs, `)
)

func k6Begins(line string) bool {
	return (strings.HasPrefix(line, "█") || strings.Contains(line, "...")) && k6First.MatchString(line)
}

// readK6 reads the summary at the end of a k6 test: the old list in
// alphabetical order (also --summary-mode=legacy), and the sections that k6 has
// printed since 1.0. Users of k6 may pause between requests, so that their
// number is an upper bound only. The summary ends where a name comes again.
func readK6(first string, c *cursor, b *Block) bool {
	b.KeepAlive, b.BytesAre = "on", wireBytes
	seen := map[string]bool{}
	read := func(line string) (again bool) {
		if m := k6Running.FindStringSubmatch(line); m != nil && seen["http_reqs"] {
			b.DurationPrinted = duration(m[1])
			return false
		}
		m := k6Row.FindStringSubmatch(line)
		if m == nil {
			return strings.HasPrefix(line, "█ TOTAL") && len(seen) > 0
		}
		if seen[m[1]] {
			return true
		}
		seen[m[1]] = true
		b.k6Line(m[1], m[2])
		return false
	}
	read(first)
	for range outputLines {
		mark := *c
		line, ok := c.next()
		if !ok {
			break
		}
		if t := bare(line); begins(t) || read(t) {
			*c = mark
			break
		}
	}
	return b.Rate.Known && b.Latency.Mean.Known
}

func (b *Block) k6Line(name, rest string) {
	f := strings.Fields(rest)
	switch name {
	case "http_reqs":
		b.Requests = count(f[0])
		if len(f) > 1 {
			b.Rate = number(strings.TrimSuffix(f[1], "/s"))
		}
	case "http_req_duration":
		b.Latency = k6Latency(rest)
	case "http_req_failed":
		if m := k6Failed.FindStringSubmatch(rest); m != nil {
			b.fail("failed", count(m[1]).or(count(m[3])))
		}
	case "vus_max":
		b.Connections = count(f[0])
	case "vus":
		for _, m := range k6Trend.FindAllStringSubmatch(rest, -1) {
			if m[1] == "max" {
				b.Connections = count(m[3])
			}
		}
	case "dropped_iterations":
		b.Model = openModel // only schedules of arrivals can drop any
	case "data_received":
		if len(f) >= 4 {
			b.Bytes, b.TransferRate = decimal(f[0]+f[1]), decimal(f[2]+f[3])
		}
	}
}

// k6Latency reads "avg=… min=… med=… max=… p(90)=… p(95)=…".
func k6Latency(rest string) Latency {
	var l Latency
	for _, m := range k6Trend.FindAllStringSubmatch(rest, -1) {
		switch v := duration(m[3]); m[1] {
		case "avg":
			l.Mean = v
		case "min":
			l.Min = v
		case "max":
			l.Max = v
		case "med":
			l.add(0.5, v)
		default:
			l.add(number(m[2]).V/100, v)
		}
	}
	return l
}
