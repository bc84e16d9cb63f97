package ab

import (
	"math"
	"slices"

	"prony/internal/result"
)

// usPerMS and nsPerUS scale ab's clock, which counts microseconds.
const (
	usPerMS = 1000
	nsPerUS = 1000
)

// percents are the rows of the percentile table.
func percents() []int { return []int{50, 66, 75, 80, 90, 95, 98, 99, 100} }

// row is one line of the table of connection times: whole milliseconds, but
// the deviation, which keeps its fraction.
type row struct {
	min, mean int64
	sd        float64
	median    int64
	max       int64
}

// times is the table of connection times. Nothing is in it when n is 0.
type times struct {
	n                                   int64
	connect, processing, waiting, total row
	// abMedians reports whether ab would print another median somewhere.
	abMedians bool
	// sorted are the total times in microseconds, ascending.
	sorted []int64
	// sumConnect and sumTotal are in microseconds, for ab's HTML.
	sumConnect, sumTotal int64
}

// connectUS is from the start of the connection to the first write, with the
// TLS handshake; 0 on a reused connection. All four are in microseconds.
func connectUS(r *result.Record) int64 { return max(r.Connect, 0) / nsPerUS }

// totalUS is from the start of the connection to the end of the answer.
func totalUS(r *result.Record) int64 { return max(r.Total, 0) / nsPerUS }

// processingUS is the total without connecting.
func processingUS(r *result.Record) int64 { return totalUS(r) - connectUS(r) }

// waitingUS is from the end of the write to the first byte of the answer.
func waitingUS(r *result.Record) int64 { return max(r.FirstByte-r.Connect, 0) / nsPerUS }

// takeTimes makes the table from the records that kind accepts.
func takeTimes(records []result.Record, kind func(result.FailureKind) bool, quirks bool) times {
	var t times
	column := func(of func(*result.Record) int64, into *row) []int64 {
		values := make([]int64, 0, len(records))
		for i := range records {
			if kind(records[i].Kind) {
				values = append(values, of(&records[i]))
			}
		}
		slices.Sort(values)
		t.abMedians = summarise(values, quirks, into) || t.abMedians
		return values
	}
	t.sumConnect = sum(column(connectUS, &t.connect))
	column(processingUS, &t.processing)
	column(waitingUS, &t.waiting)
	t.sorted = column(totalUS, &t.total)
	t.sumTotal, t.n = sum(t.sorted), int64(len(t.sorted))
	return t
}

// sum adds up.
func sum(values []int64) int64 {
	var n int64
	for _, v := range values {
		n += v
	}
	return n
}

// summarise fills a row from sorted values in microseconds, and reports
// whether ab would print another median. As in ab the mean is cut to whole
// microseconds first, and the deviation is the sample's (n-1) around it.
func summarise(us []int64, quirks bool, into *row) (differs bool) {
	n := len(us)
	if n == 0 {
		return false
	}
	mean := sum(us) / int64(n)
	var squares float64
	for _, v := range us {
		d := float64(v) - float64(mean)
		squares += d * d
	}
	var sd float64
	if n > 1 {
		sd = math.Sqrt(squares / float64(n-1))
	}
	ours, theirs := roundMS(median(us)), roundMS(abMedian(us))
	*into = row{min: roundMS(us[0]), mean: roundMS(mean), sd: sd / usPerMS, median: ours, max: roundMS(us[n-1])}
	if quirks {
		into.median = theirs
	}
	return ours != theirs
}

// median of sorted values: the middle one, or the mean of the middle two.
func median(us []int64) int64 {
	n := len(us)
	if n%2 == 1 {
		return us[n/2]
	}
	return (us[n/2-1] + us[n/2]) / 2
}

// abMedian is ab's: element n/2 for an even number, and for an odd one the
// mean of that element and the next, so half a step too high in both cases.
func abMedian(us []int64) int64 {
	n := len(us)
	if n > 1 && n%2 == 1 {
		return (us[n/2] + us[n/2+1]) / 2
	}
	return us[n/2]
}

// roundMS rounds microseconds to whole milliseconds, half up.
func roundMS(us int64) int64 { return (us + usPerMS/2) / usPerMS }

// percentileMS is the row p of the percentile table: element trunc(n*p/100) of
// the sorted times, and the last one for 100.
func (t times) percentileMS(p int) int64 {
	last := int64(len(t.sorted)) - 1
	return roundMS(t.sorted[min(t.n*int64(p)/100, last)])
}

// csvIndex is the element behind row p of the CSV file, trunc(0.5 + n*p/100),
// before it is bounded: ab reads past the end with it.
func csvIndex(n int64, p int) int64 {
	switch p {
	case 0:
		return 0
	case 100:
		return n - 1
	}
	return int64(0.5 + float64(n)*float64(p)/100)
}

// csvOverruns reports whether ab's index leaves the data for some row.
func csvOverruns(n int64) bool {
	for p := range 100 {
		if csvIndex(n, p) >= n {
			return n > 0
		}
	}
	return false
}
