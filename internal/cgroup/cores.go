package cgroup

import (
	"slices"
	"strconv"
	"strings"
)

// coresMax bounds a list that the kernel writes.
const coresMax = 1 << 16

// Cores reads a list of cores as the kernel writes it, "0-3,8", in ascending
// order; what is no number is left out.
func Cores(list string) []int {
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
