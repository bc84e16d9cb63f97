package doctor

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

func sortedKeys(m map[string]int) []string { return slices.Sorted(maps.Keys(m)) }

// memory looks at what is left and whether it may be swapped out.
func memory(_ context.Context, c Config) []Check {
	info := c.meminfo()
	if len(info) == 0 {
		return []Check{unknown("memory", "/proc/meminfo")}
	}
	free := Check{Name: "memory", State: Good, Found: fmt.Sprintf("%d MiB of %d MiB available", info["MemAvailable"]>>10, info["MemTotal"]>>10), Want: "a fifth"}
	if info["MemAvailable"]*5 < info["MemTotal"] {
		free.State, free.Why, free.Remedy = Warn, "a target that meets the end of memory is slow or dies", "ps aux --sort=-rss | head"
	}
	swap := Check{Name: "swap", State: Good, Found: "off"}
	if used := info["SwapTotal"] - info["SwapFree"]; info["SwapTotal"] > 0 {
		swap.Found, swap.Want = fmt.Sprintf("%d MiB, %d MiB used", info["SwapTotal"]>>10, used>>10), "off, or not used"
		if used > 0 {
			swap.State, swap.Why, swap.Remedy = Warn, "pages that come back from the disk take milliseconds", "swapoff -a"
		}
	}
	return []Check{free, swap}
}

// meminfo is /proc/meminfo in KiB.
func (c Config) meminfo() map[string]int64 {
	text, _ := c.text("proc/meminfo")
	all := map[string]int64{}
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		if !ok || len(fields) == 0 {
			continue
		}
		if n, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
			all[name] = n
		}
	}
	return all
}

// Open files that a load of tens of thousands of connections needs.
const (
	filesGood = 65535
	filesBad  = 4096
)

// limits looks at what this process may open.
func limits(_ context.Context, c Config) []Check {
	if c.Files == nil {
		return nil
	}
	soft, hard, ok := c.Files()
	if !ok {
		return []Check{unknown("open-files", "the limit of open files")}
	}
	k := Check{Name: "open-files", State: Good, Found: fmt.Sprintf("%d, at most %d", soft, hard), Want: fmt.Sprintf("at most %d or more", filesGood)}
	if hard >= filesGood {
		return []Check{k}
	}
	k.State, k.Why = Warn, fmt.Sprintf("each connection is a file: no more than about %d connections can be opened", hard-min(hard, 100))
	k.Remedy = "ulimit -Hn 65535 && ulimit -n 65535   # as root; for good: /etc/security/limits.conf, or LimitNOFILE= of the service"
	if hard < filesBad {
		k.State = Bad
	}
	return []Check{k}
}
