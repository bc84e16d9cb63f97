package generator_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"prony/internal/generator"
	"prony/internal/plan"
	"prony/internal/schedule"
)

var update = flag.Bool("update", false, "write the golden files anew")

// load is a plain load with its defaults written out.
func load(with, url string) plan.Load {
	l := plan.Load{With: with, Requests: []plan.Request{{Method: "GET", URL: url, Weight: 1}}, Connections: 4, Threads: 2, Duration: time.Second}
	return l.WithDefaults(plan.Facts{CPUs: 2})
}

// fake stands for every program that is looked for.
func fake(t *testing.T, script string) func(string) (string, error) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "fake", script))
	if err != nil {
		t.Fatal(err)
	}
	return func(string) (string, error) { return path, nil }
}

// printing finds programs of any name that print a report.
func printing(t *testing.T, report string) func(string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	path, err := filepath.Abs(filepath.Join("testdata", "report", report+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return func(name string) (string, error) {
		file := filepath.Join(dir, name)
		script := "#!/bin/sh\n"
		if name == "taskset" { // becomes what it was told to start
			script += "shift 2\nexec \"$@\"\n"
		} else {
			script += "cat " + path + "\n"
		}
		return file, os.WriteFile(file, []byte(script), 0o755)
	}
}

// report is a recorded one.
func report(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "report", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// golden compares with a file, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

// TestCommandLines holds what is started against what users of the programs type.
func TestCommandLines(t *testing.T) {
	const url = "http://127.0.0.1:8080/a?b=c"
	body := func(method string) func(*plan.Load) {
		return func(l *plan.Load) {
			l.Requests[0].Method, l.Requests[0].Body = method, []byte("a=\"b\"\n")
			l.Requests[0].Headers = []plan.Header{{Name: "Content-Type", Value: "text/csv"}}
		}
	}
	rate := func(l *plan.Load) { l.Model, l.Arrivals = plan.Open, schedule.Rate(2.5) }
	for _, tt := range []struct {
		name string
		edit func(*plan.Load)
		only string // programs; "" is all but Gatling, which is built first
	}{
		{"plain", func(*plan.Load) {}, ""},
		{"no path", func(l *plan.Load) { l.Requests[0].URL = "http://h?x=1" }, "wrk ab"},
		{"headers", func(l *plan.Load) {
			if l.With != "bombardier" {
				l.Requests[0].Host = "example.org"
			}
			l.Requests[0].Headers = []plan.Header{{Name: "Authorization", Value: "Bearer hunter2"}, {Name: "X-A", Value: "it's"}}
		}, ""},
		{"post", body("POST"), ""},
		{"put", body("PUT"), ""},
		{"delete", func(l *plan.Load) { l.Requests[0].Method = "DELETE" }, ""},
		{"head", func(l *plan.Load) { l.Requests[0].Method = "HEAD" }, "ab h2load hey oha bombardier vegeta"},
		{"count", func(l *plan.Load) { l.Count, l.Duration = 100, 0 }, "ab h2load hey bombardier oha"},
		{"count and time", func(l *plan.Load) { l.Count = 100 }, "ab"},
		{"no keep-alive", func(l *plan.Load) { l.NoKeepAlive = true }, "wrk ab hey vegeta bombardier oha"},
		{"same length", func(l *plan.Load) { l.SameLength = true }, "ab"},
		{"source", func(l *plan.Load) { l.Sources = []string{"127.0.0.2"} }, "ab vegeta"},
		{"pipeline", func(l *plan.Load) { l.Pipeline = 16 }, "h2load"},
		{"warm-up", func(l *plan.Load) { l.Warmup = 1500 * time.Millisecond }, "h2load"},
		{"rate", rate, "vegeta"},
		{"script", func(l *plan.Load) { l.Script = &plan.Script{File: "pipeline.lua", Args: []string{"/", "16"}} }, "wrk"},
		{"cores", func(l *plan.Load) { l.Cores = []int{0, 2} }, "wrk"},
		{"https", func(l *plan.Load) { l.Requests[0].URL, l.TLS.Insecure = "https://u:p@h/", true }, "wrk ab vegeta bombardier oha"},
		{"client certificate", func(l *plan.Load) {
			l.Requests[0].URL, l.TLS = "https://h/", plan.TLS{CAFile: "ca.pem", CertFile: "c.pem", KeyFile: "k.pem"}
		}, "vegeta"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got strings.Builder
			for _, p := range generator.Programs() {
				if p.Name == "gatling" || tt.only != "" && !strings.Contains(" "+tt.only+" ", " "+p.Name+" ") {
					continue
				}
				l := load(p.Name, url)
				tt.edit(&l)
				r, err := generator.Run(t.Context(), l, generator.Options{Find: printing(t, p.Name)})
				if err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(r.Output) {
					if strings.HasPrefix(line, "$ ") {
						got.WriteString(line)
					}
				}
			}
			golden(t, strings.ReplaceAll(tt.name, " ", "-")+".txt", withoutFolders(got.String()))
		})
	}
}

// withoutFolders takes temporary folders out of a text.
func withoutFolders(text string) string {
	words := strings.Split(text, " ")
	for i, w := range words {
		if strings.HasPrefix(w, os.TempDir()) {
			words[i] = filepath.Base(w)
		}
	}
	return strings.Join(words, " ")
}

// TestReports reads a recorded report of each program into a result.
func TestReports(t *testing.T) {
	for _, p := range generator.Programs() {
		t.Run(p.Name, func(t *testing.T) {
			r, doubts, ok := generator.Read(load(p.Name, "http://127.0.0.1:8080/"), report(t, p.Name))
			if !ok {
				t.Fatal("found no report")
			}
			if !r.Requests.Balanced() {
				t.Errorf("got books that do not balance: %+v", r.Requests)
			}
			if !r.Latency.Response.Empty() || !r.Latency.Service.Empty() {
				t.Error("got a histogram from a program that printed none")
			}
			var got strings.Builder
			fmt.Fprintf(&got, "with %s, model %s, %s, threads %d, ended by %s\n", r.With, r.Model, r.Protocol, r.Threads, r.EndedBy)
			fmt.Fprintf(&got, "%.2f/s for %.0f us, bytes in %d, body %d\n", r.Rate, r.DurationUS, r.BytesIn, r.BodyBytes)
			fmt.Fprintf(&got, "%+v\n%+v\nfailures %v, statuses %v, connects failed %d\nprinted %v\ndoubts:\n%s\n", r.Requests, r.FailureDetails, r.Failures, r.Statuses,
				r.Connections.Failed, r.Printed, strings.Join(doubts, "\n"))
			golden(t, "report-"+p.Name+".txt", got.String())
		})
	}
}

// TestFakes: what goes wrong with a program is an error that says so, or a
// doubt, and never a result that nobody printed.
func TestFakes(t *testing.T) {
	for _, tt := range []struct {
		script string
		err    string // "" is none
		warn   string
	}{
		{"garbage.sh", "load with wrk: no report, exit status 0: All your base", ""},
		{"crash.sh", "assertion failed: the moon is made of cheese", ""},
		{"hang.sh", "it did not end in time and was stopped", ""},
		{"stubborn.sh", "", "wrk did not end in time and was interrupted"},
		{"orphan.sh", "", ""},
		{"huge.sh", "", ""},
		{"status.sh", "", "wrk ended with exit status 3"},
	} {
		t.Run(tt.script, func(t *testing.T) {
			t.Parallel()
			var warned []string
			l := load("wrk", "http://127.0.0.1:1/")
			l.Timeouts.Request = time.Second
			r, err := generator.Run(t.Context(), l, generator.Options{Find: fake(t, tt.script), Patience: 200 * time.Millisecond,
				Warn: func(s string) { warned = append(warned, s) }})
			switch {
			case tt.err == "" && err != nil:
				t.Fatal(err)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err) || !errors.Is(err, generator.ErrNoReport)):
				t.Fatalf("got %v, want an error that is ErrNoReport and holds %q", err, tt.err)
			case tt.err != "":
				if r != nil {
					t.Errorf("got a result without a report: %+v", r)
				}
				return
			}
			if r.Requests.Asked == 0 || r.Rate != 52929.70 {
				t.Errorf("got %+v and %g/s from a report of 534630 requests", r.Requests, r.Rate)
			}
			if tt.script == "orphan.sh" {
				gone(t, r.Output)
			}
			if len(r.Output) > 1<<20 {
				t.Errorf("got %d bytes kept", len(r.Output))
			}
			if !strings.Contains(strings.Join(warned, "\n"), tt.warn) {
				t.Errorf("got warnings %q, want %q", warned, tt.warn)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	o := generator.Options{Find: func(name string) (string, error) { return "", exec.ErrNotFound }}
	_, err := generator.Run(t.Context(), load("wrk", "http://127.0.0.1:1/"), o)
	if want := "find wrk: not installed; install it with: apt-get install wrk"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// gone checks that what a program left behind does not run any more.
func gone(t *testing.T, output string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	_, rest, ok := strings.Cut(output, "left behind: ")
	pid, _, _ := strings.Cut(rest, "\n")
	if !ok {
		t.Fatalf("found nothing left behind in %q", output)
	}
	for limit := time.Now().Add(10 * time.Second); time.Now().Before(limit); runtime.Gosched() {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %s lives on", pid)
}
