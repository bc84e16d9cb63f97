package jvm

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Thread is a thread of a virtual machine.
type Thread struct {
	Name string // in full, where the kernel has 15 bytes
	// State is that of java.lang.Thread.State, RUNNABLE to TERMINATED; "" for
	// the machine's own threads. A thread that waits for a socket is RUNNABLE.
	State  string
	ID     int           // the kernel's
	CPU    time.Duration // since it began; 0 before JDK 11
	Daemon bool
}

// Dump is what all threads were doing at one moment.
type Dump struct {
	States  map[string]int // how many Java threads were in each
	Threads []Thread       // the busiest so far first
}

// Threads makes a thread dump. It stops the machine for some milliseconds. See
// [Command] for what it needs.
func Threads(ctx context.Context, pid int) (Dump, error) {
	text, err := Command(ctx, pid, "threaddump")
	if err != nil {
		return Dump{}, err
	}
	return ParseDump(text), nil
}

// ParseDump reads a thread dump as HotSpot prints it:
//
//	"main" #1 prio=5 os_prio=0 cpu=61.09ms elapsed=2.02s tid=0x... nid=0x1a2b waiting on condition  [0x...]
//	   java.lang.Thread.State: TIMED_WAITING (sleeping)
//
// Lines that do not read are skipped. A name may hold anything but the end of a
// line.
func ParseDump(text string) Dump {
	d := Dump{States: map[string]int{}}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if state, ok := strings.CutPrefix(line, "   java.lang.Thread.State: "); ok && len(d.Threads) > 0 {
			last := &d.Threads[len(d.Threads)-1]
			if word, _, _ := strings.Cut(state, " "); last.State == "" && known(word) {
				last.State = word
				d.States[word]++
			}
			continue
		}
		if t, ok := parseThread(line); ok {
			d.Threads = append(d.Threads, t)
		}
	}
	slices.SortStableFunc(d.Threads, func(a, b Thread) int { return cmp.Compare(b.CPU, a.CPU) })
	return d
}

// known tells the states of java.lang.Thread.
func known(state string) bool {
	return slices.Contains([]string{"NEW", "RUNNABLE", "BLOCKED", "WAITING", "TIMED_WAITING", "TERMINATED"}, state)
}

// parseThread reads the first line of a thread. The number is hexadecimal with
// 0x up to JDK 20, and decimal after it.
func parseThread(line string) (Thread, bool) {
	end := strings.LastIndex(line, `" `)
	nid := strings.LastIndex(line, " nid=")
	if !strings.HasPrefix(line, `"`) || end < 1 || nid < end {
		return Thread{}, false
	}
	t := Thread{Name: line[1:end]}
	number, _, _ := strings.Cut(line[nid+len(" nid="):], " ")
	id, err := strconv.ParseInt(number, 0, 32)
	if err != nil {
		return Thread{}, false
	}
	t.ID = int(id)
	for _, word := range strings.Fields(line[end+1 : nid]) {
		if word == "daemon" {
			t.Daemon = true
		}
		if text, ok := strings.CutPrefix(word, "cpu="); ok {
			if spent, err := time.ParseDuration(text); err == nil {
				t.CPU = spent
			}
		}
	}
	return t, true
}
