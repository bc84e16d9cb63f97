//go:build !darwin

package monitor

import "prony/internal/result"

// fillPlatform has nothing to add to the files of proc, or knows no way.
func fillPlatform(*result.Environment) {}
