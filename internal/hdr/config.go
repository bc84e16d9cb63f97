package hdr

import (
	"fmt"
	"math/bits"
)

// The defaults that a zero [Config] stands for: 1 ns to one hour.
const (
	defaultLowest  int64 = 1
	defaultHighest int64 = 3600 * 1_000_000_000
	defaultDigits        = 3
	maxDigits            = 5
)

// Config is the shape of a histogram. Each field that is zero takes its
// default, so that the zero Config is 1 ns to 3,600 s with three digits:
// 33,792 counters, 270 kB of address space of which only the pages in use are
// touched. Two digits need 37 kB and are enough for a live chart.
type Config struct {
	Lowest  int64 // smallest difference to be told apart; default 1
	Highest int64 // largest value kept apart, at least 2*Lowest; default 3.6e12 (one hour in ns)
	Digits  int   // significant decimal digits, 1 to 5; default 3
}

// effective returns c with the defaults filled in.
func (c Config) effective() Config {
	if c.Lowest == 0 {
		c.Lowest = defaultLowest
	}
	if c.Highest == 0 {
		c.Highest = defaultHighest
	}
	if c.Digits == 0 {
		c.Digits = defaultDigits
	}
	return c
}

// check reports why an effective c describes no histogram.
func (c Config) check() error {
	switch {
	case c.Lowest < 1:
		return fmt.Errorf("histogram: lowest value %d must be at least 1", c.Lowest)
	case c.Digits < 1 || c.Digits > maxDigits:
		return fmt.Errorf("histogram: %d significant digits, want 1 to %d", c.Digits, maxDigits)
	case c.Highest/2 < c.Lowest:
		return fmt.Errorf("histogram: highest value %d must be at least twice the lowest, %d", c.Highest, c.Lowest)
	case bits.Len64(uint64(c.Lowest))-1+subBucketMagnitude(c.Digits) > 62:
		return fmt.Errorf("histogram: lowest value %d leaves no room for %d digits in 63 bits", c.Lowest, c.Digits)
	}
	return nil
}

// layout maps values to cells. The names follow the HdrHistogram source
// (AbstractHistogram): values fall into buckets that double in width, and each
// bucket is cut into sub-buckets of equal width.
type layout struct {
	mask    uint64 // every bit of the first bucket's values
	base    uint   // bits.Len64(v|mask) - base is the bucket of v
	unit    uint   // log2 of the width of the finest cell
	halfMag uint   // log2 of half the sub-buckets of a bucket
	length  int    // number of counters
}

// subBucketMagnitude is ceil(log2(2*10^digits)): the number of bits that keeps
// that many decimal digits apart.
func subBucketMagnitude(digits int) int {
	n := uint64(2)
	for range digits {
		n *= 10
	}
	return bits.Len64(n - 1)
}

// newLayout computes the layout of a checked configuration.
func newLayout(c Config) layout {
	mag := uint(subBucketMagnitude(c.Digits))
	unit := uint(bits.Len64(uint64(c.Lowest)) - 1)
	buckets := 1
	for s := uint64(1) << (mag + unit); s <= uint64(c.Highest); s <<= 1 {
		buckets++
	}
	return layout{
		mask:    (1<<mag - 1) << unit,
		base:    unit + mag,
		unit:    unit,
		halfMag: mag - 1,
		length:  (buckets + 1) << (mag - 1),
	}
}

// index returns the cell of v, which must lie in 0 to Highest. The shifts are
// masked to spare the compiler its check for shifts beyond 63.
func (l *layout) index(v int64) int {
	bucket := uint(bits.Len64(uint64(v)|l.mask)) - l.base
	sub := uint64(v) >> ((bucket + l.unit) & 63)
	return int(bucket<<(l.halfMag&63)) + int(sub)
}

// cell returns the values that share the counter at index.
func (l *layout) cell(index int) Cell {
	bucket := index>>l.halfMag - 1
	sub := index&(1<<l.halfMag-1) + 1<<l.halfMag
	if bucket < 0 { // the first bucket alone uses its lower half
		bucket, sub = 0, index
	}
	shift := uint(bucket) + l.unit
	low := int64(sub) << shift
	return Cell{Lowest: low, Highest: low + 1<<shift - 1}
}

// Cell is a range of values that one counter stands for, both ends included.
type Cell struct {
	Lowest, Highest int64
}

// middle is the value that stands for the cell in an estimated mean: the
// "median equivalent value" of the HdrHistogram libraries.
func (c Cell) middle() int64 {
	return c.Lowest + (c.Highest-c.Lowest+1)/2
}
