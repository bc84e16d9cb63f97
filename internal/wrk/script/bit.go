package script

import (
	"fmt"
	"math"
	"math/bits"

	lua "github.com/yuin/gopher-lua"
)

// openBit provides the bit library of LuaJIT (bitop.luajit.org): arguments are
// taken modulo 2^32, results are signed 32 bit integers.
func (s *state) openBit() {
	s.RegisterModule("bit", map[string]lua.LGFunction{
		"tobit":  unary(func(a uint32) uint32 { return a }),
		"bnot":   unary(func(a uint32) uint32 { return ^a }),
		"bswap":  unary(bits.ReverseBytes32),
		"band":   fold(func(a, b uint32) uint32 { return a & b }),
		"bor":    fold(func(a, b uint32) uint32 { return a | b }),
		"bxor":   fold(func(a, b uint32) uint32 { return a ^ b }),
		"lshift": shift(func(a, n uint32) uint32 { return a << n }),
		"rshift": shift(func(a, n uint32) uint32 { return a >> n }),
		"arshift": shift(func(a, n uint32) uint32 {
			return uint32(int32(a) >> n)
		}),
		"rol":   shift(func(a, n uint32) uint32 { return bits.RotateLeft32(a, int(n)) }),
		"ror":   shift(func(a, n uint32) uint32 { return bits.RotateLeft32(a, -int(n)) }),
		"tohex": toHex,
	})
}

// checkBits returns argument n modulo 2^32, rounded to the nearest integer.
func checkBits(l *lua.LState, n int) uint32 {
	v := math.Mod(math.RoundToEven(float64(l.CheckNumber(n))), 1<<32)
	return uint32(int64(v))
}

func pushBits(l *lua.LState, v uint32) int {
	l.Push(lua.LNumber(int32(v)))
	return 1
}

func unary(f func(uint32) uint32) lua.LGFunction {
	return func(l *lua.LState) int { return pushBits(l, f(checkBits(l, 1))) }
}

// fold applies f to any number of arguments, from the left.
func fold(f func(a, b uint32) uint32) lua.LGFunction {
	return func(l *lua.LState) int {
		v := checkBits(l, 1)
		for n := 2; n <= l.GetTop(); n++ {
			v = f(v, checkBits(l, n))
		}
		return pushBits(l, v)
	}
}

// shift applies f to a number and a count, of which five bits matter.
func shift(f func(a, n uint32) uint32) lua.LGFunction {
	return func(l *lua.LState) int { return pushBits(l, f(checkBits(l, 1), checkBits(l, 2)&31)) }
}

// toHex is bit.tohex(x [, n]): the low n digits, capitals if n is negative.
func toHex(l *lua.LState) int {
	v, n, form := checkBits(l, 1), l.OptInt(2, 8), "%08x"
	if n < 0 {
		n, form = -n, "%08X"
	}
	l.Push(lua.LString(fmt.Sprintf(form, v)[8-min(max(n, 0), 8):]))
	return 1
}
