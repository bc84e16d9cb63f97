package capacity_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"prony/internal/capacity"
)

func TestProbeStarts(t *testing.T) {
	s := capacity.New(capacity.Config{})
	first, _ := s.Next()
	if first.Phase != capacity.Probe || first.Rate != 0 || first.Connections != 64 || first.Duration != 10*time.Second {
		t.Errorf("got %+v, want a closed probe of 64 connections", first)
	}
	if again, _ := s.Next(); again != first {
		t.Errorf("asked twice: got %+v, want %+v", again, first)
	}
	// What limits the probe does not matter: it is only where the search starts.
	if err := s.Record(capacity.Outcome{Throughput: 5000, Invalid: "the generator was full"}); err != nil {
		t.Fatal(err)
	}
	if next, _ := s.Next(); next.Rate != 500 || next.Phase != capacity.Bracket || next.Recover != 0 {
		t.Errorf("got %+v, want a tenth of the probe's rate", next)
	}
	slow := capacity.New(capacity.Config{})
	if err := slow.Record(capacity.Outcome{Throughput: 30}); err != nil {
		t.Fatal(err)
	}
	if next, _ := slow.Next(); next.Rate != 10 {
		t.Errorf("got %v, want the least rate, 10/s", next.Rate)
	}
}

func TestEnds(t *testing.T) {
	generator := func(limit, truth float64) func(capacity.Trial) capacity.Outcome {
		return func(trial capacity.Trial) capacity.Outcome {
			if trial.Rate > limit {
				return capacity.Outcome{Invalid: "the generator was full"}
			}
			return capacity.Outcome{Passed: trial.Rate <= truth}
		}
	}
	unsteady := func(trial capacity.Trial) capacity.Outcome {
		return capacity.Outcome{Passed: trial.Phase != capacity.Confirm && trial.Rate <= 730}
	}
	for _, tt := range []struct {
		name     string
		config   capacity.Config
		system   func(capacity.Trial) capacity.Outcome
		end      capacity.End
		capacity float64 // within 2 % below
		held     float64
	}{
		{"no answers", capacity.Config{}, threshold(0), capacity.NoThroughput, 0, 0},
		{"below the start", capacity.Config{Start: 1000}, threshold(90), capacity.Found, 90, 90},
		{"below all", capacity.Config{Start: 1000}, threshold(10), capacity.BelowMinimum, 0, 0},
		{"more than is allowed", capacity.Config{Start: 100, Most: 300}, threshold(730), capacity.AtMost, 300, 300},
		{"less than is allowed", capacity.Config{Start: 100, Most: 1000}, threshold(730), capacity.Found, 730, 730},
		{"generator", capacity.Config{Start: 100}, generator(500, 730), capacity.GeneratorLimited, 0, 400},
		{"generator while bisecting", capacity.Config{Start: 100}, func(trial capacity.Trial) capacity.Outcome {
			if trial.Phase == capacity.Bisect {
				return capacity.Outcome{Invalid: "steal"}
			}
			return capacity.Outcome{Passed: trial.Rate <= 730}
		}, capacity.GeneratorLimited, 0, 400},
		{"nothing to confirm", capacity.Config{Start: 100}, unsteady, capacity.Unconfirmed, 0, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := searched(t, tt.config, tt.system)
			if r.End != tt.end || !r.Ended {
				t.Errorf("got %s, want %s", r.End, tt.end)
			}
			if r.Capacity > tt.capacity || r.Capacity < tt.capacity/1.02 {
				t.Errorf("got a capacity of %v, want %v", r.Capacity, tt.capacity)
			}
			if r.Held > tt.held || r.Held < tt.held/1.02 {
				t.Errorf("got held %v, want %v", r.Held, tt.held)
			}
			if r.Refused > 0 && r.Capacity >= r.Refused {
				t.Errorf("got a capacity of %v, not below the refused %v", r.Capacity, r.Refused)
			}
		})
	}
}

