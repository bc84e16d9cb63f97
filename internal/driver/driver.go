package driver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"prony/internal/cgroup"
	"prony/internal/host"
	"prony/internal/plan"
)

// Driver is a backend. Its methods may be called by several goroutines at once.
// Callers use [Start], [Find] and [Cleanup].
type Driver interface {
	// Features says what the backend can do; it never changes.
	Features() Features
	// Check reports what is missing for a request (rights, programs, a daemon)
	// with the remedy. It leaves nothing behind.
	Check(ctx context.Context, r Request) error
	// Start brings an instance to life and returns without waiting for it to be
	// ready. It calls r.Record before it makes anything; if it fails, nothing
	// of what it made is left. The context bounds the start, not the instance.
	Start(ctx context.Context, r Request) (*Started, error)
	// Find lists what a run left on a host, by labels alone, in the order in
	// which it should be removed; the run "" is any run. It must work in a
	// process that knows nothing else of the run.
	Find(ctx context.Context, s Site, run RunID) ([]Leftover, error)
}

// Instance is one running copy of a service.
type Instance interface {
	// Endpoint is its base URL, such as http://127.0.0.1:8080.
	Endpoint() string
	// Place is where it runs, for monitors.
	Place() host.Place
	// Logs is what it wrote; readable after Stop too.
	Logs() *Log
	// Stop asks it to end, ends it, and removes everything that Start made. A
	// second call does nothing. The context bounds it.
	Stop(ctx context.Context) error
}

// Started is an instance with the facts of its start.
type Started struct {
	Instance Instance
	// Ready is when it counts as started; see Request.ReadyOf.
	Ready plan.Ready
	// Applied is what the system says that the limits are.
	Applied plan.Limits
	// Notes are doubts that the result must carry.
	Notes []string
	// Ended is closed when the instance has ended; nil if nobody can know.
	Ended <-chan struct{}
	// Exit is how it ended; it is called after Ended was closed.
	Exit func() Exit
	// Limit changes the CPU limit while the instance runs, and returns what the
	// system then says that the limits are. Every backend that can limit CPUs
	// has it.
	Limit func(ctx context.Context, cpus float64) (plan.Limits, error)
	// Usage reads what the instance has used so far, in the form in which a
	// control group counts; nil if nobody does.
	Usage func(ctx context.Context) (cgroup.Stat, error)
	// OOMKills counts the processes that the memory limit killed, those that
	// did not take the instance down among them; nil if nobody counts.
	OOMKills func(ctx context.Context) (int64, error)
}

// Exit is how an instance ended.
type Exit struct {
	Reason string // "exit status 3", "ended by signal KILL"
	Clean  bool   // exit status 0
	OOM    bool   // the memory limit killed it, or a part of it
}

// Features is what a backend can do, as data for whoever plans.
type Features struct {
	CPUs, Cores, Memory, PIDs bool // limits that it can set

	Builds bool // it can build what it starts
	Logs   bool // it captures output
	Scale  bool // several instances of one service
	Ports  bool // it hands out ports; else the service has its own
	Remote bool // it works on hosts other than this one
	Ends   bool // it knows when an instance ends
}

// Missing names the limits asked for that the backend cannot set.
func (f Features) Missing(l plan.Limits) []string {
	var missing []string
	for _, one := range []struct {
		name       string
		asked, can bool
	}{{"cpus", l.CPUs > 0, f.CPUs}, {"cpuset", len(l.Cores) > 0, f.Cores}, {"memory", l.Memory > 0, f.Memory}, {"pids", l.PIDs > 0, f.PIDs}} {
		if one.asked && !one.can {
			missing = append(missing, one.name)
		}
	}
	return missing
}

// RunID names a run: letters, digits, dashes and underscores, at most 64, the
// first a letter or a digit. It appears in names on the hosts.
type RunID string

var errRun = errors.New("want letters, digits, dashes and underscores, at most 64, the first a letter or a digit")

// Check refuses what could not be part of every name.
func (r RunID) Check() error {
	if r == "" || len(r) > 64 || r[0] == '-' || r[0] == '_' || Safe(string(r)) != string(r) || strings.Contains(string(r), ".") {
		return fmt.Errorf("run id %q: %w", string(r), errRun)
	}
	return nil
}

// Safe makes a part of a file or group name of a text: what is not a letter,
// digit, dash, underscore or dot becomes an underscore.
func Safe(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' {
			return c
		}
		return '_'
	}, text)
}

// Site is a host as an experiment sees it.
type Site struct {
	Host host.Host
	// Name is the host's name in the experiment; "" is this machine.
	Name string
	// Address is under which the load and gateways reach it; "" is 127.0.0.1
	// for this machine, and a mistake for others.
	Address string
	// Self is a command on another host that does there what needs to be done
	// on the spot: our own program, copied there, with the words that lead to
	// process.Serve. Nil: it cannot be done; on this machine it is not needed.
	Self []string
	// Dir is an absolute folder on the host for the folders of runs; "" is the
	// host's folder for temporary files.
	Dir string
}

// Here reports whether the site is this machine.
func (s Site) Here() bool { return s.Name == "" }

var (
	errAddress = errors.New("no address under which it can be reached")
	errHost    = errors.New("no host")
)

// Reach is the address of the site.
func (s Site) Reach() string {
	if s.Address == "" && s.Here() {
		return "127.0.0.1"
	}
	return s.Address
}

func (s Site) check() error {
	switch {
	case s.Host == nil:
		return fmt.Errorf("host %q: %w", s.Name, errHost)
	case s.Reach() == "":
		return fmt.Errorf("host %q: %w", s.Name, errAddress)
	}
	return nil
}

// Request is an instance to be started.
type Request struct {
	Run     RunID
	Service plan.Service
	Index   int // of the instance, from 0
	Site    Site
	// Ports hands out ports; the instances of a run share one.
	Ports *Ports
	// Base is the absolute folder of the experiment file, where relative
	// folders of the service begin.
	Base string
	// Render makes the program of a catalog service; nil takes it from
	// Service.Process.
	Render func(Setting) (Program, error)
	// Suggested are cores that the plan gives to the instance and that nobody
	// asked for: where they cannot be set, that is a note.
	Suggested []int
	// Advisory makes a note of a limit that cannot be set, instead of an error.
	Advisory bool
	// Grace is the time between SIGTERM and SIGKILL at the stop; default 5 s.
	Grace time.Duration
	// Record keeps what is about to exist, before it exists, and is called
	// again when more is known; its error stops the start. Nil keeps nothing.
	Record func(Record) error
}

// Name is the instance's name for people: app[0].
func (r Request) Name() string { return r.Service.Name + "[" + strconv.Itoa(r.Index) + "]" }

// Label is its name in names on the host: prony-RUN.app.0; no part of a run id
// is a dot, so that the run can be read from it.
func (r Request) Label() string {
	return Prefix(r.Run) + strings.ReplaceAll(Safe(r.Service.Name), ".", "_") + "." + strconv.Itoa(r.Index)
}

// Setting is what is known when an instance starts.
type Setting struct {
	Host string // address to listen on: ${host}
	Port int    // ${port}
	Work string // absolute folder on the host: ${work}
	Site Site   // where that is
}

// URL is the base URL of a server there.
func (s Setting) URL() string { return "http://" + net.JoinHostPort(s.Host, strconv.Itoa(s.Port)) }

// values are the variables of a service's texts.
func (s Setting) values() map[string]string {
	return map[string]string{"host": s.Host, "port": strconv.Itoa(s.Port), "work": s.Work}
}
