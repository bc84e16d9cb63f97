package schedule

import "math"

// logSlices is how many slices [1, 2) is cut into for logarithms.
const logSlices = 1 << logBits

const logBits = 7

// logSlice holds what is known in advance of a slice: its middle, the
// reciprocal of it, and −ln of it.
type logSlice struct{ middle, inverse, minusLog float64 }

// logTable is never written after it was made: a pure function of its index.
var logTable = makeLogTable()

func makeLogTable() (table [logSlices]logSlice) {
	for i := range table {
		middle := 1 + (float64(i)+0.5)/logSlices
		table[i] = logSlice{middle, 1 / middle, -math.Log(middle)}
	}
	return table
}

// minusLog returns −ln v for v in (0, 1], to 2⁻⁵¹ of the larger of 1 and the
// result. That is less than rounding the sum of some gaps, and never negative.
//
// It exists because part k of n draws the gaps of all parts, so that logarithms
// are most of what a Poisson plan costs, and this one needs neither a division
// nor a call. With v = z/2^e and c the middle of the slice of z, −ln v is
// e·ln 2 − ln c − ln(1+r) with r = (z−c)/c; as |r| is at most 2⁻⁸, six terms of
// the series are enough.
func minusLog(v float64) float64 {
	b := math.Float64bits(v)
	slice := &logTable[b>>(52-logBits)%logSlices]
	z := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	e := float64(1023 - int64(b>>52))
	r := (z - slice.middle) * slice.inverse
	r2 := r * r
	series := r - r2*((0.5-r*(1.0/3))+r2*((0.25-r*(1.0/5))+r2*(1.0/6)))
	return max(e*math.Ln2+slice.minusLog-series, 0)
}
