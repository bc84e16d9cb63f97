package analyse

import (
	"fmt"
	"slices"

	"prony/internal/hdr"
	"prony/internal/result"
	"prony/internal/stats"
)

// pairing is a variant whose load goes through a gateway with one that meets a
// service behind it at once.
type pairing struct {
	proxied, direct  variant
	gateway, backend string
}

// target is the service that the requests of a variant go to; "" if there are
// several or none.
func (v variant) target() string {
	if v.run.Plan == nil {
		return ""
	}
	name := ""
	for i, q := range v.run.Plan.Load.Requests {
		if i > 0 && q.Service != name {
			return ""
		}
		name = q.Service
	}
	return name
}

// pairings finds every gateway with the direct variants for what is behind it:
// those of the same payload, which is the same requests.
func (x experiment) pairings() []pairing {
	var all []pairing
	for _, p := range x.variants {
		g := newView(p.run, x.t).planService(p.target())
		if g == nil || len(g.Upstream) == 0 {
			continue
		}
		for _, d := range x.variants {
			if name := d.target(); d.name != p.name && slices.Contains(g.Upstream, name) && d.run.Load.Model == p.run.Load.Model {
				all = append(all, pairing{p, d, g.Name, name})
			}
		}
	}
	return all
}

// backendHeadroom is rule X1 with what the backend does alone: a gateway is
// measured only in front of a backend that could do twice as much.
func backendHeadroom(x experiment) []result.Finding {
	alone, pairs := map[string]pairing{}, x.pairings()
	var order []string
	for _, p := range pairs { // the best of the direct variants is the capacity
		if best, ok := alone[p.proxied.name]; !ok || median(p.direct.each(rateOf)) > median(best.direct.each(rateOf)) {
			if !ok {
				order = append(order, p.proxied.name)
			}
			alone[p.proxied.name] = p
		}
	}
	var all []result.Finding
	for _, name := range order {
		if f, ok := x.headroomOf(alone[name]); ok {
			all = append(all, f)
		}
	}
	return all
}

func (x experiment) headroomOf(p pairing) (result.Finding, bool) {
	direct, proxied := median(p.direct.each(rateOf)), median(p.proxied.each(rateOf))
	if direct <= 0 || proxied <= 0 || newView(p.proxied.run, x.t).open() {
		return result.Finding{}, false // at a rate of the plan nothing shows a capacity
	}
	f := result.Finding{Where: p.proxied.name, Evidence: figures{"direct_rate": direct, "proxied_rate": proxied, "ratio": direct / proxied},
		Threshold: figures{"ratio": x.t.BackendTwice, "proxied_over_direct": x.t.BackendNear},
		Advice:    "put more or faster instances behind the gateway, or give it less CPU, until the backend could do at least twice as much"}
	v := newView(p.proxied.run, x.t)
	back, known := v.useOf(p.backend)
	front := v.limitOf(p.gateway)
	switch {
	case proxied >= x.t.BackendNear*direct:
		f.Severity = result.InvalidLevel
		f.Message = fmt.Sprintf("backend-bound: %s alone gave %s, through %s %s: this measures the backend, and gateways must not be compared by it",
			p.backend, rate(direct), p.gateway, rate(proxied))
	case direct < x.t.BackendTwice*proxied:
		f.Severity = result.SuspectLevel
		f.Message = fmt.Sprintf("%s alone gave %s, only %.2g times what came through %s (%s)", p.backend, rate(direct), direct/proxied, p.gateway, rate(proxied))
	case front != nil && known && back < x.t.BackendIdle:
		f.Severity, f.Advice = result.Info, ""
		f.Evidence["backend_cpu"] = back
		f.Message = fmt.Sprintf("proxy-bound: %s is at its limit (%s), and %s, which alone gave %s, used %s of its CPU",
			p.gateway, front.what, p.backend, rate(direct), percent(back))
	default:
		return f, false
	}
	return f, true
}

