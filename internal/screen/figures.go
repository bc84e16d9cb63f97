package screen

import (
	"math"
	"strconv"
	"strings"
	"time"

	"prony/internal/unit"
)

// none stands for what is not known.
const none = "-"

// Numbers here keep trailing zeros, unlike those of package unit: a column of
// them must not jump from 4.5 to 4.51 and back.

// three prints v of 0 to 999 with three digits.
func three(v float64) string {
	switch {
	case v < 9.995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case v < 99.95:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

// ladder prints v with the largest of its suffixes that leaves 1 and more.
func ladder(v, step float64, suffixes ...string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return none
	}
	i := 0
	for v >= 999.5 && i+1 < len(suffixes) {
		v /= step
		i++
	}
	return three(v) + suffixes[i]
}

// si prints a rate in at most 5 columns: "62.9k", "812", "0".
func si(v float64) string {
	if v == 0 {
		return "0"
	}
	return ladder(v, 1000, "", "k", "M", "G", "T", "P", "E")
}

// whole prints a count in at most 6 columns.
func whole(n int64) string {
	if n > 99_999 {
		return si(float64(n))
	}
	return strconv.FormatInt(n, 10)
}

// rounded is whole of a sample.
func rounded(v float64) string {
	if math.IsNaN(v) {
		return none
	}
	return whole(int64(math.Round(v)))
}

// size prints bytes in binary multiples in at most 6 columns: "412Mi".
func size(v float64) string { return ladder(v, 1024, "", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei") }

// share prints a ratio in at most 5 columns. What is above zero never looks like
// it.
func share(v float64) string {
	switch {
	case math.IsNaN(v) || v < 0:
		return none
	case v == 0:
		return "0%"
	case v < 0.0005:
		return "<0.1%"
	case v < 0.9995:
		return strconv.FormatFloat(100*v, 'f', 1, 64) + "%"
	}
	return strconv.FormatFloat(100*v, 'f', 0, 64) + "%"
}

// span prints microseconds in at most 6 columns: "4.57ms". Zero is that nothing
// was measured.
func (t *theme) span(us float64) string {
	if !(us > 0) || us > 1e15 {
		return none
	}
	switch {
	case us < 0.9995:
		return three(us*1e3) + "ns"
	case us < 59.95e6:
		return strings.Replace(ladder(us, 1000, "µ", "m", "")+"s", "µ", t.micro, 1)
	}
	return unit.FormatDuration(time.Duration(us * 1e3))
}

// watch prints a time as on a stop watch: "1:02:03", "02:03".
func watch(d time.Duration) string {
	seconds := int64(max(d, 0) / time.Second)
	two := func(n int64) string { return string([]byte{byte('0' + n/10), byte('0' + n%10)}) }
	text := two(seconds/60%60) + ":" + two(seconds%60)
	if hours := seconds / 3600; hours > 0 {
		text = strconv.FormatInt(hours, 10) + ":" + text
	}
	return text
}
