package lab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"prony/internal/capacity"
	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/schedule"
	"prony/internal/topology"
)

// search finds the highest rate at which the goals of the plan hold. Its run is
// the last confirmed trial, or the last one, with the whole search beside it.
func (c *Campaign) search(ctx context.Context, p plan.Plan, template plan.Load, up *topology.Topology) (*result.Run, error) {
	trial := min(max(template.Duration, time.Second), time.Minute)
	s := capacity.New(capacity.Config{Within: p.Capacity.Within, Trial: trial, Settle: settleFor(template, trial), Confirm: 3 * trial})
	q := &quest{campaign: c, plan: p, template: template, up: up, search: s}
	for {
		t, more := s.Next()
		if !more {
			break
		}
		if err := q.try(ctx, t); err != nil {
			return q.best, err
		}
	}
	if q.best != nil {
		q.best.Capacity = q.answer()
	}
	return q.best, nil
}

// settleFor is the time at the new rate before a trial counts.
func settleFor(l plan.Load, trial time.Duration) time.Duration {
	if l.Warmup > 0 {
		return l.Warmup
	}
	return min(2*time.Second, trial/5)
}

// quest is a search under way.
type quest struct {
	campaign *Campaign
	plan     plan.Plan
	template plan.Load
	up       *topology.Topology
	search   *capacity.Search
	best     *result.Run
	trials   []result.CapacityTrial
	calm     float64 // first median at the rate of recovery, microseconds
}

// try runs one trial and records how it went.
func (q *quest) try(ctx context.Context, t capacity.Trial) error {
	if len(q.trials) > 0 {
		if err := rest(ctx, min(capacity.Pause, t.Duration/2)); err != nil {
			return err
		}
	}
	if err := q.recover(ctx, t); err != nil {
		return err
	}
	run, err := q.drive(ctx, t)
	if err != nil {
		return err
	}
	outcome := judgeTrial(run, t)
	q.trials = append(q.trials, kept(run, t, outcome))
	if q.best == nil || t.Phase != capacity.Probe && (outcome.Passed || t.Phase == capacity.Confirm) {
		q.best = run
	}
	return q.search.Record(outcome)
}

// drive runs one load of the search and judges it by the goals.
func (q *quest) drive(ctx context.Context, t capacity.Trial) (*result.Run, error) {
	q.campaign.Events.phase(describeTrial(t))
	p := q.plan
	p.Capacity, p.Warmup, p.Expect = nil, nil, q.plan.Capacity.SLO
	p.Load = q.load(t)
	run, err := q.campaign.drive(ctx, p, []plan.Load{p.Load}, q.up)
	if err == nil {
		q.campaign.Judge(run)
	}
	return run, err
}

// recoverTrial is how long each look at a system that should recover takes.
const recoverTrial = 2 * time.Second

// recover waits until the system answers at a low rate as it did at first, after
// a trial that was too much for it.
func (q *quest) recover(ctx context.Context, t capacity.Trial) error {
	if t.Recover <= 0 {
		return nil
	}
	look := capacity.Trial{Phase: "recover", Rate: t.Recover, Duration: recoverTrial, Settle: time.Second / 2}
	for begun := time.Now(); time.Since(begun) < capacity.RecoverWithin; {
		run, err := q.drive(ctx, look)
		if err != nil {
			return err
		}
		now := float64(run.Load.Latency.Response.Value(hdr.P50)) / 1000
		if q.calm == 0 {
			q.calm = now
		}
		if now <= q.calm || capacity.Recovered(q.calm, now) {
			return nil
		}
	}
	q.campaign.Events.phase("the system does not recover from a trial that was too much for it")
	return nil
}

// load is the template at the rate of a trial; the probe is a closed loop.
func (q *quest) load(t capacity.Trial) plan.Load {
	l := q.template
	l.Duration, l.Warmup, l.Count = t.Duration, t.Settle, 0
	l.Seed += uint64(len(q.trials))
	if t.Phase == capacity.Probe {
		l.Model, l.Arrivals = plan.Closed, schedule.Arrivals{}
		l.Connections = min(l.Connections, t.Connections)
		l.Threads = min(l.Threads, l.Connections)
		return l
	}
	l.Model, l.Arrivals = plan.Open, schedule.Rate(t.Rate)
	l.Arrivals.Process, l.Arrivals.Seed = schedule.Poisson, l.Seed
	return l
}

