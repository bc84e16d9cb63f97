package hdr_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"prony/internal/hdr"
)

// merge adds up copies of hs.
func merge(t *testing.T, hs ...*hdr.Histogram) *hdr.Histogram {
	t.Helper()
	total := hdr.MustNew(hs[0].Config())
	for _, h := range hs {
		if err := total.Merge(h); err != nil {
			t.Fatal(err)
		}
	}
	return total
}

func TestKAT15MergeOfAgents(t *testing.T) {
	const ms = 1_000_000
	a, b := hdr.MustNew(hdr.Config{}), hdr.MustNew(hdr.Config{})
	a.RecordN(1*ms, 990)
	a.RecordN(5*ms, 10)
	b.RecordN(1*ms, 50)
	b.RecordN(100*ms, 50)
	for _, tt := range []struct {
		name string
		h    *hdr.Histogram
		want float64
	}{
		{"agent A", a, 1},
		{"agent B", b, 100},
		{"merged", merge(t, a, b), 5},
		{"merged in the other order", merge(t, b, a), 5},
	} {
		if got := float64(tt.h.Value(hdr.P95)) / ms; got < tt.want || got > tt.want*(1+1.0/1024) {
			t.Errorf("%s: p95 got %v ms, want %v", tt.name, got, tt.want)
		}
	}
}

func TestKAT15MergeOfSeconds(t *testing.T) {
	const ms = 1_000_000
	var seconds []*hdr.Histogram
	average := 0.0
	for i := range 60 {
		h := hdr.MustNew(hdr.Config{})
		if i == 30 {
			h.RecordN(500*ms, 1000)
		} else {
			h.RecordN(1*ms, 980)
			h.RecordN(2*ms, 20)
		}
		average += float64(h.Value(hdr.P99)) / ms / 60
		seconds = append(seconds, h)
	}
	if average < 10.29 || average > 10.32 {
		t.Errorf("average of the p99: got %v ms, want about 10.3", average)
	}
	if got := float64(merge(t, seconds...).Value(hdr.P99)) / ms; got != 500 {
		t.Errorf("p99 of all: got %v ms, want 500 (the exact maximum caps the cell)", got)
	}
}

func TestKAT15MergeIsExactInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		parts := make([]*hdr.Histogram, 1+rng.IntN(6))
		for i := range parts {
			parts[i] = hdr.MustNew(hdr.Config{})
		}
		all := hdr.MustNew(hdr.Config{})
		for range rng.IntN(3000) {
			v := rng.Int64N(1<<(1+rng.Int64N(46))) - 3 // some negative, some overflow
			all.Record(v)
			parts[rng.IntN(len(parts))].Record(v)
		}
		rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		if got := merge(t, parts...); !got.Equal(all) {
			t.Fatalf("got %+v, want %+v", got.Summary(), all.Summary())
		}
	}
}

func TestMergeWithItself(t *testing.T) {
	h, want := of(micros(), 3, 999, 1<<33, -1), of(micros(), 3, 999, 1<<33, -1, 3, 999, 1<<33, -1)
	if err := h.Merge(h); err != nil {
		t.Fatal(err)
	}
	if !h.Equal(want) {
		t.Errorf("got %+v, want %+v", h.Summary(), want.Summary())
	}
}

func TestMergeRefusals(t *testing.T) {
	full := hdr.MustNew(micros())
	full.RecordN(1, 1<<62)
	for _, tt := range []struct {
		name, want string
		o          *hdr.Histogram
	}{
		{"other shape", "shapes differ", hdr.MustNew(hdr.Config{})},
		{"other digits", "shapes differ", hdr.MustNew(hdr.Config{Lowest: 1, Highest: 3_600_000_000, Digits: 2})},
		{"too many values", "exceed the range of a count", full},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := full.Copy()
			err := h.Merge(tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if !h.Equal(full) {
				t.Error("a refused merge changed the histogram")
			}
		})
	}
}

func TestRestore(t *testing.T) {
	h := of(micros(), 10_001, 77_777, 123_456, 1<<33, -5)
	decoded, err := hdr.DecodeV2(h.AppendV2(nil))
	if err != nil {
		t.Fatal(err)
	}
	if decoded.Exact() || decoded.Max() == h.Max() {
		t.Fatalf("decoding alone: got exact %v, max %d", decoded.Exact(), decoded.Max())
	}
	if err := decoded.Restore(h.Summary()); err != nil {
		t.Fatal(err)
	}
	if !decoded.Equal(h) || !decoded.Exact() {
		t.Errorf("got %+v, want %+v", decoded.Summary(), h.Summary())
	}
}

func TestRestoreRefusals(t *testing.T) {
	h := of(micros(), 10_001, 77_777, 123_456)
	for _, tt := range []struct {
		name, want string
		change     func(*hdr.Summary)
	}{
		{"count", "4 values in the summary, 3 in the cells", func(s *hdr.Summary) { s.Count++ }},
		{"minimum in another cell", "minimum 100 is not in the lowest cell", func(s *hdr.Summary) { s.Min = 100 }},
		{"negative minimum", "minimum -1 is not in the lowest cell", func(s *hdr.Summary) { s.Min = -1 }},
		{"maximum in another cell", "maximum 200000 is not in the highest cell", func(s *hdr.Summary) { s.Max = 200_000 }},
		{"overflow", "impossible overflow 4", func(s *hdr.Summary) { s.Overflow = 4 }},
		{"clock errors", "clock errors -1", func(s *hdr.Summary) { s.ClockErrors = -1 }},
		{"no sum", `sum "" is not a whole number`, func(s *hdr.Summary) { s.Sum = "" }},
		{"sum too small", "is not that of 3 values", func(s *hdr.Summary) { s.Sum = "1" }},
		{"sum too large", "is not that of 3 values", func(s *hdr.Summary) { s.Sum = "99999999" }},
		{"endless sum", "is not a whole number in range", func(s *hdr.Summary) { s.Sum = strings.Repeat("9", 1000) }},
		{"negative squares", "sum of squares", func(s *hdr.Summary) { s.SumSquares = "-1" }},
		{"squares too small", "too small for the sum", func(s *hdr.Summary) { s.SumSquares = "5" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, s := h.Copy(), h.Summary()
			tt.change(&s)
			err := c.Restore(s)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if !c.Equal(h) {
				t.Error("a refused summary changed the histogram")
			}
		})
	}
}
