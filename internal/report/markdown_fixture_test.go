package report_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prony/internal/compare"
	"prony/internal/hdr"
	"prony/internal/report"
	"prony/internal/result"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Everything in this file is made up; none of the numbers was measured.

// madeAt is when the fixtures began.
var madeAt = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// spread records n times from low to high, evenly, and a slow one.
func spread(n int, low, high, slowest time.Duration) result.Histogram {
	h := hdr.MustNew(hdr.Config{})
	for i := range n - 1 {
		h.Record(int64(low) + int64(high-low)*int64(i)/int64(n))
	}
	h.Record(int64(slowest))
	return result.Histogram{Histogram: h}
}

const madePlan = `{"name": "made", "seed": 7, "load": {"model": "closed", "connections": 32, "threads": 2, "duration_ns": 10000000000,
 "warmup_ns": 2000000000, "timeouts": {"request_ns": 10000000000},
 "requests": [{"method": "GET", "url": "http://user:pw@gateway.test/a", "weight": 3}, {"method": "POST", "url": "http://gateway.test/b", "weight": 1, "body": "e30="}]},
 "services": [{"name": "app", "kind": "catalog", "entry": "hello", "instances": 2, "limits": {"cpus": 0.2, "memory_bytes": 209715200}}]}`

// madeRun is a run at a rate, with everything that a report shows.
func madeRun(t testing.TB, rate float64, verdict result.Verdict) *result.Run {
	t.Helper()
	r := &result.Run{Schema: result.Schema, Kind: "load", Version: "1.2.3", Started: madeAt,
		Command:    []string{"prony", "load", "http://user:pw@gateway.test/a", "-H", "Authorization: Bearer abc", "-c", "32"},
		Validity:   madeValidity(verdict),
		Bottleneck: &result.Bottleneck{What: "target-quota", Where: "app[0]", Confidence: result.Definite, Message: "app used all of its 0.2 cores", Exonerated: []string{"generator", "network"}},
		Load: result.Load{Model: "closed", Protocol: "http/1.1", Engine: "epoll", Threads: 2, Connections: result.Connections{Asked: 32, Opened: 32, Peak: 32, Connects: 32,
			ConnectTime: spread(32, 100*time.Microsecond, 400*time.Microsecond, time.Millisecond)},
			StartedUS: madeAt.UnixMicro(), DurationUS: 10e6, WarmupUS: 2e6, EndedBy: "duration", Rate: rate, BytesIn: 3_000_000, BodyBytes: 1_000_000,
			Requests: result.Requests{Asked: 20_020, Started: 20_020, Completed: 20_000, Failed: 20, InWindow: 20_020},
			Failures: map[string]int64{"http-status": 15, "timeout": 5}, Statuses: map[string]int64{"200": 20_000, "503": 15},
			FailureDetails: []result.Failure{{Kind: "http-status", Phase: "header", Count: 15, Example: "status 503"}, {Kind: "timeout", Phase: "wait", Count: 5, Example: "no answer within 10s"}},
			PerThreadRate:  result.Moments{Count: 200, Mean: 1000, StDev: 50, Min: 900, Max: 1100, Within: 0.7},
			Latency: result.Latency{Response: spread(20_000, time.Millisecond, 5*time.Millisecond, 1500*time.Millisecond), Service: spread(20_000, time.Millisecond, 4*time.Millisecond, 1400*time.Millisecond),
				Lag: spread(20_000, time.Microsecond, 90*time.Microsecond, time.Millisecond), Failed: spread(20, 2*time.Millisecond, 3*time.Millisecond, 10*time.Millisecond)},
		},
		Generator:   result.Generator{CPUUS: 400_000, CPUUSPerRequest: 20, CPUs: 8, MeanBusy: 0.05, PeakBusy: 0.07, MaxRSSBytes: 20 << 20},
		Services:    []result.Service{{Name: "app", CPUUS: 2e6, CPUUSPerRequest: 100, MaxRSSBytes: 30 << 20, ThrottledRatio: 0.9, Version: "hello 1.0"}},
		Environment: result.Environment{OS: "linux", Kernel: "6.12.0", Arch: "amd64", CPUModel: "Made CPU", CPUs: 8, Memory: 32 << 30, Go: "go1.26", Hostname: "made", Sysctl: map[string]string{"net.core.somaxconn": "4096"}},
		Expect:      []result.Expectation{{Text: "p99 < 50ms", Actual: 5, Met: true}, {Text: "errors < 0.01%", Actual: 0.001, Reason: "0.1% of the requests failed"}},
		Warnings:    []string{"limits are advisory here"},
	}
	if err := json.Unmarshal([]byte(madePlan), &r.Plan); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		h := spread(2000, time.Millisecond, 5*time.Millisecond, 9*time.Millisecond)
		r.Load.Intervals = append(r.Load.Intervals, result.Interval{StartUS: float64(i-1) * 1e6, LengthUS: 1e6, Warmup: i == 0, Drain: i == 2,
			Planned: 2000, Started: 2000, Completed: 2000, InFlight: 32, BytesIn: 300_000, Response: result.Pack(h.Histogram)})
	}
	return r
}

