package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/stats"
)

// match is a pair of sides that can be compared.
type match struct {
	c     Comparison
	o     Options
	a, b  []Run // of the same length and order where c.Paired
	gates []Quantity
	also  []Quantity
}

func newMatch(a, b Side, o Options) (*match, error) {
	m := &match{o: o, c: Comparison{A: a.Name, B: b.Name}}
	var outA, outB []Excluded
	m.a, outA = a.counting()
	m.b, outB = b.counting()
	m.c.Excluded = slices.Concat(outA, outB)
	if err := sameModel(m.a, m.b); err != nil {
		return nil, err
	}
	if !o.Unpaired {
		m.pair(a, b)
	}
	m.c.RunsA, m.c.RunsB = len(m.a), len(m.b)
	m.c.Differences = differ(m.a, m.b)
	m.c.Warnings = slices.Concat(warnings(a.Name, m.a), warnings(b.Name, m.b))
	m.conditions(a.from != nil && a.from == b.from)
	return m, m.quantities()
}

// sameModel refuses open against closed, whichever runs they are.
func sameModel(a, b []Run) error {
	models := map[string]bool{}
	for _, r := range slices.Concat(a, b) {
		models[r.Result.Load.Model] = true
	}
	if models[string(plan.Open)] && models[string(plan.Closed)] {
		return fmt.Errorf("%w: their response times are different quantities; measure both with the same model", ErrModels)
	}
	return nil
}

func (m *match) pair(a, b Side) {
	pairs, lone, ok := pair(a, b, m.a, m.b)
	if !ok {
		return
	}
	m.c.Paired, m.a, m.b = true, nil, nil
	m.c.Excluded = append(m.c.Excluded, lone...)
	for _, p := range pairs {
		m.a, m.b = append(m.a, p[0]), append(m.b, p[1])
		m.c.Pairs = append(m.c.Pairs, Pair{p[0].Block, p[0].Label, p[1].Label})
	}
}

// conditions warns of differences that stand in the way of a verdict. Variants
// of one experiment were measured side by side: what differs in their load or
// services is what they are compared for.
func (m *match) conditions(sideBySide bool) {
	var breaks []string
	for i := range m.c.Differences {
		d := &m.c.Differences[i]
		if d.Breaks = d.Breaks && !sideBySide; d.Breaks {
			breaks = append(breaks, d.Fact)
		}
	}
	if len(breaks) > 0 {
		m.c.Warnings = append(m.c.Warnings, "the runs were not made under the same conditions ("+join(breaks)+"); measure both again, interleaved")
	}
}

// broken lists the facts that forbid a verdict.
func (m *match) broken() []string {
	var facts []string
	for _, d := range m.c.Differences {
		if d.Breaks && !m.o.AcceptDifferences {
			facts = append(facts, d.Fact)
		}
	}
	return facts
}

// quantities resolves which metrics are compared.
func (m *match) quantities() error {
	gates, also := m.o.Gates, m.o.Also
	if len(gates) == 0 {
		gates = m.usualGates()
	}
	if also == nil {
		also = m.usual()
	}
	var err error
	if m.gates, err = m.parse(gates, nil); err != nil {
		return err
	}
	m.also, err = m.parse(also, m.gates)
	return err
}

// parse reads names, each once, without those that are there already.
func (m *match) parse(names []string, already []Quantity) ([]Quantity, error) {
	var all []Quantity
	for _, name := range names {
		q, err := Parse(name)
		if err != nil {
			return nil, err
		}
		for _, key := range []string{name, q.Name} {
			if margin, ok := m.o.Margins[key]; ok {
				q.Margin = margin
			}
		}
		if !(q.Margin > 0) {
			return nil, fmt.Errorf("metric %q: a margin must be above zero", name)
		}
		same := func(other Quantity) bool { return other.Name == q.Name }
		if !slices.ContainsFunc(already, same) && !slices.ContainsFunc(all, same) {
			all = append(all, q)
		}
	}
	return all, nil
}

// usualGates follow from what the load was: a closed one has the rate as its
// result, an open one, whose rate is given, the tail and the cost.
func (m *match) usualGates() []string {
	if len(m.a) == 0 || m.a[0].Result.Load.Model != string(plan.Open) {
		return []string{"rate"}
	}
	gates := []string{"p99"}
	if p := m.a[0].Result.Plan; p != nil && len(p.Load.Requests) > 0 {
		if name := "cpu." + p.Load.Requests[0].Service; m.known(name) {
			gates = append(gates, name)
		}
	}
	return gates
}

