package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"prony/internal/stats"
)

// TestRunsAreTheUnit: without a difference, runs that differ by 3 % and windows
// by 1 % give alarms at the nominal rate by run, and mostly alarms when their
// windows are pooled (method, section 4.1).
func TestRunsAreTheUnit(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	pooled, byRun := 0, 0
	const experiments = 200
	for range experiments {
		var windows, means [2][]float64
		for side := range 2 {
			for range 5 {
				level, sum := 1000*(1+0.03*random.NormFloat64()), 0.0
				for range 60 {
					y := level + 10*random.NormFloat64()
					windows[side] = append(windows[side], y)
					sum += y / 60
				}
				means[side] = append(means[side], sum)
			}
		}
		if stats.MannWhitney(windows[0], windows[1]).P < 0.05 {
			pooled++
		}
		if stats.MannWhitney(means[0], means[1]).P < 0.05 {
			byRun++
		}
	}
	if pooled < experiments*7/10 || byRun > experiments*8/100 {
		t.Errorf("got %d alarms of %d on windows and %d on runs, want about 80 %% and 4 %%", pooled, experiments, byRun)
	}
}

// TestDrift: of equal variants on a machine that drifts, only the order that
// interleaves them and the analysis by pairs keep the nominal rate (section 4.5).
func TestDriftDemonstration(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	sequential, unpaired, paired := 0, 0, 0
	const experiments = 400
	for range experiments {
		y := make([]float64, 20)
		for slot := range y {
			y[slot] = 100 + 0.2*float64(slot) + random.NormFloat64()
		}
		if stats.MannWhitney(y[:10], y[10:]).P < 0.05 {
			sequential++
		}
		var a, b, d []float64
		for block := range 10 {
			i := random.IntN(2)
			a, b = append(a, y[2*block+i]), append(b, y[2*block+1-i])
			d = append(d, b[block]-a[block])
		}
		if stats.MannWhitney(a, b).P < 0.05 {
			unpaired++
		}
		if stats.SignedRank(d).P < 0.05 {
			paired++
		}
	}
	if sequential < experiments*88/100 || unpaired > experiments*4/100 || paired < experiments*2/100 || paired > experiments*9/100 {
		t.Errorf("got %d, %d and %d alarms of %d; want about 95 %%, 0.6 %% and 5.7 %%", sequential, unpaired, paired, experiments)
	}
}

// TestSegmentsOfNoise: correlated noise is not taken for changes of level, and
// steps are found where they are (section 3.3). At φ = 0.7 that holds while the
// noise is small against the tolerance: with a CV of 2 % and more, 12 % are
// called not flat.
func TestSegmentsOfNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	series := func(n int, cv, phi float64, base func(i int) float64) []float64 {
		y, e := make([]float64, n), 0.0
		for i := range y {
			e = phi*e + math.Sqrt(1-phi*phi)*random.NormFloat64()
			y[i] = base(i) * (1 + cv*e)
		}
		return y
	}
	for _, tt := range []struct {
		cv, phi float64
		most    int // of 80 not flat
	}{{0.03, 0, 0}, {0.03, 0.3, 2}, {0.03, 0.5, 2}, {0.01, 0.7, 5}} {
		alarms := 0
		for k := range 80 {
			if got := (stats.Series{}).Steady(series(60+3*k, tt.cv, tt.phi, steps(0, 1000))); got.Class != stats.Flat {
				alarms++
			}
		}
		if alarms > tt.most {
			t.Errorf("φ=%v: got %d of 80 not flat, want at most %d", tt.phi, alarms, tt.most)
		}
	}
	for _, cv := range []float64{0.03, 0.05, 0.10} {
		for range 60 {
			got := stats.Series{}.Steady(series(120, cv, 0, steps(0, 700, 25, 1000)))
			if got.From < 23 || got.From > 27 || got.Class != stats.Warming {
				t.Errorf("CV %v: got %s from %d, want warmup from 25 ± 2", cv, got.Class, got.From)
			}
		}
	}
}
