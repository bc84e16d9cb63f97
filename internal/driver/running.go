package driver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"prony/internal/cgroup"
	"prony/internal/host"
	"prony/internal/plan"
)

const (
	stopPatience  = 45 * time.Second // of an instance, on top of its grace
	limitPatience = 30 * time.Second // for another limit
)

// Running is a started instance that was ready.
type Running struct {
	name     string
	request  Request
	started  *Started
	took     time.Duration
	stopping atomic.Bool
	died     atomic.Pointer[DeathError] // by itself, before Stop
}

// Start starts an instance and waits until it is ready. If it fails, nothing is
// left; the error is a [*DeathError] if the instance ended by itself.
func Start(ctx context.Context, d Driver, r Request) (*Running, error) {
	notes, err := r.check(d.Features())
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", r.Name(), err)
	}
	begin := time.Now()
	first := r
	first.Service.Limits = r.Service.Limits.AtStart()
	started, err := start(ctx, d, &first)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", r.Name(), err)
	}
	started.Notes = append(notes, started.Notes...)
	running := &Running{name: r.Name(), request: r, started: started}
	if err := running.settle(ctx); err != nil {
		return nil, errors.Join(err, running.Stop(ctx))
	}
	running.took = time.Since(begin)
	return running, nil
}

// start starts with the suggested cores, and without them where they cannot be
// set.
func start(ctx context.Context, d Driver, r *Request) (*Started, error) {
	if len(r.Suggested) == 0 || len(r.Service.Limits.Cores) > 0 || !d.Features().Cores {
		return d.Start(ctx, *r)
	}
	bound := *r
	bound.Service.Limits.Cores = r.Suggested
	bound.Advisory = false
	started, refused := d.Start(ctx, bound)
	if refused == nil || ctx.Err() != nil {
		return started, refused
	}
	started, err := d.Start(ctx, *r)
	if err == nil {
		started.Notes = append(started.Notes, fmt.Sprintf("it runs on any core: %v", refused))
	}
	return started, err
}

var errLimits = errors.New("limits that this kind of service cannot have")

// check refuses what cannot work.
func (r Request) check(f Features) (notes []string, err error) {
	if err := errors.Join(r.Run.Check(), r.Site.check()); err != nil {
		return nil, err
	}
	if r.Ports == nil && f.Ports {
		return nil, errors.New("no ports to hand out")
	}
	if missing := f.Missing(r.Service.Limits); len(missing) > 0 {
		err := fmt.Errorf("%w: %s", errLimits, strings.Join(missing, ", "))
		if !r.Advisory {
			return nil, err
		}
		notes = append(notes, Unlimited(r.Service.Limits, err))
	}
	return notes, nil
}

// Unlimited is the note of limits that were not set.
func Unlimited(asked plan.Limits, why error) string {
	return fmt.Sprintf("limits are advisory and were not set (%s): %v", asked, why)
}

// settle waits until the instance is ready and holds its limits.
func (r *Running) settle(ctx context.Context) error {
	ready := r.started.Ready
	all, err := questions(ready, r.Endpoint(), r.Logs())
	if err != nil {
		return fmt.Errorf("start %s: %w", r.name, err)
	}
	err = await(ctx, ready.Within, all, r.started.Ended)
	if death := r.death(true); death != nil {
		return death // whoever answered, it was not this one
	}
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("start %s: wait until it is ready: %w%s", r.name, err, r.Logs().ending())
	}
	return fmt.Errorf("start %s: not ready within %s: %w%s", r.name, ready.Within, err, r.Logs().ending())
}

// Name is the instance's name for people: app[0].
func (r *Running) Name() string { return r.name }

// Endpoint is the base URL.
func (r *Running) Endpoint() string { return r.started.Instance.Endpoint() }

// Place is where it runs.
func (r *Running) Place() host.Place { return r.started.Instance.Place() }

// Logs is what it wrote; readable after Stop too.
func (r *Running) Logs() *Log { return r.started.Instance.Logs() }

// Took is the time from the start until it was ready.
func (r *Running) Took() time.Duration { return r.took }

// Asked are the limits of the plan.
func (r *Running) Asked() plan.Limits { return r.request.Service.Limits }

// Applied are the limits that the system says it has.
func (r *Running) Applied() plan.Limits { return r.started.Applied }

