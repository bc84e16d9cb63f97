package analyse

import (
	"fmt"

	"prony/internal/hdr"
	"prony/internal/result"
)

// answerRules ask whether the answers were answers (method 7.6).
func answerRules() []rule {
	return []rule{
		{"errors", "E1", failures},
		{"fast-failures", "E1", fastFailures},
		{"timeouts", "E7", timeouts},
		{"cut-off", "E8", cutOff},
	}
}

// errorShare is the part of the requests that ended in failure.
func (v view) errorShare() float64 { return ratio(float64(v.l.Requests.Failed), float64(v.ended())) }

// goodput is the rate of good answers: those of the window's requests over its
// length, and never more than the rate of all.
func (v view) goodput() float64 {
	return min(v.l.Rate, ratio(float64(v.l.Requests.Completed), v.seconds()))
}

// failures is rule E1: from one in a hundred on the rate of all answers must
// not be the headline.
func failures(v view) answer {
	failed := v.errorShare()
	if failed < v.t.ErrorsNote || v.l.Requests.Completed == 0 {
		return nothing()
	}
	kind, _ := worstFailure(v.l)
	f := result.Finding{Severity: result.Note,
		Evidence:  figures{"error_share": failed, "failed": float64(v.l.Requests.Failed), "rate": v.l.Rate, "goodput": v.goodput()},
		Threshold: figures{"error_share": v.t.ErrorsNote, "error_share_suspect": v.t.ErrorsSuspect},
		Message:   fmt.Sprintf("%s of the requests failed (%s), most often: %s", percent(failed), count(v.l.Requests.Failed), kind),
		Advice:    "look at the first example of each failure and at the target's log"}
	if failed >= v.t.ErrorsSuspect {
		f.Severity = result.SuspectLevel
		f.Message += fmt.Sprintf("; the goodput is %s", rate(v.goodput()))
		if v.l.Rate > v.goodput()*(1+v.t.ErrorsNote) { // failures that are answers
			f.Message += fmt.Sprintf(", and the rate of %s counts failures too", rate(v.l.Rate))
		}
	}
	return found(f)
}

// fastFailures is the other half of E1: a target that refuses quickly looks
// fast (KAT-44).
func fastFailures(v view) answer {
	failed, good := v.l.Latency.Failed, v.l.Latency.Response
	if v.errorShare() < v.t.ErrorsSuspect || good.Empty() {
		return nothing()
	}
	if failed.Empty() {
		return lacks("the times of the failed requests are not in the result")
	}
	bad, fine := float64(failed.Value(hdr.P50)), float64(good.Value(hdr.P50))
	if bad >= v.t.FastFailure*fine {
		return nothing()
	}
	return found(result.Finding{Severity: result.SuspectLevel,
		Evidence:  figures{"failed_p50_us": bad / 1e3, "response_p50_us": fine / 1e3, "error_share": v.errorShare(), "goodput": v.goodput()},
		Threshold: figures{"failed_over_good": v.t.FastFailure, "error_share": v.t.ErrorsSuspect},
		Message: fmt.Sprintf("errors inflate speed: failures took %s and good answers %s (medians); the goodput is %s",
			nanos(bad), nanos(fine), rate(v.goodput())),
		Advice: "compare by goodput, and find out why the target refuses"})
}

// timeouts tells what the requests without an answer do to percentiles.
func timeouts(v view) answer {
	n := v.l.Failures[result.RequestTimeout.String()]
	if n == 0 {
		return nothing()
	}
	lost := v.ofAsked(n)
	return found(result.Finding{Severity: v.censoring(lost), Evidence: figures{"timeouts": float64(n), "share": lost, "timeout_us": us(v.plan.Timeouts.Request)},
		Threshold: figures{"share": v.t.CensoredNote, "share_suspect": v.t.CensoredSuspect},
		Message:   fmt.Sprintf("%s ran into the timeout%s: %s", many(n, "request"), v.timeout(), lowerBounds(lost)),
		Advice:    "lengthen --timeout to see how slow they are, or judge by the share of failures"})
}

func (v view) timeout() string {
	if v.plan.Timeouts.Request <= 0 {
		return ""
	}
	return " of " + nanos(float64(v.plan.Timeouts.Request))
}

// cutOff tells the same of requests that the end of the load cut off
// (method 1.4.4).
func cutOff(v view) answer {
	n := v.l.Requests.CutOff
	if n == 0 {
		return nothing()
	}
	lost, severity := v.ofAsked(n), result.Info
	if h := v.l.Latency.Response; h.Empty() || v.l.Requests.CutOffOldestUS > float64(h.Value(hdr.P99))/1000 {
		severity = v.censoring(lost) // else they were on their usual way
	}
	return found(result.Finding{Severity: severity, Evidence: figures{"cut_off": float64(n), "share": lost, "oldest_us": v.l.Requests.CutOffOldestUS},
		Threshold: figures{"share": v.t.CensoredNote, "share_suspect": v.t.CensoredSuspect},
		Message: fmt.Sprintf("%s still had no answer when the load ended (the oldest after %s): %s",
			many(n, "request"), micros(v.l.Requests.CutOffOldestUS), lowerBounds(lost)),
		Advice: "let the load wait longer at its end (--drain), and measure longer"})
}

func (v view) ofAsked(n int64) float64 { return ratio(float64(n), float64(v.l.Requests.Asked)) }

func (v view) censoring(share float64) result.Severity {
	switch {
	case share > v.t.CensoredSuspect:
		return result.SuspectLevel
	case share > v.t.CensoredNote:
		return result.Note
	}
	return result.Info
}

// lowerBounds names the percentiles that a share of unanswered requests takes
// away: those of the answered ones are lower bounds from there on.
func lowerBounds(share float64) string {
	for _, q := range []hdr.Quantile{hdr.P50, hdr.P75, hdr.P90, hdr.P95, hdr.P99, hdr.P999, hdr.P9999} {
		if share > float64(hdr.P100-q)/float64(hdr.P100) {
			return fmt.Sprintf("%s and above are only lower bounds", q)
		}
	}
	return "too few to move a percentile up to p99.99"
}
