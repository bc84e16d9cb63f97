package monitor

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"prony/internal/result"
)

// RecordingSchema is the version of a recording's JSON, and of what Serve and
// Follow say to each other.
const RecordingSchema = 1

// Recording is everything that a [Watcher] sampled.
type Recording struct {
	Schema int `json:"schema"`
	// Epoch is when the watch began, on the clock of the machine that asked for
	// it. Times of samples count from here.
	Epoch       time.Time          `json:"epoch"`
	Environment result.Environment `json:"environment"`
	Tracks      []Track            `json:"tracks"`
}

// Track is one thing that was watched. Values have seven digits.
type Track struct {
	Head
	AtUS     []int64                   `json:"at_us"`     // end of each sample, from the epoch
	LengthUS []int64                   `json:"length_us"` // of each sample
	Series   map[result.Metric]Columns `json:"series"`
}

// Head names a thing that is watched and tells what does not change. See
// [result.Observed].
type Head struct {
	Kind     string            `json:"kind"`
	Name     string            `json:"name"`
	Service  string            `json:"service,omitempty"`
	Instance int               `json:"instance,omitempty"`
	Host     string            `json:"host,omitempty"`
	Facts    map[string]string `json:"facts,omitempty"`
	Unknown  map[string]string `json:"unknown,omitempty"`
}

// Columns is a series; NaN, null in JSON, where a value was not known.
type Columns []float32

