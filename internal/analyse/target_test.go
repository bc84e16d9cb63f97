package analyse_test

import (
	"slices"
	"time"

	"prony/internal/plan"
	"prony/internal/result"
)

const (
	aHost    = result.OfHost
	aLink    = result.OfInterface
	aService = result.OfService
	aServer  = result.OfServer
	aJVM     = result.OfJVM
)

func pathCases() []ruleCase {
	return []ruleCase{
		{"bandwidth", "at ease", watched, same, ""},
		{"bandwidth", "80 %", watched, with(aLink, "eth0", result.BytesOut, 0.98e9, result.PacketsOut, 0.65e6), "note"},
		{"bandwidth", "full", watched, with(aLink, "eth0", result.BytesOut, 1.18e9, result.PacketsOut, 0.78e6), "note"},
		{"bandwidth", "speed unknown", watched, without(aLink, "eth0", result.LinkSpeed), "not run"},
		{"bandwidth", "loopback", onOneMachine, with(aLink, "lo", result.BytesOut, 4e9), ""},
		{"shaped-link", "at ease", watched, same, ""},
		{"shaped-link", "100 Mbit/s with loss", watched, all(with(aLink, "eth0", result.BytesIn, 12.2e6, result.PacketsIn, 8100.0), with(aHost, "", result.RetransSegments, 80.0)), "note"},
		{"shaped-link", "100 Mbit/s without loss", watched, with(aLink, "eth0", result.BytesIn, 12.2e6, result.PacketsIn, 8100.0), ""},
		{"packet-drops", "none", watched, same, ""},
		{"packet-drops", "a few", watched, with(aLink, "eth0", result.LinkDrops, 0.5), "note"},
		{"packet-drops", "the cloud's allowance", watched, with(aLink, "eth0", result.Metric("pps_allowance_exceeded_rate"), 7.0), "note"},
		{"packet-drops", "unknown", watched, without(aLink, "eth0", result.LinkDrops), "not run"},
		{"softnet", "none", watched, same, ""},
		{"softnet", "dropped", watched, with(aHost, "sut", result.SoftnetDrops, 1.0), "note"},
		{"softnet", "squeezed", watched, with(aHost, "sut", result.SoftnetSqueezed, 11.0), "note"},
		{"softnet", "unknown", watched, without(aHost, "sut", result.SoftnetDrops), "not run"},
		{"retransmits", "0.05 %", watched, with(aHost, "sut", result.RetransSegments, 8.0), ""},
		{"retransmits", "0.2 %", watched, with(aHost, "sut", result.RetransSegments, 32.0), "note"},
		{"retransmits", "timers behind a tail", watched, all(with(aHost, "sut", result.TCPTimeouts, 1.0), tail), "note"},
		{"retransmits", "unknown", watched, without(aHost, "sut", result.OutSegments), "not run"},
		{"time-wait", "few", watched, same, ""},
		{"time-wait", "most of the ports", watched, with(aHost, "sut", result.TimeWait, 15_000.0), "note"},
		{"time-wait", "no place", watched, with(aHost, "sut", result.TimeWaitOver, 1.0), "note"},
		{"time-wait", "unknown", watched, without(aHost, "", result.TimeWait), "not run"},
		{"accept-queue", "never full", watched, same, ""},
		{"accept-queue", "full", watched, with(aHost, "sut", result.ListenOverflows, 3.0, result.ListenDrops, 3.0), "note"},
		{"accept-queue", "full on another machine", watched, with(aHost, "", result.ListenOverflows, 3.0), ""},
		{"accept-queue", "unknown", watched, without(aHost, "sut", result.ListenOverflows), "not run"},
		{"syn-queue", "never full", watched, same, ""},
		{"syn-queue", "cookies", watched, with(aHost, "sut", result.SynCookies, 2.0), "note"},
		{"syn-queue", "unknown", watched, without(aHost, "sut", result.SynCookies, result.RequestQFull), "not run"},
		{"conntrack", "room", watched, same, ""},
		{"conntrack", "nearly full", watched, with(aHost, "sut", result.ConntrackUsed, 240_000.0), "note"},
		{"conntrack", "refused", watched, with(aHost, "sut", result.ConntrackDrops, 1.0), "note"},
		{"conntrack", "no table", watched, without(aHost, "sut", result.ConntrackUsed, result.ConntrackMax, result.ConntrackDrops), ""},
		{"softirq-skew", "even", watched, with(aHost, "sut", result.CoreSoftIRQMax, 0.7, result.CoreSoftIRQMed, 0.5), ""},
		{"softirq-skew", "one core", watched, with(aHost, "sut", result.CoreSoftIRQMax, 0.7), "note"},
		{"softirq-skew", "unknown", watched, without(aHost, "sut", result.CoreSoftIRQMax), "not run"},
	}
}

