package spec

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a length of time that is written exactly, as "1m30s".
type Duration time.Duration

// MarshalYAML writes the duration as [time.Duration] prints it.
func (d Duration) MarshalYAML() (any, error) { return time.Duration(d).String(), nil }

// Size is a number of bytes.
type Size int64

// MarshalYAML writes the size in the largest binary multiple that is exact.
func (s Size) MarshalYAML() (any, error) {
	units := []string{"", "KiB", "MiB", "GiB", "TiB"}
	n, i := int64(s), 0
	for n != 0 && n%1024 == 0 && i < len(units)-1 {
		n, i = n/1024, i+1
	}
	if i == 0 {
		return n, nil
	}
	return strconv.FormatInt(n, 10) + units[i], nil
}

// Cores are numbers of logical CPUs, ascending.
type Cores []int

// String writes runs of cores as ranges: "0-3,6".
func (c Cores) String() string {
	var parts []string
	for i := 0; i < len(c); {
		j := i
		for j+1 < len(c) && c[j+1] == c[j]+1 {
			j++
		}
		part := strconv.Itoa(c[i])
		if j > i {
			part += "-" + strconv.Itoa(c[j])
		}
		parts, i = append(parts, part), j+1
	}
	return strings.Join(parts, ",")
}

// MarshalYAML writes the cores as ranges.
func (c Cores) MarshalYAML() (any, error) { return c.String(), nil }

// Rate is a timetable in requests a second: one point is a flat rate, two that
// Ramp a line between them, and several are steps that share the time.
type Rate struct {
	Points []float64
	Ramp   bool
}

// IsZero reports whether no rate was written.
func (r Rate) IsZero() bool { return len(r.Points) == 0 }

// MarshalYAML writes "500/s", "100/s..500/s" or "100/s,200/s".
func (r Rate) MarshalYAML() (any, error) {
	parts := make([]string, len(r.Points))
	for i, p := range r.Points {
		parts[i] = number(p) + "/s"
	}
	if r.Ramp {
		return strings.Join(parts, ".."), nil
	}
	return strings.Join(parts, ","), nil
}

// Think is the pause of a closed-model connection.
type Think struct {
	Mean         time.Duration
	Distribution string // constant, exponential or uniform
}

// IsZero reports whether no pause was written.
func (t Think) IsZero() bool { return t.Mean == 0 }

// MarshalYAML writes "10ms" or "10ms exponential".
func (t Think) MarshalYAML() (any, error) {
	if t.Distribution == "" || t.Distribution == "constant" {
		return t.Mean.String(), nil
	}
	return t.Mean.String() + " " + t.Distribution, nil
}

// Warmup is a load that is left out of the result: for a time, or until what
// is measured is steady.
type Warmup struct {
	Auto bool
	Time time.Duration
}

// MarshalYAML writes "auto" or the time.
func (w Warmup) MarshalYAML() (any, error) {
	if w.Auto {
		return "auto", nil
	}
	return w.Time.String(), nil
}

// Scale is the size of an experiment: a Factor on its loads, or Auto, the
// largest that the machines carry.
type Scale struct {
	Auto   bool
	Factor float64
}

// IsZero reports whether no scale was written.
func (s Scale) IsZero() bool { return s == Scale{} }

// MarshalYAML writes "auto" or the factor.
func (s Scale) MarshalYAML() (any, error) {
	if s.Auto {
		return "auto", nil
	}
	return s.Factor, nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// formatPercent writes a ratio exactly enough to be read back.
func formatPercent(ratio float64) string {
	return strconv.FormatFloat(math.Round(ratio*1e14)/1e12, 'f', -1, 64) + "%"
}
