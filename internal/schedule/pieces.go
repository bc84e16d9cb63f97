package schedule

import (
	"math"
	"sort"
)

const (
	nanosPerSecond = 1e9
	// forever stands for the end of a plan without end: 146 years. It leaves a
	// bit for the doubling by which times are rounded.
	forever = 1 << 62
	// dust is how far a boundary of Λ may be from a whole number, relative to it,
	// and still be meant as that number: some roundings of the sum of segments.
	dust = 0x1p-48
)

// piece is a segment with its place in the plan: what is needed to solve
// Λ(t) = x inside it.
type piece struct {
	rate, last  float64 // at the beginning and the end, per second
	slope       float64 // per second, per second
	begin, end  int64   // nanoseconds from the origin
	from, until float64 // Λ at begin and at end; until is +Inf if there is no end
}

// pieces is a whole rate function.
type pieces []piece

// ratePieces places valid segments one after the other.
func ratePieces(segments []Segment) pieces {
	ps := make(pieces, 0, len(segments))
	var begin int64
	var from float64
	for _, s := range segments {
		p := piece{rate: s.From, last: s.To, begin: begin, from: from}
		p.finish(s)
		ps = append(ps, p)
		begin, from = p.end, p.until
	}
	return ps
}

// finish computes slope, end and until from what is known of the beginning.
func (p *piece) finish(s Segment) {
	if s.Duration == 0 {
		p.end, p.until = forever, math.Inf(1)
		if s.From == 0 {
			p.until = p.from
		}
		return
	}
	p.end = p.begin + int64(s.Duration)
	p.slope = (s.To - s.From) / s.Duration.Seconds()
	p.until = whole(p.from + (s.From/2+s.To/2)*s.Duration.Seconds())
}

// whole takes away the dust that sums of binary fractions leave.
func whole(x float64) float64 {
	if n := math.Round(x); math.Abs(x-n) <= dust*n {
		return n
	}
	return x
}

// solve returns the t, in nanoseconds from the origin and rounded half up, at
// which Λ(t) = x. It wants from <= x < until and a rate somewhere.
//
// What is left of error comes from the boundaries of Λ, which are float64: up to
// 2⁻⁵³·Λ(t)/λ(t) seconds. That is below a nanosecond unless billions of arrivals
// came before and the rate is next to nothing.
func (p *piece) solve(x float64) int64 {
	switch done := x - p.from; {
	case p.slope == 0:
		return p.after(divideNanos(done, p.rate))
	case p.slope > 0 || done < (p.until-p.from)/2:
		return p.after(roundHalfUp(nanosPerSecond * climb(done, p.rate, p.slope)))
	}
	// A falling ramp is a rising one looked at from its end. Seen from its
	// beginning the root would lose its digits where the rate comes near zero.
	left := nanosPerSecond * climb(p.until-x, p.last, -p.slope)
	return p.after(p.end - p.begin + roundHalfUp(-left))
}

// after places a time within the piece in the plan. Neither rounding nor a rate
// of next to nothing may carry it out of the piece.
func (p *piece) after(n int64) int64 {
	return p.begin + min(n, p.end-p.begin)
}

// climb returns the seconds in which x arrivals come when the rate starts at a
// and changes by slope per second: the first root of slope·t²/2 + a·t = x, written
// so that nothing cancels unless the rate comes near zero.
func climb(x, a, slope float64) float64 {
	if x <= 0 {
		return 0
	}
	return 2 * x / (a + math.Sqrt(a*a+2*slope*x))
}

// roundHalfUp rounds to a whole number, halves up, and saturates at forever. It
// has no branch on the fraction, which no processor could predict: ⌊x+½⌋ is half
// of ⌊2x⌋+1, and doubling is exact where x+½ is not.
func roundHalfUp(x float64) int64 {
	if x >= forever {
		return forever
	}
	return (int64(math.Floor(2*x)) + 1) >> 1
}

// divideNanos returns x·1e9/rate, for x >= 0, rounded half up, and saturates
// at forever.
func divideNanos(x, rate float64) int64 {
	if x <= 0 {
		return 0
	}
	quotient := x * nanosPerSecond / rate
	if quotient >= forever {
		return forever
	}
	floor := math.Floor(quotient)
	fraction := quotient - floor
	if math.Abs(fraction-0.5) <= quotient*0x1p-50 {
		return divideNanosClose(x, rate)
	}
	return int64(floor) + int64(2*fraction)
}

// divideNanosClose is divideNanos for a quotient so close to a half that the
// roundings of a plain division could decide. It carries the product and the
// quotient to twice the precision of a float64.
func divideNanosClose(x, rate float64) int64 {
	product := x * nanosPerSecond
	quotient := product / rate
	remainder := math.FMA(-quotient, rate, product) + math.FMA(x, nanosPerSecond, -product)
	floor := math.Floor(quotient)
	return int64(floor) + roundHalfUp((quotient-floor)+remainder/rate)
}

// at returns the piece in force at a time, and nil outside the plan.
func (ps pieces) at(at int64) *piece {
	i := sort.Search(len(ps), func(i int) bool { return at < ps[i].end })
	if at < 0 || i == len(ps) {
		return nil
	}
	return &ps[i]
}

// rateAt is the rate at a time, per second.
func (ps pieces) rateAt(at int64) float64 {
	p := ps.at(at)
	if p == nil {
		return 0
	}
	return p.rate + p.slope*(float64(at-p.begin)/nanosPerSecond)
}

// expected is Λ at a time.
func (ps pieces) expected(until int64) float64 {
	if until <= 0 || len(ps) == 0 {
		return 0
	}
	until = min(until, forever-1)
	p := ps.at(until)
	if p == nil {
		return ps[len(ps)-1].until
	}
	t := float64(until-p.begin) / nanosPerSecond
	return p.from + t*(p.rate+p.slope*t/2)
}

// count is the number of whole i with a planned time before until. Λ gives it
// but for roundings, so its neighbours are tried.
func (ps pieces) count(until int64) int64 {
	if until <= 0 {
		return 0
	}
	c := cursor{pieces: ps}
	n := int64(math.Ceil(ps.expected(until)))
	for n > 0 && !c.before(n-1, until) {
		n--
	}
	for c.before(n, until) {
		n++
	}
	return n
}
