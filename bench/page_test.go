package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// sampleReport is a made-up report with every section.
func sampleReport() *report {
	two := func(requests, cpuUS int64) []sample {
		return []sample{run1(0, requests, cpuUS), run1(1, requests+10_000, cpuUS)}
	}
	entries := []*entry{
		{Generator: wrk, Command: "taskset -c 1 wrk -c 64", Runs: two(200_000, 3e6)},
		{Generator: uring, Command: "taskset -c 1 prony load -c 64", Runs: two(260_000, 2e6)},
		{Generator: "hey", Command: "taskset -c 1 hey -c 64", Error: "run hey: exit status 1"},
	}
	compare(entries)
	held := comparison{Name: "latency", Server: "a held responder", Connections: 16, Entries: []*entry{
		{Generator: wrk, Command: "taskset -c 1 wrk -c 16", Runs: two(100_000, 3e6), Excess: map[string]spread{"p50": spreadOf([]float64{100, 102})}},
		{Generator: epollRecv, Command: "taskset -c 1 prony load -c 16", Runs: two(100_000, 3e6), Excess: map[string]spread{"p50": spreadOf([]float64{30, 40}), "p99": spreadOf([]float64{-3, 20})}},
	}}
	compare(held.Entries)
	plan := stallPlan{Rate: 200, Length: 8 * time.Second, After: 3 * time.Second, Stall: time.Second}
	stalled := sample{reading: reading{Requests: 1600, LatencyUS: map[string]float64{"p50": 300, "p90": 199e3, "p95": 601e3, "p99": 922e3, "max": 1001e3}}}
	peak := func(mib int64, opened int) *sample {
		return &sample{reading: reading{Requests: 70_000, Opened: opened}, Peak: mib << 20}
	}
	r := &report{
		Schema: "prony.bench/1", Date: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), Rounds: 2, Duration: 3 * time.Second, Command: "go run ./bench",
		Machine: machine{CPU: "A CPU", Cores: 2, Virtual: true, MemoryKiB: 1 << 20, Kernel: "linux 6.18", Go: "go1.26", CallCost: 300, LoadBefore: "0.00 0.01 0.05", Files: 20_000, Generators: 1},
		Tools:   tools{{Name: "wrk", Version: "wrk 4.1.0"}}, Skipped: []string{"fortio: does not resolve"},
		Throughput: []comparison{{Name: "throughput/fast/c=64", Server: "fast responder", Connections: 64, Entries: entries}},
		Latency:    &held,
		Stall: &stallSection{Plan: plan, Truth: map[string]float64{"p50": 0, "p90": 200e3, "p95": 600e3, "p99": 920e3, "max": 1e6}, Rows: []stallRow{
			{Generator: epoll, Model: openModel, Command: "taskset -c 1 prony load -r 200/s", Runs: []sample{stalled}},
			{Generator: "vegeta", Model: "open, workers without limit", Command: "taskset -c 1 vegeta", Error: "run vegeta: killed"}}},
		Memory: &memorySection{Connections: 10_000, Asked: 10_000, Rows: []memoryRow{
			{Generator: wrk, Command: "taskset -c 1 wrk -c 10000", Run: peak(50, 0)}, {Generator: uring, Command: "taskset -c 1 prony load -c 10000", Run: peak(20, 10_000)}}},
		Many:        &memorySection{Connections: 19_800, Asked: 50_000, Rows: []memoryRow{{Generator: epoll, Command: "taskset -c 1 prony load -c 19800", Run: peak(22, 19_800)}}},
		Calls:       []callRow{{Generator: epoll, Requests: 1000, Calls: map[string]int64{"sendto": 1000, "recvfrom": 1000, "futex": 20}, Undisturbed: 203, UndisturbedRequests: 100}},
		Allocations: []allocationRow{{Generator: epoll, Requests: 76_315, Mallocs: 8313, IdleRequests: 704, IdleMallocs: 8151}},
		Profile:     []profileRow{{Generator: uring, Samples: 1000, Shares: map[string]float64{"kernel: send path": 0.6, "program: parser": 0.4}}},
	}
	r.Goals = goals(r)
	return r
}

func TestPage(t *testing.T) {
	var got bytes.Buffer
	if err := page(&got, sampleReport()); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/page.md"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, "page.md"); !bytes.Equal(got.Bytes(), want) {
		if err := os.WriteFile(golden+".got", got.Bytes(), 0o644); err != nil {
			t.Error(err)
		}
		t.Errorf("the page differs from %s; see %s.got, or rewrite it with -update", golden, golden)
	}
}

// TestJSON reads the machine's form of the report back.
func TestJSON(t *testing.T) {
	var text bytes.Buffer
	want := sampleReport()
	if err := want.writeJSON(&text); err != nil {
		t.Fatal(err)
	}
	var got report
	if err := json.Unmarshal(text.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	var page1, page2 bytes.Buffer
	if err := page(&page1, want); err != nil {
		t.Fatal(err)
	}
	if err := page(&page2, &got); err != nil {
		t.Fatal(err)
	}
	if page1.String() != page2.String() {
		t.Errorf("a page made from the JSON differs:\n%s", page2.String())
	}
}
