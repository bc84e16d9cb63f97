package capacity_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"prony/internal/capacity"
	"prony/internal/stats"
)

// near fails unless got is within a tolerance of want.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.9g, want %.9g", what, got, want)
	}
}

// searched runs a search to its end against a system.
func searched(t *testing.T, c capacity.Config, system func(capacity.Trial) capacity.Outcome) capacity.Report {
	t.Helper()
	s := capacity.New(c)
	for range 1000 {
		trial, ok := s.Next()
		if !ok {
			return s.Report()
		}
		if err := s.Record(system(trial)); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatal("the search does not end")
	return capacity.Report{}
}

// threshold is a system that holds up to a rate.
func threshold(rate float64) func(capacity.Trial) capacity.Outcome {
	return func(trial capacity.Trial) capacity.Outcome {
		if trial.Phase == capacity.Probe {
			return capacity.Outcome{Passed: true, Throughput: rate}
		}
		return capacity.Outcome{Passed: trial.Rate <= rate}
	}
}

// loads are the rates of a report, each once, with + for those that hold.
func loads(r capacity.Report, phases ...capacity.Phase) []string {
	var all []string
	for _, d := range r.Trials {
		text := fmt.Sprintf("%.6g-", d.Rate)
		if d.Passed {
			text = fmt.Sprintf("%.6g+", d.Rate)
		}
		if slices.Contains(phases, d.Phase) && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

func TestKAT30Threshold(t *testing.T) {
	r := searched(t, capacity.Config{Start: 100}, threshold(730))
	want := []string{"100+", "200+", "400+", "800-", "565.685+", "672.717+", "733.603-", "702.501+", "717.884+", "725.701+"}
	if got := loads(r, capacity.Bracket, capacity.Bisect); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	near(t, "capacity", r.Capacity, 725.701, 5e-4)
	near(t, "refused", r.Refused, 733.603, 5e-4)
	if r.End != capacity.Found || r.Held != r.Capacity || r.Inverted {
		t.Errorf("got %+v", r)
	}
	// 4 of bracketing, 2 votes for each of 6, 4 that confirm.
	if last := r.Trials[len(r.Trials)-1]; len(r.Trials) != 4+12+4 || last.Phase != capacity.Confirm || last.Duration != 30*time.Second {
		t.Errorf("got %d trials, the last %+v", len(r.Trials), last)
	}
}

func TestKAT30AIMD(t *testing.T) {
	a := capacity.AIMD{Start: 100, Step: 50}
	var got []string
	for range 25 {
		rate := a.Next()
		passed := rate <= 730
		a.Record(passed)
		got = append(got, fmt.Sprintf("%.6g%s", rate, map[bool]string{true: "+", false: "-"}[passed]))
	}
	var want []string
	for rate := 100; rate <= 700; rate += 50 {
		want = append(want, fmt.Sprint(rate, "+"))
	}
	for range 3 {
		want = append(want, "750-", "600+", "650+", "700+")
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	near(t, "capacity", a.Capacity(), 700, 1e-9)
}

// queue is a server of exponential service, 1000/s, with Poisson arrivals, on a
// virtual clock. A trial passes if its p99 is at most 50 ms.
type queue struct{ random *rand.Rand }

func (q queue) trial(t capacity.Trial) capacity.Outcome {
	const mu, slo = 1000, 0.050
	end := (t.Settle + t.Duration).Seconds()
	free := 0.0
	var waits []float64
	for at := q.random.ExpFloat64() / t.Rate; at < end; at += q.random.ExpFloat64() / t.Rate {
		free = max(free, at) + q.random.ExpFloat64()/mu
		if at >= t.Settle.Seconds() {
			waits = append(waits, free-at)
		}
	}
	slices.SortFunc(waits, cmp.Compare[float64])
	return capacity.Outcome{Passed: waits[int(math.Ceil(0.99*float64(len(waits))))-1] <= slo}
}

// statistical searches the capacity of a queue, 907.9/s, with several seeds.
func statistical(t *testing.T, seeds, tooHigh int) {
	t.Helper()
	const truth = 907.9
	var results []float64
	over := 0
	for seed := range uint64(seeds) {
		q := queue{rand.New(rand.NewPCG(seed+1, 31))}
		r := searched(t, capacity.Config{Start: 95}, q.trial)
		results = append(results, r.Capacity/truth)
		if r.Capacity > 1.02*truth {
			over++
		}
	}
	if m := stats.Median(results); m < 0.96 || m > 1 || over > tooHigh {
		t.Errorf("got a median of %.3f and %d more than 2 %% too high; want 0.96 to 1 and at most %d", m, over, tooHigh)
	}
}

func TestKAT31Statistical(t *testing.T) { statistical(t, 8, 1) }

// TestKAT31StatisticalSlow is the test in full: PRONY_SLOW=1.
func TestKAT31StatisticalSlow(t *testing.T) {
	if os.Getenv("PRONY_SLOW") == "" {
		t.Skip("PRONY_SLOW is not set")
	}
	statistical(t, 50, 2)
}

// trialsOf are n trials of a length and a loss.
func trialsOf(n int, length time.Duration, loss float64) []capacity.Measured {
	return slices.Repeat([]capacity.Measured{{Duration: length, Loss: loss}}, n)
}

func TestKAT32Classification(t *testing.T) {
	const u, lo, up = capacity.Undecided, capacity.Lower, capacity.Upper
	goals := []capacity.Goal{{Duration: time.Minute, Sum: time.Minute}, {Duration: time.Minute, Sum: 2 * time.Minute, Exceed: 0.5},
		{Duration: time.Second, Sum: 2 * time.Minute, Loss: 0.005, Exceed: 0.5}}
	s := time.Second
	for _, tt := range []struct {
		name   string
		trials [][]capacity.Measured
		want   [3]capacity.Bound
	}{
		{"59 good", [][]capacity.Measured{trialsOf(59, s, 0)}, [3]capacity.Bound{u, u, u}},
		{"and a bad one", [][]capacity.Measured{trialsOf(59, s, 0), trialsOf(1, s, 0.01)}, [3]capacity.Bound{up, u, u}},
		{"and 60 bad ones", [][]capacity.Measured{trialsOf(59, s, 0), trialsOf(60, s, 0.01)}, [3]capacity.Bound{up, u, u}},
		{"60 and 60", [][]capacity.Measured{trialsOf(60, s, 0), trialsOf(60, s, 0.01)}, [3]capacity.Bound{up, u, lo}},
		{"and a long bad one", [][]capacity.Measured{trialsOf(60, s, 0), trialsOf(60, s, 0.01), trialsOf(1, time.Minute, 0.001)}, [3]capacity.Bound{up, u, lo}},
		{"and a long good one", [][]capacity.Measured{trialsOf(60, s, 0), trialsOf(60, s, 0.01), trialsOf(1, time.Minute, 0.001), trialsOf(1, time.Minute, 0)}, [3]capacity.Bound{up, lo, lo}},
	} {
		for i, g := range goals {
			if got := g.Classify(slices.Concat(tt.trials...)); got != tt.want[i] {
				t.Errorf("%s, goal %d: got %s, want %s", tt.name, i+1, got, tt.want[i])
			}
		}
	}
}

func TestKAT32OurGoal(t *testing.T) {
	g := capacity.Goal{Duration: 30 * time.Second, Sum: 150 * time.Second, Exceed: 0.2}
	for _, tt := range []struct {
		passed, failed int
		want           capacity.Bound
	}{{4, 0, capacity.Lower}, {0, 2, capacity.Upper}, {3, 0, capacity.Undecided}, {3, 1, capacity.Undecided}, {4, 1, capacity.Lower}, {3, 2, capacity.Upper}, {0, 1, capacity.Undecided}} {
		trials := slices.Concat(trialsOf(tt.passed, g.Duration, 0), trialsOf(tt.failed, g.Duration, 1))
		if got := g.Classify(trials); got != tt.want {
			t.Errorf("%d passed, %d failed: got %s, want %s", tt.passed, tt.failed, got, tt.want)
		}
	}
}

// curve is a function at places.
func curve(x []float64, f func(x float64) float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = f(x[i])
	}
	return y
}

func TestKAT33Kneedle(t *testing.T) {
	var x, whole []float64
	for i := range 10 {
		x = append(x, float64(i)/9)
	}
	for n := range 64 {
		whole = append(whole, float64(n+1))
	}
	k, ok := capacity.SecondOpinion(x, curve(x, func(x float64) float64 { return 5 - 1/(x+0.1) }))
	if !ok {
		t.Fatal("got no knee")
	}
	near(t, "x", k.X, 0.2222, 5e-5)
	near(t, "y", k.Y, 1.8966, 5e-5)
	near(t, "d", k.Distance, 0.5364, 5e-5)
	near(t, "asymptotes", capacity.Asymptote(1000, 0.010, 0), 10, 1e-9)
	// What it answers to a knee at 10 moves with the grid (method, section 5.3).
	knee := func(n float64) float64 { return min(n/0.010, 1000) }
	powers := []float64{1, 2, 4, 8, 16, 32, 64}
	logs := curve(powers, math.Log2)
	for _, tt := range []struct {
		name string
		x, y []float64
		want float64
	}{{"1 to 64", whole, curve(whole, knee), 10}, {"powers of two", powers, curve(powers, knee), 16}, {"their logarithms", logs, curve(powers, knee), 4}} {
		if k, ok := capacity.Kneedle(tt.x, tt.y); !ok || k.X != tt.want {
			t.Errorf("%s: got %v, %t, want %v", tt.name, k.X, ok, tt.want)
		}
	}
	if k, ok := capacity.Kneedle(logs, curve(powers, func(n float64) float64 { return 1000 * n / (n + 9) })); ok {
		t.Errorf("a smooth curve on a log axis: got %v, want none", k)
	}
}
