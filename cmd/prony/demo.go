package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prony/internal/analyse"
	"prony/internal/plan"
	"prony/internal/report"
	"prony/internal/schedule"
)

const demoLong = `Start the embedded target in a process of its own and load it twice, nothing
installed: first as fast as 64 connections go (closed model), then at a tenth
of that rate (open model), where latency is what independent users would see.`

func demoCommand(std streams) *cobra.Command {
	var seconds float64
	cmd := &cobra.Command{Use: "demo", Short: "See it work: load an embedded target", Long: demoLong, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runDemo(cmd.Context(), time.Duration(seconds*float64(time.Second)), std)
		}}
	cmd.Flags().Float64Var(&seconds, "seconds", 5, "length of each of the two loads")
	return cmd
}

func runDemo(ctx context.Context, d time.Duration, std streams) error {
	target, err := startTarget(context.WithoutCancel(ctx), "--fast", "--addr", "127.0.0.1:0")
	if err != nil {
		return &exitError{exitEnvironment, err}
	}
	defer target.stop()
	request := []plan.Request{{Method: "GET", URL: target.url + "/", Weight: 1}}
	closed := plan.Load{Requests: request, Connections: 64, Duration: d, Warmup: time.Second, Seed: 1}
	fmt.Fprintf(std.out, "\nprony load %s/ -c 64 -d %v -w 1s\n", target.url, d)
	rate, err := demoLoad(ctx, closed, std)
	if err != nil {
		return err
	}
	arrivals := schedule.Rate(max(float64(int64(rate/10)), 1))
	arrivals.Process = schedule.Poisson
	open := plan.Load{Requests: request, Arrivals: arrivals, Duration: d, Warmup: time.Second, Seed: 1}
	fmt.Fprintf(std.out, "\nprony load %s/ -r %d/s -d %v -w 1s\n", target.url, int64(rate/10), d)
	_, err = demoLoad(ctx, open, std)
	return err
}

func demoLoad(ctx context.Context, l plan.Load, std streams) (rate float64, err error) {
	p := plan.Plan{Name: "demo", Seed: 1, Load: l.WithDefaults(facts(l))}
	d := driver{kind: "load", std: std, progress: newProgress(std.err, false)}
	run, err := d.drive(ctx, p)
	if err != nil {
		return 0, err
	}
	if err := report.Text(std.out, run, analyse.Suggestions(run), style(std.out)); err != nil {
		return 0, &exitError{exitEnvironment, err}
	}
	if run.Load.EndedBy == "interrupt" {
		return 0, &exitError{code: exitInterrupted}
	}
	return run.Load.Rate, nil // a busy machine's verdict is what the demo shows, not its failure
}

// child is a target in a process of its own.
type child struct {
	cmd *exec.Cmd
	url string
}

// startTarget runs this binary as "prony target" and waits until it listens.
func startTarget(ctx context.Context, args ...string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find own binary: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, append([]string{"target"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 2 * time.Second
	dieWithParent(cmd)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start target: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start target: %w", err)
	}
	c := &child{cmd: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if err != nil || !ok {
		c.stop()
		return nil, errors.Join(fmt.Errorf("start target: it said %q", line), err)
	}
	c.url = strings.TrimSuffix(url, "/")
	return c, nil
}

func (c *child) stop() {
	_ = c.cmd.Process.Signal(os.Interrupt)
	_ = c.cmd.Wait()
}
