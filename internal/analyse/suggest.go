package analyse

import (
	"fmt"

	"prony/internal/hdr"
	"prony/internal/result"
)

// mostSuggestions bounds the list: what is not read helps nobody.
const mostSuggestions = 4

// Suggestions says what would make the number of a judged run more
// trustworthy, the most useful first, at most four. [Run] must have judged it.
func Suggestions(r *result.Run) []string {
	v := newView(r, DefaultThresholds())
	if v.l.Requests.Completed == 0 { // nothing else matters before that
		return []string{"make one request succeed first: curl -v URL"}
	}
	var all []string
	for _, suggest := range []func(view) string{
		suggestErrors, suggestGenerator, suggestRate, suggestConnections, suggestMachine, suggestLength, suggestWarmup, suggestModel, suggestRepeats,
	} {
		if s := suggest(v); s != "" && len(all) < mostSuggestions {
			all = append(all, s)
		}
	}
	return all
}

// has reports whether a rule found something that lowers the verdict.
func (v view) has(rule string) bool {
	f, ok := v.finding(rule)
	return ok && gravity(f.Severity) >= gravity(result.SuspectLevel)
}

func suggestErrors(v view) string {
	if v.has("errors") {
		return "get rid of the failures, or compare by goodput: failed requests cost a target less or more than good ones"
	}
	return ""
}

func suggestGenerator(v view) string {
	for _, rule := range []string{"generator-cpu", "generator-thread", "dispatch-lag", "dispatched", "throttled"} {
		if v.has(rule) {
			return "more generator: threads (-t), cores, or an idle machine for it; now the number is partly its own"
		}
	}
	return ""
}

func suggestRate(v view) string {
	if !v.has("rate-sustained") {
		return ""
	}
	return fmt.Sprintf("a rate that the target can sustain, e.g. %s: latency in a growing queue depends on how long you measure", v.atShare(0.8))
}

func suggestConnections(v view) string {
	switch {
	case v.has("churn"):
		return "connections that are kept: let the target keep them longer, or ask for --no-keepalive and compare like with like"
	case v.plan.NoKeepAlive && v.has("ports"):
		return "connections that are kept, or more source addresses (--source): local ports run out"
	case v.has("connections-opened"):
		return "all the connections that were asked for: see why they do not open"
	}
	if b := v.r.Bottleneck; b != nil && b.What == "target-or-path" {
		return fmt.Sprintf("a second run with -c %d: if the rate stays, this was the limit; if it grows, it was the number of connections", 2*v.l.Connections.Asked)
	}
	return ""
}

func suggestMachine(v view) string {
	switch {
	case v.l.Loopback:
		return "another machine for the generator: here it took CPU from the target"
	case v.has("foreign-cpu") || v.has("steal") || v.has("cpu-pressure") || v.has("hiccups"):
		return "a quieter machine for the generator: others used its cores"
	}
	return ""
}

// suggestLength asks for ten samples beyond p99.9, and for at least the length
// of a run that is not short.
func suggestLength(v view) string {
	n := samples(v.l.Latency.Response)
	need := samplesFor(hdr.P999, v.t.TailSamples)
	if n == 0 || n >= need && v.l.DurationUS >= us(v.t.ShortRun) {
		return ""
	}
	seconds := max(v.seconds()*float64(need)/float64(n), 3*v.t.ShortRun.Seconds())
	if n >= need {
		return fmt.Sprintf("a longer run, e.g. -d %.0fs: what happens every few seconds is not in a short one", seconds)
	}
	if v.plan.Count > 0 {
		return fmt.Sprintf("more requests, e.g. -n %d: a p99.9 needs %s answers, and now there are %s", max(need, 2*v.plan.Count), count(need), count(n))
	}
	return fmt.Sprintf("a longer run, e.g. -d %.0fs: a p99.9 needs %s answers, and now there are %s", seconds, count(need), count(n))
}

func suggestWarmup(v view) string {
	if v.l.WarmupUS > 0 || v.plan.Count > 0 {
		return ""
	}
	return "a warm-up, e.g. -w 5s: connecting and a cold target are in this number"
}

func suggestModel(v view) string {
	if v.open() || v.l.Rate <= 0 {
		return ""
	}
	return fmt.Sprintf("latency at a fixed rate, e.g. %s: here connections wait for slow answers, independent users would not", v.atShare(0.5))
}

func suggestRepeats(view) string {
	return "at least five repeats with a restarted target: one run has no uncertainty"
}
