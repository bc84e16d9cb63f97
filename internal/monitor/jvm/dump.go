package jvm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Thread is a thread of a virtual machine.
type Thread struct {
	Name string // in full, where the kernel has 15 bytes
	// State is that of java.lang.Thread.State, RUNNABLE to TERMINATED; "" for
	// the machine's own threads, those that run no Java (its compilers have a
	// state in the dump, which means nothing). A thread that waits for a socket
	// is RUNNABLE.
	State  string
	ID     int           // the kernel's
	CPU    time.Duration // since it began; 0 before JDK 11
	Daemon bool
	// Idle says that it waits for something to do: at the queue of its pool, or
	// as an event loop at its selector.
	Idle bool
	// InIO says that it waits for a socket, of a database or another service.
	InIO bool
}

// Dump is what all threads were doing at one moment. Virtual threads are not in
// it: the machine prints those that carry them only.
type Dump struct {
	States  map[string]int // how many Java threads were in each
	Threads []Thread       // the busiest so far first
	Pools   []Pool         // the largest first
}

// Threads makes a thread dump. It stops the machine meanwhile, for 0.1 ms a
// thread and more; see [Command] for what it needs.
func Threads(ctx context.Context, pid int) (Dump, error) {
	text, err := dump(ctx, pid)
	if err != nil {
		return Dump{}, fmt.Errorf("ask the virtual machine of process %d for its threads: %w", pid, err)
	}
	return ParseDump(text), nil
}

// dump asks in the way that stops the machine the least. From JDK 24 on it
// writes a dump in thousands of small pieces while all threads stand still,
// unless a request of the protocol's second version tells it not to; that was
// measured to take three to four times as long.
func dump(ctx context.Context, pid int) (string, error) {
	const command = "threaddump"
	t, err := reach(ctx, pid)
	if err != nil {
		return "", err
	}
	answer, err := t.ask(ctx, plain("getversion", "options"))
	switch {
	case errors.Is(err, errRefused): // it is older than the question
	case err != nil:
		return "", err
	case streams(answer):
		return t.ask(ctx, whole(command))
	}
	return t.ask(ctx, plain(command))
}

// streams reads the answer "2 streaming,other" to the question for a version and
// its options.
func streams(answer string) bool {
	version, options, _ := strings.Cut(strings.TrimSpace(answer), " ")
	n, err := strconv.Atoi(version)
	return err == nil && n >= 2 && slices.Contains(strings.Split(options, ","), "streaming")
}

// whole is a request in the protocol's second version, for an answer in one
// piece: the version, the length of what follows, the command with its options,
// and an argument, each with a zero byte behind it.
func whole(command string) string {
	text := command + " streaming=0\x00\x00"
	return fmt.Sprintf("2\x00%d\x00%s", len(text), text)
}

// ParseDump reads a thread dump as HotSpot prints it:
//
//	"main" #1 prio=5 os_prio=0 cpu=61.09ms elapsed=2.02s tid=0x... nid=0x1a2b waiting on condition  [0x...]
//	   java.lang.Thread.State: TIMED_WAITING (sleeping)
//		at java.lang.Thread.sleep(java.base@17.0.15/Native Method)
//
// Lines that do not read are skipped. A name may hold anything but the end of a
// line. What a thread does, by where it stands, is known for the pools of
// java.util.concurrent, Tomcat, Jetty, JBoss and Netty; elsewhere a thread that
// was handed nothing counts as busy only while it is not waiting at a queue.
func ParseDump(text string) Dump {
	d := Dump{States: map[string]int{}}
	var s stack
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if frame, ok := strings.CutPrefix(line, "\tat "); ok {
			s.add(frame)
			continue
		}
		if state, ok := strings.CutPrefix(line, "   java.lang.Thread.State: "); ok && len(d.Threads) > 0 {
			last := &d.Threads[len(d.Threads)-1]
			if word, _, _ := strings.Cut(state, " "); last.State == "" && known(word) {
				last.State = word
			}
			continue
		}
		if t, ok := parseThread(line); ok {
			d.close(s)
			s = stack{}
			d.Threads = append(d.Threads, t)
		}
	}
	d.close(s)
	d.Pools = poolsOf(d.Threads)
	slices.SortStableFunc(d.Threads, func(a, b Thread) int { return cmp.Compare(b.CPU, a.CPU) })
	return d
}

// close counts the last thread, whose stack is complete.
func (d *Dump) close(s stack) {
	if len(d.Threads) == 0 {
		return
	}
	t := &d.Threads[len(d.Threads)-1]
	if s.frames == 0 || t.State == "" {
		t.State = ""
		return
	}
	d.States[t.State]++
	t.Idle = s.idle(t.State)
	t.InIO = !t.Idle && t.State == "RUNNABLE" && s.io
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
