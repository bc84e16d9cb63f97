package jvm

import (
	"cmp"
	"slices"
	"strings"
)

// Pool is the Java threads of one name with a number at its end, such as
// "http-nio-8080-exec-7".
type Pool struct {
	Name    string // without the number: "http-nio-8080-exec-"
	Threads int
	// Busy are those that have something to do: all but the idle. They run, or
	// are InIO, or are Blocked, or wait for something else.
	Busy    int
	Running int // RUNNABLE and not InIO
	InIO    int // wait for a socket
	Blocked int // wait for a monitor that another thread holds
}

// poolsOf groups threads by name.
func poolsOf(threads []Thread) []Pool {
	var all []Pool
	index := map[string]int{}
	for _, t := range threads {
		name := strings.TrimRight(t.Name, "0123456789")
		if t.State == "" || len(name) == len(t.Name) || name == "" {
			continue
		}
		i, ok := index[name]
		if !ok {
			i = len(all)
			index[name] = i
			all = append(all, Pool{Name: name})
		}
		all[i].add(t)
	}
	slices.SortStableFunc(all, func(a, b Pool) int {
		return cmp.Or(cmp.Compare(b.Threads, a.Threads), strings.Compare(a.Name, b.Name))
	})
	return all
}

func (p *Pool) add(t Thread) {
	p.Threads++
	if t.Idle {
		return
	}
	p.Busy++
	switch {
	case t.InIO:
		p.InIO++
	case t.State == "RUNNABLE":
		p.Running++
	case t.State == "BLOCKED":
		p.Blocked++
	}
}

// stack is what is kept of a thread's frames, of which the innermost comes
// first.
type stack struct {
	frames int
	parked bool // in a pool's place for those without work
	loop   bool // innermost it waits at a selector
	io     bool // innermost it waits for one socket
	queue  int  // number of the outermost frame that takes from a queue; 0 for none
}

// innermost is how many frames can be the way into the kernel.
const innermost = 3

// add reads "java.lang.Thread.sleep(java.base@17.0.15/Native Method)".
func (s *stack) add(frame string) {
	s.frames++
	method, _, _ := strings.Cut(frame, "(")
	dot := strings.LastIndexByte(method, '.')
	if dot < 0 {
		return
	}
	class, name := method[:dot], method[dot+1:]
	s.parked = s.parked || parks(class, name)
	if s.frames <= innermost {
		s.loop = s.loop || selects(class, name)
	}
	if s.frames <= innermost-1 {
		s.io = s.io || awaitsSocket(class, name)
	}
	if takes(class, name) {
		s.queue = s.frames
	}
}

// idle reports whether the thread was handed nothing. One that takes from a queue
// in or just below its outermost method is a worker of a pool that we do not
// know; further in it waits for an answer.
func (s *stack) idle(state string) bool {
	const below = 3
	switch state {
	case "RUNNABLE":
		return s.loop
	case "WAITING", "TIMED_WAITING":
		return s.parked || s.queue > 0 && s.frames-s.queue < below
	}
	return false
}

// parks tells where pools keep those without work.
func parks(class, method string) bool {
	switch method {
	case "getTask":
		return strings.HasSuffix(class, ".ThreadPoolExecutor")
	case "awaitWork":
		return class == "java.util.concurrent.ForkJoinPool"
	case "idleJobPoll":
		return strings.HasPrefix(class, "org.eclipse.jetty.util.thread.QueuedThreadPool")
	case "reservedWait":
		return strings.HasPrefix(class, "org.eclipse.jetty.util.thread.ReservedThreadExecutor")
	case "park":
		return class == "org.jboss.threads.EnhancedQueueExecutor$PoolThreadNode"
	case "takeTask":
		return strings.HasPrefix(class, "io.netty.util.concurrent.")
	}
	return false
}

// selects tells where event loops wait for any of their sockets.
func selects(class, method string) bool {
	switch class {
	case "sun.nio.ch.EPoll", "sun.nio.ch.EPollArrayWrapper":
		return method == "wait" || method == "epollWait"
	case "io.netty.channel.epoll.Native", "io.netty.channel.uring.Native":
		return strings.HasPrefix(method, "epollWait") || strings.HasPrefix(method, "epollBusyWait") || strings.HasPrefix(method, "ioUringEnter")
	}
	return false
}

// awaitsSocket tells where a thread waits for one socket.
func awaitsSocket(class, method string) bool {
	switch class {
	case "sun.nio.ch.Net":
		return method == "poll" || method == "accept" || method == "pollConnect"
	case "sun.nio.ch.SocketDispatcher":
		return strings.HasPrefix(method, "read")
	case "java.net.SocketInputStream", "java.net.PlainSocketImpl":
		return method == "socketRead0" || method == "socketAccept" || method == "socketConnect"
	}
	return false
}

// takes tells how something is taken from a queue.
func takes(class, method string) bool {
	return (strings.HasSuffix(class, "Queue") || strings.HasSuffix(class, "Deque")) && (strings.HasPrefix(method, "take") || strings.HasPrefix(method, "poll"))
}