// TestStepsDown: a rate that bisection took for good is refused by longer
// trials, and the next lower one is confirmed.
func TestStepsDown(t *testing.T) {
	r := searched(t, capacity.Config{Start: 100}, func(trial capacity.Trial) capacity.Outcome {
		limit := 730.0
		if trial.Phase == capacity.Confirm {
			limit = 700
		}
		return capacity.Outcome{Passed: trial.Rate <= limit}
	})
	if r.End != capacity.Found || r.Capacity > 700 || r.Capacity < 700/1.02 || !r.Inverted {
		t.Errorf("got %s, %v, inverted %t; want about 690 below loads that passed", r.End, r.Capacity, r.Inverted)
	}
	for i, d := range r.Trials[1:] {
		before := r.Trials[i]
		if (d.Recover > 0) != (!before.Passed) {
			t.Errorf("trial %d: got recovery at %v after passed %t", d.Number, d.Recover, before.Passed)
		}
	}
}

func TestInvalidIsRepeatedOnce(t *testing.T) {
	once := map[float64]bool{}
	r := searched(t, capacity.Config{Start: 100}, func(trial capacity.Trial) capacity.Outcome {
		if !once[trial.Rate] {
			once[trial.Rate] = true
			return capacity.Outcome{Invalid: "steal"}
		}
		return capacity.Outcome{Passed: trial.Rate <= 730}
	})
	near(t, "capacity", r.Capacity, 725.701, 5e-4)
	if r.Trials[0].Note == "" || r.Trials[1].Rate != r.Trials[0].Rate || r.Trials[1].Note != "" {
		t.Errorf("got %+v and %+v, want the first repeated", r.Trials[0], r.Trials[1])
	}
}

// TestAlwaysEnds: whatever the answers are, a search ends, and what it calls a
// capacity is confirmed and below all that was refused.
func TestAlwaysEnds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		chance := random.Float64()
		r := searched(t, capacity.Config{Start: 100, Most: 1e6 * random.Float64()}, func(trial capacity.Trial) capacity.Outcome {
			if random.Float64() < 0.02 {
				return capacity.Outcome{Invalid: "chance"}
			}
			return capacity.Outcome{Passed: random.Float64() < chance}
		})
		passed := 0
		for _, d := range r.Trials {
			if d.Phase == capacity.Confirm && d.Rate == r.Capacity && d.Passed {
				passed++
			}
		}
		if r.Capacity > 0 && (passed < 4 || r.Refused > 0 && r.Capacity >= r.Refused) {
			t.Fatalf("got a capacity of %v with %d passes, refused %v", r.Capacity, passed, r.Refused)
		}
	}
}

