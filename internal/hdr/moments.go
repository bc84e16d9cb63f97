package hdr

import (
	"math"
	"math/big"
	"math/bits"
)

// moments holds the exact sum and sum of squares of non-negative values.
//
// Integers rather than float64, so that a merge gives the same bits in any
// order and analysing the same data twice gives the same report. The widths
// cannot overflow: 2^63 values of 2^63 need 126 and 189 bits.
type moments struct {
	sum     [2]uint64 // low word first
	squares [3]uint64
}

// add accounts for one value.
func (m *moments) add(v uint64) {
	var carry uint64
	m.sum[0], carry = bits.Add64(m.sum[0], v, 0)
	m.sum[1] += carry
	hi, lo := bits.Mul64(v, v)
	m.squares[0], carry = bits.Add64(m.squares[0], lo, 0)
	m.squares[1], carry = bits.Add64(m.squares[1], hi, carry)
	m.squares[2] += carry
}

// addN accounts for n values of v.
func (m *moments) addN(v, n uint64) {
	sumHi, sumLo := bits.Mul64(v, n)
	sqHi, sqLo := bits.Mul64(v, v)
	midHi, low := bits.Mul64(sqLo, n)
	topHi, mid := bits.Mul64(sqHi, n)
	mid, carry := bits.Add64(mid, midHi, 0)
	m.merge(&moments{
		sum:     [2]uint64{sumLo, sumHi},
		squares: [3]uint64{low, mid, topHi + carry},
	})
}

// merge adds the values of o.
func (m *moments) merge(o *moments) {
	var carry uint64
	m.sum[0], carry = bits.Add64(m.sum[0], o.sum[0], 0)
	m.sum[1] += o.sum[1] + carry
	m.squares[0], carry = bits.Add64(m.squares[0], o.squares[0], 0)
	m.squares[1], carry = bits.Add64(m.squares[1], o.squares[1], carry)
	m.squares[2] += o.squares[2] + carry
}

// mean returns the sum over n; zero for n = 0. The quotient fits a word
// because no value exceeds 63 bits.
func (m *moments) mean(n int64) float64 {
	if n == 0 {
		return 0
	}
	quo, rem := bits.Div64(m.sum[1], m.sum[0], uint64(n))
	return float64(quo) + float64(rem)/float64(n)
}

// stdDev returns sqrt((n*S2 - S1^2) / (n * divisor)). The difference is taken
// in integers: in float64 it cancels when the spread is small beside the mean.
func (m *moments) stdDev(n, divisor int64) float64 {
	if n == 0 || divisor <= 0 {
		return 0
	}
	sum := wide(m.sum[:])
	diff := new(big.Int).Mul(big.NewInt(n), wide(m.squares[:]))
	diff.Sub(diff, sum.Mul(sum, sum))
	ratio := new(big.Rat).SetFrac(diff, new(big.Int).Mul(big.NewInt(n), big.NewInt(divisor)))
	variance, _ := ratio.Float64()
	return math.Sqrt(variance)
}

// wide joins words, low first, to an integer.
func wide(words []uint64) *big.Int {
	total := new(big.Int)
	for i := len(words) - 1; i >= 0; i-- {
		total.Lsh(total, 64)
		total.Or(total, new(big.Int).SetUint64(words[i]))
	}
	return total
}

// split writes x, low word first, to words and reports whether it fits.
func split(x *big.Int, words []uint64) bool {
	if x.Sign() < 0 || x.BitLen() > 64*len(words) {
		return false
	}
	rest, low := new(big.Int).Set(x), new(big.Int)
	mask := new(big.Int).SetUint64(math.MaxUint64)
	for i := range words {
		words[i] = low.And(rest, mask).Uint64()
		rest.Rsh(rest, 64)
	}
	return true
}
