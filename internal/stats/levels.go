package stats

import (
	"errors"
	"math"
)

// Levels is where the noise of a metric sits: between the windows of a run, or
// between runs (Kalibera and Jones, 2013, with the published correction: T² of a
// level subtracts S² of the one below, over its number of values).
type Levels struct {
	Runs, Windows int
	Mean          float64
	// Half is half the 95 % interval of the mean, from the means of the runs.
	Half float64
	// Within and Between are S₁² and S₂²: the mean variance within runs, and the
	// variance of the means of runs.
	Within, Between float64
	// Own is T₂² as computed, the variance that belongs to runs alone. Below zero
	// it stands for zero.
	Own float64
	// Pooled is the half interval that taking windows for runs would claim.
	Pooled float64
}

// Variance splits the noise of runs of as many windows each. It needs two runs
// of two windows.
func Variance(runs [][]float64) (Levels, error) {
	if len(runs) < 2 || len(runs[0]) < 2 {
		return Levels{}, errors.New("split the variance: it takes two runs of two windows")
	}
	l := Levels{Runs: len(runs), Windows: len(runs[0])}
	var means, all []float64
	for _, run := range runs {
		if len(run) != l.Windows {
			return Levels{}, errors.New("split the variance: the runs differ in their number of windows")
		}
		mean, variance := moments(run)
		means, all = append(means, mean), append(all, run...)
		l.Within += variance / float64(l.Runs)
	}
	l.Mean, l.Between = moments(means)
	l.Own = l.Between - l.Within/float64(l.Windows)
	l.Half = half(l.Between, l.Runs)
	_, pooled := moments(all)
	l.Pooled = half(pooled, len(all))
	return l, nil
}

// half is half the 95 % interval of a mean of n values, by Student's law.
func half(variance float64, n int) float64 {
	return studentT(float64(n-1), 0.025) * math.Sqrt(variance/float64(n))
}

// moments are the mean and the sample variance; the variance of one value is 0.
func moments(values []float64) (mean, variance float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		variance += (v - mean) * (v - mean) / float64(max(len(values)-1, 1))
	}
	return mean, variance
}

// ICC is the share of the variance of a window that its run causes, 0 to 1.
func (l Levels) ICC() float64 {
	own := max(l.Own, 0)
	if own+l.Within == 0 {
		return 0
	}
	return own / (own + l.Within)
}

// DesignEffect is by what factor windows of the same runs are worth less than
// independent ones.
func (l Levels) DesignEffect() float64 { return 1 + float64(l.Windows-1)*l.ICC() }

// BestWindows is the number of windows a run should have when starting a run,
// with its warm-up, costs so many times a window: √(cost·T₁²/T₂²) (Kalibera and
// Jones). Without variance between runs longer runs are as good as more: 0.
func (l Levels) BestWindows(cost float64) (exact float64, windows int) {
	if l.Own <= 0 {
		return 0, 0
	}
	exact = math.Sqrt(cost * l.Within / l.Own)
	return exact, int(math.Ceil(exact))
}

// CV is the coefficient of variation, a ratio: the sample deviation over the
// mean. NaN of fewer than two values or a mean of zero.
func CV(values []float64) float64 {
	mean, variance := moments(values)
	if len(values) < 2 || mean == 0 {
		return math.NaN()
	}
	return math.Sqrt(variance) / math.Abs(mean)
}

// Deviation is the sample standard deviation; NaN of fewer than two values.
func Deviation(values []float64) float64 {
	if len(values) < 2 {
		return math.NaN()
	}
	_, variance := moments(values)
	return math.Sqrt(variance)
}
