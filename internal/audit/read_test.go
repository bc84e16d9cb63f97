package audit_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"prony/internal/audit"
)

// want is what a fixture must give; -1 is unknown.
type want struct {
	file, tool                               string
	connections, requests, rate, mean, p99   float64 // times in µs
	failed                                   int64
	url, model, keepAlive, command, byteSort string
	bytes                                    float64
}

// orUnknown is a figure, or -1.
func orUnknown(v audit.Value) float64 {
	if !v.Known {
		return -1
	}
	return v.V
}

// p99 of a block.
func p99(b audit.Block) float64 {
	for _, p := range b.Latency.Percentiles {
		if p.P == 0.99 {
			return p.Value.V
		}
	}
	return -1
}

func failed(b audit.Block) int64 {
	n := int64(0)
	for _, k := range b.Errors {
		n += k
	}
	return n
}

const local = "http://127.0.0.1:18733/"

func TestReadTools(t *testing.T) {
	tests := []want{
		{"wrk-2c.txt", "wrk", 2, 28228, 25676.01, 259.6, 3510, 0, local, "closed", "on", "wrk -t2 -c2 -d1s --latency " + local, "wire", 1.78 * (1 << 20)},
		{"wrk-errors.txt", "wrk", 2, 20084, 18233.37, 272.16, -1, 20084, local + "status/503", "closed", "on", "wrk -t1 -c2 -d1s " + local + "status/503", "wire", 1.57 * (1 << 20)},
		{"wrk-sockerr.txt", "wrk", 2, 0, 0, -1, -1, 5698, local + "reset", "closed", "on", "wrk -t1 -c2 -d1s " + local + "reset", "wire", 0},
		{"wrk2.txt", "wrk2", 100, 60018, 2000.28, 6460, 11180, 0, "http://127.0.0.1:8080/index.html", "open", "on", "wrk2 -t2 -c100 -d30s -R2000 --latency http://127.0.0.1:8080/index.html", "wire", 19.81 * (1 << 20)},
		{"ab-k.txt", "ab", 2, 2000, 21239.77, 0, 0, 0, local, "closed", "on", "ab -k -c 2 -n 2000 " + local, "wire", 180000},
		{"ab-nok.txt", "ab", 2, 1000, 5107.85, 0, 3000, 0, local, "closed", "off", "ab -c 2 -n 1000 " + local, "wire", 85000},
		{"ab-503.txt", "ab", 2, 500, 3789.72, 0, 4000, 500, local + "status/503", "closed", "off", "ab -c 2 -n 500 " + local + "status/503", "wire", 50500},
		{"h2load-h1.txt", "h2load", 2, 2000, 21026.51, 89, -1, 0, local, "closed", "on", "h2load --h1 -c2 -n2000 " + local, "wire", 132000},
		{"h2load-dur.txt", "h2load", 2, 20497, 20497, 97, -1, 0, local, "closed", "on", "h2load --h1 -c2 -D1 " + local, "wire", 1352802},
		{"h2load-503.txt", "h2load", 2, 200, 15659.25, 116, -1, 200, local + "status/503", "closed", "on", "h2load --h1 -c2 -n200 " + local + "status/503", "wire", 16400},
		{"hey.txt", "hey", 2, 2000, 7021.7814, 300, 2000, 0, local, "closed", "on", "hey -c 2 -n 2000 " + local, "body", 24000},
		{"hey-503.txt", "hey", 2, 100, 8832.1426, 200, 2000, 100, local + "status/503", "closed", "on", "hey -c 2 -n 100 " + local + "status/503", "body", 1100},
		{"hey-z.txt", "hey", 2, 100, 99.586, 700, 10100, 0, local, "open", "on", "hey -z 1s -c 2 -q 50 " + local, "body", 1200},
		{"vegeta.txt", "vegeta", -1, 200, 200.8588, 531.897, 4135, 0, local, "open", "on", "vegeta attack -rate 200 -duration 1s | vegeta report", "body", 2400},
		{"vegeta-503.txt", "vegeta", -1, 100, 101.035, 657.22, 3351, 100, "", "open", "on", "", "body", 1100},
		{"vegeta-report.json", "vegeta", -1, 200, 200.8588, 531.897, 4134.913, 0, "", "open", "on", "", "body", 2400},
		{"bombardier.txt", "bombardier", 2, 1000, 11060.23, 168.67, 848, 0, local, "closed", "on", "bombardier -c 2 -n 1000 -l -p i,r " + local, "both directions", -1},
		{"bombardier-503.txt", "bombardier", 2, 13474, 13474.54, 145.13, 829, 13474, local + "status/503", "closed", "on", "", "both directions", -1},
		{"bombardier-json.txt", "bombardier", 2, 1000, 15243.97, 127.483, 661, 0, local, "closed", "on", "bombardier -c 2 -n 1000 -l -p r -o json " + local, "wire", 66000},
		{"oha.txt", "oha", 50, 47071, 9421.75, 5300, 14100, 50, "http://127.0.0.1:3000/", "closed", "on", "oha -z 5s -c 50 http://127.0.0.1:3000/", "body", 552.21 * 1024},
		{"oha-slow.txt", "oha", -1, 120, 5.9976, 6.763e6, 10.05e6, 0, "", "closed", "on", "", "body", 240},
		{"oha-report.json", "oha", -1, 400, 200, 50000, 150000, 20, "", "closed", "on", "", "body", 4704},
		{"k6-old.txt", "k6", 20, 59880, 1989.367431, 9870, -1, 2, "", "", "on", "k6 run --vus 20 --duration 30s script.js", "wire", 7.2e6},
		{"k6-new.txt", "k6", 34, 900, 29.840221, 140360, -1, 0, "", "", "on", "k6 run script.js", "wire", 610e3},
		{"k6-export.json", "k6", 34, 900, 29.84, 140360, -1, 0, "", "", "on", "", "wire", 610e3},
		{"fortio-qps.json", "fortio", 2, 200, 199.7378, 226.634, 1102.739, 0, local, "open", "on", "", "wire", 13200},
		{"fortio-max.json", "fortio", 2, 1000, 10218.26, 191.9, 995.3, 0, local, "closed", "on", "", "wire", 66000},
		{"gatling-new.txt", "gatling", -1, 45150, 1505, 99000, 301000, 150, "", "", "on", "", "", -1},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			b := one(t, text(t, "tools/"+tt.file))
			near := func(what string, got, want float64) {
				t.Helper()
				if math.Abs(got-want) > 0.002*math.Abs(want) {
					t.Errorf("%s: got %v, want %v", what, got, want)
				}
			}
			near("connections", orUnknown(b.Connections), tt.connections)
			near("requests", orUnknown(b.Requests), tt.requests)
			near("rate", orUnknown(b.Rate), tt.rate)
			near("mean", orUnknown(b.Latency.Mean), tt.mean)
			near("p99", p99(b), tt.p99)
			near("bytes", orUnknown(b.Bytes), tt.bytes)
			if got := failed(b); got != tt.failed || b.Errors == nil {
				t.Errorf("failed: got %d (%v), want %d", got, b.Errors, tt.failed)
			}
			got := []string{b.Tool, b.URL, b.Model, b.KeepAlive, b.Command, b.BytesAre}
			if want := []string{tt.tool, tt.url, tt.model, tt.keepAlive, tt.command, tt.byteSort}; !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// TestReadDurations: what was stated and what is derived, per tool.
func TestReadDurations(t *testing.T) {
	tests := []struct {
		file            string
		stated, printed float64 // s
	}{
		{"tools/wrk-2c.txt", 1, 1.1}, {"tools/ab-k.txt", -1, 0.094}, {"tools/h2load-dur.txt", 1, 1},
		{"tools/hey-z.txt", 1, 1.0042}, {"tools/bombardier-503.txt", 1, -1}, {"tools/oha-slow.txt", -1, 20.008},
		{"tools/k6-new.txt", -1, 30.2}, {"tools/vegeta.txt", 1, 0.995724}, {"tools/fortio-qps.json", -1, 1.001313},
		{"published/S000-01.wrk.txt", 60, 60}, {"published/S001-01.gatling.txt", -1, -1},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			b := one(t, text(t, tt.file))
			for _, d := range []struct {
				what string
				got  audit.Value
				want float64
			}{{"stated", b.DurationStated, tt.stated}, {"printed", b.DurationPrinted, tt.printed}} {
				got := orUnknown(d.got)
				if d.want >= 0 {
					got /= 1e6
				}
				if math.Abs(got-d.want) > 1e-4 {
					t.Errorf("%s: got %v, want %v", d.what, got, d.want)
				}
			}
		})
	}
}

