package engine

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// threadID is the kernel's number of the calling thread.
func threadID() int { return unix.Gettid() }

// keepTo binds the calling thread to some cores.
func keepTo(cores []int) error {
	var set unix.CPUSet
	for _, c := range cores {
		set.Set(c)
	}
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("bind a worker to the cores %v: %w", cores, err)
	}
	return nil
}
