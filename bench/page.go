package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"prony/internal/unit"
)

// writer builds the page and keeps the first error.
type writer struct {
	out io.Writer
	err error
}

func (w *writer) line(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.out, format+"\n", args...)
	}
}

// table writes a Markdown table: the first column is text, the others figures.
func (w *writer) table(head []string, rows [][]string) {
	w.line("\n| %s |", strings.Join(head, " | "))
	w.line("| --- |%s", strings.Repeat(" ---: |", len(head)-1))
	for _, row := range rows {
		w.line("| %s |", strings.Join(row, " | "))
	}
	w.line("")
}

// page writes the report as Markdown.
func page(out io.Writer, r *report) error {
	w := &writer{out: out}
	w.line("# Benchmarks of Prony itself\n")
	w.line("Written by `%s` on %s; all runs are in the JSON of the same name.", r.Command, r.Date.Format("2006-01-02 15:04 MST"))
	if e := r.Earlier; e != nil {
		w.line("What that command did not measure again is of `%s` on %s, on the same machine.", e.Command, e.Date.Format("2006-01-02 15:04 MST"))
	}
	if r.Quick {
		w.line("\n**This is a smoke test (`-quick`), not a measurement: too few and too short runs.**")
	}
	w.machine(r)
	w.goals(r.Goals)
	w.throughput(r)
	w.profile(r)
	w.latency(r.Latency)
	w.stall(r.Stall)
	w.memory(r)
	w.calls(r)
	w.allocations(r)
	w.commands(r)
	return w.err
}

func (w *writer) machine(r *report) {
	m := r.Machine
	virtual := ""
	if m.Virtual {
		virtual = ", a virtual machine"
	}
	w.line("\n## Machine and versions\n")
	w.line("- %s, %d cores%s, %s, %s, %s", m.CPU, m.Cores, virtual, unit.FormatSize(float64(m.MemoryKiB)*1024), m.Kernel, m.Go)
	w.line("- one system call that does nothing (getppid) costs %v here; where calls are cheaper the ratios below are smaller", m.CallCost)
	w.line("- servers on core %d, generators on core %d, one thread each, loopback; load average before the first run: %s", m.Servers, m.Generators, m.LoadBefore)
	w.line("- %d round(s) of %v per generator; up to %d open files in a process", r.Rounds, r.Duration, m.Files)
	for _, t := range r.Tools {
		w.line("- %s: %s", t.Name, t.Version)
	}
	if len(r.Skipped) > 0 {
		w.line("\nNot measured, or not in full:\n")
	}
	for _, s := range r.Skipped {
		w.line("- %s", s)
	}
}

func (w *writer) goals(all []goal) {
	if len(all) == 0 {
		return
	}
	w.line("\n## Goals")
	var rows [][]string
	unknown := 0
	for _, g := range all {
		if !g.Known {
			unknown++
			continue
		}
		bound := "≥ "
		if g.AtMost {
			bound = "≤ "
		}
		verdict := map[bool]string{true: "met", false: "**missed**"}[g.Met]
		rows = append(rows, []string{g.Text, strings.TrimSpace(bound + number(g.Bound) + " " + g.Unit), strings.TrimSpace(number(g.Measured) + " " + g.Unit), verdict})
	}
	w.table([]string{"figure", "goal", "measured", "verdict"}, rows)
	if unknown > 0 {
		w.line("%d goal(s) were not measured in this run.", unknown)
	}
}

