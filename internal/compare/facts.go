package compare

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
)

// Difference is a fact that is not the same on both sides.
type Difference struct {
	// Kind is "environment", "load" or "service".
	Kind string `json:"kind"`
	Fact string `json:"fact"`
	// A and B are the values, several if the runs of a side differ.
	A string `json:"a"`
	B string `json:"b"`
	// Breaks: stored runs that differ in this cannot be compared (method, section
	// 4.4); interleave them again.
	Breaks bool `json:"breaks,omitempty"`
}

// fact is something about a run.
type fact struct {
	kind, name, value string
	breaks            bool
}

// differ lists what the runs of two sides do not have in common, in the order in
// which facts are told.
func differ(a, b []Run) []Difference {
	all := []Difference{}
	if len(a) == 0 || len(b) == 0 {
		return all
	}
	inA, inB := gather(results(a)), gather(results(b))
	for _, f := range order(inA, inB) {
		x, y := inA.values[f.name], inB.values[f.name]
		if !slices.Equal(x, y) {
			all = append(all, Difference{f.kind, f.name, says(x), says(y), f.breaks})
		}
	}
	return all
}

func says(values []string) string {
	if len(values) == 0 {
		return "none"
	}
	return strings.Join(values, ", ")
}

// gathered are the facts of all runs of a side; values are sorted.
type gathered struct {
	facts  []fact
	values map[string][]string
}

func gather(runs []*result.Run) gathered {
	g := gathered{values: map[string][]string{}}
	for _, r := range runs {
		for _, f := range facts(r) {
			if f.value == "" {
				continue
			}
			if _, seen := g.values[f.name]; !seen {
				g.facts = append(g.facts, f)
			}
			if !slices.Contains(g.values[f.name], f.value) {
				g.values[f.name] = append(g.values[f.name], f.value)
			}
		}
	}
	for _, v := range g.values {
		slices.Sort(v)
	}
	return g
}

// order is each fact of either side once.
func order(a, b gathered) []fact {
	all := slices.Clone(a.facts)
	for _, f := range b.facts {
		if _, known := a.values[f.name]; !known {
			all = append(all, f)
		}
	}
	rank := map[string]int{"environment": 0, "load": 1, "service": 2}
	slices.SortStableFunc(all, func(x, y fact) int { return rank[x.kind] - rank[y.kind] })
	return all
}

func facts(r *result.Run) []fact {
	all := machine("", r.Environment)
	for _, name := range slices.Sorted(maps.Keys(r.Hosts)) {
		all = append(all, machine(name+": ", r.Hosts[name])...)
	}
	all = append(all, links(r)...)
	all = append(all,
		fact{"environment", "version", r.Version, true},
		fact{"environment", "cores of the generator", number(r.Generator.CPUs), true},
		fact{"environment", "clock", r.Generator.ClockSource, false})
	all = append(all, loads(r)...)
	return append(all, services(r)...)
}

// machine are the facts of a host; where is "" for this one.
func machine(where string, e result.Environment) []fact {
	f := func(name, value string, breaks bool) fact {
		return fact{"environment", where + name, value, breaks}
	}
	all := []fact{
		f("system", e.OS, true), f("kernel", e.Kernel, true), f("architecture", e.Arch, true),
		f("processor", e.CPUModel, true), f("processors", number(float64(e.CPUs)), true),
		f("memory in MiB", number(float64(e.Memory>>20)), false), f("Go", e.Go, false), f("host name", e.Hostname, false),
	}
	for _, key := range slices.Sorted(maps.Keys(e.Sysctl)) {
		all = append(all, f(key, e.Sysctl[key], false))
	}
	return all
}

// links are the speeds of interfaces, as far as they were watched.
func links(r *result.Run) []fact {
	var all []fact
	for _, o := range r.Observed {
		if o.Kind == result.OfInterface && o.Has(result.LinkSpeed) {
			name := strings.TrimSpace(o.Host + " " + o.Name)
			all = append(all, fact{"environment", "link speed of " + name, number(o.Series[result.LinkSpeed].Max()), true})
		}
	}
	return all
}

// number prints a fact; nothing for 0, which stands for unknown.
func number(x float64) string {
	if x == 0 {
		return ""
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

func loads(r *result.Run) []fact {
	l := &r.Load
	f := func(name, value string, breaks bool) fact { return fact{"load", name, value, breaks} }
	all := []fact{
		f("kind", r.Kind, false), f("model", l.Model, true), f("protocol", l.Protocol, true), f("engine", l.Engine, true),
		f("timestamps", l.Timestamps, false), f("threads", number(float64(l.Threads)), false),
		f("connections", number(float64(l.Connections.Asked)), true), f("loopback", strconv.FormatBool(l.Loopback), true),
	}
	if t := l.TLS; t != nil {
		all = append(all, f("TLS", t.Version+" "+t.Cipher, true))
	}
	if r.Plan == nil {
		return all
	}
	p := &r.Plan.Load
	return append(all,
		f("duration", duration(p.Duration), false), f("requests", number(float64(p.Count)), false),
		f("warm-up", duration(p.Warmup), false), f("arrivals", arrivals(p), true),
		f("keep-alive", strconv.FormatBool(!p.NoKeepAlive), true), f("pipeline", number(float64(p.Pipeline)), true),
		f("request timeout", duration(p.Timeouts.Request), false), f("workload", workload(p), true))
}

func duration(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return d.String()
}

// arrivals are the timetable of an open load, without its seed.
func arrivals(l *plan.Load) string {
	if l.Model != plan.Open {
		return ""
	}
	a := l.Arrivals
	a.Seed = 0
	return fmt.Sprintf("%+v", a)
}

// workload is the mix of requests. Services have other ports in each run, so
// that their names stand for them.
func workload(l *plan.Load) string {
	var all []string
	for _, q := range l.Requests {
		text := fmt.Sprintf("%s %s weight %v", q.Method, q.Place(), q.Weight)
		if len(q.Body) > 0 {
			text += fmt.Sprintf(" with %d bytes", len(q.Body))
		}
		for _, h := range q.Headers {
			text += fmt.Sprintf(" %s: %s", h.Name, h.Value)
		}
		if !slices.Contains(all, text) { // instances of a service share its requests
			all = append(all, text)
		}
	}
	return strings.Join(all, "; ")
}

// services are the facts of what was measured: they may be what is compared.
func services(r *result.Run) []fact {
	var all []fact
	counts := map[string]int{}
	for _, s := range r.Services {
		f := func(name, value string) fact { return fact{"service", s.Name + ": " + name, value, false} }
		if counts[s.Name]++; counts[s.Name] > 1 {
			continue
		}
		all = append(all, f("version", s.Version), f("host", s.Host), f("CPU limit", number(s.Limits.CPUs)),
			f("memory limit in MiB", number(float64(s.Limits.Memory>>20))), f("cores", cores(s.Limits.Cores)))
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, fact{"service", name + ": instances", strconv.Itoa(counts[name]), false})
	}
	return all
}

func cores(list []int) string {
	if len(list) == 0 {
		return ""
	}
	return strings.Trim(fmt.Sprint(list), "[]")
}
