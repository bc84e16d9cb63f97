package audit

import (
	"regexp"
	"strings"
)

var (
	h2loadFirst    = regexp.MustCompile(`^(starting benchmark\.\.\.|finished in \S+, \S+ req/s, \S+/s)`)
	h2loadFinished = regexp.MustCompile(`^finished in (\S+), (\S+) req/s, (\S+)/s`)
	h2loadSpawn    = regexp.MustCompile(`^spawning thread #\d+: (\d+) total client`)
	h2loadMain     = regexp.MustCompile(`and (\S+) of main duration`)
	h2loadTraffic  = regexp.MustCompile(`^traffic: \S+ \((\d+)\) total`)
	h2loadStatus   = regexp.MustCompile(`(\d+) ([2-5]xx)`)
)

func h2loadBegins(line string) bool {
	return (strings.HasPrefix(line, "st") || strings.HasPrefix(line, "fin")) && h2loadFirst.MatchString(line)
}

// readH2load reads the report of h2load 1.x. Its sizes are powers of 1024, the
// exact bytes stand in brackets.
func readH2load(first string, c *cursor, b *Block) bool {
	b.BytesAre, b.KeepAlive, b.Model = wireBytes, "on", closedModel
	clients, threads := 0.0, 0.0
	read := func(line string) bool {
		if m := h2loadSpawn.FindStringSubmatch(line); m != nil {
			clients += count(m[1]).V
			threads++
		}
		b.h2loadLine(line)
		return strings.HasPrefix(line, "req/s ")
	}
	read(first)
	finished := h2loadFinished.MatchString(first)
	for range outputLines {
		mark := *c
		line, ok := c.next()
		if !ok {
			break
		}
		t := bare(line)
		ends := h2loadFinished.MatchString(t)
		if begins(t) && (!ends || finished) {
			*c = mark
			break
		}
		finished = finished || ends
		if read(t) {
			break
		}
	}
	if threads > 0 {
		b.Connections, b.Threads = Exactly(clients), Exactly(threads)
	}
	return finished
}

// h2loadLine reads one line of the report.
func (b *Block) h2loadLine(line string) {
	switch label, rest, _ := strings.Cut(line, ":"); label {
	case "requests":
		b.h2loadRequests(rest)
	case "status codes":
		b.h2loadStatuses(rest)
	case "time for request":
		if f := strings.Fields(rest); len(f) == 5 {
			b.Latency.Min, b.Latency.Max, b.Latency.Mean, b.Latency.Stdev = duration(f[0]), duration(f[1]), duration(f[2]), duration(f[3])
		} else {
			b.h2loadPercentiles(f)
		}
	case "traffic":
		if m := h2loadTraffic.FindStringSubmatch(line); m != nil {
			b.Bytes = count(m[1])
		}
	}
	if m := h2loadMain.FindStringSubmatch(line); m != nil {
		b.DurationStated = duration(strings.TrimSuffix(m[1], "."))
	}
	if m := h2loadFinished.FindStringSubmatch(line); m != nil {
		b.DurationPrinted, b.Rate, b.TransferRate = duration(m[1]), number(m[2]), binary(m[3])
	}
}

// h2loadPercentiles reads the row of newer versions, in which min, max, median,
// 95th and 99th stand before mean, deviation and the share within it.
func (b *Block) h2loadPercentiles(f []string) {
	if len(f) != 8 {
		return
	}
	b.Latency.Min, b.Latency.Max = duration(f[0]), duration(f[1])
	for i, p := range []float64{0.5, 0.95, 0.99} {
		b.Latency.add(p, duration(f[2+i]))
	}
	b.Latency.Mean, b.Latency.Stdev = duration(f[5]), duration(f[6])
}

// h2loadRequests reads "N total, N started, N done, N succeeded, …".
func (b *Block) h2loadRequests(rest string) {
	for part := range strings.SplitSeq(rest, ",") {
		n, what, _ := strings.Cut(strings.TrimSpace(part), " ")
		switch v := count(n); what {
		case "done":
			b.Requests = v
		case "total":
			b.Asked = v
		case "failed": // holds the errored ones and the timeouts
			b.fail("failed", v)
		}
	}
}

// h2loadStatuses reads the classes of answers.
func (b *Block) h2loadStatuses(rest string) {
	for _, m := range h2loadStatus.FindAllStringSubmatch(rest, -1) {
		b.status(m[2], count(m[1]))
		if b.Errors != nil && (m[2] == "4xx" || m[2] == "5xx") && b.Errors["failed"] < int64(count(m[1]).V) {
			b.fail("status", count(m[1]))
		}
	}
}

// status keeps the number of answers of a class or a code.
func (b *Block) status(code string, n Value) {
	if !n.positive() {
		return
	}
	if b.Statuses == nil {
		b.Statuses = map[string]int64{}
	}
	b.Statuses[code] += int64(n.V)
}
