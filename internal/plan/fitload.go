package plan

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"time"

	"prony/internal/unit"
)

// What a generator carries, for "scale: auto".
const (
	// connectionsPerCore is how many connections a core of the generator carries.
	// With 512 a request cost it hardly more CPU than with 64; with 4096 it was a
	// quarter to a third more, and a turn around all of them took so long that
	// their handshakes and delayed acknowledgements showed in the latency.
	connectionsPerCore = 1024
	// filesReserve are open files that are for other things than connections, most
	// of them to watch the processes of the machine; at most half of the limit.
	filesReserve = 1024
	// restTime is how long a port rests in TIME_WAIT on Linux, and reusedAfter
	// where the system is allowed to use it again (net.ipv4.tcp_tw_reuse).
	restTime    = time.Minute
	reusedAfter = time.Second
)

// bound is what a machine carries of something, and how much a variant wants.
type bound struct {
	wanted, most float64
	why          string
}

// factor is that which makes it fit.
func (b bound) factor() float64 {
	if b.wanted <= b.most {
		return 1
	}
	return max(b.most, 0) / b.wanted
}

// tightest is the bound with the least factor; the first of equals.
func tightest(all []bound) bound {
	if len(all) == 0 {
		return bound{}
	}
	return slices.MinFunc(all, func(a, b bound) int { return cmp.Compare(a.factor(), b.factor()) })
}

func (p *Plan) loads() []*Load {
	all := []*Load{&p.Load}
	for i := range p.Also {
		all = append(all, &p.Also[i])
	}
	return all
}

// fitLoads reduces the connections of all variants by one factor, so that the
// generator carries the largest and what is compared stays in proportion, and
// rates that would use up the ports. The connections of an open load are a bound
// that its rate may never reach, and cost no core anything until it does.
func (m *maker) fitLoads(plans []Plan) {
	var open, closed, rates []bound
	for i := range plans {
		open = append(open, m.facts.sockets(&plans[i])...)
		closed = append(closed, m.facts.carried(&plans[i]))
		rates = append(rates, m.facts.resting(&plans[i])...)
	}
	few := map[Model]bound{Open: tightest(open), Closed: tightest(append(closed, open...))}
	r := tightest(rates)
	for i := range plans {
		for k, l := range plans[i].loads() {
			if b := few[l.Model]; b.factor() < 1 {
				m.fewer(&plans[i], l, k, b)
			}
			if r.factor() < 1 && l.NoKeepAlive && l.Model == Open {
				plans[i].Fit.slower(l, r)
			}
		}
	}
}

// carried is the bound of the generator's cores on the connections of a variant.
func (f Facts) carried(p *Plan) bound {
	sum := 0.0
	for _, l := range p.loads() {
		if l.Model == Closed {
			sum += float64(l.Connections)
		}
	}
	cores := f.generator(p)
	of := "one core"
	if cores > 1 {
		of = plural(float64(cores), "core")
	}
	return bound{sum, float64(cores * connectionsPerCore), fmt.Sprintf("a generator of %s carries about %d", of, cores*connectionsPerCore)}
}

// sockets are the bounds of the system on the connections of a variant.
func (f Facts) sockets(p *Plan) []bound {
	sum := 0.0
	for _, l := range p.loads() {
		sum += float64(l.Connections)
	}
	var all []bound
	if n := f.Sockets.Files; n > 0 {
		kept := min(filesReserve, n/2)
		all = append(all, bound{sum, float64(n - kept), fmt.Sprintf("a process may have %d files open here, of which %d are kept for other things", n, kept)})
	}
	if n := f.Sockets.Ports; n > 0 {
		all = append(all, bound{busiest(p), float64(n), f.portsText()})
	}
	return all
}

func (f Facts) portsText() string {
	return fmt.Sprintf("there are %d local ports for one source and one target address", f.Sockets.Ports)
}

// generator is how many cores the generator has in a variant: its own; half of
// them where it shares the machine with the target.
func (f Facts) generator(p *Plan) int {
	here := f.machine("").CPUs
	g := f
	g.CPUs, g.Loopback = here, false
	g = p.facts(g)
	cores := g.CPUs
	if g.Loopback || p.Load.targetHere() {
		cores /= 2
	}
	return max(min(cores, here), 1)
}

// targetHere reports whether a URL that was given is of this machine.
func (l Load) targetHere() bool {
	return slices.ContainsFunc(l.Requests, func(q Request) bool {
		u, err := url.Parse(q.URL)
		return err == nil && q.Service == "" && loopback(u.Hostname(), l.Dial)
	})
}

func unix(dial string) bool { return len(dial) >= 5 && dial[:5] == "unix:" }

