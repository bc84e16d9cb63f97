package monitor

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"testing"
	"time"

	"prony/internal/result"
)

func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		name        string
		before, now int64
		want        int64
		ok          bool
	}{
		{"it grew", 10, 47, 37, true},
		{"it did not", 10, 10, 0, true},
		{"32 bits wrapped", 1<<32 - 10, 5, 15, true},
		{"32 bits wrapped exactly", 1<<32 - 1, 0, 1, true},
		{"it was set back", 1000, 990, 0, false},
		{"it began anew", 1 << 31, 3, 0, false},
		{"more than 32 bits do not wrap", 1 << 40, 3, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := growth(c.before, c.now)
			if got != c.want || ok != c.ok {
				t.Errorf("got %d, %t, want %d, %t", got, ok, c.want, c.ok)
			}
		})
	}
}

// TestMeter: a counter that was set back gives no value once, and goes on.
func TestMeter(t *testing.T) {
	r := newRecorder(time.Now())
	m := newMeter(1, Head{Kind: result.OfHost, Name: "h"})
	for i, n := range []int64{100, 150, 20, 60, absent, 10, 30} {
		at := time.Duration(2*i) * time.Second
		m.begin(at)
		m.count("x_rate", n, 1)
		m.ratio("y_ratio", n, 2*n)
		m.gauge("z_count", float64(n))
		m.end(at, r)
	}
	got := r.recording().Tracks[0].Series
	want := map[result.Metric]Columns{
		"x_rate":  {25, unknownValue(), 20, unknownValue(), unknownValue(), 10},
		"z_count": {150, 20, 60, -1, 10, 30},
		"y_ratio": {0.5, unknownValue(), 0.5, unknownValue(), unknownValue(), 0.5},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// flat is a track of one counter, a sample a second.
func flat(values ...float64) *Track {
	t := &Track{Head: Head{Kind: result.OfHost}, Series: map[result.Metric]Columns{}}
	for i, x := range values {
		t.add(time.Duration(i+1)*time.Second, time.Second, []point{{"n_rate", x}, {"level_count", x}, {"cpu_cores", x / 10}})
	}
	return t
}

func TestCut(t *testing.T) {
	epoch := time.Now()
	r := Recording{Epoch: epoch, Tracks: []Track{*flat(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)}}
	for _, c := range []struct {
		name                  string
		start, warmup, length time.Duration
		first, last           float64 // at_us
		total                 float64
	}{
		{"whole seconds", 7 * time.Second, 0, 2 * time.Second, -4e6, 7e6, 8 + 9},
		{"a part of a second", 7500 * time.Millisecond, 0, 2 * time.Second, -4.5e6, 7.5e6, 4 + 9 + 5},
		{"in one sample", 7250 * time.Millisecond, time.Second, 500 * time.Millisecond, -4.25e6, 5.75e6, 4},
		{"before the end", 15 * time.Second, 0, time.Second, -4e6, 1e6, 16},
		{"behind a warm-up", 14 * time.Second, 9 * time.Second, 2 * time.Second, -8e6, 2e6, 15 + 16},
		{"longer than what was watched", -time.Second, 0, 20 * time.Second, 2e6, 17e6, 136},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := r.Cut(epoch.Add(c.start), c.warmup, c.length)
			if len(all) != 1 {
				t.Fatalf("got %d things, want 1", len(all))
			}
			o := all[0]
			if o.AtUS[0] != c.first || o.AtUS[len(o.AtUS)-1] != c.last || o.Totals["n_rate"] != c.total {
				t.Errorf("got %v to %v, total %v, want %v to %v, %v", o.AtUS[0], o.AtUS[len(o.AtUS)-1], o.Totals["n_rate"], c.first, c.last, c.total)
			}
			if got := o.Totals["cpu_cores"]; math.Abs(got-c.total/10) > 1e-9 {
				t.Errorf("core seconds: got %v, want %v", got, c.total/10)
			}
			if _, ok := o.Totals["level_count"]; ok {
				t.Error("a level has a total")
			}
		})
	}
	if all := r.Cut(epoch.Add(time.Minute), 0, time.Second); len(all) != 0 {
		t.Errorf("far outside: got %d things, want none", len(all))
	}
}