func tail(_ run, l load, _ gen) {
	l.Latency.Response = times(79_800, 8*time.Millisecond)
	l.Latency.Response.RecordN(int64(230*time.Millisecond), 200)
	l.Latency.Service = l.Latency.Response
	l.InFlight = (79_800*0.008 + 200*0.23) / 10
}

// quota gives app so many cores by quota.
func quota(n float64) func(run, load, gen) {
	return func(r run, _ load, _ gen) { r.Services[0].Limits.CPUs = n }
}

func targetCases() []ruleCase {
	full := with(aService, "app", result.CPUCores, 15.5, result.RunDelay, 2.0, result.ThreadMax, 0.97)
	return []ruleCase{
		{"cpu-quota", "no quota", watched, same, ""},
		{"cpu-quota", "0.5 %", watched, all(quota(2), with(aService, "app", result.Throttled, 0.005)), ""},
		{"cpu-quota", "2 %", watched, all(quota(2), with(aService, "app", result.Throttled, 0.02)), "note"},
		{"cpu-quota", "counted at the ends", func() *result.Run { r := watched(); r.Observed = nil; r.Services[0].ThrottledRatio = 0.2; return r }, quota(2), "note"},
		{"one-thread", "several", watched, same, ""},
		{"one-thread", "one of many", watched, with(aService, "app", result.CPUCores, 1.02, result.ThreadMax, 0.99), "note"},
		{"one-thread", "no idle core", watched, all(with(aService, "app", result.CPUCores, 1.02, result.ThreadMax, 0.99, result.RunDelay, 0.2), with(aHost, "sut", result.HostBusy, 0.8)), ""},
		{"one-thread", "no idle core, but it waited for none", watched, all(with(aService, "app", result.CPUCores, 1.02, result.ThreadMax, 0.99), with(aHost, "sut", result.HostBusy, 0.8)), "note"},
		{"one-thread", "all of many", watched, with(aService, "app", result.CPUCores, 12.0, result.ThreadMax, 0.99), ""},
		{"one-thread", "threads unknown", watched, without(aService, "app", result.ThreadMax), "not run"},
		{"target-cpu", "half", watched, with(aService, "app", result.CPUCores, 8.0), ""},
		{"target-cpu", "full", watched, all(full, with(aHost, "sut", result.HostBusy, 0.98)), "note"},
		{"target-cpu", "full, nobody waited", watched, with(aService, "app", result.CPUCores, 15.5, result.RunDelay, 0.1), ""},
		{"target-cpu", "full, waiting unknown", watched, all(full, without(aService, "app", result.RunDelay), without(aHost, "sut", result.PSICPUSome)), "not run"},
		{"target-cpu", "unknown", watched, without(aService, "app", result.CPUCores), "not run"},
		{"host-cpu", "at ease", watched, same, ""},
		{"host-cpu", "full", onOneMachine, with(aHost, "", result.HostBusy, 0.99, result.PSICPUSome, 0.6), "note"},
		{"host-cpu", "unknown", watched, without(aHost, "sut", result.HostBusy), "not run"},
		{"out-of-memory", "never", watched, same, ""},
		{"out-of-memory", "killed", watched, with(aService, "app", result.OOMKills, 0.1), "invalid"},
		{"out-of-memory", "killed, by the costs", watched, func(r run, _ load, _ gen) { r.Services[0].OOMKills = 1 }, "invalid"},
		{"memory-limit", "room", watched, same, ""},
		{"memory-limit", "reached", watched, with(aService, "app", result.MemoryEvents, 5.0), "note"},
		{"memory-limit", "unknown", watched, all(func(r run, _ load, _ gen) { r.Services[0].Limits.Memory = 1 << 30 }, without(aService, "app", result.MemoryEvents)), "not run"},
		{"host-memory", "room", watched, same, ""},
		{"host-memory", "hardly any", watched, with(aHost, "sut", result.MemoryAvailable, 0.3e9), "note"},
		{"host-memory", "swapping", watched, with(aHost, "sut", result.SwapRate, 11.0), "note"},
		{"host-memory", "unknown", watched, without(aHost, "sut", result.MemoryTotal), "not run"},
		{"io-pressure", "little", watched, same, ""},
		{"io-pressure", "some", watched, with(aHost, "sut", result.PSIIOSome, 0.2), "note"},
		{"io-pressure", "unknown", watched, without(aHost, "sut", result.PSIIOSome), "not run"},
		{"disk", "idle", watched, same, ""},
		{"disk", "blocked", watched, with(aService, "app", result.SleepD, 0.5), "note"},
		{"disk", "unknown", watched, without(aService, "app", result.SleepD), "not run"},
		{"target-files", "few", watched, same, ""},
		{"target-files", "nearly all", watched, with(aService, "app", result.Files, 1000.0), "note"},
		{"target-files", "limit unknown", watched, without(aService, "app", result.FilesMost), "not run"},
		{"target-gc", "little", java(watched), same, ""},
		{"target-gc", "much", java(watched), with(aJVM, "app", result.GCTime, 0.06), "note"},
		{"target-gc", "unknown", java(watched), without(aJVM, "app", result.GCTime), "not run"},
		{"compiling", "warm", java(watched), same, ""},
		{"compiling", "not warm", java(watched), with(aJVM, "app", result.CompileTime, 1.0), "suspect"},
		{"compiling", "by the clock, held back by a quota", java(watched), all(with(aJVM, "app", result.CompileTime, 4.0), compilers(0.01)), ""},
		{"compiling", "its threads", java(watched), all(with(aJVM, "app", result.CompileTime, 0.1), compilers(1)), "suspect"},
		{"compiling", "unknown", java(watched), without(aJVM, "app", result.CompileTime), "not run"},
	}
}

