package hdr_test

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"prony/internal/hdr"
)

func TestPercent(t *testing.T) {
	for _, tt := range []struct {
		p    float64
		want hdr.Quantile
		name string
	}{
		{0, 0, "p0"},
		{50, hdr.P50, "p50"},
		{99, hdr.P99, "p99"},
		{99.9, hdr.P999, "p99.9"},
		{99.99, hdr.P9999, "p99.99"},
		{99.9999, 999_999, "p99.9999"},
		{29.0000001, 290_000, "p29"},
		{100, hdr.P100, "p100"},
		{1e300, hdr.P100, "p100"},
		{-5, 0, "p0"},
		{math.NaN(), 0, "p0"},
	} {
		got := hdr.Percent(tt.p)
		if got != tt.want || got.String() != tt.name {
			t.Errorf("%v: got %d (%v), want %d (%s)", tt.p, got, got, tt.want, tt.name)
		}
	}
}

func TestRank(t *testing.T) {
	for _, tt := range []struct {
		name      string
		q         hdr.Quantile
		n         int64
		want      int64
		wantAbove int64
	}{
		{"empty", hdr.P50, 0, 0, 0},
		{"one value", hdr.P50, 1, 1, 0},
		{"even", hdr.P50, 10, 5, 5},
		{"odd is rounded up", hdr.P50, 11, 6, 5},
		{"zero is the first", 0, 10, 1, 9},
		{"below zero", -3, 10, 1, 9},
		{"above one", 2_000_000, 10, 10, 0},
		{"exactly 9,900, not 9,901", hdr.P99, 10_000, 9_900, 100},
		{"2^53", hdr.P999, 1 << 53, 8_998_192_055_486_252, 9_007_199_254_740},
		{"2^53 + 1", hdr.P50, 1<<53 + 1, 1<<52 + 1, 1 << 52},
		{"largest count", 999_999, math.MaxInt64, 9_223_362_813_482_738_953, 9_223_372_036_854},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.q.Rank(tt.n); got != tt.want {
				t.Errorf("rank: got %d, want %d", got, tt.want)
			}
			if got := tt.q.Beyond(tt.n); got != tt.wantAbove {
				t.Errorf("beyond: got %d, want %d", got, tt.wantAbove)
			}
		})
	}
}

// The rank must agree with unbounded arithmetic.
func TestRankAgainstBig(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	million := big.NewInt(1_000_000)
	for range 2000 {
		q, n := rng.Int64N(1_000_001), rng.Int64N(math.MaxInt64)>>rng.Int64N(62)+1
		product := new(big.Int).Mul(big.NewInt(q), big.NewInt(n))
		product.Add(product, big.NewInt(999_999)).Quo(product, million)
		if got, want := hdr.Quantile(q).Rank(n), max(1, product.Int64()); got != want {
			t.Fatalf("rank of %d in %d: got %d, want %d", q, n, got, want)
		}
	}
}

// For 100 tail samples p99 needs 10,000 requests, p99.9 100,000, p99.99
// 1,000,000.
func TestBeyond(t *testing.T) {
	for q, n := range map[hdr.Quantile]int64{hdr.P99: 10_000, hdr.P999: 100_000, hdr.P9999: 1_000_000} {
		if got := q.Beyond(n); got != 100 {
			t.Errorf("%v of %d: got %d, want 100", q, n, got)
		}
		if got := q.Beyond(n - 1); got != 99 {
			t.Errorf("%v of %d: got %d, want 99", q, n-1, got)
		}
	}
}

func TestValuesInAnyOrder(t *testing.T) {
	h := of(hdr.Config{}, values()...)
	h.RecordN(0, 3000)
	ascending := []hdr.Quantile{0, 10, hdr.P50, hdr.P50, hdr.P90, hdr.P99, hdr.P9999, hdr.P100}
	mixed := []hdr.Quantile{hdr.P100, hdr.P50, hdr.P99, 0, hdr.P90, hdr.P50, 10, hdr.P9999}
	for _, qs := range [][]hdr.Quantile{ascending, mixed} {
		got := h.Values(qs)
		for i, q := range qs {
			if want := h.Value(q); got[i] != want {
				t.Errorf("%v at place %d: got %d, want %d", q, i, got[i], want)
			}
		}
	}
}

