package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"prony/internal/audit"
	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/report"
	"prony/internal/result"
)

// storedRun is a made-up run as it is after storing: written and read again.
func storedRun(t *testing.T, verdict result.Verdict) *result.Run {
	t.Helper()
	times := func(n int, low, high time.Duration) result.Histogram {
		h := hdr.MustNew(hdr.Config{})
		for i := range n {
			h.Record(int64(low) + int64(high-low)*int64(i)/int64(n-1))
		}
		return result.Histogram{Histogram: h}
	}
	r := &result.Run{Schema: result.Schema, Kind: "load", Version: "1.2.3", Started: time.Unix(1_800_000_000, 0).UTC(),
		Validity: result.Validity{Verdict: verdict, Findings: []result.Finding{{Rule: "steal", Severity: result.SuspectLevel, Message: "stolen"}}},
		Plan: &plan.Plan{Load: plan.Load{Model: plan.Closed, Connections: 8, Threads: 2, Duration: 10 * time.Second,
			Requests: []plan.Request{{Method: "GET", URL: "http://u:p@127.0.0.1:8080/x", Weight: 1, Headers: []plan.Header{{Name: "Authorization", Value: "Bearer abc"}}}}}},
		Load: result.Load{Model: "closed", Protocol: "http/1.1", Engine: "epoll", Threads: 2, StartedUS: 1_800_000_000_000_000, DurationUS: 10e6, Rate: 1000,
			BytesIn: 1_000_000, BodyBytes: 120_000, Connections: result.Connections{Asked: 8, Opened: 8, Connects: 8, ConnectTime: times(8, time.Millisecond, 2*time.Millisecond)},
			Requests: result.Requests{Asked: 10_000, Started: 10_000, Completed: 9_990, Failed: 10, InWindow: 10_000},
			Failures: map[string]int64{"http-status": 10}, Statuses: map[string]int64{"200": 9_990, "500": 10}, PerThreadRate: result.Moments{Count: 200, Mean: 500, StDev: 20, Max: 600, Min: 400},
			Samples: []result.Sample{{Status: 200, Head: "HTTP/1.1 200 OK\r\nServer: made/1\r\nContent-Length: 12\r\n\r\n"}},
			Latency: result.Latency{Response: times(9_990, 4*time.Millisecond, 12*time.Millisecond), Service: times(9_990, 4*time.Millisecond, 12*time.Millisecond),
				FirstByte: times(9_990, 3*time.Millisecond, 11*time.Millisecond), Failed: times(10, time.Millisecond, 2*time.Millisecond)},
			Intervals: []result.Interval{{LengthUS: 1e6, Completed: 1000, Response: result.Pack(times(1000, 4*time.Millisecond, 12*time.Millisecond).Histogram)}},
		}}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	r = nil
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// inForm is a run in one of the forms.
func inForm(t *testing.T, r *result.Run, format string) string {
	t.Helper()
	var b bytes.Buffer
	f := face{d: &report.Document{Run: r}}
	if err := f.render(&b, output{"x", format}); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.String()
}

// TestFacesAreRead: what the forms of wrk, ab and Gatling say is read by parsers
// that know those tools, and it is what was stored.
func TestFacesAreRead(t *testing.T) {
	near := func(got audit.Value, want, within float64) bool {
		return got.Known && got.V >= want*(1-within) && got.V <= want*(1+within)
	}
	for format, tool := range map[string]string{"wrk": "wrk", "ab": "ab", "gatling": "gatling", "gatling-classic": "gatling"} {
		t.Run(format, func(t *testing.T) {
			text := inForm(t, storedRun(t, result.Suspect), format)
			all, err := audit.Read([]audit.Source{{File: "x.txt", Text: text}}, audit.Limits{})
			if err != nil || len(all) != 1 || all[0].Tool != tool {
				t.Fatalf("got %d results (%v) in\n%s", len(all), err, text)
			}
			b := all[0]
			if !near(b.Requests, 10_000, 0) || !near(b.Rate, 1000, 0.001) {
				t.Errorf("got %v requests at %v/s, want 10000 at 1000/s", b.Requests.V, b.Rate.V)
			}
			if !near(b.Latency.Mean, 8000, 0.01) || !near(b.Latency.Max, 12_000, 0.17) { // ab adds the connects
				t.Errorf("got mean %v and max %v µs, want 8000 and 12000", b.Latency.Mean.V, b.Latency.Max.V)
			}
			if p := b.Latency.Percentiles; len(p) < 4 || !near(p[0].Value, 8000, 0.01) {
				t.Errorf("got percentiles %+v, want a median of 8000 µs", p)
			}
			if !slices.Contains([]int64{10}, failures(b.Errors)) {
				t.Errorf("got failures %v, want 10", b.Errors)
			}
		})
	}
}

func failures(all map[string]int64) (n int64) {
	for _, v := range all {
		n += v
	}
	return n
}

// TestNoFormDropsTheVerdict goes over every form that there is.
func TestNoFormDropsTheVerdict(t *testing.T) {
	for _, format := range formatNames() {
		for _, verdict := range []result.Verdict{result.Valid, result.Suspect, result.Invalid} {
			if got := inForm(t, storedRun(t, verdict), format); !strings.Contains(strings.ToLower(got), string(verdict)) {
				t.Errorf("%s does not say %s:\n%s", format, verdict, got)
			}
		}
	}
}

// TestFormsOfStrangers: a stored result whose texts steer terminals steers none.
// The forms for programs keep the text, escaped.
func TestFormsOfStrangers(t *testing.T) {
	const evil = "\x1b[2J\x07\u202e\nVALID  all is well"
	for _, format := range formatNames() {
		r := storedRun(t, result.Invalid)
		r.Validity.Findings[0].Message += evil
		r.Plan.Load.Requests[0].URL += evil
		r.Load.Engine += evil
		r.Load.Samples[0].Head = "HTTP/1.1 200 OK\r\nServer: x" + evil + "\r\n\r\n"
		r.Load.FailureDetails = []result.Failure{{Kind: "http-status", Count: 10, Example: evil}}
		r.Bottleneck = &result.Bottleneck{Message: evil}
		var b bytes.Buffer
		f := face{d: &report.Document{Run: r}}
		if err := f.render(&b, output{"x", format}); err != nil {
			if format != "ab" { // no such URL can be loaded
				t.Errorf("%s: %v", format, err)
			}
			continue
		}
		if strings.ContainsAny(b.String(), "\x1b\x07") || format != "json" && format != "html" && strings.Contains(b.String(), "\nVALID") {
			t.Errorf("%s lets control characters or a line of a stranger through", format)
		}
	}
}

// TestReportKeepsSecrets: no form but the result itself has what is secret.
func TestReportKeepsSecrets(t *testing.T) {
	for _, format := range []string{"text", "md", "comment", "csv", "junit", "openmetrics", "wrk", "ab", "gatling", "hlog"} {
		f := face{d: &report.Document{Run: storedRun(t, result.Valid), Source: sourceText(storedRun(t, result.Valid).Plan)}}
		var b bytes.Buffer
		if err := f.render(&b, output{"x", format}); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(b.String(), "u:p@") || strings.Contains(b.String(), "Bearer") {
			t.Errorf("%s holds a secret:\n%s", format, &b)
		}
	}
}

func TestFormatOf(t *testing.T) {
	for file, want := range map[string]string{"-": "text", "a": "text", "a.txt": "text", "A.MD": "md", "a.comment.md": "comment", "a.html": "html",
		"a.xml": "junit", "a.om": "openmetrics", "a.csv": "csv", "a.json": "json", "a.hlog": "hlog"} {
		if got, err := formatOf(file); got != want || err != nil {
			t.Errorf("%s: got %s and %v, want %s", file, got, err, want)
		}
	}
	if _, err := formatOf("a.doc"); err == nil || !strings.Contains(err.Error(), "say --format") {
		t.Errorf("got %v, want the remedy", err)
	}
}

// TestWriteReport writes what load and run write with a file to report to.
func TestWriteReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "r.md")
	if err := writeReport(file, storedRun(t, result.Suspect), nil, report.German, streams{}); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), "Was begrenzt (warum nicht doppelt so viel?)") {
		t.Errorf("got %q and %v", b, err)
	}
	if err := writeReport("", nil, nil, report.English, streams{}); err != nil {
		t.Errorf("no file: got %v", err)
	}
	var exit *exitError
	if err := writeReport("r.doc", nil, nil, report.English, streams{}); !errors.As(err, &exit) || exit.code != exitUsage {
		t.Errorf("an unknown form: got %v", err)
	}
	if err := writeReport(file, nil, nil, report.English, streams{}); err == nil {
		t.Error("nothing to report is reported")
	}
}

