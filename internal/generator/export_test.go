package generator

import (
	"time"

	"prony/internal/plan"
	"prony/internal/result"
)

// Read makes a result of a text as if the program of a load had printed it.
func Read(l plan.Load, text string) (*result.Load, []string, bool) {
	p, ok := Lookup(l.With)
	if !ok {
		return nil, nil, false
	}
	b, ok := runner{Program: p}.read(text)
	if !ok {
		return nil, nil, false
	}
	m := measured{Program: p, l: l, b: b, text: text, e: ending{at: time.Unix(0, 0), end: time.Unix(0, 0).Add(l.Duration)}}
	return m.load(), m.doubts(), true
}

// Lua and PerSecond are how values are written for wrk and vegeta.
var (
	Lua       = lua
	PerSecond = perSecond
)
