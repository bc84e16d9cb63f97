package audit

import (
	"math"
	"strconv"
	"strings"
	"time"

	"prony/internal/unit"
)

// us prints microseconds: "48.5ms".
func us(v float64) string { return unit.FormatDuration(time.Duration(math.Round(v * 1e3))) }

// fixed prints a number with n digits behind the point and commas between
// thousands, so that a reader can check the arithmetic: "168,997.62".
func fixed(v float64, n int) string {
	text := strconv.FormatFloat(v, 'f', n, 64)
	whole, rest, _ := strings.Cut(text, ".")
	k, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return text
	}
	out := unit.FormatCount(k)
	if rest != "" {
		out += "." + rest
	}
	if v < 0 && k == 0 {
		out = "-" + out
	}
	return out
}

// rate prints requests per second with up to two decimals.
func rate(v float64) string { return trimmed(v, 2) + "/s" }

// trimmed prints a number without zeros behind the point.
func trimmed(v float64, n int) string {
	text := fixed(v, n)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// three prints a number with three significant digits and no multiple.
func three(v float64) string {
	size := math.Abs(v)
	switch {
	case v == 0 || math.IsNaN(v) || math.IsInf(v, 0):
		return strconv.FormatFloat(v, 'g', 3, 64)
	case size >= 100:
		return fixed(v, 0)
	}
	n := 2 - int(math.Floor(math.Log10(size)))
	return trimmed(v, min(n, 6))
}

// digits3 prints a ratio as readers compare it: "2.00", "0.085".
func digits3(v float64) string {
	if v > 0 && v < 1 {
		return trimmed(v, min(2-int(math.Floor(math.Log10(v))), 6))
	}
	return fixed(v, 2)
}

// percent prints a share.
func percent(v float64) string { return unit.FormatPercent(v) }

// mbit prints bits per second.
func mbit(v float64) string {
	if v >= 10e9 {
		return trimmed(v/1e9, 2) + " Gbit/s"
	}
	return fixed(v/1e6, 0) + " Mbit/s"
}
