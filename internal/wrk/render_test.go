package wrk_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"prony/internal/hdr"
	"prony/internal/result"
	"prony/internal/wrk"
)

var update = flag.Bool("update", false, "write the golden files")

func sprint(v any) string { return fmt.Sprint(v) }

// histogram records values given in microseconds, each as often as said.
func histogram(usAndCount ...int64) result.Histogram {
	h := hdr.MustNew(hdr.Config{})
	for i := 0; i < len(usAndCount); i += 2 {
		h.RecordN(usAndCount[i]*1000, usAndCount[i+1])
	}
	return result.Histogram{Histogram: h}
}

// run is a second with 4 connections in which n requests were answered.
func run(latency result.Histogram, change func(*result.Load)) *result.Run {
	l := result.Load{
		DurationUS: 1_000_000, BytesIn: 1 << 20,
		Connections: result.Connections{Asked: 4, Opened: 4},
		Latency:     result.Latency{Service: latency},
	}
	if !latency.Empty() {
		l.Requests.InWindow = latency.Count()
		l.PerThreadRate = result.Moments{Count: 20, Mean: 674.95, StDev: 174.74, Min: 18, Max: 780, Within: 0.9}
	}
	change(&l)
	return &result.Run{Load: l}
}

func typed(change func(*wrk.Options)) wrk.Options {
	o := wrk.Options{Threads: 2, Connections: 4, Duration: time.Second, Timeout: 2 * time.Second, URL: url, Latency: true}
	change(&o)
	return o
}

func nothing(*result.Load)  {}
func plain(o *wrk.Options)  { o.Plain = true }
func quirks(o *wrk.Options) { o.Quirks = true }

