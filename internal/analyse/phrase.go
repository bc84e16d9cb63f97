package analyse

import (
	"fmt"
	"math"
	"time"

	"prony/internal/result"
	"prony/internal/unit"
)

// figures are numbers by name, as evidence and thresholds are kept.
type figures = map[string]float64

// graded returns the severity of a value with two limits, where more is worse;
// ok is false below both.
func graded(value, suspect, invalid float64) (s result.Severity, ok bool) {
	switch {
	case value >= invalid:
		return result.InvalidLevel, true
	case value >= suspect:
		return result.SuspectLevel, true
	}
	return result.Info, false
}

// exceeds is [graded] for limits that are themselves allowed.
func exceeds(value, suspect, invalid float64) (s result.Severity, ok bool) {
	switch {
	case value > invalid:
		return result.InvalidLevel, true
	case value > suspect:
		return result.SuspectLevel, true
	}
	return result.Info, false
}

// milder is one step less than s: for figures that the target itself may have
// caused, because it shares the machine.
func milder(s result.Severity) result.Severity {
	switch s {
	case result.InvalidLevel:
		return result.SuspectLevel
	case result.SuspectLevel:
		return result.Note
	}
	return s
}

// us turns a duration into microseconds, the unit of evidence.
func us(d time.Duration) float64 { return float64(d) / 1e3 }

// micros prints microseconds for people.
func micros(v float64) string { return unit.FormatDuration(time.Duration(math.Round(v * 1e3))) }

// nanos prints nanoseconds for people.
func nanos(v float64) string { return unit.FormatDuration(time.Duration(math.Round(v))) }

func count(n int64) string { return unit.FormatCount(n) }

func percent(v float64) string { return unit.FormatPercent(v) }

// rate prints events per second: exact to the unit where that can be read.
func rate(v float64) string {
	if v >= 1000 && v < 1e9 {
		return unit.FormatCount(int64(math.Round(v))) + "/s"
	}
	return unit.FormatRate(v)
}

// many prints a count with its noun.
func many(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// was is the verb after [many].
func was(n int64) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// cores prints a number of cores.
func cores(v float64) string {
	if v == 1 {
		return "1 core"
	}
	return fmt.Sprintf("%.3g cores", v)
}

// ratio is a/b, and 0 if there is no b: evidence must be a number.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// signed prints a relative change with its sign.
func signed(change float64) string { return fmt.Sprintf("%+.3g%%", 100*change) }