// busiest is the most connections that one target address gets from one source
// address: a load shares them by the weights of its requests, a service among
// its instances.
func busiest(p *Plan) float64 {
	at := map[string]float64{}
	most := 0.0
	for _, l := range p.loads() {
		weights := 0.0
		for _, q := range l.Requests {
			weights += q.Weight
		}
		for _, q := range l.Requests {
			key, n := p.address(*l, q)
			if unix(l.Dial) || weights == 0 {
				continue
			}
			at[key] += float64(l.Connections) * q.Weight / weights / float64(n*max(len(l.Sources), 1))
			most = max(most, at[key])
		}
	}
	return most
}

// address names where a request goes, and how many addresses that is.
func (p *Plan) address(l Load, q Request) (key string, n int) {
	switch u, err := url.Parse(q.URL); {
	case l.Dial != "":
		return "dial " + l.Dial, 1
	case q.Service != "":
		return "service " + q.Service, max(p.service(q.Service).Instances, 1)
	case err == nil:
		return "url " + u.Host, 1
	}
	return "", 1
}

// resting are the bounds on the rates of loads that open a connection for each
// request: its port rests behind it, if this side closes first. In the closed
// model the rate is not known beforehand.
func (f Facts) resting(p *Plan) []bound {
	var all []bound
	for _, l := range p.loads() {
		if !l.NoKeepAlive || l.Model != Open || f.Sockets.Ports == 0 || unix(l.Dial) {
			continue
		}
		rest := restTime
		if f.Sockets.Reuse == 1 || f.Sockets.Reuse == 2 && p.here(*l) {
			rest = reusedAfter
		}
		if length := l.Warmup + l.Duration; l.Duration > 0 && p.Warmup == nil && p.fresh(*l) {
			rest = min(rest, length)
		}
		addresses := max(len(l.Sources), 1)
		most := float64(f.Sockets.Ports*addresses) / rest.Seconds()
		all = append(all, bound{l.Peak(), most, fmt.Sprintf("%s, and without keep-alive each is used once in %s", f.portsText(), unit.FormatDuration(rest))})
	}
	return all
}

// fresh reports whether all that a load asks is started for it: another trial
// meets other addresses, and ports that rest are in nobody's way.
func (p *Plan) fresh(l Load) bool {
	return l.Dial == "" && !slices.ContainsFunc(l.Requests, func(q Request) bool { return q.Service == "" || p.service(q.Service).Port != 0 })
}

// here reports whether all that a load asks is on this machine.
func (p *Plan) here(l Load) bool {
	return !slices.ContainsFunc(l.Requests, func(q Request) bool {
		if s := p.service(q.Service); q.Service != "" {
			return s.Host != "" || !s.Started()
		}
		return !Load{Requests: []Request{q}, Dial: l.Dial}.targetHere()
	})
}

// fewer reduces the connections of one load, and notes it.
func (m *maker) fewer(p *Plan, l *Load, i int, b bound) {
	from := l.Connections
	l.Connections = max(int(float64(from)*b.factor()+1e-6), 1)
	l.Threads = min(l.Threads, l.Connections)
	why := b.why
	if b.wanted > float64(from) {
		why += fmt.Sprintf(", and the most that is asked for at once is %s", FitConnections.text(math.Ceil(b.wanted)))
	}
	if l.Connections < from {
		p.Fit.add(Change{FitConnections, l.names(), float64(from), float64(l.Connections), why})
	}
	if b.most < float64(1+len(p.Also)) {
		wrong := m.spec.Wrong(loadPath(i, 1+len(p.Also)), fmt.Errorf("scale: auto finds no room for a single connection: %s", why))
		wrong.Remedy = "raise the limit (ulimit -Hn 65535 as root, or LimitNOFILE= of the service), or set scale to a number"
		m.mistakes = append(m.mistakes, wrong)
	}
}

// slower reduces the rate of a load, and notes it.
func (f *Fit) slower(l *Load, b bound) {
	from := l.Peak()
	for i := range l.Arrivals.Segments {
		l.Arrivals.Segments[i].From *= b.factor()
		l.Arrivals.Segments[i].To *= b.factor()
	}
	f.add(Change{FitRate, l.names(), from, l.Peak(), b.why})
}

// slowed notes what rates and counts became with the CPU time of the services.
func (x *expander) slowed(l Load) {
	if x.p.Fit == nil || x.m.pace == 1 {
		return
	}
	const why = "as much less as the services have of CPU time"
	if peak := l.Peak(); peak > 0 {
		x.p.Fit.add(Change{FitRate, l.names(), slices.Max(x.t.Rate.Points), peak, why})
	}
	if l.Count > 0 && l.Count < x.t.Count {
		x.p.Fit.add(Change{FitCount, l.names(), float64(x.t.Count), float64(l.Count), why})
	}
}

// names is the load's in a list, empty for one without.
func (l Load) names() []string {
	if l.Name == "" {
		return nil
	}
	return []string{l.Name}
}

// loadPath is where a load is in the file.
func loadPath(i, of int) string {
	if of == 1 {
		return "load"
	}
	return fmt.Sprintf("load[%d]", i)
}
