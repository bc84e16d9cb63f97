package audit

import (
	"fmt"
	"maps"
	"math"
	"net"
	"net/url"
	"slices"
	"strings"

	"prony/internal/result"
)

// ownDuration is E4 within one result: requests over rate is a duration, and
// must be the one that was stated.
func ownDuration(v view) answer {
	ran := quotient(v.Requests, v.Rate).times(1e6)
	if !ran.positive() || !v.DurationStated.positive() && !v.DurationPrinted.positive() || v.Tool == "bombardier" {
		return nothing() // the durations of a pair are E4 too
	}
	// Tools look at the clock every tenth of a second.
	for _, d := range []struct {
		what  string
		v     Value
		slack float64
	}{{"printed", v.DurationPrinted, 0.02e6}, {"stated", v.DurationStated, 0.2e6}} {
		off := math.Abs(ran.V-d.v.V) - ran.Half - d.v.Half - d.slack
		if d.v.positive() && off > v.t.DurationOff*d.v.V {
			return found(finding(result.SuspectLevel, result.Definite,
				figures{"requests": v.Requests.V, "rate": v.Rate.V, "derived_us": ran.V, d.what + "_us": d.v.V},
				figures{"share_off": v.t.DurationOff}, "Ask how long it really ran.",
				"%s requests / %s = %s s, but %s s are %s", trimmed(v.Requests.V, 0), rate(v.Rate.V), fixed(ran.V/1e6, 3), trimmed(d.v.V/1e6, 2), d.what))
		}
	}
	return nothing()
}

// shortRun is E5.
func shortRun(v view) answer {
	ran := v.ran()
	if !ran.positive() {
		return lacks("how long it ran (--duration)")
	}
	if ran.V >= v.t.ShortSeconds*1e6 {
		return nothing()
	}
	return found(finding(result.Note, result.Definite, figures{"duration_us": ran.V}, figures{"short_run_s": v.t.ShortSeconds},
		"Measure for a minute and more, after a warm-up.",
		"it ran for %s s: one repeated TCP handshake takes up to 7 s of that, and nothing is warm", fixed(ran.V/1e6, 1)))
}

// linkRate is E6: what crosses the link are frames, not payload. Answers on
// different connections cannot share one.
func linkRate(v view) answer {
	f := v.Facts
	answerBytes := v.answerBytes()
	switch {
	case v.sameHost():
		return nothing() // it never saw a link
	case !f.Link.positive():
		return lacks("the speed of the link (--link 1gbit)")
	case !v.Rate.positive() || !answerBytes.positive():
		return lacks("the bytes of an answer (--answer-bytes)")
	}
	low, high := v.onWire(answerBytes.V)
	payload := v.Rate.V * answerBytes.V * 8
	evidence := figures{"answer_bytes": answerBytes.V, "payload_bits": payload, "frames_bits": low, "frames_timestamps_bits": high, "link_bits": f.Link.V}
	say := fmt.Sprintf("%s x %s B = %s of payload, in frames %s to %s: %s to %s of the link's %s", rate(v.Rate.V), trimmed(answerBytes.V, 1),
		mbit(payload), mbit(low), mbit(high), percent(low/f.Link.V), percent(high/f.Link.V), mbit(f.Link.V))
	if f.RequestBytes.positive() && f.ProxiedBytes.positive() {
		in := v.Rate.V * (f.RequestBytes.V + f.ProxiedBytes.V + 2*v.t.FrameLow) * 8
		evidence["gateway_in_bits"] = in
		say += fmt.Sprintf(". Into the gateway come %s + %s B and two frames' overhead for each: %s", trimmed(f.RequestBytes.V, 0), trimmed(f.ProxiedBytes.V, 0), mbit(in))
		low, high = max(low, in), max(high, in)
	}
	limit := figures{"link_busy": v.t.LinkBusy, "frame_bytes": v.t.FrameLow, "frame_bytes_timestamps": v.t.FrameHigh}
	switch {
	case low > f.Link.V:
		return found(finding(result.InvalidLevel, result.Definite, evidence, limit,
			"Ask for the speed that the card really had, and whether the machines share one host.",
			"impossible: the stated link rate is exceeded, so the stated network is not the one measured. %s", say))
	case high > v.t.LinkBusy*f.Link.V:
		return found(finding(result.SuspectLevel, result.Likely, evidence, limit,
			"Measure over a faster link before comparing servers.", "the link is the limit, not the server. %s", say))
	}
	return nothing()
}

