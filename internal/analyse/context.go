package analyse

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/stats"
)

// context is what the other runs of an experiment tell of one.
type context struct {
	known       bool        // whether more connections add anything
	plateau     bool        // they do not
	gain        float64     // what twice as many add, relative; or what these added to half
	connections int         // of the run that tells it
	low         *result.Run // the same with the fewest connections, at most half
}

// sweep are trials of a closed load that differ only in their connections.
type sweep struct {
	trials []*result.Trial
	counts []int           // of connections, ascending, each once
	rates  map[int]float64 // median of the usable trials
	usable map[int]*result.Run
}

// sweeps groups the closed trials of an experiment, in their order.
func sweeps(e *result.Experiment) []*sweep {
	var all []*sweep
	byShape := map[string]*sweep{}
	for i := range e.Trials {
		tr := &e.Trials[i]
		if tr.Error != "" || tr.Plan == nil || tr.Load.Model != string(plan.Closed) {
			continue
		}
		key := shape(tr.Plan)
		if byShape[key] == nil {
			byShape[key] = &sweep{}
			all = append(all, byShape[key])
		}
		byShape[key].trials = append(byShape[key].trials, tr)
	}
	for _, s := range all {
		s.measure()
	}
	return all
}

// shape is a plan without what may differ within a sweep. A service gets
// another port each time.
func shape(p *plan.Plan) string {
	q := *p
	q.Load = portless(q.Load)
	q.Name, q.Seed, q.Load.Seed, q.Load.Connections, q.Load.Threads, q.Cores, q.Expect = "", 0, 0, 0, 0, nil, nil
	q.Also = slices.Clone(q.Also)
	for i := range q.Also {
		q.Also[i] = portless(q.Also[i])
		q.Also[i].Seed, q.Also[i].Threads = 0, 0
	}
	b, err := json.Marshal(q)
	if err != nil {
		return p.Name
	}
	return string(b)
}

// portless is a load whose requests name their services instead of addresses.
func portless(l plan.Load) plan.Load {
	l.Requests = slices.Clone(l.Requests)
	for i, q := range l.Requests {
		l.Requests[i].URL = q.Place()
	}
	return l
}

// pathOf is the path of a URL with its query.
func pathOf(url string) string {
	if _, rest, ok := strings.Cut(url, "://"); ok {
		_, path, _ := strings.Cut(rest, "/")
		return "/" + path
	}
	return url
}

func (s *sweep) measure() {
	s.rates, s.usable = map[int]float64{}, map[int]*result.Run{}
	rates := map[int][]float64{}
	for _, tr := range s.trials {
		n := tr.Load.Connections.Asked
		if tr.Validity.Verdict == result.Invalid {
			continue
		}
		if s.usable[n] == nil {
			s.usable[n] = &tr.Run
			s.counts = append(s.counts, n)
		}
		rates[n] = append(rates[n], tr.Load.Rate)
	}
	slices.Sort(s.counts)
	for n, values := range rates {
		s.rates[n] = stats.Median(values)
	}
}

// of says what the sweep tells of a run with n connections: what twice as many
// add, or else whether n added anything to half of it.
func (s *sweep) of(n int, t Thresholds) context {
	var c context
	if s.rates[n] <= 0 {
		return c
	}
	if i := slices.IndexFunc(s.counts, func(m int) bool { return 2*m <= n }); i >= 0 {
		c.low = s.usable[s.counts[i]]
	}
	if i := slices.IndexFunc(s.counts, func(m int) bool { return m >= 2*n }); i >= 0 {
		more := s.counts[i]
		c.known, c.connections, c.gain = true, more, s.rates[more]/s.rates[n]-1
		c.plateau = c.gain < t.Plateau
		return c
	}
	for _, less := range slices.Backward(s.counts) {
		if 2*less > n {
			continue
		}
		if gain := s.rates[n]/s.rates[less] - 1; gain < t.Plateau {
			c.known, c.plateau, c.connections, c.gain = true, true, less, gain
		}
		break
	}
	return c
}

// revisit judges again what needs the context of the other runs: whether the
// load was at a limit, and whether the target waits. The rest of the verdict
// stays.
func revisit(r *result.Run, c context, t Thresholds) {
	v := newView(r, t)
	_, v.found = v.judge(areas())
	v.others = c
	ours := func(f result.Finding) bool { return f.Rule == "waiting" }
	r.Validity.Findings = slices.DeleteFunc(slices.Clone(r.Validity.Findings), ours)
	r.Validity.NotRun = slices.DeleteFunc(slices.Clone(r.Validity.NotRun), func(s string) bool { return strings.HasPrefix(s, "waiting: ") })
	a := waiting(v)
	if a.missing != "" {
		r.Validity.NotRun = append(r.Validity.NotRun, "waiting: "+a.missing)
	}
	for _, f := range a.findings {
		r.Validity.Findings = append(r.Validity.Findings, area{where: "target"}.complete(f, rule{name: "waiting", id: "L1"}))
	}
	r.Bottleneck = v.bottleneck()
}

// plateaus tells where more connections add nothing.
func plateaus(x experiment) []result.Finding {
	var all []result.Finding
	for _, s := range x.sweeps {
		for _, n := range s.counts {
			c := s.of(n, x.t)
			if !c.known || !c.plateau || c.connections < n {
				continue
			}
			all = append(all, result.Finding{Severity: result.Info, Where: s.usable[n].Plan.Name,
				Evidence:  figures{"connections": float64(n), "rate": s.rates[n], "more_connections": float64(c.connections), "gain": c.gain},
				Threshold: figures{"gain": x.t.Plateau},
				Message: fmt.Sprintf("the rate stands from %s on: %s, and %d of them gave %s", many(int64(n), "connection"),
					rate(s.rates[n]), c.connections, signed(c.gain))})
			break
		}
	}
	return all
}
