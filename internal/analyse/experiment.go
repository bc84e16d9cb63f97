package analyse

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"prony/internal/result"
)

// Experiment judges what needs several trials, after [Run] has judged each of
// them: it sets e.Findings, and where other runs tell that a closed load was at
// a plateau, or was not, the bottleneck of the trials. A second call gives the
// same bytes.
func Experiment(e *result.Experiment, t Thresholds) {
	x := experiment{e: e, t: t, sweeps: sweeps(e)}
	for _, s := range x.sweeps {
		if len(s.counts) < 2 {
			continue
		}
		for _, tr := range s.trials {
			revisit(&tr.Run, s.of(tr.Load.Connections.Asked, t), t)
		}
	}
	x.variants = variants(e)
	e.Findings = nil
	for _, r := range experimentRules() {
		for _, f := range r.check(x) {
			f.Rule, f.ID = r.name, r.id
			f.Confidence = cmp.Or(f.Confidence, result.Likely)
			e.Findings = append(e.Findings, f)
		}
	}
}

// experiment is what the rules about several trials look at.
type experiment struct {
	e        *result.Experiment
	t        Thresholds
	sweeps   []*sweep
	variants []variant // the baseline first
}

// variant is one of the things compared.
type variant struct {
	name   string
	values map[string]string
	trials []*result.Trial // with a result
	run    *result.Run     // the first of them that is not invalid, or the first
}

type experimentRule struct {
	name, id string
	check    func(experiment) []result.Finding
}

// experimentRules returns the rules about several trials in the order of
// telling: what forbids a comparison comes first.
func experimentRules() []experimentRule {
	return []experimentRule{
		{"open-and-closed", "E3", openAndClosed},
		{"same-answers", "E3", sameAnswers},
		{"parity", "X6", parity},
		{"cheap-variant", "E5", cheapVariant},
		{"frequency", "F1", frequency},
		{"generator-proof", "G6", generatorProof},
		{"backend-headroom", "X1", backendHeadroom},
		{"added-latency", "X5", addedLatency},
		{"plateau", "7.1", plateaus},
	}
}

// variants collects the trials of each variant; the baseline is the first.
func variants(e *result.Experiment) []variant {
	var all []variant
	for i := range e.Trials {
		tr := &e.Trials[i]
		if tr.Error != "" {
			continue
		}
		k := slices.IndexFunc(all, func(v variant) bool { return v.name == tr.Variant })
		if k < 0 {
			k = len(all)
			all = append(all, variant{name: tr.Variant, values: tr.Values, run: &tr.Run})
		}
		v := &all[k]
		v.trials = append(v.trials, tr)
		if v.run.Validity.Verdict == result.Invalid && tr.Validity.Verdict != result.Invalid {
			v.run = &tr.Run
		}
	}
	if e.Plan != nil {
		slices.SortStableFunc(all, func(a, b variant) int {
			return cmp.Compare(position(a.name, e), position(b.name, e))
		})
	}
	return all
}

// position is where a variant stands in the plan, the baseline before all.
func position(name string, e *result.Experiment) int {
	if name == e.Plan.Baseline {
		return -1
	}
	for i, v := range e.Plan.Variants {
		if v.Name == name {
			return i
		}
	}
	return len(e.Plan.Variants)
}

// usable are the trials of a variant that are not invalid.
func (v variant) usable() []*result.Trial {
	var all []*result.Trial
	for _, tr := range v.trials {
		if tr.Validity.Verdict != result.Invalid {
			all = append(all, tr)
		}
	}
	return all
}

// values of something over the usable trials.
func (v variant) each(of func(*result.Run) (float64, bool)) []float64 {
	var all []float64
	for _, tr := range v.usable() {
		if x, ok := of(&tr.Run); ok {
			all = append(all, x)
		}
	}
	return all
}

func rateOf(r *result.Run) (float64, bool) { return r.Load.Rate, r.Load.Rate > 0 }

