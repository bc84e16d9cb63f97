package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Bootstrap makes an interval for a quantity without a closed form: a ratio of
// medians over routes, of capacities, the peak of a fit. It draws again what was
// measured, runs first and then the windows within each, and takes the
// percentiles of what comes out. The same Seed gives the same interval.
type Bootstrap struct {
	Replicates int     // default 10,000
	Level      float64 // default 0.95
	Seed       uint64
	// Paired draws the same places in all groups: runs of a block stay together.
	Paired bool
}

// Interval of a statistic over groups (variants) of runs of windows. The
// statistic must not keep what it gets. Coverage is the level, which is nominal.
// Fewer than 6 runs in a group, or pairs that are not complete, are an error;
// replicates for which the statistic is NaN are left out.
func (b Bootstrap) Interval(groups [][][]float64, statistic func(groups [][][]float64) float64) (Interval, error) {
	for i, runs := range groups {
		if len(runs) < LeastPairs {
			return Interval{}, fmt.Errorf("bootstrap group %d: %d runs, and it takes %d", i+1, len(runs), LeastPairs)
		}
		if b.Paired && len(runs) != len(groups[0]) {
			return Interval{}, fmt.Errorf("bootstrap group %d: %d runs, but the first has %d, so they are not paired", i+1, len(runs), len(groups[0]))
		}
	}
	random := b.random()
	values := make([]float64, 0, b.replicates())
	for range b.replicates() {
		if v := statistic(b.draw(random, groups)); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return b.percentiles(values)
}

func (b Bootstrap) random() *rand.Rand { return rand.New(rand.NewPCG(b.Seed, 0x9e3779b97f4a7c15)) }

func (b Bootstrap) replicates() int {
	if b.Replicates > 0 {
		return b.Replicates
	}
	return 10_000
}

// draw makes one replicate.
func (b Bootstrap) draw(random *rand.Rand, groups [][][]float64) [][][]float64 {
	drawn := make([][][]float64, len(groups))
	var places []int
	for g, runs := range groups {
		if g == 0 || !b.Paired {
			places = places[:0]
			for range runs {
				places = append(places, random.IntN(len(runs)))
			}
		}
		for _, p := range places {
			drawn[g] = append(drawn[g], again(random, runs[p]))
		}
	}
	return drawn
}

// again draws as many of the values as there are; a single one stays.
func again(random *rand.Rand, values []float64) []float64 {
	drawn := make([]float64, len(values))
	for i := range drawn {
		drawn[i] = values[random.IntN(len(values))]
	}
	return drawn
}

func (b Bootstrap) percentiles(values []float64) (Interval, error) {
	level := b.Level
	if level == 0 {
		level = 0.95
	}
	if len(values) == 0 {
		return Interval{}, fmt.Errorf("bootstrap: the statistic has no value in any replicate")
	}
	slices.Sort(values)
	n := float64(len(values))
	low := int(math.Floor((1 - level) / 2 * n))
	high := int(math.Ceil((1+level)/2*n)) - 1
	return Interval{Low: values[low], High: values[high], Coverage: level}, nil
}
