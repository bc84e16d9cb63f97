package ab

import (
	"fmt"
	"math"
	"strings"
)

// kb is the unit of ab's transfer rates.
const kb = 1024

// text is ab's report, from the two blank lines on. It keeps ab's labels,
// columns and order to the byte.
func (f figures) text(b *strings.Builder, o Options) {
	b.WriteString("\n\n")
	f.textServer(b)
	f.textCounts(b)
	f.textRates(b)
	if f.complete == 0 || f.times.n == 0 {
		return
	}
	b.WriteString("\nConnection Times (ms)\n")
	if o.Short {
		f.times.short(b)
	} else {
		f.times.long(b)
		if o.Quirks {
			f.times.doubts(b)
		}
	}
	if !o.NoPercentiles && f.times.n > 1 {
		f.textPercentiles(b)
	}
}

// line prints a label in 24 columns and a value.
func line(b *strings.Builder, label, format string, args ...any) {
	fmt.Fprintf(b, "%-24s"+format+"\n", append([]any{label + ":"}, args...)...)
}

// textServer is the block about the server and the document.
func (f figures) textServer(b *strings.Builder) {
	line(b, "Server Software", "%s", f.server)
	line(b, "Server Hostname", "%s", f.host)
	line(b, "Server Port", "%d", f.port)
	if f.tlsProtocol != "" {
		line(b, "SSL/TLS Protocol", "%s", f.tlsProtocol)
	}
	if f.tempKey != "" {
		line(b, "Server Temp Key", "%s", f.tempKey)
	}
	if f.serverName != "" {
		line(b, "TLS Server Name", "%s", f.serverName)
	}
	b.WriteString("\n")
	line(b, "Document Path", "%s", f.path)
	line(b, "Document Length", "%s", f.lengthText())
	b.WriteString("\n")
}

// lengthText is the document's length in words.
func (f figures) lengthText() string {
	if f.variable {
		return "Variable"
	}
	return fmt.Sprintf("%d bytes", f.docLength)
}

// textCounts is the block of counts.
func (f figures) textCounts(b *strings.Builder) {
	line(b, "Concurrency Level", "%d", f.concurrency)
	line(b, "Time taken for tests", "%.3f seconds", f.seconds)
	line(b, "Complete requests", "%d", f.complete)
	line(b, "Failed requests", "%d", f.failed)
	if f.failed > 0 {
		fmt.Fprintf(b, "   (Connect: %d, Receive: %d, Length: %d, Exceptions: %d)\n",
			f.connect, f.receive, f.length, f.exceptions)
	}
	if f.writes > 0 {
		line(b, "Write errors", "%d", f.writes)
	}
	if f.non2xx > 0 {
		line(b, "Non-2xx responses", "%d", f.non2xx)
	}
	if f.keepAlive {
		line(b, "Keep-Alive requests", "%d", f.keptAlive)
	}
	line(b, "Total transferred", "%d bytes", f.bytesIn)
	if f.sendBody {
		line(b, "Total body sent", "%d", f.bytesOut)
	}
	line(b, "HTML transferred", "%d bytes", f.bodyBytes)
}

// textRates is left out when it would divide by zero.
func (f figures) textRates(b *strings.Builder) {
	if f.seconds <= 0 || f.complete == 0 {
		return
	}
	ms := f.seconds * 1000 / float64(f.complete)
	line(b, "Requests per second", "%.2f [#/sec] (mean)", f.perSecond(float64(f.complete)))
	line(b, "Time per request", "%.3f [ms] (mean)", float64(f.concurrency)*f.seconds*1000/float64(f.complete))
	line(b, "Time per request", "%.3f [ms] (mean, across all concurrent requests)", ms)
	line(b, "Transfer rate", "%.2f [Kbytes/sec] received", f.perSecond(float64(f.bytesIn)/kb))
	if f.sendBody {
		fmt.Fprintf(b, "%24s%.2f kb/s sent\n", "", f.perSecond(float64(f.bytesOut)/kb))
		fmt.Fprintf(b, "%24s%.2f kb/s total\n", "", f.perSecond(float64(f.bytesIn+f.bytesOut)/kb))
	}
}

// named is a row with its label and the words of ab's doubts about it.
type named struct {
	row
	label, words string
}

// rows are the four lines of the table.
func (t times) rows() []named {
	return []named{
		{t.connect, "Connect:", "the initial connection time"},
		{t.processing, "Processing:", "the processing time"},
		{t.waiting, "Waiting:", "the waiting time"},
		{t.total, "Total:", "the total time"},
	}
}

// long is the table with deviation and median.
func (t times) long(b *strings.Builder) {
	b.WriteString("              min  mean[+/-sd] median   max\n")
	for _, r := range t.rows() {
		fmt.Fprintf(b, "%-12s%5d %4d %5.1f %6d %7d\n", r.label, r.min, r.mean, r.sd, r.median, r.max)
	}
}

// short is the table of -S.
func (t times) short(b *strings.Builder) {
	b.WriteString("              min   avg   max\n")
	for _, r := range t.rows() {
		fmt.Fprintf(b, "%-12s%5d %5d%5d\n", r.label, r.min, r.mean, r.max)
	}
}

// doubts are ab's lines about a mean far from the median. The mean of any
// sample is within one deviation of its median (Hotelling and Solomons, 1932),
// so they speak of nothing but ab's rounding of both to milliseconds; they are
// printed only among the quirks.
func (t times) doubts(b *strings.Builder) {
	for _, r := range t.rows() {
		apart := math.Abs(float64(r.mean - r.median))
		switch {
		case apart > 2*r.sd:
			b.WriteString("ERROR: The median and mean for " + r.words + " are more than twice the standard\n" +
				"       deviation apart. These results are NOT reliable.\n")
		case apart > r.sd:
			b.WriteString("WARNING: The median and mean for " + r.words + " are not within a normal deviation\n" +
				"        These results are probably not that reliable.\n")
		}
	}
}

// textPercentiles is the last table.
func (f figures) textPercentiles(b *strings.Builder) {
	b.WriteString("\nPercentage of the requests served within a certain time (ms)\n")
	for i, p := range percents() {
		if p == 100 {
			fmt.Fprintf(b, " 100%%  %5d (longest request)\n", f.percentiles[i])
			continue
		}
		fmt.Fprintf(b, "  %d%%  %5d\n", p, f.percentiles[i])
	}
}
