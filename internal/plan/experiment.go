package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"prony/internal/spec"
	"prony/internal/unit"
)

// Experiment is everything that will be measured, in its order.
type Experiment struct {
	Name     string `json:"name,omitempty"`
	Question string `json:"question,omitempty"`
	Seed     uint64 `json:"seed"`
	Order    Order  `json:"order"`
	// Scale is the factor that connections, rates and counts were multiplied by;
	// 1 with "scale: auto", whose changes are in the Fit.
	Scale  float64 `json:"scale"`
	Repeat Repeat  `json:"repeat"`
	// Continue goes on after a trial that failed.
	Continue bool          `json:"continue,omitempty"`
	Cooldown time.Duration `json:"cooldown_ns"` // between two trials

	Hosts    []Host    `json:"hosts,omitempty"`
	Variants []Variant `json:"variants"`
	// Baseline is the name of the variant that the others are compared with.
	Baseline string `json:"baseline"`
	// Expect are goals for each trial, Goals those over several variants.
	Expect []Expectation `json:"expect,omitempty"`
	Goals  []Goal        `json:"goals,omitempty"`
	// Unjudged are goals of the file for which flags left too few variants.
	Unjudged []string `json:"unjudged,omitempty"`
	Trials   []Trial  `json:"trials"`
}

// Host is another machine that services run on.
type Host struct {
	Name string `json:"name"`
	URL  string `json:"url"`            // ssh://
	CPUs int    `json:"cpus,omitempty"` // 0: not known
}

// Variant is one combination of what is varied.
type Variant struct {
	Name   string            `json:"name"`
	Values map[string]string `json:"values,omitempty"` // by axis
}

// Trial is one measurement of one variant, from a fresh start of its services.
type Trial struct {
	Block   int               `json:"block"` // from 0
	Variant string            `json:"variant"`
	Values  map[string]string `json:"values,omitempty"` // by axis
	Plan    Plan              `json:"plan"`
}

// Goal is an expectation over the variants of one axis, such as
// "scaling(instances) > 0.7": throughput per unit of the axis, relative to that
// at its smallest value.
type Goal struct {
	Text     string  `json:"text"`
	Function string  `json:"function"` // "scaling"
	Axis     string  `json:"axis"`
	Op       string  `json:"op"` // "<", "<=", ">", ">="
	Value    float64 `json:"value"`
}

// Holds reports whether a value meets the goal.
func (g Goal) Holds(value float64) bool { return Expectation{Op: g.Op, Value: g.Value}.Holds(value) }

// Make resolves an experiment into the trials that will be measured. It is
// pure: the same file and facts give the same plan. The error is a
// [spec.Mistakes], with positions in the file.
func Make(e *spec.Experiment, f Facts) (*Experiment, error) {
	m := maker{spec: e, facts: f, plan: &Experiment{Name: e.Name, Question: e.Question, Seed: max(e.Seed, 1),
		Order: cmp.Or(Order(e.Order), Shuffled), Scale: cmp.Or(e.Scale.Factor, 1), Continue: e.OnFailure == "continue", Cooldown: 2 * time.Second}}
	if e.Cooldown != nil {
		m.plan.Cooldown = time.Duration(*e.Cooldown)
	}
	m.hosts()
	plans := m.variants()
	m.baseline()
	m.expect()
	m.plan.Repeat = repeats(e.Repeat, len(plans))
	m.trials(plans)
	if len(m.mistakes) > 0 {
		return nil, m.mistakes.Sorted()
	}
	return m.plan, nil
}

// maker is an experiment under way.
type maker struct {
	spec     *spec.Experiment
	facts    Facts
	plan     *Experiment
	mistakes spec.Mistakes
	// cuts of the limits, and the factor on rates and counts; none and 1 unless
	// the scale is auto.
	cuts cuts
	pace float64
}

func (m *maker) wrong(path string, err error) {
	m.mistakes = append(m.mistakes, m.spec.Wrong(path, err))
}

func (m *maker) hosts() {
	for name, url := range m.spec.Hosts {
		m.plan.Hosts = append(m.plan.Hosts, Host{Name: name, URL: url, CPUs: m.facts.Hosts[name].CPUs})
	}
	slices.SortFunc(m.plan.Hosts, func(a, b Host) int { return cmp.Compare(a.Name, b.Name) })
}

// variants resolves each combination into the plan of its trials.
func (m *maker) variants() []Plan {
	var setups []spec.Setup
	var services [][]Service
	for _, c := range m.spec.Combinations() {
		v := Variant{Name: c.Name(), Values: c.Map()}
		setup, err := m.spec.Resolve(c)
		if err != nil {
			m.wrong("", err)
			continue
		}
		m.plan.Variants = append(m.plan.Variants, v)
		setups, services = append(setups, setup), append(services, servicesOf(setup))
	}
	m.pace = m.plan.Scale
	if m.spec.Scale.Auto {
		m.cuts = m.facts.reduction(services)
		m.pace = m.cuts.least()
	}
	plans := make([]Plan, len(setups))
	for i, setup := range setups {
		plans[i] = m.expand(setup, services[i])
	}
	if m.spec.Scale.Auto {
		m.fitLoads(plans)
	}
	return plans
}

