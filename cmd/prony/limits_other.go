//go:build !(linux || darwin)

package main

// raiseFileLimit has nothing to raise here.
func raiseFileLimit(int) {}

func openFileLimits() (soft, hard uint64, ok bool) { return 0, 0, false }
