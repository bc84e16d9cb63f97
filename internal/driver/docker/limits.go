package docker

import (
	"math"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/container"

	"prony/internal/cgroup"
	"prony/internal/plan"
)

// Resources are limits as the engine takes them. Memory and swap together get
// the limit of memory, which leaves nothing for swap.
func Resources(l plan.Limits) container.Resources {
	var r container.Resources
	if l.CPUs > 0 {
		r.NanoCPUs = int64(math.Round(l.CPUs * 1e9))
	}
	if l.Memory > 0 {
		r.Memory, r.MemorySwap = l.Memory, l.Memory
	}
	if l.PIDs > 0 {
		n := int64(l.PIDs)
		r.PidsLimit = &n
	}
	cores := make([]string, len(l.Cores))
	for i, n := range l.Cores {
		cores[i] = strconv.Itoa(n)
	}
	r.CpusetCpus = strings.Join(cores, ",")
	return r
}

// limitsOf are the limits that the engine says a container has.
func limitsOf(r container.Resources) plan.Limits {
	l := plan.Limits{CPUs: float64(r.NanoCPUs) / 1e9, Memory: r.Memory, Cores: cgroup.Cores(r.CpusetCpus)}
	if r.NanoCPUs == 0 && r.CPUQuota > 0 && r.CPUPeriod > 0 {
		l.CPUs = float64(r.CPUQuota) / float64(r.CPUPeriod)
	}
	if r.PidsLimit != nil && *r.PidsLimit > 0 {
		l.PIDs = int(*r.PidsLimit)
	}
	return l
}

// corrected takes the kernel's word for what was asked for, where there is one.
func corrected(engine, kernel, asked plan.Limits) plan.Limits {
	if asked.CPUs > 0 {
		engine.CPUs = kernel.CPUs
	}
	if asked.Memory > 0 {
		engine.Memory = kernel.Memory
	}
	if asked.PIDs > 0 {
		engine.PIDs = kernel.PIDs
	}
	if len(asked.Cores) > 0 {
		engine.Cores = kernel.Cores
	}
	return engine
}
