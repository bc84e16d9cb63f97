package monitor

import (
	"bytes"
	"strconv"
	"strings"

	"prony/internal/proc"
)

// tree knows which process started which. Listing all processes costs, so it
// is done when the kernel has given out a new id, and now and then.
type tree struct {
	parents map[int]int
	last    int64 // the id that was given out last
	changed bool  // by the last refresh
	lists   bool  // folders can be listed
	uptime  float64
	before  float64 // uptime at the sample before
	task    proc.Task
}

func newTree() *tree { return &tree{parents: map[int]int{}, last: absent, lists: true} }

// refresh brings the tree up to date. The last id is that of /proc/loadavg.
func (t *tree) refresh(c *collector, last int64, known bool) {
	t.before = t.uptime
	t.uptime = uptime(c.src)
	t.changed = !known || last != t.last || c.slow()
	t.last = last
	if !t.changed {
		return
	}
	names, err := c.src.list("/proc")
	if t.lists = err == nil; !t.lists {
		return
	}
	now := make(map[int]int, len(t.parents))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if parent, ok := t.parents[pid]; ok {
			now[pid] = parent
		} else if into(c.src, "/proc/"+name+"/stat", &t.task) {
			now[pid] = t.task.Parent
		}
	}
	t.parents = now
}

// uptime is how long the machine has been up, in seconds; 0 if unknown.
func uptime(src source) float64 {
	b, err := src.read("/proc/uptime")
	if err != nil {
		return 0
	}
	first, _, _ := bytes.Cut(b, []byte{' '})
	seconds, err := strconv.ParseFloat(string(first), 64)
	if err != nil {
		return 0
	}
	return seconds
}

// born reports whether a process or thread began since the sample before, so
// that all of its counters belong to this one. Start is in ticks after boot.
func (t *tree) born(start int64) bool {
	return t.before > 0 && float64(start)/proc.TicksPerSecond >= t.before-0.01
}

// grow adds the descendants of the members.
func (t *tree) grow(src source, members map[int]bool) {
	if !t.lists {
		for pid := range members {
			children(src, pid, members)
		}
		return
	}
	for more := true; more; {
		more = false
		for pid, parent := range t.parents {
			if members[parent] && !members[pid] {
				members[pid], more = true, true
			}
		}
	}
}

// childrenMax bounds a tree whose folders cannot be listed.
const childrenMax = 1000

// children adds what the first thread of a process started, and what those did:
// the best that can be had without listing folders.
func children(src source, pid int, members map[int]bool) {
	id := strconv.Itoa(pid)
	b, err := src.read("/proc/" + id + "/task/" + id + "/children")
	if err != nil {
		return
	}
	for _, name := range strings.Fields(string(b)) {
		child, err := strconv.Atoi(name)
		if err != nil || members[child] || len(members) >= childrenMax {
			continue
		}
		members[child] = true
		children(src, child, members)
	}
}

// pids reads a file that lists processes or threads.
func pids(src source, name string) []int {
	b, err := src.read(name)
	if err != nil {
		return nil
	}
	var all []int
	for _, w := range strings.Fields(string(b)) {
		if pid, err := strconv.Atoi(w); err == nil {
			all = append(all, pid)
		}
	}
	return all
}
