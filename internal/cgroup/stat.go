package cgroup

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Unknown stands for a counter that the host does not have.
const Unknown = -1

// Stat is what a group used and what was held back since it was made. A field
// that the host does not count is [Unknown]; Throttling has its own ok.
type Stat struct {
	CPU         time.Duration // time on cores, user and system
	Memory      int64         // bytes now, page cache included
	MemoryPeak  int64         // bytes at most, a few pages over the limit possible (version 2: since Linux 5.19)
	OOMKills    int64         // processes killed because of the memory limit
	Pids        int64         // processes and threads now
	Throttled   Throttling    // by the CPU quota
	ThrottledOK bool          // Throttled is known
}

// counter is a number in a file: the whole file, or the line that begins with
// a word.
type counter struct {
	controller controller
	name, word string
	scale      int64 // to nanoseconds, for times
}

// counters lists the files of a version (cgroup-v1/memory.rst, cpuacct.rst,
// pids.rst; cgroup-v2.rst).
func counters(v Version) map[string]counter {
	if v == V1 {
		return map[string]counter{
			"cpu": {cpuacct, "cpuacct.usage", "", 1}, "memory": {memory, "memory.usage_in_bytes", "", 1},
			"peak": {memory, "memory.max_usage_in_bytes", "", 1}, "oom": {memory, "memory.oom_control", "oom_kill", 1},
			"pids": {pids, "pids.current", "", 1},
		}
	}
	return map[string]counter{
		"cpu": {"", "cpu.stat", "usage_usec", 1000}, "memory": {memory, "memory.current", "", 1},
		"peak": {memory, "memory.peak", "", 1}, "oom": {memory, "memory.events", "oom_kill", 1},
		"pids": {pids, "pids.current", "", 1},
	}
}

// Stat reads the counters. It fails where one that the host has does not read
// or parse: the group was removed, say.
func (o *Owned) Stat() (Stat, error) {
	var errs []error
	get := func(what string) int64 {
		for _, b := range o.trees {
			c := counters(b.version)[what]
			if c.controller != "" && b.has(c.controller) || c.controller == "" && b.version == V2 && !o.counts() {
				n, err := c.read(b.dir)
				errs = append(errs, absent(err))
				if err == nil {
					return n
				}
			}
		}
		return Unknown
	}
	s := Stat{CPU: time.Duration(get("cpu")), Memory: get("memory"), MemoryPeak: get("peak"), OOMKills: get("oom"), Pids: get("pids")}
	if p, ok := o.places[cpu]; ok {
		t, err := parsed(filepath.Join(p.dirs[0], "cpu.stat"), parseThrottling)
		s.Throttled, s.ThrottledOK = t, err == nil
	}
	if err := errors.Join(errs...); err != nil {
		return s, fmt.Errorf("read the counters of control group %q: %w", o.name, err)
	}
	if s.CPU == Unknown && s.Memory == Unknown && s.Pids == Unknown {
		return s, fmt.Errorf("read the counters of control group %q: %w", o.name, errGone)
	}
	return s, nil
}

var errGone = errors.New("it has none: was it removed?")

func (b branch) has(c controller) bool {
	for _, one := range b.controllers {
		if one == c {
			return true
		}
	}
	return false
}

// counts reports whether a version 1 hierarchy counts the CPU time.
func (o *Owned) counts() bool {
	p, ok := o.places[cpuacct]
	return ok && p.version == V1
}

func (c counter) read(dir string) (int64, error) {
	n, err := parsed(filepath.Join(dir, c.name), c.parse)
	return n, err
}

var errLine = errors.New("no such line")

// parse finds the number.
func (c counter) parse(text string) (int64, error) {
	for line := range strings.Lines(text) {
		word, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if c.word == "" {
			word, value = "", word
		}
		if word != c.word {
			continue
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("line %q: %w", strings.TrimSpace(line), errAmount)
		}
		return min(n, math.MaxInt64/c.scale) * c.scale, nil
	}
	return 0, fmt.Errorf("%q: %w", c.word, errLine)
}
