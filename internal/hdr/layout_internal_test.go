package hdr

import (
	"math"
	"testing"
)

func TestKAT8Sizes(t *testing.T) {
	for _, tt := range []struct {
		name             string
		c                Config
		buckets, counter int
	}{
		{"one hour of µs, 3 digits", Config{1, 3_600_000_000, 3}, 22, 23_552},
		{"the default", Config{}, 32, 33_792},
		{"one hour of ns in steps of 1 µs", Config{1000, 3_600_000_000_000, 3}, 23, 24_576},
		{"2 digits", Config{1, 3_600_000_000_000, 2}, 35, 4_608},
		{"100,000", Config{1, 100_000, 3}, 7, 8_192},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := newLayout(tt.c.effective())
			if l.length != tt.counter {
				t.Errorf("counters: got %d, want %d", l.length, tt.counter)
			}
			if got := l.length>>l.halfMag - 1; got != tt.buckets {
				t.Errorf("buckets: got %d, want %d", got, tt.buckets)
			}
			if h := MustNew(tt.c); len(h.counts) != tt.counter {
				t.Errorf("counters of the histogram: got %d, want %d", len(h.counts), tt.counter)
			}
		})
	}
}

func TestKAT9Indices(t *testing.T) {
	l := newLayout(Config{1, 3_600_000_000, 3})
	for _, tt := range []struct {
		v    int64
		want int
		cell Cell
	}{
		{0, 0, Cell{0, 0}},
		{2047, 2047, Cell{2047, 2047}},
		{2048, 2048, Cell{2048, 2049}},
		{2049, 2048, Cell{2048, 2049}},
		{4095, 3071, Cell{4094, 4095}},
		{4096, 3072, Cell{4096, 4099}},
		{10_000, 4322, Cell{10_000, 10_007}},
		{1_000_000, 11_169, Cell{999_936, 1_000_447}},
		{3_600_000_000, 23_220, Cell{3_598_712_832, 3_600_809_983}},
	} {
		if got := l.index(tt.v); got != tt.want {
			t.Errorf("index of %d: got %d, want %d", tt.v, got, tt.want)
		}
		if got := l.cell(tt.want); got != tt.cell {
			t.Errorf("cell %d: got %v, want %v", tt.want, got, tt.cell)
		}
	}
}

// Cells must follow one another without gap or overlap, hold the values that
// are indexed to them, and be narrow.
func TestCellsPartitionTheRange(t *testing.T) {
	for _, c := range []Config{
		{}, {1, 2, 1}, {1, 100_000, 3}, {1000, 3_600_000_000_000, 3}, {1023, 1 << 40, 2},
		{1, math.MaxInt64, 1}, {1 << 40, math.MaxInt64, 4}, {7, 1 << 30, 5},
	} {
		c = c.effective()
		l := newLayout(c)
		next := int64(0)
		for i := range l.length {
			cell := l.cell(i)
			if cell.Lowest != next {
				t.Fatalf("%+v: cell %d begins at %d, want %d", c, i, cell.Lowest, next)
			}
			if l.index(cell.Lowest) != i || l.index(cell.Highest) != i {
				t.Fatalf("%+v: cell %d: ends are indexed to %d and %d", c, i, l.index(cell.Lowest), l.index(cell.Highest))
			}
			allowed := max(float64(c.Lowest-1), float64(cell.Lowest)*math.Pow(10, float64(-c.Digits)))
			if float64(cell.Highest-cell.Lowest) > allowed {
				t.Fatalf("%+v: cell %d is too wide: %v", c, i, cell)
			}
			if next = cell.Highest + 1; next < 0 { // the last one of a full range
				break
			}
		}
		if next > 0 && next <= c.Highest {
			t.Errorf("%+v: cells end at %d", c, next)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		c          Config
	}{
		{"negative lowest", "histogram: lowest value -1 must be at least 1", Config{Lowest: -1}},
		{"six digits", "histogram: 6 significant digits, want 1 to 5", Config{Digits: 6}},
		{"negative digits", "histogram: -1 significant digits, want 1 to 5", Config{Digits: -1}},
		{"narrow range", "histogram: highest value 1 must be at least twice the lowest, 1", Config{Highest: 1}},
		{"negative highest", "histogram: highest value -5 must be at least twice the lowest, 1", Config{Highest: -5}},
		{"no room", "histogram: lowest value 1125899906842624 leaves no room for 4 digits in 63 bits", Config{1 << 50, math.MaxInt64, 4}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(tt.c)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestMustNewPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("got no panic")
		}
	}()
	MustNew(Config{Digits: 9})
}

func TestKAT11Varints(t *testing.T) {
	for _, tt := range []struct {
		v    int64
		want string
	}{
		{0, "\x00"},
		{63, "\x7e"},
		{64, "\x80\x01"},
		{-64, "\x7f"},
		{-65, "\x81\x01"},
		{1000, "\xd0\x0f"},
		{1 << 40, "\x80\x80\x80\x80\x80\x40"},
		{math.MaxInt64, "\xfe\xff\xff\xff\xff\xff\xff\xff\xff"},
		{math.MinInt64, "\xff\xff\xff\xff\xff\xff\xff\xff\xff"},
	} {
		if got := string(appendVarint(nil, tt.v)); got != tt.want {
			t.Errorf("%d: got %x, want %x", tt.v, got, tt.want)
		}
		if got, n := varint([]byte(tt.want + "\x05")); got != tt.v || n != len(tt.want) {
			t.Errorf("%x: got %d in %d bytes, want %d", tt.want, got, n, tt.v)
		}
		if _, n := varint([]byte(tt.want[:len(tt.want)-1])); n != 0 {
			t.Errorf("%x cut short: got length %d, want 0", tt.want, n)
		}
	}
}
