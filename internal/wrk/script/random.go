package script

import (
	"math"
	"math/rand/v2"

	lua "github.com/yuin/gopher-lua"
)

// randomSeed is where the random numbers of every run begin, unless the script
// seeds them: a load should be repeatable.
const randomSeed = 0x70726f6e79

// newRandom is the source of one state.
func newRandom(index uint64) *rand.Rand { return rand.New(rand.NewPCG(randomSeed, index)) }

// openRandom replaces math.random and math.randomseed, which in gopher-lua
// share one source among all threads and cannot be seeded any more.
func (s *state) openRandom() {
	s.SetFuncs(s.GetGlobal("math").(*lua.LTable), map[string]lua.LGFunction{
		"random":     s.nextRandom,
		"randomseed": s.seedRandom,
	})
}

// nextRandom is math.random([m [, n]]).
func (s *state) nextRandom(l *lua.LState) int {
	low, high := 1.0, 0.0
	switch l.GetTop() {
	case 0:
		l.Push(lua.LNumber(s.random.Float64()))
		return 1
	case 1:
		high = math.Floor(float64(l.CheckNumber(1)))
	default:
		low, high = math.Ceil(float64(l.CheckNumber(1))), math.Floor(float64(l.CheckNumber(2)))
	}
	if !(low <= high) {
		l.ArgError(l.GetTop(), "interval is empty")
	}
	l.Push(lua.LNumber(math.Floor(s.random.Float64()*(high-low+1)) + low))
	return 1
}

// seedRandom is math.randomseed(x).
func (s *state) seedRandom(l *lua.LState) int {
	s.random = rand.New(rand.NewPCG(math.Float64bits(float64(l.CheckNumber(1))), 0))
	return 0
}
