package engine

import (
	"runtime"
	"time"

	"prony/internal/evloop"
	"prony/internal/plan"
)

// Bounds of the time for which a worker polls before it sleeps.
const (
	pollLeast = 20 * time.Microsecond
	pollMost  = 200 * time.Microsecond
	slackMost = 100 * time.Microsecond
	// slackShare is one in how much of its time a worker may poll for planned
	// sends where no core can be spared.
	slackShare = 20
)

// breakEven is how long polling for an answer pays: while it comes sooner than
// a sleep and a wake-up would cost, on this side and, as a rule, on the other.
func breakEven() time.Duration {
	return min(max(2*evloop.WakeCost(), pollLeast), pollMost)
}

// spinSlack is how long before a planned send a worker stops sleeping and
// polls, in nanoseconds: a sleeper is late by what it takes to wake it. Without
// a spare core it polls for a small share of its time, which takes little from
// the target and rarely gets it preempted; so not at high rates, where a
// spinner that is preempted is later than a sleeper.
func spinSlack(r *run) int64 {
	if r.load.Model != plan.Open {
		return 0
	}
	needed := max(r.load.Threads, 1)
	for _, t := range r.targets {
		if t.addrs[0].IsLoopback() {
			needed++ // the target wants one too
			break
		}
	}
	if runtime.NumCPU() > needed {
		return int64(slackMost)
	}
	peak := r.load.Peak()
	if peak == 0 {
		return 0
	}
	gap := float64(secondNS) * float64(max(r.load.Threads, 1)) / peak
	return int64(min(float64(slackMost), gap/slackShare))
}
