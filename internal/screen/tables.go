package screen

import (
	"fmt"
	"math"
	"strconv"

	"charm.land/lipgloss/v2"

	"prony/internal/result"
)

// processors is the bar of a host's cores.
func (t *theme) processors(o *result.Observed) cell {
	return t.bar(part{now(o, result.HostUser), t.full, t.user}, part{now(o, result.HostSystem), t.part, t.system},
		part{now(o, result.HostSoftIRQ), t.some, t.softirq}, part{now(o, result.HostSteal), t.thin, t.lost})
}

// hosts is a row for each machine.
func (t *theme) hosts(s *state) table {
	legend := fmt.Sprintf("%s user %s sys %s irq %s steal", t.full, t.part, t.some, t.thin)
	short := fmt.Sprintf("%sus %ssy %sir %sst", t.full, t.part, t.some, t.thin)
	all := table{columns: []column{{title: "HOSTS", width: 10, grow: 1, most: 24}, {title: legend, short: short, width: 14, grow: 3},
		{title: "CORES", width: 9, right: true}, {title: "MEMORY", width: 13, right: true}, {title: "RUN", width: 4, right: true},
		{title: "IN B/s", width: 6, right: true}, {title: "OUT B/s", short: "OUTB/s", width: 6, right: true}, {title: "RTX/s", width: 5, right: true},
		{title: "STEAL", width: 5, right: true, from: 140}, {title: "MAXCORE", width: 7, right: true, from: 110},
		{title: "IOWAIT", width: 6, right: true, from: 140}}}
	for _, o := range s.of(result.OfHost) {
		in, out := s.traffic(o.Host)
		busy, cores := now(o, result.HostBusy), now(o, cpusOnline)
		total := now(o, result.MemoryTotal)
		all.rows = append(all.rows, []cell{t.label(t.plain, hostName(o.Host)), t.processors(o),
			t.figure(t.graded(busy), ofLimit(coresText(busy*cores), wholeCores(cores))),
			t.figure(t.graded((total-now(o, result.MemoryAvailable))/total), ofLimit(size(total-now(o, result.MemoryAvailable)), size(total))),
			t.number(rounded(now(o, result.RunQueue))), t.number(si(in)), t.number(si(out)), t.alarm(now(o, result.RetransSegments)),
			t.figure(t.graded(10*now(o, result.HostSteal)), share(now(o, result.HostSteal))),
			t.figure(t.graded(now(o, result.CoreBusyMax)), share(now(o, result.CoreBusyMax))), t.number(share(now(o, result.HostIOWait)))})
	}
	return all
}

// alarm is a rate that should be zero.
func (t *theme) alarm(v float64) cell {
	if v > 0 {
		return t.figure(t.fair, si(v))
	}
	return t.number(si(v))
}

func coresText(v float64) string {
	if math.IsNaN(v) || v < 0 {
		return none
	}
	return three(v)
}

