package schedule

import (
	"math/bits"
)

// SplitMix64 is the generator of random numbers of plans and choices: Steele,
// Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
// Its value is its whole state, and the seed is the first state, so that
// SplitMix64(seed) is ready for use. It is neither for secrets nor for several
// goroutines at a time. It is a source for math/rand/v2.
type SplitMix64 uint64

// golden is the odd number nearest to 2^64 divided by the golden ratio.
const golden = 0x9e3779b97f4a7c15

// Uint64 returns the next 64 random bits.
func (r *SplitMix64) Uint64() uint64 {
	*r += golden
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Float64 returns the next number in [0, 1), a multiple of 2⁻⁵³.
func (r *SplitMix64) Float64() float64 {
	return float64(r.Uint64()>>11) * 0x1p-53
}

// Exp returns the next exponential number with mean 1, by inversion:
// −log1p(−u). It is at least 0 and at most 53·ln 2 = 36.7.
func (r *SplitMix64) Exp() float64 {
	// 1−u is exact for a multiple of 2⁻⁵³, so a plain logarithm loses nothing.
	return minusLog(1 - r.Float64())
}

// Uint64n returns the next number in [0, n), each as likely as any other. It
// returns 0 for n = 0. The method is the one of Lemire, "Fast random integer
// generation in an interval", ACM TOMACS 29 (2019).
func (r *SplitMix64) Uint64n(n uint64) uint64 {
	high, low := bits.Mul64(r.Uint64(), n)
	if low < n {
		for threshold := -n % n; low < threshold; {
			high, low = bits.Mul64(r.Uint64(), n)
		}
	}
	return high
}
