package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prony/internal/host"
	"prony/internal/monitor"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/topology"
)

// observeName is the hidden command that watches another host from there.
const observeName = "observe"

func observeCommand(std streams) *cobra.Command {
	return &cobra.Command{Use: observeName, Hidden: true, Args: cobra.NoArgs, Short: "Watch this host for a run on another one",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := monitor.Serve(cmd.Context(), std.in, std.out); err != nil {
				return &exitError{exitEnvironment, err}
			}
			return nil
		}}
}

// watchers watch all machines of a run.
type watchers struct {
	all  []*monitor.Watcher
	seen []monitor.Recording
}

// watchHere watches this machine alone; nobody where that is not possible.
func watchHere(ctx context.Context) *watchers {
	w, err := monitor.Watch(ctx, monitor.Request{})
	if err != nil {
		return nil
	}
	return &watchers{all: []*monitor.Watcher{w}}
}

// watch begins to watch every machine of the sites, and the instances on them.
func (s *sites) watch(ctx context.Context, places []topology.Place, status func(plan.Service) (path string, ok bool)) (*watchers, error) {
	w := &watchers{}
	for name := range s.all {
		r := monitor.Request{Host: name}
		for _, p := range places {
			if p.Service.Host == name {
				r.Services = append(r.Services, targetOf(p, status))
			}
		}
		one, err := s.watchOne(ctx, name, r)
		if errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		if err != nil {
			w.Stop()
			return nil, fmt.Errorf("watch host %q: %w", name, err)
		}
		w.all = append(w.all, one)
	}
	return w, nil
}

// targetOf is an instance as the monitor wants it.
func targetOf(p topology.Place, status func(plan.Service) (string, bool)) monitor.Target {
	t := monitor.Target{Name: p.Service.Name, Instance: p.Instance, Cgroup: p.Place.Cgroup, Container: p.Place.Container}
	if p.Place.PID > 0 {
		t.PIDs = []int{p.Place.PID}
	}
	for _, where := range p.Service.Metrics {
		if strings.HasPrefix(where, "/") {
			where = p.Endpoint + where
		}
		t.Metrics = append(t.Metrics, where)
	}
	t.ThreadDumps = p.Service.ThreadDumps
	if path, ok := status(p.Service); ok {
		t.Stats = []string{p.Endpoint + path}
	}
	return t
}

func (s *sites) watchOne(ctx context.Context, name string, r monitor.Request) (*monitor.Watcher, error) {
	site := s.all[name]
	if site.Here() {
		return monitor.Watch(ctx, r)
	}
	if len(site.Self) == 0 {
		return monitor.WatchFiles(ctx, r, remoteFiles{site.Host})
	}
	far, err := startFar(ctx, site.Host, site.Self[0])
	if err != nil {
		return nil, err
	}
	return monitor.Follow(ctx, far, r)
}

// far is a program on another host, as a stream in both directions.
type far struct {
	io.Reader
	io.WriteCloser
	cmd   *host.Cmd
	ended context.CancelFunc
}

func startFar(ctx context.Context, h host.Host, program string) (*far, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	in, toFar := io.Pipe()
	fromFar, out := io.Pipe()
	c := h.Command(program, observeName)
	c.Stdin, c.Stdout = in, out
	if err := c.Start(ctx); err != nil {
		cancel()
		return nil, err
	}
	go func() {
		err := c.Wait()
		_ = out.CloseWithError(errors.Join(err, io.EOF))
	}()
	return &far{fromFar, toFar, c, cancel}, nil
}

// Close ends the program: its input ends, and if that does not move it, it is
// stopped.
func (f *far) Close() error {
	err := f.WriteCloser.Close()
	stopped := time.AfterFunc(farPatience, f.ended)
	go func() {
		_ = f.cmd.Wait()
		stopped.Stop()
		f.ended()
	}()
	return err
}

// farPatience is how long a watching program has to end by itself.
const farPatience = 5 * time.Second

// remoteFiles reads the files of a host on which our program does not run.
type remoteFiles struct{ host host.Host }

func (f remoteFiles) ReadFile(_ context.Context, name string) ([]byte, error) {
	return f.host.FS().ReadFile(name)
}

// Stop ends the watching.
func (w *watchers) Stop() {
	if w.seen != nil {
		return
	}
	w.seen = []monitor.Recording{}
	for _, one := range w.all {
		w.seen = append(w.seen, one.Stop())
	}
}

// Into puts what was seen in the warm-up and the window of a run into it.
func (w *watchers) Into(run *result.Run) {
	if c, err := calibrated(); err == nil { // one that cannot be read is none
		run.Observed = append(run.Observed, c.observed(run)...)
	}
	start := time.UnixMicro(run.Load.StartedUS)
	warmup := time.Duration(run.Load.WarmupUS * float64(time.Microsecond))
	length := time.Duration(run.Load.DurationUS * float64(time.Microsecond))
	for _, r := range w.seen {
		cut := r.Cut(start, warmup, length)
		run.Observed = append(run.Observed, cut...)
		for _, o := range cut {
			if o.Kind != result.OfHost {
				continue
			}
			if cost := o.Window(monitor.WatchCores, run.Load.DurationUS).Mean(); !math.IsNaN(cost) {
				run.WatchCores = max(run.WatchCores, cost)
			}
			if o.Name != "" {
				run.Hosts = withHost(run.Hosts, o.Name, r.Environment)
			}
		}
	}
}

func withHost(all map[string]result.Environment, name string, e result.Environment) map[string]result.Environment {
	if all == nil {
		all = map[string]result.Environment{}
	}
	all[name] = e
	return all
}

// live is the last sample of everything.
func (w *watchers) live() []result.Observed {
	var all []result.Observed
	for _, one := range w.all {
		all = append(all, one.Live()...)
	}
	return all
}
