package web_test

import (
	"fmt"
	"strings"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/web"
)

// fixtures are the documents that the page is tested with, by file name.
func fixtures() map[string]func() web.Document {
	base := made{seed: 1, seconds: 20, warmup: 4, rate: 13_000, typical: 2 * time.Millisecond, connections: 64, instances: 2}
	with := func(change func(*made)) web.Document {
		m := base
		change(&m)
		r := fixtureRun(m)
		return web.Document{Run: &r, Version: "fixture", Advice: []string{"at least five repeats with a restarted target: one run has no uncertainty"}}
	}
	return map[string]func() web.Document{
		"run-valid":   func() web.Document { return with(func(m *made) { m.verdict, m.watched = result.Valid, true }) },
		"run-suspect": func() web.Document { return suspectRun(base) },
		"run-invalid": func() web.Document { return with(func(m *made) { m.verdict, m.rate = result.Invalid, 90_000 }) },
		"run-unstable": func() web.Document {
			return with(func(m *made) { m.verdict, m.open, m.growing = result.Suspect, true, true })
		},
		"experiment":       fixtureScaling,
		"experiment-few":   fixtureFew,
		"experiment-sweep": fixtureSweep,
		"experiment-large": func() web.Document { return fixtureLarge(200, 15) },
		"hostile":          hostile,
	}
}

// suspectRun has a bad second with a cause beside it.
func suspectRun(m made) web.Document {
	m.verdict, m.watched, m.java, m.stall = result.Suspect, true, true, 11
	r := fixtureRun(m)
	r.Expect = []result.Expectation{{Text: "errors < 0.1%", Met: true, Reason: "0.02%"}, {Text: "p99 < 10ms", Actual: 14_000, Reason: "14ms"}}
	r.Worst = []result.Moment{{StartUS: 11e6, LengthUS: 1e6, P99US: 640_000, Rate: 5900, Slow: true, With: []string{"the JVM of app[0] stopped for 680ms (GC)", "app held back"}}}
	return web.Document{Run: &r, Version: "fixture", Docs: "https://docs.example/findings",
		Advice: []string{"at least five repeats with a restarted target: one run has no uncertainty"}}
}

// fixtureExperiment repeats variants; change sets what a variant and a repeat
// are like.
func fixtureExperiment(question, axis string, values []string, repeats int, change func(variant, repeat int) made) *result.Experiment {
	e := &result.Experiment{Schema: result.ExperimentSchema, ID: "fixture-" + axis, Plan: &plan.Experiment{Name: "fixture-" + axis, Question: question, Seed: 1,
		Order: plan.Shuffled, Scale: 1, Repeat: plan.Repeat{Times: repeats}, Cooldown: 2 * time.Second, Baseline: axis + "=" + values[0]}}
	for _, v := range values {
		e.Plan.Variants = append(e.Plan.Variants, plan.Variant{Name: axis + "=" + v, Values: map[string]string{axis: v}})
	}
	for b := range repeats {
		for i := range values {
			n := (i + b) % len(values) // each block in another order
			v := e.Plan.Variants[n]
			m := change(n, b)
			m.seed = uint64(1 + b*100 + n)
			r := fixtureRun(m)
			r.Plan.Name = e.Plan.Name
			e.Trials = append(e.Trials, result.Trial{Number: len(e.Trials) + 1, Block: b, Variant: v.Name, Values: v.Values, Run: r})
			e.Plan.Trials = append(e.Plan.Trials, plan.Trial{Block: b, Variant: v.Name, Values: v.Values, Plan: *r.Plan})
		}
	}
	return e
}

