package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/topology"
)

// Campaign carries out the trials of an experiment, one after the other.
type Campaign struct {
	ID     string
	Plan   *plan.Experiment
	Loader Loader
	// Parts are what topologies are built with.
	Parts topology.Parts
	// Watch begins to watch where the services run; nil watches the generator
	// alone.
	Watch func(ctx context.Context, places []topology.Place) (Watcher, error)
	// Steady makes the rule that ends a warm-up; nil takes the least time.
	Steady func() Steady
	// Enough says, from the pilot blocks, how many blocks the plan's difference
	// takes, and why; nil carries all of them out.
	Enough func(pilot *result.Experiment) (blocks int, why string, err error)
	// Judge puts the verdict into a result.
	Judge func(*result.Run)
	// Has and Get find trials that an earlier run of this campaign finished;
	// Put keeps one, with the logs of its services, before the next begins.
	Has func(number int) bool
	Get func(number int) (result.Trial, error)
	Put func(t result.Trial, logs map[string][]byte) error
	// Events tells how it goes; its functions may be nil.
	Events  Events
	Version string
}

// Events are what a campaign reports, for people.
type Events struct {
	// Trial begins: its number, from 1, of how many, and its variant.
	Trial func(number, of int, t plan.Trial)
	// Phase says what is done now.
	Phase func(text string)
	// Progress hears of each interval of the load and how busy the generator is.
	Progress func(result.Progress, float64)
	// Finished hears of each result.
	Finished func(t result.Trial)
}

func (e Events) phase(text string) {
	if e.Phase != nil {
		e.Phase(text)
	}
}

// Run carries out what is not yet done. It returns all trials that have ended,
// slim, also with an error: the context's, or that of a trial when the plan says to
// stop then.
func (c *Campaign) Run(ctx context.Context) (*result.Experiment, error) {
	all := &result.Experiment{Schema: result.ExperimentSchema, ID: c.ID, Plan: c.Plan}
	blocks := c.Plan.Repeat.Times
	for i, trial := range c.Plan.Trials {
		number := i + 1
		if trial.Block > 0 && trial.Block == c.Plan.Repeat.Pilot && trial.Block != c.Plan.Trials[i-1].Block {
			blocks = c.enough(all)
		}
		if trial.Block >= blocks {
			break
		}
		if c.Has(number) {
			t, err := c.Get(number)
			if err != nil {
				return all, err
			}
			all.Trials = append(all.Trials, t.Slim())
			continue
		}
		if err := ctx.Err(); err != nil {
			return all, err
		}
		t, err := c.trial(ctx, number, trial)
		if err == nil || ctx.Err() == nil {
			all.Trials = append(all.Trials, t.Slim())
		}
		if err != nil && (ctx.Err() != nil || !c.Plan.Continue) {
			return all, fmt.Errorf("trial %d (%s): %w", number, trial.Variant, err)
		}
		if number < len(c.Plan.Trials) {
			c.cool(ctx)
		}
	}
	return all, nil
}

// enough decides from the pilot how many blocks there will be. Where it cannot be
// decided, all are carried out.
func (c *Campaign) enough(pilot *result.Experiment) int {
	if c.Enough == nil || c.Plan.Repeat.Detect == 0 {
		return c.Plan.Repeat.Times
	}
	blocks, why, err := c.Enough(pilot)
	if err != nil {
		c.Events.phase(fmt.Sprintf("how many repeats are needed cannot be told: %v", err))
		return c.Plan.Repeat.Times
	}
	c.Events.phase(why)
	return min(max(blocks, c.Plan.Repeat.Pilot), c.Plan.Repeat.Times)
}

// trial is one measurement from a fresh start. An interrupted one is not kept:
// it will be done again.
func (c *Campaign) trial(ctx context.Context, number int, trial plan.Trial) (result.Trial, error) {
	if c.Events.Trial != nil {
		c.Events.Trial(number, len(c.Plan.Trials), trial)
	}
	t := result.Trial{Number: number, Block: trial.Block, Variant: trial.Variant, Values: trial.Values}
	run, logs, err := c.measure(ctx, trial.Plan)
	if run != nil {
		t.Run = *run
	}
	if ctx.Err() != nil {
		return t, errors.Join(err, ctx.Err())
	}
	if err != nil {
		t.Error = err.Error()
	}
	if e := c.Put(t, logs); e != nil {
		return t, errors.Join(err, e)
	}
	if c.Events.Finished != nil {
		c.Events.Finished(t)
	}
	return t, err
}

// measure brings the services up, loads them and takes them down.
func (c *Campaign) measure(ctx context.Context, p plan.Plan) (run *result.Run, logs map[string][]byte, err error) {
	parts := c.Parts
	parts.Tell = c.Events.phase
	up, err := topology.Up(ctx, p, parts)
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		c.Events.phase("stop the services")
		logs = up.Logs()
		err = errors.Join(err, up.Down(ctx))
	}()
	run, err = c.load(ctx, p, up)
	return run, logs, err
}