// baseline is the variant with the values that the file names, or the first.
func (m *maker) baseline() {
	if len(m.plan.Variants) == 0 {
		return
	}
	m.plan.Baseline = m.plan.Variants[0].Name
	if len(m.spec.Baseline) == 0 {
		return
	}
	i := slices.IndexFunc(m.plan.Variants, func(v Variant) bool {
		for axis, value := range m.spec.Baseline {
			if v.Values[axis] != value {
				return false
			}
		}
		return true
	})
	if i < 0 && m.spec.Narrowed {
		return // the first of those that are left
	}
	if i < 0 {
		m.wrong("baseline", errors.New("no variant has these values"))
		return
	}
	m.plan.Baseline = m.plan.Variants[i].Name
}

// expect sorts the goals into those of a trial and those over variants.
func (m *maker) expect() {
	for i, text := range m.spec.Expect {
		path := fmt.Sprintf("expect[%d]", i)
		if strings.Contains(text, "(") {
			g, err := m.goal(text)
			switch {
			case err != nil && m.spec.Narrowed && errors.Is(err, errTooFew):
				m.plan.Unjudged = append(m.plan.Unjudged, g.Text)
				continue
			case err != nil:
				m.wrong(path, err)
			}
			m.plan.Goals = append(m.plan.Goals, g)
			continue
		}
		x, err := ParseExpectation(text)
		if err != nil {
			m.wrong(path, err)
		}
		m.plan.Expect = append(m.plan.Expect, x)
	}
}

// goal reads "scaling(instances) > 0.7".
func (m *maker) goal(text string) (Goal, error) {
	text = strings.TrimSpace(text)
	function, rest, _ := strings.Cut(text, "(")
	axis, rest, closed := strings.Cut(rest, ")")
	g := Goal{Text: text, Function: strings.TrimSpace(function), Axis: strings.TrimSpace(axis)}
	rest = strings.TrimSpace(rest)
	value := strings.TrimLeft(rest, "<>=!")
	g.Op, value = rest[:len(rest)-len(value)], strings.TrimSpace(value)
	v, err := strconv.ParseFloat(value, 64)
	if strings.HasSuffix(value, "%") {
		v, err = unit.ParsePercent(value)
	}
	g.Value = v
	switch {
	case g.Function != "scaling":
		return g, fmt.Errorf("expectation %q: found %q; the only function over variants is scaling(axis)", text, g.Function)
	case !closed || !slices.Contains([]string{"<", "<=", ">", ">="}, g.Op) || err != nil || !(v > 0):
		return g, fmt.Errorf("expectation %q: want scaling(axis), one of <, <=, > and >=, and a share such as 0.7", text)
	}
	return g, m.numeric(g)
}

// errTooFew is no mistake where a flag took the other values away.
var errTooFew = errors.New("needs at least two values")

// numeric demands an axis with at least two numbers above zero.
func (m *maker) numeric(g Goal) error {
	values := map[string]bool{}
	for _, v := range m.plan.Variants {
		text, ok := v.Values[g.Axis]
		if !ok {
			return fmt.Errorf("expectation %q: nothing is varied that is called %s", g.Text, g.Axis)
		}
		if n, err := strconv.ParseFloat(text, 64); err != nil || !(n > 0) {
			return fmt.Errorf("expectation %q: %s is no number above 0, so nothing can scale with %s", g.Text, text, g.Axis)
		}
		values[text] = true
	}
	if len(values) < 2 {
		return fmt.Errorf("expectation %q: scaling %w of %s", g.Text, errTooFew, g.Axis)
	}
	return nil
}

// repeats writes out how often: ten blocks tell variants apart in most cases,
// and one variant alone is compared with nothing.
func repeats(r spec.Repeat, variants int) Repeat {
	switch {
	case r.Until != nil:
		return Repeat{Times: cmp.Or(r.Until.Most, mostBlocks), Detect: r.Until.Detect, Pilot: pilotBlocks}
	case r.Times > 0:
		return Repeat{Times: r.Times}
	case variants > 1:
		return Repeat{Times: 10}
	}
	return Repeat{Times: 1}
}

// trials lists every measurement in its order.
func (m *maker) trials(plans []Plan) {
	e := m.plan
	const most = 100_000
	if len(plans)*e.Repeat.Times > most {
		m.wrong("repeat", fmt.Errorf("%d variants, %d times each, are more than %d trials", len(plans), e.Repeat.Times, most))
		return
	}
	for b, row := range blocks(len(plans), e.Repeat.Times, e.Seed, e.Order) {
		for _, i := range row {
			v := e.Variants[i]
			e.Trials = append(e.Trials, Trial{Block: b, Variant: v.Name, Values: v.Values, Plan: m.seeded(plans[i], b)})
		}
	}
}

// seeded gives the loads of a plan the seeds of a block, unless the file names
// one.
func (m *maker) seeded(p Plan, block int) Plan {
	p.Name, p.Seed, p.Expect = m.plan.Name, seedOf(m.plan.Seed, block, 0), m.plan.Expect
	give := func(l Load, i int) Load {
		if l.Seed == 0 {
			l.Seed = seedOf(m.plan.Seed, block, i)
		}
		l.Arrivals.Seed = 0
		if l.Arrivals.Open() {
			l.Arrivals.Seed = l.Seed
		}
		return l
	}
	p.Load = give(p.Load, 0)
	p.Also = slices.Clone(p.Also)
	for i, l := range p.Also {
		p.Also[i] = give(l, i+1)
	}
	return p
}
