package audit

import (
	"regexp"
	"strings"
)

var (
	wrkFirst    = regexp.MustCompile(`^Running (\S+) test @ (\S+)`)
	wrkThreads  = regexp.MustCompile(`^(\d+) threads? and (\d+) connections?`)
	wrkRequests = regexp.MustCompile(`^(\d+) requests in (\S+), (\S+) read`)
	wrkSockets  = regexp.MustCompile(`^Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
	wrkRow      = regexp.MustCompile(`^(\d{1,3}(?:\.\d+)?)% +(\S+)$`)
)

func wrkBegins(line string) bool {
	return strings.HasPrefix(line, "Running ") && wrkFirst.MatchString(line)
}

// readWrk reads the report of wrk and of wrk2, which is wrk's with a block of
// recorded latencies. Sizes are powers of 1024, counts of 1000 (wg/wrk,
// units.c); a line about errors is missing when there were none.
func readWrk(first string, c *cursor, b *Block) bool {
	m := wrkFirst.FindStringSubmatch(first)
	b.DurationStated, b.URL = duration(m[1]), m[2]
	b.Model, b.KeepAlive, b.BytesAre = closedModel, "on", wireBytes
	ended := false
	c.follow(func(line string) bool {
		b.wrkLine(line)
		ended = strings.HasPrefix(line, "Transfer/sec:")
		return ended
	})
	if b.Requests.Known && (ended || b.Rate.Known) && b.Errors == nil {
		b.Errors = map[string]int64{}
	}
	return b.Requests.Known || b.Rate.Known
}

// wrkLine reads one line of the report.
func (b *Block) wrkLine(line string) {
	label, rest, _ := strings.Cut(line, " ")
	switch {
	case label == "Latency" && strings.HasPrefix(strings.TrimSpace(rest), "Distribution"):
		if strings.Contains(rest, "HdrHistogram") && !strings.Contains(rest, "Uncorrected") {
			b.Tool, b.Model = "wrk2", openModel
		}
	case label == "Latency":
		if m, ok := wrkMoments(rest, duration); ok {
			b.Latency.Moments = m
		}
	case label == "Req/Sec":
		if m, ok := wrkMoments(rest, si); ok {
			b.ThreadRate = m
		}
	case label == "Requests/sec:":
		b.Rate = number(rest)
	case label == "Transfer/sec:":
		b.TransferRate = binary(rest)
	case strings.HasPrefix(line, "Thread calibration:"):
		b.Tool, b.Model = "wrk2", openModel
	default:
		b.wrkCounts(line)
	}
}

// wrkCounts reads the lines that hold several figures.
func (b *Block) wrkCounts(line string) {
	if m := wrkRow.FindStringSubmatch(line); m != nil {
		b.Latency.add(number(m[1]).V/100, duration(m[2]))
		return
	}
	if m := wrkThreads.FindStringSubmatch(line); m != nil {
		b.Threads, b.Connections = count(m[1]), count(m[2])
		return
	}
	if m := wrkRequests.FindStringSubmatch(line); m != nil {
		b.Requests, b.DurationPrinted, b.Bytes = count(m[1]), duration(m[2]), binary(m[3])
		return
	}
	if m := wrkSockets.FindStringSubmatch(line); m != nil {
		for i, kind := range []string{"connect", "read", "write", "timeout"} {
			b.fail(kind, count(m[i+1]))
		}
	}
	if rest, ok := strings.CutPrefix(line, "Non-2xx or 3xx responses:"); ok {
		b.fail("status", count(rest))
	}
}

// fail adds failures of a kind, none included: then it is known that there were
// none.
func (b *Block) fail(kind string, n Value) {
	if !n.Known {
		return
	}
	if b.Errors == nil {
		b.Errors = map[string]int64{}
	}
	if n.V > 0 {
		b.Errors[kind] += int64(n.V)
	}
}

// wrkMoments reads the four columns of a row of Thread Stats.
func wrkMoments(rest string, read func(string) Value) (Moments, bool) {
	f := strings.Fields(rest)
	if len(f) != 4 || !strings.HasSuffix(f[3], "%") {
		return Moments{}, false
	}
	m := Moments{Mean: read(f[0]), Stdev: read(f[1]), Max: read(f[2]), Within: number(strings.TrimSuffix(f[3], "%")).times(0.01)}
	if !m.Within.Known { // -nan%: there was no sample
		return Moments{}, true
	}
	return m, m.Mean.Known
}