func TestCountAbove(t *testing.T) {
	h := of(micros(), 0, 10, 2048, 2049, 2050, 1_000_000)
	for _, tt := range []struct {
		name    string
		v, want int64
	}{
		{"negative", -1, 6},
		{"the least", 0, 5},
		{"between", 9, 5},
		{"exact cell", 10, 4},
		{"shares the cell of a larger value", 2048, 2},
		{"next cell", 2050, 1},
		{"same cell as the maximum", 999_999, 0},
		{"far above", 1 << 30, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := h.CountAbove(tt.v); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
	if got := hdr.MustNew(micros()).CountAbove(-1); got != 0 {
		t.Errorf("empty: got %d, want 0", got)
	}
}

func TestKAT12OmissionCorrection(t *testing.T) {
	raw := hdr.MustNew(micros())
	raw.RecordN(1000, 10_000)
	raw.Record(100_000_000)
	if got := raw.Count(); got != 10_001 {
		t.Errorf("raw count: got %d, want 10001", got)
	}
	if got := raw.Value(hdr.P99); got != 1000 {
		t.Errorf("raw p99: got %d, want 1000", got)
	}
	corrected := raw.CorrectOmission(10_000)
	if got := corrected.Count(); got != 20_000 {
		t.Errorf("corrected count: got %d, want 20000", got)
	}
	qs := []hdr.Quantile{hdr.P50, hdr.P75, hdr.P90, hdr.P99, hdr.P100}
	want := []int64{1000, 50_003_967, 80_019_455, 98_041_855, 100_000_000}
	if got := corrected.Values(qs); !slices.Equal(got, want) {
		t.Errorf("corrected quantiles: got %v, want %v", got, want)
	}
	if corrected.Exact() || !raw.Exact() {
		t.Errorf("exact: got %v corrected and %v raw, want false and true", corrected.Exact(), raw.Exact())
	}
	if got := raw.CorrectOmission(0); !got.Equal(raw) {
		t.Errorf("no interval: got %+v, want %+v", got.Summary(), raw.Summary())
	}
}

// Stepping by cells must count what stepping by values does.
func TestOmissionCorrectionAgainstReference(t *testing.T) {
	for _, interval := range []int64{1, 3, 700, 4096, 100_000} {
		raw := of(micros(), 0, 1, 2047, 5_000, 60_001, 60_001, 300_000)
		want := raw.Copy()
		for _, v := range []int64{0, 1, 2047, 5_003, 60_031, 60_031, 300_000} { // tops of the cells
			for missing := v - interval; missing >= interval; missing -= interval {
				want.Record(missing)
			}
		}
		got := raw.CorrectOmission(interval)
		if g, w := slices.Collect(counts(got)), slices.Collect(counts(want)); !slices.Equal(g, w) {
			t.Errorf("interval %d: counts differ: got %d values, want %d", interval, got.Count(), want.Count())
		}
	}
}

func TestOmissionCorrectionStopsAtTheLargestCount(t *testing.T) {
	raw := hdr.MustNew(micros())
	raw.RecordN(1_000_000, 1<<60)
	got := raw.CorrectOmission(1)
	if got.Count() < raw.Count() || got.Value(hdr.P100) != 1_000_000 {
		t.Errorf("got %d values, maximum %d", got.Count(), got.Max())
	}
}

// nearestRank is the slow, obvious quantile of sorted values.
func nearestRank(sorted []int64, q hdr.Quantile) int64 {
	n := len(sorted)
	k := (int(q)*n + 999_999) / 1_000_000
	return sorted[max(1, k)-1]
}

// FuzzRecordQuantile compares quantiles with those of the sorted values.
func FuzzRecordQuantile(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 16, 1}, uint32(500_000))
	f.Add(binary.BigEndian.AppendUint64(nil, 3_600_000_000_000), uint32(999_999))
	f.Add([]byte("seventy-two bytes of text are nine values, all of them much too large ..")[:72], uint32(0))
	f.Fuzz(func(t *testing.T, data []byte, q uint32) {
		var sorted []int64
		h := hdr.MustNew(hdr.Config{})
		for ; len(data) >= 8; data = data[8:] {
			u := binary.BigEndian.Uint64(data)
			v := int64(u % 3_600_000_000_001 >> (u % 43)) // spread over all magnitudes
			sorted = append(sorted, v)
			h.Record(v)
		}
		if len(sorted) == 0 {
			return
		}
		slices.Sort(sorted)
		checkTotals(t, h, sorted)
		checkQuantiles(t, h, sorted, hdr.Quantile(q%1_000_001))
	})
}

// checkTotals compares the exact totals with those of the values.
func checkTotals(t *testing.T, h *hdr.Histogram, sorted []int64) {
	t.Helper()
	sum := new(big.Int)
	for _, v := range sorted {
		sum.Add(sum, big.NewInt(v))
	}
	s := h.Summary()
	if s.Count != int64(len(sorted)) || s.Min != sorted[0] || s.Max != sorted[len(sorted)-1] || s.Sum != sum.String() {
		t.Errorf("got %+v, want count %d, min %d, max %d, sum %v", s, len(sorted), sorted[0], sorted[len(sorted)-1], sum)
	}
}

// checkQuantiles checks q and some fixed quantiles: error, range, order.
func checkQuantiles(t *testing.T, h *hdr.Histogram, sorted []int64, q hdr.Quantile) {
	t.Helper()
	qs := []hdr.Quantile{0, hdr.P50, hdr.P99, hdr.P9999, hdr.P100, q}
	slices.Sort(qs)
	last := h.Min()
	for i, got := range h.Values(qs) {
		want := nearestRank(sorted, qs[i])
		if got < want || float64(got-want) > float64(want)/1024 {
			t.Errorf("%v of %v: got %d, want %d to +1/1024", qs[i], sorted, got, want)
		}
		if got < last || got > h.Max() {
			t.Errorf("%v: got %d, below a lower quantile (%d) or above the maximum %d", qs[i], got, last, h.Max())
		}
		last = got
	}
}
