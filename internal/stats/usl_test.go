package stats_test

import (
	"math"
	"slices"
	"testing"

	"prony/internal/stats"
)

func sdm91() []stats.Point {
	return []stats.Point{{1, 64.9}, {18, 995.9}, {36, 1652.4}, {72, 1853.2}, {108, 1828.9}, {144, 1775.0}, {216, 1702.2}}
}

func TestKAT34SDM91(t *testing.T) {
	f, err := stats.FitUSL(sdm91(), stats.Absolute)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "γ", f.Gamma, 89.99527, 5e-5)
	near(t, "α", f.Alpha, 0.0277285, 5e-8)
	near(t, "β", f.Beta, 0.000104365, 5e-10)
	near(t, "error of γ", f.Errors[0], 14.213, 5e-3)
	near(t, "error of α", f.Errors[1], 0.0091217, 5e-6)
	near(t, "error of β", f.Errors[2], 0.0000198752, 5e-9)
	n, x := f.Peak()
	near(t, "N*", n, 96.5196, 5e-4)
	near(t, "X_max", x, 1883.90, 5e-2)
	near(t, "linear γ", f.Linear.Gamma, 78.3104, 5e-4)
	near(t, "linear α", f.Linear.Alpha, 0.0244483, 5e-7)
	near(t, "linear β", f.Linear.Beta, 0.0000810366, 5e-10)
}

func TestKAT34Weights(t *testing.T) {
	f, err := stats.FitUSL(sdm91(), stats.AutoWeights)
	if err != nil {
		t.Fatal(err)
	}
	if f.Weights != stats.Relative {
		t.Fatalf("got weights %q, want relative for a spread of 28", f.Weights)
	}
	near(t, "γ", f.Gamma, 67.709, 5e-3)
	near(t, "α", f.Alpha, 0.0135152, 5e-7)
	near(t, "β", f.Beta, 0.000115092, 5e-9)
	n, _ := f.Peak()
	near(t, "N*", n, 92.58, 5e-2)
}

// lawful are points of a law, times 1+noise(i).
func lawful(u stats.USL, runs int, noise func(i int) float64) []stats.Point {
	var all []stats.Point
	for _, n := range []float64{1, 2, 4, 8, 16, 32, 48, 64} {
		for range runs {
			all = append(all, stats.Point{N: n, X: u.At(n) * (1 + noise(len(all)))})
		}
	}
	return all
}

func none(int) float64 { return 0 }

func TestKAT35Exact(t *testing.T) {
	law := stats.USL{Gamma: 1000, Alpha: 0.02, Beta: 0.0005}
	points := lawful(law, 1, none)
	for i, want := range []float64{1000, 1958.864, 3752.345, 6849.315, 11267.606, 15122.873, 15645.372, 14967.259} {
		near(t, "X", points[i].X, want, 5e-4)
	}
	for _, w := range []stats.Weights{stats.Absolute, stats.Relative} {
		f, err := stats.FitUSL(points, w)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "γ", f.Gamma/1000, 1, 1e-6)
		near(t, "α", f.Alpha, 0.02, 1e-6)
		near(t, "β", f.Beta, 0.0005, 1e-6)
		if !f.Predicts(128) || f.Predicts(129) {
			t.Errorf("got %q; want predictions up to twice the largest load", f.Unproven)
		}
	}
	n, x := law.Peak()
	near(t, "N*", n, 44.2719, 5e-5)
	near(t, "X_max", x, 15680.891, 5e-4)
	whole, x := law.WholePeak()
	near(t, "X at the whole peak", x, 15680.684, 5e-4)
	if whole != 44 {
		t.Errorf("got a whole peak at %d, want 44", whole)
	}
}

func TestKAT35Efficiency(t *testing.T) {
	law := stats.USL{Gamma: 1000, Alpha: 0.02, Beta: 0.0005}
	near(t, "E(8)", stats.Efficiency(law.At(1), law.At(8), 8), 0.856164, 5e-7)
	near(t, "E(64)", stats.Efficiency(law.At(1), law.At(64), 64), 0.233863, 5e-7)
	for k, want := range map[float64]float64{2: .021, 4: .022, 8: .024, 16: .028} {
		near(t, "serial fraction", stats.KarpFlatt(law.At(k)/law.At(1), k), want, 1e-9)
	}
}

