package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// reading is what a generator says about its run.
type reading struct {
	Requests int64   `json:"requests"` // answered
	Errors   int64   `json:"errors"`
	Rate     float64 `json:"rate"` // requests per second
	// LatencyUS has what was printed of p50, p90, p95, p99 and max.
	LatencyUS map[string]float64 `json:"latency_us,omitempty"`
	Opened    int                `json:"opened,omitempty"` // connections, where it says so
}

var errNoResult = errors.New("read result: there is none in its output")

// field returns the number in the first group of a pattern, and whether it is
// there.
func field(text []byte, pattern string) (float64, bool) {
	m := regexp.MustCompile(pattern).FindSubmatch(text)
	if m == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(m[1]), 64)
	return v, err == nil
}

// parseText reads the figures that every text report has.
func parseText(text []byte, requests, rate, failed string) (reading, error) {
	n, ok1 := field(text, requests)
	v, ok2 := field(text, rate)
	if !ok1 || !ok2 {
		return reading{}, errNoResult
	}
	errors, _ := field(text, failed)
	return reading{Requests: int64(n), Rate: v, Errors: int64(errors), LatencyUS: map[string]float64{}}, nil
}

// percentiles reads lines of a percentage and a time.
func (r *reading) percentiles(text []byte, pattern string, toUS func(value, unit string) (float64, error)) error {
	for _, m := range regexp.MustCompile(pattern).FindAllSubmatch(text, -1) {
		unit := ""
		if len(m) > 3 {
			unit = string(m[3])
		}
		us, err := toUS(string(m[2]), unit)
		if err != nil {
			return fmt.Errorf("read latency: %w", err)
		}
		r.LatencyUS["p"+strings.TrimRight(strings.TrimSuffix(string(m[1]), ".000"), ".")] = us
	}
	return nil
}

// scaled returns a conversion to microseconds by unit; "" is the fallback's.
func scaled(fallback string) func(value, unit string) (float64, error) {
	units := map[string]float64{"us": 1, "ms": 1e3, "s": 1e6, "m": 60e6}
	return func(value, unit string) (float64, error) {
		if unit == "" {
			unit = fallback
		}
		v, err := strconv.ParseFloat(value, 64)
		return v * units[unit], err
	}
}

// parseWrk reads wrk --latency. Its thread statistics hold percentages too,
// so the lines are anchored.
func parseWrk(text []byte) (reading, error) {
	r, err := parseText(text, `(?m)^\s+(\d+) requests in `, `(?m)^Requests/sec:\s+([\d.]+)`, `Non-2xx or 3xx responses: (\d+)`)
	if err != nil {
		return r, err
	}
	if m := regexp.MustCompile(`Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`).FindSubmatch(text); m != nil {
		for _, n := range m[1:] {
			v, err := strconv.ParseInt(string(n), 10, 64)
			if err != nil {
				return r, fmt.Errorf("read socket errors: %w", err)
			}
			r.Errors += v
		}
	}
	return r, r.percentiles(text, `(?m)^\s+(50|75|90|99)(?:\.000)?%\s+([\d.]+)(us|ms|s|m)\s*$`, scaled("us"))
}

// parseAB reads ab's report; its times are whole milliseconds.
func parseAB(text []byte) (reading, error) {
	r, err := parseText(text, `(?m)^Complete requests:\s+(\d+)`, `(?m)^Requests per second:\s+([\d.]+)`, `(?m)^Failed requests:\s+(\d+)`)
	if err != nil {
		return r, err
	}
	return r, r.percentiles(text, `(?m)^\s+(50|90|95|99)%\s+(\d+)$`, scaled("ms"))
}

// parseH2load reads h2load's summary, which has no percentiles.
func parseH2load(text []byte) (reading, error) {
	return parseText(text, `(?m)^requests: .* (\d+) succeeded`, `(?m)^finished in .*?([\d.]+) req/s`, `(?m)^requests: .* (\d+) failed`)
}

// parseHey reads hey's summary. The count is that of the answers by status.
func parseHey(text []byte) (reading, error) {
	rate, ok := field(text, `(?m)^\s+Requests/sec:\s+([\d.]+)`)
	if !ok {
		return reading{}, errNoResult
	}
	r := reading{Rate: rate, LatencyUS: map[string]float64{}}
	for _, m := range regexp.MustCompile(`(?m)^\s+\[(\d+)\]\s+(\d+)(?: responses|\s)`).FindAllSubmatch(text, -1) {
		n, err := strconv.ParseInt(string(m[2]), 10, 64)
		if err != nil {
			return r, fmt.Errorf("read responses: %w", err)
		}
		if string(m[1]) == "200" {
			r.Requests += n
		} else {
			r.Errors += n
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\s+\[(\d+)\]\s+(?:Get|Post) `).FindAllSubmatch(text, -1) {
		n, _ := strconv.ParseInt(string(m[1]), 10, 64)
		r.Errors += n
	}
	if v, ok := field(text, `(?m)^\s+Slowest:\s+([\d.]+) secs`); ok {
		r.LatencyUS["max"] = v * 1e6
	}
	return r, r.percentiles(text, `(?m)^\s+(50|90|95|99)%%? in ([\d.]+) secs`, scaled("s"))
}
