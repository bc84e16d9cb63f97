package wrk

import (
	"fmt"
	"math"
	"math/big"
	"strings"
)

// precision is that of C's long double on x86-64, in which wrk calculates. Two
// decimals of a quotient can depend on it: 999,995/1000 is printed as 1000.00
// from a float64 and as 999.99 from a long double.
const precision = 64

// scale is how a kind of quantity is printed: from step to step the value is
// divided by size, as long as it is at least 0.85 of it.
type scale struct {
	size  int64
	base  string
	steps []string
}

func microseconds() scale { return scale{1000, "us", []string{"ms"}} }
func seconds() scale      { return scale{60, "s", []string{"m"}} }
func counts() scale       { return scale{1000, "", []string{"k", "M", "G", "T"}} }
func bytes() scale        { return scale{1024, "", []string{"K", "M", "G", "T"}} }

// format prints n with decimals digits.
func (s scale) format(n *big.Float, decimals int) string {
	unit, size := s.base, long(float64(s.size))
	limit := long(float64(s.size) * 0.85)
	for _, step := range s.steps {
		if n.Cmp(limit) < 0 {
			break
		}
		n, unit = long(0).Quo(n, size), step
	}
	return n.Text('f', decimals) + unit
}

// long makes a number of wrk's precision; what is no number counts as 0.
func long(v float64) *big.Float {
	f := new(big.Float).SetPrec(precision)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return f
	}
	return f.SetFloat64(v)
}

// quotient is a/b, 0 if b is 0.
func quotient(a, b float64) *big.Float {
	if b == 0 {
		return long(0)
	}
	return long(0).Quo(long(a), long(b))
}

// formatTime prints a time given in microseconds: "850.00us" is "0.85ms", from
// a second on it is seconds, from 51 s on minutes. There are no hours.
func formatTime(us float64) string {
	if us >= 1e6 {
		return seconds().format(quotient(us, 1e6), 2)
	}
	return microseconds().format(long(us), 2)
}

// formatSeconds prints a time that was typed, in whole units: 90 s are "2m".
func formatSeconds(s float64) string { return seconds().format(long(s), 0) }

// formatCount prints a count or a rate: 850 is "0.85k".
func formatCount(n float64) string { return counts().format(long(n), 2) }

// formatBytes prints a size without the B: 871 is "0.85K".
func formatBytes(n *big.Float) string { return bytes().format(n, 2) }

// column aligns a value on its number: units of two letters fill the column,
// shorter ones leave blanks behind them, and what is too long is cut.
func column(text string, width int) string {
	pad := 2
	for i := max(0, len(text)-2); i < len(text); i++ {
		if isLetter(text[i]) {
			pad--
		}
	}
	width -= pad
	return fmt.Sprintf("%*.*s", width, width, text) + strings.Repeat(" ", pad)
}
