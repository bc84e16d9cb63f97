package main

import (
	"context"
	"errors"
	"slices"
)

// comparison is one server under one number of connections, loaded by several
// generators in alternation.
type comparison struct {
	Name        string   `json:"name"`
	Server      string   `json:"server"`
	TLS         bool     `json:"tls,omitempty"`
	Connections int      `json:"connections"`
	Entries     []*entry `json:"entries"`
}

// entry is one generator in a comparison.
type entry struct {
	Generator string   `json:"generator"`
	Command   string   `json:"command"`
	Runs      []sample `json:"runs"`
	// Efficiency is requests per CPU-second and Speed requests per second,
	// both divided by the reference's in the same round.
	Efficiency spread `json:"efficiency_to_wrk"`
	Speed      spread `json:"speed_to_wrk"`
	// Excess is, for a server of known delay, by how many microseconds the
	// quantiles printed exceed the server's own.
	Excess map[string]spread `json:"excess_us,omitempty"`
	Error  string            `json:"error,omitempty"`
}

// find returns a generator's entry, nil if it has none.
func (c comparison) find(generator string) *entry {
	for _, e := range c.Entries {
		if e.Generator == generator {
			return e
		}
	}
	return nil
}

// scenario is a comparison to be made.
type scenario struct {
	name        string
	tls         bool
	connections int
	generators  []generator
}

// throughput compares the generators on both servers.
func (b *bench) throughput(ctx context.Context) error {
	ours := b.pick(wrk, uring, epoll)
	everyone := slices.DeleteFunc(b.available(), func(g generator) bool { return g.name == epollRecv })
	fast := []scenario{
		{"throughput/fast/c=1", false, 1, ours}, {"throughput/fast/c=64", false, 64, modern(everyone)},
		{"throughput/fast/c=512", false, 512, modern(everyone)}, {"throughput/fast/c=4096", false, 4096, ours},
	}
	nginx := []scenario{
		{"throughput/nginx/c=1", false, 1, ours}, {"throughput/nginx/c=64", false, 64, everyone},
		{"throughput/nginx/c=512", false, 512, ours}, {"throughput/nginx/c=4096", false, 4096, ours},
		{"throughput/tls/c=64", true, 64, ours}, {"throughput/tls/c=512", true, 512, ours},
	}
	if b.quick {
		fast = fast[1:2]
		nginx = []scenario{{"throughput/nginx/c=64", false, 64, ours}, {"throughput/tls/c=64", true, 64, ours}}
	}
	if err := b.compareOn(ctx, fast, b.fast); err != nil {
		return err
	}
	if b.tools.path("nginx") == "" {
		return nil
	}
	return b.compareOn(ctx, nginx, func() (*server, error) { return b.nginx(ctx) })
}

// compareOn makes those comparisons that were asked for on one server.
func (b *bench) compareOn(ctx context.Context, all []scenario, start func() (*server, error)) error {
	all = slices.DeleteFunc(slices.Clone(all), func(s scenario) bool { return !b.wanted(s.name) })
	if len(all) == 0 {
		return nil
	}
	s, err := start()
	if err != nil {
		return err
	}
	defer s.close()
	for _, sc := range all {
		c := comparison{Name: sc.name, Server: s.name, TLS: sc.tls, Connections: sc.connections}
		url := s.url
		if sc.tls {
			url = s.tlsURL
		}
		c.Entries, err = b.alternate(ctx, sc.name, sc.generators, load{url: url, connections: sc.connections, duration: b.duration})
		if err != nil {
			return err
		}
		compare(c.Entries)
		b.report.Throughput = append(b.report.Throughput, c)
	}
	return nil
}

// alternate runs each generator once a round, in an order that is reversed
// from round to round, so that a drift of the machine favours none.
func (b *bench) alternate(ctx context.Context, name string, all []generator, l load) ([]*entry, error) {
	entries := make([]*entry, len(all))
	for i, g := range all {
		entries[i] = &entry{Generator: g.name, Command: b.shown(g, l)}
	}
	for round := range b.rounds {
		for _, i := range order(len(all), round) {
			s, err := b.runOne(ctx, all[i], l, observe{})
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			b.record(name, entries[i], round, s, err)
		}
	}
	return entries, nil
}

// order is the order of n generators in a round.
func order(n, round int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
		if round%2 == 1 {
			all[i] = n - 1 - i
		}
	}
	return all
}

// record keeps a run, or why there is none.
func (b *bench) record(section string, e *entry, round int, s sample, err error) {
	if err == nil && s.UserUS+s.SysUS == 0 {
		err = errors.New("the kernel charged it no processor time")
	}
	if err != nil {
		e.Error = err.Error()
		b.say("%-24s %d  %v", section, round+1, err)
		return
	}
	s.Round = round
	e.Runs = append(e.Runs, s)
	b.say("%-24s %d  %-30s %9.0f requests/s  %9.0f per CPU-second", section, round+1, e.Generator, s.Rate, s.perCPUSecond())
}

// compare takes every entry's ratios to the reference.
func compare(entries []*entry) {
	base := comparison{Entries: entries}.find(reference)
	if base == nil {
		return
	}
	for _, e := range entries {
		e.Efficiency = spreadOf(perRound(e.Runs, base.Runs, sample.perCPUSecond))
		e.Speed = spreadOf(perRound(e.Runs, base.Runs, func(s sample) float64 { return s.Rate }))
	}
}

// shown is a generator's command, pinning included, for the page.
func (b *bench) shown(g generator, l load) string {
	return shown(pinned(b.generatorCore, g.command(b.tools.path(g.program), b.dir, l)))
}

// micros are microseconds of processor time a request.
func micros(total func(sample) int64) func(sample) float64 {
	return func(s sample) float64 { return float64(total(s)) / float64(max(1, s.Requests)) }
}

// userUS and sysUS are the two parts of the processor time of a request.
func userUS(s sample) float64 { return micros(func(s sample) int64 { return s.UserUS })(s) }
func sysUS(s sample) float64  { return micros(func(s sample) int64 { return s.SysUS })(s) }