func TestEndedTakesNoMore(t *testing.T) {
	s := capacity.New(capacity.Config{})
	if err := s.Record(capacity.Outcome{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Record(capacity.Outcome{}); err == nil {
		t.Error("got no error for a trial behind the end")
	}
	b, err := json.Marshal(s.Report())
	want := `{"ended":true,"end":"no throughput","capacity":0,"held":0,"refused":0,"trials":[{"number":1,"phase":"probe","rate":0,"connections":64,"settle_ns":2000000000,"duration_ns":10000000000,"passed":false}]}`
	if err != nil || string(b) != want {
		t.Errorf("got %s, %v, want %s", b, err, want)
	}
}

func TestTrialRules(t *testing.T) {
	if capacity.BacklogGrows(100, 160) || !capacity.BacklogGrows(100, 161) || capacity.BacklogGrows(0, 10) {
		t.Error("the backlog grows from more than 1.5 times and 10 on")
	}
	if got := capacity.BacklogLimit(200, 50*time.Millisecond); got != 200 {
		t.Errorf("short goal: got %v, want a second's worth", got)
	}
	if got := capacity.BacklogLimit(200, 500*time.Millisecond); got != 1000 {
		t.Errorf("long goal: got %v, want ten times the goal", got)
	}
	if !capacity.Recovered(100, 109) || capacity.Recovered(100, 111) {
		t.Error("10 % are the limit of recovery")
	}
	steps := capacity.Steps(1000, 8)
	if len(steps) != 8 {
		t.Fatalf("got %d steps, want 8", len(steps))
	}
	near(t, "first step", steps[0], 100, 1e-9)
	near(t, "last step", steps[7], 1100, 1e-9)
	for x, want := range map[float64]float64{0: 0, 44.27: 44, 127.3: 130, 0.0456: 0.046} {
		near(t, "two digits", capacity.TwoDigits(x), want, 1e-12)
	}
}

// swept runs a sweep over a curve of throughput.
func swept(t *testing.T, c capacity.SweepConfig, outcome func(trial capacity.SweepTrial) capacity.SweepOutcome) (capacity.SweepReport, []int) {
	t.Helper()
	s := capacity.NewSweep(c)
	var order []int
	for range 1000 {
		trial, ok := s.Next()
		if !ok {
			if err := s.Record(capacity.SweepOutcome{}); err == nil {
				t.Error("got no error for a trial behind the end")
			}
			return s.Report(), order
		}
		order = append(order, trial.Connections)
		if err := s.Record(outcome(trial)); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the sweep does not end")
	return capacity.SweepReport{}, nil
}

func TestSweep(t *testing.T) {
	flat := func(trial capacity.SweepTrial) capacity.SweepOutcome {
		n := float64(trial.Connections)
		x := min(n/0.010, 1000) - n // a gentle fall behind the knee at 10
		return capacity.SweepOutcome{Rate: x, MeanUS: n / x * 1e6}
	}
	r, order := swept(t, capacity.SweepConfig{Seed: 3}, flat)
	// Finer around the best, 16: √(8·16) and √(16·32).
	if got, want := order[:10], []int{1, 2, 4, 8, 16, 32, 64, 128, 11, 23}; !slices.Equal(got, want) {
		t.Errorf("got the first repeat %v, want %v", got, want)
	}
	if r.Best != 11 || r.Most != 989 || r.Stopped != "" || r.Knee != 10 || len(order) != 50 {
		t.Errorf("got best %d with %v, knee %v, %d trials; want 11 with 989, 10, 50", r.Best, r.Most, r.Knee, len(order))
	}
	for _, p := range r.Points {
		if len(p.Rates) != 5 {
			t.Errorf("%d connections: got %d repeats, want 5", p.Connections, len(p.Rates))
		}
	}
	second, third := order[10:20], order[20:30]
	if slices.Equal(second, third) || slices.IsSorted(second) {
		t.Errorf("got the orders %v and %v, want two drawn ones", second, third)
	}
	if _, again := swept(t, capacity.SweepConfig{Seed: 3}, flat); !slices.Equal(order, again) {
		t.Errorf("the same seed: got %v, want %v", again, order)
	}
}

func TestSweepStops(t *testing.T) {
	for _, tt := range []struct {
		name    string
		outcome func(n int) capacity.SweepOutcome
		tried   []int
		stopped string
		best    int
	}{
		{"the rate falls twice", func(n int) capacity.SweepOutcome {
			return capacity.SweepOutcome{Rate: map[int]float64{1: 100, 2: 200, 4: 170, 8: 190, 16: 170, 32: 150}[n]}
		}, []int{1, 2, 4, 8, 16, 32}, "rate fell", 2},
		{"errors", func(n int) capacity.SweepOutcome {
			if n == 8 {
				return capacity.SweepOutcome{Rate: 9999, Errors: 0.02}
			}
			return capacity.SweepOutcome{Rate: float64(n)}
		}, []int{1, 2, 4, 8, 1, 2, 4}, "errors", 4},
		{"not fit", func(n int) capacity.SweepOutcome {
			if n == 2 {
				return capacity.SweepOutcome{Rate: 1e9, Invalid: "steal"}
			}
			return capacity.SweepOutcome{Rate: float64(n)}
		}, []int{1, 2, 4, 8, 16, 32, 64, 128}, "", 128},
	} {
		repeats := 1
		if tt.stopped == "errors" {
			repeats = 2
		}
		r, order := swept(t, capacity.SweepConfig{Coarse: true, Repeats: repeats}, func(trial capacity.SweepTrial) capacity.SweepOutcome { return tt.outcome(trial.Connections) })
		if first := order[:min(len(order), len(tt.tried))]; repeats == 1 && !slices.Equal(first, tt.tried) || len(order) != len(tt.tried) {
			t.Errorf("%s: got %v, want %v", tt.name, order, tt.tried)
		}
		if r.Stopped != tt.stopped || r.Best != tt.best {
			t.Errorf("%s: got stopped %q, best %d, want %q, %d", tt.name, r.Stopped, r.Best, tt.stopped, tt.best)
		}
	}
}
