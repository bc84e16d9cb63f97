package main

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"prony/internal/cgroup"
	"prony/internal/plan"
	"prony/internal/proc"
)

// planFacts is what a plan depends on of this machine, and of the sites that are
// open; nil is none. What cannot be read stays unknown.
func planFacts(ctx context.Context, s *sites) plan.Facts {
	f := plan.Facts{CPUs: usableCPUs(), Sockets: usableSockets()}
	if m, err := (proc.FS{}).Memory(); err == nil {
		f.Memory = m.Total
	}
	if g, err := cgroup.Self(""); err == nil {
		if cores, ok := g.CPUQuota(); ok && !math.IsInf(cores, 0) {
			f.Quota = cores
		}
		if most, ok := g.MemoryLimit(); ok && most > 0 && most < f.Memory {
			f.Memory = most
		}
	}
	if s != nil {
		f.Hosts = s.machines(ctx)
	}
	return f
}

// usableSockets are what the system grants to the connections of one process.
func usableSockets() (s plan.Sockets) {
	if _, hard, ok := openFileLimits(); ok && hard <= math.MaxInt32 {
		s.Files = int(hard)
	}
	var fs proc.FS
	if low, high, err := fs.PortRange(); err == nil && high >= low {
		s.Ports = int(high - low + 1)
	}
	if text, err := fs.Sysctl("net.ipv4.tcp_tw_reuse"); err == nil {
		s.Reuse, _ = strconv.Atoi(text) // 0 where it is no number
	}
	return s
}

// machines asks each host what it has. A host that cannot be asked is left out:
// the plan says that it is not known.
func (s *sites) machines(ctx context.Context) map[string]plan.Machine {
	all := map[string]plan.Machine{}
	for name, site := range s.all {
		if name == "" {
			continue
		}
		if f, err := site.Host.Facts(ctx); err == nil {
			all[name] = plan.Machine{CPUs: f.CPUs, Memory: f.Memory}
		}
	}
	return all
}

// tellFit says how the experiment was made to fit, before anything begins.
func tellFit(p *plan.Experiment, std streams) {
	for _, text := range p.Fit().Lines() {
		fmt.Fprintf(std.err, "prony: scale auto: %s\n", text)
	}
}
