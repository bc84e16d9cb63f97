package schedule_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"prony/internal/schedule"
)

func TestThinkValidate(t *testing.T) {
	for _, tc := range []struct {
		name  string
		think schedule.Think
		want  []string
	}{
		{"zero value", schedule.Think{}, nil},
		{"uniform from nothing", schedule.Think{Mean: 5, Spread: 5, Distribution: schedule.Uniform}, nil},
		{"every mistake is told", schedule.Think{Mean: -1, Spread: 2, Distribution: 8}, []string{
			"think time: unknown distribution 8",
			"think time: mean -1ns: want 0 to 640511h56m49.213693952s",
			"think time: spread 2ns: want 0 to the mean, -1ns",
			"think time: only a uniform one has a spread"}},
		{"longer than time", schedule.Think{Mean: math.MaxInt64}, []string{
			"think time: mean 2562047h47m16.854775807s: want 0 to 640511h56m49.213693952s"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sameMistakes(t, tc.think.Validate(), tc.want)
		})
	}
}

func TestThinkNext(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		name        string
		think       schedule.Think
		least, most float64 // that may be drawn, ns
		variation   float64 // standard deviation by mean
	}{
		{"fixed", schedule.Think{Mean: ms}, 1e6, 1e6, 0},
		{"exponential", schedule.Think{Mean: ms, Distribution: schedule.Exponential}, 0, 36.8e6, 1},
		{"uniform", schedule.Think{Mean: ms, Spread: ms / 2, Distribution: schedule.Uniform}, 0.5e6, 1.5e6, 0.5 / math.Sqrt(3)},
		{"uniform without spread", schedule.Think{Mean: ms, Distribution: schedule.Uniform}, 1e6, 1e6, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := schedule.SplitMix64(5)
			drawn := make([]float64, 50_000)
			for i := range drawn {
				drawn[i] = float64(tc.think.Next(&r))
				if drawn[i] < tc.least || drawn[i] > tc.most {
					t.Fatalf("got %v ns, want %v to %v", drawn[i], tc.least, tc.most)
				}
			}
			mean, variation := moments(drawn)
			near(t, "mean, ns", mean, float64(tc.think.Mean), 1e4)
			near(t, "coefficient of variation", variation, tc.variation, 0.01)
		})
	}
}

func TestThinkZeroValueDoesNotWait(t *testing.T) {
	r := schedule.SplitMix64(5)
	if got := (schedule.Think{}).Next(&r); got != 0 || r != 5 {
		t.Errorf("got %d ns and state %d, want 0 and the state left alone", got, r)
	}
}

func TestThinkNextReachesBothEnds(t *testing.T) {
	think := schedule.Think{Mean: 3, Spread: 2, Distribution: schedule.Uniform}
	seen := map[int64]int{}
	r := schedule.SplitMix64(1)
	for range 5000 {
		seen[think.Next(&r)]++
	}
	for at := int64(1); at <= 5; at++ {
		near(t, "times a whole nanosecond came", float64(seen[at]), 1000, 150)
	}
	if len(seen) != 5 {
		t.Errorf("got %v, want 1 to 5 ns only", seen)
	}
}

func TestThinkNextOfLongMeansStaysPositive(t *testing.T) {
	const long = math.MaxInt64 / 4
	r := schedule.SplitMix64(1)
	for range 1000 {
		for _, think := range []schedule.Think{
			{Mean: long, Distribution: schedule.Exponential},
			{Mean: long, Spread: long, Distribution: schedule.Uniform},
		} {
			if got := think.Next(&r); got < 0 {
				t.Fatalf("%v: got %d ns", think.Distribution, got)
			}
		}
	}
}

func TestThinkSurvivesJSON(t *testing.T) {
	for _, d := range []schedule.Distribution{schedule.Fixed, schedule.Exponential, schedule.Uniform} {
		want := schedule.Think{Mean: 12, Distribution: d, Spread: 3}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got schedule.Think
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Errorf("%s: got %+v, error %v, want %+v", text, got, err, want)
		}
	}
	var d schedule.Distribution
	sameMistakes(t, d.UnmarshalText([]byte("normal")), []string{
		`think time distribution "normal": want constant, exponential or uniform`})
	if _, err := schedule.Distribution(9).MarshalText(); err == nil {
		t.Error("distribution 9 has a name")
	}
}
