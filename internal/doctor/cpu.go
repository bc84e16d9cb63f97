package doctor

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Limits of the checks on CPU time: shares of the whole machine.
const (
	busyWarn  = 0.10
	busyBad   = 0.50
	stealWarn = 0.01
	stealBad  = 0.05
)

// ticks are the columns of the first line of /proc/stat (proc(5)).
type ticks struct{ busy, steal, all float64 }

func (c Config) ticks() (ticks, bool) {
	text, ok := c.text("proc/stat")
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if !ok || len(fields) < 9 || fields[0] != "cpu" {
		return ticks{}, false
	}
	var t ticks
	for i, f := range fields[1:9] { // user nice system idle iowait irq softirq steal
		n, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return ticks{}, false
		}
		t.all += n
		switch i {
		case 3, 4:
		case 7:
			t.steal = n
		default:
			t.busy += n
		}
	}
	return t, true
}

// cpuTime watches for a moment who else uses the machine.
func cpuTime(ctx context.Context, c Config) []Check {
	before, ok := c.ticks()
	if ok {
		select {
		case <-ctx.Done():
		case <-time.After(c.Sample):
		}
	}
	after, again := c.ticks()
	if !ok || !again || after.all <= before.all {
		return []Check{unknown("neighbours", "CPU time"), unknown("steal", "CPU time")}
	}
	all := after.all - before.all
	return []Check{neighbours((after.busy-before.busy)/all, c.Sample), stolen((after.steal-before.steal)/all, c.Sample)}
}

func neighbours(share float64, during time.Duration) Check {
	k := Check{Name: "neighbours", State: Good, Found: fmt.Sprintf("%.1f%% of the CPU time of %v was used", 100*share, during), Want: "under 10% before a measurement"}
	if share < busyWarn {
		return k
	}
	k.State, k.Why = Warn, "other programs take time from the generator and the target, and not evenly"
	k.Remedy = "top -b -n1 -o %CPU | head -20"
	if share >= busyBad {
		k.State = Bad
	}
	return k
}

func stolen(share float64, during time.Duration) Check {
	k := Check{Name: "steal", State: Good, Found: fmt.Sprintf("%.1f%% of %v", 100*share, during), Want: "under 1%"}
	if share < stealWarn {
		return k
	}
	k.State, k.Why = Warn, "the hypervisor gives this machine's time to others: rates and tails are partly theirs"
	k.Remedy = "use a machine, or an instance type, with cores of its own"
	if share >= stealBad {
		k.State = Bad
	}
	return k
}

const clockPath = "sys/devices/system/clocksource/clocksource0/"

// clocks looks at what tells the time.
func clocks(_ context.Context, c Config) []Check {
	now, ok := c.text(clockPath + "current_clocksource")
	if !ok {
		return []Check{unknown("clock", "the clock source")}
	}
	k := Check{Name: "clock", State: Good, Found: now, Want: "tsc, kvm-clock, hyperv_clocksource_tsc_page or arch_sys_counter"}
	for _, fast := range []string{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"} {
		if now == fast {
			return []Check{k}
		}
	}
	k.State, k.Why = Warn, "each reading of this clock is a system call: two a request"
	k.Remedy = "echo tsc > /" + clockPath + "current_clocksource"
	return []Check{k}
}

// processor looks at frequency, turbo and hyper-threads.
func processor(_ context.Context, c Config) []Check {
	return append([]Check{governor(c)}, threads(c))
}

func governor(c Config) Check {
	files, _ := filepath.Glob(filepath.Join(c.Root, "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"))
	seen := map[string]int{}
	for _, f := range files {
		rel, _ := filepath.Rel(c.Root, f)
		if text, ok := c.text(rel); ok {
			seen[text]++
		}
	}
	if len(seen) == 0 {
		return Check{Name: "governor", State: Unknown, Found: "the processor's frequency is not ours to see (a virtual machine?)"}
	}
	k := Check{Name: "governor", State: Good, Found: listed(seen), Want: "performance"}
	if seen["performance"] != len(files) {
		k.State, k.Why = Warn, "cores that are not busy run slower: latency at a low rate is that of a slower processor"
		k.Remedy = "cpupower frequency-set -g performance"
	}
	return k
}

func threads(c Config) Check {
	active, ok := c.text("sys/devices/system/cpu/smt/active")
	if !ok {
		return unknown("hyper-threads", "whether cores are shared by hyper-threads")
	}
	k := Check{Name: "hyper-threads", State: Good, Found: "off"}
	if active == "1" {
		k.Found = "on: two of the CPUs that are counted may be one core"
	}
	return k
}

func listed(seen map[string]int) string {
	var parts []string
	for _, name := range sortedKeys(seen) {
		parts = append(parts, fmt.Sprintf("%s on %d", name, seen[name]))
	}
	return strings.Join(parts, ", ")
}
