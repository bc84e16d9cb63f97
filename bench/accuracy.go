package main

import (
	"fmt"
	"time"

	"prony/internal/unit"
)

func (w *writer) latency(c *comparison) {
	if c == nil {
		return
	}
	w.line("\n## Latency error against a known delay\n")
	w.line("Server: %s; %d connections, closed model. Printed minus the server's own", c.Server, c.Connections)
	w.line("quantile, in microseconds, median over the rounds (smallest–largest). Zero cannot be reached: the path through the")
	w.line("kernel and the wait before the server reads are latency, and the same for all. wrk 4 adds made-up samples to its")
	w.line("histogram before it prints (its correction for omission), so its upper quantiles are not those of its requests.")
	var rows [][]string
	for _, e := range c.Entries {
		row := []string{e.Generator}
		for _, q := range []string{"p50", "p90", "p99"} {
			row = append(row, excess(e.Excess[q]))
		}
		rows = append(rows, append(row, e.Efficiency.ratio()))
	}
	w.table([]string{"generator", "p50", "p90", "p99", "requests per CPU-s ÷ wrk"}, rows)
	for _, e := range c.Entries {
		if e.Error != "" {
			w.line("- a run failed: %s: %s", e.Generator, e.Error)
		}
	}
}

func excess(s spread) string {
	if s.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%+.0f (%+.0f–%+.0f)", s.Median, s.Min, s.Max)
}

func (w *writer) stall(s *stallSection) {
	if s == nil {
		return
	}
	p := s.Plan
	w.line("\n## A known stall\n")
	w.line("%d requests/s, evenly spaced, for %v; after %v the target answers nothing for %v, then clears its queue at", p.Rate, p.Length, p.After, p.Stall)
	w.line("once. Of the requests planned, a share of (%v − x)/%v must wait longer than x. A load that waits for answers before", p.Stall, p.Length)
	w.line("it sends (closed, or a rate limit over few connections) never makes most of the requests that would have suffered.")
	w.line("Medians of up to %d runs, each against a target of its own.", stallRounds)
	head := []string{"generator", "model", "requests"}
	truth := []string{"**by arithmetic**", "open", unit.FormatCount(int64(float64(p.Rate) * p.Length.Seconds()))}
	quantiles := []string{"p50", "p90", "p95", "p99", "max"}
	for _, q := range quantiles {
		head, truth = append(head, q), append(truth, printUS(s.Truth[q]))
	}
	rows := [][]string{truth}
	for _, row := range s.Rows {
		if len(row.Runs) == 0 {
			continue
		}
		requests := spreadOf(over(row.Runs, func(s sample) float64 { return float64(s.Requests) })).Median
		line := []string{row.Generator, row.Model, unit.FormatCount(int64(requests))}
		for _, q := range quantiles {
			us, ok := row.medianUS(q)
			if !ok {
				line = append(line, "–")
				continue
			}
			line = append(line, printUS(us))
		}
		rows = append(rows, line)
	}
	w.table(head, rows)
	for _, row := range s.Rows {
		if row.Error != "" {
			w.line("- failed: %s: %s", row.Generator, row.Error)
		}
	}
}

func printUS(us float64) string {
	return unit.FormatDuration(time.Duration(us * float64(time.Microsecond)))
}

func (w *writer) memory(r *report) {
	if r.Memory != nil {
		w.line("\n## Peak memory at %s connections\n", unit.FormatCount(int64(r.Memory.Connections)))
		w.line("Fast responder; the largest resident set of the process (VmHWM), one run each. The kernel's socket buffers")
		w.line("are not in it, and are the same for all.")
		w.memoryRows(r.Memory)
	}
	if r.Many != nil {
		w.line("\n## %s connections, over several loopback addresses\n", unit.FormatCount(int64(r.Many.Connections)))
		if n := r.Many.Processes; n > 1 {
			w.line("A process may have %s open files here, so %d processes share the connections, each against a server of its own;", unit.FormatCount(int64(r.Machine.Files)), n)
			w.line("the command is that of the first, the memory that of the largest.\n")
		}
		w.memoryRows(r.Many)
	}
}

func (w *writer) memoryRows(m *memorySection) {
	var rows [][]string
	for _, row := range m.Rows {
		if row.Run == nil {
			rows = append(rows, []string{row.Generator, "–", "–", "–", row.Error})
			continue
		}
		opened := "not printed"
		if row.Run.Opened > 0 {
			opened = unit.FormatCount(int64(row.Run.Opened))
		}
		rows = append(rows, []string{row.Generator, unit.FormatSize(float64(row.Run.Peak)), opened,
			unit.FormatCount(row.Run.Requests), unit.FormatCount(row.Run.Errors)})
	}
	w.table([]string{"generator", "peak memory", "connections opened", "requests", "errors"}, rows)
}
