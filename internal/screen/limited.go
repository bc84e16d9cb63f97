package screen

import (
	"fmt"
	"math"
	"slices"

	"prony/internal/plan"
	"prony/internal/result"
)

// From which shares on live figures name a limit. They are those of the judgement
// after a trial where that has them, but it also weighs what else was seen.
const (
	quotaHolds   = 0.05 // of the quota's periods
	cpuFull      = 0.95
	stealMatters = 0.01
	fewTrials    = 6 // of a variant: below, no difference can be told (signed-rank test)
)

// limited is what the figures of the last second say keeps the rate where it is;
// "" where they say nothing.
func (s *state) limited() string {
	if s.lastAt.IsZero() || s.last.drain {
		return ""
	}
	if s.last.busy >= cpuFull {
		return fmt.Sprintf("%s (%s busy)", result.LimitName("generator-cpu", ""), share(s.last.busy))
	}
	if o, held := s.most(result.OfService, func(o *result.Observed) float64 { return now(o, result.Throttled) }); held >= quotaHolds {
		return fmt.Sprintf("%s (held back in %s of the periods)", result.LimitName("cpu-quota", owner(o)), share(held))
	}
	if o, used := s.most(result.OfService, func(o *result.Observed) float64 { return now(o, result.CPUCores) / fact(o, "cpu_quota_cores") }); used >= cpuFull {
		return fmt.Sprintf("%s (%s of its limit)", result.LimitName("target-cpu", owner(o)), share(used))
	}
	if o, busy := s.most(result.OfHost, func(o *result.Observed) float64 { return now(o, result.HostBusy) }); busy >= cpuFull {
		return fmt.Sprintf("%s (%s busy)", result.LimitName("host-cpu", hostName(o.Host)), share(busy))
	}
	return ""
}

// disturbed is what others take of the machines in the last second; "" for
// nothing that matters.
func (s *state) disturbed() string {
	o, stolen := s.most(result.OfHost, func(o *result.Observed) float64 { return now(o, result.HostSteal) })
	if !(stolen >= stealMatters) {
		return ""
	}
	return fmt.Sprintf("hypervisor takes %s of %s", share(stolen), hostName(o.Host))
}

// most is what has the most of a figure, among all of a kind; NaN where none has
// it.
func (s *state) most(kind string, figure func(*result.Observed) float64) (at *result.Observed, most float64) {
	most = math.NaN()
	for _, o := range s.of(kind) {
		if v := figure(o); v > most || math.IsNaN(most) && !math.IsNaN(v) {
			at, most = o, v
		}
	}
	return at, most
}

// without is what stands where no finding is: when they come, and what they
// cannot say.
func (m *model) without() string {
	p := m.config.Plan
	switch {
	case p == nil:
		return "no finding yet: findings come when the load ends"
	case len(p.Variants) > 1 && p.Repeat.Times < fewTrials:
		return fmt.Sprintf("no finding yet: findings come when a trial ends. %s of a variant: too few for a verdict, which takes %d or more",
			plural(p.Repeat.Times, "trial"), fewTrials)
	}
	return "no finding yet: findings come when a trial ends"
}

// baseRate is the median rate of the baseline's trials so far, without the
// invalid ones; NaN for none.
func (s *state) baseRate(p *plan.Experiment) float64 {
	if p == nil || p.Baseline == "" || len(p.Variants) < 2 {
		return math.NaN()
	}
	var rates []float64
	for _, r := range s.rows {
		if r.variant == p.Baseline && r.counts() {
			rates = append(rates, r.rate)
		}
	}
	n := len(rates)
	if n == 0 {
		return math.NaN()
	}
	slices.Sort(rates)
	return (rates[(n-1)/2] + rates[n/2]) / 2
}

// counts reports whether the trial has a number that may be used.
func (r row) counts() bool { return r.error == "" && r.verdict != result.Invalid && r.rate > 0 }

// times is the rate as a multiple of the baseline's.
func (r row) times(base float64) string {
	if !r.counts() || !(base > 0) {
		return none
	}
	return three(r.rate / base)
}
