package plan

import (
	"math"
	"math/bits"

	"prony/internal/schedule"
)

// Order says how variants follow each other within a block.
type Order string

const (
	// Shuffled: by the seed, anew in each block.
	Shuffled Order = "shuffled"
	// AsWritten: as the file lists them, so that drift of the machine is taken for
	// a difference between them.
	AsWritten Order = "as-written"
)

// Repeat is how often each variant is measured. Each repeat is a block, which
// holds every variant once. With Detect the number follows from the noise of the
// first Pilot blocks and is fixed then; the plan holds the trials of Times
// blocks, the most there can be. Nothing looks at the comparison itself:
// measuring until it is significant would find differences that are none.
type Repeat struct {
	Times  int     `json:"times"`
	Detect float64 `json:"detect,omitempty"` // a relative difference
	Pilot  int     `json:"pilot,omitempty"`
}

// Bounds of the number of blocks; see Needed.
const (
	pilotBlocks = 5
	leastBlocks = 6 // the signed-rank test of 5 pairs cannot reach 5 %
	mostBlocks  = 30
)

// Needed is the number of blocks that show a difference of Detect with a power
// of 80 % at a level of 5 %, for a coefficient of variation from run to run. It
// is the sample size of a t-test, 2·((z₀.₉₇₅+z₀.₈)·CV/Δ)², over 0.955, the
// efficiency of the rank test under normality. It is at least 6 and at most
// Times. Without Detect it is Times.
func (r Repeat) Needed(cv float64) int {
	if r.Detect <= 0 {
		return r.Times
	}
	if !(cv >= 0) {
		return r.Times
	}
	n := math.Ceil(2 * math.Pow((1.960+0.842)*cv/r.Detect, 2) / 0.955)
	return int(min(max(n, leastBlocks), float64(max(r.Times, leastBlocks))))
}

// blocks gives the order of variants in each block, as indices.
//
// Each block holds every variant once (randomised complete blocks; Abedi and
// Brecht, ICPE 2017), shuffled after Fisher and Yates. Two variants are not
// shuffled but follow the sequence of Thue and Morse, ABBABAAB, which cancels a
// linear and a quadratic drift of the machine; the first letter is drawn.
func blocks(variants, repeats int, seed uint64, order Order) [][]int {
	random := schedule.SplitMix64(seed)
	first := random.Uint64n(2)
	all := make([][]int, repeats)
	for b := range all {
		row := make([]int, variants)
		for i := range row {
			row[i] = i
		}
		switch {
		case order == AsWritten:
		case variants == 2:
			if uint64(bits.OnesCount(uint(b))%2) != first {
				row[0], row[1] = 1, 0
			}
		default:
			for i := variants - 1; i > 0; i-- {
				j := random.Uint64n(uint64(i) + 1)
				row[i], row[j] = row[j], row[i]
			}
		}
		all[b] = row
	}
	return all
}

// seedOf makes the seed of a load of a block: the same for all variants of the
// block, so that they meet the same arrivals (common random numbers), and
// another one in the next. It has 53 bits, which every reader of JSON keeps, and
// is never 0.
func seedOf(seed uint64, block, load int) uint64 {
	random := schedule.SplitMix64(seed ^ uint64(block+1)<<32 ^ uint64(load+1)<<16)
	return max(random.Uint64()>>11, 1)
}