func madeValidity(v result.Verdict) result.Validity {
	all := result.Validity{Verdict: v, NotRun: []string{"foreign-cpu: not watched"},
		Findings: []result.Finding{{Rule: "co-located", ID: "G9", Severity: result.Note, Message: "generator and target shared this machine", Advice: "use two machines"}}}
	switch v {
	case result.Suspect:
		all.Findings = append(all.Findings, result.Finding{Rule: "steal", ID: "H1", Severity: result.SuspectLevel, Message: "the hypervisor took 2% of the time"})
	case result.Invalid:
		all.Findings = append(all.Findings, result.Finding{Rule: "generator-cpu", ID: "G1", Severity: result.InvalidLevel, Message: "the generator used 99% of its cores"})
	}
	return all
}

const madeExperimentPlan = `{"name": "made", "question": "Does half a core cost anything?", "seed": 3, "order": "shuffled", "repeat": {"times": 6},
 "variants": [{"name": "cpus=1", "values": {"cpus": "1"}}, {"name": "cpus=0.5", "values": {"cpus": "0.5"}}], "baseline": "cpus=1", "trials": []}`

// madeExperiment has two variants in seven blocks: one trial is invalid, one has
// no result, and the second variant is a tenth slower.
func madeExperiment(t testing.TB) *result.Experiment {
	t.Helper()
	e := &result.Experiment{Schema: result.ExperimentSchema, ID: "20261130-120000-abcdef",
		Goals:    []result.Expectation{{Text: "scaling(cpus) > 0.7", Actual: 0.55, Reason: "0.55 at 1"}},
		Curves:   []result.Curve{{Axis: "cpus", Points: []result.CurvePoint{{Value: 0.5, Rate: 1804, Low: 1800, High: 1808, Runs: 7, Efficiency: 1}, {Value: 1, Rate: 2004, Low: 2000, High: 2008, Runs: 7, Efficiency: 0.555}}}},
		Findings: []result.Finding{{Rule: "parity", ID: "X6", Severity: result.Note, Message: "the variants differ in their limits"}}}
	if err := json.Unmarshal([]byte(madeExperimentPlan), &e.Plan); err != nil {
		t.Fatal(err)
	}
	for block := range 8 {
		for i, v := range e.Plan.Variants {
			rate := 2000*(1-0.1*float64(i)) + float64((block*7+i*3)%5)*2
			one := result.Trial{Number: 2*block + i + 1, Block: block, Variant: v.Name, Values: v.Values, Run: *madeRun(t, rate, result.Valid)}
			one.Started = madeAt.Add(time.Duration(one.Number) * time.Minute)
			one.Load.StartedUS = one.Started.UnixMicro()
			switch {
			case block == 6 && i == 1:
				one.Validity, one.Load.Rate = madeValidity(result.Invalid), 987_654
			case block == 7 && i == 0:
				one = result.Trial{Number: one.Number, Block: block, Variant: v.Name, Values: v.Values, Error: "the service did not start"}
			case block == 2:
				one.Validity = madeValidity(result.Suspect)
			}
			e.Trials = append(e.Trials, one)
		}
	}
	return e
}

// madeDocuments are what the formats are tested on.
func madeDocuments(t testing.TB) map[string]report.Document {
	t.Helper()
	e := madeExperiment(t)
	c, err := compare.Experiment(e, compare.Options{Gates: []string{"rate"}})
	if err != nil {
		t.Fatal(err)
	}
	gates := []report.Gate{{Metric: "rate", Variant: "cpus=0.5", State: report.Failed, Reason: "worse, -10%"}, {Metric: "p99", Variant: "cpus=0.5", State: report.Unclear, Reason: "too few runs"},
		{Metric: "errors", Variant: "cpus=0.5", State: report.Passed, Reason: "equivalent"}}
	return map[string]report.Document{
		"run":        {Run: madeRun(t, 2002, result.Suspect), Version: "1.2.3", Source: "prony: 1\nname: made\n"},
		"experiment": {Experiment: e, Comparison: c, Gates: gates, Version: "1.2.3"},
	}
}

// forms are the formats of this package that take a document.
func forms() map[string]func(*bytes.Buffer, report.Document) error {
	all := map[string]func(*bytes.Buffer, report.Document) error{
		"csv":         func(b *bytes.Buffer, d report.Document) error { return report.CSV(b, d) },
		"series.csv":  func(b *bytes.Buffer, d report.Document) error { return report.SeriesCSV(b, d) },
		"xml":         func(b *bytes.Buffer, d report.Document) error { return report.JUnit(b, d) },
		"om":          func(b *bytes.Buffer, d report.Document) error { return report.OpenMetrics(b, d) },
		"comment.md":  func(b *bytes.Buffer, d report.Document) error { return report.Comment(b, d) },
		"en.md":       nil,
		"de.md":       nil,
		"zh.md":       nil,
		"ja.md":       nil,
		"text.golden": text,
	}
	for _, lang := range report.Langs() {
		all[string(lang)+".md"] = func(b *bytes.Buffer, d report.Document) error {
			d.Lang = lang
			return report.Markdown(b, d)
		}
	}
	return all
}

// text is the report for a terminal, as the command writes it.
func text(b *bytes.Buffer, d report.Document) error {
	if d.Run != nil {
		report.Tame(d.Run)
		return report.Text(b, d.Run, nil, report.Style{})
	}
	report.Tame(d.Experiment)
	return report.Experiment(b, d.Experiment, report.Style{})
}

func render(t *testing.T, write func(*bytes.Buffer, report.Document) error, d report.Document) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s:%d:\ngot  %q\nwant %q", file, i+1, a[i], b[i])
		}
	}
	t.Fatalf("%s: got %d lines, want %d", file, len(a), len(b))
}
