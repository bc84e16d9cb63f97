package topology

import (
	"context"
	"time"

	"prony/internal/cgroup"
	"prony/internal/plan"
	"prony/internal/result"
)

// Costs are readings of what the instances have used so far.
type Costs []reading

type reading struct {
	name, host string
	index      int
	limits     plan.Limits
	used       cgroup.Stat
	known      bool
}

// usageWithin bounds the reading of one instance's counters.
const usageWithin = 10 * time.Second

// Costs reads the counters of the instances. What cannot be read is unknown.
func (t *Topology) Costs(ctx context.Context) Costs {
	var all Costs
	for _, u := range t.up {
		c := reading{name: u.service.Name, host: u.service.Host, index: u.index, limits: u.running.Applied()}
		one, cancel := context.WithTimeout(context.WithoutCancel(ctx), usageWithin)
		c.used, c.known, _ = u.running.Usage(one) // what fails is not known
		cancel()
		all = append(all, c)
	}
	return all
}

// Since is what each instance used after an earlier reading, per request.
func (c Costs) Since(before Costs, requests int64) []result.Service {
	all := []result.Service{}
	for i, now := range c {
		s := result.Service{Name: now.name, Instance: now.index, Host: now.host, Limits: now.limits}
		if i < len(before) && now.known && before[i].known {
			spent(&s, before[i].used, now.used, requests)
		}
		all = append(all, s)
	}
	return all
}

func spent(s *result.Service, a, b cgroup.Stat, requests int64) {
	s.MaxRSSBytes = max(b.MemoryPeak, 0)
	if a.CPU != cgroup.Unknown && b.CPU > a.CPU {
		s.CPUUS = float64(b.CPU-a.CPU) / float64(time.Microsecond)
		if requests > 0 {
			s.CPUUSPerRequest = s.CPUUS / float64(requests)
		}
	}
	if was, is := a.Throttled, b.Throttled; a.ThrottledOK && b.ThrottledOK && is.Periods > was.Periods {
		s.ThrottledRatio = float64(is.Throttled-was.Throttled) / float64(is.Periods-was.Periods)
	}
	if a.OOMKills != cgroup.Unknown {
		s.OOMKills = max(b.OOMKills-a.OOMKills, 0)
	}
}
