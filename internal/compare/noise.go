package compare

import (
	"fmt"
	"math"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/stats"
)

// Decision says how many blocks an experiment needs, from its first ones.
type Decision struct {
	// Blocks is how many there should be in all, Done how many there are, More how
	// many are to follow.
	Blocks int `json:"blocks"`
	Done   int `json:"done"`
	More   int `json:"more"`
	// CV is the noise from run to run that decided, of Metric.
	CV     float64 `json:"cv"`
	Metric string  `json:"metric"`
	// Detectable is the smallest difference that Blocks blocks show with a power
	// of 80 %; it is above what was asked for if Capped.
	Detectable float64 `json:"detectable"`
	Capped     bool    `json:"capped"`
	Reason     string  `json:"reason"`
}

// mostBlocks is the cap where the plan has none (method, section 4.2).
const mostBlocks = 30

// Plan decides how many blocks show a relative difference, such as 0.03, in all
// gates with a power of 80 % at a level of 5 %. It looks at the noise of the
// pilot alone, never at the effect: measuring on until a difference is
// significant finds differences that are none. Its answer is to be fixed when
// the pilot is over, and not asked for again.
//
// Noise is that of the ratios within blocks over √2, so that drift from block to
// block costs nothing; with a single variant it is the variation of its runs. A
// difference of zero stands for that of the plan.
func Plan(pilot *result.Experiment, difference float64, o Options) (Decision, error) {
	repeat := plan.Repeat{Times: mostBlocks, Detect: difference}
	if pilot.Plan != nil && pilot.Plan.Repeat.Detect > 0 {
		repeat.Times = pilot.Plan.Repeat.Times
		if difference <= 0 {
			repeat.Detect = pilot.Plan.Repeat.Detect
		}
	}
	if repeat.Detect <= 0 {
		return Decision{}, fmt.Errorf("plan the blocks: no difference to detect is given")
	}
	noises, err := noisesOf(pilot, o)
	if err != nil {
		return Decision{}, fmt.Errorf("plan the blocks: %w", err)
	}
	d := Decision{Done: blocks(pilot)}
	for i, n := range noises {
		if i == 0 || n.CV > d.CV {
			d.CV, d.Metric = n.CV, n.Metric
		}
	}
	d.Blocks = max(repeat.Needed(d.CV), d.Done)
	d.More = d.Blocks - d.Done
	d.Detectable = stats.Detectable(d.CV, d.Blocks)
	d.Capped = float64(d.Blocks) < stats.RunsNeeded(d.CV, repeat.Detect)
	d.Reason = d.says(repeat.Detect)
	return d, nil
}

func (d Decision) says(difference float64) string {
	text := fmt.Sprintf("%s varies by %.2g %% from run to run, so that %d blocks show a difference of %.2g %%",
		d.Metric, 100*d.CV, d.Blocks, 100*max(difference, d.Detectable))
	if d.Capped {
		text += fmt.Sprintf("; %.2g %% would take %.0f, more than the plan allows", 100*difference, stats.RunsNeeded(d.CV, difference))
	}
	return text
}

// blocks is how many blocks were begun.
func blocks(e *result.Experiment) int {
	n := 0
	for _, t := range e.Trials {
		n = max(n, t.Block+1)
	}
	return n
}

// Noise is how much a metric varies when nothing was changed.
type Noise struct {
	Metric string `json:"metric"`
	Pairs  int    `json:"pairs"`
	// CV is the noise of one run against another of its block, a ratio.
	CV float64 `json:"cv"`
	// Floor is the smallest relative difference that so many blocks show with a
	// power of 80 %.
	Floor float64 `json:"floor"`
	// Verdict of the variant against itself. Better or worse says that this lab
	// finds differences that are none.
	Verdict Verdict `json:"verdict"`
}

// Floor is what an experiment says about the lab that it ran in.
type Floor struct {
	Metrics []Noise `json:"metrics"`
	// Sound is false if a gate of the variant against itself was judged better or
	// worse: then no verdict of this lab is to be trusted.
	Sound bool   `json:"sound"`
	Why   string `json:"why,omitempty"`
}

// Control reads an A/A experiment: two variants that are the same. The floor is
// stated for the metrics of the options, or the usual ones, that are compared by
// ratio.
func Control(e *result.Experiment, o Options) (*Floor, error) {
	r, err := Experiment(e, o)
	if err != nil {
		return nil, err
	}
	f := &Floor{Sound: true}
	for _, c := range r.Comparisons {
		for _, m := range c.Metrics {
			if n, ok := noiseOf(c, m); ok {
				f.Metrics = append(f.Metrics, n)
			}
			if m.Gate && (m.Verdict == Better || m.Verdict == Worse) {
				f.Sound = false
				f.Why = fmt.Sprintf("%s of %s was judged %s than that of %s, though they are the same", m.Name, c.B, m.Verdict, c.A)
			}
		}
	}
	return f, nil
}

// noiseOf is the noise of one metric of a comparison; not ok where it has none.
func noiseOf(c Comparison, m Metric) (Noise, bool) {
	n := Noise{Metric: m.Name, Pairs: min(len(m.A.Values), len(m.B.Values)), Verdict: m.Verdict}
	if m.Absolute || n.Pairs < 2 {
		return n, false
	}
	n.CV = math.Hypot(m.A.CV, m.B.CV) / math.Sqrt2
	if c.Paired {
		d, err := stats.LogRatios(m.A.Values, m.B.Values)
		if err != nil {
			return n, false
		}
		n.CV = stats.Deviation(d) / math.Sqrt2
	}
	n.Floor = stats.Detectable(n.CV, n.Pairs)
	return n, true
}

// noisesOf are those of the gates, over all variants, or of the only one.
func noisesOf(e *result.Experiment, o Options) ([]Noise, error) {
	names := variants(e)
	if len(names) == 0 {
		return nil, fmt.Errorf("the experiment has no trials")
	}
	if len(names) == 1 {
		return loneNoise(Variant(e, names[0]), o)
	}
	r, err := Experiment(e, o)
	if err != nil {
		return nil, err
	}
	var all []Noise
	for _, c := range r.Comparisons {
		for _, m := range c.Metrics {
			if n, ok := noiseOf(c, m); ok && m.Gate {
				all = append(all, n)
			}
		}
	}
	return some(all)
}

// loneNoise is the noise of a variant that has nothing to be paired with.
func loneNoise(s Side, o Options) ([]Noise, error) {
	m, err := newMatch(s, s, o)
	if err != nil {
		return nil, err
	}
	var all []Noise
	for _, q := range m.gates {
		x := m.metric(q, 0.05)
		if !x.Absolute && len(x.A.Values) > 1 {
			all = append(all, Noise{Metric: q.Name, Pairs: len(x.A.Values), CV: x.A.CV})
		}
	}
	return some(all)
}

func some(all []Noise) ([]Noise, error) {
	if len(all) == 0 {
		return nil, fmt.Errorf("no gate has a value in two runs that count")
	}
	return all, nil
}
