package driver

import (
	"errors"
	"fmt"
	"slices"

	"prony/internal/plan"
)

// Tolerances of a limit that is read back: kernels count in whole pages and
// whole microseconds of a period.
const (
	cpusSlack   = 0.001
	memorySlack = 64 << 10
)

var errIgnored = errors.New("the system did not take the limit")

// Took holds what a system says against what was asked.
func Took(asked, applied plan.Limits) error {
	var errs []error
	differ := func(what string, want, got any) {
		errs = append(errs, fmt.Errorf("%s: asked for %v, it says %v: %w", what, want, got, errIgnored))
	}
	if d := applied.CPUs - asked.CPUs; asked.CPUs > 0 && (d > cpusSlack || d < -cpusSlack) {
		differ("cpus", asked.CPUs, applied.CPUs)
	}
	if d := asked.Memory - applied.Memory; asked.Memory > 0 && (d < 0 || d > memorySlack || applied.Memory == 0) {
		differ("memory", asked.Memory, applied.Memory)
	}
	if asked.PIDs > 0 && asked.PIDs != applied.PIDs {
		differ("pids", asked.PIDs, applied.PIDs)
	}
	if len(asked.Cores) > 0 && !slices.Equal(distinct(asked.Cores), distinct(applied.Cores)) {
		differ("cpuset", asked.Cores, applied.Cores)
	}
	return errors.Join(errs...)
}

func distinct(cores []int) []int {
	sorted := slices.Clone(cores)
	slices.Sort(sorted)
	return slices.Compact(sorted)
}
