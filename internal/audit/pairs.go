package audit

import (
	"fmt"
	"math"
	"net"
	"slices"
	"strings"

	"prony/internal/result"
)

// pair is two results as the rules look at them.
type pair struct {
	a, b   view
	t      Thresholds
	varies []string
	scales bool
}

// morePairs bounds the pairs of a report.
const morePairs = 1000

// comparisons returns the pairs to look at: those of the facts, or, without any,
// two results that stand alone.
func comparisons(all []Block, stated []Compare) []pair {
	var pairs []pair
	add := func(a, b *Block, c Compare) {
		if len(pairs) < morePairs {
			pairs = append(pairs, pair{a: view{Block: a}, b: view{Block: b}, varies: c.Varies, scales: c.Scales})
		}
	}
	for _, c := range stated {
		for i, a := range c.IDs {
			for _, b := range c.IDs[i+1:] {
				x, okx := find(all, a)
				y, oky := find(all, b)
				if okx && oky {
					add(x, y, c)
				}
			}
		}
	}
	if len(stated) == 0 && len(all) == 2 {
		add(&all[0], &all[1], Compare{})
	}
	return pairs
}

func judgePair(p pair, t Thresholds, g groups) Pair {
	p.t, p.a.t, p.b.t, p.a.groups, p.b.groups = t, t, t, g, g
	return Pair{A: p.a.ID, B: p.b.ID, RateRatio: quotient(p.b.Rate, p.a.Rate), Validity: judge(p, pairRules())}
}

func pairRules() []rule[pair] {
	return []rule[pair]{
		{"E4", "unequal-duration", unequalDuration},
		{"E7", "generator-saturated", secondHopFaster},
		{"E11", "not-the-same-answer", unequalAnswers},
		{"E12", "baseline-missing", scaling},
		{"E13", "wrong-host", wrongHost},
		{"E15", "changed-more-than-one-thing", changedMore},
		{"E19", "order-contradiction", orderContradiction},
		{"E26", "connection-model", unequalConnections},
		{"E27", "gateway-cost", costRatio},
	}
}

// unequalDuration is E4 of a pair.
func unequalDuration(p pair) answer {
	x, y := p.a.ran(), p.b.ran()
	if !x.positive() || !y.positive() {
		return lacks("how long both ran (--duration)")
	}
	ratio := max(x.V/y.V, y.V/x.V)
	if ratio <= p.t.DurationRatio {
		return nothing()
	}
	how := func(v view, d Value) string {
		if v.Requests.Known && v.Rate.Known {
			return fmt.Sprintf("%s / %s = %s s", trimmed(v.Requests.V, 0), trimmed(v.Rate.V, 3)+"/s", fixed(d.V/1e6, 3))
		}
		return fixed(d.V/1e6, 3) + " s"
	}
	return found(finding(result.SuspectLevel, result.Definite, figures{"a_us": x.V, "b_us": y.V, "ratio": ratio}, figures{"duration_ratio": p.t.DurationRatio},
		"Run both equally long.", "%s against %s: one ran %s times as long", how(p.a, x), how(p.b, y), trimmed(ratio, 2)))
}

// secondHopFaster is E7 of a pair: a way through one gateway more cannot be
// faster because of the server.
func secondHopFaster(p pair) answer {
	direct, through := p.a, p.b
	if direct.Facts.Via.V > through.Facts.Via.V {
		direct, through = through, direct
	}
	d, q := direct.Facts, through.Facts
	if !d.Via.Known || !q.Via.Known || d.Via.V == q.Via.V || p.scales || d.Instances.V != q.Instances.V ||
		!direct.Rate.positive() || through.Rate.V <= direct.Rate.V {
		return p.limitedByGenerator()
	}
	gain := through.Rate.V/direct.Rate.V - 1
	evidence := figures{"direct_rate": direct.Rate.V, "through_rate": through.Rate.V, "gain": gain}
	say := fmt.Sprintf("impossible for the server: with a hop more it is faster, %s against %s (+%s). The generator was the limit, and %s is at least the error of a run",
		rate(through.Rate.V), rate(direct.Rate.V), percent(gain), percent(gain))
	if backend, ok := q.CPU["backend"]; ok && backend.positive() && backend.V < 1 {
		room := through.Rate.V / backend.V
		evidence["backend_capacity"] = room
		say += fmt.Sprintf(". The server behind did %s at %s of a core, so it is good for %s: %s is %s of that", rate(through.Rate.V),
			percent(backend.V), rate(math.Round(room)), rate(direct.Rate.V), percent(direct.Rate.V/room))
	}
	return found(finding(result.InvalidLevel, result.Definite, evidence, nil, "Use a generator that is not full, and repeat.", "%s", say))
}

// limitedByGenerator carries E7 of a single result over to what is compared.
func (p pair) limitedByGenerator() answer {
	var limited []string
	for _, v := range []view{p.a, p.b} {
		if slices.ContainsFunc(generatorSaturated(v).findings, func(f result.Finding) bool { return f.Severity != result.Note }) {
			limited = append(limited, v.ID)
		}
	}
	ratio := quotient(p.b.Rate, p.a.Rate)
	if len(limited) == 0 || !ratio.Known {
		return nothing()
	}
	return found(finding(result.SuspectLevel, result.Likely, figures{"rate_ratio": ratio.V}, nil, "Repeat with a generator that has room left.",
		"%s was likely limited by its generator: the ratio of %s compares generators", strings.Join(limited, " and "), trimmed(ratio.V, 2)))
}

