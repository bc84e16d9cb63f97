package hdr_test

import (
	"math"
	"strings"
	"testing"

	"prony/internal/hdr"
)

// sketch returns an empty sketch of a good accuracy.
func sketch(t *testing.T, alpha float64) *hdr.DDSketch {
	t.Helper()
	s, err := hdr.NewDDSketch(alpha)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestKAT14DDSketch(t *testing.T) {
	s := sketch(t, 0.01)
	if got, want := s.Gamma(), 1.0202020202; math.Abs(got-want) > 1e-10 {
		t.Errorf("gamma: got %v, want %v", got, want)
	}
	for _, tt := range []struct {
		x     float64
		index int
		value float64
		tol   float64
	}{
		{1000, 346, 1002.428, 0.0005},
		{1e9, 1037, 1.0074025e9, 50},
	} {
		if got := s.Index(tt.x); got != tt.index {
			t.Errorf("index of %v: got %d, want %d", tt.x, got, tt.index)
		}
		if got := s.Value(tt.index); math.Abs(got-tt.value) > tt.tol {
			t.Errorf("value of %d: got %v, want %v", tt.index, got, tt.value)
		}
	}
}

func TestDDSketchAccuracy(t *testing.T) {
	for _, alpha := range []float64{0.001, 0.01, 0.2, 0.9} {
		s := sketch(t, alpha)
		if s.Alpha() != alpha {
			t.Errorf("alpha: got %v, want %v", s.Alpha(), alpha)
		}
		for x := 1.0; x < 1e13; x *= 1.37 {
			if got := s.Value(s.Index(x)); math.Abs(got-x) > x*alpha*(1+1e-9) {
				t.Errorf("alpha %v: value of %v: got %v", alpha, x, got)
			}
		}
	}
	for _, alpha := range []float64{0, -1, 1, 2, math.NaN(), 1e-300} {
		if s, err := hdr.NewDDSketch(alpha); err == nil {
			t.Errorf("alpha %v: got %v, want an error", alpha, s)
		}
	}
}

func TestDDSketchExportImport(t *testing.T) {
	h := of(hdr.Config{}, values()...)
	h.RecordN(0, 100)
	s, err := h.DDSketch(0.01)
	if err != nil {
		t.Fatal(err)
	}
	if s.Zero != 100 {
		t.Errorf("zero bin: got %d, want 100", s.Zero)
	}
	back, err := s.Histogram(hdr.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if back.Count() != h.Count() || back.Exact() {
		t.Errorf("got %d values, exact %v; want %d, false", back.Count(), back.Exact(), h.Count())
	}
	for _, q := range []hdr.Quantile{10, hdr.P50, hdr.P90, hdr.P99, hdr.P100} {
		// alpha, plus half a cell on export and one on import.
		got, want := float64(back.Value(q)), float64(h.Value(q))
		if math.Abs(got-want) > want*(0.01+1.5/1024)+1 {
			t.Errorf("%v: got %v, want %v within 1 %%", q, got, want)
		}
	}
	if _, err := h.DDSketch(2); err == nil {
		t.Error("alpha 2: got no error")
	}
}

func TestDDSketchMerge(t *testing.T) {
	a, b := sketch(t, 0.01), sketch(t, 0.01)
	a.Bins[5], a.Zero = 1, 2
	b.Bins[5], b.Bins[-3], b.Collapsed = 10, 4, true
	if err := a.Merge(b); err != nil {
		t.Fatal(err)
	}
	if a.Bins[5] != 11 || a.Bins[-3] != 4 || a.Zero != 2 || !a.Collapsed {
		t.Errorf("got %+v", a)
	}
	if err := a.Merge(sketch(t, 0.02)); err == nil || !strings.Contains(err.Error(), "accuracies differ, 0.01 and 0.02") {
		t.Errorf("other accuracy: got %v", err)
	}
}

func TestDDSketchImportErrors(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		fill       func(*hdr.DDSketch)
		c          hdr.Config
	}{
		{"negative bin", "bin 7 holds -1 values", func(s *hdr.DDSketch) { s.Bins[7] = -1 }, hdr.Config{}},
		{"negative zero bin", "-1 values near zero", func(s *hdr.DDSketch) { s.Zero = -1 }, hdr.Config{}},
		{"too many", "bin 9 holds", func(s *hdr.DDSketch) { s.Bins[8], s.Bins[9] = math.MaxInt64, 1 }, hdr.Config{}},
		{"shape", "significant digits", func(*hdr.DDSketch) {}, hdr.Config{Digits: 7}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sketch(t, 0.01)
			tt.fill(s)
			_, err := s.Histogram(tt.c)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	s := sketch(t, 0.01)
	s.Bins[math.MaxInt] = 1
	h, err := s.Histogram(hdr.Config{})
	if err != nil || h.Overflow() != 1 {
		t.Errorf("a bin beyond every value: got %v, %v, want one overflow", h, err)
	}
}
