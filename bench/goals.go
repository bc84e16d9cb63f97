package main

import "fmt"

// goal is a figure that Prony promises and what it was this time.
type goal struct {
	Text     string  `json:"text"`
	Bound    float64 `json:"bound"`
	AtMost   bool    `json:"at_most,omitempty"` // else at least
	Measured float64 `json:"measured"`
	Known    bool    `json:"known"`
	Met      bool    `json:"met"`
	Unit     string  `json:"unit,omitempty"`
}

// judged fills in a goal that was measured.
func (g goal) judged(measured float64, known bool) goal {
	g.Measured, g.Known = measured, known
	g.Met = known && (measured >= g.Bound && !g.AtMost || measured <= g.Bound && g.AtMost)
	return g
}

// goals holds the report against what the engine is designed for.
func goals(r *report) []goal {
	all := append(efficiencyGoals(r), callGoals(r)...)
	all = append(all, memoryGoals(r)...)
	return append(all, accuracyGoals(r)...)
}

// ratioGoal is one about the processor time of a request.
type ratioGoal struct {
	comparison, where, generator string
	bound                        float64
}

func efficiencyGoals(r *report) []goal {
	var table []ratioGoal
	for _, c := range []string{"64", "512", "4096"} {
		table = append(table, ratioGoal{"throughput/nginx/c=" + c, "nginx, " + c + " connections", uring, 1.4},
			ratioGoal{"throughput/nginx/c=" + c, "nginx, " + c + " connections", epoll, 1.15},
			ratioGoal{"throughput/fast/c=" + c, "generator saturated, " + c + " connections", uring, 1.7},
			ratioGoal{"throughput/fast/c=" + c, "generator saturated, " + c + " connections", epoll, 1.5})
	}
	for _, c := range []string{"nginx", "fast"} {
		where := map[string]string{"nginx": "nginx", "fast": "fast responder"}[c] + ", 1 connection"
		table = append(table, ratioGoal{"throughput/" + c + "/c=1", where, uring, 1.0}, ratioGoal{"throughput/" + c + "/c=1", where, epoll, 1.0})
	}
	for _, c := range []string{"64", "512"} {
		table = append(table, ratioGoal{"throughput/tls/c=" + c, "nginx, TLS 1.3 AES-128-GCM, " + c + " connections", uring, 0.9},
			ratioGoal{"throughput/tls/c=" + c, "nginx, TLS 1.3 AES-128-GCM, " + c + " connections", epoll, 0.9})
	}
	var all []goal
	for _, t := range table {
		g := goal{Text: fmt.Sprintf("requests per CPU-second, %s, %s", t.where, t.generator), Bound: t.bound, Unit: "× wrk"}
		var ratio spread
		if c := r.comparison(t.comparison); c != nil {
			if e := c.find(t.generator); e != nil {
				ratio = e.Efficiency
			}
		}
		all = append(all, g.judged(ratio.Median, ratio.N > 0))
	}
	return all
}

func callGoals(r *report) []goal {
	bounds := map[string]float64{uring: 0.5, epoll: 2.1}
	var all []goal
	for _, name := range []string{uring, epoll} {
		g := goal{Text: "system calls per request, " + name, Bound: bounds[name], AtMost: true}
		for _, row := range r.Calls {
			if row.Generator == name && row.Requests > 0 {
				g = g.judged(row.perRequest(), true)
			}
		}
		all = append(all, g)
	}
	for _, name := range []string{uring, epoll} {
		// Bookkeeping by the second differs a little between the two runs; one
		// allocation in a batch of twenty requests would show.
		g := goal{Text: "allocations per request, " + name, Bound: 0.05, AtMost: true}
		for _, row := range r.Allocations {
			if row.Generator == name && row.Requests > 0 && row.Error == "" {
				g = g.judged(row.perRequest(), true)
			}
		}
		all = append(all, g)
	}
	return all
}

func memoryGoals(r *report) []goal {
	var all []goal
	for _, name := range []string{uring, epoll} {
		g := goal{Text: "peak memory, " + name, Bound: 1, AtMost: true, Unit: "× wrk"}
		if m := r.Memory; m != nil && m.Connections >= 10_000 {
			g.Text = fmt.Sprintf("peak memory at %d connections, %s", m.Connections, name)
			if ours, theirs := m.find(name), m.find(reference); ours != nil && theirs != nil && theirs.Peak > 0 {
				g = g.judged(float64(ours.Peak)/float64(theirs.Peak), true)
			}
		}
		all = append(all, g)
	}
	for _, name := range []string{uring, epoll} {
		g := goal{Text: "connections opened of 50,000, " + name, Bound: 50_000}
		if m := r.Many; m != nil && m.find(name) != nil {
			g = g.judged(float64(m.find(name).Opened), true)
		}
		all = append(all, g)
	}
	return all
}

// accuracyGoals are about latency: half of wrk's excess with kernel
// timestamps, and the stall's quantiles to within two requests of the plan.
func accuracyGoals(r *report) []goal {
	var all []goal
	if c := r.Latency; c != nil {
		for _, name := range []string{uring, epoll, epollRecv} {
			bound := 1.0
			if name == epollRecv {
				bound = 0.5
			}
			ours, theirs := c.find(name), c.find(reference)
			g := goal{Text: "p50 beyond a known delay of 1 ms, " + name, Bound: bound, AtMost: true, Unit: "× wrk"}
			if ours != nil && theirs != nil && ours.Excess["p50"].N > 0 && theirs.Excess["p50"].Median > 0 {
				g = g.judged(ours.Excess["p50"].Median/theirs.Excess["p50"].Median, true)
			}
			all = append(all, g)
		}
	}
	return append(all, stallGoals(r)...)
}

func stallGoals(r *report) []goal {
	var all []goal
	if r.Stall == nil {
		return nil
	}
	for _, row := range r.Stall.Rows {
		if row.Model != openModel || len(row.Runs) == 0 {
			continue
		}
		worst := 0.0
		for _, q := range []string{"p90", "p95", "p99", "max"} {
			us, _ := row.medianUS(q)
			worst = max(worst, abs(us-r.Stall.Truth[q]))
		}
		g := goal{Text: "largest error of p90, p95, p99 and max under the known stall, " + row.Generator, Bound: 2e3 / float64(r.Stall.Plan.Rate), AtMost: true, Unit: "ms"}
		all = append(all, g.judged(worst/1e3, true))
	}
	return all
}

func abs(v float64) float64 { return max(v, -v) }