// TestHalve: with half the samples, the same was counted.
func TestHalve(t *testing.T) {
	track := flat()
	for i := range trackSamplesMax + 10 {
		track.add(time.Duration(i+1)*time.Second, time.Second, []point{{"n_rate", float64(i % 3)}, {"m_count", math.NaN()}})
	}
	if n := len(track.AtUS); n > trackSamplesMax/2+10 || n != len(track.LengthUS) || n != len(track.Series["n_rate"]) {
		t.Fatalf("got %d, %d, %d samples", n, len(track.LengthUS), len(track.Series["n_rate"]))
	}
	want := 0.0
	for i := range trackSamplesMax + 10 {
		want += float64(i % 3)
	}
	got, ok := track.total(track.Series["n_rate"], 0, math.MaxInt64)
	if !ok || math.Abs(got-want) > 1 {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestColumnsJSON(t *testing.T) {
	want := Columns{0, 1.5, unknownValue(), 16777216, float32(math.Inf(1)), -3.25e-9}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Columns
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want[4] = unknownValue() // what is no number is not known
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", text, got, want)
	}
}

// TestHourOfTenServices fills a recording with what an hour of ten Java
// services brings, and weighs it.
func TestHourOfTenServices(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	const most = 60 << 20
	before := heap()
	r := newRecorder(time.Now())
	id := 0
	for service := range 10 {
		for part, metrics := range map[string]int{"service": 35, "jvm": 15, "server": 8} {
			id++
			fill(r, id, fmt.Sprint(part, service), metrics)
		}
		for group := range 20 {
			id++
			fill(r, id, fmt.Sprint("thread", service, group), 9)
		}
	}
	fill(r, id+1, "host", 50)
	got := heap() - before
	t.Logf("%d tracks, %.1f MB", id+1, float64(got)/1e6)
	if got > most {
		t.Errorf("got %d bytes, want at most %d", got, most)
	}
	runtime.KeepAlive(r)
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func fill(r *recorder, id int, name string, metrics int) {
	h := &Head{Kind: result.OfService, Name: name}
	points := make([]point, metrics)
	for i := range points {
		points[i] = point{result.Metric(fmt.Sprint("metric_", i)), float64(i)}
	}
	for second := range 3600 {
		r.take(id, h, time.Duration(second+1)*time.Second, time.Second, points)
	}
}

func TestClock(t *testing.T) {
	var c clock
	steps := []struct {
		name           string
		sent, far, now int64
		offset, bound  int64
	}{
		{"the first counts", 1000, 500, 1400, 700, 200},
		{"a surer one counts", 2000, 1300, 2100, 750, 50},
		{"a less sure one does not", 3000, 2400, 3300, 750, 50},
		{"half as sure, but much younger", 10_000_000, 9_999_200, 10_000_180, 890, 90},
		{"very old ones give way to anything", 80_000_000, 80_000_000, 80_001_000, 500, 500},
		{"an answer to nothing", -1, 5, 80_002_000, 500, 500},
		{"an answer from the future", 90_000_000, 5, 80_003_000, 500, 500},
	}
	for _, s := range steps {
		c.hear(s.sent, s.far, s.now)
		if c.offset != s.offset || c.bound != s.bound {
			t.Errorf("%s: got %d +- %d, want %d +- %d", s.name, c.offset, c.bound, s.offset, s.bound)
		}
	}
	if c.worst != 500 {
		t.Errorf("worst: got %d, want 500", c.worst)
	}
}

func TestCommonName(t *testing.T) {
	for name, want := range map[string]string{
		"http-nio-8080-exec-12": "http-nio-8080-exec-*", "GC Thread#0": "GC Thread#*", "nginx": "nginx",
		"C2 CompilerThre": "C2 CompilerThre", "42": "*", "": "",
	} {
		if got := commonName(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestReadStub(t *testing.T) {
	r := newRecorder(time.Now())
	m := newMeter(1, Head{Kind: result.OfServer})
	for i, text := range []string{
		"Active connections: 2 \nserver accepts handled requests\n 16 16 31 \nReading: 0 Writing: 1 Waiting: 1 \n",
		"Active connections: 12 \nserver accepts handled requests\n 26 25 132 \nReading: 3 Writing: 5 Waiting: 4 \n",
	} {
		m.begin(time.Duration(i) * time.Second)
		if err := readStub(m, []byte(text)); err != nil {
			t.Fatal(err)
		}
		m.end(time.Duration(i)*time.Second, r)
	}
	got := r.recording().Tracks[0].Series
	want := map[result.Metric]Columns{
		result.ServerActive: {11}, result.ServerAccepts: {10}, result.ServerHandled: {9}, result.ServerRequests: {100},
		result.ServerReading: {3}, result.ServerWriting: {4}, result.ServerWaiting: {4},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, text := range []string{"", "<html>", "Active connections: x \nserver accepts handled requests\n 16 16 31 \nReading: 0 Writing: 1 Waiting: 1 \n"} {
		if readStub(m, []byte(text)) == nil {
			t.Errorf("%q: got no error", text)
		}
	}
}
