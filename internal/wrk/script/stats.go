package script

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// Summary is what done receives first.
type Summary struct {
	Duration        int64 // microseconds
	Requests, Bytes int64
	Errors          Errors
}

// Errors counts failures in wrk's classes. Status counts answers above 399.
type Errors struct {
	Connect, Read, Write, Status, Timeout int64
}

// Distribution is a set of measured values, as done receives two: latencies in
// microseconds and the requests per second of single threads.
type Distribution interface {
	Min() float64
	Max() float64
	Mean() float64
	StDev() float64
	// Percentile returns the value at p percent, 0 to 100.
	Percentile(p float64) float64
	// Len is the number of distinct values; At returns the i-th of them in
	// ascending order, from 0, and how often it was seen.
	Len() int
	At(i int) (value, count int64)
}

// Done calls done(summary, latency, requests) in the main state, if the script
// has it. Call it when the report has been printed and no thread runs.
func (p *Program) Done(s Summary, latency, requests Distribution) error {
	m := p.main
	fn := m.function("done")
	if fn == nil {
		return nil
	}
	return m.invoke("done()", fn, m.summary(s), m.newObject(latency, m.stats), m.newObject(requests, m.stats))
}

// summary is s as a table.
func (s *state) summary(from Summary) *lua.LTable {
	e := from.Errors
	return s.record(map[string]lua.LValue{
		"duration": lua.LNumber(from.Duration),
		"requests": lua.LNumber(from.Requests),
		"bytes":    lua.LNumber(from.Bytes),
		"errors": s.record(map[string]lua.LValue{
			"connect": lua.LNumber(e.Connect),
			"read":    lua.LNumber(e.Read),
			"write":   lua.LNumber(e.Write),
			"status":  lua.LNumber(e.Status),
			"timeout": lua.LNumber(e.Timeout),
		}),
	})
}

// record is a table with these fields.
func (s *state) record(fields map[string]lua.LValue) *lua.LTable {
	t := s.CreateTable(0, len(fields))
	for name, v := range fields {
		t.RawSetString(name, v)
	}
	return t
}

// checkStats returns the distribution a method is called on.
func checkStats(l *lua.LState) Distribution {
	if u, ok := l.Get(1).(*lua.LUserData); ok {
		if d, ok := u.Value.(Distribution); ok {
			return d
		}
	}
	l.ArgError(1, "wrk.stats expected, got "+l.Get(1).Type().String())
	return nil
}

// statsIndex is latency.NAME.
func (s *state) statsIndex(l *lua.LState) int {
	d := checkStats(l)
	switch l.CheckString(2) {
	case "min":
		l.Push(lua.LNumber(d.Min()))
	case "max":
		l.Push(lua.LNumber(d.Max()))
	case "mean":
		l.Push(lua.LNumber(d.Mean()))
	case "stdev":
		l.Push(lua.LNumber(d.StDev()))
	case "percentile":
		l.Push(s.stats.RawGetString("percentile"))
	default:
		l.Push(lua.LNil)
	}
	return 1
}

// statsPercentile is latency:percentile(p).
func statsPercentile(l *lua.LState) int {
	p := float64(l.CheckNumber(2))
	if math.IsNaN(p) || p < 0 || p > 100 {
		l.ArgError(2, "percentile must lie between 0 and 100")
	}
	l.Push(lua.LNumber(checkStats(l).Percentile(p)))
	return 1
}

// statsLen is #latency.
func statsLen(l *lua.LState) int {
	l.Push(lua.LNumber(checkStats(l).Len()))
	return 1
}

// statsCall is latency(i): the i-th distinct value and its count, both 0
// outside the range.
func statsCall(l *lua.LState) int {
	d, i := checkStats(l), l.CheckInt(2)
	value, count := int64(0), int64(0)
	if i >= 1 && i <= d.Len() {
		value, count = d.At(i - 1)
	}
	l.Push(lua.LNumber(value))
	l.Push(lua.LNumber(count))
	return 2
}
