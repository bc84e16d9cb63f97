package plan

import (
	"errors"
	"fmt"
	"math"
	"time"

	"prony/internal/schedule"
)

// Facts are what defaults depend on beside the plan itself.
type Facts struct {
	// CPUs that the generator may use.
	CPUs int
	// Loopback: the target shares this machine.
	Loopback bool
	// Hosts are the other hosts by their names; one that is not listed is unknown.
	Hosts map[string]Machine

	// The rest is for "scale: auto": what this machine carries.

	// Quota is how many cores the control group of this process may use on
	// average; 0: no limit, or not known.
	Quota float64
	// Memory of this machine in bytes; 0: not known.
	Memory int64
	// Sockets that the generator may have.
	Sockets Sockets
}

// WithDefaults returns the load with every default written out.
func (l Load) WithDefaults(f Facts) Load {
	if l.Model == "" {
		l.Model = Closed
		if l.Arrivals.Open() {
			l.Model = Open
		}
	}
	if l.Connections == 0 {
		l.Connections = 10
		if l.Model == Open {
			l.Connections = 1000
		}
		if l.Count > 0 && int64(l.Connections) > l.Count {
			l.Connections = int(l.Count)
		}
	}
	if l.Threads == 0 {
		l.Threads = threads(l, f)
	}
	l.Threads = min(l.Threads, l.Connections)
	if l.Duration == 0 && l.Count == 0 {
		l.Duration = 10 * time.Second
		if length, finite := l.Arrivals.Length(); l.Model == Open && finite {
			l.Duration = length - l.Warmup
		}
	}
	l.Pipeline = max(l.Pipeline, 1)
	l.Timeouts = l.Timeouts.withDefaults()
	if l.Drain == 0 {
		most := time.Second
		if l.Model == Open {
			most = 30 * time.Second
		}
		l.Drain = min(l.Timeouts.Request, most)
	}
	if l.Engine == "" {
		l.Engine = Auto
	}
	if l.Timestamps == "" {
		l.Timestamps = AppTimestamps
	}
	if l.Arrivals.Seed == 0 {
		l.Arrivals.Seed = l.Seed
	}
	return l
}

// threads: the open model needs one per 50,000 requests a second; the closed
// one takes what the target leaves: half of the CPUs if it shares the machine.
func threads(l Load, f Facts) int {
	n := max(f.CPUs, 1)
	if f.Loopback {
		n = max(n/2, 1)
	}
	if l.Model == Open {
		var peak float64
		for _, s := range l.Arrivals.Segments {
			peak = max(peak, s.From, s.To)
		}
		n = min(n, int(math.Ceil(peak/50_000)))
	}
	return max(n, 1)
}

func (t Timeouts) withDefaults() Timeouts {
	or := func(d time.Duration) time.Duration {
		if d == 0 {
			return 10 * time.Second
		}
		return d
	}
	return Timeouts{Connect: or(t.Connect), TLS: or(t.TLS), Request: or(t.Request)}
}

// maxConnections bounds what one process is asked to hold.
const maxConnections = 1_000_000

// Validate reports every mistake in a load with its defaults written out.
func (l Load) Validate() error {
	var errs []error
	bad := func(is bool, format string, args ...any) {
		if is {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	bad(len(l.Requests) == 0, "no URL to load")
	bad(l.Model != Closed && l.Model != Open, "model %q: want closed or open", l.Model)
	bad(l.Model == Open && !l.Arrivals.Open(), "the open model needs a rate")
	bad(l.Model == Closed && l.Arrivals.Open(), "a rate needs the open model")
	bad(l.Model == Open && l.Think != (schedule.Think{}), "think time belongs to the closed model; the open one sends by its rate")
	bad(l.Connections < 1 || l.Connections > maxConnections, "connections %d: want 1 to %d", l.Connections, maxConnections)
	bad(l.Threads < 1 || l.Threads > 1024, "threads %d: want 1 to 1024", l.Threads)
	bad(l.Duration < 0 || l.Warmup < 0, "duration and warm-up must not be negative")
	bad(l.Count < 0, "count %d: want at least 1", l.Count)
	bad(l.Count > 0 && l.Warmup > 0, "a warm-up by time and an exact count exclude each other: use a duration instead of the count")
	bad(l.Pipeline < 1 || l.Pipeline > 1024, "pipeline depth %d: want 1 to 1024", l.Pipeline)
	bad(l.Pipeline > 1 && l.NoKeepAlive, "pipelining needs connections that are kept open")
	bad(l.ConnectRate < 0, "connect rate must not be negative")
	bad(l.Timeouts.Connect < 0 || l.Timeouts.TLS < 0 || l.Timeouts.Request < 0, "timeouts must not be negative")
	if l.Arrivals.Open() {
		errs = append(errs, l.Arrivals.Validate())
	}
	errs = append(errs, l.Think.Validate())
	return errors.Join(errs...)
}
