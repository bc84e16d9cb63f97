package engine

import (
	"runtime"
	"sync"
	"time"

	"prony/internal/evloop"
	"prony/internal/plan"
)

// breakEven measures, once, what a sleep and a wake-up cost here: the median
// of some round trips between two threads. Polling for an answer pays while it
// comes sooner than that.
var breakEven = sync.OnceValue(func() time.Duration {
	const rounds = 31
	there, back := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for range there {
			back <- struct{}{}
		}
	})
	took := make([]int64, 0, rounds)
	for range rounds {
		start := evloop.Now()
		there <- struct{}{}
		<-back
		took = append(took, evloop.Now()-start)
		time.Sleep(50 * time.Microsecond) // let the other side fall asleep
	}
	close(there)
	wg.Wait()
	return min(max(time.Duration(median(took)), 20*time.Microsecond), 200*time.Microsecond)
})

func median(v []int64) int64 {
	for i := range v {
		for j := i; j > 0 && v[j] < v[j-1]; j-- {
			v[j], v[j-1] = v[j-1], v[j]
		}
	}
	return v[len(v)/2]
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
