package process

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"prony/internal/cgroup"
	"prony/internal/driver"
	"prony/internal/host"
	"prony/internal/plan"
)

// Bounds of waiting.
const (
	abandonPatience = 30 * time.Second
	countPatience   = 5 * time.Second // for the counters of a dead program
)

// instance is a program that runs, or has.
type instance struct {
	site   driver.Site
	url    string
	group  string
	place  host.Place
	log    *driver.Log
	undo   *driver.Undo
	cancel context.CancelCauseFunc
	ended  chan struct{} // closed when those below are set
	last   driver.Exit
	kills  int64 // by the memory limit, until the end
}

var errStop = errors.New("it was stopped")

// watch starts a command and waits for its end in the background. Its life is
// its own: the context bounds the start alone.
func (l *launch) watch(ctx context.Context, c *host.Cmd) (*instance, error) {
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	i := &instance{site: l.request.Site, url: l.setting.URL(), group: l.group, log: l.log, undo: l.undo, cancel: cancel, ended: make(chan struct{})}
	// Until it runs, an interrupt of the start ends it; afterwards Stop does.
	release := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	defer release()
	if err := c.Start(life); err != nil {
		cancel(err)
		return nil, err
	}
	i.place = host.Place{Host: l.request.Site.Host, PID: c.PID(), Cgroup: l.group}
	go func() {
		defer close(i.ended)
		defer cancel(nil)
		err := c.Wait()
		i.kills = i.count()
		i.last = verdict(err, i.kills)
	}()
	return i, nil
}

// enterFailed is the status of a command that could not join its group.
const enterFailed = 125

// verdict says how a program ended.
func verdict(err error, kills int64) driver.Exit {
	if err == nil {
		return driver.Exit{Reason: "exit status 0", Clean: true}
	}
	var e *host.Error
	if !errors.As(err, &e) {
		return driver.Exit{Reason: err.Error(), OOM: kills > 0}
	}
	var parts []string
	switch {
	case e.Exit.Signal != "":
		parts = append(parts, "ended by signal "+e.Exit.Signal)
	case e.Exit.Code == enterFailed:
		parts = append(parts, fmt.Sprintf("exit status %d (it may not have been let into its control group)", e.Exit.Code))
	case e.Exit.Code >= 0:
		parts = append(parts, fmt.Sprintf("exit status %d", e.Exit.Code))
	}
	if e.Err != nil && !errors.Is(e.Err, errStop) {
		parts = append(parts, e.Err.Error())
	}
	return driver.Exit{Reason: strings.Join(parts, ", "), OOM: kills > 0}
}

// count counts the kills of the memory limit; 0 if nobody can tell.
func (i *instance) count() int64 {
	if i.group == "" {
		return 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), countPatience)
	defer cancel()
	answer, err := ask(ctx, i.site, Order{Do: read, Name: i.group})
	if err != nil {
		return 0
	}
	return max(answer.Stat.OOMKills, 0)
}

func (i *instance) exit() driver.Exit { return i.last }

// oomKills counts now, or says what was counted at the end.
func (i *instance) oomKills(ctx context.Context) (int64, error) {
	select {
	case <-i.ended:
		return i.kills, nil
	default:
	}
	if i.group == "" {
		return -1, nil
	}
	answer, err := ask(ctx, i.site, Order{Do: read, Name: i.group})
	return answer.Stat.OOMKills, err
}

// usage reads the counters of the control group.
func (i *instance) usage(ctx context.Context) (cgroup.Stat, error) {
	answer, err := ask(ctx, i.site, Order{Do: read, Name: i.group})
	return answer.Stat, err
}

// limit changes the CPU limit.
func (i *instance) limit(ctx context.Context, cpus float64) (plan.Limits, error) {
	answer, err := ask(ctx, i.site, Order{Do: change, Name: i.group, Limits: cgroup.Limits{CPUs: cpus}})
	return planLimits(answer.Limits), err
}

func (i *instance) Endpoint() string  { return i.url }
func (i *instance) Place() host.Place { return i.place }
func (i *instance) Logs() *driver.Log { return i.log }

// Stop ends the program and takes back what its start did.
func (i *instance) Stop(ctx context.Context) error { return i.undo.Run(ctx) }

// end asks the group to end, and kills it after its grace.
func (i *instance) end(ctx context.Context) error {
	i.cancel(errStop)
	select {
	case <-i.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
