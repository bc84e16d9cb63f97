package stats

import "math"

// Constants of the segmentation (method, section 3.3).
const (
	segmentLeast   = 5     // values of the shortest segment
	penaltyFactor  = 5     // β = 5·ln n
	windowHalf     = 5     // of the 11 values that a spike is held against
	spikeLimit     = 5     // deviations from their median
	noiseFloor     = 0.005 // of the median: less noise is taken for that
	correlationMax = 0.8
)

// diffNoise is the deviation of a series from the differences of its
// neighbours, which steps and drifts hardly touch.
func diffNoise(y []float64) float64 {
	if len(y) < 2 {
		return 0
	}
	d := make([]float64, len(y)-1)
	for i := range d {
		d[i] = math.Abs(y[i+1] - y[i])
	}
	return Median(d) / (0.6745 * math.Sqrt2)
}

// Changes are the places where the level of a series changes.
type Changes struct {
	// Points are the first values of all segments but the first, from 0.
	Points []int
	// Noise is the deviation that was used at last, FirstNoise the one at first,
	// before the correlation of neighbours, Correlation, was known.
	Noise, FirstNoise, Correlation float64
}

// ChangePoints cuts a series of one-second values where its level changes, by
// exact optimal partitioning (Jackson et al., 2005): the least squared distance
// from the means of the segments, each cut at a price of 5·ln n. Single spikes
// do not count, and noise whose neighbours resemble each other is allowed for:
// at a correlation of 0.5 hardly any flat series is cut, at 0.7 about one in ten.
func ChangePoints(y []float64) Changes {
	if len(y) < 2*segmentLeast {
		return Changes{}
	}
	floor := noiseFloor * math.Abs(Median(y))
	difference := diffNoise(y)
	c := Changes{FirstNoise: max(difference, floor)}
	c.Noise = c.FirstNoise
	if c.Noise == 0 {
		return c // a series of zeros has no cuts
	}
	z := clipped(y, c.Noise)
	c.Points = partition(z)
	deviation, correlation := residuals(z, c.Points)
	c.Correlation = min(max(correlation, 0), correlationMax)
	stretched := max(deviation*c.Noise, difference) * math.Sqrt((1+c.Correlation)/(1-c.Correlation))
	c.Noise = max(stretched, floor)
	c.Points = partition(clipped(y, c.Noise))
	return c
}

// clipped is the series in deviations, each value moved to within 5 of them of
// the median of its neighbourhood.
func clipped(y []float64, noise float64) []float64 {
	z := make([]float64, len(y))
	for i := range y {
		around := y[max(0, i-windowHalf):min(len(y), i+windowHalf+1)]
		centre := Median(around) / noise
		z[i] = min(max(y[i]/noise, centre-spikeLimit), centre+spikeLimit)
	}
	return z
}

// partition is the dynamic programme: the best cut of every beginning.
func partition(z []float64) []int {
	n := len(z)
	sum, squares := make([]float64, n+1), make([]float64, n+1)
	for i, v := range z {
		v -= z[0] // keeps the squares small
		sum[i+1], squares[i+1] = sum[i]+v, squares[i]+v*v
	}
	cost := func(i, j int) float64 {
		s := sum[j] - sum[i]
		return squares[j] - squares[i] - s*s/float64(j-i)
	}
	penalty := penaltyFactor * math.Log(float64(n))
	best, from := make([]float64, n+1), make([]int, n+1)
	best[0] = -penalty
	for j := 1; j <= n; j++ {
		best[j] = math.Inf(1)
		for i := 0; i+segmentLeast <= j; i++ {
			if c := best[i] + cost(i, j) + penalty; c < best[j] {
				best[j], from[j] = c, i
			}
		}
	}
	return cuts(from)
}

// cuts walks back over where the segments begin.
func cuts(from []int) []int {
	var points []int
	for j := from[len(from)-1]; j > 0; j = from[j] {
		points = append([]int{j}, points...)
	}
	return points
}

// residuals are what the means of segments leave: their deviation, and the
// correlation of neighbours.
func residuals(z []float64, points []int) (deviation, correlation float64) {
	var squares, products, before float64
	for k, s := range segments(len(z), points) {
		mean, _ := moments(z[s[0]:s[1]])
		for i := s[0]; i < s[1]; i++ {
			e := z[i] - mean
			if k > 0 || i > s[0] {
				products += e * before
			}
			squares += e * e
			before = e
		}
	}
	if squares == 0 {
		return 0, 0
	}
	return math.Sqrt(squares / float64(len(z))), products / squares
}

// segments are the bounds between the points.
func segments(n int, points []int) [][2]int {
	var all [][2]int
	from := 0
	for _, p := range points {
		all = append(all, [2]int{from, p})
		from = p
	}
	return append(all, [2]int{from, n})
}
