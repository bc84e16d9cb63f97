package audit

import (
	"regexp"
	"strings"
)

var (
	bombardierFirst = regexp.MustCompile(`^(?:Bombarding (\S+) (?:with (\d+) request\(s\)|for (\S+)) using (\d+) connection\(s\)|Statistics +Avg +Stdev +Max)$`)
	bombardierCodes = regexp.MustCompile(`([1-5]xx|others) - (\d+)`)
)

func bombardierBegins(line string) bool {
	return (strings.HasPrefix(line, "Bomb") || strings.HasPrefix(line, "Stat")) && bombardierFirst.MatchString(line)
}

// readBombardier reads bombardier's text. Its requests per second are the mean
// of samples; sizes are powers of 1024 and hold both directions.
func readBombardier(first string, c *cursor, b *Block) bool {
	b.Model, b.KeepAlive, b.BytesAre = closedModel, "on", bothBytes
	if m := bombardierFirst.FindStringSubmatch(first); m[1] != "" {
		b.URL, b.Asked, b.DurationStated, b.Connections = m[1], count(m[2]), duration(m[3]), count(m[4])
	}
	table := strings.HasPrefix(first, "Statistics")
	for range outputLines {
		mark := *c
		line, ok := c.next()
		if !ok {
			break
		}
		t := bare(line)
		head := strings.HasPrefix(t, "Statistics")
		if begins(t) && (table || !head) {
			*c = mark
			break
		}
		table = table || head
		b.bombardierLine(t)
		if strings.HasPrefix(t, "Throughput:") {
			break
		}
	}
	b.bombardierCount()
	return b.Rate.Known && b.Latency.Mean.Known
}

func (b *Block) bombardierLine(line string) {
	label, rest, _ := strings.Cut(line, " ")
	f := strings.Fields(rest)
	switch {
	case label == "Reqs/sec" && len(f) == 3:
		b.Rate = number(f[0])
	case label == "Latency" && len(f) == 3:
		b.Latency.Mean, b.Latency.Stdev, b.Latency.Max = duration(f[0]), duration(f[1]), duration(f[2])
	case label == "Throughput:":
		b.TransferRate = binary(rest)
	default:
		if m := wrkRow.FindStringSubmatch(line); m != nil {
			b.Latency.add(number(m[1]).V/100, duration(m[2]))
		}
		for _, m := range bombardierCodes.FindAllStringSubmatch(line, -1) {
			b.status(m[1], count(m[2]))
			b.fail("error", Exactly(0))
		}
	}
}

func (b *Block) bombardierCount() {
	n := 0.0
	for code, k := range b.Statuses {
		n += float64(k)
		switch code {
		case "4xx", "5xx":
			b.fail("status", Exactly(float64(k)))
		case "others":
			b.fail("error", Exactly(float64(k)))
		}
	}
	if n > 0 {
		b.Requests = Exactly(n)
	}
}
