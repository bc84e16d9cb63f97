package hdr_test

import (
	"math"
	"math/rand/v2"
	"testing"

	oracle "github.com/HdrHistogram/hdrhistogram-go"

	"prony/internal/hdr"
)

// drawn is a random shape, with random values recorded by both libraries.
type drawn struct {
	ours   *hdr.Histogram
	theirs *oracle.Histogram
}

// draw records up to 2,000 values between 0 and Highest.
func draw(t *testing.T, rng *rand.Rand) drawn {
	t.Helper()
	lowest := int64(1) << rng.Int64N(12)
	c := hdr.Config{
		Lowest:  lowest + rng.Int64N(lowest),
		Highest: lowest*4 + rng.Int64N(1<<(20+rng.Int64N(40))),
		Digits:  1 + rng.IntN(4),
	}
	d := drawn{hdr.MustNew(c), oracle.New(c.Lowest, c.Highest, c.Digits)}
	for range 1 + rng.IntN(2000) {
		v, n := rng.Int64N(c.Highest+1)>>rng.Int64N(40), 1+rng.Int64N(3)
		d.ours.RecordN(v, n)
		if err := d.theirs.RecordValues(v, n); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestOracleCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 20 {
		d := draw(t, rng)
		if got, want := d.ours.Count(), d.theirs.TotalCount(); got != want {
			t.Fatalf("%+v: count: got %d, want %d", d.ours.Config(), got, want)
		}
		bars := map[hdr.Cell]int64{}
		for _, bar := range d.theirs.Distribution() {
			if bar.Count > 0 {
				bars[hdr.Cell{Lowest: bar.From, Highest: bar.To}] = bar.Count
			}
		}
		cells := 0
		for cell, n := range d.ours.Cells() {
			cells++
			if bars[cell] != n {
				t.Fatalf("%+v: cell %v: got %d, want %d", d.ours.Config(), cell, n, bars[cell])
			}
		}
		if cells != len(bars) {
			t.Fatalf("%+v: got %d cells, want %d", d.ours.Config(), cells, len(bars))
		}
	}
}

// At the same rank both name the same cell; ours is capped by the exact
// maximum. The ranks themselves may differ by one: theirs rounds q*n, ours
// takes the ceiling.
func TestOracleQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 20 {
		d := draw(t, rng)
		n := d.ours.Count()
		for range 15 {
			q := hdr.Quantile(1 + rng.Int64N(1_000_000))
			percentile := 100 * float64(q.Rank(n)) / float64(n)
			want := min(d.theirs.ValueAtQuantile(percentile), d.ours.Max())
			got := d.ours.Value(q)
			if got != want {
				t.Fatalf("%+v: %v of %d: got %d, want %d", d.ours.Config(), q, n, got, want)
			}
			if direct := d.theirs.ValueAtQuantile(float64(q) / 1e4); got < min(direct, d.ours.Max()) {
				t.Fatalf("%+v: %v of %d: got %d, below the rounded rank's %d", d.ours.Config(), q, n, got, direct)
			}
		}
	}
}

// After decoding, our totals come from the cells as theirs always do.
func TestOracleMoments(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 20 {
		d := draw(t, rng)
		decoded, err := hdr.DecodeV2(d.ours.AppendV2(nil))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []struct {
			name      string
			got, want float64
		}{
			{"mean", decoded.Mean(), d.theirs.Mean()},
			{"deviation", decoded.StdDev(), d.theirs.StdDev()},
			{"maximum", float64(decoded.Max()), float64(d.theirs.Max())},
		} {
			if math.Abs(m.got-m.want) > 1e-9*m.want {
				t.Errorf("%+v: %s: got %v, want %v", d.ours.Config(), m.name, m.got, m.want)
			}
		}
	}
}

func TestOracleReadsOurs(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 15 {
		d := draw(t, rng)
		got, err := oracle.Decode([]byte(d.ours.Base64()))
		if err != nil {
			t.Fatal(err)
		}
		if !got.Equals(d.theirs) {
			t.Fatalf("%+v: got %d values, want %d", d.ours.Config(), got.TotalCount(), d.theirs.TotalCount())
		}
	}
}

func TestOursReadsOracle(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	for range 15 {
		d := draw(t, rng)
		text, err := d.theirs.Encode(oracle.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		got, err := hdr.DecodeBase64(string(text))
		if err != nil {
			t.Fatal(err)
		}
		sameCells(t, got, d.ours)
	}
}

// The other library keeps the top of the cell as its maximum and refuses large
// values. This package deliberately differs; if the other one changes, the
// comparisons above can become stricter.
func TestOracleDeviations(t *testing.T) {
	theirs := oracle.New(1, 3_600_000_000, 3)
	if err := theirs.RecordValue(10_000); err != nil {
		t.Fatal(err)
	}
	if got := theirs.Max(); got != 10_007 {
		t.Errorf("maximum: got %d, want the top of the cell, 10007", got)
	}
	if err := theirs.RecordValue(5_000_000_000); err == nil {
		t.Error("a value beyond the range: got no error")
	}
	if got := of(micros(), 10_000).Max(); got != 10_000 {
		t.Errorf("our maximum: got %d, want 10000", got)
	}
}
