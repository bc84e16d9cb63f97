package compare

import (
	"fmt"
	"math"
	"slices"

	"prony/internal/stats"
)

// Verdict is what the interval of an effect says, held against the margin.
type Verdict string

const (
	Better     Verdict = "better"     // wholly beyond the margin, for the better
	Worse      Verdict = "worse"      // wholly beyond the margin, for the worse
	Equivalent Verdict = "equivalent" // wholly within the margin
	// SmallChange: there is a difference, but not wholly beyond the margin; the
	// direction is stated.
	SmallChange Verdict = "small change"
	CannotTell  Verdict = "cannot tell" // never to be shown as "no change"
)

// gravity orders verdicts; a small change for the worse is graver than one for
// the better.
func gravity(v Verdict, direction Verdict) int {
	switch {
	case v == Worse:
		return 6
	case v == CannotTell:
		return 5
	case v == SmallChange && direction == Worse:
		return 4
	case v == Better:
		return 3
	case v == SmallChange:
		return 2
	case v == Equivalent:
		return 1
	}
	return 0
}

func gravestGate(metrics []Metric) Verdict {
	most, verdict := 0, CannotTell
	for _, m := range metrics {
		if g := gravity(m.Verdict, m.Direction); m.Gate && g > most {
			most, verdict = g, m.Verdict
		}
	}
	return verdict
}

func gravest(all []Verdict) Verdict {
	if len(all) == 0 {
		return CannotTell
	}
	return slices.MaxFunc(all, func(a, b Verdict) int { return gravity(a, Worse) - gravity(b, Worse) })
}

// Summary is one side of a metric. Without an interval of the median with 95 %
// coverage, Low and High are the range and Coverage is 0.
type Summary struct {
	Values   []float64 `json:"values"` // by run, in the order of the runs
	Median   float64   `json:"median"`
	Low      float64   `json:"low"`
	High     float64   `json:"high"`
	Coverage float64   `json:"coverage"`
	// CV is the variation from run to run, a ratio; 0 where it is not known.
	CV float64 `json:"cv"`
}

func summarise(values []float64) Summary {
	i := stats.MedianInterval(values)
	if values == nil {
		values = []float64{}
	}
	return Summary{Values: values, Median: stats.Median(values), Low: i.Low, High: i.High, Coverage: i.Coverage, CV: known(stats.CV(values))}
}

// known is x, or 0 for what JSON has no number for.
func known(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}

