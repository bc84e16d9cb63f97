package cgroup_test

import (
	"slices"
	"testing"

	"prony/internal/cgroup"
)

func TestCores(t *testing.T) {
	for list, want := range map[string][]int{"": nil, "0": {0}, "0-2,5\n": {0, 1, 2, 5}, "3,1-3": {1, 2, 3}, "x,1-": nil, "5-3": nil} {
		if got := cgroup.Cores(list); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", list, got, want)
		}
	}
}

func FuzzCores(f *testing.F) {
	f.Add("0-3,8")
	f.Fuzz(func(t *testing.T, list string) {
		if got := cgroup.Cores(list); !slices.IsSorted(got) {
			t.Errorf("got %v", got)
		}
	})
}
