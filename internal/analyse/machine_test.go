package analyse_test

import (
	"time"

	"prony/internal/result"
)

func generatorCases() []ruleCase {
	busy := func(n int, v float64) func(run, load, gen) {
		return func(_ run, _ load, g gen) { copy(g.BusySeries, fill(n, v)) }
	}
	threads := func(n int, v float64) func(run, load, gen) {
		return func(_ run, _ load, g gen) { copy(g.ThreadSeries, fill(n, v)) }
	}
	return []ruleCase{
		{"generator-cpu", "at ease", closed, same, "info"},
		{"generator-cpu", "near in two seconds of ten", closed, busy(2, 0.85), "suspect"},
		{"generator-cpu", "near in one", closed, busy(1, 0.94), "info"},
		{"generator-cpu", "full in two", closed, busy(2, 0.95), "invalid"},
		{"generator-cpu", "unread", closed, unknown("mean_busy"), "not run"},
		{"generator-cpu", "no seconds", closed, func(_ run, _ load, g gen) { g.BusySeries = nil }, "not run"},
		{"generator-cpu", "polling", closed, func(_ run, l load, g gen) { l.Spun = true; copy(g.BusySeries, fill(10, 1)) }, "not run"},
		{"generator-cpu", "another program at ease", closed, func(_ run, l load, g gen) { l.With = "wrk"; g.BusySeries, g.MeanBusy = nil, 0.84 }, "info"},
		{"generator-cpu", "another program, full", closed, func(_ run, l load, g gen) { l.With = "wrk"; g.BusySeries, g.MeanBusy = nil, 0.85 }, "suspect"},
		{"generator-cpu", "another program, unread", closed, all(unknown("mean_busy"), func(_ run, l load, _ gen) { l.With = "wrk" }), "not run"},
		{"generator-cpu", "not watched", closed, func(_ run, _ load, g gen) { *g = result.Generator{} }, "not run"},
		{"generator-thread", "at ease", closed, same, ""},
		{"generator-thread", "full", closed, threads(2, 0.96), "suspect"},
		{"generator-thread", "full and late", open, func(_ run, l load, g gen) {
			copy(g.ThreadSeries, fill(2, 0.96))
			l.Latency.Dispatch = times(10_000, time.Millisecond)
		}, "invalid"},
		{"generator-thread", "full like all the rest", closed, func(_ run, _ load, g gen) {
			copy(g.ThreadSeries, fill(10, 1))
			copy(g.BusySeries, fill(10, 0.96))
		}, ""},
		{"generator-thread", "unread", closed, unknown("peak_thread_busy"), "not run"},
		{"generator-core", "at ease", closed, same, ""},
		{"generator-core", "full", closed, func(_ run, _ load, g gen) { copy(g.CoreSeries, fill(2, 1)) }, "suspect"},
		{"generator-core", "full of interrupts", closed, func(_ run, _ load, g gen) { copy(g.CoreSeries, fill(2, 1)); g.SoftIRQ = 0.7 }, "suspect"},
		{"generator-core", "perhaps the target's", closed, func(_ run, l load, g gen) { copy(g.CoreSeries, fill(2, 1)); l.Loopback = true }, "info"},
		{"generator-core", "unread", closed, unknown("core_series"), "not run"},
		{"garbage-collector", "little", closed, func(_ run, _ load, g gen) { g.GCCPUShare = 0.1 }, ""},
		{"garbage-collector", "much", closed, func(_ run, _ load, g gen) { g.GCCPUShare = 0.11 }, "suspect"},
		{"garbage-collector", "unread", closed, unknown("gc_cpu_share"), "not run"},
		{"collector-pause", "1 ms", closed, func(_ run, _ load, g gen) { g.GCPauseP99US = 1000 }, ""},
		{"collector-pause", "2 ms", closed, func(_ run, _ load, g gen) { g.GCPauseP99US = 2000 }, "suspect"},
		{"collector-pause", "11 ms", closed, func(_ run, _ load, g gen) { g.GCPauseP99US = 11_000 }, "invalid"},
		{"collector-pause", "unread", closed, unknown("gc_pause_p99_us"), "not run"},
		{"goroutine-scheduling", "own threads", closed, func(_ run, _ load, g gen) { g.SchedP99US = 11_000 }, "info"},
		{"goroutine-scheduling", "goroutines", closed, func(_ run, l load, g gen) { l.Engine = "goroutines"; g.SchedP99US = 11_000 }, "invalid"},
		{"goroutine-scheduling", "at ease", closed, func(_ run, l load, g gen) { l.Engine = "goroutines"; g.SchedP99US = 900 }, ""},
		{"goroutine-scheduling", "unread", closed, unknown("sched_latency_p99_us"), "not run"},
		{"headroom", "open", open, same, "not run"},
		{"headroom", "closed", closed, same, ""},
		{"throttled", "never", closed, same, ""},
		{"throttled", "once", closed, func(_ run, _ load, g gen) { g.Throttled = 0.001 }, "suspect"},
		{"throttled", "1 %", closed, func(_ run, _ load, g gen) { g.Throttled = 0.01 }, "invalid"},
		{"throttled", "unread", closed, unknown("throttled"), "not run"},
		{"open-files", "few", closed, same, ""},
		{"open-files", "nearly all", closed, func(_ run, _ load, g gen) { g.OpenFiles = 1000 }, "note"},
		{"open-files", "refused", closed, func(_ run, l load, _ gen) { l.Failures["file-limit"] = 3 }, "suspect"},
		{"open-files", "limit unknown", closed, func(_ run, _ load, g gen) { g.FileLimit = 0 }, "not run"},
		{"monitor-cost", "cheap", closed, same, ""},
		{"monitor-cost", "dear", closed, func(_ run, _ load, g gen) { g.MonitorCPU = 0.02 }, "note"},
		{"monitor-cost", "unread", closed, unknown("monitor_cpu"), "not run"},
	}
}

