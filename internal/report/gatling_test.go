package report_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"prony/internal/report"
	"prony/internal/result"
)

func gatling(t *testing.T, r *result.Run, layout report.GatlingLayout) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Gatling(&b, r, layout); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// example is a run with the numbers of the layouts' examples: 100 requests in
// 11 s, none failed.
func example() *result.Run {
	h := spread(100, 20*time.Millisecond, 26*time.Millisecond, 58*time.Millisecond)
	return &result.Run{Load: result.Load{DurationUS: 10_800_000, Requests: result.Requests{Completed: 100}, Latency: result.Latency{Service: h}}}
}

// TestGatlingLayouts: every byte is where Gatling has it. The lines that begin
// with those here are the source's layout with the numbers of the example.
func TestGatlingLayouts(t *testing.T) {
	columns := []string{
		"========================================================================================================================",
		"---- Global Information -------------------------------------------------------------|---Total---|-----OK----|----KO----",
		"> request count                                                                      |       100 |       100 |         0",
		"> min response time (ms)                                                             |        20 |        20 |         -",
		"> max response time (ms)                                                             |        58 |        58 |         -",
		"> mean response time (ms)                                                            |        23 |        23 |         -",
		"> response time std deviation (ms)                                                   |         4 |         4 |         -",
		"> response time 50th percentile (ms)                                                 |        23 |        23 |         -",
		"> response time 75th percentile (ms)                                                 |        24 |        24 |         -",
		"> response time 95th percentile (ms)                                                 |        26 |        26 |         -",
		"> response time 99th percentile (ms)                                                 |        26 |        26 |         -",
		"> mean throughput (rps)                                                              |      9.09 |      9.09 |         -",
		"---- Response Time Distribution ----------------------------------------------------------------------------------------",
		"> OK: t < 800 ms                                                                                            100   (100%)",
		"> OK: 800 ms <= t < 1200 ms                                                                                   0     (0%)",
		"> OK: t >= 1200 ms                                                                                            0     (0%)",
		"> KO                                                                                                          0     (0%)",
		"========================================================================================================================", "",
	}
	classic := []string{
		"================================================================================",
		"---- Global Information --------------------------------------------------------",
		"> request count                                        100 (OK=100    KO=0     )",
		"> min response time                                     20 (OK=20     KO=-     )",
		"> max response time                                     58 (OK=58     KO=-     )",
		"> mean response time                                    23 (OK=23     KO=-     )",
		"> std deviation                                          4 (OK=4      KO=-     )",
		"> response time 50th percentile                         23 (OK=23     KO=-     )",
		"> response time 75th percentile                         24 (OK=24     KO=-     )",
		"> response time 95th percentile                         26 (OK=26     KO=-     )",
		"> response time 99th percentile                         26 (OK=26     KO=-     )",
		"> mean requests/sec                                   9.09 (OK=9.09   KO=-     )",
		"---- Response Time Distribution ------------------------------------------------",
		"> t < 800 ms                                           100 (100%)",
		"> 800 ms <= t < 1200 ms                                  0 (  0%)",
		"> t >= 1200 ms                                           0 (  0%)",
		"> failed                                                 0 (  0%)",
		"================================================================================", "",
	}
	for layout, want := range map[report.GatlingLayout][]string{report.GatlingColumns: columns, report.GatlingClassic: classic} {
		if got := gatling(t, example(), layout); got != strings.Join(want, "\n") {
			t.Errorf("layout %d: got\n%s\nwant\n%s", layout, got, strings.Join(want, "\n"))
		}
	}
}

// TestGatlingGolden is the summary of a run with failures.
func TestGatlingGolden(t *testing.T) {
	golden(t, "run.gatling.golden", gatling(t, madeRun(t, 2002, result.Valid), report.GatlingColumns))
	golden(t, "run.gatling-classic.golden", gatling(t, madeRun(t, 2002, result.Valid), report.GatlingClassic))
}

// TestGatlingWidth: with failures, with long and hostile messages, and with
// nothing at all, no line of the tables leaves its width.
func TestGatlingWidth(t *testing.T) {
	hostileRun := madeRun(t, 2002, result.Valid)
	hostileRun.Load.FailureDetails[0].Example = strings.Repeat(hostile, 5)
	for name, r := range map[string]*result.Run{"failures": madeRun(t, 1, result.Valid), "hostile": hostileRun, "empty": {}} {
		for i, line := range strings.Split(strings.TrimSuffix(gatling(t, r, report.GatlingColumns), "\n"), "\n") {
			continued := i > 0 && !regexp.MustCompile(`^(=|-|> )`).MatchString(line)
			if n := utf8.RuneCountInString(line); n != 120 && !continued || n > 120 {
				t.Errorf("%s: line %d is %d letters long: %q", name, i+1, n, line)
			}
		}
	}
}
