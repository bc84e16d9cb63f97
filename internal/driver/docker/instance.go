package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"prony/internal/driver"
	"prony/internal/host"
	"prony/internal/plan"
)

// Bounds of waiting.
const (
	graceDefault = 5 * time.Second
	logPatience  = 2 * time.Second        // for the last output of a dead container
	oomPatience  = 500 * time.Millisecond // for the engine to notice why it died
	oomPause     = 10 * time.Millisecond
	lookPatience = 10 * time.Second // for the state of a dead container
	waitPause    = 100 * time.Millisecond
)

// instance is a container that runs, or has.
type instance struct {
	engine *engine
	id     string
	url    string
	place  host.Place
	group  *group // nil if it cannot be read
	log    *driver.Log
	undo   *driver.Undo
	grace  time.Duration
	signal string // that asks it to end
	memory bool   // it has a limit of memory

	cancel   context.CancelFunc // of what watches it
	watchers sync.WaitGroup
	copied   chan struct{} // closed when its output has ended
	stopping atomic.Bool
	ooms     atomic.Int64 // kills by the memory limit that were heard of

	ended chan struct{} // closed when last is set
	last  driver.Exit
}

// watch starts a container, with everything that listens to it in place before.
// Its life is its own: the context bounds the start alone.
func watch(ctx context.Context, e *engine, c Created, log *driver.Log) (*instance, error) {
	found, err := e.api.ContainerInspect(ctx, c.ID, client.ContainerInspectOptions{})
	if err != nil {
		return nil, fmt.Errorf("look at the container: %w", err)
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	i := &instance{engine: e, id: c.ID, url: c.Endpoint, log: log, undo: c.Undo, grace: c.Request.Grace, cancel: cancel,
		place:  host.Place{Host: c.Request.Site.Host, Container: c.ID},
		memory: c.Request.Service.Limits.Memory > 0, copied: make(chan struct{}), ended: make(chan struct{})}
	if i.grace <= 0 {
		i.grace = graceDefault
	}
	tty := false
	if found.Container.Config != nil {
		i.signal, tty = found.Container.Config.StopSignal, found.Container.Config.Tty
	}
	if i.signal == "" {
		i.signal = "SIGTERM"
	}
	if err := i.listen(ctx, life, tty); err != nil {
		cancel()
		i.watchers.Wait()
		return nil, err
	}
	return i, i.begin(ctx)
}

// listen has everything in place that hears of a container.
func (i *instance) listen(ctx, life context.Context, tty bool) error {
	output, err := i.engine.api.ContainerAttach(ctx, i.id, client.ContainerAttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return fmt.Errorf("listen to its output: %w", err)
	}
	i.watchers.Go(func() { i.copy(output.Reader, tty) })
	context.AfterFunc(life, output.Close)
	if i.memory {
		heard := i.engine.api.Events(life, client.EventsListOptions{Filters: make(client.Filters).Add("container", i.id).Add("event", "oom")})
		i.watchers.Go(func() { i.hear(heard) })
	}
	next := i.engine.api.ContainerWait(life, i.id, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	i.watchers.Go(func() { i.await(life, next) })
	return nil
}

// copy takes the output, in which the two streams have a header each, but not
// those of a terminal.
func (i *instance) copy(from io.Reader, tty bool) {
	defer close(i.copied)
	if tty {
		_, _ = io.Copy(i.log, from) // it ends with the container, however
		return
	}
	_, _ = stdcopy.StdCopy(i.log, i.log, from)
}

// hear counts the kills of the memory limit.
func (i *instance) hear(heard client.EventsResult) {
	for {
		select {
		case <-heard.Messages:
			i.ooms.Add(1)
		case <-heard.Err:
			return
		}
	}
}

// begin starts the container. What the engine has begun it ends, whatever
// becomes of the context meanwhile.
func (i *instance) begin(ctx context.Context) error {
	i.undo.Add("stop it", i.end)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	whole, cancel := context.WithTimeout(context.WithoutCancel(ctx), makePatience)
	defer cancel()
	if _, err := i.engine.api.ContainerStart(whole, i.id, client.ContainerStartOptions{}); err != nil {
		return fmt.Errorf("start the container: %w", err)
	}
	return context.Cause(ctx)
}

// await waits for the end of the container and finds out how it came.
func (i *instance) await(life context.Context, next client.ContainerWaitResult) {
	defer close(i.ended)
	for {
		select {
		case end := <-next.Result:
			i.last = i.verdict(int(end.StatusCode))
			return
		case err := <-next.Error:
			if life.Err() != nil {
				i.last = driver.Exit{Reason: "it was stopped"}
				return
			}
			if gone := i.again(err); gone != nil {
				i.last = driver.Exit{Reason: gone.Error()}
				return
			}
		}
		<-time.After(waitPause)
		next = i.engine.api.ContainerWait(life, i.id, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	}
}

// again reports why there is no use in waiting once more after an error.
func (i *instance) again(why error) error {
	if _, err := i.inspect(); err != nil {
		return fmt.Errorf("it was lost from sight: %w", errors.Join(why, err))
	}
	return nil
}

func (i *instance) inspect() (*container.State, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lookPatience)
	defer cancel()
	found, err := i.engine.api.ContainerInspect(ctx, i.id, client.ContainerInspectOptions{})
	if err != nil {
		return nil, err
	}
	if found.Container.State == nil {
		return nil, errState
	}
	return found.Container.State, nil
}

var errState = errors.New("the engine says nothing of its state")

// verdict says how the container ended.
func (i *instance) verdict(code int) driver.Exit {
	i.drain()
	exit := driver.Exit{Reason: reason(code), Clean: code == 0, OOM: i.oom(code)}
	if state, err := i.inspect(); err == nil && state.Error != "" {
		exit.Reason += ", " + state.Error
	}
	return exit
}

// drain waits for the last output.
func (i *instance) drain() {
	select {
	case <-i.copied:
	case <-time.After(logPatience):
	}
}

// oom finds out whether the memory limit killed it. The engine learns of that
// beside the end, so that it may know a moment later.
func (i *instance) oom(code int) bool {
	if !i.memory {
		return false
	}
	deadline := time.Now().Add(oomPatience)
	for {
		state, err := i.inspect()
		switch {
		case i.ooms.Load() > 0:
			return true
		case err == nil && state.OOMKilled:
			i.ooms.CompareAndSwap(0, 1)
			return true
		case code != codeKill || i.stopping.Load() || err != nil || time.Now().After(deadline):
			return false
		}
		<-time.After(oomPause)
	}
}

// codeSignal is what the engine adds to the number of a signal that ended a
// container, as shells do.
const (
	codeSignal = 128
	codeKill   = codeSignal + 9
)

// reason tells an exit status.
func reason(code int) string {
	name := ""
	switch code - codeSignal {
	case 2:
		name = "INT"
	case 6:
		name = "ABRT"
	case 7:
		name = "BUS"
	case 9:
		name = "KILL"
	case 11:
		name = "SEGV"
	case 15:
		name = "TERM"
	}
	if name != "" {
		return fmt.Sprintf("exit status %d, which stands for signal %s", code, name)
	}
	return fmt.Sprintf("exit status %d", code)
}

func (i *instance) exit() driver.Exit { return i.last }

// limit changes the CPU limit.
func (i *instance) limit(ctx context.Context, cpus float64) (plan.Limits, error) {
	asked := plan.Limits{CPUs: cpus}
	resources := Resources(asked)
	if _, err := i.engine.api.ContainerUpdate(ctx, i.id, client.ContainerUpdateOptions{Resources: &resources}); err != nil {
		return plan.Limits{}, fmt.Errorf("update the container: %w", err)
	}
	found, err := i.engine.api.ContainerInspect(ctx, i.id, client.ContainerInspectOptions{})
	if err != nil {
		return plan.Limits{}, fmt.Errorf("read the limits back: %w", err)
	}
	applied := plan.Limits{}
	if found.Container.HostConfig != nil {
		applied = limitsOf(found.Container.HostConfig.Resources)
	}
	if i.group == nil {
		return applied, nil
	}
	kernel, err := i.group.limits()
	if err != nil {
		return applied, nil // the engine's word is all there is
	}
	return corrected(applied, kernel, asked), nil
}

// oomKills counts by what the kernel says, while that can be read, and by what
// was heard.
func (i *instance) oomKills(context.Context) (int64, error) {
	heard := i.ooms.Load()
	if i.group == nil {
		return heard, nil
	}
	n, err := i.group.oomKills()
	if err != nil {
		return heard, nil // it went with the container
	}
	return max(n, heard), nil
}

func (i *instance) Endpoint() string  { return i.url }
func (i *instance) Place() host.Place { return i.place }
func (i *instance) Logs() *driver.Log { return i.log }

// Stop ends the container and takes back what its start did.
func (i *instance) Stop(ctx context.Context) error { return i.undo.Run(ctx) }

// end asks the container to end, kills it after its grace, removes it, and
// waits for those who watched it.
func (i *instance) end(ctx context.Context) error {
	i.stopping.Store(true)
	defer i.watchers.Wait()
	defer i.cancel()
	_, err := i.engine.api.ContainerKill(ctx, i.id, client.ContainerKillOptions{Signal: i.signal})
	if err == nil {
		select {
		case <-i.ended:
		case <-ctx.Done():
		case <-time.After(i.grace):
		}
	}
	if errdefs.IsConflict(err) || errdefs.IsNotFound(err) { // it does not run
		err = nil
	}
	return errors.Join(err, Remove(ctx, i.engine.api, i.id))
}
