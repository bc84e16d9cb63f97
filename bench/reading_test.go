package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// parserOf returns the parser of a generator.
func parserOf(t *testing.T, name string) func([]byte) (reading, error) {
	t.Helper()
	i := slices.IndexFunc(generators(), func(g generator) bool { return g.name == name })
	if i < 0 {
		t.Fatalf("no generator is called %s", name)
	}
	return generators()[i].parse
}

// TestParsers reads what the programs really printed.
func TestParsers(t *testing.T) {
	tests := []struct {
		generator, file string
		want            reading
	}{
		{wrk, "wrk.txt", reading{Requests: 45465, Rate: 21990.16, LatencyUS: map[string]float64{"p50": 1380, "p75": 3150, "p90": 4970, "p99": 36660}}},
		{uring, "prony.json", reading{Requests: 25791, Rate: 12863.5, Opened: 64, LatencyUS: map[string]float64{"p50": 897.023, "p90": 9592.831, "p95": 16580.607, "p99": 60489.727, "max": 250727.656}}},
		{"ab", "ab.txt", reading{Requests: 771, Rate: 767.94, LatencyUS: map[string]float64{"p50": 4000, "p90": 9000, "p95": 12000, "p99": 35000}}},
		{"h2load", "h2load.txt", reading{Requests: 25361, Rate: 25361, LatencyUS: map[string]float64{}}},
		{"hey", "hey.txt", reading{Requests: 642, Rate: 639.6177, LatencyUS: map[string]float64{"p50": 5100, "p90": 10500, "p95": 13500, "p99": 21700, "max": 39100}}},
		{"bombardier", "bombardier.json", reading{Requests: 839, Rate: 839 / 1.004810363, LatencyUS: map[string]float64{"p50": 3714, "p75": 5170, "p90": 7696, "p95": 11508, "p99": 25385, "max": 37663}}},
		{"vegeta", "vegeta.json", reading{Requests: 886, Rate: 882.7692191425516, LatencyUS: map[string]float64{"p50": 3778.243, "p90": 7157.339, "p95": 8464.345, "p99": 13094.402, "max": 54447.570}}},
		{"fortio", "fortio.json", reading{Requests: 798, Errors: 2, Rate: 199.5, LatencyUS: map[string]float64{"p50": 1500, "p99": 250000, "max": 1004000}}},
	}
	for _, tt := range tests {
		t.Run(tt.generator, func(t *testing.T) {
			got, err := parserOf(t, tt.generator)(read(t, tt.file))
			if err != nil {
				t.Fatal(err)
			}
			checkReading(t, got, tt.want)
		})
	}
}

func checkReading(t *testing.T, got, want reading) {
	t.Helper()
	if got.Requests != want.Requests || got.Errors != want.Errors || got.Opened != want.Opened || math.Abs(got.Rate-want.Rate) > 1e-6 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if len(got.LatencyUS) != len(want.LatencyUS) {
		t.Errorf("got latencies %v, want %v", got.LatencyUS, want.LatencyUS)
	}
	for q, us := range want.LatencyUS {
		if math.Abs(got.LatencyUS[q]-us) > 0.5 {
			t.Errorf("%s: got %v µs, want %v", q, got.LatencyUS[q], us)
		}
	}
}

// TestParseErrors holds the parsers to counting what went wrong, and to not
// taking silence for a result.
func TestParseErrors(t *testing.T) {
	got, err := parseWrk([]byte("  10 requests in 1.00s, 1.00KB read\n  Socket errors: connect 1, read 2, write 3, timeout 4\n  Non-2xx or 3xx responses: 5\nRequests/sec:  10.00\n"))
	if err != nil || got.Errors != 15 {
		t.Errorf("wrk: got %d errors, %v, want 15", got.Errors, err)
	}
	got, err = parseHey([]byte("  Requests/sec:\t10.0\nStatus code distribution:\n  [200]\t7 responses\n  [503]\t2 responses\n\nError distribution:\n  [4]\tGet \"http://127.0.0.1/\": refused\n"))
	if err != nil || got.Requests != 7 || got.Errors != 6 {
		t.Errorf("hey: got %+v, %v, want 7 requests and 6 errors", got, err)
	}
	for _, g := range generators() {
		for _, text := range []string{"", "{}", "unable to connect\n", `{"load":{}}`} {
			if r, err := g.parse([]byte(text)); err == nil {
				t.Errorf("%s: %q gave %+v, want an error", g.name, text, r)
			}
		}
	}
}

// FuzzParsers holds the parsers to never panicking, and to a result that can
// be compared.
func FuzzParsers(f *testing.F) {
	for _, name := range []string{"wrk.txt", "prony.json", "ab.txt", "h2load.txt", "hey.txt", "bombardier.json", "vegeta.json", "fortio.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, g := range generators() {
			if r, err := g.parse(text); err == nil && r.LatencyUS == nil && r.Requests > 0 {
				t.Errorf("%s: a result without a set of latencies", g.name)
			}
		}
		straceTable(string(text))
		classify(text)
	})
}
