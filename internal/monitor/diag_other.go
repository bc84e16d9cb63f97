//go:build !linux

package monitor

import (
	"errors"

	"prony/internal/proc"
)

// diag is of Linux.
type diag struct{}

func openDiag() (*diag, error) { return nil, errors.ErrUnsupported }

func (d *diag) close() {}

func (d *diag) listeners(*proc.Listeners) error { return errors.ErrUnsupported }

func (d *diag) established() (map[int]int, error) { return nil, errors.ErrUnsupported }