// onWire is the rate of one answer per request in bits per second, without and
// with TCP timestamps.
func (v view) onWire(answerBytes float64) (low, high float64) {
	segments := math.Ceil(answerBytes / v.t.Segment)
	return v.Rate.V * (answerBytes + segments*v.t.FrameLow) * 8, v.Rate.V * (answerBytes + segments*v.t.FrameHigh) * 8
}

// host is the name or address that was loaded.
func (b *Block) host() string {
	text := b.URL
	if text != "" && !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return b.Facts.Host
	}
	return u.Hostname()
}

// sameHost reports whether generator and target are known to share a machine.
func (b *Block) sameHost() bool {
	ip := net.ParseIP(b.host())
	return b.Facts.SameHost || b.host() == "localhost" || ip != nil && ip.IsLoopback()
}

// notTheAnswer is E11 against a probe.
func notTheAnswer(v view) answer {
	got, want := v.answerBytes(), v.Facts.ExpectBytes
	switch {
	case !got.positive():
		return nothing()
	case !want.positive():
		return lacks("the size of one answer by a probe (--expect-bytes, curl -si URL | wc -c)")
	case v.sameSize(got, want):
		return nothing()
	}
	return found(finding(result.SuspectLevel, result.Likely, figures{"answer_bytes": got.V, "expect_bytes": want.V},
		figures{"bytes": v.t.AnswerBytes, "share": v.t.AnswerShare}, "Probe each target before and after, and keep one answer.",
		"%s B per answer, a probe has %s: %s bytes %s. It was another build, or some answers were not the answer",
		trimmed(got.V, 1), trimmed(want.V, 1), trimmed(math.Abs(got.V-want.V), 1), lessOrMore(got.V < want.V)))
}

func lessOrMore(less bool) string {
	if less {
		return "less"
	}
	return "more"
}

// sameSize compares sizes of answers within their rounding.
func (v view) sameSize(a, b Value) bool {
	return math.Abs(a.V-b.V)-a.Half-b.Half <= max(v.t.AnswerBytes, v.t.AnswerShare*b.V)
}

// handshakeLadder is E17: SYN-ACKs are repeated after 1, 3 and 7 s, so that
// stalls by a full accept queue end a little above these.
func handshakeLadder(v view) answer {
	if !v.Connections.Known || v.Connections.V <= v.t.Backlog {
		return nothing()
	}
	var seen []string
	evidence := figures{"connections": v.Connections.V}
	for _, r := range []named{{"p99", v.Latency.at(0.99)}, {"the maximum", v.Latency.Max}} {
		for _, step := range []float64{1, 3, 7, 15} {
			if s := r.value.V / 1e6; r.value.Known && s >= step && s <= step+1.1 {
				seen = append(seen, fmt.Sprintf("%s is %s, just above %s s", r.name, us(r.value.V), trimmed(step, 0)))
				evidence[strings.TrimPrefix(r.name, "the ")+"_us"] = r.value.V
			}
		}
	}
	if len(seen) == 0 {
		return nothing()
	}
	return found(finding(result.Note, result.Hint, evidence, figures{"accept_queue": v.t.Backlog},
		"Read ListenOverflows in /proc/net/netstat; raise net.core.somaxconn and the server's backlog.",
		"%s: with %s connections at once that fits repeated handshakes (1, 1+2, 1+2+4 s) on a full accept queue", strings.Join(seen, ", "), trimmed(v.Connections.V, 0)))
}

