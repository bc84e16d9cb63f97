package schedule_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"prony/internal/schedule"
)

func TestValidate(t *testing.T) {
	type segments = []schedule.Segment
	of := func(s ...schedule.Segment) schedule.Arrivals { return schedule.Arrivals{Segments: s} }
	const second = time.Second
	for _, tc := range []struct {
		name string
		plan schedule.Arrivals
		want []string // one mistake each; none for a valid plan
	}{
		{"zero value", schedule.Arrivals{}, nil},
		{"rate", schedule.Rate(0.5), nil},
		{"highest rate", schedule.Rate(1e9), nil},
		{"ramp down to nothing", schedule.Ramp(10, 0, second), nil},
		{"steps with a pause", schedule.Steps(second, 0, 10, 0, 20), nil},
		{"replay", schedule.Replay([]int64{0, 1, 1}), nil},
		{"unknown process", schedule.Arrivals{Process: 7}, []string{"arrivals: unknown process 7"}},
		{"no rate at all", schedule.Steps(second, 0, 0), []string{"arrivals: every rate is zero, so nothing would ever be sent"}},
		{"too high", schedule.Rate(2e9), []string{
			"arrivals segment 1: rate 2e+09/s: want 0 to 1e+09", "arrivals segment 1: rate 2e+09/s: want 0 to 1e+09"}},
		{"not numbers", schedule.Ramp(math.NaN(), math.Inf(1), second), []string{
			"arrivals segment 1: rate NaN/s: want 0 to 1e+09", "arrivals segment 1: rate +Inf/s: want 0 to 1e+09"}},
		{"end in the middle", of(schedule.Segment{From: 1, To: 1}, schedule.Segment{From: 2, To: 2}), []string{
			"arrivals segment 1: no duration: only the last segment may be without end"}},
		{"ramp without end", schedule.Ramp(1, 2, 0), []string{"arrivals segment 1: a ramp from 1/s to 2/s needs a duration"}},
		{"every mistake is told", schedule.Arrivals{
			Process: -1, Segments: segments{{From: -1, To: 1, Duration: -second}, {From: 1, To: 2}}, Times: []int64{-5, 3, 2}}, []string{
			"arrivals: unknown process -1",
			"arrivals: segments and replayed times exclude each other",
			"arrivals segment 1: rate -1/s: want 0 to 1e+09",
			"arrivals segment 1: duration -1s is negative",
			"arrivals segment 2: a ramp from 1/s to 2/s needs a duration",
			"arrivals time 1: -5ns is before 0s",
			"arrivals time 3: 2ns is before 3ns"}},
		{"longer than time", schedule.Steps(math.MaxInt64/2+1, 1, 1), []string{"arrivals segment 2: the plan gets longer than 1281023h53m38.427387904s"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sameMistakes(t, tc.plan.Validate(), tc.want)
		})
	}
}

// sameMistakes compares a joined error, line by line.
func sameMistakes(t *testing.T, err error, want []string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if want := strings.Join(want, "\n"); got != want {
		t.Errorf("mistakes: got\n%s\nwant\n%s", got, want)
	}
}

func TestValidateIsBounded(t *testing.T) {
	times := make([]int64, 100_000)
	for i := range times {
		times[i] = -1
	}
	err := schedule.Replay(times).Validate()
	if got := strings.Count(err.Error(), "\n") + 1; got != 21 {
		t.Errorf("lines: got %d, want 20 mistakes and the remark that there are more", got)
	}
}