// TestBounds: where the law has no coherency or no contention, the parameter is
// held at zero and named.
func TestBounds(t *testing.T) {
	// Noise that bends upwards at the end asks for a negative β.
	up := func(i int) float64 { return 0.002 * float64(i*i) / 64 }
	f, err := stats.FitUSL(lawful(stats.USL{Gamma: 100, Alpha: 0.05}, 1, up), stats.Absolute)
	if err != nil {
		t.Fatal(err)
	}
	if f.Beta != 0 || !slices.Contains(f.Bound, "beta") || f.Errors[2] != 0 {
		t.Errorf("got β %v, bounds %v; want 0 and held", f.Beta, f.Bound)
	}
	if n, x := f.Peak(); !math.IsInf(n, 1) || math.Abs(x-f.Gamma/f.Alpha) > 1e-9 {
		t.Errorf("got peak %v, %v; want none and the limit γ/α", n, x)
	}
	linear, err := stats.FitUSL(lawful(stats.USL{Gamma: 100}, 1, none), stats.Absolute)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "γ of a straight line", linear.Gamma, 100, 1e-6)
	near(t, "α of a straight line", linear.Alpha, 0, 1e-8)
}

func TestUnproven(t *testing.T) {
	law := stats.USL{Gamma: 1000, Alpha: 0.02, Beta: 0.0005}
	for name, tt := range map[string]struct {
		points []stats.Point
		want   string
	}{
		"five loads":       {lawful(law, 1, none)[:5], "fewer than 6 different loads"},
		"all far below":    {[]stats.Point{{1, law.At(1)}, {2, law.At(2)}, {3, law.At(3)}, {4, law.At(4)}, {5, law.At(5)}, {6, law.At(6)}}, "fewer than two loads lie beyond half the peak"},
		"all that is due":  {lawful(law, 1, none), ""},
		"six repeats at 1": {append(lawful(law, 1, none)[:3], slices.Repeat([]stats.Point{{1, 1000}}, 6)...), "fewer than 6 different loads"},
	} {
		f, err := stats.FitUSL(tt.points, stats.Absolute)
		if err != nil || f.Unproven != tt.want {
			t.Errorf("%s: got %q, %v, want %q", name, f.Unproven, err, tt.want)
		}
	}
	for name, points := range map[string][]stats.Point{"two loads": {{1, 1}, {2, 2}}, "nothing done": {{1, 1}, {2, 0}, {3, 3}}} {
		if _, err := stats.FitUSL(points, stats.Absolute); err == nil {
			t.Errorf("%s: got a fit, want an error", name)
		}
	}
}

// TestBand: intervals of the fit hold the law that made the points.
func TestBand(t *testing.T) {
	law := stats.USL{Gamma: 1000, Alpha: 0.02, Beta: 0.0005}
	x := lcg(7)
	points := lawful(law, 5, func(int) float64 { return x.next() / 500 }) // ±2 %
	boot := stats.Bootstrap{Replicates: 300, Seed: 5}
	band, err := boot.USL(points, stats.AutoWeights)
	if err != nil {
		t.Fatal(err)
	}
	n, peak := law.Peak()
	for what, c := range map[string]struct {
		i    stats.Interval
		want float64
	}{"α": {band.Alpha, 0.02}, "β": {band.Beta, 0.0005}, "N*": {band.Peak, n}, "X_max": {band.PeakRate, peak}, "at 30": {band.At(30), law.At(30)}} {
		if c.i.Low > c.want || c.i.High < c.want || c.i.Low == c.i.High {
			t.Errorf("%s: got %+v, want it to hold %v", what, c.i, c.want)
		}
	}
	if band.NoPeak {
		t.Error("got no peak within evidence; the law has one")
	}
	again, err := boot.USL(points, stats.AutoWeights)
	if err != nil || again.Peak != band.Peak || again.Alpha != band.Alpha {
		t.Errorf("got %+v the second time, want %+v", again.Peak, band.Peak)
	}
	straight, err := boot.USL(lawful(stats.USL{Gamma: 100, Alpha: 0.05}, 5, func(int) float64 { return x.next() / 500 }), stats.AutoWeights)
	if err != nil || !straight.NoPeak {
		t.Errorf("got β %+v, %v; want no peak within evidence", straight.Beta, err)
	}
}
