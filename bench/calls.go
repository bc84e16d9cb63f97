package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// callClients is how many connections the system calls are counted with.
const callClients = 64

// callRow is the system calls of one generator.
type callRow struct {
	Generator string `json:"generator"`
	// Requests and Calls are those of a run under strace, start-up included.
	Requests int64            `json:"requests"`
	Calls    map[string]int64 `json:"calls"`
	// Undisturbed are those that perf counted in a run of its own, which slows
	// nothing; 0 if it cannot.
	UndisturbedRequests int64  `json:"undisturbed_requests,omitempty"`
	Undisturbed         int64  `json:"undisturbed_calls,omitempty"`
	Error               string `json:"error,omitempty"`
}

// perRequest is the number of calls a request: perf's if there is one.
func (r callRow) perRequest() float64 {
	if r.Undisturbed > 0 {
		return float64(r.Undisturbed) / float64(r.UndisturbedRequests)
	}
	return r.straced()
}

// straced is the number of calls a request under strace.
func (r callRow) straced() float64 {
	var n int64
	for _, calls := range r.Calls {
		n += calls
	}
	return float64(n) / float64(max(1, r.Requests))
}

// most lists the calls with the largest shares, per request.
func (r callRow) most() string {
	names := slices.SortedFunc(maps.Keys(r.Calls), func(a, b string) int { return cmp.Or(cmp.Compare(r.Calls[b], r.Calls[a]), strings.Compare(a, b)) })
	var parts []string
	for _, name := range names[:min(4, len(names))] {
		parts = append(parts, fmt.Sprintf("%s %.3f", name, float64(r.Calls[name])/float64(max(1, r.Requests))))
	}
	return strings.Join(parts, ", ")
}

// systemCalls counts system calls per request while the generator is the
// limit: the fast responder at 64 connections.
func (b *bench) systemCalls(ctx context.Context) error {
	const name = "calls"
	if !b.wanted(name) || b.tools.path("strace") == "" {
		return nil
	}
	target, err := b.fast()
	if err != nil {
		return err
	}
	defer target.close()
	l := load{url: target.url, connections: callClients, duration: b.duration}
	for _, g := range b.pick(wrk, uring, epoll) {
		row := callRow{Generator: g.name}
		if err := b.countCalls(ctx, g, l, &row); err != nil {
			row.Error = err.Error()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.say("%-24s    %-30s %.3f a request %s", name, g.name, row.perRequest(), row.Error)
		b.report.Calls = append(b.report.Calls, row)
	}
	return nil
}

func (b *bench) countCalls(ctx context.Context, g generator, l load, row *callRow) error {
	file := filepath.Join(b.dir, "calls.txt")
	s, err := b.runOne(ctx, g, l, observe{under: []string{b.tools.path("strace"), "-c", "-f", "-o", file}})
	if err != nil {
		return failure("calls", g.name, err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return failure("calls", g.name, err)
	}
	row.Requests, row.Calls = s.Requests, straceTable(string(text))
	if perf := b.tools.path("perf"); perf != "" {
		under := []string{perf, "stat", "-x", ",", "-o", file, "-e", "raw_syscalls:sys_enter", "--"}
		if s, err = b.runOne(ctx, g, l, observe{under: under}); err != nil {
			return nil // strace's count stands
		}
		if text, err = os.ReadFile(file); err == nil {
			row.Undisturbed, _ = perfStat(text, "raw_syscalls:sys_enter")
			row.UndisturbedRequests = s.Requests
		}
	}
	return nil
}

// straceTable reads the table of strace -c: the calls by name.
func straceTable(text string) map[string]int64 {
	calls := map[string]int64{}
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 5 || f[len(f)-1] == "total" {
			continue
		}
		if n, err := strconv.ParseInt(f[3], 10, 64); err == nil {
			calls[f[len(f)-1]] = n
		}
	}
	return calls
}

// failure says in which section a generator failed.
func failure(section, generator string, err error) error {
	return fmt.Errorf("measure %s with %s: %w", section, generator, err)
}
