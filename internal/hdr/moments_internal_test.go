package hdr

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// The fixed-width sums must agree with unbounded arithmetic, carries included.
func TestMomentsAgainstBig(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var m moments
	sum, squares := new(big.Int), new(big.Int)
	account := func(v, n int64) {
		weighted := new(big.Int).Mul(big.NewInt(v), big.NewInt(n))
		sum.Add(sum, weighted)
		squares.Add(squares, weighted.Mul(weighted, big.NewInt(v)))
	}
	for range 2000 {
		v, n := rng.Int64()>>rng.Int64N(63), rng.Int64()>>(16+rng.Int64N(47))
		m.add(uint64(v))
		account(v, 1)
		m.addN(uint64(v), uint64(n))
		account(v, n)
	}
	if got := wide(m.sum[:]); got.Cmp(sum) != 0 {
		t.Errorf("sum: got %v, want %v", got, sum)
	}
	if got := wide(m.squares[:]); got.Cmp(squares) != 0 {
		t.Errorf("sum of squares: got %v, want %v", got, squares)
	}
	if m.squares[2] == 0 {
		t.Error("the values drawn do not reach the third word")
	}
}

func TestMomentsHoldTheLargestTotal(t *testing.T) {
	var m moments
	m.addN(math.MaxInt64, math.MaxInt64)
	largest := big.NewInt(math.MaxInt64)
	square := new(big.Int).Mul(largest, largest)
	if got := wide(m.sum[:]); got.Cmp(square) != 0 {
		t.Errorf("sum: got %v, want %v", got, square)
	}
	if got, want := wide(m.squares[:]), new(big.Int).Mul(square, largest); got.Cmp(want) != 0 {
		t.Errorf("sum of squares: got %v, want %v", got, want)
	}
	if got, want := m.mean(math.MaxInt64), float64(math.MaxInt64); got != want {
		t.Errorf("mean: got %v, want %v", got, want)
	}
}

func TestSplitAndWide(t *testing.T) {
	for _, tt := range []struct {
		name string
		x    *big.Int
		fits bool
	}{
		{"zero", big.NewInt(0), true},
		{"one word", new(big.Int).SetUint64(math.MaxUint64), true},
		{"two words", new(big.Int).Lsh(big.NewInt(5), 100), true},
		{"three words", new(big.Int).Lsh(big.NewInt(1), 128), false},
		{"negative", big.NewInt(-1), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var words [2]uint64
			if got := split(tt.x, words[:]); got != tt.fits {
				t.Fatalf("fits: got %v, want %v", got, tt.fits)
			}
			if got := wide(words[:]); tt.fits && got.Cmp(tt.x) != 0 {
				t.Errorf("got %v, want %v", got, tt.x)
			}
		})
	}
}
