package audit

import (
	"fmt"
	"slices"
	"strings"

	"prony/internal/result"
	"prony/internal/unit"
)

// changedMore is E15: what differs between two results beside what was to be
// compared.
func changedMore(p pair) answer {
	changed := p.changes()
	var beside []string
	for _, c := range changed {
		if !slices.Contains(p.varies, c.name) && !(p.scales && c.name == "instances") {
			beside = append(beside, c.text)
		}
	}
	subject := len(p.varies) > 0 || p.scales || p.a.Label != p.b.Label && p.a.Label != "" && p.b.Label != ""
	users, _ := p.realUsers()
	if len(beside) == 0 || !subject && len(beside) == 1 && !users.Known {
		return nothing()
	}
	evidence := figures{"changed": float64(len(beside))}
	say := strings.Join(beside, ", ")
	if x, y := p.a.trueMean(), p.b.trueMean(); x.Known && y.Known && p.a.Connections.V != p.b.Connections.V {
		evidence["a_true_mean_us"], evidence["b_true_mean_us"] = x.V, y.V
		say += fmt.Sprintf(". By N/X the mean time went from %s to %s: not the same working point", us(x.V), us(y.V))
	}
	what := "more than one thing differs"
	switch {
	case subject:
		what = "beside what is compared these differ"
	case len(beside) == 1:
		what = "they differ"
	}
	return found(finding(result.SuspectLevel, result.Definite, evidence, nil, "Change one thing at a time.", "%s: %s", what, say))
}

// change is one thing that differs.
type change struct{ name, text string }

// changes lists what is known to differ.
func (p pair) changes() []change {
	var all []change
	values := func(name string, a, b Value, show func(float64) string) {
		if a.Known && b.Known && a.V != b.V {
			all = append(all, change{name, fmt.Sprintf("%s %s and %s", strings.ReplaceAll(name, "_", " "), show(a.V), show(b.V))})
		}
	}
	words := func(name, a, b string) {
		if a != "" && b != "" && a != b {
			all = append(all, change{name, fmt.Sprintf("%s %s and %s", name, a, b)})
		}
	}
	plain := func(v float64) string { return trimmed(v, 2) }
	x, y := p.a, p.b
	words("tool", x.Tool, y.Tool)
	values("connections", x.Connections, y.Connections, plain)
	values("threads", x.Threads, y.Threads, plain)
	values("requests_asked", x.Asked, y.Asked, plain)
	values("pipeline", x.Pipeline, y.Pipeline, plain)
	words("keepalive", x.KeepAlive, y.KeepAlive)
	values("cores", x.Facts.Cores, y.Facts.Cores, plain)
	values("memory", x.Facts.Memory, y.Facts.Memory, unit.FormatSize)
	values("cpu_quota", x.Facts.Quota, y.Facts.Quota, plain)
	values("generator_cores", x.Facts.GeneratorCores, y.Facts.GeneratorCores, plain)
	values("link", x.Facts.Link, y.Facts.Link, mbit)
	words("network", x.Facts.Network, y.Facts.Network)
	values("instances", x.Facts.Instances, y.Facts.Instances, plain)
	values("via", x.Facts.Via, y.Facts.Via, func(v float64) string { return counted(v, "gateway") })
	if a, b := p.realUsers(); a.Known {
		all = append(all, change{"users", fmt.Sprintf("users by rate x mean %s and %s", trimmed(a.V, 0), trimmed(b.V, 0))})
	}
	return all
}

// realUsers are the numbers in flight where they differ clearly and no
// correction by the tool can be the reason.
func (p pair) realUsers() (a, b Value) {
	of := func(v view) Value {
		if v.corrected() || v.Model == openModel {
			return Value{}
		}
		return product(v.Rate, v.Latency.Mean.times(1e-6))
	}
	a, b = of(p.a), of(p.b)
	if !a.positive() || !b.positive() || a.High() >= 0.9*b.Low() && b.High() >= 0.9*a.Low() {
		return Value{}, Value{}
	}
	return a, b
}

// groups are the loads that ran at the same time, by name.
type groups struct {
	all     []Block
	members map[string][]*Block
}

func newGroups(all []Block) groups {
	g := groups{all: all, members: map[string][]*Block{}}
	for i := range all {
		if name := all[i].Facts.Parallel; name != "" {
			g.members[name] = append(g.members[name], &all[i])
		}
	}
	return g
}

