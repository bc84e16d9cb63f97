package process

import (
	"strconv"
	"strings"

	"prony/internal/cgroup"
	"prony/internal/plan"
)

// groupLimits are a service's limits as a control group has them.
func groupLimits(l plan.Limits) cgroup.Limits {
	cores := make([]string, len(l.Cores))
	for i, n := range l.Cores {
		cores[i] = strconv.Itoa(n)
	}
	return cgroup.Limits{CPUs: l.CPUs, Memory: l.Memory, CPUSet: strings.Join(cores, ","), Pids: l.PIDs}
}

// planLimits are a control group's limits as a service has them.
func planLimits(l cgroup.Limits) plan.Limits {
	return plan.Limits{CPUs: l.CPUs, Memory: l.Memory, Cores: cgroup.Cores(l.CPUSet), PIDs: l.Pids}
}
