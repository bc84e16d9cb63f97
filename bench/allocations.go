package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// allocationRow counts the calls of the Go allocator in two runs of one
// length, one as fast as it goes and one with few requests. What both have is
// start-up and bookkeeping by the second; the difference belongs to requests.
type allocationRow struct {
	Generator    string `json:"generator"`
	Requests     int64  `json:"requests"`
	Mallocs      int64  `json:"mallocs"`
	IdleRequests int64  `json:"idle_requests"`
	IdleMallocs  int64  `json:"idle_mallocs"`
	Error        string `json:"error,omitempty"`
}

// perRequest is the number of allocations a request causes.
func (r allocationRow) perRequest() float64 {
	return float64(r.Mallocs-r.IdleMallocs) / float64(max(1, r.Requests-r.IdleRequests))
}

// mallocProbe is the name of the probe on the allocator's entry.
const mallocProbe = "prony_malloc"

// idleThink keeps a run nearly idle.
const idleThink = " --think 250ms"

// allocations counts with a probe on runtime.mallocgc, through which every
// allocation on the heap goes. It needs perf and the right to set probes.
func (b *bench) allocations(ctx context.Context) error {
	const name = "allocations"
	perf := b.tools.path("perf")
	if !b.wanted(name) || perf == "" {
		return nil
	}
	if err := b.probe(ctx, "-x", b.tools.path("prony"), mallocProbe+"=runtime.mallocgc"); err != nil {
		b.skip(name, err)
		return nil
	}
	defer func() {
		if err := b.probe(context.WithoutCancel(ctx), "-d", mallocProbe); err != nil {
			b.skip("removing the probe "+mallocProbe, err)
		}
	}()
	target, err := b.fast()
	if err != nil {
		return err
	}
	defer target.close()
	for _, g := range b.pick(uring, epoll) {
		row := allocationRow{Generator: g.name}
		if err := b.countMallocs(ctx, g, load{url: target.url, connections: callClients, duration: b.duration}, &row); err != nil {
			row.Error = err.Error()
		}
		b.say("%-24s    %-30s %.4f a request %s", name, g.name, row.perRequest(), row.Error)
		b.report.Allocations = append(b.report.Allocations, row)
	}
	return ctx.Err()
}

// probe sets or removes a probe.
func (b *bench) probe(ctx context.Context, args ...string) error {
	o, err := execute(ctx, time.Minute, false, nil, append([]string{b.tools.path("perf"), "probe", "-q"}, args...))
	if err = errors.Join(err, o.failed); err != nil {
		return fmt.Errorf("set probe: %w", err)
	}
	return nil
}

func (b *bench) countMallocs(ctx context.Context, g generator, l load, row *allocationRow) error {
	var err error
	if row.Requests, row.Mallocs, err = b.mallocs(ctx, g, l); err != nil {
		return err
	}
	g.closed += idleThink
	row.IdleRequests, row.IdleMallocs, err = b.mallocs(ctx, g, l)
	return err
}

// mallocs runs a generator and returns its requests and allocations.
func (b *bench) mallocs(ctx context.Context, g generator, l load) (requests, mallocs int64, err error) {
	file := filepath.Join(b.dir, "mallocs.txt")
	under := []string{b.tools.path("perf"), "stat", "-x", ",", "-o", file, "-e", "probe_prony:" + mallocProbe, "--"}
	s, err := b.runOne(ctx, g, l, observe{under: under})
	if err != nil {
		return 0, 0, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, 0, g.named(err)
	}
	n, ok := perfStat(text, "probe_prony:"+mallocProbe)
	if !ok {
		return 0, 0, g.named(errors.New("perf did not count the probe"))
	}
	return s.Requests, n, nil
}

// perfStat reads one event's count from perf stat -x ,.
func perfStat(text []byte, event string) (int64, bool) {
	m := regexp.MustCompile(`(?m)^(\d+),[^,]*,` + regexp.QuoteMeta(event) + `,`).FindSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(string(m[1]), 10, 64)
	return n, err == nil
}
