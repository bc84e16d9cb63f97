//go:build linux && (amd64 || arm64)

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"prony/internal/testserver"
)

// dieWithParent ends the child when this process dies, however it dies.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}

// raiseFiles raises the number of descriptors that this process and its
// children may have, and returns it. With an error it is below want.
func raiseFiles(want int) (int, error) {
	limit := syscall.Rlimit{Cur: uint64(want), Max: uint64(want)}
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		return want, nil
	}
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("read file limit: %w", err)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("raise file limit to %d: %w", limit.Max, err)
	}
	if limit.Max < uint64(want) {
		return int(limit.Max), fmt.Errorf("a process may have %d, more needs a higher hard limit (ulimit -Hn)", limit.Max)
	}
	return int(limit.Max), nil
}

// callCost is the time of one system call that does nothing.
func callCost() time.Duration {
	const calls = 200_000
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := time.Now()
	for range calls {
		_, _, _ = syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0)
	}
	return time.Since(start) / calls
}

// serveHold is the server of the latency section: it holds each request for
// the given time and, when it is interrupted, prints how long it really did.
func serveHold(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("start held server: %d arguments, want a duration", len(args))
	}
	hold, err := time.ParseDuration(args[0])
	if err != nil {
		return fmt.Errorf("start held server: %w", err)
	}
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))) // the thread keeps its processor
	r, err := testserver.StartResponder(testserver.ResponderConfig{Hold: hold})
	if err != nil {
		return fmt.Errorf("start held server: %w", err)
	}
	if _, err := fmt.Fprintf(stdout, "listening on %s\n", r.URL()); err != nil {
		return fmt.Errorf("start held server: %w", err)
	}
	<-ctx.Done()
	if err := r.Close(); err != nil {
		return fmt.Errorf("stop held server: %w", err)
	}
	return json.NewEncoder(stdout).Encode(heldUS(r.Held()))
}
