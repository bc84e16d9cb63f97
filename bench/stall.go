package main

import (
	"context"
	"fmt"
	"time"
)

// stallPlan is a target that answers at once but for one stall, under a
// constant rate.
type stallPlan struct {
	Rate   int           `json:"rate"` // requests per second
	Length time.Duration `json:"length_ns"`
	After  time.Duration `json:"stall_after_ns"`
	Stall  time.Duration `json:"stall_ns"`
}

// quantileUS is what must be measured: of the requests planned over T those
// of the S during the stall wait for its end, so P(R > x) = (S-x)/T for
// 0 < x < S, and the quantile is S - T(1-q). The target clears its queue at
// once; its service time is the floor and taken for nothing.
func (p stallPlan) quantileUS(q float64) float64 {
	return max(0, us(p.Stall)-us(p.Length)*(1-q))
}

func us(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// stallRow is what one generator made of it.
type stallRow struct {
	Generator string   `json:"generator"`
	Model     string   `json:"model"`
	Command   string   `json:"command"`
	Runs      []sample `json:"runs"`
	Error     string   `json:"error,omitempty"`
}

// stallRounds bounds the repetitions: each takes a whole plan.
const stallRounds = 3

// medianUS is the median of a quantile over the runs, and whether the
// generator prints it.
func (r stallRow) medianUS(q string) (float64, bool) {
	var values []float64
	for _, s := range r.Runs {
		if us, ok := s.LatencyUS[q]; ok {
			values = append(values, us)
		}
	}
	return spreadOf(values).Median, len(values) > 0
}

// stallSection is the plan, the truth and the readings.
type stallSection struct {
	Plan  stallPlan          `json:"plan"`
	Truth map[string]float64 `json:"truth_us"`
	Rows  []stallRow         `json:"rows"`
}

// closedStall is how many connections the closed loads of the stall have.
const closedStall = 10

// stall asks each generator for the latency of a target that stands still for
// a second. Those that wait for answers before they send miss nearly all of
// the requests that would have suffered.
func (b *bench) stall(ctx context.Context) error {
	const name = "stall"
	if !b.wanted(name) {
		return nil
	}
	p := stallPlan{Rate: 200, Length: 8 * time.Second, After: 3 * time.Second, Stall: time.Second}
	if b.quick {
		p = stallPlan{Rate: 200, Length: 2 * time.Second, After: time.Second, Stall: 500 * time.Millisecond}
	}
	section := stallSection{Plan: p, Truth: map[string]float64{"max": us(p.Stall)}}
	for q, v := range map[string]float64{"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99} {
		section.Truth[q] = p.quantileUS(v)
	}
	all := b.stallGenerators()
	for _, g := range all {
		section.Rows = append(section.Rows, b.stallRow(p, g))
	}
	for round := range min(b.rounds, stallRounds) {
		for _, i := range order(len(all), round) {
			b.stallOne(ctx, p, all[i], round, &section.Rows[i])
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	b.report.Stall = &section
	return nil
}

// stallGenerators are those that can keep a rate, and two closed loads for
// contrast; these have lost their open template.
func (b *bench) stallGenerators() []generator {
	var all []generator
	for _, g := range b.available() {
		if g.open != "" && (!b.quick || g.program == "prony") {
			all = append(all, g)
		}
	}
	for _, g := range b.pick(wrk, uring) {
		g.open = ""
		all = append(all, g)
	}
	return all
}

// stallLoad is how a generator loads the target.
func stallLoad(p stallPlan, g generator) load {
	l := load{url: "http://127.0.0.1:PORT/", duration: p.Length, rate: p.Rate}
	if g.open == "" {
		l.rate, l.connections = 0, closedStall
	}
	return l
}

// stallRow is a row without runs.
func (b *bench) stallRow(p stallPlan, g generator) stallRow {
	l := stallLoad(p, g)
	row := stallRow{Generator: g.name, Model: g.model, Command: b.shown(g, l)}
	if l.rate == 0 {
		row.Model = fmt.Sprintf("closed, %d connections", closedStall)
	}
	return row
}

// stallOne starts a target for one run: the stall is counted from the first
// request, and comes once.
func (b *bench) stallOne(ctx context.Context, p stallPlan, g generator, round int, row *stallRow) {
	target, err := b.announced("target with a stall", b.tools.path("prony"), "target", "--addr", "127.0.0.1:0", "--stall", fmt.Sprintf("%v:%v", p.After, p.Stall))
	if err != nil {
		row.Error = err.Error()
		return
	}
	defer target.close()
	l := stallLoad(p, g)
	l.url = target.url
	s, err := b.runOne(ctx, g, l, observe{})
	if err != nil {
		row.Error = err.Error()
		b.say("%-24s %d  %-30s %v", "stall", round+1, g.name, err)
		return
	}
	s.Round = round
	row.Runs = append(row.Runs, s)
	b.say("%-24s %d  %-30s %s: p99 %.0f ms", "stall", round+1, g.name, row.Model, s.LatencyUS["p99"]/1e3)
}
