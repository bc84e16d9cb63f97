//go:build !linux

package engine

import (
	"errors"
	"fmt"
)

func threadID() int { return 0 }

func keepTo(cores []int) error {
	return fmt.Errorf("bind a worker to the cores %v: %w", cores, errors.ErrUnsupported)
}
