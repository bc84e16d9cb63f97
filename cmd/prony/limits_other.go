//go:build !(linux || darwin)

package main

// raiseFileLimit has nothing to raise here.
func raiseFileLimit(int) {}