// addedLatency is rule X5: what a gateway adds, as the median over blocks of the
// difference of the same percentile, never as a difference of one run's.
func addedLatency(x experiment) []result.Finding {
	var all []result.Finding
	for _, p := range x.pairings() {
		p50, p99 := p.added(hdr.P50), p.added(hdr.P99)
		if len(p50) == 0 || p.direct.run.Load.Connections.Asked != p.proxied.run.Load.Connections.Asked {
			continue
		}
		i50, i99 := stats.MedianInterval(p50), stats.MedianInterval(p99)
		sure := result.Likely
		if len(p50) < 2 {
			sure = result.Hint
		}
		note := ""
		if !newView(p.proxied.run, x.t).open() {
			note = "; under closed loads the two ran at different rates"
		}
		all = append(all, result.Finding{Severity: result.Info, Confidence: sure, Where: p.proxied.name,
			Evidence: figures{"pairs": float64(len(p50)), "added_p50_us": stats.Median(p50), "added_p50_low_us": i50.Low, "added_p50_high_us": i50.High,
				"added_p99_us": stats.Median(p99), "added_p99_low_us": i99.Low, "added_p99_high_us": i99.High, "coverage": i99.Coverage},
			Message: fmt.Sprintf("%s added %s to the p50 (%s to %s) and %s to the p99 (%s to %s), over %s of runs against %s%s", p.gateway,
				micros(stats.Median(p50)), micros(i50.Low), micros(i50.High), micros(stats.Median(p99)), micros(i99.Low), micros(i99.High),
				many(int64(len(p50)), "pair"), p.direct.name, note)})
	}
	return all
}

// added are the differences of a percentile in microseconds, block by block.
func (p pairing) added(q hdr.Quantile) []float64 {
	var all []float64
	for _, a := range p.proxied.usable() {
		for _, b := range p.direct.usable() {
			if a.Block == b.Block && !a.Load.Latency.Response.Empty() && !b.Load.Latency.Response.Empty() {
				all = append(all, float64(a.Load.Latency.Response.Value(q)-b.Load.Latency.Response.Value(q))/1e3)
				break
			}
		}
	}
	return all
}

// generatorProof is rule G6: the same load from more generators, or more of its
// threads. If that makes the tail shorter or the rate higher, the first was the
// limit.
func generatorProof(x experiment) []result.Finding {
	var all []result.Finding
	for _, v := range x.variants {
		for _, more := range x.variants {
			axes := v.axes(more)
			if len(axes) != 1 || !slices.Contains([]string{"generators", "load.generators", "threads", "load.threads"}, axes[0]) ||
				!more.stronger(v, axes[0]) {
				continue
			}
			if f, ok := x.proof(v, more); ok {
				all = append(all, f)
			}
		}
	}
	return all
}

// stronger reports whether a variant has a larger number on an axis.
func (v variant) stronger(other variant, axis string) bool {
	a, b := v.values[axis], other.values[axis]
	return len(a) > len(b) || len(a) == len(b) && a > b // whole numbers
}

func (x experiment) proof(v, more variant) (result.Finding, bool) {
	tail := func(r *result.Run) (float64, bool) {
		h := r.Load.Latency.Response
		if h.Empty() {
			return 0, false
		}
		return float64(h.Value(hdr.P99)) / 1e3, true
	}
	rise := ratio(median(more.each(rateOf)), median(v.each(rateOf))) - 1
	fall := 1 - ratio(median(more.each(tail)), median(v.each(tail)))
	if len(v.each(rateOf)) == 0 || len(more.each(rateOf)) == 0 || rise <= x.t.ProofRate && fall <= x.t.ProofTail {
		return result.Finding{}, false
	}
	return result.Finding{Severity: result.SuspectLevel, Confidence: result.Definite, Where: v.name,
		Evidence:  figures{"rate_rise": rise, "p99_fall": fall},
		Threshold: figures{"rate_rise": x.t.ProofRate, "p99_fall": x.t.ProofTail},
		Message: fmt.Sprintf("the generator of %s was a limit: with more of it (%s) the rate changed by %s and the p99 by %s",
			v.name, more.name, signed(rise), signed(-fall)),
		Advice: "use the variant with more, and add again until nothing changes"}, true
}