// number prints a figure with a precision that fits its size.
func number(v float64) string {
	switch {
	case abs(v) >= 1000:
		return unit.FormatCount(int64(v))
	case abs(v) >= 10:
		return fmt.Sprintf("%.1f", v)
	case abs(v) >= 0.1 || v == 0:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.4f", v)
}

func (w *writer) throughput(r *report) {
	if len(r.Throughput) == 0 {
		return
	}
	w.line("\n## Requests per CPU-second and requests per second\n")
	w.line("A ratio is that of two runs of the same round; printed is the median over the rounds (smallest–largest).")
	w.line("CPU time is user and system time of the whole process from wait4, start-up included. On loopback the kernel")
	w.line("also charges the sender for the delivery to the receiver's socket, which is the same for all generators.")
	w.line("ab is missing where the server is the fast responder, which speaks no HTTP/1.0.")
	for _, c := range r.Throughput {
		protocol := "HTTP/1.1"
		if c.TLS {
			protocol = "HTTP/1.1 over TLS 1.3, AES-128-GCM"
		}
		w.line("\n### %s, %d connection(s), %s", c.Server, c.Connections, protocol)
		w.entries(c.Entries)
	}
}

// entries writes the table of a comparison.
func (w *writer) entries(all []*entry) {
	var rows [][]string
	var failed []string
	for _, e := range all {
		if e.Error != "" {
			failed = append(failed, e.Generator+": "+strings.ReplaceAll(e.Error, "\n", "; "))
		}
		if len(e.Runs) == 0 {
			continue
		}
		med := func(f func(sample) float64) float64 { return spreadOf(over(e.Runs, f)).Median }
		rows = append(rows, []string{e.Generator, unit.FormatCount(int64(med(sample.perCPUSecond))), e.Efficiency.ratio(),
			unit.FormatCount(int64(med(func(s sample) float64 { return s.Rate }))), e.Speed.ratio(),
			fmt.Sprintf("%.2f / %.2f", med(userUS), med(sysUS)), unit.FormatCount(sumErrors(e.Runs))})
	}
	w.table([]string{"generator", "requests per CPU-s", "÷ wrk", "requests/s", "÷ wrk", "user / system µs per request", "errors"}, rows)
	for _, f := range failed {
		w.line("- a run failed: %s", f)
	}
}

func sumErrors(all []sample) int64 {
	var n int64
	for _, s := range all {
		n += s.Errors
	}
	return n
}

func (w *writer) profile(r *report) {
	if len(r.Profile) == 0 {
		return
	}
	w.line("\n## Where the time goes\n")
	w.line("Samples of the generator's processor time by perf (cpu-clock), fast responder, %d connections. What stands under", callClients)
	w.line("\"delivery\" is the kernel handing segments to the other socket, on the sender's account.")
	head := []string{"part"}
	for _, p := range r.Profile {
		head = append(head, p.Generator)
	}
	var rows [][]string
	for _, part := range parts() {
		row := []string{part.name}
		for _, p := range r.Profile {
			row = append(row, fmt.Sprintf("%.1f %%", 100*p.Shares[part.name]))
		}
		rows = append(rows, row)
	}
	w.table(head, append(rows, requestCost(r)))
	w.ceiling(r)
	for _, p := range r.Profile {
		if p.Error != "" {
			w.line("- %s: %s", p.Generator, p.Error)
		}
	}
}

// requestCost is the row of what a request costs in the runs without sampling.
func requestCost(r *report) []string {
	row := []string{"**a request, by the table above**"}
	for _, p := range r.Profile {
		row = append(row, fmt.Sprintf("%.2f µs", r.requestUS(p.Generator)))
	}
	return row
}

// ceiling says what the best possible generator would reach here, so that a
// reader can tell what a goal asks of the generator and what of the kernel.
func (w *writer) ceiling(r *report) {
	reference := r.requestUS(wrk)
	if reference == 0 {
		return
	}
	w.line("")
	for _, p := range r.Profile {
		if us := p.tcp() * r.requestUS(p.Generator); us > 0 && p.Generator != wrk {
			w.line("- %s: sending, receiving and delivering alone cost %.2f µs a request. A generator that did that and nothing else,", p.Generator, us)
			w.line("  no parser, no histogram and no event loop, would reach %.2f × wrk here.", reference/us)
		}
	}
}

func (w *writer) calls(r *report) {
	if len(r.Calls) == 0 {
		return
	}
	w.line("\n## System calls per request\n")
	w.line("Fast responder, %d connections; start-up is counted too. perf counts without slowing the program down; strace", callClients)
	w.line("tells the calls apart, and makes every one of them dearer.")
	var rows [][]string
	for _, c := range r.Calls {
		perf := "–"
		if c.Undisturbed > 0 {
			perf = fmt.Sprintf("%.3f", c.perRequest())
		}
		rows = append(rows, []string{c.Generator, perf, fmt.Sprintf("%.3f", c.straced()), c.most(), c.Error})
	}
	w.table([]string{"generator", "perf stat", "strace -c -f", "most of them (strace)", "error"}, rows)
}

func (w *writer) allocations(r *report) {
	if len(r.Allocations) == 0 {
		return
	}
	w.line("\n## Allocations per request\n")
	w.line("Calls of `runtime.mallocgc`, counted by a probe in two runs of %v: as fast as it goes, and nearly idle.", r.Duration)
	var rows [][]string
	for _, a := range r.Allocations {
		rows = append(rows, []string{a.Generator, unit.FormatCount(a.Mallocs), unit.FormatCount(a.Requests),
			unit.FormatCount(a.IdleMallocs), unit.FormatCount(a.IdleRequests), fmt.Sprintf("%.4f", a.perRequest()), a.Error})
	}
	w.table([]string{"generator", "allocations", "in requests", "idle allocations", "in requests", "per request", "error"}, rows)
}

func (w *writer) commands(r *report) {
	names, commands := r.commands()
	var all []string
	for _, name := range names {
		all = append(all, commands[name])
	}
	if r.Latency != nil {
		for _, e := range r.Latency.Entries {
			all = append(all, e.Command)
		}
	}
	if r.Stall != nil {
		for _, row := range r.Stall.Rows {
			all = append(all, row.Command)
		}
	}
	for _, m := range []*memorySection{r.Memory, r.Many} {
		if m != nil {
			for _, row := range m.Rows {
				all = append(all, row.Command)
			}
		}
	}
	if len(all) == 0 {
		return
	}
	w.line("\n## Commands\n\nThe first of each kind; connections and URLs vary with the table.\n\n```")
	for i, c := range all {
		if !slices.Contains(all[:i], c) {
			w.line("%s", c)
		}
	}
	w.line("```")
}
