package plan

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"prony/internal/unit"
)

// The names that goals may use. Kinds of failure are those of a result; they
// are written out here because a plan knows nothing of results, and a test of
// the analysis holds the two lists together.
func histograms() []string { return []string{"response", "service", "lag"} }

func latencies() []string { return []string{"mean", "min", "max"} }

func rates() []string { return []string{"rate", "goodput"} }

func counts() []string {
	return []string{"asked", "started", "completed", "failed", "cut-off", "unsent", "connections", "reopened"}
}

// FailureKinds are the kinds of failure that a goal may count, by name.
func FailureKinds() []string {
	return []string{"dns", "connect-refused", "connect-timeout", "connect-reset", "connect-unreachable",
		"connect-failed", "no-ports", "file-limit", "tls-certificate", "tls-handshake", "tls-timeout", "timeout",
		"reset", "closed-early", "truncated", "write-failed", "bad-response", "header-too-large", "body-too-large",
		"http-status", "body-differs", "script", "other"}
}

func metrics() []string {
	return slices.Concat(latencies(), []string{"errors"}, rates(), counts(), FailureKinds())
}

// kindOf says what a metric is counted in; 0 if there is none of that name.
func kindOf(metric string) quantity {
	_, isPercentile := percentile(metric)
	switch {
	case isPercentile || slices.Contains(latencies(), metric):
		return latency
	case metric == "errors":
		return share
	case slices.Contains(rates(), metric):
		return perTime
	case slices.Contains(counts(), metric) || slices.Contains(FailureKinds(), metric):
		return number
	}
	return 0
}

// percentile reads "p99.9". Four decimals are what a quantile in millionths
// can tell apart.
func percentile(metric string) (percent float64, ok bool) {
	text, ok := strings.CutPrefix(metric, "p")
	if !ok || text == "" || len(text) > 8 || strings.Trim(text, "0123456789.") != "" {
		return 0, false
	}
	whole, decimals, dotted := strings.Cut(text, ".")
	if whole == "" || dotted && decimals == "" || len(decimals) > 4 {
		return 0, false
	}
	percent, err := strconv.ParseFloat(text, 64)
	return percent, err == nil && percent > 0 && percent <= 100
}

func looksLikePercentile(metric string) bool {
	return len(metric) > 1 && metric[0] == 'p' && metric[1] >= '0' && metric[1] <= '9'
}

// canonical writes a percentile in one way: p99.90 is p99.9.
func canonical(metric string) string {
	if percent, ok := percentile(metric); ok {
		return "p" + strconv.FormatFloat(percent, 'f', -1, 64)
	}
	return metric
}

// Format prints a value of the metric, in its base unit, for people.
func (e Expectation) Format(value float64) string {
	switch kindOf(e.Metric) {
	case latency:
		return unit.FormatDuration(time.Duration(value))
	case share:
		return unit.FormatPercent(value)
	case perTime:
		return unit.FormatRate(value)
	}
	return unit.FormatCount(int64(value))
}
