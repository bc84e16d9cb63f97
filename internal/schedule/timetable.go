package schedule

import "fmt"

// cursor solves Λ(t) = x for one x after the other.
type cursor struct {
	pieces  pieces
	current int // the piece of the last x; none before it can be needed again
}

// solve returns the planned time of x, which must not be smaller than at the
// call before; ok is false when the plan has ended.
func (c *cursor) solve(x float64) (at int64, ok bool) {
	for c.current < len(c.pieces) && x >= c.pieces[c.current].until {
		c.current++
	}
	if c.current == len(c.pieces) {
		return 0, false
	}
	p := &c.pieces[c.current]
	at = p.solve(x)
	if at < p.end || c.current+1 < len(c.pieces) {
		return at, true
	}
	// Less than half a nanosecond before the end of the plan. Beyond the end of
	// time itself there is nothing.
	return p.end - 1, p.end != forever
}

// before reports whether the i-th time of a constant plan is before until. It
// takes any i, as it starts over.
func (c *cursor) before(i, until int64) bool {
	c.current = 0
	at, ok := c.solve(float64(i))
	return ok && at < until
}

// Timetable is one part of a plan: it yields the planned times of its part in
// ascending order. It belongs to one goroutine at a time. It allocates nothing
// after it was made.
type Timetable struct {
	at int64 // the next planned time
	ok bool  // whether there is one

	index  int64 // of the next time in the global plan
	stride int64 // number of parts
	source source

	times  []int64
	cursor cursor
	random SplitMix64
	sum    float64 // E_i, in units of mean gaps, so that rounding never adds up
}

// source is where a timetable takes its times from.
type source uint8

const (
	fromTimes source = iota
	fromIndex
	fromRandom
)

// Shard returns part k of the n interleaved parts of the plan: the times with an
// index i ≡ k (mod n). The parts of one n merge to the same plan as those of any
// other n. Each part of a Poisson plan generates all gaps and skips those of the
// others, so its cost per time grows with n, by some nanoseconds each.
//
// Shard panics if k is not in [0, n) or if a does not pass [Arrivals.Validate]:
// both are mistakes of the caller, and not of a user.
func (a Arrivals) Shard(k, n int) *Timetable {
	if k < 0 || k >= n {
		panic(fmt.Sprintf("schedule: part %d of %d parts does not exist", k, n))
	}
	if err := a.Validate(); err != nil {
		panic(fmt.Sprintf("schedule: shard an invalid plan: %v", err))
	}
	t := &Timetable{
		index: int64(k), stride: int64(n), source: a.source(),
		times: a.Times, cursor: cursor{pieces: ratePieces(a.Segments)}, random: SplitMix64(a.Seed),
	}
	if t.source == fromRandom {
		t.draw(int64(k) + 1)
	}
	t.look()
	return t
}

// source decides where the times of a come from.
func (a Arrivals) source() source {
	switch {
	case len(a.Segments) == 0:
		return fromTimes
	case a.Process == Poisson:
		return fromRandom
	}
	return fromIndex
}

// Next returns the next planned time of this part, in nanoseconds from the
// origin of the load, and moves on; ok is false when the plan has ended.
func (t *Timetable) Next() (at int64, ok bool) {
	at, ok = t.Peek()
	if ok {
		t.index += t.stride
		if t.source == fromRandom {
			t.draw(t.stride)
		}
		t.look()
	}
	return at, ok
}

// Peek returns what the coming call of [Timetable.Next] will return.
func (t *Timetable) Peek() (at int64, ok bool) {
	if !t.ok {
		return 0, false
	}
	return t.at, true
}

// draw adds n unit exponentials to the running sum.
func (t *Timetable) draw(n int64) {
	for range n {
		t.sum += t.random.Exp()
	}
}

// look finds the planned time of the current index.
func (t *Timetable) look() {
	var at int64
	switch t.source {
	case fromRandom:
		at, t.ok = t.cursor.solve(t.sum)
	case fromIndex:
		at, t.ok = t.cursor.solve(float64(t.index))
	default:
		if t.ok = t.index < int64(len(t.times)); t.ok {
			at = t.times[t.index]
		}
	}
	// Times are promised to ascend, and the last digit of a root might not. At
	// rates and lengths of this world the two are far apart.
	t.at = max(t.at, at)
}