// TestReadNoise: several outputs in a post, with fences, quotes, prompts,
// colours, entities, no-break spaces and both kinds of line ends.
func TestReadNoise(t *testing.T) {
	all := blocks(t, text(t, "noise/post.txt"))
	if len(all) != 3 {
		t.Fatalf("got %d results, want 3", len(all))
	}
	tests := []struct {
		tool, command        string
		first, last          int
		connections, threads float64
		rate                 float64
	}{
		{"wrk", "wrk -t8 -c512 -d60s --latency http://192.168.1.185:8081/", 8, 20, 512, 8, 97588.02},
		{"ab", "ab -k -c 2 -n 2000 http://127.0.0.1:18733/", 26, 79, 2, -1, 21239.77},
		{"wrk", "wrk -t1 -c2 -d1s http://h/&x", 82, 89, 2, 1, 10000},
	}
	for i, tt := range tests {
		b := all[i]
		if b.Tool != tt.tool || b.Command != tt.command || b.FirstLine != tt.first || b.LastLine != tt.last {
			t.Errorf("%d: got %s %q lines %d-%d, want %+v", i, b.Tool, b.Command, b.FirstLine, b.LastLine, tt)
		}
		if orUnknown(b.Connections) != tt.connections || orUnknown(b.Threads) != tt.threads || b.Rate.V != tt.rate {
			t.Errorf("%d: got %v connections, %v threads, %v, want %+v", i, b.Connections, b.Threads, b.Rate, tt)
		}
	}
	if len(all[2].Odd) != 1 || !strings.Contains(all[2].Odd[0], "1 s in the command, 10 s in the output") {
		t.Errorf("got %q, want the contradiction of command and output", all[2].Odd)
	}
}

