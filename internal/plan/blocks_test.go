package plan_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"prony/internal/plan"
)

// varied is an experiment of n variants, repeated.
func varied(t *testing.T, n, repeats int, more string) *plan.Experiment {
	t.Helper()
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprint(i + 1)
	}
	return planned(t, fmt.Sprintf(`prony: 1
services: {app: {process: {command: ./hello}, instances: '${n}'}}
load: [{target: app, rate: 100/s}, {name: b, target: app, rate: 100/s}, {name: c, target: app, seed: 5}]
vary: {n: [%s]}
repeat: %d
%s`, strings.Join(values, ", "), repeats, more), facts())
}

// orders gives the variants of each block, as their values.
func orders(e *plan.Experiment) [][]string {
	all := make([][]string, e.Repeat.Times)
	for _, t := range e.Trials {
		all[t.Block] = append(all[t.Block], t.Values["n"])
	}
	return all
}

func TestBlocksHoldEachVariantOnce(t *testing.T) {
	for _, order := range []string{"", "order: as-written\n"} {
		for n := 1; n <= 7; n++ {
			e := varied(t, n, 9, order)
			if got, want := len(e.Trials), 9*n; got != want {
				t.Fatalf("got %d trials, want %d", got, want)
			}
			for i, trial := range e.Trials {
				if trial.Block != i/n {
					t.Errorf("trial %d is in block %d", i, trial.Block)
				}
			}
			for b, row := range orders(e) {
				sorted := slices.Sorted(slices.Values(row))
				if order != "" && !slices.Equal(row, sorted) || len(slices.Compact(sorted)) != n {
					t.Errorf("block %d of %d variants (%q) holds %v", b, n, order, row)
				}
			}
		}
	}
}

// TestOrderIsReproducible: the seed alone decides.
func TestOrderIsReproducible(t *testing.T) {
	order := func(seed int) string { return fmt.Sprint(orders(varied(t, 5, 6, fmt.Sprintf("seed: %d\n", seed)))) }
	if got, want := order(7), order(7); got != want {
		t.Errorf("got %s, and then %s", got, want)
	}
	const want = "[[3 1 2 5 4] [3 1 2 5 4] [3 1 5 2 4] [5 4 1 2 3] [2 1 4 3 5] [4 3 5 2 1]]"
	if got := order(1); got != want {
		t.Errorf("seed 1: got %s, want %s as it has always been", got, want)
	}
	seen := map[string]bool{}
	for seed := range 20 {
		seen[order(seed+1)] = true
	}
	if len(seen) != 20 {
		t.Errorf("20 seeds gave %d orders", len(seen))
	}
}

// TestOrderIsFair: each of 3 variants comes first about as often. For 3000
// blocks the standard deviation is √(3000·1/3·2/3) = 25.8; five of them is a
// false alarm in two million.
func TestOrderIsFair(t *testing.T) {
	first := map[string]int{}
	for _, row := range orders(varied(t, 3, 3000, "")) {
		first[row[0]]++
	}
	for value, n := range first {
		if math.Abs(float64(n)-1000) > 5*25.8 {
			t.Errorf("%s comes first in %d of 3000 blocks", value, n)
		}
	}
	if len(first) != 3 {
		t.Errorf("got %d variants in front, want 3", len(first))
	}
}

// TestKAT26Drift: of two variants, the order of 4 blocks cancels a linear and a
// quadratic drift, that of 8 a cubic one.
func TestKAT26Drift(t *testing.T) {
	tests := []struct {
		blocks, power int
		want          float64
	}{{2, 1, 0}, {2, 2, 2}, {4, 2, 0}, {4, 3, 12}, {8, 3, 0}}
	firsts := map[string]bool{}
	for _, tt := range tests {
		for seed := range 8 {
			e := varied(t, 2, tt.blocks, fmt.Sprintf("seed: %d\n", seed+1))
			firsts[e.Trials[0].Values["n"]] = true
			var difference float64
			for slot, trial := range e.Trials {
				sign := 1.0
				if trial.Values["n"] == "1" {
					sign = -1
				}
				difference += sign * math.Pow(float64(slot), float64(tt.power)) / float64(tt.blocks)
			}
			if got := math.Abs(difference); got != tt.want {
				t.Errorf("%d blocks, drift of power %d, seed %d: got %v, want %v", tt.blocks, tt.power, seed+1, got, tt.want)
			}
		}
	}
	if len(firsts) != 2 {
		t.Error("the same variant is first whatever the seed")
	}
}

// TestSeeds: the variants of a block meet the same arrivals; other blocks and
// other loads do not.
func TestSeeds(t *testing.T) {
	e := varied(t, 3, 4, "")
	seen := map[uint64]string{}
	for _, trial := range e.Trials {
		if trial.Plan.Also[1].Seed != 5 {
			t.Errorf("got seed %d for a load whose file says 5", trial.Plan.Also[1].Seed)
		}
		for i, l := range []plan.Load{trial.Plan.Load, trial.Plan.Also[0]} {
			place := fmt.Sprintf("block %d, load %d", trial.Block, i)
			if before, ok := seen[l.Seed]; ok && before != place {
				t.Errorf("seed %d is that of %s and of %s", l.Seed, before, place)
			}
			seen[l.Seed] = place
			if l.Arrivals.Seed != l.Seed || l.Seed == 0 || l.Seed >= 1<<53 {
				t.Errorf("%s: got seed %d, arrivals %d", place, l.Seed, l.Arrivals.Seed)
			}
		}
	}
	if len(seen) != 8 {
		t.Errorf("got %d seeds, want one for each of 4 blocks and 2 loads", len(seen))
	}
}

// TestNeeded holds the table of the method: how many runs a difference needs.
func TestNeeded(t *testing.T) {
	tests := []struct {
		cv, detect float64
		want       int
	}{{0.01, 0.01, 17}, {0.02, 0.01, 66}, {0.02, 0.02, 17}, {0.03, 0.02, 37}, {0.05, 0.05, 17},
		{0.03, 0.05, 6}, {0.01, 0.02, 6}, {0, 0.05, 6}, {0.5, 0.01, 100}, {math.NaN(), 0.01, 100}}
	for _, tt := range tests {
		r := plan.Repeat{Times: 100, Detect: tt.detect, Pilot: 5}
		if got := r.Needed(tt.cv); got != tt.want {
			t.Errorf("CV %v, difference %v: got %d, want %d", tt.cv, tt.detect, got, tt.want)
		}
	}
	if got := (plan.Repeat{Times: 4}).Needed(0.5); got != 4 {
		t.Errorf("a fixed number: got %d, want 4", got)
	}
}

func TestRepeatDefaults(t *testing.T) {
	text := "prony: 1\nservices: {app: {url: 'http://127.0.0.1:1'}}\nload: {target: app}\n"
	if got := len(planned(t, text, facts()).Trials); got != 1 {
		t.Errorf("one variant: got %d trials, want 1", got)
	}
	if got := len(planned(t, text+"vary: {load.connections: [1, 2]}\n", facts()).Trials); got != 20 {
		t.Errorf("two variants: got %d trials, want 20", got)
	}
}
