package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"prony/internal/compare"
)

// needSlow skips tests that take minutes and a quiet machine (make test-slow).
func needSlow(t *testing.T) {
	t.Helper()
	needLive(t)
	needRoot(t)
	if os.Getenv("PRONY_SLOW") == "" {
		t.Skip("PRONY_SLOW is not set: make test-slow")
	}
}

// leastBlocks is how many blocks must be usable for a comparison to count: fewer
// than six give no interval at 95 %. The files have some to spare.
const leastBlocks = 6

// TestPlantedSameTwice: the same target against itself. At most 8 of 100
// comparisons may call it different.
func TestPlantedSameTwice(t *testing.T) {
	needSlow(t)
	const comparisons, most = 100, 8
	counted, different := 0, 0
	for i := range comparisons {
		c, ok := compared(t, "a-and-a", i+1, "rate", "p50", "cpu.app")
		if !ok {
			continue
		}
		counted++
		if n := slices.IndexFunc(c.Metrics, func(m compare.Metric) bool {
			return m.Gate && (m.Verdict == compare.Better || m.Verdict == compare.Worse)
		}); n >= 0 {
			different++
			t.Logf("comparison %d: %s is %s, by a factor of %.3f to %.3f", i+1, c.Metrics[n].Name, c.Metrics[n].Verdict, c.Metrics[n].Low, c.Metrics[n].High)
		}
	}
	t.Logf("%d of %d comparisons called different, %d made", different, counted, comparisons)
	if different > most {
		t.Errorf("got %d of %d comparisons of a target with itself that call it different, want at most %d", different, counted, most)
	}
	enough(t, counted, comparisons)
}

// TestPlantedCost: 5 % more CPU for each request, at a fixed rate. At least 18 of
// 20 comparisons have to find it.
func TestPlantedCost(t *testing.T) {
	needSlow(t)
	const comparisons, missing = 20, 2
	counted, found := 0, 0
	for i := range comparisons {
		c, ok := compared(t, "a-and-b", i+1, "cpu.app")
		if !ok {
			continue
		}
		counted++
		m := c.Metrics[0]
		if m.Verdict == compare.Worse || m.Verdict == compare.SmallChange && m.Direction == compare.Worse {
			found++
		}
		t.Logf("comparison %d: %s %s, a factor of %.3f (%.3f to %.3f) %s", i+1, m.Verdict, m.Direction, m.Effect, m.Low, m.High, m.Reason)
	}
	t.Logf("%d of %d comparisons found it, %d made", found, counted, comparisons)
	if counted-found > missing {
		t.Errorf("got %d of %d comparisons that found 5 %% more CPU for each request, want all but %d", found, counted, missing)
	}
	enough(t, counted, comparisons)
}

// enough skips where other programs spoiled so much that what is left says
// little.
func enough(t *testing.T, counted, made int) {
	t.Helper()
	if counted < (made+1)/2 {
		t.Skipf("other programs spoiled %d of %d comparisons", made-counted, made)
	}
}

// compared measures the two variants of an experiment in blocks and judges
// some metrics; ok is false if other programs spoiled too many of the blocks.
func compared(t *testing.T, file string, seed int, gates ...string) (c compare.Comparison, ok bool) {
	t.Helper()
	dir := t.TempDir()
	campaign, judged := filepath.Join(dir, "campaign.json"), filepath.Join(dir, "compared.json")
	planted{file: file, args: []string{"--set", fmt.Sprintf("seed=%d", seed)}}.run(t, campaign)
	args := []string{"compare", campaign, "--json", judged}
	for _, gate := range gates {
		args = append(args, "--gate", gate)
	}
	if out := command(t, binary, args...); out.code > 1 {
		t.Fatalf("status %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	text, err := os.ReadFile(judged)
	if err != nil {
		t.Fatal(err)
	}
	var r compare.Result
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	c = r.Comparisons[0]
	return c, min(c.RunsA, c.RunsB) >= leastBlocks
}