func waitingCases() []ruleCase {
	behind := func(n int64) func(run, load, gen) { return func(r run, _ load, _ gen) { r.Services[0].Requests = &n } }
	head := func(line string) func(run, load, gen) {
		return func(_ run, l load, _ gen) {
			l.Samples = []result.Sample{{Status: 200, Head: "HTTP/1.1 200 OK\r\n" + line + "\r\n\r\n"}}
		}
	}
	statuses := func(code string, n int64) func(run, load, gen) {
		return func(_ run, l load, _ gen) { l.Statuses[code] = n }
	}
	return []ruleCase{
		{"pool", "nothing behind", watched, same, ""},
		{"pool", "as many as in flight", chained, same, ""},
		{"pool", "of twenty", chained, with(aService, "app", result.Sockets, 20.0), "note"},
		{"pool", "unknown", chained, without(aService, "app", result.Sockets), "not run"},
		{"thread-pool", "nobody looked", java(watched), same, ""},
		{"thread-pool", "idle", threaded(watched), same, ""},
		{"thread-pool", "full", threaded(watched), with(aPool, "exec-*", result.PoolBusy, 20.0, result.PoolInIO, 20.0), "note"},
		{"thread-pool", "full of threads that run", threaded(watched), with(aPool, "exec-*", result.PoolBusy, 20.0, result.PoolRunning, 15.0), ""},
		{"thread-pool", "as many as in flight", threaded(watched), with(aPool, "exec-*", result.PoolThreads, 60.0, result.PoolBusy, 60.0, result.PoolInIO, 60.0), ""},
		{"thread-pool", "it grows", threaded(watched), all(with(aPool, "exec-*", result.PoolBusy, 20.0, result.PoolInIO, 20.0), poolGrows), ""},
		{"thread-pool", "behind a gateway", threaded(chained), with(aPool, "exec-*", result.PoolBusy, 20.0, result.PoolInIO, 20.0), "note"},
		{"thread-pool", "unknown", java(watched), func(r run, _ load, _ gen) {
			find(r, aJVM, "app").Unknown = map[string]string{"thread_states": "no access"}
		}, "not run"},
		{"waiting", "one run cannot know", watched, same, "not run"},
		{"which-tier", "both at ease", chained, same, ""},
		{"which-tier", "the gateway", chained, with(aService, "gw", result.CPUCores, 3.9, result.RunDelay, 1.0), "note"},
		{"which-tier", "the backend", chained, with(aService, "app", result.CPUCores, 15.5, result.RunDelay, 2.0), "note"},
		{"which-tier", "unknown", chained, without(aService, "gw", result.CPUCores), "not run"},
		{"upstream-reuse", "reused", chained, same, ""},
		{"upstream-reuse", "in part", chained, with(aService, "app", result.InService, 80.0), "note"},
		{"upstream-reuse", "never", chained, with(aService, "app", result.InService, 8000.0), "note"},
		{"upstream-reuse", "unknown", chained, all(without(aService, "app", result.InService), without(aHost, "sut", result.PassiveOpens)), "not run"},
		{"upstream-reuse", "by the host", chained, all(without(aService, "app", result.InService), with(aHost, "sut", result.PassiveOpens, 8000.0)), "note"},
		{"admission", "none", chained, same, ""},
		{"admission", "503", watched, statuses("503", 200), "note"},
		{"admission", "counted", watched, with(aServer, "app", result.UpstreamOverflows, 1.0), "note"},
		{"amplification", "as many", chained, same, ""},
		{"amplification", "retries", chained, behind(97_000), "suspect"},
		{"amplification", "two loads side by side", chained, all(behind(97_000), func(r run, _ load, _ gen) { r.Plan.Also = []plan.Load{{}} }), "not run"},
		{"amplification", "unknown", chained, func(r run, _ load, _ gen) { r.Services[0].Requests = nil }, "not run"},
		{"body-differs", "none", closed, same, ""},
		{"body-differs", "0.1 %", closed, func(r run, _ load, _ gen) { fail(r, "body-differs", 80, time.Millisecond) }, "suspect"},
		{"body-differs", "2 %", closed, func(r run, _ load, _ gen) { fail(r, "body-differs", 1600, time.Millisecond) }, "invalid"},
		{"cached-answers", "none", chained, head("Age: 0"), ""},
		{"cached-answers", "not modified", watched, statuses("304", 400), "note"},
		{"cached-answers", "an age", watched, head("Age: 12"), "note"},
		{"cached-answers", "a hit", watched, head("X-Cache: HIT from edge"), "note"},
		{"cached-answers", "few came behind", chained, behind(900), "note"},
		{"requests-arrived", "all", watched, same, ""},
		{"requests-arrived", "half", watched, with(aServer, "app", result.ServerRequests, 4000.0), "suspect"},
		{"requests-arrived", "nobody counts", onOneMachine, same, "not run"},
		{"impossible-bandwidth", "possible", watched, func(_ run, l load, _ gen) { l.BytesIn = 11e9 }, ""},
		{"impossible-bandwidth", "impossible", watched, func(_ run, l load, _ gen) { l.BytesIn = 14e9 }, "invalid"},
		{"impossible-bandwidth", "speed unknown", watched, without(aLink, "eth0", result.LinkSpeed), "not run"},
		{"steal", "on the target's machine", watched, with(aHost, "sut", result.HostSteal, 0.02), "suspect"},
		{"foreign-cpu", "a neighbour of the target", watched, with(aHost, "sut", result.HostBusy, 0.2), "invalid"},
		{"foreign-cpu", "a neighbour on one machine", onOneMachine, with(aHost, "", result.HostBusy, 0.3), "invalid"},
		{"foreign-cpu", "interrupts", onOneMachine, with(aHost, "", result.HostBusy, 0.3, result.HostSoftIRQ, 0.15), ""},
		{"foreign-cpu", "hosts of one kernel", chained, oneKernel(0), ""},
		{"foreign-cpu", "hosts of one kernel and a neighbour", chained, oneKernel(0.6), "suspect"},
		{"foreign-cpu", "hosts of one kernel, one of them not watched", chained, all(oneKernel(0), unwatched("gw")), "not run"},
		{"co-located", "hosts of one kernel", chained, oneKernel(0), "note"},
		{"headroom", "calibrated, far", open, calibrated("10000"), ""},
		{"headroom", "calibrated, near", open, calibrated("1500"), "suspect"},
		{"headroom", "calibrated, at it", open, calibrated("1100"), "invalid"},
		{"headroom", "calibrated, closed at it", closed, calibrated("8100"), "suspect"},
		{"steady", "too short", closed, same, "not run"},
		{"steady", "flat", closed, seconded(60, func(i int) int64 { return 8000 + int64(i*7919%100) }), ""},
		{"steady", "slows down", closed, seconded(60, func(i int) int64 { return 8000 - int64(40*i) + int64(i*7919%100) }), "suspect"},
		{"steady", "one bad second", closed, seconded(60, func(i int) int64 { return 8000 - int64(7000*(i/59)) }), ""},
		{"growing-memory", "flat", watched, same, ""},
		{"growing-memory", "grows", watched, growing, "note"},
	}
}