func wholeCores(v float64) string {
	if math.IsNaN(v) {
		return none
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// ofLimit is "used/limit", as far as it is known; the limit is as wide as it
// ever is, so that the stroke stays in its place.
func ofLimit(used, limit string) string {
	if limit == none {
		return used
	}
	return used + "/" + limit
}

// instance names an instance of a service, "api[1]". Of a long name the number
// stays.
func (t *theme) instance(o *result.Observed) cell {
	name, number := t.clean(owner(o)), "["+strconv.Itoa(o.Instance)+"]"
	return func(w int) string { return t.left(t.cut(name, max(w-len(number), 1))+number, w) }
}

// services is a row for each instance.
func (t *theme) services(s *state) table {
	all := table{columns: []column{{title: "SERVICES", width: 14, grow: 2, most: 36}, {title: "CPU", width: 8, grow: 3, most: 60},
		{title: "CORES", width: 9, right: true}, {title: "THROT", width: 5, right: true}, {title: "MEMORY", width: 13, right: true},
		{title: "THRDS", width: 5, right: true}, {title: "FILES", width: 6, right: true}, {title: "REQ/s", width: 5, right: true},
		{title: "HEAP", width: 13, right: true, from: 120}, {title: "GC", width: 5, right: true, from: 110}, {title: "HOST", width: 12, from: 140}}}
	for _, o := range s.of(result.OfService) {
		all.rows = append(all.rows, t.service(s, o))
	}
	return all
}

func (t *theme) service(s *state, o *result.Observed) []cell {
	used, limit := now(o, result.CPUCores), fact(o, "cpu_quota_cores")
	bound := limit
	if math.IsNaN(bound) { // all that its host has
		for _, h := range s.of(result.OfHost) {
			if h.Host == o.Host {
				bound = now(h, cpusOnline)
			}
		}
	}
	memory, most := first(now(o, result.MemoryUsed), now(o, result.ResidentSet)), fact(o, "memory_limit_bytes")
	style := t.plain
	if !math.IsNaN(most) {
		style = t.graded(memory / most)
	}
	vm, server := s.partOf(result.OfJVM, o), s.partOf(result.OfServer, o)
	return []cell{t.instance(o), t.gauge(used / bound), t.figure(t.graded(used/bound), ofLimit(coresText(used), wholeCores(limit))),
		t.figure(t.graded(10*now(o, result.Throttled)), share(now(o, result.Throttled))), t.figure(style, ofLimit(size(memory), size(most))),
		t.number(rounded(now(o, result.Threads))), t.number(rounded(now(o, result.Files))), t.number(si(now(server, result.ServerRequests))),
		t.number(ofLimit(size(now(vm, result.HeapUsed)), size(first(now(vm, result.HeapMax), now(vm, result.HeapCapacity))))),
		t.figure(t.graded(5*now(vm, result.GCTime)), share(now(vm, result.GCTime))), t.label(t.dim, hostName(o.Host))}
}

// machines is a row for each JVM.
func (t *theme) machines(s *state) table {
	all := table{columns: []column{{title: "JVM", width: 14, grow: 2, most: 36}, {title: "HEAP", width: 8, grow: 3, most: 60},
		{title: "USED", width: 13, right: true}, {title: "OLD", width: 6, right: true}, {title: "GC", width: 5, right: true},
		{title: "GC/s", width: 5, right: true}, {title: "SAFEP", width: 5, right: true}, {title: "RUNBL", width: 5, right: true},
		{title: "BLOCK", width: 5, right: true}, {title: "WAIT", width: 5, right: true, from: 90}, {title: "TIMED", width: 5, right: true, from: 100},
		{title: "THRDS", width: 5, right: true, from: 110}, {title: "COLLECTOR", width: 12, from: 140}}}
	for _, o := range s.of(result.OfJVM) {
		used, most := now(o, result.HeapUsed), first(now(o, result.HeapMax), now(o, result.HeapCapacity))
		all.rows = append(all.rows, []cell{t.instance(o), t.gauge(used / most), t.number(ofLimit(size(used), size(most))),
			t.number(size(now(o, result.OldUsed))), t.figure(t.graded(5*now(o, result.GCTime)), share(now(o, result.GCTime))),
			t.number(si(now(o, result.GCCount))), t.number(share(now(o, result.SafepointTime))),
			t.number(rounded(now(o, result.Runnable))), t.number(rounded(now(o, result.Blocked))), t.number(rounded(now(o, result.Waiting))),
			t.number(rounded(now(o, result.TimedWaiting))), t.number(rounded(now(o, result.LiveThreads))), t.label(t.dim, o.Facts["collector"])})
	}
	return all
}

// pools is a row for each pool of threads of a JVM; a single thread is none.
func (t *theme) pools(s *state) table {
	all := table{columns: []column{{title: "POOLS", width: 12, grow: 1, most: 28}, {title: "THREADS", width: 16, grow: 2, most: 30}, {title: "BUSY", width: 8, grow: 3, most: 60},
		{title: "OF ALL", width: 9, right: true}, {title: "RUN", width: 5, right: true}, {title: "IN I/O", width: 6, right: true}, {title: "BLOCK", width: 5, right: true}}}
	for _, o := range s.of(result.OfPool) {
		busy, size := now(o, result.PoolBusy), now(o, result.PoolThreads)
		if !(size > 1) {
			continue
		}
		all.rows = append(all.rows, []cell{t.instance(o), t.label(t.plain, o.Name), t.gauge(busy / size), t.figure(t.graded(busy/size), ofLimit(rounded(busy), rounded(size))),
			t.number(rounded(now(o, result.PoolRunning))), t.number(rounded(now(o, result.PoolInIO))), t.number(rounded(now(o, result.PoolBlocked)))})
	}
	return all
}

// servers is a row for each web server that counts.
func (t *theme) servers(s *state) table {
	all := table{columns: []column{{title: "SERVERS", width: 14, grow: 2, most: 36}, {title: "REQ/s", width: 6, right: true},
		{title: "ACCEPT/s", width: 8, right: true}, {title: "ACTIVE", width: 6, right: true}, {title: "READ", width: 6, right: true},
		{title: "WRITE", width: 6, right: true}, {title: "WAIT", width: 6, right: true}, {title: "UPCONN/s", width: 8, right: true}}}
	for _, o := range s.of(result.OfServer) {
		all.rows = append(all.rows, []cell{t.instance(o), t.number(si(now(o, result.ServerRequests))),
			t.number(si(now(o, result.ServerAccepts))), t.number(rounded(now(o, result.ServerActive))), t.number(rounded(now(o, result.ServerReading))),
			t.number(rounded(now(o, result.ServerWriting))), t.number(rounded(now(o, result.ServerWaiting))), t.number(si(now(o, result.UpstreamConnects)))})
	}
	return all
}

// links is a row for each network interface.
func (t *theme) links(s *state) table {
	all := table{columns: []column{{title: "NETWORK", width: 14, grow: 1, most: 36}, {title: "IN B/s", width: 6, right: true}, {title: "OUT B/s", short: "OUTB/s", width: 6, right: true},
		{title: "PKTS IN", width: 7, right: true}, {title: "PKTS OUT", width: 8, right: true}, {title: "DROPS/s", width: 7, right: true}, {title: "OF LINK", width: 7, right: true}}}
	for _, o := range s.of(result.OfInterface) {
		in, out := now(o, result.BytesIn), now(o, result.BytesOut)
		used := 8 * max(first(in, 0), first(out, 0)) / now(o, result.LinkSpeed)
		all.rows = append(all.rows, []cell{t.label(t.plain, hostName(o.Host)+" "+o.Name), t.number(si(in)), t.number(si(out)),
			t.number(si(now(o, result.PacketsIn))), t.number(si(now(o, result.PacketsOut))), t.alarm(now(o, result.LinkDrops)), t.figure(t.graded(used), share(used))})
	}
	return all
}

// threads is a row for each group of threads of a name.
func (t *theme) threads(some []*result.Observed) table {
	all := table{columns: []column{{title: "SERVICE", width: 14, grow: 1, most: 28}, {title: "THREADS", width: 16, grow: 1, most: 30}, {title: "", width: 5, right: true},
		{title: "CPU", width: 8, grow: 3, most: 60}, {title: "CORES", width: 5, right: true}, {title: "BUSIEST", width: 7, right: true},
		{title: "WAITED", width: 6, right: true}, {title: "SWITCH/s", width: 8, right: true}, {title: "STATE D", width: 7, right: true, from: 100}}}
	for _, o := range some {
		used, busiest := now(o, result.CPUCores), now(o, result.ThreadMax)
		all.rows = append(all.rows, []cell{t.instance(o), t.label(t.plain, o.Name), t.number(rounded(now(o, result.Threads))),
			t.gauge(used / now(o, result.Threads)), t.number(coresText(used)), t.figure(t.graded(busiest), share(busiest)),
			t.number(coresText(now(o, result.RunDelay))), t.number(si(now(o, result.Voluntary) + now(o, result.Involuntary))), t.number(coresText(now(o, result.SleepD)))})
	}
	return all
}

// remarkFrom is the width of a table of trials that has room for the remarks;
// below it they stand on lines of their own.
const remarkFrom = 110

// remarked is the lines of trials, with a line for the remark of each if that is
// asked for.
func (t *theme) remarked(rows []row, base float64, per, w int) []string {
	lines := t.trials(rows, base).lines(t, w)
	if per < 2 {
		return lines
	}
	both := lines[:1:1]
	for i, r := range rows {
		both = append(both, lines[i+1], t.dim.Render(t.cut(spaces(7)+t.clean(r.remark(r.limitLong)), w)))
	}
	return both
}

// trials is a row for each trial that is done; base is the rate of the baseline so
// far.
func (t *theme) trials(rows []row, base float64) table {
	all := table{columns: []column{{title: "TRIALS", width: 6}, {title: "BLOCK", width: 5, right: true}, {title: "VARIANT", width: 16, grow: 2, most: 60},
		{title: "REQ/s", width: 6, right: true}, {title: "xBASE", width: 5, right: true, from: 100}, {title: "P50", width: 6, right: true}, {title: "P99", width: 6, right: true}, {title: "MAX", width: 6, right: true},
		{title: "FAILED", width: 6, right: true}, {title: "VERDICT", width: 7}, {title: "LIMITED BY, FAILURES", width: 20, grow: 3, from: remarkFrom}}}
	for _, r := range rows {
		word, style := t.verdict(r.verdict, r.error != "")
		failed := t.plain
		if r.failed > 0 {
			failed = t.fair
		}
		all.rows = append(all.rows, []cell{t.number(strconv.Itoa(r.number)), t.number(strconv.Itoa(r.block + 1)), t.label(t.plain, r.variant),
			t.number(si(r.rate)), t.number(r.times(base)), t.number(t.span(r.p50)), t.number(t.span(r.p99)), t.number(t.span(r.top)), t.figure(failed, whole(r.failed)),
			t.label(style, word), t.label(t.dim, r.remark(r.limit))})
	}
	return all
}

func (r row) remarked() bool { return r.error != "" || r.failures != "" || r.limit != "" }

// remark is why a trial has no result, or how it failed and what limited it, in
// few or in many words.
func (r row) remark(limit string) string {
	switch {
	case r.error != "":
		return r.error
	case r.failures != "" && limit != "":
		return r.failures + "; " + limit
	}
	return r.failures + limit
}

// found is the lines of the findings, newest first.
func (t *theme) found(s *state, w int) []string {
	var all []string
	for _, f := range s.findings {
		mark, style := t.severity(f.Severity)
		text := f.Message
		if f.Where != "" {
			text = f.Where + ": " + text
		}
		if f.of != nil {
			text = fmt.Sprintf("trial %d: %s", f.of.number, text)
		}
		for i, line := range t.wrapped(t.clean(text), max(w-2, 1)) {
			if i > 0 {
				mark = spaces(width(mark))
			}
			all = append(all, style.Render(mark)+" "+paintIf(f.Severity, style, line))
		}
	}
	return all
}

// paintIf colours what changes the verdict.
func paintIf(s result.Severity, style lipgloss.Style, text string) string {
	if s == result.InvalidLevel || s == result.SuspectLevel {
		return text
	}
	return style.Render(text)
}
