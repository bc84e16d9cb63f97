package compare_test

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"prony/internal/compare"
)

// near fails unless got is within a tolerance of want.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %.9g, want %.9g", what, got, want)
	}
}

func quantity(t *testing.T, name string) compare.Quantity {
	t.Helper()
	q, err := compare.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestKAT27Verdicts(t *testing.T) {
	a := []float64{1000, 1010, 995, 1005, 990, 1002, 998, 1008}
	for _, tt := range []struct {
		name             string
		b                []float64
		ratio, low, high float64
		want             compare.Verdict
	}{
		{"B1", []float64{1085, 1092, 1078, 1088, 1095, 1081, 1090, 1079}, 1.08450, 1.07723, 1.09218, compare.Better},
		{"B2", []float64{1003, 1007, 992, 1001, 996, 1009, 999, 1004}, 1.00100, 0.99399, 1.00700, compare.Equivalent},
		{"B3", []float64{1040, 960, 1100, 1015, 930, 1080, 990, 1060}, 1.02748, 0.96192, 1.07463, compare.CannotTell},
	} {
		q := quantity(t, "rate")
		m := q.Judge(a, tt.b, compare.Setting{})
		near(t, tt.name, m.Effect, tt.ratio, 5e-6)
		near(t, tt.name+", low", m.Low, tt.low, 5e-6)
		near(t, tt.name+", high", m.High, tt.high, 5e-6)
		if m.Verdict != tt.want || m.Test != "mann-whitney, exact" && m.Test != "mann-whitney, permutation" {
			t.Errorf("%s: got %s by %s, want %s", tt.name, m.Verdict, m.Test, tt.want)
		}
		if (m.Needed > 8) != (tt.want == compare.CannotTell) {
			t.Errorf("%s: got %d runs that would tell", tt.name, m.Needed)
		}
		// The other way round, and of a cost in place of a rate, all is mirrored.
		mirror := map[compare.Verdict]compare.Verdict{compare.Better: compare.Worse}
		want, ok := mirror[tt.want]
		if !ok {
			want = tt.want
		}
		if got := q.Judge(tt.b, a, compare.Setting{}).Verdict; got != want {
			t.Errorf("%s, sides swapped: got %s, want %s", tt.name, got, want)
		}
		if got := quantity(t, "cpu.app").Judge(a, tt.b, compare.Setting{}).Verdict; got != want {
			t.Errorf("%s as a cost: got %s, want %s", tt.name, got, want)
		}
	}
}

// shares counts verdicts of simulated experiments: 10 blocks of two runs that
// vary by 2 %, the second better by a ratio.
func shares(t *testing.T, experiments int, seed uint64, ratio float64) map[compare.Verdict]float64 {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 28))
	q := quantity(t, "rate")
	count := map[compare.Verdict]float64{}
	for range experiments {
		var a, b []float64
		for range 10 {
			block := 1000 * (1 + 0.01*random.NormFloat64()) // what both runs of a block share
			a = append(a, block*(1+0.02*random.NormFloat64()))
			b = append(b, block*ratio*(1+0.02*random.NormFloat64()))
		}
		count[q.Judge(a, b, compare.Setting{Paired: true}).Verdict] += 100 / float64(experiments)
	}
	return count
}

// within fails unless a share, in percent, is where it must be.
func within(t *testing.T, what string, got, low, high float64) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s: got %.2f %%, want %v to %v %%", what, got, low, high)
	}
}

// TestKAT28FalseAlarms is the quick version, with wider bounds.
func TestKAT28FalseAlarms(t *testing.T) {
	same := shares(t, 300, 1, 1)
	within(t, "A/A better or worse", same[compare.Better]+same[compare.Worse], 0, 0.7)
	within(t, "A/A small change", same[compare.SmallChange], 1.5, 8)
	within(t, "A/A equivalent", same[compare.Equivalent], 8, 22)
	five := shares(t, 300, 2, 1.05)
	within(t, "+5 % better", five[compare.Better], 73, 88)
	within(t, "+5 % worse", five[compare.Worse], 0, 0)
}

// TestKAT28FalseAlarmsSlow is the audit in full: PRONY_SLOW=1.
func TestKAT28FalseAlarmsSlow(t *testing.T) {
	if os.Getenv("PRONY_SLOW") == "" {
		t.Skip("PRONY_SLOW is not set")
	}
	same := shares(t, 2000, 3, 1)
	within(t, "A/A better or worse", same[compare.Better]+same[compare.Worse], 0, 0.2)
	within(t, "A/A small change", same[compare.SmallChange], 3.5, 6)
	within(t, "A/A equivalent", same[compare.Equivalent], 12, 18)
	five := shares(t, 2000, 4, 1.05)
	within(t, "+5 % better", five[compare.Better], 78, 84)
	within(t, "+5 % worse", five[compare.Worse], 0, 0)
	two := shares(t, 2000, 5, 1.02)
	within(t, "+2 % small change", two[compare.SmallChange], 42, 50)
	within(t, "+2 % better", two[compare.Better], 1, 4.5)
}
