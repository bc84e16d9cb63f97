package main

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// decode reads a JSON report; whatever stands before its first brace is not
// part of it.
func decode(text []byte, into any) error {
	for i, c := range text {
		if c == '{' {
			if err := json.Unmarshal(text[i:], into); err != nil {
				return fmt.Errorf("read result: %w", err)
			}
			return nil
		}
	}
	return errNoResult
}

// parseProny reads prony load --json -, as any script of a user would.
func parseProny(text []byte) (reading, error) {
	var run struct {
		Load struct {
			Rate        float64
			Requests    struct{ Completed, Failed int64 }
			Connections struct{ Opened int }
			Latency     struct{ Response map[string]any }
		}
	}
	if err := decode(text, &run); err != nil {
		return reading{}, err
	}
	l := run.Load
	if l.Requests.Completed == 0 {
		return reading{}, errNoResult
	}
	r := reading{Requests: l.Requests.Completed, Errors: l.Requests.Failed, Rate: l.Rate, Opened: l.Connections.Opened, LatencyUS: map[string]float64{}}
	for _, q := range []string{"p50", "p90", "p95", "p99", "max"} {
		if us, ok := l.Latency.Response[q+"_us"].(float64); ok {
			r.LatencyUS[q] = us
		}
	}
	return r, nil
}

// parseBombardier reads bombardier -o json -l; its times are microseconds.
func parseBombardier(text []byte) (reading, error) {
	var run struct {
		Result struct {
			TimeTakenSeconds float64
			Req2XX           int64
			Req4XX           int64
			Req5XX           int64
			Others           int64
			Latency          struct {
				Max         float64
				Percentiles map[string]float64
			}
		}
	}
	if err := decode(text, &run); err != nil {
		return reading{}, err
	}
	d := run.Result
	if d.TimeTakenSeconds <= 0 || d.Req2XX == 0 {
		return reading{}, errNoResult
	}
	r := reading{Requests: d.Req2XX, Errors: d.Others + d.Req4XX + d.Req5XX, Rate: float64(d.Req2XX) / d.TimeTakenSeconds, LatencyUS: map[string]float64{"max": d.Latency.Max}}
	for q, us := range d.Latency.Percentiles {
		r.LatencyUS["p"+q] = us
	}
	return r, nil
}

// parseVegeta reads vegeta report -type json; its times are nanoseconds.
func parseVegeta(text []byte) (reading, error) {
	var run struct {
		Requests    int64
		Throughput  float64
		Success     float64
		Latencies   map[string]float64
		StatusCodes map[string]int64 `json:"status_codes"`
	}
	if err := decode(text, &run); err != nil {
		return reading{}, err
	}
	if run.Requests == 0 {
		return reading{}, errNoResult
	}
	good := run.StatusCodes["200"]
	r := reading{Requests: good, Errors: run.Requests - good, Rate: run.Throughput, LatencyUS: map[string]float64{}}
	for name, as := range map[string]string{"50th": "p50", "90th": "p90", "95th": "p95", "99th": "p99", "max": "max"} {
		r.LatencyUS[as] = run.Latencies[name] / 1e3
	}
	return r, nil
}

// parseFortio reads fortio load -json -; its times are seconds.
func parseFortio(text []byte) (reading, error) {
	var run struct {
		ActualQPS         float64
		RetCodes          map[string]int64
		DurationHistogram struct {
			Count       int64
			Max         float64
			Percentiles []struct{ Percentile, Value float64 }
		}
	}
	if err := decode(text, &run); err != nil {
		return reading{}, err
	}
	d := run.DurationHistogram
	if d.Count == 0 {
		return reading{}, errNoResult
	}
	good := run.RetCodes["200"]
	r := reading{Requests: good, Errors: d.Count - good, Rate: run.ActualQPS, LatencyUS: map[string]float64{"max": d.Max * 1e6}}
	for _, p := range d.Percentiles {
		r.LatencyUS["p"+strconv.FormatFloat(p.Percentile, 'f', -1, 64)] = p.Value * 1e6
	}
	return r, nil
}
