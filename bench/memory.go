package main

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// memorySection is the peak memory of generators at one number of connections.
type memorySection struct {
	Connections int         `json:"connections"`
	Asked       int         `json:"connections_intended"` // before the file limit
	Processes   int         `json:"processes,omitempty"`  // that share them
	Rows        []memoryRow `json:"rows"`
}

// memoryRow is one generator.
type memoryRow struct {
	Generator string  `json:"generator"`
	Command   string  `json:"command"`
	Run       *sample `json:"run,omitempty"`
	Error     string  `json:"error,omitempty"`
}

func (m *memorySection) find(generator string) *sample {
	for _, r := range m.Rows {
		if r.Generator == generator {
			return r.Run
		}
	}
	return nil
}

// spareFiles are descriptors that a process needs beside its connections.
const spareFiles = 200

// memory reads the high-water marks at 10,000 connections.
func (b *bench) memory(ctx context.Context) error {
	if !b.wanted("memory") {
		return nil
	}
	want, all := 10_000, modern(b.available())
	if b.quick {
		want, all = 1000, b.pick(wrk, uring, epoll)
	}
	m, err := b.weigh(ctx, "memory", want, all, load{duration: b.duration})
	b.report.Memory = m
	return err
}

// manyConnections opens 50,000 connections over several loopback addresses: one
// has 28,000 ports in its usual range. Where a process may not have so many
// files, several processes share them, each with a server of its own.
func (b *bench) manyConnections(ctx context.Context) error {
	if !b.wanted("connections") || b.quick {
		return nil
	}
	const want = 50_000
	m := &memorySection{Asked: want, Connections: want, Processes: 1}
	if room := b.files - spareFiles; b.files > 0 && room < want {
		m.Processes = (want + room - 1) / room
	}
	for _, g := range b.pick(uring, epoll) {
		row := b.weighTogether(ctx, g, m)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		b.say("%-24s    %-30s %s", "connections", g.name, row.Error)
		m.Rows = append(m.Rows, row)
	}
	b.report.Many = m
	return nil
}

// weighTogether runs a generator's processes at once and adds up what they say;
// the memory is that of the largest.
func (b *bench) weighTogether(ctx context.Context, g generator, m *memorySection) memoryRow {
	rows := make([]memoryRow, m.Processes)
	var wg sync.WaitGroup
	for i := range rows {
		l := load{duration: max(10*time.Second, b.duration), connections: m.Connections / m.Processes}
		if i < m.Connections%m.Processes {
			l.connections++
		}
		for k := range 3 {
			l.sources = append(l.sources, fmt.Sprintf("127.0.0.%d", 2+3*i+k))
		}
		wg.Go(func() { rows[i] = b.weighOne(ctx, g, l) })
	}
	wg.Wait()
	sum := rows[0]
	for _, r := range rows[1:] {
		if r.Run == nil || sum.Run == nil {
			return memoryRow{Generator: g.name, Command: sum.Command, Error: sum.Error + r.Error}
		}
		sum.Run.Opened += r.Run.Opened
		sum.Run.Requests += r.Run.Requests
		sum.Run.Errors += r.Run.Errors
		sum.Run.Peak = max(sum.Run.Peak, r.Run.Peak)
	}
	return sum
}

// weigh runs each generator once against a responder of its own, whose
// connections are then all its own too.
func (b *bench) weigh(ctx context.Context, name string, want int, all []generator, l load) (*memorySection, error) {
	m := &memorySection{Asked: want, Connections: want}
	if room := b.files - spareFiles; b.files > 0 && room < want {
		m.Connections = room
		b.skip(fmt.Sprintf("%s: %d of %d connections", name, want-room, want), fmt.Errorf("a process may have %d open files here", b.files))
	}
	l.connections = m.Connections
	for _, g := range all {
		row := b.weighOne(ctx, g, l)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.say("%-24s    %-30s %s", name, g.name, row.Error)
		m.Rows = append(m.Rows, row)
	}
	return m, nil
}

func (b *bench) weighOne(ctx context.Context, g generator, l load) memoryRow {
	l.url = "http://127.0.0.1:PORT/"
	row := memoryRow{Generator: g.name, Command: b.shown(g, l)}
	target, err := b.fast()
	if err != nil {
		row.Error = err.Error()
		return row
	}
	defer target.close()
	l.url = target.url
	s, err := b.runOne(ctx, g, l, observe{watch: true})
	if err != nil {
		row.Error = err.Error()
		return row
	}
	row.Run = &s
	return row
}
