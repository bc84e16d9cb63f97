package hdr_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"prony/internal/hdr"
)

// micros is the shape of most known answers: 1 µs to one hour in µs.
func micros() hdr.Config { return hdr.Config{Lowest: 1, Highest: 3_600_000_000, Digits: 3} }

// of returns a histogram of the given values.
func of(c hdr.Config, values ...int64) *hdr.Histogram {
	h := hdr.MustNew(c)
	for _, v := range values {
		h.Record(v)
	}
	return h
}

// upTo returns a histogram of 1..n.
func upTo(c hdr.Config, n int64) *hdr.Histogram {
	h := hdr.MustNew(c)
	for v := int64(1); v <= n; v++ {
		h.Record(v)
	}
	return h
}

func TestKAT10Quantiles(t *testing.T) {
	h := upTo(micros(), 10_000)
	for _, tt := range []struct {
		q    hdr.Quantile
		want int64
	}{
		{hdr.Percent(25), 2501},
		{hdr.P50, 5003},
		{hdr.P90, 9007},
		{hdr.P99, 9903},
		{hdr.P999, 9991},
		{hdr.P9999, 9999},
		{hdr.P100, 10_000},
	} {
		t.Run(tt.q.String(), func(t *testing.T) {
			if got := h.Value(tt.q); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
	if got, want := h.Mean(), 5000.5; got != want {
		t.Errorf("mean: got %v, want %v", got, want)
	}
	decoded, err := hdr.DecodeV2(h.AppendV2(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := decoded.Mean(), 5000.898; math.Abs(got-want) > 0.0005 {
		t.Errorf("mean of the cells: got %v, want %v", got, want)
	}
}

func TestExactTotals(t *testing.T) {
	h := of(hdr.Config{}, 4, 2, 10_000, 2)
	check := func(name string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	check("count", h.Count(), int64(4))
	check("min", h.Min(), int64(2))
	check("max", h.Max(), int64(10_000))
	check("sum", h.Sum(), 10_008.0)
	check("mean", h.Mean(), 2502.0)
	check("exact", h.Exact(), true)
	// Squared deviations: 2498^2 + 2*2500^2 + 7498^2 = 74,960,008 + 0.
	deviations := 2498.0*2498 + 2*2500*2500 + 7498.0*7498
	check("population deviation", h.StdDev(), math.Sqrt(deviations/4))
	check("sample deviation", h.SampleStdDev(), math.Sqrt(deviations/3))
}

func TestEmpty(t *testing.T) {
	h := hdr.MustNew(hdr.Config{})
	for name, got := range map[string]float64{
		"count": float64(h.Count()), "min": float64(h.Min()), "max": float64(h.Max()),
		"sum": h.Sum(), "mean": h.Mean(), "deviation": h.StdDev(), "sample deviation": h.SampleStdDev(),
		"p50": float64(h.Value(hdr.P50)), "p100": float64(h.Value(hdr.P100)), "above": float64(h.CountAbove(0)),
	} {
		if got != 0 {
			t.Errorf("%s: got %v, want 0", name, got)
		}
	}
	for cell := range h.Cells() {
		t.Errorf("got cell %v in an empty histogram", cell)
	}
}

func TestDeviationDoesNotCancel(t *testing.T) {
	// One hour and one nanosecond more: a float64 sum of squares has lost
	// the difference long before.
	h := hdr.MustNew(hdr.Config{Highest: 1 << 62})
	h.RecordN(1<<61, 1_000_000)
	h.RecordN(1<<61+2, 1_000_000)
	if got, want := h.StdDev(), 1.0; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestOutside(t *testing.T) {
	h := hdr.MustNew(micros())
	h.Record(500)
	h.Record(3_600_000_000)
	h.Record(3_600_000_001)
	h.RecordN(5_000_000_000, 2)
	h.Record(-1)
	h.RecordN(math.MinInt64, 2)
	h.RecordN(7, 0)
	h.RecordN(7, -3)
	for _, tt := range []struct {
		name      string
		got, want int64
	}{
		{"count", h.Count(), 5},
		{"overflow", h.Overflow(), 3},
		{"clock errors", h.ClockErrors(), 3},
		{"min", h.Min(), 500},
		{"max", h.Max(), 5_000_000_000},
		{"p20", h.Value(hdr.Percent(20)), 500},
		{"p50 in the top cell", h.Value(hdr.P50), 3_600_809_983},
		{"above 500", h.CountAbove(500), 4},
		{"above the highest", h.CountAbove(3_600_000_000), 3},
		{"above all", h.CountAbove(6_000_000_000), 0},
		{"above -1", h.CountAbove(-1), 5},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, tt.got, tt.want)
		}
	}
}

func TestRecordNEqualsRecord(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	single, multiple := hdr.MustNew(micros()), hdr.MustNew(micros())
	for range 500 {
		v, n := rng.Int64N(1<<rng.Int64N(40))-1, rng.Int64N(5)
		multiple.RecordN(v, n)
		for range n {
			single.Record(v)
		}
	}
	if !single.Equal(multiple) {
		t.Errorf("got %+v, want %+v", multiple.Summary(), single.Summary())
	}
	if single.Overflow() == 0 || single.ClockErrors() == 0 {
		t.Error("the values drawn do not leave the range")
	}
}

func TestReset(t *testing.T) {
	h := of(micros(), 0, 17, 1<<40, -1)
	h.Reset()
	if !h.Equal(hdr.MustNew(micros())) {
		t.Errorf("after reset: got %+v", h.Summary())
	}
	h.Record(3_600_000_000)
	h.Record(0)
	if got, want := slices.Collect(counts(h)), []int64{1, 1}; !slices.Equal(got, want) {
		t.Errorf("cells after reuse: got %v, want %v", got, want)
	}
}

// counts yields the counts of the cells in use.
func counts(h *hdr.Histogram) func(func(int64) bool) {
	return func(yield func(int64) bool) {
		for _, n := range h.Cells() {
			if !yield(n) {
				return
			}
		}
	}
}

func TestCells(t *testing.T) {
	h := of(micros(), 10_003, 0, 2, 10_000, 3_600_000_000)
	type entry struct {
		cell hdr.Cell
		n    int64
	}
	want := []entry{
		{hdr.Cell{Lowest: 0, Highest: 0}, 1},
		{hdr.Cell{Lowest: 2, Highest: 2}, 1},
		{hdr.Cell{Lowest: 10_000, Highest: 10_007}, 2},
		{hdr.Cell{Lowest: 3_598_712_832, Highest: 3_600_809_983}, 1},
	}
	var got []entry
	for cell, n := range h.Cells() {
		got = append(got, entry{cell, n})
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for cell := range h.Cells() {
		if cell != want[0].cell {
			t.Errorf("first cell: got %v, want %v", cell, want[0].cell)
		}
		break // stopping early must not panic
	}
}

func TestEqual(t *testing.T) {
	h := of(micros(), 5, 4096, 70_000)
	for _, tt := range []struct {
		name string
		o    *hdr.Histogram
		want bool
	}{
		{"itself", h, true},
		{"other order", of(micros(), 70_000, 5, 4096), true},
		{"other shape", of(hdr.Config{}, 5, 4096, 70_000), false},
		{"same cells, other values", of(micros(), 5, 4097, 70_000), false},
		{"fewer", of(micros(), 5, 70_000), false},
		{"clock error", of(micros(), 5, 4096, 70_000, -1), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := h.Equal(tt.o); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestCopyIsIndependent(t *testing.T) {
	h := of(micros(), 5, 500)
	c := h.Copy()
	if !c.Equal(h) {
		t.Fatalf("got %+v, want %+v", c.Summary(), h.Summary())
	}
	c.Record(5)
	if got, want := slices.Collect(counts(h)), []int64{1, 1}; !slices.Equal(got, want) {
		t.Errorf("the original changed: got %v, want %v", got, want)
	}
}

func TestRecordDoesNotAllocate(t *testing.T) {
	h := hdr.MustNew(hdr.Config{})
	v := int64(1)
	allocs := testing.AllocsPerRun(1000, func() {
		h.Record(v)
		h.RecordN(v, 2)
		v = v*3 - 1
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}

// values returns latencies over six decades, so that a benchmark does not
// stay in one cell.
func values() []int64 {
	rng := rand.New(rand.NewPCG(3, 4))
	v := make([]int64, 4096)
	for i := range v {
		v[i] = int64(math.Exp(rng.NormFloat64()*1.5 + math.Log(2e6)))
	}
	return v
}

func BenchmarkRecord(b *testing.B) {
	h := hdr.MustNew(hdr.Config{})
	vs := values()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		h.Record(vs[i&(len(vs)-1)]) // a power of two; a division would cost as much as Record
	}
}

func BenchmarkValues(b *testing.B) {
	h := of(hdr.Config{}, values()...)
	qs := []hdr.Quantile{hdr.P50, hdr.P75, hdr.P90, hdr.P95, hdr.P99, hdr.P999, hdr.P9999, hdr.P100}
	for b.Loop() {
		h.Values(qs)
	}
}

func BenchmarkMerge(b *testing.B) {
	h, o := hdr.MustNew(hdr.Config{}), of(hdr.Config{}, values()...)
	for b.Loop() {
		if err := h.Merge(o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkResetAfterSecond(b *testing.B) {
	h := hdr.MustNew(hdr.Config{})
	vs := values()[:1000]
	for b.Loop() {
		for _, v := range vs {
			h.Record(v)
		}
		h.Reset()
	}
}