// MarshalJSON writes as many digits as are needed to read the same back.
func (c Columns) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 2+8*len(c)), '[')
	for i, x := range c {
		if i > 0 {
			b = append(b, ',')
		}
		if y := float64(x); math.IsNaN(y) || math.IsInf(y, 0) {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendFloat(b, y, 'g', -1, 32)
		}
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (c *Columns) UnmarshalJSON(b []byte) error {
	var all []*float32
	if err := json.Unmarshal(b, &all); err != nil {
		return fmt.Errorf("read a series: %w", err)
	}
	*c = make(Columns, len(all))
	for i, x := range all {
		(*c)[i] = unknownValue()
		if x != nil {
			(*c)[i] = *x
		}
	}
	return nil
}

func unknownValue() float32 { return float32(math.NaN()) }

// around is how much before and after a window is kept at least (to see how it
// came and went).
const around = 5 * time.Second

// Cut gives what was watched in a window, in the warm-up before it (at least 5 s)
// and for 5 s after it, with times from the window's start. Totals are what was counted in the window: the
// number for metrics that end in _rate, core seconds for those that end in
// _cores. A sample across an edge counts by its share. Things without a sample
// are left out.
func (r Recording) Cut(start time.Time, warmup, length time.Duration) []result.Observed {
	offset := start.Sub(r.Epoch).Microseconds()
	var all []result.Observed
	for i := range r.Tracks {
		if o, ok := r.Tracks[i].cut(offset, max(warmup, around), length); ok {
			all = append(all, o)
		}
	}
	return all
}

// cut is Cut for one track; from is the window's start after the epoch.
func (t *Track) cut(from int64, warmup, length time.Duration) (result.Observed, bool) {
	before, after := from-warmup.Microseconds(), from+(length+around).Microseconds()
	first, last := len(t.AtUS), -1
	for i, at := range t.AtUS {
		if at > before && at-t.LengthUS[i] < after {
			first, last = min(first, i), i
		}
	}
	if last < first {
		return result.Observed{}, false
	}
	o := t.observed(first, last+1, from)
	for m, values := range t.Series {
		if !totals(m) {
			continue
		}
		if n, ok := t.total(values, from, from+length.Microseconds()); ok {
			o.Totals[m] = n
		}
	}
	return o, true
}

// observed is a part of the track, with times from a moment.
func (t *Track) observed(first, end int, from int64) result.Observed {
	o := result.Observed{
		Kind: t.Kind, Name: t.Name, Service: t.Service, Instance: t.Instance, Host: t.Host,
		Facts: maps.Clone(t.Facts), Unknown: maps.Clone(t.Unknown),
		Series: map[result.Metric]result.Values{}, Totals: map[result.Metric]float64{},
	}
	for i := first; i < end; i++ {
		o.AtUS = append(o.AtUS, float64(t.AtUS[i]-from))
		o.LengthUS = append(o.LengthUS, float64(t.LengthUS[i]))
	}
	for m, values := range t.Series {
		known := false
		series := make(result.Values, end-first)
		for i := range series {
			series[i] = float64(values[first+i])
			known = known || !math.IsNaN(series[i])
		}
		if known {
			o.Series[m] = series
		}
	}
	return o
}

func totals(m result.Metric) bool {
	return strings.HasSuffix(string(m), "_rate") && m != result.LinkSpeed || strings.HasSuffix(string(m), "_cores")
}

// total sums up a rate between two moments; ok is false if nothing is known.
func (t *Track) total(values Columns, from, to int64) (sum float64, ok bool) {
	for i, x := range values {
		y := float64(x)
		common := min(to, t.AtUS[i]) - max(from, t.AtUS[i]-t.LengthUS[i])
		if common <= 0 || math.IsNaN(y) {
			continue
		}
		sum, ok = sum+y*float64(common)/1e6, true
	}
	return sixDigits(sum), ok
}

// sixDigits undoes what dividing and multiplying by the time does to counts.
func sixDigits(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	scale := math.Pow(10, 5-math.Floor(math.Log10(math.Abs(x))))
	if math.IsInf(scale, 0) || scale == 0 {
		return x
	}
	return math.Round(x*scale) / scale
}

// trackSamplesMax bounds the samples of a track: 4.5 hours of seconds. Beyond,
// pairs become one.
const trackSamplesMax = 1 << 14

// add appends a sample.
func (t *Track) add(at, length time.Duration, points []point) {
	if len(t.AtUS) >= trackSamplesMax {
		t.halve()
	}
	n := len(t.AtUS)
	t.AtUS = append(roomy(t.AtUS), at.Microseconds())
	t.LengthUS = append(roomy(t.LengthUS), length.Microseconds())
	for _, p := range points {
		values := t.Series[p.metric]
		for len(values) < n {
			values = append(values, unknownValue())
		}
		t.Series[p.metric] = append(roomy(values[:n]), float32(p.value))
	}
	for m, values := range t.Series {
		if len(values) == n {
			t.Series[m] = append(roomy(values), unknownValue())
		}
	}
}

// roomy makes room for a further value, with less to spare than append would:
// there are thousands of series.
func roomy[S ~[]E, E any](s S) S {
	if len(s) < cap(s) {
		return s
	}
	return append(make(S, 0, len(s)+len(s)/8+16), s...)
}

// halve makes one sample of two that follow each other, weighted by length. An
// unknown value takes the other's.
func (t *Track) halve() {
	for m, values := range t.Series {
		for i := 0; i+1 < len(values); i += 2 {
			a, b := float64(values[i]), float64(values[i+1])
			la, lb := float64(t.LengthUS[i]), float64(t.LengthUS[i+1])
			values[i/2] = float32(weighted(a, la, b, lb))
		}
		t.Series[m] = values[:len(values)/2]
	}
	half := len(t.AtUS) / 2
	for i := range half {
		t.AtUS[i] = t.AtUS[2*i+1]
		t.LengthUS[i] = t.LengthUS[2*i] + t.LengthUS[2*i+1]
	}
	t.AtUS, t.LengthUS = t.AtUS[:half], t.LengthUS[:half]
}

func weighted(a, la, b, lb float64) float64 {
	switch {
	case math.IsNaN(a):
		return b
	case math.IsNaN(b) || la+lb <= 0:
		return a
	}
	return (a*la + b*lb) / (la + lb)
}