func render(t *testing.T, r *result.Run, o wrk.Options) string {
	t.Helper()
	var b strings.Builder
	if err := wrk.Render(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRender(t *testing.T) {
	tests := []struct {
		name string
		run  *result.Run
		o    wrk.Options
	}{
		{"plain", run(histogram(809, 500, 850, 250, 1380, 150, 4760, 90, 9500, 10), nothing), typed(plain)},
		{"no-latency-block", run(histogram(809, 5), nothing), typed(func(o *wrk.Options) { o.Latency = false })},
		{"seconds", run(histogram(5_010_000, 3, 51_000_000, 1), func(l *result.Load) {
			l.DurationUS, l.BytesIn, l.PerThreadRate = 60_001_000, 484, result.Moments{Count: 4, Mean: 1, Max: 1, Within: 1}
		}), typed(func(o *wrk.Options) { o.Duration = time.Minute })},
		{"nothing", run(result.Histogram{}, func(l *result.Load) { l.BytesIn = 0 }), typed(plain)},
		{"nothing-quirks", run(result.Histogram{}, func(l *result.Load) { l.BytesIn = 0 }), typed(quirks)},
		{"errors", run(histogram(809, 500), func(l *result.Load) {
			l.Failures = map[string]int64{"connect-refused": 1, "no-ports": 2, "file-limit": 4, "tls-handshake": 8, "dns": 16, "reset": 100,
				"closed-early": 200, "truncated": 400, "bad-response": 800, "write-failed": 7, "timeout": 5, "http-status": 9, "script": 1, "other": 3}
			l.Statuses = map[string]int64{"200": 480, "302": 11, "404": 6, "503": 3}
			l.Connections.Opened = 1
			l.Requests.CutOff, l.Requests.CutOffOldestUS = 4, 1_900_000
		}), typed(func(o *wrk.Options) {
			o.Connections = 5
			o.Headers = []string{"X:1", "nothing"}
			o.ScriptArgs = []string{"-t", "8"}
		})},
		{"stall", run(histogram(100, 990, 200_000, 10), nothing), typed(func(o *wrk.Options) {})},
		{"stall-quirks", run(histogram(100, 990, 200_000, 10), nothing), typed(quirks)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := render(t, test.run, test.o)
			file := filepath.Join("testdata", test.name+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// TestNothingLikeWrk: with quirks, an empty report is wrk's to the byte but
// for the run time.
func TestNothingLikeWrk(t *testing.T) {
	want, err := os.ReadFile("testdata/wrk-4.1-empty.txt")
	if err != nil {
		t.Fatal(err)
	}
	o := typed(func(o *wrk.Options) {
		o.Quirks, o.Plain, o.Connections, o.URL = true, true, 3, "http://127.0.0.1:18498/"
	})
	r := run(result.Histogram{}, func(l *result.Load) { l.BytesIn, l.DurationUS = 0, 1_010_000 })
	if got := render(t, r, o); got != string(want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// fields are what people's scripts take from a report.
func fields(text string) map[string]string {
	found := map[string]string{}
	for name, expression := range map[string]string{
		"threads":     `(\d+) threads and \d+ connections`,
		"connections": `\d+ threads and (\d+) connections`,
		"requests":    `(\d+) requests in`,
		"duration":    `requests in ([\d.]+(?:us|ms|s|m))`,
		"read":        `, ([\d.]+[KMGT]?B) read`,
		"rps":         `Requests/sec:\s+([\d.]+)`,
		"transfer":    `Transfer/sec:\s+([\d.]+[KMGT]?B)`,
		"latency":     `Latency\s+([\d.]+\w+)\s+([\d.]+\w+)\s+([\d.]+\w+)\s+([\d.]+)%`,
		"p50":         `Latency Distribution\s+50%\s+([\d.]+\w+)`,
		"p99":         `99%\s+([\d.]+(?:us|ms|s|m))`,
		"req/sec":     `Req/Sec\s+([\d.]+k?)\s+([\d.]+k?)\s+([\d.]+k?)\s+([\d.]+)%`,
	} {
		if m := regexp.MustCompile(expression).FindStringSubmatch(text); m != nil {
			found[name] = strings.Join(m[1:], " ")
		}
	}
	return found
}

// TestPeoplesParsers: expressions as users write them find the same in our
// report as in wrk's, notes or not.
func TestPeoplesParsers(t *testing.T) {
	real, err := os.ReadFile("testdata/wrk-4.1-normal.txt")
	if err != nil {
		t.Fatal(err)
	}
	r := run(histogram(409, 500, 74_640, 11), func(l *result.Load) { l.Connections.Opened = 3 })
	ours, theirs := fields(render(t, r, typed(func(*wrk.Options) {}))), fields(string(real))
	if len(theirs) != 11 {
		t.Errorf("found %d fields in wrk's report, want 11", len(theirs))
	}
	for name := range theirs {
		if ours[name] == "" {
			t.Errorf("%s is not found in our report", name)
		}
	}
	if got, want := ours["requests"]+" "+ours["rps"]+" "+ours["p50"]+" "+ours["p99"], "511 511.00 409.09us 74.64ms"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLatencyValues(t *testing.T) {
	r := run(histogram(10, 1, 20, 2, 40, 1), nothing)
	v := wrk.Latency(r, wrk.Options{})
	got := fmt.Sprintf("%.3f %.3f %.3f %.3f %.2f %d", v.Min(), v.Max(), v.Mean(), v.StDev(), v.Within(), v.Len())
	if want := "10.000 40.000 22.500 12.583 0.75 3"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if value, count := v.At(1); value != 20 || count != 2 {
		t.Errorf("At(1) = %d, %d, want 20, 2", value, count)
	}
	if got := v.Percentile(100); got != 40 {
		t.Errorf("got %v, want the maximum", got)
	}
}

// TestErrorStatusesHaveLatency: wrk does not ask for the status. The failed
// requests are added where they can be nothing but answers.
func TestErrorStatusesHaveLatency(t *testing.T) {
	r := run(histogram(10, 1), func(l *result.Load) {
		l.Latency.Failed, l.Failures = histogram(30, 1), map[string]int64{"http-status": 1}
	})
	if got := wrk.Latency(r, wrk.Options{}).Mean(); got != 20 {
		t.Errorf("got mean %v, want 20", got)
	}
	r.Load.Failures["timeout"] = 1
	r.Load.Latency.Failed = histogram(30, 1, 2_000_000, 1)
	if got := wrk.Latency(r, wrk.Options{}).Mean(); got != 10 {
		t.Errorf("with a timeout: got mean %v, want 10", got)
	}
	if got := strings.Join(wrk.Notes(r, typed(plain)), "\n"); !strings.Contains(got, "leave out 1 answers") {
		t.Errorf("got notes %q, want one about the answer left out", got)
	}
}

// TestQuirkyLatency counts by hand: 100 requests on one connection in 1 s make
// an interval of 10 ms, so that a sample of 45 ms brings 35, 25 and 15 ms.
func TestQuirkyLatency(t *testing.T) {
	r := run(histogram(1000, 98, 15_000, 1, 45_000, 1), nothing)
	v := wrk.Latency(r, wrk.Options{Connections: 1, Quirks: true})
	total := int64(0)
	for i := range v.Len() {
		_, n := v.At(i)
		total += n
	}
	if total != 103 {
		t.Errorf("got %d samples, want 103", total)
	}
	if got, want := v.Mean(), (98*1000+15_000*2+25_000+35_000+45_000)/103.0; math.Abs(got-want) > 0.002*want {
		t.Errorf("got mean %v, want %v", got, want)
	}
	if got := v.Percentile(100); got != 0 {
		t.Errorf("got %v for 100 %%, want 0 as in wrk", got)
	}
	if got := v.Percentile(50); got != 1000 {
		t.Errorf("got %v for 50 %%, want 1000", got)
	}
}

func TestQuirksAreFast(t *testing.T) {
	h := histogram(1, 90_000_000)
	for us := int64(1_000); us < 3_000_000_000; us += us / 100 {
		h.RecordN(us*1000, 1)
	}
	r := run(h, func(l *result.Load) { l.DurationUS = 360e6 }) // an interval of some microseconds
	if v := wrk.Latency(r, wrk.Options{Connections: 1, Quirks: true}); v.Len() < 1000 {
		t.Errorf("got %d distinct values, want many", v.Len())
	}
}

func TestRates(t *testing.T) {
	stored := wrk.Rates(run(histogram(1, 1), nothing), wrk.Options{})
	if stored.Mean() != 674.95 || stored.Percentile(0) != 18 || stored.Percentile(100) != 780 || !math.IsNaN(stored.Percentile(50)) || stored.Len() != 0 {
		t.Errorf("got %+v, want the moments and no percentiles between", stored)
	}
	if v := wrk.Rates(run(result.Histogram{}, nothing), wrk.Options{}); v.Percentile(50) != 0 || !math.IsNaN(v.Within()) {
		t.Errorf("got %+v, want nothing", v)
	}
	samples := hdr.MustNew(hdr.Config{})
	samples.RecordN(500, 3)
	samples.Record(700)
	v := wrk.Rates(run(histogram(1, 1), func(l *result.Load) { l.PerThread = samples }), wrk.Options{})
	if v.Mean() != 550 || v.StDev() != 100 || v.Within() != 0.75 || v.Percentile(50) != 500 || v.Max() != 700 || v.Len() != 2 {
		t.Errorf("got %+v, want the samples", v)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestRenderReportsTheWriter(t *testing.T) {
	if err := wrk.Render(broken{}, run(histogram(1, 1), nothing), typed(plain)); err != os.ErrClosed {
		t.Errorf("got %v, want the writer's error", err)
	}
}
