package analyse

import (
	"fmt"
	"slices"

	"prony/internal/hdr"
	"prony/internal/result"
	"prony/internal/unit"
)

// bookRules ask whether the numbers can be numbers at all: does every planned
// request have one outcome, did the clock run forward, do rate, time and
// requests in flight agree, and are there enough of them.
func bookRules() []rule {
	return []rule{
		{"ledger", "A1", ledger},
		{"clock", "A2", clock},
		{"nothing-succeeded", "A3", nothingSucceeded},
		{"little", "A4", little},
		{"impossible-rate", "E6", impossibleRate},
		{"ended-early", "A5", endedEarly},
		{"overflow", "A6", overflow},
		{"merged-intervals", "A7", mergedIntervals},
		{"short-run", "A8", shortRun},
		{"tail-samples", "A9", tailSamples},
	}
}

// ledger holds the books: every planned request has exactly one outcome
// (method 0.3), and every good answer is in the histogram.
func ledger(v view) answer {
	q := v.l.Requests
	ends := q.Completed + q.Failed + q.CutOff + q.Unsent
	evidence := figures{"asked": float64(q.Asked), "completed": float64(q.Completed), "failed": float64(q.Failed),
		"cut_off": float64(q.CutOff), "unsent": float64(q.Unsent)}
	if !q.Balanced() {
		return found(result.Finding{Severity: result.InvalidLevel, Evidence: evidence,
			Message: fmt.Sprintf("the books do not balance: %s planned, but %s accounted for (%s completed, %s failed, %s cut off, %s never sent)",
				many(q.Asked, "request"), count(ends), count(q.Completed), count(q.Failed), count(q.CutOff), count(q.Unsent)),
			Advice: "this is a defect of the generator: please report it with the result file"})
	}
	timed := samples(v.l.Latency.Response)
	if h := v.l.Latency.Response.Histogram; h != nil {
		timed += h.ClockErrors()
	}
	if timed != q.Completed {
		evidence["timed"] = float64(timed)
		return found(result.Finding{Severity: result.InvalidLevel, Evidence: evidence,
			Message: fmt.Sprintf("%s completed, but the response times of %s are there", many(q.Completed, "request"), count(timed)),
			Advice:  "this is a defect of the generator: please report it with the result file"})
	}
	return nothing()
}

func samples(h result.Histogram) int64 {
	if h.Histogram == nil {
		return 0
	}
	return h.Count()
}

// histogramsOf are the latencies of a load, in the order of the report.
func histogramsOf(l *result.Load) []result.Histogram {
	t := &l.Latency
	return []result.Histogram{t.Response, t.Service, t.Lag, t.Dispatch, t.FirstByte, t.Failed}
}

// clock looks for times that ran backward.
func clock(v view) answer {
	var n int64
	for _, h := range histogramsOf(v.l) {
		if h.Histogram != nil {
			n += h.ClockErrors()
		}
	}
	if n > 0 {
		return found(result.Finding{Severity: result.InvalidLevel, Evidence: figures{"clock_errors": float64(n)}, Threshold: figures{"clock_errors": 0},
			Message: fmt.Sprintf("%s %s negative: the clock went backward", many(n, "measured time"), was(n)),
			Advice:  "check the clock source with 'cat /sys/devices/system/clocksource/clocksource0/current_clocksource'; do not measure on this machine before it is stable"})
	}
	return slowClock(v)
}

// slowClock notes a machine on which reading the clock is dear.
func slowClock(v view) answer {
	if why := v.unread("clock_read_ns"); why != "" {
		return lacks(why)
	}
	limit := float64(v.t.ClockRead)
	if v.g.ClockReadNS <= limit {
		return nothing()
	}
	return found(result.Finding{Severity: result.Note, Evidence: figures{"clock_read_ns": v.g.ClockReadNS}, Threshold: figures{"clock_read_ns": limit},
		Message: fmt.Sprintf("one reading of the clock (%s) costs %s, and a request needs several", v.g.ClockSource, nanos(v.g.ClockReadNS)),
		Advice:  "use a machine with a fast clock source (tsc, or kvm-clock with vDSO)"})
}

func nothingSucceeded(v view) answer {
	q := v.l.Requests
	if q.Completed > 0 {
		return nothing()
	}
	message := "no request was planned inside the window"
	if q.Asked > 0 {
		message = fmt.Sprintf("nothing succeeded: of %s %s failed, %s %s cut off and %s never sent", many(q.Asked, "request"),
			count(q.Failed), count(q.CutOff), was(q.CutOff), count(q.Unsent))
	}
	if kind, n := worstFailure(v.l); n > 0 {
		message += fmt.Sprintf("; most often: %s", kind)
	}
	return found(result.Finding{Severity: result.InvalidLevel, Message: message,
		Evidence: figures{"asked": float64(q.Asked), "completed": 0, "failed": float64(q.Failed)}, Threshold: figures{"completed": 1},
		Advice: "send one request by hand (curl -v URL) and look at the first example of each failure"})
}

