package unit

import (
	"math/big"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads "10s", "1m30s", "500ms", "1.5s", "2h", "250us". A bare
// number means seconds: "30", "0.5". It refuses negative, empty and
// overflowing durations with an error that shows an example.
func ParseDuration(s string) (time.Duration, error) {
	text := strings.TrimSpace(s)
	_, suffix, reason := cut(text)
	if reason != "" {
		return 0, refuse("duration", s, reason, durationHint)
	}
	if suffix == "" {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, refuse("duration", s, "not understood or too long", durationHint)
	}
	return d, nil
}

// ParseRate reads events per second, minute or hour and returns events per
// second: "5000", "5000/s", "2k/s", "1.2M/s", "300/m", "10/h".
func ParseRate(s string) (float64, error) {
	count, per, hasPer := strings.Cut(s, "/")
	number, suffix, reason := cut(count)
	if reason != "" {
		return 0, refuse("rate", s, reason, rateHint)
	}
	if suffix == "m" {
		return 0, refuse("rate", s, "m is ambiguous", "write 5M/s for five million a second, 5/m for five a minute")
	}
	factor, ok := siFactor(suffix)
	if !ok {
		return 0, refuse("rate", s, "unknown multiple "+strconv.Quote(suffix), rateHint)
	}
	seconds, ok := seconds(strings.TrimSpace(per), hasPer)
	if !ok {
		return 0, refuse("rate", s, "unknown time unit", rateHint)
	}
	rate := scaled(number, factor)
	value, _ := rate.Quo(rate, new(big.Rat).SetInt64(seconds)).Float64()
	return value, nil
}

// seconds returns the length of the time unit of a rate; second if none is
// written.
func seconds(per string, written bool) (int64, bool) {
	if !written {
		return 1, true
	}
	switch per {
	case "s", "sec":
		return 1, true
	case "m", "min":
		return 60, true
	case "h":
		return 3600, true
	}
	return 0, false
}

// ParseCount reads a whole number: "500000", "10k", "1.5M", "2G", multiples of
// 1000 in either case, also the form that [FormatCount] writes. "1.5" is
// refused, "1.5k" is not.
func ParseCount(s string) (int64, error) {
	text, ok := ungroup(s)
	if !ok {
		return 0, refuse("count", s, "commas must separate groups of three digits", countHint)
	}
	number, suffix, reason := cut(text)
	if reason != "" {
		return 0, refuse("count", s, reason, countHint)
	}
	factor, ok := siFactor(suffix)
	if !ok {
		return 0, refuse("count", s, "unknown multiple "+strconv.Quote(suffix), countHint)
	}
	value := scaled(number, factor)
	switch {
	case !value.IsInt():
		return 0, refuse("count", s, "not a whole number", countHint)
	case !value.Num().IsInt64():
		return 0, refuse("count", s, "too large", countHint)
	}
	return value.Num().Int64(), nil
}

// ungroup removes thousands separators, if they stand where they should.
func ungroup(s string) (string, bool) {
	groups := strings.Split(strings.TrimSpace(s), ",")
	for i, g := range groups {
		first, single := i == 0, len(groups) == 1
		if !single && (len(g) == 0 || len(g) > 3 || !first && len(g) < 3) {
			return "", false
		}
	}
	return strings.Join(groups, ""), true
}

// ParseSize reads bytes: "512", "64k", "10MB", "400Mi", "1.5GiB". k, M, G and
// T are powers of 1000, Ki, Mi, Gi and Ti of 1024, each with or without B, in
// either case. A multiple that is not whole is rounded to the nearest byte.
func ParseSize(s string) (int64, error) {
	number, suffix, reason := cut(s)
	if reason != "" {
		return 0, refuse("size", s, reason, sizeHint)
	}
	factor, ok := sizeFactor(suffix)
	if !ok {
		return 0, refuse("size", s, "unknown unit "+strconv.Quote(suffix), sizeHint)
	}
	value := scaled(number, factor)
	if factor == 1 && !value.IsInt() {
		return 0, refuse("size", s, "a part of a byte", sizeHint)
	}
	bytes, ok := round(value)
	if !ok {
		return 0, refuse("size", s, "too large", sizeHint)
	}
	return bytes, nil
}

// sizeFactor returns the bytes of a size unit.
func sizeFactor(suffix string) (int64, bool) {
	unit := strings.TrimSuffix(strings.ToLower(suffix), "b")
	switch unit {
	case "ki":
		return 1 << 10, true
	case "mi":
		return 1 << 20, true
	case "gi":
		return 1 << 30, true
	case "ti":
		return 1 << 40, true
	}
	return siFactor(unit)
}

// round returns the nearest integer to r >= 0, halves upward, if it fits.
func round(r *big.Rat) (int64, bool) {
	doubled := new(big.Int).Lsh(r.Num(), 1)
	doubled.Add(doubled, r.Denom())
	doubled.Quo(doubled, new(big.Int).Lsh(r.Denom(), 1))
	return doubled.Int64(), doubled.IsInt64()
}

// ParsePercent reads a percentage and returns the ratio: "0.1%" is 0.001. The
// sign may stand apart, "5 %". A bare number is refused, since 0.1 could mean
// either.
func ParsePercent(s string) (float64, error) {
	number, suffix, reason := cut(s)
	switch {
	case reason != "":
		return 0, refuse("percentage", s, reason, percentHint)
	case suffix == "":
		return 0, refuse("percentage", s, "the % sign is missing", percentHint)
	case suffix != "%":
		return 0, refuse("percentage", s, "unknown unit "+strconv.Quote(suffix), percentHint)
	}
	ratio, _ := new(big.Rat).Quo(exact(number), big.NewRat(100, 1)).Float64()
	return ratio, nil
}

// ParseCPUs reads a share of processors: "4", "0.2", or "200m" in thousandths.
// Zero is refused: nothing could run.
func ParseCPUs(s string) (float64, error) {
	number, suffix, reason := cut(s)
	if reason != "" {
		return 0, refuse("processors", s, reason, cpusHint)
	}
	value := exact(number)
	switch suffix {
	case "":
	case "m":
		value.Quo(value, big.NewRat(1000, 1))
	default:
		return 0, refuse("processors", s, "unknown unit "+strconv.Quote(suffix), cpusHint)
	}
	cpus, _ := value.Float64()
	if cpus == 0 {
		return 0, refuse("processors", s, "none", cpusHint)
	}
	return cpus, nil
}
