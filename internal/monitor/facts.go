package monitor

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"prony/internal/cgroup"
	"prony/internal/proc"
)

// unlimited is the number of cores of a group without a quota.
var unlimited = math.Inf(1)

// facts do not change while we watch.
type facts struct {
	cpus        float64 // that affinity and quota leave us
	cpusOK      bool    // both are known
	ports       int64   // that outgoing connections may use; 0 if unknown
	clockReadNS float64
	clockSource string // "" if unknown
}

// system is the root of the file system that belongs to the proc root.
func (c Self) system() string {
	if c.Root == "" {
		return "/"
	}
	return filepath.Dir(filepath.Clean(c.Root))
}

func gatherFacts(cfg Self) facts {
	f := facts{clockReadNS: clockReadNS(), clockSource: clockSource(cfg.system())}
	f.cpus, f.cpusOK = allowedCPUs(cfg)
	if low, high, err := cfg.root().PortRange(); err == nil && high >= low {
		f.ports = high - low + 1
	}
	return f
}

// allowedCPUs is the lesser of affinity and quota. A host without control
// groups has no quota; one whose groups cannot be read may have any.
func allowedCPUs(cfg Self) (cpus float64, ok bool) {
	n, _ := proc.Affinity() // elsewhere the runtime's count, which is as good
	cpus = float64(n)
	group, err := cgroup.Self(cfg.system())
	if err != nil {
		return cpus, errors.Is(err, fs.ErrNotExist)
	}
	quota, ok := group.CPUQuota()
	if !ok {
		return cpus, false
	}
	return min(cpus, quota), true
}

// clockSource is the kernel's time source: tsc reads in some 20 ns, hpet and
// acpi_pm take a microsecond and a system call.
func clockSource(system string) string {
	text, err := os.ReadFile(filepath.Join(system, "sys/devices/system/clocksource/clocksource0/current_clocksource"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// clockReadNS is what one time.Now takes: the best of a few rounds, because
// every disturbance adds.
func clockReadNS() float64 {
	const rounds, reads = 20, 50
	best := math.Inf(1)
	for range rounds {
		start := time.Now()
		for range reads - 1 {
			_ = time.Now()
		}
		best = min(best, float64(time.Since(start))/reads)
	}
	return best
}
