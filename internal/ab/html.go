package ab

import (
	"fmt"
	"html"
	"strings"
)

// page writes ab's HTML, whose cells all carry the attributes of -x, -y, -z.
type page struct {
	*strings.Builder
	row, cell string
}

// pair is a table row of a label and a value. Values are escaped: path and
// server software are other people's text.
func (p page) pair(label, value string) {
	fmt.Fprintf(p, "<tr %s><th colspan=2 %s>%s:</th><td colspan=2 %s>%s</td></tr>\n",
		p.row, p.cell, label, p.cell, html.EscapeString(value))
}

// under is a row that continues the one above.
func (p page) under(value string) {
	fmt.Fprintf(p, "<tr %s><td colspan=2 %s>&nbsp;</td><td colspan=2 %s>%s</td></tr>\n", p.row, p.cell, p.cell, value)
}

// html is ab's report of -w: one table, without deviations and percentiles.
func (f figures) html(b *strings.Builder, o Options) {
	p := page{Builder: b, row: o.RowAttr, cell: o.CellAttr}
	fmt.Fprintf(p, "\n\n<table %s>\n", o.TableAttr)
	p.pair("Server Software", f.server)
	p.pair("Server Hostname", f.host)
	p.pair("Server Port", fmt.Sprint(f.port))
	p.pair("Document Path", f.path)
	p.pair("Document Length", f.lengthText())
	p.pair("Concurrency Level", fmt.Sprint(f.concurrency))
	p.pair("Time taken for tests", fmt.Sprintf("%.3f seconds", f.seconds))
	f.htmlCounts(p, o)
	f.htmlRates(p)
	if f.complete > 0 && f.times.n > 0 {
		f.htmlTimes(p, o.Quirks)
	}
	p.WriteString("</table>\n")
}

// htmlCounts are the rows of counts. ab leaves Receive out of the breakdown,
// so that its parts do not add up.
func (f figures) htmlCounts(p page, o Options) {
	p.pair("Complete requests", fmt.Sprint(f.complete))
	p.pair("Failed requests", fmt.Sprint(f.failed))
	if f.failed > 0 {
		receive := fmt.Sprintf("Receive: %d, ", f.receive)
		if o.Quirks {
			receive = ""
		}
		fmt.Fprintf(p, "<tr %s><td colspan=4 %s >   (Connect: %d, %sLength: %d, Exceptions: %d)</td></tr>\n",
			p.row, p.cell, f.connect, receive, f.length, f.exceptions)
	}
	if f.non2xx > 0 {
		p.pair("Non-2xx responses", fmt.Sprint(f.non2xx))
	}
	if f.keepAlive {
		p.pair("Keep-Alive requests", fmt.Sprint(f.keptAlive))
	}
	p.pair("Total transferred", fmt.Sprintf("%d bytes", f.bytesIn))
	if f.sendBody {
		p.pair("Total body sent", fmt.Sprint(f.bytesOut))
	}
	p.pair("HTML transferred", fmt.Sprintf("%d bytes", f.bodyBytes))
}

// htmlRates are per second. (An early ab had them per millisecond, PR 48594.)
func (f figures) htmlRates(p page) {
	if f.seconds <= 0 {
		return
	}
	p.pair("Requests per second", fmt.Sprintf("%.2f", f.perSecond(float64(f.complete))))
	p.pair("Transfer rate", fmt.Sprintf("%.2f kb/s received", f.perSecond(float64(f.bytesIn)/kb)))
	if f.sendBody {
		p.under(fmt.Sprintf("%.2f kb/s sent", f.perSecond(float64(f.bytesOut)/kb)))
		p.under(fmt.Sprintf("%.2f kb/s total", f.perSecond(float64(f.bytesIn+f.bytesOut)/kb)))
	}
}

// htmlTimes is the table of connection times.
func (f figures) htmlTimes(p page, quirks bool) {
	c := p.cell
	fmt.Fprintf(p, "<tr %s><th %s colspan=4>Connection Times (ms)</th></tr>\n", p.row, c)
	fmt.Fprintf(p, "<tr %s><th %s>&nbsp;</th> <th %s>min</th>   <th %s>avg</th>   <th %s>max</th></tr>\n",
		p.row, c, c, c, c)
	connect, processing, total := f.times.connect, f.times.processing, f.times.total
	if quirks {
		connect, processing, total = f.times.abHTML()
	}
	for _, r := range []named{
		{row: connect, label: "Connect:"}, {row: processing, label: "Processing:"}, {row: total, label: "Total:"},
	} {
		fmt.Fprintf(p, "<tr %s><th %s>%s</th><td %s>%5d</td><td %s>%5d</td><td %s>%5d</td></tr>\n",
			p.row, c, r.label, c, r.min, c, r.mean, c, r.max)
	}
}

// abHTML are the rows as ab's HTML has them: averages are cut to whole
// milliseconds, and processing is the difference of the other two rows, though
// the longest request need not be the one that took longest to connect.
func (t times) abHTML() (connect, processing, total row) {
	connect, total = t.connect, t.total
	connect.mean, total.mean = roundMS(t.sumConnect)/t.n, roundMS(t.sumTotal)/t.n
	processing = row{min: total.min - connect.min, mean: total.mean - connect.mean, max: total.max - connect.max}
	return connect, processing, total
}
