// Package doctor looks at a machine as one would before a measurement: is it fit
// to measure, and if not, what to do.
//
// It is for "prony doctor" and for runs, which keep its answers with their
// results. Each check says what it found, what it wants, why that matters to a
// number, and a command to copy. Kernel settings that are safe to change while
// the machine runs can be set by [Fix], which writes down the old values first;
// [Undo] puts them back.
//
// It decides that what cannot be read is unknown, never good, and that nothing
// is changed unless asked. It refuses to touch anything but the settings it
// lists: no file on disk, no boot option, no service.
package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// State of a check.
type State string

const (
	Good    State = "good"
	Warn    State = "warn"    // numbers may suffer
	Bad     State = "bad"     // numbers will be wrong, or something will fail
	Unknown State = "unknown" // it cannot be read here
)

// Check is one question to the machine and its answer.
type Check struct {
	Name  string `json:"name"` // a stable slug
	State State  `json:"state"`
	Found string `json:"found"`
	Want  string `json:"want,omitempty"`
	// Why it matters to a measurement; empty when all is well.
	Why string `json:"why,omitempty"`
	// Remedy is a command to copy, or what else to do.
	Remedy string `json:"remedy,omitempty"`
	// Setting is the kernel setting that Fix may change, with the value it would
	// get; empty if there is none.
	Setting *Setting `json:"setting,omitempty"`
}

// Setting is a value below /proc/sys.
type Setting struct {
	Key   string `json:"key"` // net.core.somaxconn
	Value string `json:"value"`
}

// Config is where to look. The zero value is this machine.
type Config struct {
	// Root of the file system that /proc and /sys are below; default "/".
	Root string
	// Sample is how long CPU time is watched; default 2 s.
	Sample time.Duration
	// Engine says which event loop there is, and why not a better one; nil leaves
	// the question out.
	Engine func() (kind, reason string)
	// Docker reports the version of the engine that answers; nil leaves the
	// question out.
	Docker func(ctx context.Context) (version string, err error)
	// Groups reports whether limits can be set; nil leaves the question out.
	Groups func() error
	// Files are the open files allowed, soft and hard; nil leaves the question
	// out.
	Files func() (soft, hard uint64, ok bool)
}

func (c Config) withDefaults() Config {
	if c.Root == "" {
		c.Root = "/"
	}
	if c.Sample == 0 {
		c.Sample = 2 * time.Second
	}
	return c
}

// Run asks everything. It takes the time of the sample.
func Run(ctx context.Context, c Config) []Check {
	c = c.withDefaults()
	var all []Check
	for _, ask := range []func(context.Context, Config) []Check{cpuTime, clocks, processor, memory, limits, sockets, network, parts} {
		all = append(all, ask(ctx, c)...)
	}
	return all
}

// Worst is the gravest state among checks; what is unknown is no complaint.
func Worst(all []Check) State {
	rank := map[State]int{Good: 0, Unknown: 0, Warn: 1, Bad: 2}
	worst := Good
	for _, c := range all {
		if rank[c.State] > rank[worst] {
			worst = c.State
		}
	}
	return worst
}

// text reads a small file below the root, trimmed.
func (c Config) text(name string) (string, bool) {
	b, err := os.ReadFile(filepath.Join(c.Root, name))
	return strings.TrimSpace(string(b)), err == nil
}

// number reads a file that holds a number.
func (c Config) number(name string) (int64, bool) {
	text, ok := c.text(name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil
}

// unknown is the answer to what cannot be read.
func unknown(name, what string) Check {
	return Check{Name: name, State: Unknown, Found: what + " cannot be read here"}
}
