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
)

// breakEven is how long polling for an answer pays: while it comes sooner than
// a sleep and a wake-up would cost, on this side and, as a rule, on the other.
func breakEven() time.Duration {
	return min(max(2*evloop.WakeCost(), pollLeast), pollMost)
}

// spinSlack is how long before a planned send a worker stops sleeping and
// polls, in nanoseconds. Without a spare core it never does: a spinner that is
// preempted is later than a sleeper.
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
	if runtime.NumCPU() <= needed {
		return 0
	}
	return int64(100 * time.Microsecond)
}