// unequalAnswers is E11 of a pair.
func unequalAnswers(p pair) answer {
	if x, y := p.a.Facts.Answer, p.b.Facts.Answer; x != "" && y != "" && x != y {
		return found(finding(result.SuspectLevel, result.Definite, nil, nil, "Let both answer the same bytes.", "the answers differ: %q against %q", x, y))
	}
	x, y := p.a.answerBytes(), p.b.answerBytes()
	if p.a.BytesAre != p.b.BytesAre || !x.positive() || !y.positive() || p.a.sameSize(x, y) {
		return nothing()
	}
	severity, why := result.SuspectLevel, "they did not answer the same"
	if p.a.Facts.Via.V != p.b.Facts.Via.V || p.scales {
		severity, why = result.Note, "a gateway's own headers may explain that"
	}
	return found(finding(severity, result.Likely, figures{"a_bytes": x.V, "b_bytes": y.V}, figures{"bytes": p.t.AnswerBytes, "share": p.t.AnswerShare},
		"Compare one answer of each, byte by byte.", "%s B per answer against %s: %s", trimmed(x.V, 1), trimmed(y.V, 1), why))
}

// scaling is E12 of a pair whose second has more instances.
func scaling(p pair) answer {
	n, base := p.b.Facts.Instances, p.a.Facts.Instances
	if !p.scales || !p.a.Rate.positive() || !p.b.Rate.positive() {
		return nothing()
	}
	if !n.positive() {
		return lacks("how many instances there are (--instances)")
	}
	if !base.Known {
		base = Exactly(1)
	}
	more := n.V / base.V
	gain := p.b.Rate.V / p.a.Rate.V
	evidence := figures{"rate_ratio": gain, "instances": more, "efficiency": gain / more}
	say := fmt.Sprintf("%s / %s = %s of %s (%s)", rate(p.b.Rate.V), rate(p.a.Rate.V), trimmed(gain, 2), trimmed(more, 0), percent(gain/more))
	if p.a.Facts.Via.V != p.b.Facts.Via.V {
		return found(finding(result.SuspectLevel, result.Definite, evidence, nil, "Measure one instance behind the same gateway.",
			"%s mixes two effects: the baseline has no gateway and the total has one", say))
	}
	return found(finding(result.Info, result.Definite, evidence, nil, "", "%s", say))
}

// wrongHost is E13: the single instance is none of those behind the gateway.
func wrongHost(p pair) answer {
	host, ups := p.a.host(), p.b.Facts.Upstreams
	if !p.scales || len(ups) == 0 || host == "" || p.a.Facts.Via.V > 0 {
		return nothing()
	}
	for _, u := range ups {
		name, _, err := net.SplitHostPort(u)
		if err != nil {
			name = u
		}
		if name == host {
			return nothing()
		}
	}
	return found(finding(result.SuspectLevel, result.Definite, nil, nil, "Measure one of the instances themselves.",
		"the single instance is %s, which is not one of those behind the gateway: %s", host, strings.Join(ups, " ")))
}

// orderContradiction is E19: with the same N the means must be in the inverse
// order of the rates.
func orderContradiction(p pair) answer {
	x, y := p.a, p.b
	if !x.closed() || !y.closed() || !x.inFlight().positive() || x.inFlight().V != y.inFlight().V {
		return nothing()
	}
	if x.Rate.V < y.Rate.V {
		x, y = y, x
	}
	if a, _ := p.realUsers(); a.Known {
		return nothing() // they had not the same N: E1 and E15
	}
	if !y.Rate.positive() || !x.Latency.Mean.Known || !y.Latency.Mean.Known || x.Rate.V < 1.02*y.Rate.V || x.Latency.Mean.Low() <= y.Latency.Mean.High() {
		return nothing()
	}
	evidence := figures{"fast_rate": x.Rate.V, "slow_rate": y.Rate.V, "fast_mean_us": x.Latency.Mean.V, "slow_mean_us": y.Latency.Mean.V,
		"fast_true_mean_us": x.trueMean().V, "slow_true_mean_us": y.trueMean().V}
	return found(finding(result.SuspectLevel, result.Definite, evidence, nil, "Do not rank by these latencies.",
		"%s is %s faster by rate (%s against %s), yet slower by mean (%s ms against %s ms). With %s connections each the means are N/X: %s and %s",
		x.ID, percent(x.Rate.V/y.Rate.V-1), rate(x.Rate.V), rate(y.Rate.V), trimmed(x.Latency.Mean.V/1e3, 2), trimmed(y.Latency.Mean.V/1e3, 2),
		trimmed(x.inFlight().V, 0), us(x.trueMean().V), us(y.trueMean().V)))
}

// unequalConnections is E26 of a pair.
func unequalConnections(p pair) answer {
	x, y := p.a.KeepAlive, p.b.KeepAlive
	if x == "" || y == "" || x == y {
		return nothing()
	}
	return found(finding(result.SuspectLevel, result.Definite, nil, nil, "Keep connections in both, or in none.",
		"one keeps its connections and the other opens one per request"))
}

// costRatio is E27 of a pair.
func costRatio(p pair) answer {
	x, _ := p.a.gatewayCores()
	y, _ := p.b.gatewayCores()
	if p.a.Facts.Via.V < 1 || p.b.Facts.Via.V < 1 || !x.Known || !y.Known || !p.a.Rate.positive() || !p.b.Rate.positive() {
		return nothing()
	}
	cx, cy := x.V/p.a.Rate.V*1e6, y.V/p.b.Rate.V*1e6
	return found(finding(result.Info, result.Likely, figures{"a_us": cx, "b_us": cy, "ratio": cy / cx}, nil, "",
		"per request the gateway of %s costs %s us of CPU and that of %s %s us: %s times", p.a.ID, fixed(cx, 0), p.b.ID, fixed(cy, 0), fixed(cy/cx, 1)))
}
