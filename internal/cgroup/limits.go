package cgroup

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

var (
	errQuota  = errors.New("want a quota or max, and a period above 0, in microseconds")
	errAmount = errors.New("want a whole number")
)

// CPUQuota is how many cores the group may use on average: quota divided by
// period, the least of all levels; +Inf without a quota. It is unknown (ok
// false) if the cpu controller was not found or one of its files did not read.
func (g *Group) CPUQuota() (cores float64, ok bool) {
	cores, _, ok = g.quota()
	return cores, ok
}

// quota also tells the folder that sets the limit, "" without one.
func (g *Group) quota() (cores float64, dir string, ok bool) {
	p, ok := g.places[cpu]
	if !ok {
		return 0, "", false
	}
	cores = math.Inf(1)
	for _, d := range p.dirs {
		q, err := p.version.quota(d)
		switch {
		case errors.Is(err, os.ErrNotExist):
			// The root group has no limit, nor has one without the controller.
		case err != nil:
			return 0, "", false
		case q < cores:
			cores, dir = q, d
		}
	}
	return cores, dir, true
}

func (v Version) quota(dir string) (float64, error) {
	if v == V2 {
		return parsed(filepath.Join(dir, "cpu.max"), parseMax)
	}
	quota, err := os.ReadFile(filepath.Join(dir, "cpu.cfs_quota_us"))
	if err != nil {
		return 0, err
	}
	period, err := os.ReadFile(filepath.Join(dir, "cpu.cfs_period_us"))
	if err != nil {
		return 0, err
	}
	return parseMax(string(quota) + " " + string(period))
}

// parseMax reads cpu.max, "max 100000" or "150000 100000": quota and period in
// microseconds (Documentation/admin-guide/cgroup-v2.rst). The two files of
// version 1 are given in the same form, where -1 is no quota
// (Documentation/scheduler/sched-bwc.rst).
func parseMax(text string) (float64, error) {
	words := strings.Fields(text)
	if len(words) != 2 {
		return 0, fmt.Errorf("text %q: %w", text, errQuota)
	}
	period, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil || period <= 0 {
		return 0, fmt.Errorf("text %q: %w", text, errQuota)
	}
	if words[0] == "max" || words[0] == "-1" {
		return math.Inf(1), nil
	}
	quota, err := strconv.ParseInt(words[0], 10, 64)
	if err != nil || quota <= 0 {
		return 0, fmt.Errorf("text %q: %w", text, errQuota)
	}
	return float64(quota) / float64(period), nil
}

// Unlimited is the memory limit of a group that has none.
const Unlimited = math.MaxInt64

// unlimitedV1 is what version 1 shows for no limit: the largest number of whole
// pages, whose size differs; anything near it is meant.
const unlimitedV1 = math.MaxInt64 - 1<<20

// MemoryLimit is how many bytes the group may hold, the least of all levels;
// [Unlimited] without a limit, and ok false if it could not be found out.
func (g *Group) MemoryLimit() (bytes int64, ok bool) {
	p, ok := g.places[memory]
	if !ok {
		return 0, false
	}
	name := map[Version]string{V1: "memory.limit_in_bytes", V2: "memory.max"}[p.version]
	bytes = Unlimited
	for _, d := range p.dirs {
		n, err := parsed(filepath.Join(d, name), parseAmount)
		switch {
		case errors.Is(err, os.ErrNotExist): // as for the quota
		case err != nil:
			return 0, false
		default:
			bytes = min(bytes, n)
		}
	}
	return bytes, true
}

// parseAmount reads "max" or a number of bytes.
func parseAmount(text string) (int64, error) {
	word := strings.TrimSpace(text)
	if word == "max" {
		return Unlimited, nil
	}
	n, err := strconv.ParseUint(word, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("text %q: %w", text, errAmount)
	}
	if n >= unlimitedV1 {
		return Unlimited, nil
	}
	return int64(n), nil
}

// CPUs is the list of cores the group may run on, "0-3,8", and how many they
// are; ok is false if it could not be found out.
func (g *Group) CPUs() (list string, count int, ok bool) {
	p, ok := g.places[cpuset]
	if !ok {
		return "", 0, false
	}
	names := map[Version][]string{
		V1: {"cpuset.effective_cpus", "cpuset.cpus"},
		V2: {"cpuset.cpus.effective"},
	}
	for _, dir := range p.dirs {
		for _, name := range names[p.version] {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if list := strings.TrimSpace(string(text)); err == nil && list != "" {
				count, err := parseList(list)
				return list, count, err == nil
			}
		}
	}
	return "", 0, false
}

var errList = errors.New("want numbers and ranges: 0-3,8")

// cpusMax bounds a list of cores, as the kernel's configuration does.
const cpusMax = 1 << 16

// parseList counts the cores of "0-3,8" (cpuset(7), list format).
func parseList(list string) (int, error) {
	count := 0
	for part := range strings.SplitSeq(list, ",") {
		from, to, isRange := strings.Cut(part, "-")
		if !isRange {
			to = from
		}
		low, err1 := strconv.ParseUint(from, 10, 32)
		high, err2 := strconv.ParseUint(to, 10, 32)
		if errors.Join(err1, err2) != nil || high < low || high >= cpusMax {
			return 0, fmt.Errorf("list %q: %w", list, errList)
		}
		count += int(high-low) + 1
	}
	return count, nil
}

// Throttling is how the quota held the group back, since the group exists.
type Throttling struct {
	Periods   int64         // that ended while the group had something to run
	Throttled int64         // of these, in which it was stopped
	Time      time.Duration // for which its cores stood still, summed
}

// Throttling reads cpu.stat of the group that sets our quota, or of our own
// without one. It is unknown (ok false) if the cpu controller was not found or
// the counters are not there: version 2 shows them only where the controller
// is enabled.
func (g *Group) Throttling() (Throttling, bool) {
	_, dir, ok := g.quota()
	if !ok {
		return Throttling{}, false
	}
	if dir == "" {
		dir = g.places[cpu].dirs[0]
	}
	t, err := parsed(filepath.Join(dir, "cpu.stat"), parseThrottling)
	return t, err == nil
}

var errNoPeriods = errors.New("no line nr_periods")

// parseThrottling reads the lines
//
//	nr_periods 300
//	nr_throttled 45
//	throttled_usec 1200000     (version 2)
//	throttled_time 1200000000  (version 1, in ns)
//
// and skips the others.
func parseThrottling(text string) (Throttling, error) {
	var t Throttling
	found := false
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseInt(value, 10, 64)
		switch name {
		case "nr_periods":
			t.Periods, found = n, true
		case "nr_throttled":
			t.Throttled = n
		case "throttled_usec":
			t.Time = time.Duration(min(n, math.MaxInt64/1000)) * time.Microsecond
		case "throttled_time":
			t.Time = time.Duration(n)
		default:
			continue
		}
		if err != nil || n < 0 {
			return Throttling{}, fmt.Errorf("line %q: %w", strings.TrimSpace(line), errAmount)
		}
	}
	if !found {
		return Throttling{}, errNoPeriods
	}
	return t, nil
}