// TestReadUnknown: what is not printed is unknown, not zero.
func TestReadUnknown(t *testing.T) {
	b := one(t, audit.Source{File: "x", Text: "Running 10s test @ http://h/\n  1000 requests in 10.00s, 1.00MB read\n"})
	for name, v := range map[string]audit.Value{"connections": b.Connections, "threads": b.Threads, "rate": b.Rate, "mean": b.Latency.Mean} {
		if v.Known {
			t.Errorf("%s: got %v, want unknown", name, v)
		}
	}
	if b.Errors != nil {
		t.Errorf("got errors %v of a paste that was cut, want unknown", b.Errors)
	}
	ab := one(t, audit.Source{File: "x", Text: "Concurrency Level:      10\nComplete requests:      2000\nRequests per second:    12374.02 [#/sec] (mean)\n"})
	if ab.Errors != nil || ab.Latency.Mean.Known {
		t.Errorf("got %v, %v, want unknown errors and mean", ab.Errors, ab.Latency.Mean)
	}
}

// TestReadProny: Prony's own result is held against the same rules.
func TestReadProny(t *testing.T) {
	b := one(t, audit.Source{File: "r.json", Text: `{"schema": "prony.result/1", "kind": "load", "command": ["prony", "load"],
 "load": {"model": "closed", "threads": 1, "connections": {"asked": 10, "connect_time": {"count": 10}}, "duration_us": 10000000,
 "requests": {"asked": 10000, "in_window": 10000, "failed": 0}, "statuses": {"200": 9990, "500": 10}, "rate": 1000, "offered_rate": null,
 "latency": {"service": {"count": 10000, "mean_us": 3000, "stdev_us": 7, "p50_us": 2500, "p99_us": 9000, "p99_9_us": 9500, "max_us": 9900}}}}`})
	if b.Tool != "prony" || b.Connections.V != 10 || b.Rate.V != 1000 || b.Latency.Mean.V != 3000 || len(b.Latency.Percentiles) != 3 || failed(b) != 10 {
		t.Errorf("got %+v", b)
	}
	r := audit.Run([]audit.Block{b}, audit.File{}, audit.Thresholds{})
	if got := findings(r.Results[0].Validity, "E1"); len(got) != 1 {
		t.Errorf("got %+v, want E1: a third of the connections were busy", got)
	}
}

