package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// profileRow says where one generator's processor time goes, in shares.
type profileRow struct {
	Generator string             `json:"generator"`
	Samples   int                `json:"samples"`
	Shares    map[string]float64 `json:"shares"`
	Error     string             `json:"error,omitempty"`
}

// part is a place where time goes, told by a function anywhere on the stack.
// The first that fits counts: a send that delivers to the peer on loopback has
// both on its stack, and the delivery is not the generator's own work.
type part struct {
	name  string
	marks []string
}

func parts() []part {
	return []part{
		{"kernel: delivery on loopback (softirq)", []string{"net_rx_action", "__napi_poll", "process_backlog", "tcp_v4_rcv", "do_softirq"}},
		{"kernel: interrupts and timers", []string{"sysvec_", "asm_sysvec", "hrtimer_interrupt"}},
		{"kernel: send path", []string{"tcp_sendmsg", "io_send", "__sys_sendto", "ksys_write", "vfs_write"}},
		{"kernel: receive path", []string{"tcp_recvmsg", "io_recv", "__sys_recvfrom", "ksys_read", "vfs_read"}},
		{"kernel: io_uring", []string{"io_uring", "io_submit", "io_issue", "io_run_", "io_cqring", "io_req", "io_poll", "tctx_task_work"}},
		{"kernel: epoll", []string{"ep_poll", "epoll"}},
		{"kernel: system call entry and the rest", []string{"entry_SYSCALL", "do_syscall", "[k]"}},
		{"program: parser", []string{"httpwire", "http_parser"}},
		{"program: histogram and statistics", []string{"internal/hdr", "stats_record"}},
		{"program: Go runtime", []string{"runtime."}},
		{"program: the rest", []string{""}},
	}
}

// tcp is the share of what every generator pays for a request and its answer on
// loopback, whatever it is written in.
func (p profileRow) tcp() float64 {
	share := 0.0
	for _, part := range parts()[:4] {
		share += p.Shares[part.name]
	}
	return share
}

// requestUS is the processor time of a request in microseconds where the profile
// was taken, by the runs without sampling; 0 if there are none.
func (r *report) requestUS(generator string) float64 {
	var all []float64
	for _, c := range r.Throughput {
		for _, e := range c.Entries {
			if c.Name != "throughput/fast/c=64" || e.Generator != generator {
				continue
			}
			for _, run := range e.Runs {
				all = append(all, 1e6/run.perCPUSecond())
			}
		}
	}
	return spreadOf(all).Median
}

// profile samples where the time goes while the generator is the limit.
func (b *bench) profile(ctx context.Context) error {
	const name = "profile"
	if !b.wanted(name) || b.tools.path("perf") == "" || b.quick {
		return nil
	}
	target, err := b.fast()
	if err != nil {
		return err
	}
	defer target.close()
	for _, g := range b.pick(wrk, uring, epoll) {
		row, err := b.sampleOne(ctx, g, load{url: target.url, connections: callClients, duration: b.duration})
		if err != nil {
			row.Error = err.Error()
		}
		b.say("%-24s    %-30s %d samples %s", name, g.name, row.Samples, row.Error)
		b.report.Profile = append(b.report.Profile, row)
	}
	return ctx.Err()
}

func (b *bench) sampleOne(ctx context.Context, g generator, l load) (profileRow, error) {
	row := profileRow{Generator: g.name}
	perf, file := b.tools.path("perf"), filepath.Join(b.dir, "perf.data")
	under := []string{perf, "record", "-q", "-e", "cpu-clock", "-F", "1999", "-g", "-o", file, "--"}
	if _, err := b.runOne(ctx, g, l, observe{under: under}); err != nil {
		return row, err
	}
	o, err := execute(ctx, 2*time.Minute, false, nil, []string{perf, "script", "-i", file, "-F", "ip,sym,dso"})
	if err = errors.Join(err, o.failed); err != nil {
		return row, g.named(fmt.Errorf("read profile: %w", err))
	}
	row.Shares, row.Samples = classify(o.stdout)
	if row.Samples == 0 {
		return row, g.named(errors.New("perf took no samples"))
	}
	return row, nil
}

// classify counts the stacks of perf script by part. Stacks are groups of
// lines, leaf first, with an empty line between them.
func classify(text []byte) (shares map[string]float64, stacks int) {
	shares = map[string]float64{}
	var stack []string
	flush := func() {
		if len(stack) > 0 {
			shares[partOf(stack)]++
			stacks++
		}
		stack = stack[:0]
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" {
			stack = append(stack, strings.ReplaceAll(line, "[kernel.kallsyms]", "[k]"))
		} else {
			flush()
		}
	}
	flush()
	for name := range shares {
		shares[name] /= float64(stacks)
	}
	return shares, stacks
}

// partOf returns the part of a stack. A program's part is told by its leaf
// alone: everything is called by the runtime or the engine. A stack whose leaf
// is the kernel's is never the program's.
func partOf(stack []string) string {
	kernel := strings.Contains(stack[0], "[k]")
	for _, p := range parts() {
		if kernel != strings.HasPrefix(p.name, "kernel") {
			continue
		}
		frames := stack
		if !kernel {
			frames = stack[:1]
		}
		for _, frame := range frames {
			if hasMark(frame, p.marks) {
				return p.name
			}
		}
	}
	return "program: the rest"
}

func hasMark(frame string, marks []string) bool {
	for _, mark := range marks {
		if strings.Contains(frame, mark) {
			return true
		}
	}
	return false
}
