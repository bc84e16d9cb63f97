package unit_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"prony/internal/unit"
)

// magnitudes yields positive numbers spread evenly over the logarithm.
func magnitudes(low, high float64) func(yield func(float64) bool) {
	return func(yield func(float64) bool) {
		rng := rand.New(rand.NewPCG(1, 2))
		for range 5000 {
			if !yield(low * math.Pow(high/low, rng.Float64())) {
				return
			}
		}
	}
}

// checkNear reports a value that did not come back within a relative error.
func checkNear(t *testing.T, text string, got, want, tolerance float64, err error) {
	t.Helper()
	if err != nil || math.Abs(got-want) > want*tolerance {
		t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
	}
}

func TestDurationRoundTrip(t *testing.T) {
	for v := range magnitudes(1, 9e18) {
		text := unit.FormatDuration(time.Duration(v))
		got, err := unit.ParseDuration(text)
		checkNear(t, text, float64(got), float64(time.Duration(v)), 0.0084, err) // half a minute in an hour
		if again := unit.FormatDuration(got); again != text {
			t.Errorf("%q is printed as %q the second time", text, again)
		}
	}
}

func TestRateRoundTrip(t *testing.T) {
	for v := range magnitudes(0.001, 9e14) {
		text := unit.FormatRate(v)
		got, err := unit.ParseRate(text)
		checkNear(t, text, got, v, 0.0051, err)
		if again := unit.FormatRate(got); again != text {
			t.Errorf("%q is printed as %q the second time", text, again)
		}
	}
}

func TestCountRoundTrip(t *testing.T) {
	for v := range magnitudes(1, 9e18) {
		text := unit.FormatCount(int64(v))
		if got, err := unit.ParseCount(text); err != nil || got != int64(v) {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, int64(v))
		}
	}
}

func TestSizeRoundTrip(t *testing.T) {
	for v := range magnitudes(1, 1<<50-1<<46) {
		v = math.Round(v)
		text := unit.FormatSize(v)
		got, err := unit.ParseSize(text)
		checkNear(t, text, float64(got), v, 0.05, err)
	}
}

func TestPercentRoundTrip(t *testing.T) {
	for v := range magnitudes(1e-8, 1) {
		text := unit.FormatPercent(v)
		got, err := unit.ParsePercent(text)
		checkNear(t, text, got, v, 0.0051, err)
		if got == 0 || got == 1 {
			t.Errorf("%v is printed as %q", v, text)
		}
	}
}

// FuzzParse: no input panics, and what is accepted is finite and not negative.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"10s", "1m30s", "2k/s", "10/h", "1.5M", "3,776,123", "400Mi", "5 %", "200m", "", "-1", "1e9", "µ"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		duration, derr := unit.ParseDuration(s)
		rate, rerr := unit.ParseRate(s)
		count, cerr := unit.ParseCount(s)
		size, serr := unit.ParseSize(s)
		ratio, perr := unit.ParsePercent(s)
		cpus, uerr := unit.ParseCPUs(s)
		for _, r := range []struct {
			kind  string
			value float64
			err   error
		}{
			{"duration", float64(duration), derr}, {"rate", rate, rerr}, {"count", float64(count), cerr},
			{"size", float64(size), serr}, {"percentage", ratio, perr}, {"processors", cpus, uerr},
		} {
			if !(r.value >= 0) || math.IsInf(r.value, 0) || (r.err != nil && r.value != 0) {
				t.Errorf("%s %q: got %v, %v", r.kind, s, r.value, r.err)
			}
		}
	})
}
