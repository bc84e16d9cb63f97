package wrk

import (
	"math"
	"math/bits"

	"prony/internal/hdr"
	"prony/internal/result"
)

// Values are measured values as the report prints them and as a script's done
// function reads them.
type Values struct {
	h                     *hdr.Histogram // nil without values
	unit                  float64        // how many of the histogram's units are one of ours
	quirks                bool
	min, max, mean, stdev float64
	within                float64 // share of the values, NaN without values
	distinct              []distinct
}

// distinct is a whole value and how often it was seen.
type distinct struct{ value, count int64 }

// newValues reads a histogram.
func newValues(h *hdr.Histogram, unit float64, quirks bool) *Values {
	v := &Values{h: h, unit: unit, quirks: quirks, within: math.NaN()}
	if h == nil || h.Count() == 0 {
		v.h = nil
		return v
	}
	v.min, v.max = float64(h.Min())/unit, float64(h.Max())/unit
	v.mean, v.stdev = h.Mean()/unit, h.SampleStdDev()/unit
	v.count()
	return v
}

// count lists the distinct values and finds the share within one deviation of
// the mean.
func (v *Values) count() {
	inside := int64(0)
	for cell, n := range v.h.Cells() {
		at := float64(min(cell.Highest, v.h.Max())) / v.unit
		if math.Abs(at-v.mean) <= v.stdev {
			inside += n
		}
		whole := int64(math.Round(at))
		if last := len(v.distinct) - 1; last >= 0 && v.distinct[last].value == whole {
			v.distinct[last].count += n
		} else {
			v.distinct = append(v.distinct, distinct{whole, n})
		}
	}
	v.within = float64(inside) / float64(v.h.Count())
}

// Min returns the smallest value, 0 if there is none; so do the others.
func (v *Values) Min() float64 { return v.min }

// Max returns the largest value.
func (v *Values) Max() float64 { return v.max }

// Mean returns the arithmetic mean.
func (v *Values) Mean() float64 { return v.mean }

// StDev returns the standard deviation of the sample (divisor n-1).
func (v *Values) StDev() float64 { return v.stdev }

// Within returns the share of values within one deviation of the mean, NaN if
// there are no values.
func (v *Values) Within() float64 { return v.within }

// Len returns how many distinct whole values there are.
func (v *Values) Len() int { return len(v.distinct) }

// At returns the i-th distinct value, from 0 in ascending order, and how often
// it was seen. Values of more than three digits stand for their neighbourhood
// of 0.1 %.
func (v *Values) At(i int) (value, count int64) { return v.distinct[i].value, v.distinct[i].count }

// Percentile returns the value at p percent by nearest rank. If only the
// moments of the values are known, it is NaN but at the ends. With quirks it
// is wrk's rank, round(p/100*n + 0.5), which lies behind the last value for
// p = 100: wrk answers 0.
func (v *Values) Percentile(p float64) float64 {
	switch {
	case v.h != nil && v.quirks:
		return v.quirkyPercentile(p)
	case v.h != nil:
		return float64(v.h.Value(hdr.Percent(p))) / v.unit
	case math.IsNaN(v.within): // no values
		return 0
	case p <= 0:
		return v.min
	case p >= 100:
		return v.max
	}
	return math.NaN()
}

func (v *Values) quirkyPercentile(p float64) float64 {
	rank, seen := int64(math.Round(p/100*float64(v.h.Count())+0.5)), int64(0)
	for _, d := range v.distinct {
		if seen += d.count; seen >= rank {
			return float64(d.value)
		}
	}
	return 0
}

// Latency is the distribution of latencies in microseconds: of the answers,
// from the send to the last byte. With quirks it contains the samples that wrk
// makes up, in whole microseconds as wrk's are.
func Latency(r *result.Run, o Options) *Values {
	measured, _ := answered(r)
	if o.Quirks && measured != nil {
		return newValues(corrected(measured, interval(r, o)), 1, true)
	}
	return newValues(measured, 1000, false)
}

// Rates is the distribution of requests per second of single threads. A result
// that was stored has only its moments.
func Rates(r *result.Run, o Options) *Values {
	if h := r.Load.PerThread; h != nil {
		return newValues(h, 1, o.Quirks)
	}
	m := r.Load.PerThreadRate
	if m.Count == 0 {
		return newValues(nil, 1, o.Quirks)
	}
	return &Values{unit: 1, min: m.Min, max: m.Max, mean: m.Mean, stdev: m.StDev, within: m.Within}
}

// answered are the latencies, in nanoseconds, of the requests that were
// answered, and how many answers are not among them. wrk does not ask for the
// status, so that errors belong there; they can be told from other failures
// only if there are no others.
func answered(r *result.Run) (h *hdr.Histogram, missing int64) {
	h, failed := r.Load.Latency.Service.Histogram, r.Load.Latency.Failed
	status := r.Load.Failures[result.HTTPStatus.String()]
	if status == 0 {
		return h, 0
	}
	if failed.Empty() || failed.Count() != status {
		return h, status
	}
	if h == nil {
		return failed.Histogram, 0
	}
	all := h.Copy()
	if all.Merge(failed.Histogram) != nil {
		return h, status
	}
	return all, 0
}

// interval is wrk's idea of the time between two requests of a connection, in
// microseconds; 0 if there were too few to have one.
func interval(r *result.Run, o Options) int64 {
	each := r.Load.Requests.InWindow / max(1, int64(o.Connections))
	if each == 0 {
		return 0
	}
	return int64(r.Load.DurationUS) / each
}

// corrected copies a histogram of nanoseconds into one of microseconds and
// adds the samples that wrk makes up: for each value of at least twice the
// interval, those that lie one, two ... intervals below it, while they exceed
// the interval. wrk calls this a correction for coordinated omission.
func corrected(h *hdr.Histogram, interval int64) *hdr.Histogram {
	us := hdr.MustNew(hdr.Config{})
	top := h.Max()
	for cell, n := range h.Cells() {
		v := cell.Lowest + (cell.Highest-cell.Lowest+1)/2
		if top <= cell.Highest { // the last cell, of which more is known
			v = top
		}
		us.RecordN(v/1000, n)
	}
	measured := us.Copy()
	for cell, n := range measured.Cells() {
		if v := min(cell.Highest, measured.Max()); interval > 0 && v >= 2*interval {
			addBelow(us, v, n, interval)
		}
	}
	return us
}

// addBelow records n values at v-interval, v-2*interval ... above interval. It
// goes from cell to cell, not from value to value: a long stall among very
// short intervals would take minutes otherwise.
func addBelow(h *hdr.Histogram, v, n, interval int64) {
	for v -= interval; v > interval; {
		width := int64(1) << max(0, bits.Len64(uint64(v))-11) // of a cell with three digits
		floor := max(v&^(width-1), interval+1)
		steps := (v-floor)/interval + 1
		h.RecordN(v, n*steps)
		v -= steps * interval
	}
}