// of returns the loads that ran beside a result, itself included.
func (g groups) of(b *Block) []*Block {
	if b.Facts.Parallel == "" {
		return nil
	}
	return g.members[b.Facts.Parallel]
}

// groupBaseline is E12 of loads side by side: what one alone gives on the same
// machine must be known.
func groupBaseline(v view) answer {
	group := v.groups.of(v.Block)
	if len(group) < 2 || !v.Facts.Cores.positive() {
		return nothing()
	}
	total := 0.0
	for _, b := range group {
		total += b.Rate.V
	}
	const none = "no result with one of them alone is here"
	why := none
	for i := range v.groups.all {
		b := &v.groups.all[i]
		if b.Facts.Parallel != "" || !b.Rate.Known || !b.Facts.Cores.Known || b.Facts.Via.V != v.Facts.Via.V || b.Facts.Instances.V > 1 {
			continue
		}
		if b.Facts.Cores.V == v.Facts.Cores.V && b.Connections.V == v.Connections.V {
			return nothing()
		}
		if why == none && sameSystem(b.Label, v.Label) {
			why = fmt.Sprintf("one alone (%s) has %s cores and %s connections", b.ID, trimmed(b.Facts.Cores.V, 1), trimmed(b.Connections.V, 0))
		}
	}
	return found(finding(result.SuspectLevel, result.Definite, figures{"sum": total, "cores": v.Facts.Cores.V}, nil,
		"Run one alone on the same machine with as many connections in all.",
		"%s side by side give %s, but there is no run of one alone on the same %s cores: %s", counted(float64(len(group)), "load"),
		rate(total), trimmed(v.Facts.Cores.V, 1), why))
}

// sameSystem compares labels by their first word.
func sameSystem(a, b string) bool {
	x, _, _ := strings.Cut(a, " ")
	y, _, _ := strings.Cut(b, " ")
	return x != "" && strings.EqualFold(x, y)
}

// groupOverlap is E16: rates of loads side by side add up only over the time in
// which all ran.
func groupOverlap(v view) answer {
	group := v.groups.of(v.Block)
	if len(group) < 2 {
		return nothing()
	}
	apart, how := startsApart(group, v.Tool)
	ran := v.ran()
	if how == "" {
		return lacks("when each load began (start), for the time that both ran")
	}
	if !ran.positive() || apart <= v.t.ShardSpread*ran.V {
		return nothing()
	}
	total := 0.0
	for _, b := range group {
		total += b.Rate.V
	}
	return found(finding(result.SuspectLevel, result.Likely, figures{"apart_us": apart, "duration_us": ran.V, "sum": total},
		figures{"start_spread": v.t.ShardSpread}, "Start and stop both together and count over the overlap only.",
		"%s: each ran alone for up to %s of its time, so that the sum %s overstates the joint rate", how, percent(min(1, apart/ran.V)), rate(total)))
}

// startsApart is by how many microseconds loads began apart: as given, or by the
// processor time that their generators had used at one moment.
func startsApart(group []*Block, tool string) (apart float64, how string) {
	spread := func(of func(*Block) Value) (float64, float64, bool) {
		low, high := of(group[0]), of(group[0])
		for _, b := range group {
			v := of(b)
			if !v.Known {
				return 0, 0, false
			}
			if v.V < low.V {
				low = v
			}
			if v.V > high.V {
				high = v
			}
		}
		return low.V, high.V, true
	}
	if low, high, ok := spread(func(b *Block) Value { return b.Facts.Started }); ok {
		return high - low, fmt.Sprintf("they started %s apart", us(high-low))
	}
	low, high, ok := spread(func(b *Block) Value { return b.Facts.CPUTime[tool] })
	if !ok || high == 0 {
		return 0, ""
	}
	ran := group[0].ran()
	if !ran.positive() || high > ran.V*1000 {
		return 0, ""
	}
	use := high / ran.V
	apart = (high - low) / use
	return apart, fmt.Sprintf("at one moment the generators had used %s s and %s s of CPU, so they started up to %s s / %s = %s s apart",
		trimmed(high/1e6, 2), trimmed(low/1e6, 2), trimmed((high-low)/1e6, 2), trimmed(use, 2), trimmed(apart/1e6, 1))
}
