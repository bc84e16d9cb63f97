package docker

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"prony/internal/cgroup"
)

// Stat asks the engine once what a container has used, in the form in which a
// control group counts: for where the group itself cannot be read. What the
// engine does not tell is cgroup.Unknown.
func (d *Driver) Stat(ctx context.Context, id string) (cgroup.Stat, error) {
	e, err := d.connect(ctx)
	if err != nil {
		return cgroup.Stat{}, err
	}
	answer, err := e.api.ContainerStats(ctx, id, client.ContainerStatsOptions{})
	if err != nil {
		return cgroup.Stat{}, fmt.Errorf("ask what the container used: %w", err)
	}
	defer answer.Body.Close()
	var s container.StatsResponse
	if err := json.NewDecoder(answer.Body).Decode(&s); err != nil {
		return cgroup.Stat{}, fmt.Errorf("ask what the container used: %w", err)
	}
	return statOf(s), nil
}

func statOf(s container.StatsResponse) cgroup.Stat {
	t := s.CPUStats.ThrottlingData
	stat := cgroup.Stat{CPU: time.Duration(s.CPUStats.CPUUsage.TotalUsage), Memory: int64(s.MemoryStats.Usage), MemoryPeak: int64(s.MemoryStats.MaxUsage),
		OOMKills: cgroup.Unknown, Pids: int64(s.PidsStats.Current), ThrottledOK: true,
		Throttled: cgroup.Throttling{Periods: int64(t.Periods), Throttled: int64(t.ThrottledPeriods), Time: time.Duration(t.ThrottledTime)}}
	if stat.MemoryPeak == 0 { // version 2 of control groups has it elsewhere
		stat.MemoryPeak = cgroup.Unknown
	}
	return stat
}
