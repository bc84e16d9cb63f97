package hdr_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"prony/internal/hdr"
)

// A packed histogram reads as before.
func TestPack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, values := range map[string]int{"empty": 0, "one": 1, "many": 50_000} {
		t.Run(name, func(t *testing.T) {
			h := hdr.MustNew(hdr.Config{})
			for range values {
				h.Record(int64(random.ExpFloat64() * 1e6))
			}
			p := h.Copy()
			p.Pack()
			p.Pack()
			if !p.Equal(h) || !h.Equal(p) || !bytes.Equal(p.AppendV2(nil), h.AppendV2(nil)) {
				t.Error("it differs from the one that was not packed")
			}
			for _, q := range []hdr.Quantile{0, hdr.P50, hdr.P99, hdr.P100} {
				if got, want := p.Value(q), h.Value(q); got != want {
					t.Errorf("%v: got %d, want %d", q, got, want)
				}
			}
			if got, want := p.CountAbove(1e6), h.CountAbove(1e6); got != want {
				t.Errorf("above 1 ms: got %d, want %d", got, want)
			}
			both := h.Copy()
			if err := both.Merge(p); err != nil || both.Count() != 2*h.Count() {
				t.Errorf("merge: got %d values, %v", both.Count(), err)
			}
			c := p.Copy()
			c.Record(5)
			if c.Count() != h.Count()+1 || p.Count() != h.Count() {
				t.Errorf("a copy: got %d values, want %d", c.Count(), h.Count()+1)
			}
		})
	}
}