func TestLengthExpectedRate(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	type sample struct {
		at       time.Duration
		expected float64
		rate     float64
	}
	for _, tc := range []struct {
		name   string
		plan   schedule.Arrivals
		length time.Duration
		finite bool
		want   []sample
	}{
		{"closed model", schedule.Arrivals{}, 0, true, []sample{{-1, 0, 0}, {0, 0, 0}, {s, 0, 0}}},
		{"flat", schedule.Rate(2.5), 0, false, []sample{{-s, 0, 0}, {0, 0, 2.5}, {4 * s, 10, 2.5}}},
		{"ramp", schedule.Ramp(100, 300, 20*s), 20 * s, true, []sample{{0, 0, 100}, {10 * s, 1500, 200}, {20 * s, 4000, 0}, {99 * s, 4000, 0}}},
		{"falling ramp", schedule.Ramp(300, 100, 20*s), 20 * s, true, []sample{{0, 0, 300}, {10 * s, 2500, 200}, {20 * s, 4000, 0}}},
		{"steps", schedule.Steps(s, 10, 0, 20), 3 * s, true, []sample{{500 * ms, 5, 10}, {s, 10, 0}, {1500 * ms, 10, 0}, {2 * s, 10, 20}, {3 * s, 30, 0}}},
		{"replay", schedule.Replay([]int64{0, int64(s), int64(s), int64(3 * s)}), 3 * s, true,
			[]sample{{0, 0, 1}, {s, 1, 2}, {s + 1, 3, 2}, {2 * s, 3, 0}, {math.MaxInt64, 4, 0}, {math.MinInt64, 0, 0}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if length, finite := tc.plan.Length(); length != tc.length || finite != tc.finite {
				t.Errorf("Length: got %v, %v, want %v, %v", length, finite, tc.length, tc.finite)
			}
			for _, w := range tc.want {
				near(t, "Expected at "+w.at.String(), tc.plan.Expected(w.at), w.expected, 1e-9)
				near(t, "RateAt "+w.at.String(), tc.plan.RateAt(int64(w.at)), w.rate, 1e-9)
			}
		})
	}
}

func TestCount(t *testing.T) {
	for _, tc := range []struct {
		name  string
		plan  schedule.Arrivals
		until time.Duration
		want  int64
		ok    bool
	}{
		{"closed model", schedule.Arrivals{}, time.Hour, 0, true},
		{"the first comes at once", schedule.Rate(1), 1, 1, true},
		{"until itself is not in", schedule.Rate(3), time.Second, 3, true},
		{"years", schedule.Rate(1e6), 10 * 365 * 24 * time.Hour, 315360000000000, true},
		{"to the end of time", schedule.Rate(1), math.MaxInt64, 4611686019, true},
		{"longer than the plan", schedule.Steps(time.Second, 1000, 500), time.Hour, 1500, true},
		{"replay", schedule.Replay([]int64{3, 4, 4, 5}), 5, 3, true},
		{"poisson", poisson(schedule.Rate(1), 1), time.Second, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got, ok := tc.plan.Count(tc.until); got != tc.want || ok != tc.ok {
				t.Errorf("got %d, %v, want %d, %v", got, ok, tc.want, tc.ok)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	for _, tc := range []struct {
		name string
		plan schedule.Arrivals
		want bool
	}{
		{"zero value", schedule.Arrivals{}, false},
		{"a seed alone", poisson(schedule.Arrivals{}, 1), false},
		{"rate", schedule.Rate(1), true},
		{"replay", schedule.Replay([]int64{1}), true},
	} {
		if got := tc.plan.Open(); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestArrivalsSurviveJSON(t *testing.T) {
	for _, want := range []schedule.Arrivals{
		{},
		poisson(schedule.Ramp(0.1, 1.0/3, 12345*time.Microsecond), math.MaxUint64),
		schedule.Replay([]int64{0, math.MaxInt64}),
	} {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got schedule.Arrivals
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", text, got, want)
		}
	}
}

func TestProcessText(t *testing.T) {
	var p schedule.Process
	for _, want := range []string{"constant", "poisson"} {
		if err := p.UnmarshalText([]byte(want)); err != nil || p.String() != want {
			t.Errorf("%s: got %v, error %v", want, p, err)
		}
	}
	err := p.UnmarshalText([]byte("uniform"))
	sameMistakes(t, err, []string{`arrival process "uniform": want constant or poisson`})
	if _, err := schedule.Process(9).MarshalText(); err == nil {
		t.Error("process 9 has a name")
	}
}