// oneKernel makes one machine of 16 cores of all hosts, with so many in use by
// others.
func oneKernel(others float64) func(run, load, gen) {
	return func(r run, _ load, g gen) {
		boot := map[string]string{"kernel.random.boot_id": "6dd618cb"}
		r.Environment.CPUs, r.Environment.Sysctl = 16, boot
		own := g.MeanBusy * g.CPUs
		for name := range r.Hosts {
			r.Hosts[name] = result.Environment{CPUs: 16, Sysctl: boot}
		}
		for _, o := range r.Observed {
			if o.Kind == result.OfService {
				own += o.Series[result.CPUCores][0]
			}
		}
		for _, name := range []string{"", "sut", "edge"} {
			put(r, result.OfHost, name, result.HostBusy, (own+others)/16)
		}
	}
}

func unwatched(service string) func(run, load, gen) {
	return func(r run, _ load, _ gen) {
		r.Observed = slices.DeleteFunc(r.Observed, func(o result.Observed) bool { return o.Kind == result.OfService && o.Name == service })
	}
}

// compilers adds the threads of the compiler, which use so many cores.
func compilers(cores float64) func(run, load, gen) {
	return func(r run, _ load, _ gen) {
		o := thing(result.OfThread, "C2 CompilerThre", "sut")
		o.Service = "app"
		r.Observed = append(r.Observed, o)
		put(r, result.OfThread, "C2 CompilerThre", result.CPUCores, cores)
	}
}

func calibrated(rate string) func(run, load, gen) {
	return func(r run, _ load, _ gen) {
		r.Observed = append(r.Observed, result.Observed{Kind: result.OfGenerator, Name: "generator", Facts: map[string]string{"calibrated_rate": rate}})
	}
}

func growing(r run, l load, _ gen) {
	stretch(l, 40)
	o := find(r, aService, "app")
	o.AtUS, o.LengthUS, o.Series[result.ResidentSet] = nil, nil, nil
	for i := range 40 {
		o.AtUS, o.LengthUS = append(o.AtUS, float64(i+1)*1e6), append(o.LengthUS, 1e6)
		o.Series[result.ResidentSet] = append(o.Series[result.ResidentSet], float64(200+2*i)*1e6)
	}
}
