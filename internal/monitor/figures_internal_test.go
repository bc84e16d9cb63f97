package monitor

import (
	"math"
	"reflect"
	"testing"
	"time"
)

const second = time.Second

func TestNextSample(t *testing.T) {
	window := span{2500 * time.Millisecond, 6200 * time.Millisecond}
	for _, c := range []struct {
		name      string
		now, want time.Duration
		window    span
	}{
		{"no window", 1200 * time.Millisecond, 2 * second, span{}},
		{"no window, on the mark", 2 * second, 3 * second, span{}},
		{"before the window, in steps that meet it", 100 * time.Millisecond, 500 * time.Millisecond, window},
		{"before the window, on the mark", 1500 * time.Millisecond, 2500 * time.Millisecond, window},
		{"in the window", 2600 * time.Millisecond, 3500 * time.Millisecond, window},
		{"its end comes first", 5600 * time.Millisecond, 6200 * time.Millisecond, window},
		{"at its end", 6200 * time.Millisecond, 6500 * time.Millisecond, window},
		{"after it", 9 * second, 9500 * time.Millisecond, window},
		{"a window before the epoch", 100 * time.Millisecond, 700 * time.Millisecond, span{-300 * time.Millisecond, 9 * second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := nextSample(c.now, second, c.window); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		name   string
		length time.Duration
		want   []time.Duration
	}{
		{"whole", 3 * second, []time.Duration{second, second, second}},
		{"a rest of its own", 2500 * time.Millisecond, []time.Duration{second, second, 500 * time.Millisecond}},
		{"a rest that joins", 2400 * time.Millisecond, []time.Duration{second, 1400 * time.Millisecond}},
		{"short", 100 * time.Millisecond, []time.Duration{100 * time.Millisecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []time.Duration
			for _, s := range steps(span{7 * second, 7*second + c.length}, second) {
				got = append(got, s.length())
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestCurve(t *testing.T) {
	v := curve{at: []time.Duration{0, second, 3 * second}, value: []float64{10, 11, 15}}
	for _, c := range []struct {
		name  string
		of    span
		rate  float64
		knows bool
	}{
		{"between points", span{0, second}, 1, true},
		{"within an interval", span{1500 * time.Millisecond, 2 * second}, 2, true},
		{"across a point", span{500 * time.Millisecond, 2 * second}, 2.5 / 1.5, true},
		{"all", span{0, 3 * second}, 5.0 / 3, true},
		{"a little beyond", span{second, 3100 * time.Millisecond}, 2, true},
		{"far beyond", span{2 * second, 4 * second}, 2, false},
		{"elsewhere", span{5 * second, 6 * second}, 0, false},
		{"nothing", span{second, second}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := v.rate(c.of); math.Abs(got-c.rate) > 1e-12 {
				t.Errorf("rate: got %v, want %v", got, c.rate)
			}
			if got := v.knows(c.of); got != c.knows {
				t.Errorf("knows: got %t, want %t", got, c.knows)
			}
		})
	}
	if (curve{}).knows(span{0, second}) {
		t.Error("a curve without points: got known, want unknown")
	}
}

func TestTally(t *testing.T) {
	a, b := tally{{1, 2}, {4, 1}}, tally{{0, 1}, {1, 3}, {9, 1}}
	want := tally{{0, 1}, {1, 5}, {4, 1}, {9, 1}}
	if got := a.plus(b); !reflect.DeepEqual(got, want) {
		t.Errorf("plus: got %v, want %v", got, want)
	}
	if got := b.plus(a); !reflect.DeepEqual(got, want) {
		t.Errorf("plus the other way: got %v, want %v", got, want)
	}
	var made tally
	for _, bucket := range []int{4, 1, 9, 1, 0, 1, 1, 1} {
		made = made.add(bucket)
	}
	if !reflect.DeepEqual(made, want) {
		t.Errorf("add: got %v, want %v", made, want)
	}
	if got, want := tallyDelta([]uint64{1, 2, 3}, []uint64{1, 5, 3}), (tally{{1, 3}}); !reflect.DeepEqual(got, want) {
		t.Errorf("delta: got %v, want %v", got, want)
	}
}

func TestQuantile(t *testing.T) {
	bounds := []float64{math.Inf(-1), 0, 10, 20, math.Inf(1)}
	for _, c := range []struct {
		name string
		t    tally
		q    float64
		want float64
	}{
		{"no events", nil, 0.99, 0},
		{"in the middle of a bucket", tally{{1, 100}}, 0.5, 5},
		{"99 of 100", tally{{1, 98}, {2, 2}}, 0.99, 15},
		{"the last", tally{{1, 1}, {2, 1}}, 1, 20},
		{"above the last bound", tally{{3, 1}}, 0.99, 20},
		{"below the first bound", tally{{0, 1}}, 0.99, 0},
		{"beyond the buckets", tally{{9, 1}}, 0.99, math.Inf(1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.t.quantile(bounds, c.q); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestThin: halving the samples must not change what grew, what was highest,
// or how many events there were.
func TestThin(t *testing.T) {
	for _, n := range []int{8, 9} {
		var samples []sample
		for i := range n {
			s := sample{at: time.Duration(i) * second, hiccups: tally{{uint16(i % 2), 1}}}
			s.count(processCPU, float64(i))
			s.gauge(openFiles, int64(10*(i%3)))
			samples = append(samples, s)
		}
		thinned := thin(samples, n)
		if len(thinned) >= n {
			t.Errorf("%d samples: got %d left, want fewer", n, len(thinned))
		}
		all := span{0, time.Duration(n-1) * second}
		if got := curveOf(thinned, processCPU).grown(all); got != float64(n-1) {
			t.Errorf("%d samples: got growth %v, want %d", n, got, n-1)
		}
		f := figures{samples: thinned, window: all}
		var events uint64
		for _, c := range f.events(func(s *sample) tally { return s.hiccups }) {
			events += c.count
		}
		if events != uint64(n-1) { // those of the first sample came before the window
			t.Errorf("%d samples: got %d events, want %d", n, events, n-1)
		}
		if got := f.highest("open_files_peak", openFiles); got != 20 {
			t.Errorf("%d samples: got highest %d, want 20", n, got)
		}
	}
	if got := thin(make([]sample, 3), 4); len(got) != 3 {
		t.Errorf("few samples: got %d left, want 3", len(got))
	}
}

// TestHiccupBounds: a recorded excess must come back with an error of at most
// 9 %.
func TestHiccupBounds(t *testing.T) {
	for _, want := range []time.Duration{2 * time.Microsecond, 750 * time.Microsecond, 10 * time.Millisecond, 3 * second} {
		h := newHiccups()
		h.record(want)
		got := h.drain().quantile(h.bounds, 0.99)
		if us := float64(want) / 1e3; math.Abs(got-us) > 0.095*us {
			t.Errorf("%v: got %v us", want, got)
		}
		if again := h.drain(); again != nil {
			t.Errorf("drained twice: got %v, want nothing", again)
		}
	}
}