// load verifies the answers and drives the load on what is up. A service that
// dies ends it.
func (c *Campaign) load(ctx context.Context, p plan.Plan, up *topology.Topology) (*result.Run, error) {
	loads, err := place(p, up)
	if err != nil {
		return nil, err
	}
	c.Events.phase("verify the answers")
	notes, err := verify(ctx, loads)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	died := up.Died(ctx)
	go func() {
		select {
		case err := <-died:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	run, err := c.attempt(ctx, p, loads, up)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = errors.Join(cause, err)
	}
	if run == nil || run.Load.Model == "" {
		return run, err
	}
	run.Warnings = append(append(run.Warnings, up.Notes()...), notes...)
	c.Judge(run)
	return run, err
}

// attempt drives what the plan asks for: a load, or a search with many.
func (c *Campaign) attempt(ctx context.Context, p plan.Plan, loads []plan.Load, up *topology.Topology) (*result.Run, error) {
	if p.Capacity != nil {
		if err := up.EndStartup(ctx); err != nil {
			return nil, err
		}
		return c.search(ctx, p, loads[0], up)
	}
	return c.drive(ctx, p, loads, up)
}

// drive warms up, loads and watches.
func (c *Campaign) drive(ctx context.Context, p plan.Plan, loads []plan.Load, up *topology.Topology) (*result.Run, error) {
	watch, err := c.watch(ctx, up)
	if err != nil {
		return nil, err
	}
	defer watch.Stop()
	warm, err := c.warm(ctx, p, loads)
	if err != nil {
		return nil, err
	}
	if err := up.EndStartup(ctx); err != nil {
		return nil, err
	}
	p.Load, p.Also = warm.settled(loads[0]), nil
	for _, l := range loads[1:] {
		p.Also = append(p.Also, warm.settled(l))
	}
	c.Events.phase("load")
	from, hits := opening{read: func() topology.Costs { return up.Costs(ctx) }}, up.Hits(ctx)
	begun := up.Costs(ctx)
	run, err := Run(ctx, p, c.Loader, Options{Kind: "load", Version: c.Version, Progress: c.Events.Progress, Watch: watch, Window: from.at, warm: warm})
	before, opened := from.costs(), true
	if run.Load.Model == "" {
		return run, err
	}
	if before == nil || float64(from.took.Microseconds()) > run.Load.DurationUS/openingShare {
		before, opened = begun, false // read too slowly for a window so short
	}
	run.Services = up.Costs(ctx).Since(before, answered(run, opened))
	up.Count(run.Services, hits, up.Hits(ctx))
	return run, err
}

// watch begins to watch what is up.
func (c *Campaign) watch(ctx context.Context, up *topology.Topology) (Watcher, error) {
	if c.Watch == nil {
		return nobody{}, nil
	}
	return c.Watch(ctx, up.Places())
}

// place puts the addresses of what is up into the loads of a plan.
func place(p plan.Plan, up *topology.Topology) ([]plan.Load, error) {
	var loads []plan.Load
	for _, l := range append([]plan.Load{p.Load}, p.Also...) {
		placed, err := l.At(up.Addresses)
		if err != nil {
			return nil, err
		}
		loads = append(loads, placed)
	}
	return loads, nil
}

// verify asks what the loads will ask, and says where instances differ.
func verify(ctx context.Context, loads []plan.Load) (differ []string, err error) {
	for _, l := range loads {
		answers, err := topology.Verify(ctx, l)
		if err != nil {
			return nil, err
		}
		if text := topology.Differ(answers); text != "" {
			differ = append(differ, "the instances answer differently: "+text)
		}
	}
	return differ, nil
}

// openingShare is one in how much of the window the reading at its opening may
// take: what is used meanwhile is not counted. Over a network it takes longer.
const openingShare = 50

// opening reads what the services have used when the window opens.
type opening struct {
	read  func() topology.Costs
	timer *time.Timer
	done  chan struct{}
	then  topology.Costs
	took  time.Duration
}

// at plans the reading. A second window, as of a load after one that could not
// begin, moves it.
func (o *opening) at(start time.Time) {
	if o.timer != nil && !o.timer.Stop() {
		<-o.done
	}
	done := make(chan struct{})
	o.done = done
	o.timer = time.AfterFunc(time.Until(start), func() {
		defer close(done)
		o.then = o.read()
		o.took = time.Since(start)
	})
}

// costs are those of the opening; nil if there was none.
func (o *opening) costs() topology.Costs {
	if o.timer == nil || o.timer.Stop() {
		return nil
	}
	<-o.done
	return o.then
}

// answered counts the requests that the services had to answer from the opening
// of the window on, or from the start of the load on.
func answered(run *result.Run, opened bool) (n int64) {
	for _, l := range append([]result.Load{run.Load}, run.Also...) {
		if !opened {
			n += l.Requests.Completed + l.Requests.WarmupCompleted
			continue
		}
		n += l.Requests.InWindow
		for _, iv := range l.Intervals {
			if iv.Drain {
				n += iv.Completed
			}
		}
	}
	return n
}

// cool waits between two trials.
func (c *Campaign) cool(ctx context.Context) {
	if c.Plan.Cooldown <= 0 {
		return
	}
	c.Events.phase("cool down")
	_ = rest(ctx, c.Plan.Cooldown) // whoever goes on looks at ctx
}