// Notes are doubts that the result must carry: limits that were not set.
func (r *Running) Notes() []string { return r.started.Notes }

// Ended is closed when the instance has ended, by itself or by Stop; nil, which
// blocks for ever, if nobody can know.
func (r *Running) Ended() <-chan struct{} { return r.started.Ended }

// Err is a [*DeathError] once the instance has ended by itself, else nil.
func (r *Running) Err() error {
	if death := r.death(false); death != nil {
		return death
	}
	if death := r.died.Load(); death != nil {
		return death
	}
	return nil
}

// OOMKills counts the processes of the instance that the memory limit killed
// until now; -1 if nobody counts.
func (r *Running) OOMKills(ctx context.Context) (int64, error) {
	if r.started.OOMKills == nil {
		return -1, nil
	}
	n, err := r.started.OOMKills(ctx)
	if err != nil {
		return -1, fmt.Errorf("count the processes of %s that its memory limit killed: %w", r.name, err)
	}
	return n, nil
}

// EndStartup puts the limit in force that holds once the startup is over. It
// does nothing where startup has no limit of its own.
func (r *Running) EndStartup(ctx context.Context) error {
	asked := r.Asked()
	if asked.StartupCPUs == 0 || r.started.Applied.CPUs == 0 && r.request.Advisory { // it has no limit, as was noted
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, limitPatience)
	defer cancel()
	applied, err := r.started.Limit(ctx, asked.CPUs)
	if err == nil {
		applied.StartupCPUs = asked.StartupCPUs
		err = Took(asked, applied)
	}
	switch {
	case err == nil:
		r.started.Applied = applied
	case r.request.Advisory:
		r.started.Notes = append(r.started.Notes, Unlimited(asked, err))
	default:
		return fmt.Errorf("limit %s to %s: %w", r.name, asked, err)
	}
	return nil
}

// Usage is what the instance has used so far; not ok if nobody counts.
func (r *Running) Usage(ctx context.Context) (used cgroup.Stat, ok bool, err error) {
	if r.started.Usage == nil {
		return used, false, nil
	}
	if used, err = r.started.Usage(ctx); err != nil {
		return used, false, fmt.Errorf("read what %s used: %w", r.name, err)
	}
	return used, true, nil
}

// Stop ends the instance and removes what the start made, also after the
// context has ended: it has a deadline of its own.
func (r *Running) Stop(ctx context.Context) error {
	if death := r.death(false); death != nil {
		r.died.Store(death) // that was not us
	}
	r.stopping.Store(true)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.request.Grace+stopPatience)
	defer cancel()
	if err := r.started.Instance.Stop(ctx); err != nil {
		return fmt.Errorf("stop %s: %w", r.name, err)
	}
	return nil
}

// death is how the instance ended by itself; nil if it did not.
func (r *Running) death(early bool) *DeathError {
	select {
	case <-r.started.Ended:
	default:
		return nil
	}
	if r.stopping.Load() {
		return nil
	}
	return &DeathError{Instance: r.name, Exit: r.started.Exit(), Early: early,
		Memory: r.started.Applied.Memory, Log: r.Logs().Tail(tailLines)}
}

// DeathError is an instance that ended by itself.
type DeathError struct {
	Instance string
	Exit     Exit
	Early    bool     // before it was ready
	Memory   int64    // its limit, bytes; 0 is none
	Log      []string // its last lines, at most 20
}

// Error says what happened, and ends with the last lines.
func (e *DeathError) Error() string {
	var b strings.Builder
	b.WriteString(e.Instance)
	if e.Exit.OOM {
		b.WriteString(" was killed for using more memory than its limit")
		if e.Memory > 0 {
			fmt.Fprintf(&b, " of %s", plan.Limits{Memory: e.Memory})
		}
		b.WriteString(" (OOM kill)")
	} else {
		b.WriteString(" ended by itself")
	}
	if e.Early {
		b.WriteString(" before it was ready")
	}
	b.WriteString(": " + e.Exit.Reason)
	if e.Exit.Clean && e.Early {
		b.WriteString(" (a program that goes into the background cannot be watched: start it in the foreground)")
	}
	if len(e.Log) == 0 {
		return b.String() + "; it wrote nothing"
	}
	return b.String() + "; its last lines:\n  " + strings.Join(e.Log, "\n  ")
}
