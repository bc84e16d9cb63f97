//go:build !linux

package main

import "os/exec"

// dieWithParent has no means here; the child ends on the demo's signal.
func dieWithParent(*exec.Cmd) {}
