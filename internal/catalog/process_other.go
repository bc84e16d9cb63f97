//go:build !unix

package catalog

import (
	"os/exec"
	"time"
)

// tidyEnd leaves the context to kill the command.
func tidyEnd(cmd *exec.Cmd) { cmd.WaitDelay = 5 * time.Second }

// tidyEndAll has no groups to end.
func tidyEndAll(*exec.Cmd) {}

// sweep has no groups to look into.
func sweep(*exec.Cmd) {}
