package monitor

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"prony/internal/result"
)

// seriesMax bounds the series that are kept of an endpoint; the first count.
const seriesMax = 200

// nameMax bounds the length of a series' name with its labels.
const nameMax = 400

// exposition reads the text format of Prometheus. Counters become rates, and
// their names get the ending _rate; of histograms there are the sum and the
// count. The names of series are as the endpoint writes them.
type exposition struct {
	kinds  map[string]string
	before map[string]float64
	series map[string]bool // those that are kept
	left   int             // that did not fit, in this answer
	known  map[result.Metric]float64
	counts map[result.Metric]float64
	last   map[result.Metric]float64
	shared map[string]result.Metric
}

func newExposition() *exposition {
	return &exposition{kinds: map[string]string{}, before: map[string]float64{}, series: map[string]bool{},
		last: map[result.Metric]float64{}, shared: serverMetrics()}
}

var (
	errExposition = errors.New("not a line of metrics")
	errNoMetrics  = errors.New("no metrics in the answer")
)

// read notes a whole answer.
func (e *exposition) read(m *meter, body []byte) error {
	e.left = 0
	e.known, e.counts = map[result.Metric]float64{}, map[result.Metric]float64{}
	seen := false
	for line := range bytes.Lines(body) {
		line = bytes.TrimSpace(line)
		switch {
		case len(line) == 0:
		case line[0] == '#':
			e.comment(line)
		default:
			name, labels, value, err := sampleLine(line)
			if err != nil {
				return fmt.Errorf("line %.80q: %w", line, err)
			}
			seen = true
			e.sample(m, name, labels, value)
		}
	}
	if !seen {
		return errNoMetrics
	}
	delete(m.head.Unknown, "series")
	if e.left > 0 {
		m.head.Unknown["series"] = fmt.Sprintf("%d series more than %d are left out", e.left, seriesMax)
	}
	return nil
}

// comment notes a line "# TYPE name counter".
func (e *exposition) comment(line []byte) {
	words := strings.Fields(string(line))
	if len(words) == 4 && words[1] == "TYPE" && len(e.kinds) < bodyMax/64 {
		e.kinds[words[2]] = words[3]
	}
}

// sampleLine cuts a line in its parts; labels have their braces, or are empty.
//
//	name{label="value",other="with \" and }"} 12.5 1395066363000
func sampleLine(line []byte) (name, labels string, value float64, err error) {
	end := bytes.IndexAny(line, "{ \t")
	if end < 1 {
		return "", "", 0, errExposition
	}
	rest := line[end:]
	if rest[0] == '{' {
		at := closing(rest)
		if at < 0 {
			return "", "", 0, errExposition
		}
		labels, rest = string(rest[:at+1]), rest[at+1:]
	}
	words := bytes.Fields(rest)
	if len(words) == 0 {
		return "", "", 0, errExposition
	}
	value, err = strconv.ParseFloat(string(words[0]), 64)
	if err != nil {
		return "", "", 0, errExposition
	}
	return string(line[:end]), labels, value, nil
}

// closing finds the brace that ends the labels; those in quotes do not.
func closing(b []byte) int {
	quoted := false
	for i := 0; i < len(b); i++ {
		switch {
		case quoted && b[i] == '\\':
			i++
		case b[i] == '"':
			quoted = !quoted
		case !quoted && b[i] == '}':
			return i
		}
	}
	return -1
}

// sample notes one value.
func (e *exposition) sample(m *meter, name, labels string, value float64) {
	kind := e.kind(name)
	if kind == "bucket" {
		return
	}
	e.common(name, labels, value)
	key := name + labels
	if !e.series[key] {
		if len(e.series) >= seriesMax || len(key) > nameMax {
			e.left++
			return
		}
		e.series[key] = true
	}
	if kind != "counter" {
		m.gauge(result.Metric(key), value)
		return
	}
	before, ok := e.before[key]
	e.before[key] = value
	if ok && value >= before && !math.IsInf(value, 0) {
		m.rate(result.Metric(key+"_rate"), value-before)
	}
}

// kind is counter, gauge, or bucket for what is left out. What has no type is
// taken by its name.
func (e *exposition) kind(name string) string {
	kind, base := e.kinds[name], name
	for _, ending := range []string{"_total", "_sum", "_count", "_bucket", "_created"} {
		if short, ok := strings.CutSuffix(name, ending); ok && kind == "" {
			kind, base = e.kinds[short], short
		}
	}
	ending := strings.TrimPrefix(name, base)
	switch {
	case ending == "_created" || strings.HasSuffix(name, "_bucket") && (kind == "histogram" || kind == ""):
		return "bucket"
	case kind == "counter":
		return "counter"
	case (kind == "histogram" || kind == "summary") && ending != "":
		return "counter"
	case kind == "" && (strings.HasSuffix(name, "_total") || strings.HasSuffix(name, "_count") || strings.HasSuffix(name, "_sum")):
		return "counter"
	}
	return "gauge"
}

// serverMetrics are the names under which Envoy counts what every server does.
func serverMetrics() map[string]result.Metric {
	return map[string]result.Metric{
		"envoy_http_downstream_rq_total":             result.ServerRequests,
		"envoy_http_downstream_cx_total":             result.ServerAccepts,
		"envoy_http_downstream_cx_active":            result.ServerActive,
		"envoy_cluster_upstream_rq_total":            result.UpstreamRequests,
		"envoy_cluster_upstream_cx_total":            result.UpstreamConnects,
		"envoy_cluster_upstream_cx_overflow":         result.UpstreamOverflows,
		"envoy_cluster_upstream_rq_pending_overflow": result.UpstreamOverflows,
	}
}

// common sums up a metric that servers have in common. The administration's
// own listener, which we talk to, is left out.
func (e *exposition) common(name, labels string, value float64) {
	if !strings.HasPrefix(name, "envoy_") || strings.Contains(labels, `_prefix="admin"`) {
		return
	}
	metric, ok := e.shared[name]
	switch {
	case !ok || math.IsNaN(value) || math.IsInf(value, 0):
	case strings.HasSuffix(string(metric), "_rate"):
		e.counts[metric] += value
	default:
		e.known[metric] += value
	}
}

// server notes the sums.
func (e *exposition) server(m *meter) {
	for metric, value := range e.known {
		m.gauge(metric, value)
	}
	for metric, value := range e.counts {
		before, ok := e.last[metric]
		e.last[metric] = value
		if ok && value >= before {
			m.rate(metric, value-before)
		}
	}
}
