package wrk

import (
	"math"
	"strings"
	"time"
)

// The units of wrk's numbers; each is a step up from the one before.
func countUnits() []string { return []string{"k", "m", "g", "t", "p"} }
func timeUnits() []string  { return []string{"m", "h"} }

// Bounds that no sensible run comes near: a million threads or connections a
// plan could not hold as an int, and a century.
const (
	maxCount   = math.MaxInt32
	maxSeconds = 100 * 365 * 24 * 3600
)

// setCount parses a count: digits and an optional unit in steps of 1000.
func setCount(to *int, text string) error {
	n, unit, ok := scanNumber(text)
	if !ok {
		return errUsage
	}
	for range steps(unit, "", countUnits(), &ok) {
		n = min(n*1000, maxCount)
	}
	*to = int(min(n, maxCount))
	return usageUnless(ok)
}

// setTime parses a time: digits and an optional s, m or h.
func setTime(to *time.Duration, text string) error {
	n, unit, ok := scanNumber(text)
	if !ok {
		return errUsage
	}
	for range steps(unit, "s", timeUnits(), &ok) {
		n = min(n*60, maxSeconds)
	}
	*to = time.Duration(min(n, maxSeconds)) * time.Second
	return usageUnless(ok)
}

func usageUnless(ok bool) error {
	if !ok {
		return errUsage
	}
	return nil
}

// steps is how often the scale applies; ok becomes false for an unknown unit.
func steps(unit, base string, units []string, ok *bool) int {
	if unit == "" || unit == base {
		return 0
	}
	for i, u := range units {
		if unit == u {
			return i + 1
		}
	}
	*ok = false
	return 0
}

// scanNumber reads what C's scanf reads for "%lu%2s": blanks, a sign, digits,
// blanks, and up to two more characters, which are the unit. Whatever follows
// is ignored: "1 s x" is a second. The unit is returned in small letters, the
// number saturated; a negative number is a very large one, as in C.
func scanNumber(text string) (n int64, unit string, ok bool) {
	const blanks = " \t\n\v\f\r"
	text = strings.TrimLeft(text, blanks)
	negative := strings.HasPrefix(text, "-")
	if negative || strings.HasPrefix(text, "+") {
		text = text[1:]
	}
	rest := strings.TrimLeft(text, "0123456789")
	digits := text[:len(text)-len(rest)]
	for _, d := range digits {
		n = min(n*10+int64(d-'0'), math.MaxInt32)
	}
	if negative && n > 0 {
		n = math.MaxInt32
	}
	rest = strings.TrimLeft(rest, blanks)
	unit = rest[:min(2, len(rest))]
	if i := strings.IndexAny(unit, blanks); i >= 0 {
		unit = unit[:i]
	}
	return n, strings.ToLower(unit), digits != ""
}