// usual are the metrics that are shown anyway.
func (m *match) usual() []string {
	names := []string{"rate", "p50", "p90", "p99", "p99.9", "errors"}
	for _, r := range m.a {
		for _, s := range r.Result.Services {
			for _, name := range []string{"cpu." + s.Name, "memory." + s.Name} {
				if !slices.Contains(names, name) && m.known(name) {
					names = append(names, name)
				}
			}
		}
	}
	return names
}

// known reports whether both sides have a value of the metric in any run.
func (m *match) known(name string) bool {
	q, err := Parse(name)
	if err != nil {
		return false
	}
	has := func(r Run) bool { return q.of(r.Result).missing == "" }
	return slices.ContainsFunc(m.a, has) && slices.ContainsFunc(m.b, has)
}

// judge fills in the comparison: gates at their share of the level, the others
// at the level itself.
func (m *match) judge(alpha, share float64) Comparison {
	broken := m.broken()
	for _, q := range m.gates {
		x := m.metric(q, share)
		x.Gate = true
		m.c.Warnings = append(m.c.Warnings, m.noise(x)...)
		m.c.Metrics = append(m.c.Metrics, x)
	}
	for _, q := range m.also {
		m.c.Metrics = append(m.c.Metrics, m.metric(q, alpha))
	}
	if len(broken) > 0 {
		for i := range m.c.Metrics {
			x := &m.c.Metrics[i]
			x.Verdict, x.Direction, x.Needed = CannotTell, "", 0
			x.Reason = "the runs were not made under the same conditions: " + join(broken)
		}
	}
	m.c.Distribution = m.distribution(alpha)
	return m.c
}

// metric takes the values, leaving out runs that have none, and their partners.
func (m *match) metric(q Quantity, alpha float64) Metric {
	a, b := m.take(q, m.a), m.take(q, m.b)
	partners := func(other []value) []value {
		if m.c.Paired {
			return other
		}
		return nil
	}
	x, endlessA := present(a, partners(b))
	y, endlessB := present(b, partners(a))
	r := q.Judge(x, y, Setting{Paired: m.c.Paired, Alpha: alpha})
	r.Missing = slices.Concat(missing(m.c.A, m.a, a), missing(m.c.B, m.b, b))
	if n := endlessA + endlessB; n > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("in %d runs %s has no end, since too many requests had no good answer: the longest wait stands for it", n, q.Name))
	}
	return r
}

// present are the values that exist, with those of their partners if they have
// any, and how many of them are endless.
func present(own, partners []value) (all []float64, endless int) {
	for i, v := range own {
		if v.missing != "" || partners != nil && partners[i].missing != "" {
			continue
		}
		all = append(all, v.x)
		if v.endless {
			endless++
		}
	}
	return all, endless
}

func missing(side string, runs []Run, all []value) []string {
	var text []string
	for i, v := range all {
		if v.missing != "" {
			text = append(text, fmt.Sprintf("%s of %s: %s", runs[i].Label, side, v.missing))
		}
	}
	return text
}

func (m *match) take(q Quantity, runs []Run) []value {
	all := make([]value, len(runs))
	for i, r := range runs {
		all[i] = q.of(r.Result)
	}
	return all
}

// Limits of the baseline's noise (method, section 4.6).
const (
	cvSuspect, cvInvalid       = 0.05, 0.15
	driftSuspect, driftInvalid = 0.03, 0.10
)

// noise warns when the baseline varies or drifts more than a lab should.
func (m *match) noise(x Metric) []string {
	var all []string
	if limit, over := beyond(x.A.CV, cvSuspect, cvInvalid); over && !x.Absolute {
		all = append(all, fmt.Sprintf("%s of %s varies by %.1f %% from run to run (limit %.0f %%)", x.Name, m.c.A, 100*x.A.CV, 100*limit))
	}
	if len(x.A.Values) < stats.LeastPairs || x.Absolute {
		return all
	}
	drift := stats.Drift(x.A.Values)
	if limit, over := beyond(math.Abs(drift), driftSuspect, driftInvalid); over {
		all = append(all, fmt.Sprintf("%s of %s drifted by %+.1f %% between the halves of the experiment (limit %.0f %%)", x.Name, m.c.A, 100*drift, 100*limit))
	}
	return all
}

// beyond gives the graver limit that a value exceeds.
func beyond(x, suspect, invalid float64) (limit float64, over bool) {
	switch {
	case x > invalid:
		return invalid, true
	case x > suspect:
		return suspect, true
	}
	return 0, false
}

func join(words []string) string { return strings.Join(words, ", ") }

// results are the runs without their labels.
func results(runs []Run) []*result.Run {
	all := make([]*result.Run, len(runs))
	for i, r := range runs {
		all[i] = r.Result
	}
	return all
}
