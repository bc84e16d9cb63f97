package audit

import (
	"encoding/json"
	"strings"

	"prony/internal/result"
)

// ohaJSON reads "oha --output-format json": times in seconds, bytes of bodies.
func ohaJSON(text []byte, b *Block) bool {
	var r struct {
		Summary *struct {
			Total          *float64 `json:"total"`
			Slowest        *float64 `json:"slowest"`
			Fastest        *float64 `json:"fastest"`
			Average        *float64 `json:"average"`
			RequestsPerSec *float64 `json:"requestsPerSec"`
			TotalData      *float64 `json:"totalData"`
		} `json:"summary"`
		Percentiles map[string]*float64 `json:"latencyPercentiles"`
		Codes       map[string]float64  `json:"statusCodeDistribution"`
		Errors      map[string]float64  `json:"errorDistribution"`
	}
	if json.Unmarshal(text, &r) != nil || r.Summary == nil || r.Summary.RequestsPerSec == nil {
		return false
	}
	s := r.Summary
	b.Tool, b.Model, b.BytesAre, b.KeepAlive = "oha", closedModel, bodyBytes, "on"
	b.Rate, b.DurationPrinted, b.Bytes = figure(s.RequestsPerSec, 1), figure(s.Total, 1e6), figure(s.TotalData, 1)
	b.Latency.Mean, b.Latency.Min, b.Latency.Max = figure(s.Average, 1e6), figure(s.Fastest, 1e6), figure(s.Slowest, 1e6)
	for name, v := range r.Percentiles {
		b.jsonLatency(name, figure(v, 1e6))
	}
	b.fail("error", Exactly(0))
	for code, n := range r.Codes {
		b.status(code, figure(&n, 1))
	}
	for what, n := range r.Errors {
		b.fail(ohaKind(what), figure(&n, 1))
	}
	b.heyCount()
	return true
}

// bombardierJSON reads "bombardier -o json": times in microseconds.
func bombardierJSON(text []byte, b *Block) bool {
	type moments struct {
		Mean        *float64           `json:"mean"`
		Stddev      *float64           `json:"stddev"`
		Max         *float64           `json:"max"`
		Percentiles map[string]float64 `json:"percentiles"`
	}
	var r struct {
		Spec struct {
			Connections *float64 `json:"numberOfConnections"`
			Seconds     *float64 `json:"testDurationSeconds"`
			URL         string   `json:"url"`
			Rate        *float64 `json:"rate"`
		} `json:"spec"`
		Result *struct {
			BytesRead *float64 `json:"bytesRead"`
			Seconds   *float64 `json:"timeTakenSeconds"`
			Req1xx    float64  `json:"req1xx"`
			Req2xx    float64  `json:"req2xx"`
			Req3xx    float64  `json:"req3xx"`
			Req4xx    float64  `json:"req4xx"`
			Req5xx    float64  `json:"req5xx"`
			Others    float64  `json:"others"`
			Latency   moments  `json:"latency"`
		} `json:"result"`
	}
	if json.Unmarshal(text, &r) != nil || r.Result == nil || r.Result.Seconds == nil || r.Result.BytesRead == nil {
		return false
	}
	q := r.Result
	b.Tool, b.URL, b.Model, b.BytesAre, b.KeepAlive = "bombardier", r.Spec.URL, closedModel, wireBytes, "on"
	b.Connections, b.DurationStated = figure(r.Spec.Connections, 1), figure(r.Spec.Seconds, 1e6)
	if v := figure(r.Spec.Rate, 1); v.positive() {
		b.OfferedRate, b.Model = v, openModel
	}
	b.DurationPrinted, b.Bytes = figure(q.Seconds, 1e6), figure(q.BytesRead, 1)
	b.Latency.Mean, b.Latency.Stdev, b.Latency.Max = figure(q.Latency.Mean, 1), figure(q.Latency.Stddev, 1), figure(q.Latency.Max, 1)
	for p, v := range q.Latency.Percentiles {
		b.jsonLatency(p, figure(&v, 1))
	}
	b.fail("error", Exactly(0))
	for i, n := range []float64{q.Req1xx, q.Req2xx, q.Req3xx, q.Req4xx, q.Req5xx} {
		b.status(string(rune('1'+i))+"xx", figure(&n, 1))
	}
	b.status("others", figure(&q.Others, 1))
	b.bombardierCount()
	b.Rate = quotient(b.Requests, b.DurationPrinted.times(1e-6))
	return true
}

