package capacity

import "math"

// Asymptote is the load at which the two asymptotes of a closed system meet:
// N* = X_max·(R(1)+Z), with the highest throughput per second, the response time
// of one user and the think time in seconds (operational analysis). It rests on
// two numbers that are well measured, and is "about": see [TwoDigits].
func Asymptote(most, one, think float64) float64 { return most * (one + think) }

// TwoDigits rounds to the two digits that a knee is worth.
func TwoDigits(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	scale := math.Pow(10, math.Floor(math.Log10(math.Abs(x)))-1)
	return math.Round(x/scale) * scale
}

// Knee is a point of a curve and how far it lies above the diagonal of the
// normalised curve, 0 to 1.
type Knee struct{ X, Y, Distance float64 }

// kneedlePoints is the least number of points of an opinion that is worth it.
const kneedlePoints = 8

// SecondOpinion is [Kneedle] on points that suit it: at least 8, evenly spaced.
// Its answer moves with the grid, so that it only stands beside [Asymptote].
func SecondOpinion(x, y []float64) (k Knee, ok bool) {
	if len(x) < kneedlePoints {
		return Knee{}, false
	}
	even := (x[len(x)-1] - x[0]) / float64(len(x)-1)
	for i := 1; i < len(x); i++ {
		if math.Abs(x[i]-x[i-1]-even) > 0.01*math.Abs(even) {
			return Knee{}, false
		}
	}
	return Kneedle(x, y)
}

// Kneedle finds where a rising curve that flattens turns (Satopää et al., 2011,
// with sensitivity 1): the first local maximum of its distance to the diagonal
// that is followed by a drop below a threshold before the next maximum. X must
// rise.
func Kneedle(x, y []float64) (k Knee, ok bool) {
	if len(x) < 3 || len(x) != len(y) {
		return Knee{}, false
	}
	nx, ny := normalised(x), normalised(y)
	d := make([]float64, len(x))
	spacing := (nx[len(nx)-1] - nx[0]) / float64(len(nx)-1)
	for i := range d {
		d[i] = ny[i] - nx[i]
	}
	candidate, threshold := -1, 0.0
	for i := 1; i < len(d); i++ {
		if i < len(d)-1 && d[i] > d[i-1] && d[i] >= d[i+1] {
			candidate, threshold = i, d[i]-spacing
			continue
		}
		if candidate >= 0 && d[i] < threshold {
			return Knee{x[candidate], y[candidate], d[candidate]}, true
		}
	}
	return Knee{}, false
}

// normalised maps values to 0 to 1; all the same become 0.
func normalised(values []float64) []float64 {
	low, high := values[0], values[0]
	for _, v := range values {
		low, high = min(low, v), max(high, v)
	}
	all := make([]float64, len(values))
	if high > low {
		for i, v := range values {
			all[i] = (v - low) / (high - low)
		}
	}
	return all
}
