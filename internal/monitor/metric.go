package monitor

import "prony/internal/result"

// Metrics that package result does not name, because no rule asks for them.
const (
	// WatchCores is what the watch itself took, in cores, on the host where it
	// ran. Asking servers for their own metrics is in it without the waiting
	// for them.
	WatchCores result.Metric = "watch_cores"
	// CPUs is how many cores of a host are online.
	CPUs result.Metric = "cpus_count"
	// Load is a host's load average of one minute.
	Load result.Metric = "load_count"
	// SwapUsed is a host's swap space in use.
	SwapUsed result.Metric = "swap_used_bytes"
	// Orphans are a host's TCP sockets without a process.
	Orphans result.Metric = "tcp_orphans_count"
	// Safepoints of a Java virtual machine, collections included.
	Safepoints result.Metric = "safepoints_rate"
	// Up is 1 when an endpoint answered and could be read, else 0.
	Up result.Metric = "up_count"
)