func fixtureScaling() web.Document {
	rates := []float64{13_000, 24_500, 34_600, 43_000}
	e := fixtureExperiment("Does adding instances behind nginx scale?", "instances", []string{"1", "2", "3", "4"}, 6, func(v, b int) made {
		m := made{seconds: 10, warmup: 2, rate: rates[v] * (1 + 0.012*float64((b*7+v*3)%5-2)), typical: 2 * time.Millisecond, connections: 64, instances: v + 1,
			verdict: result.Valid, watched: true}
		if v == 2 && b == 4 {
			m.verdict, m.rate = result.Invalid, 21_000
		}
		if v == 3 {
			m.verdict = result.Suspect
		}
		return m
	})
	failed := &e.Trials[5]
	failed.Error, failed.Run = "start app[1]: it did not answer GET / within 30s", result.Run{}
	e.Findings = []result.Finding{{Rule: "same-work", ID: "E3", Severity: result.Note, Message: "answers of all variants have the same length"}}
	half := 0.01
	return web.Document{Experiment: e, Version: "fixture", Command: "prony run nginx-scale.yaml",
		Source: web.Source{Name: "nginx-scale.yaml", Text: "prony: 1\nname: nginx-scale\nquestion: Does adding instances behind nginx scale?\nvary:\n  instances: [1, 2, 3, 4]\n"},
		Goals:  []result.Expectation{{Text: "scaling(instances) > 0.7", Actual: 0.83, Met: true, Reason: "0.83 at instances=4"}},
		Comparisons: []web.Comparison{
			{Metric: "rate", Variant: "instances=2", Baseline: "instances=1", Verdict: "better", Ratio: 1.885, Low: 1.86, High: 1.91, Margin: 0.02, P: &half, Test: "Wilcoxon", Pairs: 6},
			{Metric: "rate", Variant: "instances=3", Baseline: "instances=1", Verdict: "better", Ratio: 2.66, Low: 2.6, High: 2.7, Margin: 0.02, Pairs: 5},
			{Metric: "rate", Variant: "instances=4", Baseline: "instances=1", Verdict: "better", Ratio: 3.31, Low: 3.24, High: 3.36, Margin: 0.02, Pairs: 6},
			{Metric: "p99", Variant: "instances=2", Baseline: "instances=1", Verdict: "equivalent within 10 %", Ratio: 1.01, Low: 0.97, High: 1.05, Margin: 0.1, Pairs: 6},
			{Metric: "p99", Variant: "instances=3", Baseline: "instances=1", Verdict: "cannot tell", Ratio: 1.04, Low: 0.9, High: 1.2, Margin: 0.1, Pairs: 5, Needed: 9},
		},
		Fits: []web.Fit{{Axis: "instances", Alpha: 0.055, Beta: 0.004, Gamma: 13_000, PeakAt: 15.4}}}
}

// fixtureFew has too few trials for a verdict, and three of them invalid: what
// the first screen has to say then.
func fixtureFew() web.Document {
	rates := [][]float64{{1960, 2392, 1958}, {3611, 3792, 3161}, {6123, 5663, 4601}}
	verdicts := [][]result.Verdict{{result.Valid, result.Valid, result.Suspect}, {result.Valid, result.Invalid, result.Invalid}, {result.Valid, result.Valid, result.Invalid}}
	e := fixtureExperiment("Does adding instances behind the gateway scale?", "instances", []string{"1", "2", "3"}, 3, func(v, b int) made {
		return made{seconds: 3, warmup: 1, rate: rates[v][b], typical: 2 * time.Millisecond, connections: 16, instances: v + 1, verdict: verdicts[v][b], watched: true}
	})
	e.Plan.Name = "demo"
	for i := range e.Trials {
		t := &e.Trials[i]
		t.Load.Rate = rates[t.Values["instances"][0]-'1'][t.Block]
		few(t)
	}
	rate := func(variant string, ratio float64, each ...float64) web.Comparison {
		return web.Comparison{Metric: "rate", Variant: variant, Baseline: "instances=1", Verdict: "cannot tell", Ratio: ratio, Margin: 0.02, Pairs: len(each), Ratios: each,
			TrialsA: len(each), TrialsB: len(each), Better: "higher", Needed: 7, Note: "too few pairs"}
	}
	return web.Document{Experiment: e, Version: "fixture", Command: "prony demo", Comparisons: []web.Comparison{rate("instances=2", 1.842, 1.842), rate("instances=3", 2.72, 3.124, 2.367)}}
}

// few gives a trial the limit and the doubts of a small machine.
func few(t *result.Trial) {
	stolen := map[result.Verdict]float64{result.Suspect: 0.0135, result.Invalid: 0.052 + 0.0028*float64(t.Number%2)}[t.Validity.Verdict]
	kept := t.Validity.Findings[:2:2]
	if stolen > 0 {
		kept = append(kept, result.Finding{Rule: "steal", ID: "Q2", Severity: result.Severity(t.Validity.Verdict), Where: "this machine", Confidence: result.Definite,
			Message:  fmt.Sprintf("the hypervisor gave %.3g%% of the CPU time of this machine to others", 100*stolen),
			Evidence: map[string]float64{"steal": stolen}, Threshold: map[string]float64{"steal": 0.01, "steal_invalid": 0.05}})
	}
	t.Validity.Findings = kept
	if t.Bottleneck != nil {
		t.Bottleneck = &result.Bottleneck{What: "cpu-quota", Where: "app[0]", Confidence: result.Definite,
			Message: "the CPU quota of app[0] held it back in 100% of its periods, at a mean use of 0.0501 of 0.05 cores; backend-bound: this measures app and not gateway, which used 32.5% of its CPU",
			Exonerated: []string{"generator (at most 8.75% of its CPU)", "packet loss of this machine (0% sent again)", "accept queue of this machine", "CPU of gateway[0] (0.649 of 2 cores)",
				"CPU of this machine (47.9% busy)", "memory limit of app[0]", "disk of app[0]"}}
	}
	for i := range t.Services {
		if s := &t.Services[i]; s.Name == "app" {
			s.ThrottledRatio, s.Limits.CPUs = 1-0.02*float64(s.Instance), 0.05
		}
	}
}

