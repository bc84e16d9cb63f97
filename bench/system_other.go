//go:build !linux || !(amd64 || arm64)

package main

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"time"
)

var errNeedsLinux = errors.New("needs Linux on amd64 or arm64")

// dieWithParent has no means here.
func dieWithParent(*exec.Cmd) {}

// raiseFiles cannot be done here.
func raiseFiles(int) (int, error) { return 0, errNeedsLinux }

// callCost is not measured here.
func callCost() time.Duration { return 0 }

// serveHold cannot be done here: the responder needs Linux.
func serveHold(context.Context, []string, io.Writer) error { return errNeedsLinux }
