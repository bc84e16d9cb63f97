package unit

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// digits is how many significant digits are printed. More would suggest a
// precision that one run does not have.
const digits = 3

// scale is one step of a ladder of units, in ascending order.
type scale struct {
	factor float64
	suffix string
}

// FormatDuration prints a duration for people: "812ns", "12.3µs", "4.57ms",
// "1.23s", from one minute on whole seconds "1m30s", from one hour on whole
// minutes "2h5m"; zero is "0s".
func FormatDuration(d time.Duration) string {
	if d < 0 {
		return "-" + FormatDuration(-max(d, -math.MaxInt64))
	}
	if d == 0 {
		return "0s"
	}
	if d.Seconds() < 59.95 { // above, three digits round to a minute
		ns := [...]scale{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}
		return climb(float64(d), ns[:])
	}
	if d = d.Round(time.Second); d < time.Hour {
		return joinUnits(int64(d/time.Minute), "m", int64(d%time.Minute/time.Second), "s")
	}
	d = d.Round(time.Minute)
	return joinUnits(int64(d/time.Hour), "h", int64(d%time.Hour/time.Minute), "m")
}

// joinUnits prints two adjacent units and leaves a zero one out.
func joinUnits(major int64, majorUnit string, minor int64, minorUnit string) string {
	text := strconv.FormatInt(major, 10) + majorUnit
	if minor == 0 {
		return text
	}
	return text + strconv.FormatInt(minor, 10) + minorUnit
}

// FormatRate prints events per second: "62.9k/s", "812/s", "0.52/s".
func FormatRate(perSecond float64) string { return FormatSI(perSecond) + "/s" }

// FormatSI prints a number with a decimal multiple: "62.9k", "1.23M", "812",
// "0.52". Numbers that no multiple fits are printed with an exponent.
func FormatSI(v float64) string {
	size := math.Abs(v)
	if v == 0 {
		return "0"
	}
	if math.IsNaN(v) || size < 0.001 || size >= 999.5e12 {
		return strconv.FormatFloat(v, 'g', digits, 64)
	}
	sign := ""
	if v < 0 {
		sign = "-"
	}
	si := [...]scale{{1, ""}, {1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}}
	return sign + climb(size, si[:])
}

// climb prints v in the largest unit that leaves at least 1 before the point,
// judged after rounding: 999.9 is "1k", not "1000".
func climb(v float64, ladder []scale) string {
	step := ladder[0]
	for _, next := range ladder[1:] {
		if v < 0.9995*next.factor {
			break
		}
		step = next
	}
	return significant(v/step.factor, digits) + step.suffix
}

// significant prints v with n significant digits, without an exponent and
// without trailing zeros.
func significant(v float64, n int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', n-1, 64), 64)
	if err != nil { // above the largest float64; keep what there is
		rounded = v
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// FormatCount prints a whole number with thousands separators: "3,776,123".
func FormatCount(n int64) string {
	text := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	head := (len(text)-1)%3 + 1
	var b strings.Builder
	b.WriteString(sign + text[:head])
	for rest := text[head:]; rest != ""; rest = rest[3:] {
		b.WriteString("," + rest[:3])
	}
	return b.String()
}

// FormatSize prints bytes in binary multiples with one decimal: "741.9 MiB",
// "12.3 KiB", "6 B".
func FormatSize(bytes float64) string {
	if bytes < 0 {
		return "-" + FormatSize(-bytes)
	}
	step := scale{1, "B"}
	for i, suffix := range [...]string{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"} {
		factor := float64(int64(1) << (10 * (i + 1)))
		if bytes < factor-0.05*factor/1024 { // else it would print as 1024.0 of the smaller
			break
		}
		step = scale{factor, suffix}
	}
	text := strconv.FormatFloat(bytes/step.factor, 'f', 1, 64)
	return strings.TrimSuffix(text, ".0") + " " + step.suffix
}

// FormatPercent prints a ratio as a percentage: 0.00012 is "0.012%". A ratio
// above zero never prints as 0 % and one below 1 never as 100 %: an error rate
// or an availability that looks perfect should be so.
func FormatPercent(ratio float64) string {
	switch percent := ratio * 100; {
	case ratio < 0:
		return "-" + FormatPercent(-ratio)
	case percent > 0 && percent < 1e-6:
		return "<0.000001%"
	case ratio < 1 && percent > 99.999999:
		return ">99.999999%"
	case ratio < 1 && percent >= 99.95:
		return significant(percent, nines(1-ratio)) + "%"
	default:
		return significant(percent, digits) + "%"
	}
}

// nines returns how many digits a percentage needs for the gap to 100 % to
// show two.
func nines(gap float64) int {
	return int(math.Ceil(-math.Log10(gap))) + 1
}
