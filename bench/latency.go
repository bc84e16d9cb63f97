package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Known delay of the latency section.
const (
	holdTime    = time.Millisecond
	holdClients = 16
)

// holdCommand makes this program the server of the latency section.
const holdCommand = "serve-hold"

// latency loads a server that holds every request for exactly a millisecond
// and knows by how much it did not. What a generator prints beyond that is the
// path, which is the same for all, and the generator's own error.
func (b *bench) latency(ctx context.Context) error {
	const name = "latency"
	if !b.wanted(name) {
		return nil
	}
	all := b.pick(wrk, uring, epoll, epollRecv)
	c := comparison{Name: name, Server: fmt.Sprintf("fast responder that holds each request for %v, spinning", holdTime), Connections: holdClients}
	excess := make([]map[string][]float64, len(all))
	l := load{url: "http://127.0.0.1:PORT/", connections: holdClients, duration: b.duration}
	for i, g := range all {
		c.Entries = append(c.Entries, &entry{Generator: g.name, Command: b.shown(g, l)})
		excess[i] = map[string][]float64{}
	}
	for round := range b.rounds {
		for _, i := range order(len(all), round) {
			s, held, err := b.holdOne(ctx, all[i], l)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			b.record(name, c.Entries[i], round, s, err)
			for q, us := range held {
				if printed, ok := s.LatencyUS[q]; ok {
					excess[i][q] = append(excess[i][q], printed-us)
				}
			}
		}
	}
	for i, e := range c.Entries {
		e.Excess = map[string]spread{}
		for q, values := range excess[i] {
			e.Excess[q] = spreadOf(values)
		}
	}
	compare(c.Entries)
	b.report.Latency = &c
	return nil
}

// holdOne runs a generator against a server of its own and returns the
// server's distribution with the run.
func (b *bench) holdOne(ctx context.Context, g generator, l load) (sample, map[string]float64, error) {
	path, err := self()
	if err != nil {
		return sample{}, nil, err
	}
	server, err := b.announced("held responder", path, holdCommand, holdTime.String())
	if err != nil {
		return sample{}, nil, err
	}
	l.url = server.url
	s, err := b.runOne(ctx, g, l, observe{})
	text, stopped := server.stop()
	switch {
	case err != nil:
		return sample{}, nil, err
	case stopped != nil:
		return sample{}, nil, stopped
	}
	var held map[string]float64
	if err := json.Unmarshal(text, &held); err != nil {
		return sample{}, nil, fmt.Errorf("read the server's own times: %w", err)
	}
	return s, held, nil
}

// heldUS is the server's own distribution, in microseconds by quantile.
func heldUS(sorted []time.Duration) map[string]float64 {
	all := map[string]float64{}
	for name, q := range map[string]float64{"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "max": 1} {
		if len(sorted) > 0 {
			all[name] = float64(sorted[nearestRank(len(sorted), q)]) / float64(time.Microsecond)
		}
	}
	return all
}

// nearestRank is the index of a quantile among n ascending values.
func nearestRank(n int, q float64) int {
	const rounding = 1e-9 // 0.99 of 100 is a little more than 99
	return min(n-1, max(0, int(math.Ceil(q*float64(n)-rounding))-1))
}
