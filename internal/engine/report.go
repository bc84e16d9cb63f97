package engine

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/tls"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"prony/internal/evloop"
	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/schedule"
)

// report merges what the workers and the collector hold.
func (r *run) report() *result.Load {
	l := &r.load
	t := r.collect.total
	end := r.windowEnd()
	res := &result.Load{
		Name: l.Name, Model: string(l.Model), Protocol: protocol(l), Engine: string(r.kind), EngineReason: r.reason,
		Timestamps: string(cmp.Or(l.Timestamps, plan.AppTimestamps)), Threads: len(r.workers),
		StartedUS: evloop.Wall(r.windowAt).UnixMicro(), WarmupUS: float64(l.Warmup) / 1000,
		DurationUS: float64(end-r.windowAt) / 1000, EndedBy: r.cause(),
		BytesIn: t.bytesIn, BytesOut: t.bytesOut, BodyBytes: t.bodyBytes,
		Failures: map[string]int64{}, Statuses: map[string]int64{},
		Loopback: r.loopback(), SendGapKS: -1, Intervals: r.collect.intervals,
	}
	res.Latency = result.Latency{Response: result.Histogram{Histogram: t.response}, Service: result.Histogram{Histogram: t.service},
		Lag: result.Histogram{Histogram: t.lag}, Dispatch: result.Histogram{Histogram: t.dispatch},
		FirstByte: result.Histogram{Histogram: t.first}, Failed: result.Histogram{Histogram: t.errors}}
	res.Requests = result.Requests{Started: t.started, Completed: t.completed, Failed: t.failed, InWindow: t.inWindow}
	r.addStories(res)
	if res.DurationUS > 0 {
		res.Rate = float64(res.Requests.InWindow) / (res.DurationUS / 1e6)
	}
	r.addOffered(res, end)
	for _, w := range r.workers {
		res.DrainUS = max(res.DrainUS, float64(w.lastEnd-end)/1000)
	}
	return res
}

// windowEnd is where planning stopped, or the end of the last request of a load
// that ended by count.
func (r *run) windowEnd() int64 {
	var last int64
	for _, w := range r.workers {
		last = max(last, w.lastEnd)
	}
	end := r.endAt.Load()
	if end == math.MaxInt64 || r.load.Count > 0 && last < end && r.countReached() {
		end = last
	}
	return max(end, r.windowAt)
}

func (r *run) countReached() bool {
	for _, w := range r.workers {
		if !w.exhausted {
			return false
		}
	}
	return true
}

func (r *run) cause() string {
	switch why := r.endedBy.Load(); {
	case why != nil:
		return *why
	case r.load.Count > 0 && r.countReached():
		return "count"
	case r.load.Model == plan.Open && r.endAt.Load() == math.MaxInt64:
		return "schedule"
	}
	return "duration"
}

func protocol(l *plan.Load) string {
	if len(l.Requests) > 0 && l.Requests[0].Proto == "HTTP/1.0" {
		return "http/1.0"
	}
	return "http/1.1"
}

func (r *run) loopback() bool {
	for _, t := range r.targets {
		for _, a := range t.addrs {
			if a.IsLoopback() {
				return true
			}
		}
	}
	return false
}

// addStories sums what the workers remember.
func (r *run) addStories(res *result.Load) {
	connect, shake := hdr.MustNew(hdr.Config{}), hdr.MustNew(hdr.Config{})
	rates := hdr.MustNew(hdr.Config{Lowest: 1, Highest: 1e9, Digits: 3})
	var area float64
	for _, w := range r.workers {
		s := &w.story
		addConnections(&res.Connections, &s.conns)
		addRequests(&res.Requests, s)
		r.addFailures(res, s)
		mustMerge(connect, s.connectTime)
		mustMerge(shake, s.tlsTime)
		mustMerge(rates, s.perThread)
		area += w.area
		res.InFlightEdges += w.edges
		res.BacklogPeak += s.backlogPeak
		res.ReadDelayUS = max(res.ReadDelayUS, float64(s.gathered)/1000)
		res.Spun = res.Spun || s.spun
		res.Records = append(res.Records, wallRecords(s.records)...)
	}
	res.Connections.Asked = r.load.Connections
	res.Connections.ConnectTime = result.Histogram{Histogram: connect}
	res.Connections.TLSTime = result.Histogram{Histogram: shake}
	res.PerThread, res.PerThreadRate = rates, moments(rates)
	if res.DurationUS > 0 {
		res.InFlight = area / (res.DurationUS * 1000)
	}
	slices.SortFunc(res.FailureDetails, func(a, b result.Failure) int { return cmp.Compare(b.Count, a.Count) })
	r.addTLS(res)
}

func mustMerge(into, from *hdr.Histogram) {
	if err := into.Merge(from); err != nil {
		panic(err) // the shapes are ours
	}
}

func addConnections(c, s *result.Connections) {
	c.Opened += s.Opened
	c.Peak += s.Peak
	c.Connects += s.Connects
	c.Failed += s.Failed
	c.Reopened += s.Reopened
	c.ClosedByPeer += s.ClosedByPeer
	c.IdleCloses += s.IdleCloses
	c.Resent += s.Resent
}