func hostCases() []ruleCase {
	pressure := func(v float64, loopback bool) func(run, load, gen) {
		return func(_ run, l load, g gen) { g.CPUPressure, l.Loopback = v, loopback }
	}
	hiccup := func(us float64, loopback bool) func(run, load, gen) {
		return func(_ run, l load, g gen) { g.HiccupP99US, l.Loopback = us, loopback }
	}
	return []ruleCase{
		{"co-located", "apart", closed, same, ""},
		{"co-located", "together", closed, func(_ run, l load, _ gen) { l.Loopback = true }, "note"},
		{"steal", "none", closed, same, ""},
		{"steal", "1 %", closed, func(_ run, _ load, g gen) { g.Steal = 0.01 }, "suspect"},
		{"steal", "5 %", closed, func(_ run, _ load, g gen) { g.Steal = 0.05 }, "invalid"},
		{"steal", "unread", closed, unknown("steal"), "not run"},
		{"foreign-cpu", "little", closed, same, ""},
		{"foreign-cpu", "half a core of eight", closed, func(_ run, _ load, g gen) { g.HostBusy = 0.1125 }, "suspect"},
		{"foreign-cpu", "a whole core of eight", closed, func(_ run, _ load, g gen) { g.HostBusy = 0.175 }, "invalid"},
		{"foreign-cpu", "with the target", closed, func(_ run, l load, _ gen) { l.Loopback = true }, "not run"},
		{"foreign-cpu", "cores unknown", closed, func(r run, _ load, _ gen) { r.Environment.CPUs = 0 }, "not run"},
		{"cpu-pressure", "little", closed, pressure(0.04, false), ""},
		{"cpu-pressure", "some", closed, pressure(0.05, false), "suspect"},
		{"cpu-pressure", "much", closed, pressure(0.2, false), "invalid"},
		{"cpu-pressure", "much, with the target", closed, pressure(0.2, true), "suspect"},
		{"cpu-pressure", "some, with the target", closed, pressure(0.05, true), "note"},
		{"cpu-pressure", "unread", closed, unknown("cpu_pressure"), "not run"},
		{"hiccups", "1 ms", closed, hiccup(1000, false), ""},
		{"hiccups", "2 ms", closed, hiccup(2000, false), "suspect"},
		{"hiccups", "11 ms", closed, hiccup(11_000, false), "invalid"},
		{"hiccups", "11 ms, with the target", closed, hiccup(11_000, true), "suspect"},
		{"hiccups", "unread", closed, unknown("hiccup_p99_us"), "not run"},
	}
}

