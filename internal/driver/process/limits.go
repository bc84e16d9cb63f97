package process

import (
	"slices"
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
	return plan.Limits{CPUs: l.CPUs, Memory: l.Memory, Cores: cores(l.CPUSet), PIDs: l.Pids}
}

// coresMax bounds a list that the kernel writes.
const coresMax = 1 << 16

// cores lists "0-3,8"; what is no number is left out.
func cores(list string) []int {
	var all []int
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		low, err := strconv.Atoi(from)
		high, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || low < 0 {
			continue
		}
		for n := low; n <= high && n < coresMax; n++ {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// unlimited reports whether nothing was asked for.
func unlimited(l plan.Limits) bool {
	return l.CPUs == 0 && len(l.Cores) == 0 && l.Memory == 0 && l.PIDs == 0
}