// TestReadNothing: prose, source and logs hold no result.
func TestReadNothing(t *testing.T) {
	for _, s := range []string{"", "\n\n\n", "We ran wrk -t8 -c100 http://h/ and it was good: Requests/sec were high.", `{"a": {"b": 1}}`,
		"Summary:\n  It was fine.\n", "starting benchmark...\nspawning thread #0: 2 total client(s). 10 total requests\n", "{{{{{{", "Statistics        Avg      Stdev        Max\n"} {
		if all := blocks(t, audit.Source{File: "x", Text: s}); len(all) != 0 {
			t.Errorf("%q: got %d results, want none", s, len(all))
		}
	}
}

func TestReadLimits(t *testing.T) {
	w := text(t, "published/S000-02.wrk.txt").Text
	tests := []struct {
		name, text, want string
		limits           audit.Limits
	}{
		{"bytes", w, "big.txt: a text of 480 bytes or more, at most 100 are read", audit.Limits{Bytes: 100}},
		{"results", w + w + w, "big.txt:30: more than 2 results", audit.Limits{Blocks: 2}},
		{"rows", "id,rps\na,1\nb,2\n", "big.txt:3: more than 1 results", audit.Limits{Blocks: 1}},
		{"broken table", "id,rps\na,1,3\n", "big.txt: record on line 2", audit.Limits{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := audit.Read([]audit.Source{{File: "big.txt", Text: tt.text}}, tt.limits)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestNames: ids are unique, and say where a result stands.
func TestNames(t *testing.T) {
	w := text(t, "published/S000-02.wrk.txt").Text
	all := blocks(t, audit.Source{File: "a/x.txt", Text: w}, audit.Source{File: "b/x.txt", Text: w}, audit.Source{File: "-", Text: w + w})
	var got []string
	for _, b := range all {
		got = append(got, b.ID)
	}
	if want := []string{"x", "x#1", "text#1", "text#2"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzRead: no text panics, and what is read can be judged, told and encoded.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"tools/wrk-2c.txt", "tools/ab-503.txt", "tools/h2load-h1.txt", "tools/hey.txt", "tools/vegeta.txt", "tools/vegeta-report.json",
		"tools/bombardier.txt", "tools/bombardier-json.txt", "tools/oha-slow.txt", "tools/oha-report.json", "tools/k6-old.txt", "tools/k6-new.txt", "tools/k6-export.json",
		"tools/fortio-qps.json", "tools/gatling-new.txt", "published/S001-01.gatling.txt", "published/published-results.csv", "noise/post.txt", "tools/wrk2.txt"} {
		f.Add(fixture(f, name))
	}
	f.Add("Running 1s test @ x\n  -1 threads and 99999999999999999999 connections\n  9 requests in 1e9s, -5B read\nRequests/sec: NaN\n")
	f.Fuzz(func(t *testing.T, s string) {
		all, err := audit.Read([]audit.Source{{File: "f", Text: s}}, audit.Limits{Bytes: 1 << 20, Blocks: 20})
		if err != nil {
			return
		}
		r := audit.Run(audit.Join(all, audit.File{}, nil), audit.File{}, audit.Thresholds{})
		written(t, r)
		if err := audit.JSON(discard{}, r); err != nil {
			t.Error(err)
		}
	})
}