// Metric is the comparison of one quantity.
type Metric struct {
	Quantity
	Gate bool    `json:"gate"`
	A    Summary `json:"a"`
	B    Summary `json:"b"`
	// Effect is B over A, or B less A for a quantity that is Absolute; with its
	// interval. Coverage is the exact probability that it holds the effect; 0 is
	// no interval, and then Low and High are extremes of what was seen.
	Effect   float64 `json:"effect"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
	Coverage float64 `json:"coverage"`
	// Test says which one gave P: "signed-rank" or "mann-whitney", with its method.
	Test string  `json:"test,omitempty"`
	P    float64 `json:"p"`
	// Adjusted is P within its family: Holm's for gates, the q-value of Benjamini
	// and Hochberg for the others.
	Adjusted float64 `json:"p_adjusted"`
	// A12 is the probability that a run of B is better than one of A, Size the
	// word for that; they decide nothing.
	A12  float64 `json:"a12"`
	Size string  `json:"size,omitempty"`

	Verdict Verdict `json:"verdict"`
	// Direction of a small change: Better or Worse.
	Direction Verdict `json:"direction,omitempty"`
	Reason    string  `json:"reason,omitempty"`
	// Needed is about how many blocks, or runs on each side, would tell; 0 where
	// the question does not arise or has no answer.
	Needed int `json:"needed,omitempty"`
	// Missing says which runs have no value, and why.
	Missing []string `json:"missing,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// Setting is how values are judged.
type Setting struct {
	Paired bool
	// Alpha is the level of this one verdict; in a family, its share. Default 0.05.
	Alpha float64
}

// Judge compares values, one per run; with Paired, a[i] belongs to b[i]. It is
// the whole of the statistics: everything else prepares its input.
func (q Quantity) Judge(a, b []float64, s Setting) Metric {
	if s.Alpha == 0 {
		s.Alpha = 0.05
	}
	m := Metric{Quantity: q, A: summarise(a), B: summarise(b), P: 1, Adjusted: 1, Verdict: CannotTell}
	if len(a) == 0 || len(b) == 0 {
		m.Reason = "one side has no value"
		return m
	}
	s.Paired = s.Paired && len(a) == len(b)
	e, err := q.effect(a, b, s)
	if err != nil {
		m.Reason = err.Error()
		return m
	}
	m.Effect, m.Low, m.High, m.Coverage = e.Value, e.Low, e.High, e.Coverage
	m.size(a, b)
	n := min(len(a), len(b))
	if least := s.least(); n < least || e.K == 0 {
		m.Coverage, m.Needed = 0, max(least, n+1)
		m.Reason = fmt.Sprintf("too few for a verdict: %d %s, and it takes %d (level %.3g%%)", n, s.units(n), m.Needed, 100*s.Alpha)
		return m
	}
	m.test(a, b, s)
	m.decide(n)
	return m
}

// least is the number of pairs, or runs on each side, for any verdict.
func (s Setting) least() int {
	if s.Paired {
		return max(stats.LeastPairs, stats.PairsToReach(s.Alpha))
	}
	return max(stats.LeastRuns, stats.RunsToReach(s.Alpha))
}

func (s Setting) units(n int) string {
	word := "run on each side"
	if s.Paired {
		word = "pair"
	}
	switch {
	case n == 1:
		return word
	case s.Paired:
		return "pairs"
	}
	return "runs on each side"
}

func (q Quantity) effect(a, b []float64, s Setting) (stats.Estimate, error) {
	switch {
	case q.Absolute && s.Paired:
		return stats.PairedShift(differences(a, b), s.Alpha), nil
	case q.Absolute:
		return stats.Shift(a, b, s.Alpha), nil
	case s.Paired:
		return stats.PairedRatio(a, b, s.Alpha)
	}
	return stats.Ratio(a, b, s.Alpha)
}

func differences(a, b []float64) []float64 {
	d := make([]float64, len(a))
	for i := range a {
		d[i] = b[i] - a[i]
	}
	return d
}

func (m *Metric) size(a, b []float64) {
	m.A12 = stats.A12(a, b)
	if m.LowerIsBetter {
		m.A12 = 1 - m.A12
	}
	m.Size = stats.DeltaWord(2*m.A12 - 1)
}

// test fills in the p-value. Effects are already known to be computable.
func (m *Metric) test(a, b []float64, s Setting) {
	name, t := "mann-whitney", stats.Test{}
	if s.Paired {
		name = "signed-rank"
		d := differences(a, b)
		if !m.Absolute {
			d, _ = stats.LogRatios(a, b)
		}
		t = stats.SignedRank(d)
	} else {
		t = stats.MannWhitney(a, b)
	}
	m.Test, m.P, m.Adjusted = name+", "+t.Method, t.P, t.P
	if t.Method == stats.Normal {
		m.Notes = append(m.Notes, "p is approximated by the normal law")
	}
}

// decide holds the interval against the margin (method, section 4.4). Effects
// are turned so that more is better, and ratios taken as logarithms, so that A
// against B is the mirror of B against A.
func (m *Metric) decide(n int) {
	low, high, margin := m.Low, m.High, m.Margin
	if !m.Absolute {
		low, high, margin = math.Log(low), math.Log(high), math.Log1p(margin)
	}
	if m.LowerIsBetter {
		low, high = -high, -low
	}
	m.Verdict = CannotTell
	switch {
	case low > margin:
		m.Verdict = Better
	case high < -margin:
		m.Verdict = Worse
	case low >= -margin && high <= margin:
		m.Verdict = Equivalent
	case low > 0:
		m.Verdict, m.Direction = SmallChange, Better
	case high < 0:
		m.Verdict, m.Direction = SmallChange, Worse
	default:
		m.Needed = stats.MoreNeeded(n, (high-low)/2, margin)
		m.Reason = "the interval holds both no difference and one that matters"
	}
}
