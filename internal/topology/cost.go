package topology

import (
	"time"

	"prony/internal/cgroup"
	"prony/internal/driver"
	"prony/internal/result"
)

// Costs are readings of what the instances have used so far.
type Costs []reading

type reading struct {
	name  string
	index int
	stat  cgroup.Stat
	ok    bool
}

// Costs reads the control groups of the instances.
func (t *Topology) Costs() Costs {
	var all Costs
	index := map[string]int{}
	for i, r := range t.running {
		name := t.of[i].Name
		c := reading{name: name, index: index[name]}
		index[name]++
		c.stat, c.ok = groupOf(r)
		all = append(all, c)
	}
	return all
}

func groupOf(r *driver.Running) (cgroup.Stat, bool) {
	name := r.Place().Cgroup
	if name == "" {
		return cgroup.Stat{}, false
	}
	groups, err := cgroup.Find("", name)
	if err != nil || len(groups) != 1 {
		return cgroup.Stat{}, false
	}
	s, err := groups[0].Stat()
	return s, err == nil
}

// Since is what each instance used after an earlier reading, per request.
func (c Costs) Since(before Costs, requests int64) []result.Service {
	var all []result.Service
	for i, now := range c {
		s := result.Service{Name: now.name, Instance: now.index}
		if i < len(before) && now.ok && before[i].ok && requests > 0 {
			if used := now.stat.CPU - before[i].stat.CPU; used > 0 && now.stat.CPU != cgroup.Unknown {
				s.CPUUSPerRequest = float64(used) / float64(time.Microsecond) / float64(requests)
			}
			s.MaxRSSBytes = max(now.stat.MemoryPeak, 0)
			s.ThrottledRatio = throttled(before[i].stat, now.stat)
		}
		all = append(all, s)
	}
	return all
}

// throttled is the share of quota periods in which the group was held back.
func throttled(a, b cgroup.Stat) float64 {
	if !a.ThrottledOK || !b.ThrottledOK || b.Throttled.Periods <= a.Throttled.Periods {
		return 0
	}
	return float64(b.Throttled.Throttled-a.Throttled.Throttled) / float64(b.Throttled.Periods-a.Throttled.Periods)
}
