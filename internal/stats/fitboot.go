package stats

import (
	"math"
	"slices"
)

// Band is what a fit is worth: percentile intervals of its parameters from runs
// drawn again.
type Band struct {
	Alpha, Beta Interval
	// Peak and PeakRate are those of the replicates that have a peak.
	Peak, PeakRate Interval
	// NoPeak is set when the interval of β includes 0: no peak within evidence.
	NoPeak bool
	// replicates are kept for [Band.At].
	replicates []USL
	level      float64
}

// uslReplicates is the usual number of replicates of a fit.
const uslReplicates = 2000

// USL draws the runs at each load again, fits each replicate and takes the
// percentiles, 2,000 replicates by default. Loads are taken in ascending order,
// so that the order of the points does not matter but within a load.
func (b Bootstrap) USL(points []Point, weights Weights) (Band, error) {
	f, err := FitUSL(points, weights)
	if err != nil {
		return Band{}, err
	}
	if b.Replicates == 0 {
		b.Replicates = uslReplicates
	}
	if b.Level == 0 {
		b.Level = 0.95
	}
	band := Band{level: b.Level}
	random := b.random()
	loads := byLoad(points)
	for range b.Replicates {
		var drawn []Point
		for _, at := range loads {
			for range at {
				drawn = append(drawn, at[random.IntN(len(at))])
			}
		}
		if g, err := FitUSL(drawn, f.Weights); err == nil {
			band.replicates = append(band.replicates, g.USL)
		}
	}
	return band, band.fill(b)
}

// byLoad groups the points.
func byLoad(points []Point) [][]Point {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b Point) int { return compareFloat(a.N, b.N) })
	var all [][]Point
	for i, p := range sorted {
		if i == 0 || p.N != sorted[i-1].N {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], p)
	}
	return all
}

func (b *Band) fill(boot Bootstrap) (err error) {
	var alpha, beta, peaks, rates []float64
	for _, u := range b.replicates {
		alpha, beta = append(alpha, u.Alpha), append(beta, u.Beta)
		if n, x := u.Peak(); !math.IsInf(n, 0) {
			peaks, rates = append(peaks, n), append(rates, x)
		}
	}
	if b.Alpha, err = boot.percentiles(alpha); err != nil {
		return err
	}
	if b.Beta, err = boot.percentiles(beta); err != nil {
		return err
	}
	b.NoPeak = b.Beta.Low <= 0
	if len(peaks) == 0 {
		return nil
	}
	if b.Peak, err = boot.percentiles(peaks); err != nil {
		return err
	}
	b.PeakRate, err = boot.percentiles(rates)
	return err
}

// At is the interval of the throughput at a load, for a band around the curve.
func (b *Band) At(n float64) Interval {
	values := make([]float64, len(b.replicates))
	for i, u := range b.replicates {
		values[i] = u.At(n)
	}
	i, err := Bootstrap{Level: b.level}.percentiles(values)
	if err != nil {
		return Interval{}
	}
	return i
}