// worstFailure is the kind of failure seen most; of equals the first by name.
func worstFailure(l *result.Load) (kind string, n int64) {
	for k, c := range l.Failures {
		if c > n || c == n && c > 0 && k < kind {
			kind, n = k, c
		}
	}
	return kind, n
}

func endedEarly(v view) answer {
	says := map[string]string{
		"interrupt": "the load was interrupted; what was measured until then is reported",
		"abort":     "the load was given up after too many failures in a row",
		"script":    "the script ended the load",
		"stall":     "no request ended any more, well or badly, and the load was given up",
		"engine":    "the engine failed",
	}[v.l.EndedBy]
	if says == "" {
		return nothing()
	}
	severity := result.Note
	if v.l.EndedBy != "interrupt" && v.l.EndedBy != "script" {
		severity = result.SuspectLevel
	}
	return found(result.Finding{Severity: severity, Message: says, Evidence: figures{"duration_us": v.l.DurationUS}})
}

// overflow tells of times beyond the range of a histogram.
func overflow(v view) answer {
	var n int64
	for _, h := range histogramsOf(v.l) {
		if h.Histogram != nil {
			n += h.Overflow()
		}
	}
	if n == 0 {
		return nothing()
	}
	return found(result.Finding{Severity: result.Note, Evidence: figures{"overflow": float64(n)}, Threshold: figures{"overflow": 0},
		Message: fmt.Sprintf("%s %s beyond the range of the histograms: percentiles that reach them are lower bounds", many(n, "time"), was(n)),
		Advice:  "shorten --timeout"})
}

// mergedIntervals looks for seconds that the collector took too late, so that
// they became part of the next.
func mergedIntervals(v view) answer {
	var n int64
	var longest float64
	for _, iv := range v.l.Intervals {
		if !iv.Drain && iv.LengthUS >= us(v.t.MergedInterval) {
			n++
			longest = max(longest, iv.LengthUS)
		}
	}
	if n == 0 {
		return nothing()
	}
	return found(result.Finding{Severity: result.Note, Evidence: figures{"intervals": float64(n), "longest_us": longest},
		Threshold: figures{"longest_us": us(v.t.MergedInterval)},
		Message:   fmt.Sprintf("%s could not be closed in time and %s merged with the next (up to %s): totals are right, the course over time is coarser", many(n, "interval"), was(n), micros(longest)),
		Advice:    "leave the generator more CPU"})
}

func shortRun(v view) answer {
	n := v.l.Requests.Completed
	short, few := v.l.DurationUS < us(v.t.ShortRun), n < v.t.FewAnswers
	if !short && !few || n == 0 {
		return nothing()
	}
	severity := result.Note
	if v.l.DurationUS < us(v.t.TooShort) || n < v.t.TooFewAnswers {
		severity = result.SuspectLevel
	}
	return found(result.Finding{Severity: severity, Evidence: figures{"duration_us": v.l.DurationUS, "completed": float64(n)},
		Threshold: figures{"duration_us": us(v.t.ShortRun), "completed": float64(v.t.FewAnswers)},
		Message:   fmt.Sprintf("a short run: %s and %s", micros(v.l.DurationUS), many(n, "answer")),
		Advice:    fmt.Sprintf("measure at least %s and %s, e.g. -d 30s", unit.FormatDuration(v.t.ShortRun), many(v.t.FewAnswers, "answer"))})
}

// tailSamples names the percentiles that rest on chance (method 9.2: end where
// n(1−q) < 10). From p99 down that is worth a note, further out it is usual.
func tailSamples(v view) answer {
	n := samples(v.l.Latency.Response)
	if n == 0 {
		return nothing()
	}
	usual := []hdr.Quantile{hdr.P50, hdr.P75, hdr.P90, hdr.P95, hdr.P99, hdr.P999, hdr.P9999}
	first := slices.IndexFunc(usual, func(q hdr.Quantile) bool { return q.Beyond(n) < v.t.TailSamples })
	if first < 0 {
		return nothing()
	}
	severity, which := result.Info, usual[first].String()
	if usual[first] <= hdr.P99 {
		severity = result.Note
	}
	if first < len(usual)-1 {
		which += " and above"
	}
	need := samplesFor(usual[first], v.t.TailSamples)
	return found(result.Finding{Severity: severity, Evidence: figures{"samples": float64(n), "beyond": float64(usual[first].Beyond(n))},
		Threshold: figures{"beyond": float64(v.t.TailSamples)},
		Message:   fmt.Sprintf("with %s fewer than %d lie beyond %s: chance decides those percentiles", many(n, "answer"), v.t.TailSamples, which),
		Advice:    fmt.Sprintf("%s needs %s", usual[first], many(need, "answer"))})
}

// samplesFor is the least number of samples with beyond of them past q.
func samplesFor(q hdr.Quantile, beyond int64) int64 {
	rest := int64(hdr.P100 - q)
	n := (beyond*int64(hdr.P100) + rest - 1) / rest
	for q.Beyond(n) < beyond {
		n++
	}
	return n
}