// axes are the names of what differs between two variants.
func (v variant) axes(other variant) []string {
	var all []string
	names := maps.Clone(v.values)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, other.values)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if v.values[name] != other.values[name] {
			all = append(all, name)
		}
	}
	return all
}

// openAndClosed refuses to compare answer times of users who wait with those of
// users who do not.
func openAndClosed(x experiment) []result.Finding {
	if len(x.variants) < 2 {
		return nil
	}
	base := x.variants[0]
	for _, v := range x.variants[1:] {
		if v.run.Load.Model == base.run.Load.Model {
			continue
		}
		return []result.Finding{{Severity: result.InvalidLevel, Confidence: result.Definite, Where: v.name,
			Evidence: figures{"open": float64(len(x.open())), "variants": float64(len(x.variants))},
			Message:  fmt.Sprintf("%s is a load of the %s model and %s of the %s: they are not compared", v.name, v.run.Load.Model, base.name, base.run.Load.Model),
			Advice:   "measure all variants with the same model"}}
	}
	return nil
}

// open are the variants whose load follows a timetable.
func (x experiment) open() []variant {
	return slices.DeleteFunc(slices.Clone(x.variants), func(v variant) bool { return !newView(v.run, x.t).open() })
}

// cheapVariant is rule E5 over variants: where a request costs a fifth of what
// it costs the others, one wonders whether it happened.
func cheapVariant(x experiment) []result.Finding {
	var all []result.Finding
	for _, v := range x.variants {
		for _, s := range v.run.Services {
			own := v.cost(s.Name)
			var others []float64
			for _, o := range x.variants {
				if c := o.cost(s.Name); o.name != v.name && c > 0 {
					others = append(others, c)
				}
			}
			if usual := median(others); s.Instance == 0 && own > 0 && usual > 0 && own < x.t.CheapShare*usual {
				all = append(all, result.Finding{Severity: result.Note, Confidence: result.Hint, Where: v.name,
					Evidence: figures{"cpu_us_per_request": own, "others_us": usual}, Threshold: figures{"share": x.t.CheapShare},
					Message: fmt.Sprintf("a request cost %s of %s in variant %s and %s in the others: did it do the same work?", micros(own), s.Name, v.name, micros(usual)),
					Advice:  "compare an answer of each by hand, and what the service logs and stores"})
			}
		}
	}
	return all
}

// cost is the median CPU time per request of all instances of a service,
// microseconds; 0 if it is not known.
func (v variant) cost(service string) float64 {
	return median(v.each(func(r *result.Run) (float64, bool) {
		var all float64
		for _, s := range r.Services {
			if s.Name == service {
				all += s.CPUUSPerRequest
			}
		}
		return all, all > 0
	}))
}

// frequency is rule F1: the clock of a machine's cores against the first trial.
func frequency(x experiment) []result.Finding {
	var all []result.Finding
	first := map[string]float64{}
	for i := range x.e.Trials {
		tr := &x.e.Trials[i]
		v := newView(&tr.Run, x.t)
		for _, o := range v.things(result.OfHost) {
			mhz, ok := v.mean(o, result.FrequencyMHz)
			switch {
			case !ok || tr.Error != "":
				continue
			case first[o.Name] == 0:
				first[o.Name] = mhz
			}
			drop := 1 - mhz/first[o.Name]
			if severity, ok := graded(drop, x.t.FrequencySuspect, x.t.FrequencyInvalid); ok {
				all = append(all, result.Finding{Severity: severity, Where: place(o), Evidence: figures{"mhz": mhz, "first_mhz": first[o.Name], "trial": float64(tr.Number)},
					Threshold: figures{"drop": x.t.FrequencySuspect, "drop_invalid": x.t.FrequencyInvalid},
					Message:   fmt.Sprintf("in trial %d the cores of %s ran at %.0f MHz, %s below the first trial", tr.Number, place(o), mhz, percent(drop)),
					Advice:    "set the governor to performance, turn turbo off, and let the machine cool down between trials (cooldown)"})
			}
		}
	}
	return all
}