// failuresNotShown is E24: a rate is worth what is known of its failures.
func failuresNotShown(v view) answer {
	if v.Errors == nil {
		what := "neither failures nor statuses are shown"
		if v.Tool == "ab" {
			what = "neither Failed requests nor Non-2xx responses are shown (ab counts the second apart)"
		}
		return found(finding(result.SuspectLevel, result.Definite, nil, nil,
			"Show the whole output. Failures are often faster than answers.", "%s: the rate may be one of errors", what))
	}
	total := max(v.Requests.V, float64(v.failed()))
	// What was cut off at the end, one per connection, is no failure.
	if total == 0 || v.failed() == v.Errors["cut off"] {
		return nothing()
	}
	share := float64(v.failed()) / total
	var kinds []string
	for _, k := range slices.Sorted(maps.Keys(v.Errors)) {
		if v.Errors[k] > 0 {
			kinds = append(kinds, fmt.Sprintf("%s %s", k, fixed(float64(v.Errors[k]), 0)))
		}
	}
	severity := result.Note
	switch {
	case share >= v.t.ErrorsInvalid:
		severity = result.InvalidLevel
	case share >= v.t.ErrorsSuspect:
		severity = result.SuspectLevel
	}
	return found(finding(severity, result.Definite, figures{"failed": float64(v.failed()), "requests": total, "share": share},
		figures{"errors_suspect": v.t.ErrorsSuspect, "errors_invalid": v.t.ErrorsInvalid},
		"Count good answers only, and find out what the others were.",
		"%s of %s requests failed (%s; %s), and the rate counts them", fixed(float64(v.failed()), 0), fixed(total, 0), percent(min(share, 1)), strings.Join(kinds, ", ")))
}

// connectionModel is E26: without keep-alive the test is one of accepting.
func connectionModel(v view) answer {
	if v.KeepAlive != "off" {
		return nothing()
	}
	evidence := figures{"rate": v.Rate.V}
	say := "each request opened a connection: the test is one of accept and TIME_WAIT"
	if n := v.Rate.V * v.t.TimeWaitSecs; n > v.t.Ports {
		evidence["time_wait"] = n
		say += fmt.Sprintf("; at length %s x %s s = %s sockets are in TIME_WAIT, against %s ports", rate(v.Rate.V), trimmed(v.t.TimeWaitSecs, 0), fixed(n, 0), fixed(v.t.Ports, 0))
	}
	return found(finding(result.Note, result.Definite, evidence, figures{"ports": v.t.Ports, "time_wait_s": v.t.TimeWaitSecs},
		"Do not compare it with a load that keeps connections.", "%s", say))
}

// ratePerMinute is E28.
func ratePerMinute(v view) answer {
	text := strings.ToLower(v.Facts.RateAs)
	switch {
	case strings.Contains(text, "/m"):
		return found(finding(result.Note, result.Definite, figures{"rate": v.Rate.V, "per_minute": v.Rate.V * 60}, nil, "Print rates per second.",
			"the rate is printed per minute, %q: %s / 60 = %s", v.Facts.RateAs, trimmed(v.Rate.V*60, 0), rate(v.Rate.V)))
	case strings.Contains(text, "concurren"), strings.Contains(text, "并发"):
		return found(finding(result.Note, result.Likely, figures{"rate": v.Rate.V}, nil, "Keep the words apart.",
			"what is called concurrency, %q, is requests per second; in flight were %s", v.Facts.RateAs, trimmed(v.Connections.V, 0)))
	}
	return nothing()
}

// remarks are what holds for all results, said once.
func remarks(all []Block) []result.Finding {
	var closed, unwarmed, single []string
	for i := range all {
		b := &all[i]
		if b.closed() {
			closed = append(closed, b.ID)
		}
		if !b.Facts.Warmup.Known {
			unwarmed = append(unwarmed, b.ID)
		}
		if b.Facts.Repeats.V < 2 {
			single = append(single, b.ID)
		}
	}
	var found []result.Finding
	say := func(id, rule string, who []string, advice, text string) {
		if len(who) > 0 {
			f := finding(result.Info, result.Definite, figures{"results": float64(len(who))}, nil, advice, "%s", text)
			f.ID, f.Rule, f.Where = id, rule, strings.Join(who[:min(len(who), 30)], " ")
			found = append(found, f)
		}
	}
	say("E5", "no-repeat", single, "Repeat at least five times and show the spread.", "no repeats are known: there is no spread to judge a difference by")
	say("E5", "no-warm-up", unwarmed, "Load before measuring and say how long.", "no warm-up is known")
	say("E25", "coordinated-omission", closed, "Measure latency at a fixed rate below the limit.",
		"closed loops: percentiles are of service, not of the wait that independent users have")
	say("E29", "saturation-only", closed, "Show a ramp of rates.",
		"at full load the mean latency only restates N/X; nothing is known below saturation")
	return slices.Clip(found)
}