// k6JSON reads "k6 run --summary-export": times in milliseconds.
func k6JSON(text []byte, b *Block) bool {
	type metric map[string]json.RawMessage
	var r struct {
		Metrics map[string]metric `json:"metrics"`
	}
	if json.Unmarshal(text, &r) != nil || r.Metrics["http_reqs"] == nil {
		return false
	}
	// Newer exports put the figures of a metric into "values".
	get := func(name, key string, scale float64) Value {
		m := r.Metrics[name]
		var inner metric
		if json.Unmarshal(m["values"], &inner) == nil && inner != nil {
			m = inner
		}
		var v *float64
		if json.Unmarshal(m[key], &v) != nil {
			return Value{}
		}
		return figure(v, scale)
	}
	b.Tool, b.BytesAre, b.KeepAlive = "k6", wireBytes, "on"
	b.Requests, b.Rate = get("http_reqs", "count", 1), get("http_reqs", "rate", 1)
	b.Bytes, b.Connections = get("data_received", "count", 1), get("vus_max", "max", 1).or(get("vus_max", "value", 1))
	for _, key := range []string{"avg", "min", "med", "max", "p(90)", "p(95)", "p(99)"} {
		b.jsonLatency(key, get("http_req_duration", key, 1e3))
	}
	b.fail("failed", get("http_req_failed", "passes", 1))
	return b.Latency.Mean.Known
}

// pronyRun are the keys of Prony's own result that are needed here.
type pronyRun struct {
	Schema  string   `json:"schema"`
	Command []string `json:"command"`
	Load    struct {
		Model       string                     `json:"model"`
		Threads     *float64                   `json:"threads"`
		Connections map[string]json.RawMessage `json:"connections"`
		DurationUS  *float64                   `json:"duration_us"`
		Requests    map[string]float64         `json:"requests"`
		Statuses    map[string]float64         `json:"statuses"`
		Rate        *float64                   `json:"rate"`
		Offered     *float64                   `json:"offered_rate"`
		Latency     struct {
			Service map[string]any `json:"service"`
		} `json:"latency"`
	} `json:"load"`
}

// pronyJSON reads Prony's own result, so that the same rules can be applied to
// it. Its service time is what other tools print as latency.
func pronyJSON(text []byte, b *Block) bool {
	var r pronyRun
	if json.Unmarshal(text, &r) != nil || r.Schema != result.Schema {
		return false
	}
	l := &r.Load
	b.Tool, b.Model, b.Command = "prony", l.Model, strings.Join(r.Command, " ")
	var asked *float64
	if json.Unmarshal(l.Connections["asked"], &asked) == nil {
		b.Connections = figure(asked, 1)
	}
	b.Threads, b.Rate, b.OfferedRate = figure(l.Threads, 1), figure(l.Rate, 1), figure(l.Offered, 1)
	b.DurationPrinted, b.Requests = figure(l.DurationUS, 1), Exactly(l.Requests["in_window"])
	for key, v := range l.Latency.Service {
		us, ok := v.(float64)
		if name, found := strings.CutSuffix(key, "_us"); ok && found && name != "stdev" {
			b.jsonLatency(strings.ReplaceAll(name, "_", "."), figure(&us, 1))
		}
	}
	b.fail("failed", Exactly(l.Requests["failed"]))
	for code, n := range l.Statuses {
		b.status(code, figure(&n, 1))
		if code >= "400" {
			b.fail("status", figure(&n, 1))
		}
	}
	return true
}