func addRequests(q *result.Requests, s *story) {
	q.Asked += s.asked
	q.CutOff += s.cutOff
	q.Unsent += s.unsent
	q.Warmup += s.warmup
	q.WarmupCompleted += s.warmupDone
	q.CutOffOldestUS = max(q.CutOffOldestUS, float64(s.cutOffOldest)/1000)
}

func (r *run) addFailures(res *result.Load, s *story) {
	for kind, n := range s.kinds {
		if n > 0 {
			res.Failures[result.FailureKind(kind).String()] += n
		}
	}
	for code, n := range s.statuses {
		if n > 0 {
			res.Statuses[strconv.Itoa(code)] += n
		}
	}
	for _, d := range s.details {
		addDetail(res, d)
	}
	for _, sample := range s.samples {
		if !slices.ContainsFunc(res.Samples, func(o result.Sample) bool { return o.Status/100 == sample.Status/100 }) {
			res.Samples = append(res.Samples, sample)
		}
	}
}

func addDetail(res *result.Load, d result.Failure) {
	for i := range res.FailureDetails {
		o := &res.FailureDetails[i]
		if o.Kind == d.Kind && o.Phase == d.Phase && o.Errno == d.Errno {
			o.Count += d.Count
			return
		}
	}
	res.FailureDetails = append(res.FailureDetails, d)
}

func (r *run) addTLS(res *result.Load) {
	for _, w := range r.workers {
		s := &w.story.tls
		if s.full+s.resumed == 0 {
			continue
		}
		if res.TLS == nil {
			res.TLS = describeTLS(&s.state, !r.load.TLS.Insecure)
		}
		res.TLS.Full += s.full
		res.TLS.Resumed += s.resumed
	}
}

func describeTLS(s *tls.ConnectionState, verified bool) *result.TLS {
	t := &result.TLS{Version: tls.VersionName(s.Version), Cipher: tls.CipherSuiteName(s.CipherSuite), Verified: verified, Curve: s.CurveID.String()}
	if len(s.PeerCertificates) > 0 {
		t.KeyBits = keyBits(s.PeerCertificates[0].PublicKey)
	}
	return t
}

// keyBits is the size of a public key that can tell it.
func keyBits(key any) int {
	switch k := key.(type) {
	case interface{ Size() int }: // *rsa.PublicKey
		return k.Size() * 8
	case *ecdsa.PublicKey:
		return k.Curve.Params().BitSize
	}
	return 0
}

// addOffered says what the timetable asked for and how well it was kept.
func (r *run) addOffered(res *result.Load, end int64) {
	if r.load.Model != plan.Open || end <= r.windowAt {
		return
	}
	offered := float64(res.Requests.Asked) / (float64(end-r.windowAt) / 1e9)
	if r.cause() == overload { // asked is more than was due by then
		until, warmup := time.Duration(end-r.windowAt), r.load.Warmup
		offered = (r.load.Arrivals.Expected(warmup+until) - r.load.Arrivals.Expected(warmup)) / until.Seconds()
	}
	res.OfferedRate = &offered
	if r.load.Arrivals.Process != schedule.Poisson {
		return
	}
	var sends []int64
	for _, w := range r.workers {
		sends = append(sends, w.story.dispatched...)
	}
	slices.Sort(sends)
	if len(sends) < ksSends { // the distance of a few hundred from any law is chance
		return
	}
	sends = sends[:ksSends]
	gaps := make([]float64, len(sends)-1)
	for i := range gaps {
		gaps[i] = float64(sends[i+1] - sends[i])
	}
	res.SendGapKS = schedule.KSExp(gaps)
}

func wallRecords(records []result.Record) []result.Record {
	for i := range records {
		records[i].Start = evloop.Wall(records[i].Start).UnixNano()
	}
	return records
}

// moments summarises a series of whole numbers.
func moments(h *hdr.Histogram) result.Moments {
	m := result.Moments{Count: h.Count(), Mean: h.Mean(), StDev: h.StdDev(), Min: float64(h.Min()), Max: float64(h.Max())}
	if m.Count == 0 {
		return m
	}
	var within int64
	for cell, n := range h.Cells() {
		v := float64(cell.Lowest+cell.Highest) / 2
		if math.Abs(v-m.Mean) <= m.StDev {
			within += n
		}
	}
	m.Within = float64(within) / float64(m.Count)
	return m
}

// unreachable turns a load without a single connection into an error with the
// cause that was seen most.
func (r *run) unreachable(res *result.Load) error {
	if res.Connections.Opened > 0 || res.Connections.Failed == 0 || len(res.FailureDetails) == 0 {
		return nil
	}
	worst := res.FailureDetails[0]
	for kind := range result.FailureKinds {
		if kind.String() == worst.Kind {
			return &UnreachableError{Kind: kind, Failure: worst}
		}
	}
	return fmt.Errorf("%s", worst.Example)
}
