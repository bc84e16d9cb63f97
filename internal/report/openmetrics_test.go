package report_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"prony/internal/report"
	"prony/internal/result"
)

// promtool is Prometheus' own checker (Debian: prometheus).
func promtool(t *testing.T) string {
	t.Helper()
	file, err := exec.LookPath("promtool")
	if err == nil {
		return file
	}
	if os.Getenv("PRONY_E2E") == "require" {
		t.Fatalf("PRONY_E2E=require: %v", err)
	}
	t.Skip("promtool is not installed (Debian: prometheus)")
	return ""
}

// TestOpenMetricsIsAccepted: Prometheus reads the file as OpenMetrics, sample by
// sample, also that with hostile names; and its linter has no complaint.
func TestOpenMetricsIsAccepted(t *testing.T) {
	tool := promtool(t)
	documents := madeDocuments(t)
	documents["hostile run"], documents["hostile experiment"] = poisoned(t, "run"), poisoned(t, "experiment")
	for name, d := range documents {
		t.Run(name, func(t *testing.T) {
			text := render(t, forms()["om"], d)
			dir := t.TempDir()
			file := filepath.Join(dir, "result.om")
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(tool, "tsdb", "create-blocks-from", "openmetrics", file, filepath.Join(dir, "tsdb")).CombinedOutput()
			if err != nil {
				t.Fatalf("promtool: %v\n%s", err, out)
			}
			samples := 0
			for line := range strings.Lines(text) {
				if !strings.HasPrefix(line, "#") {
					samples++
				}
			}
			kept := 0
			for _, row := range regexp.MustCompile(`(?m)^[0-9A-Z]{26} +\d+ +\d+ +\S+ +(\d+) `).FindAllSubmatch(out, -1) {
				n, _ := strconv.Atoi(string(row[1])) // digits
				kept += n
			}
			if kept != samples {
				t.Errorf("promtool kept %d of %d samples:\n%s", kept, samples, out)
			}
			lint := exec.Command(tool, "check", "metrics")
			lint.Stdin = strings.NewReader(text)
			if out, err := lint.CombinedOutput(); err != nil {
				t.Errorf("promtool check metrics: %v\n%s", err, out)
			}
		})
	}
}

// TestOpenMetricsBuckets: buckets are cumulative, the last one holds all, and
// the file ends as the format wants.
func TestOpenMetricsBuckets(t *testing.T) {
	text := render(t, forms()["om"], report.Document{Run: madeRun(t, 2000, result.Valid)})
	if !strings.HasSuffix(text, "\n# EOF\n") || strings.Count(text, "# EOF") != 1 {
		t.Error("there is no EOF at the end")
	}
	bucket := regexp.MustCompile(`(?m)^prony_response_time_seconds_bucket\{.*le="([^"]*)"\} (\d+) `)
	last := 0
	rows := bucket.FindAllStringSubmatch(text, -1)
	for _, row := range rows {
		n, err := strconv.Atoi(row[2])
		if err != nil || n < last {
			t.Errorf("bucket %s: got %s after %d", row[1], row[2], last)
		}
		last = n
	}
	if len(rows) != 23 || rows[len(rows)-1][1] != "+Inf" || last != 20_000 {
		t.Errorf("got %d buckets, the last %v, want 23 that end in +Inf with 20000", len(rows), rows[len(rows)-1])
	}
	// By arithmetic: 19,999 times run evenly from 1 to 5 ms, so that 7,500 are at
	// most 2.5 ms, less one cell of 0.1 %; one took 1.5 s.
	for le, want := range map[string][2]int{"0.001": {0, 5}, "0.0025": {7480, 7501}, "0.005": {19_970, 19_999}, "1.0": {19_999, 19_999}, "2.5": {20_000, 20_000}} {
		for _, row := range rows {
			if n, _ := strconv.Atoi(row[2]); row[1] == le && (n < want[0] || n > want[1]) {
				t.Errorf("at most %s s: got %d, want %d to %d", le, n, want[0], want[1])
			}
		}
	}
}