// ciFolder is a copy of the example with short loads, whose branch starts with
// these flags.
func ciFolder(t *testing.T, branch string) string {
	t.Helper()
	dir := t.TempDir()
	files, err := filepath.Glob("../../examples/ci/*")
	if err != nil || len(files) < 6 {
		t.Fatalf("got %d files of the example, %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) == "start.sh" {
			slower := bytes.Replace(b, []byte("branch) exec prony target"), []byte("branch) exec prony target "+branch), 1)
			if bytes.Equal(b, slower) {
				t.Fatal("start.sh does not start the branch as this test reads it")
			}
			b = slower
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), b, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runGate runs the example's script and returns its status and its output.
func runGate(t *testing.T, dir string, args ...string) (status int, out string) {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"gate.sh"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PRONY_HOME="+filepath.Join(dir, "home"),
		"RUN_FLAGS=--advisory --set load.duration=200ms --set load.warmup=0s --set cooldown=0s --repeat 7")
	b, err := cmd.CombinedOutput()
	return exitCode(err), string(b)
}

// TestCIExample runs the script of the documents, with the embedded target: a
// branch that waits 20 ms before each answer fails the gate, and the files for
// the CI system say so.
func TestCIExample(t *testing.T) {
	if runtime.GOOS == "windows" || testing.Short() {
		t.Skip("it takes a shell and ten seconds")
	}
	dir := ciFolder(t, "--delay 20ms")
	status, out := runGate(t, dir, "experiment.yaml", "gates.yaml")
	if status != exitVerdict || !strings.Contains(out, "gates failed") || !strings.Contains(out, "**rate**") {
		t.Errorf("got status %d, want %d, with a comment:\n%s", status, exitVerdict, out)
	}
	var junit struct {
		Suites []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Failure *struct{} `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	b, err := os.ReadFile(filepath.Join(dir, "prony", "gates.xml"))
	if err != nil || xml.Unmarshal(b, &junit) != nil {
		t.Fatalf("no JUnit file: %v", err)
	}
	var suites []string
	for _, s := range junit.Suites {
		suites = append(suites, s.Name)
		for _, c := range s.Cases {
			if c.Name == "build=branch rate" && c.Failure == nil {
				t.Error("the gate of the rate did not fail")
			}
		}
	}
	if !slices.Contains(suites, "gates") {
		t.Errorf("got suites %q, want one of the gates", suites)
	}
	for _, name := range []string{"result.json", "comment.md", "report.html", "report.md"} {
		if info, err := os.Stat(filepath.Join(dir, "prony", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A stored result as the baseline: the branch against itself. The machine may
	// be too busy for a good verdict, but nothing is a mistake.
	gated := exec.Command("prony", "report", filepath.Join(dir, "prony", "result.json"), "--baseline", filepath.Join(dir, "prony", "result.json"),
		"--gate", filepath.Join(dir, "gates.yaml"), "--format", "comment")
	if b, err := gated.CombinedOutput(); exitCode(err) > exitVerdict || !strings.Contains(string(b), "baseline build=branch") {
		t.Errorf("against a stored baseline: status %d\n%s", exitCode(err), b)
	}
	if status, out := runGate(t, dir, "none.yaml", "gates.yaml"); status != exitUsage {
		t.Errorf("a file that is not there: got status %d\n%s", status, out)
	}
}