func fixtureSweep() web.Document {
	connections := []string{"8", "16", "32", "64", "128", "256"}
	e := fixtureExperiment("How much can the gateway take?", "load.connections", connections, 3, func(v, b int) made {
		n := 8 << v
		rate := 52_000 * float64(n) / (float64(n) + 40) * (1 + 0.01*float64(b))
		return made{seconds: 6, warmup: 1, rate: rate, typical: time.Duration(float64(n) / rate * 0.6e9), connections: n, instances: 2, verdict: result.Valid}
	})
	return web.Document{Experiment: e, Version: "fixture"}
}

// fixtureLarge has so many trials of 8 variants.
func fixtureLarge(trials, seconds int) web.Document {
	entries := []string{"go-http", "light-4j", "iris", "undertow", "tomcat", "helidon", "netty", "fasthttp"}
	e := fixtureExperiment("Which framework is best under 200m CPU?", "app.catalog", entries, trials/len(entries), func(v, b int) made {
		verdict := result.Valid
		if (v+b)%5 == 0 {
			verdict = result.Suspect
		}
		return made{seconds: seconds, warmup: 2, rate: 3000 + 900*float64(v) + 40*float64(b%7), typical: 4 * time.Millisecond, connections: 32, instances: 1, watched: true, java: v > 2, verdict: verdict}
	})
	return web.Document{Experiment: e, Version: "fixture"}
}

// evil is what a hostile field may hold: ends of elements and comments, events,
// addresses that run, control characters, directions, broken UTF-8.
const evil = "</script><script>window.pwned=1</script><!--<script>--><img src=x onerror=window.pwned=1><svg onload=window.pwned=1>" +
	"\" onmouseover=\"window.pwned=1' javascript:window.pwned=1 {{7*7}} \x00\x07\x1b[31m\u202e\u2028\xff ]]> &lt;b&gt;"

// hostile has it in every text.
func hostile() web.Document {
	bad := func() made {
		return made{seconds: 5, warmup: 1, rate: 900, typical: time.Millisecond, connections: 4, instances: 1, watched: true, java: true, verdict: result.Suspect}
	}
	e := fixtureExperiment(evil, evil, []string{"1", evil}, 2, func(int, int) made { return bad() })
	e.ID, e.Plan.Name = evil, evil
	e.Findings = []result.Finding{evilFinding()}
	for i := range e.Trials {
		poison(&e.Trials[i].Run)
	}
	e.Trials[3].Error = evil
	return web.Document{Experiment: e, Version: evil, Advice: []string{evil}, Command: evil, Docs: "javascript:window.pwned=1//",
		Source: web.Source{Name: evil, Text: evil}, Goals: []result.Expectation{{Text: evil, Reason: evil}},
		Comparisons: []web.Comparison{{Metric: evil, Variant: evil, Baseline: evil, Verdict: evil, Ratio: 1, Test: evil, Note: evil}},
		Fits:        []web.Fit{{Axis: evil, Group: evil, Note: evil, Gamma: 1}}}
}

func evilFinding() result.Finding {
	return result.Finding{Rule: evil, ID: evil, Severity: result.Severity(evil), Confidence: evil, Where: evil, Message: evil, Advice: evil,
		Evidence: map[string]float64{evil: 1}, Threshold: map[string]float64{evil: 2}}
}

func poison(r *result.Run) {
	r.Version, r.Kind, r.Command, r.Warnings = evil, evil, []string{evil}, []string{evil}
	r.Validity.Findings = append(r.Validity.Findings, evilFinding())
	r.Validity.NotRun = []string{evil}
	r.Bottleneck = &result.Bottleneck{What: evil, Where: evil, Message: evil, Exonerated: []string{evil}}
	r.Expect = []result.Expectation{{Text: evil, Reason: evil}}
	r.Hosts = map[string]result.Environment{evil: {Hostname: evil, CPUModel: evil}}
	r.Environment.Sysctl[evil] = evil
	r.Worst = []result.Moment{{StartUS: 1e6, LengthUS: 1e6, P99US: 1, With: []string{evil}}}
	l := &r.Load
	l.Engine, l.EngineReason, l.Protocol, l.EndedBy, l.Name = evil, evil, evil, evil, evil
	l.Statuses[evil] = 1
	l.FailureDetails = []result.Failure{{Kind: evil, Phase: evil, Errno: evil, Count: 1, Example: evil}}
	l.Samples = []result.Sample{{Status: 200, Head: evil}}
	for i := range r.Services {
		r.Services[i].Version, r.Services[i].Name = evil, evil
	}
	for i := range r.Observed {
		o := &r.Observed[i]
		o.Name, o.Service, o.Host = evil, evil, evil
		o.Facts, o.Unknown = map[string]string{evil: evil}, map[string]string{evil: evil}
	}
	r.Plan.Load.Requests[0].URL, r.Plan.Load.Requests[0].Method = "javascript:window.pwned=1", evil
	for i := range r.Plan.Services {
		s := &r.Plan.Services[i]
		s.Name, s.Entry, s.Host = evil, evil, strings.Repeat(evil, 3)
		s.Params = map[string]string{evil: evil}
	}
}
