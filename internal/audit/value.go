package audit

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Value is a printed figure in its base unit. Unknown is not zero.
type Value struct {
	V float64
	// Half is half of the last printed digit: the figure lies in V - Half to
	// V + Half. It is 0 for whole counts.
	Half  float64
	Known bool
}

// Exactly is a figure that is known to the last digit.
func Exactly(v float64) Value { return Value{V: v, Known: true} }

// Low and High bound what the printed figure may stand for.
func (v Value) Low() float64 { return v.V - v.Half }

// High is the upper bound; see Low.
func (v Value) High() float64 { return v.V + v.Half }

// IsZero reports that the figure is unknown, so that JSON leaves it out.
func (v Value) IsZero() bool { return !v.Known }

// MarshalJSON writes the figure, or null.
func (v Value) MarshalJSON() ([]byte, error) {
	if !v.Known || math.IsNaN(v.V) || math.IsInf(v.V, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(v.V)
}

// UnmarshalJSON reads a number or null; the rounding is not kept.
func (v *Value) UnmarshalJSON(b []byte) error {
	var p *float64
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	*v = Value{}
	if p != nil {
		*v = Exactly(*p)
	}
	return nil
}

// times is the figure in another unit.
func (v Value) times(f float64) Value { return Value{V: v.V * f, Half: v.Half * f, Known: v.Known} }

// or is v, or other where v is unknown.
func (v Value) or(other Value) Value {
	if v.Known {
		return v
	}
	return other
}

// positive reports that the figure is known and can be divided by.
func (v Value) positive() bool { return v.Known && v.V > 0 }

// maxFigure bounds a printed figure: beyond it is noise, and squares of it
// would leave float64.
const maxFigure = 1e18

// leading splits text into the number in front, commas between thousands taken
// out, and the rest.
func leading(s string) (Value, string) {
	s = strings.TrimSpace(s)
	end, dot := 0, -1
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' && dot < 0 || s[end] == ',' && dot < 0 && thousands(s[end:])) {
		if s[end] == '.' {
			dot = end
		}
		end++
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(s[:end], ",", ""), 64)
	if err != nil || v > maxFigure {
		return Value{}, s
	}
	half := 0.5
	if dot >= 0 {
		half *= math.Pow10(-(end - dot - 1))
	}
	return Value{V: v, Half: half, Known: true}, s[end:]
}

// thousands reports whether a comma is followed by exactly three digits.
func thousands(s string) bool {
	digits := 0
	for digits < 4 && digits+1 < len(s) && s[digits+1] >= '0' && s[digits+1] <= '9' {
		digits++
	}
	return digits == 3
}

// number reads a figure with nothing behind it.
func number(s string) Value {
	v, rest := leading(s)
	if strings.TrimSpace(rest) != "" {
		return Value{}
	}
	return v
}

// count reads a whole number, which is exact.
func count(s string) Value {
	v := number(s)
	if v.V != math.Trunc(v.V) {
		return Value{}
	}
	v.Half = 0
	return v
}

// scaled reads a number with one of the suffixes.
func scaled(s string, suffixes map[string]float64) Value {
	v, rest := leading(s)
	f, ok := suffixes[strings.TrimSpace(rest)]
	if !ok {
		return Value{}
	}
	return v.times(f)
}

// si reads "7.91k", steps of 1000, as wrk prints counts.
func si(s string) Value {
	return scaled(s, map[string]float64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12})
}

// binary reads "741.85MB", steps of 1024: what wrk, h2load, bombardier and oha
// print as KB, MB and GB.
func binary(s string) Value {
	v, rest := leading(s)
	rest = strings.TrimSpace(rest)
	rest = strings.TrimSuffix(strings.TrimSuffix(rest, "/s"), "B")
	rest = strings.TrimSuffix(rest, "i")
	steps := map[string]float64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
	f, ok := steps[rest]
	if !ok {
		return Value{}
	}
	if f == 1 && v.V == math.Trunc(v.V) {
		v.Half = 0
	}
	return v.times(f)
}

// decimal reads "1.3 MB" in steps of 1000, as k6 prints sizes.
func decimal(s string) Value {
	return scaled(s, map[string]float64{"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9})
}

// micros are the lengths of units of time in microseconds.
func micros(unit string) (float64, bool) {
	switch unit {
	case "ns":
		return 1e-3, true
	case "us", "µs", "μs":
		return 1, true
	case "ms":
		return 1e3, true
	case "s", "sec", "secs", "second", "seconds":
		return 1e6, true
	case "m", "min":
		return 60e6, true
	case "h":
		return 3600e6, true
	}
	return 0, false
}

// duration reads a time in microseconds: "128.15ms", "1.00m", "1m2.5s",
// "0.0015 secs". The last part carries the rounding.
func duration(s string) Value {
	total := Value{}
	for rest := strings.TrimSpace(s); rest != ""; {
		v, tail := leading(rest)
		if !v.Known {
			return Value{}
		}
		tail = strings.TrimLeft(tail, " ")
		end := strings.IndexFunc(tail, func(r rune) bool { return r >= '0' && r <= '9' || r == ' ' || r == '.' })
		if end < 0 {
			end = len(tail)
		}
		f, ok := micros(tail[:end])
		if !ok {
			return Value{}
		}
		total = Value{V: total.V + v.V*f, Half: v.Half * f, Known: true}
		rest = strings.TrimSpace(tail[end:])
	}
	return total
}
