package audit

import (
	"regexp"
	"strings"
)

var (
	abBanner = regexp.MustCompile(`^(This is ApacheBench|Benchmarking \S+ \(be patient\)|Server Software:|Server Hostname:|Document Path:|Concurrency Level:)`)
	abRow    = regexp.MustCompile(`^(\d{1,3})% +(\d+)(?: +\(longest request\))?$`)
)

func abBegins(line string) bool {
	return line != "" && strings.IndexByte("TBSDC", line[0]) >= 0 && abBanner.MatchString(line)
}

// readAB reads ApacheBench's report. Failed requests do not hold answers other
// than 2xx, which have a line of their own when there are any (httpd,
// support/ab.c); both are needed to know the failures.
func readAB(first string, c *cursor, b *Block) bool {
	b.Model, b.BytesAre, b.KeepAlive = closedModel, wireBytes, "off"
	host, path := "", ""
	seen := map[string]bool{}
	read := func(line string) (done, again bool) {
		label, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if ok && seen[label] && abBegins(line) {
			return true, true // the next report
		}
		seen[label] = seen[label] || ok
		switch label {
		case "Server Hostname":
			host = value
		case "Server Port":
			if value != "80" {
				host += ":" + value
			}
		case "Document Path":
			path = value
		}
		b.abLine(label, value, line)
		return strings.HasSuffix(line, "(longest request)"), false
	}
	read(first)
	c.abFollow(read)
	if host != "" {
		b.URL = "http://" + host + path
	}
	if !seen["Failed requests"] {
		b.Errors = nil // cut out of the paste: unknown
	}
	return b.Rate.Known || b.Requests.Known
}

// abFollow reads on over the lines that may also begin a report, up to one that
// does.
func (c *cursor) abFollow(read func(string) (done, again bool)) {
	for range outputLines {
		mark := *c
		line, ok := c.next()
		if !ok {
			return
		}
		t := bare(line)
		if strings.HasPrefix(t, "This is ApacheBench") || begins(t) && !abBegins(t) {
			*c = mark
			return
		}
		if done, again := read(t); again {
			*c = mark
			return
		} else if done {
			return
		}
	}
}

// abLine reads one line of the report.
func (b *Block) abLine(label, value, line string) {
	value, _, _ = strings.Cut(value, " ")
	switch label {
	case "Concurrency Level":
		b.Connections = count(value)
	case "Number of workers":
		b.Threads = count(value)
	case "Time taken for tests":
		b.DurationPrinted = number(value).times(1e6)
	case "Complete requests":
		b.Requests = count(value)
	case "Failed requests":
		b.fail("failed", count(value))
	case "Write errors":
		b.fail("write", count(value))
	case "Non-2xx responses":
		b.fail("status", count(value))
	case "Keep-Alive requests":
		b.KeepAlive = "on"
	case "Total transferred":
		b.Bytes = count(value)
	case "Requests per second":
		b.Rate = number(value)
	case "Transfer rate":
		b.TransferRate = number(value).times(1024)
	case "Total":
		b.abTotal(strings.Fields(strings.TrimPrefix(line, "Total:")))
	default:
		if m := abRow.FindStringSubmatch(line); m != nil {
			b.Latency.add(number(m[1]).V/100, number(m[2]).times(1e3))
		}
	}
}

// abTotal reads the row of whole requests: min, mean, deviation, median, max,
// in whole milliseconds but for the deviation. With -S there are three columns.
func (b *Block) abTotal(f []string) {
	ms := func(i int) Value { return number(f[i]).times(1e3) }
	switch len(f) {
	case 5:
		b.Latency.Min, b.Latency.Mean, b.Latency.Stdev, b.Latency.Max = ms(0), ms(1), ms(2), ms(4)
	case 3:
		b.Latency.Min, b.Latency.Mean, b.Latency.Max = ms(0), ms(1), ms(2)
	}
}