func describeTrial(t capacity.Trial) string {
	if t.Phase == capacity.Probe {
		return fmt.Sprintf("probe: %d connections, as fast as they go, for %v", t.Connections, t.Duration)
	}
	return fmt.Sprintf("%s: %.0f requests a second for %v", t.Phase, t.Rate, t.Duration)
}

// judgeTrial says whether the goals held and what is always demanded: enough
// answers, a backlog that does not grow, a generator that was fit.
func judgeTrial(run *result.Run, t capacity.Trial) capacity.Outcome {
	o := capacity.Outcome{Throughput: run.Load.Rate, Passed: true}
	if t.Phase == capacity.Probe {
		o.Passed = run.Load.Rate > 0
		return o
	}
	for _, e := range run.Expect {
		if !e.Met {
			o.Passed, o.Reason = false, fmt.Sprintf("%s: it was %.4g", e.Text, e.Actual)
		}
	}
	q := run.Load.Requests
	if planned := q.Asked; planned > 0 && float64(q.Completed) < capacity.LeastAnswered*float64(planned) {
		o.Passed, o.Reason = false, fmt.Sprintf("%d of %d planned requests were answered well", q.Completed, planned)
	}
	if second, last := fifths(&run.Load); capacity.BacklogGrows(second, last) {
		o.Passed, o.Reason = false, fmt.Sprintf("the requests in flight grew from %.0f to %.0f", second, last)
	}
	o.Invalid = unfit(run)
	return o
}

// unfit says why the generator was not fit for a trial; "" if it was.
func unfit(run *result.Run) string {
	rules := []string{"dispatch-lag", "dispatched", "dispatch-seconds", "send-gaps", "generator-cpu", "generator-thread", "generator-core",
		"throttled", "goroutine-scheduling", "steal", "clock", "ledger", "little"}
	for _, f := range run.Validity.Findings {
		if f.Severity == result.InvalidLevel && slices.Contains(rules, f.Rule) {
			return f.Message
		}
	}
	return ""
}

// fifths are the requests in flight in the second and in the last fifth of the
// window, by its seconds.
func fifths(l *result.Load) (second, last float64) {
	var nSecond, nLast float64
	for _, iv := range l.Intervals {
		if iv.Warmup || iv.Drain || l.DurationUS <= 0 {
			continue
		}
		switch at := (iv.StartUS + iv.LengthUS/2) / l.DurationUS; {
		case at >= 0.2 && at < 0.4:
			second, nSecond = second+float64(iv.InFlight), nSecond+1
		case at >= 0.8:
			last, nLast = last+float64(iv.InFlight), nLast+1
		}
	}
	if nSecond == 0 || nLast == 0 {
		return 0, 0
	}
	return second / nSecond, last / nLast
}

func kept(run *result.Run, t capacity.Trial, o capacity.Outcome) result.CapacityTrial {
	k := result.CapacityTrial{Phase: string(t.Phase), Rate: t.Rate, Achieved: run.Load.Rate, DurationUS: run.Load.DurationUS,
		Passed: o.Passed, Reason: o.Reason, Invalid: o.Invalid}
	if h := run.Load.Latency.Response; !h.Empty() {
		k.P50US, k.P99US = float64(h.Value(hdr.P50))/1000, float64(h.Value(hdr.P99))/1000
	}
	return k
}

// answer is what the search says.
func (q *quest) answer() *result.Capacity {
	r := q.search.Report()
	return &result.Capacity{End: string(r.End), Rate: r.Capacity, Held: r.Held, Refused: r.Refused, Limit: r.Limit, Inverted: r.Inverted,
		Trials: q.trials}
}

// rest waits, unless the run ends.
func rest(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
