package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// outcome is what a process printed and what it cost.
type outcome struct {
	stdout, stderr []byte
	user, sys      time.Duration // of the whole process, from wait4
	peak           int64         // largest resident set in bytes, if it was watched
	failed         error         // its exit status, if it was not 0
}

// rusage's ru_maxrss is of no use for the peak: a child made by vfork inherits
// the size of its parent through exec. VmHWM starts anew with the program; it
// is read while the process lives.
const watchEvery = 20 * time.Millisecond

// execute runs a command to its end. An error means that it could not be
// started or had to be killed; an exit status is in the outcome.
func execute(ctx context.Context, limit time.Duration, watch bool, env []string, argv []string) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.WaitDelay = 2 * time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = append(os.Environ(), env...)
	dieWithParent(cmd)
	if err := cmd.Start(); err != nil {
		return outcome{}, fmt.Errorf("start %s: %w", argv[0], err)
	}
	peak := make(chan int64, 1)
	done := make(chan struct{})
	if watch {
		go func() { peak <- watchPeak(cmd.Process.Pid, done) }()
	}
	err := cmd.Wait()
	close(done)
	o := outcome{stdout: stdout.Bytes(), stderr: stderr.Bytes(), user: cmd.ProcessState.UserTime(), sys: cmd.ProcessState.SystemTime()}
	if watch {
		o.peak = <-peak
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return o, fmt.Errorf("wait for %s: %w", argv[0], ctx.Err())
	case errors.As(err, &exit):
		o.failed = fmt.Errorf("%w: %s", err, lastLine(o.stderr))
	case err != nil:
		return o, fmt.Errorf("wait for %s: %w", argv[0], err)
	}
	return o, nil
}

// watchPeak reads the high-water mark of a process until done.
func watchPeak(pid int, done <-chan struct{}) int64 {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	var peak int64
	for {
		select {
		case <-done:
			return peak
		case <-tick.C:
			if text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status"); err == nil {
				// taskset's own mark comes first and is smaller.
				peak = max(peak, highWater(text))
			}
		}
	}
}

// highWater reads VmHWM, in bytes; 0 if there is none.
func highWater(status []byte) int64 {
	v, _ := field(status, `(?m)^VmHWM:\s+(\d+) kB$`)
	return int64(v) << 10
}

func lastLine(text []byte) string {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}

// sample is one run of one generator.
type sample struct {
	Round int `json:"round"`
	reading
	UserUS int64 `json:"user_us"`
	SysUS  int64 `json:"sys_us"`
	Peak   int64 `json:"peak_rss_bytes,omitempty"`
}

// perCPUSecond is requests per second of processor time.
func (s sample) perCPUSecond() float64 {
	return float64(s.Requests) / (float64(s.UserUS+s.SysUS) / 1e6)
}

// observe says how to run a generator.
type observe struct {
	watch bool     // its memory
	env   []string // in addition to ours
	under []string // a command that runs it, such as strace
}

// runOne runs a generator once, on its core, and reads what it says.
func (b *bench) runOne(ctx context.Context, g generator, l load, how observe) (sample, error) {
	if err := os.WriteFile(b.dir+"/targets.txt", []byte("GET "+l.url+"\n"), 0o600); err != nil {
		return sample{}, g.named(err)
	}
	argv := pinned(b.generatorCore, append(how.under, g.command(b.tools.path(g.program), b.dir, l)...))
	o, err := execute(ctx, 3*l.duration+90*time.Second, how.watch, how.env, argv)
	if err != nil {
		return sample{}, g.named(err)
	}
	text := o.stdout
	if g.after != "" && o.failed == nil {
		args := append([]string{b.tools.path(g.program)}, fill(g.after, b.dir, l)...)
		after, err := execute(ctx, time.Minute, false, nil, args)
		if err != nil {
			return sample{}, g.named(err)
		}
		text = after.stdout
	}
	// An exit status alone is no failure: prony's says that the result is
	// not valid, for example because the generator was the limit, as it is here.
	r, err := g.parse(text)
	if err != nil {
		return sample{}, g.named(errors.Join(err, o.failed))
	}
	return sample{reading: r, UserUS: o.user.Microseconds(), SysUS: o.sys.Microseconds(), Peak: o.peak}, nil
}
