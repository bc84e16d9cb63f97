package screen_test

import (
	"fmt"
	"math"
	"time"

	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/screen"
)

// tick is a clock that goes when it is told to.
type tick struct{ now time.Time }

func newTick() *tick { return &tick{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

func (c *tick) Now() time.Time          { return c.now }
func (c *tick) forward(d time.Duration) { c.now = c.now.Add(d) }

const unicodeEnv = "LANG=C.UTF-8"

// experiment has three blocks of two variants.
func experiment() *plan.Experiment {
	e := &plan.Experiment{Name: "keep-alive", Question: "Does the gateway answer more when it keeps connections open?", Cooldown: 2 * time.Second,
		Baseline: "keepalive=off", Repeat: plan.Repeat{Times: 3}}
	for block := range 3 {
		for _, v := range []string{"keepalive=off", "keepalive=on"} {
			e.Trials = append(e.Trials, plan.Trial{Block: block, Variant: v, Plan: plan.Plan{Load: someLoad(), Services: []plan.Service{{Name: "api", Kind: plan.Program}}}})
		}
	}
	return e
}

func someLoad() plan.Load {
	return plan.Load{Model: plan.Closed, Connections: 64, Threads: 2, Duration: 25 * time.Second, Warmup: 5 * time.Second,
		Requests: []plan.Request{{Method: "GET", URL: "http://127.0.0.1:8080/hello"}}}
}

// distribution has a p50 and a p99 about there.
func distribution(p50, p99 time.Duration) *hdr.Histogram {
	h := hdr.MustNew(hdr.Config{})
	h.RecordN(int64(p50), 900)
	h.RecordN(int64(p99), 100)
	return h
}

// interval is the n-th second of a load of 30 s, of which 5 are a warm-up.
func interval(n int) result.Progress {
	x := float64(n)
	rate := 62_000*(1-math.Exp(-x/3)) + 1500*math.Sin(x)
	p50 := time.Duration(float64(900*time.Microsecond) * (1 + 3*math.Exp(-x/2)))
	p99 := time.Duration(float64(4*time.Millisecond) * (1 + 4*math.Exp(-x/2) + 0.3*math.Sin(2*x)))
	if n == 17 {
		rate, p99 = rate/2, 80*time.Millisecond
	}
	h := distribution(p50, p99)
	return result.Progress{Elapsed: time.Duration(n) * time.Second, Total: 30 * time.Second, Open: 64, Asked: int64(62_000 * n), Completed: int64(61_990 * n),
		Failed: int64(n / 4), Interval: result.Interval{StartUS: (x - 6) * 1e6, LengthUS: 1e6, Warmup: n <= 5, Completed: int64(rate), Failed: int64(n % 4 / 3),
			BytesIn: int64(rate * 812), InFlight: 64, Response: result.Pack(h), Lag: result.Pack(distribution(8*time.Microsecond, 12*time.Microsecond))}}
}

// one is something watched with one sample.
func one(kind, host, service string, instance int, name string, series map[result.Metric]float64, facts ...string) result.Observed {
	o := result.Observed{Kind: kind, Host: host, Service: service, Instance: instance, Name: name, AtUS: []float64{1e6}, LengthUS: []float64{1e6},
		Series: map[result.Metric]result.Values{}, Facts: map[string]string{}}
	for m, v := range series {
		o.Series[m] = result.Values{v}
	}
	for i := 0; i+1 < len(facts); i += 2 {
		o.Facts[facts[i]] = facts[i+1]
	}
	return o
}

// samples is what is watched: two hosts, a gateway, three instances, one of
// them in a JVM.
func samples() []result.Observed {
	const gi = 1 << 30
	live := []result.Observed{
		one(result.OfHost, "", "", 0, "", map[result.Metric]float64{result.HostBusy: 0.62, result.HostUser: 0.4, result.HostSystem: 0.15, result.HostSoftIRQ: 0.05,
			result.HostSteal: 0.02, "cpus_count": 8, result.MemoryTotal: 31.2 * gi, result.MemoryAvailable: 19 * gi, result.RunQueue: 7, result.RetransSegments: 0,
			result.CoreBusyMax: 0.97, result.HostIOWait: 0.001}),
		one(result.OfHost, "db-1", "", 0, "db-1", map[result.Metric]float64{result.HostBusy: 0.93, result.HostUser: 0.6, result.HostSystem: 0.3, result.HostSoftIRQ: 0.03,
			result.HostSteal: 0, "cpus_count": 32, result.MemoryTotal: 125.6 * gi, result.MemoryAvailable: 9 * gi, result.RunQueue: 41, result.RetransSegments: 12.5, result.CoreBusyMax: 1}),
		one(result.OfInterface, "", "", 0, "lo", map[result.Metric]float64{result.BytesIn: 52e6, result.BytesOut: 52e6, result.PacketsIn: 81e3, result.PacketsOut: 81e3}),
		one(result.OfInterface, "db-1", "", 0, "eth0", map[result.Metric]float64{result.BytesIn: 118e6, result.BytesOut: 1.2e9, result.PacketsIn: 181e3,
			result.PacketsOut: 81e3, result.LinkDrops: 3, result.LinkSpeed: 10e9}),
		one(result.OfService, "", "gateway", 0, "gateway", map[result.Metric]float64{result.CPUCores: 1.93, result.Throttled: 0.31, result.MemoryUsed: 48 << 20,
			result.Threads: 3, result.Files: 212}, "cpu_quota_cores", "2", "memory_limit_bytes", "268435456"),
		one(result.OfServer, "", "gateway", 0, "gateway", map[result.Metric]float64{result.ServerRequests: 61_234, result.ServerAccepts: 12, result.ServerActive: 65,
			result.ServerReading: 0, result.ServerWriting: 64, result.ServerWaiting: 1}),
	}
	for i := range 3 {
		live = append(live, one(result.OfService, "db-1", "api", i, "api", map[result.Metric]float64{result.CPUCores: 3.1 + float64(i), result.Throttled: 0,
			result.ResidentSet: float64(512<<20 + i<<24), result.Threads: 57, result.Files: 1041}))
	}
	live = append(live, one(result.OfJVM, "db-1", "api", 0, "api", map[result.Metric]float64{result.HeapUsed: 301 << 20, result.HeapMax: 512 << 20, result.OldUsed: 120 << 20,
		result.GCTime: 0.034, result.GCCount: 2.5, result.SafepointTime: 0.011, result.Runnable: 12, result.Blocked: 3, result.Waiting: 30, result.TimedWaiting: 9,
		result.LiveThreads: 54}, "collector", "G1"))
	live = append(live, one(result.OfPool, "db-1", "api", 0, "http-nio-8080-exec-*", map[result.Metric]float64{result.PoolThreads: 40, result.PoolBusy: 36, result.PoolRunning: 2,
		result.PoolInIO: 20, result.PoolBlocked: 3}), one(result.OfPool, "db-1", "api", 0, "scheduling-*", map[result.Metric]float64{result.PoolThreads: 1, result.PoolBusy: 1}))
	for i := range 14 {
		live = append(live, one(result.OfThread, "db-1", "api", i/7, []string{"exec-*", "GC Thread#*", "C2 CompilerThre*", "VM Thread", "http-nio-*", "Finalizer", "main"}[i%7],
			map[result.Metric]float64{result.Threads: float64(1 + i%5), result.CPUCores: 0.8 * float64(1+i%5) / float64(1+i/3), result.ThreadMax: 1 / float64(1+i/4), result.RunDelay: 0.02 * float64(i),
				result.Voluntary: 1200 * float64(i), result.Involuntary: 33, result.SleepD: 0}))
	}
	return live
}

// finished is the result of a trial.
func finished(number int, variant string, rate float64, v result.Verdict) result.Trial {
	t := result.Trial{Number: number, Block: (number - 1) / 2, Variant: variant}
	t.Validity.Verdict = v
	t.Load.Rate, t.Load.Latency.Response = rate, result.Histogram{Histogram: distribution(time.Millisecond, 4200*time.Microsecond)}
	t.Load.Failures = map[string]int64{}
	if number == 2 {
		t.Load.Requests.Failed, t.Load.Failures = 17, map[string]int64{"timeout": 12, "reset": 5}
		t.Bottleneck = &result.Bottleneck{Message: "gateway[0] used up its CPU quota of 2 cores"}
	}
	return t
}

// tellUntil tells a screen of an experiment up to second n of its third trial.
func tellUntil(s *screen.Screen, e *plan.Experiment, n int, beat func()) {
	for i := range 2 {
		s.Trial(i+1, len(e.Trials), e.Trials[i])
		s.Phase("load")
		beat()
		for k := 1; k <= 30; k++ {
			s.Progress(interval(k), 0.3)
			beat()
		}
		s.Finished(finished(i+1, e.Trials[i].Variant, 41_234+20_500*float64(i), []result.Verdict{result.Valid, result.Suspect}[i]))
	}
	s.Finding(result.Finding{Rule: "generator-cpu", ID: "G1", Severity: result.Note, Message: "the generator and the target share this host"})
	s.Finding(result.Finding{Rule: "throttled", ID: "B3", Severity: result.SuspectLevel, Where: "gateway[0]", Message: "held back by its CPU quota in 31% of the periods: 2 cores are its limit"})
	s.Trial(3, len(e.Trials), e.Trials[2])
	s.Phase("load")
	s.Observed(samples())
	beat()
	for k := 1; k <= n; k++ {
		s.Progress(interval(k), 0.34)
		beat()
	}
}

// shown is a model with all of that.
func shown(w, h, seconds int, c screen.Config) (*screen.Model, *screen.Screen, *tick) {
	clock := newTick()
	c.Now = clock.Now
	if c.Env == nil {
		c.Env = []string{unicodeEnv}
	}
	e := experiment()
	c.Plan = e
	m, s := screen.NewModel(c)
	m.Resize(w, h)
	tellUntil(s, e, seconds, func() {
		clock.forward(time.Second)
		m.Beat()
	})
	return m, s, clock
}

func sizeName(w, h int) string { return fmt.Sprintf("%dx%d", w, h) }