func answerCases() []ruleCase {
	failed := func(n int64, took time.Duration) func(run, load, gen) {
		return func(r run, _ load, _ gen) { fail(r, "http-status", n, took) }
	}
	return []ruleCase{
		{"errors", "none", closed, same, ""},
		{"errors", "one in a hundred thousand", closed, failed(1, time.Millisecond), ""},
		{"errors", "0.1 %", closed, failed(80, time.Millisecond), "note"},
		{"errors", "1 %", closed, failed(800, time.Millisecond), "suspect"},
		{"fast-failures", "few", closed, failed(80, time.Microsecond), ""},
		{"fast-failures", "as slow", closed, failed(800, 4*time.Millisecond), ""},
		{"fast-failures", "fast", closed, failed(800, time.Millisecond), "suspect"},
		{"fast-failures", "untimed", closed, func(r run, l load, _ gen) {
			fail(r, "http-status", 800, time.Millisecond)
			l.Latency.Failed = result.Histogram{}
		}, "not run"},
		{"timeouts", "none", closed, same, ""},
		{"timeouts", "one", closed, func(r run, _ load, _ gen) { fail(r, "timeout", 1, 10*time.Second) }, "info"},
		{"timeouts", "0.1 %", closed, func(r run, _ load, _ gen) { fail(r, "timeout", 80, 10*time.Second) }, "note"},
		{"timeouts", "2 %", closed, func(r run, _ load, _ gen) { fail(r, "timeout", 1600, 10*time.Second) }, "suspect"},
		{"cut-off", "none", closed, same, ""},
		{"cut-off", "one", closed, cut(1), "info"},
		{"cut-off", "0.1 %", closed, cut(80), "note"},
		{"cut-off", "2 %", closed, cut(1600), "suspect"},
	}
}

func cut(n int64) func(run, load, gen) {
	return func(_ run, l load, _ gen) {
		l.Requests.Completed, l.Requests.CutOff, l.Requests.CutOffOldestUS = 80_000-n, n, 1e6
		l.Latency.Response = times(80_000-n, 8*time.Millisecond)
	}
}

func connectionCases() []ruleCase {
	many := func(n int, connects int64) func(run, load, gen) {
		return func(_ run, l load, _ gen) {
			l.Connections = result.Connections{Asked: n, Opened: n, Peak: n, Connects: connects, ClosedByPeer: connects}
		}
	}
	return []ruleCase{
		{"connections-opened", "all", closed, same, ""},
		{"connections-opened", "fewer", closed, func(_ run, l load, _ gen) { l.Connections.Opened, l.Connections.Peak = 60, 60 }, "suspect"},
		{"connections-opened", "fewer are enough for a rate", open, same, ""},
		{"connections-opened", "one after the other", closed, func(r run, l load, _ gen) { r.Plan.Load.NoKeepAlive = true; l.Connections.Peak = 40 }, ""},
		{"connects-failed", "none", closed, same, ""},
		{"connects-failed", "one of a thousand", closed, func(_ run, l load, _ gen) { l.Connections.Failed, l.Connections.Connects = 1, 999 }, "note"},
		{"connects-failed", "a tenth", closed, func(_ run, l load, _ gen) { l.Connections.Failed = 8; l.Failures["connect-refused"] = 8 }, "suspect"},
		{"ports", "few", closed, same, ""},
		{"ports", "nearly all held", closed, many(23_000, 23_000), "suspect"},
		{"ports", "nearly all of one address of two", closed, func(r run, l load, g gen) {
			many(23_000, 23_000)(r, l, g)
			r.Plan.Load.Sources = []string{"127.0.0.1", "127.0.0.2"}
		}, ""},
		{"ports", "others' sockets", closed, func(_ run, _ load, g gen) { g.PortsUsed = 43_000 }, ""},
		{"ports", "others' sockets beside churn", closed, func(_ run, l load, g gen) {
			g.PortsUsed, l.Connections.Reopened, l.Connections.ClosedByPeer = 43_000, 8000, 8000
		}, "note"},
		{"ports", "none left", closed, func(_ run, l load, _ gen) { l.Failures["no-ports"] = 5 }, "suspect"},
		{"ports", "range unknown", closed, func(_ run, _ load, g gen) { g.Ports = 0 }, "not run"},
		{"ports", "use unread", closed, unknown("ports_used_peak"), "not run"},
		{"churn", "kept", closed, same, ""},
		{"churn", "exactly 1 %", closed, func(_ run, l load, _ gen) { l.Connections.Reopened = 800 }, ""},
		{"churn", "closed by the target", closed, func(_ run, l load, _ gen) { l.Connections.Reopened, l.Connections.ClosedByPeer = 8000, 8000 }, "suspect"},
		{"churn", "meant", closed, func(r run, l load, _ gen) { r.Plan.Load.NoKeepAlive = true; l.Connections.Reopened = 80_000 }, ""},
	}
}
