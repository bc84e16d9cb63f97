package ab_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prony/internal/ab"
	"prony/internal/result"
)

const run10 = "-n 20 -c 10 http://127.0.0.1:18090/"

// keepAlive is a run whose server says so.
func keepAlive(r *result.Run) {
	l := &r.Load
	l.Samples[0].Head = strings.Replace(nginxHead, "close", "keep-alive", 1)
	l.Connections.Connects, l.Connections.ClosedByPeer = 10, 0
	for i := range l.Records[10:] {
		l.Records[10+i].Connect = 0
	}
}

func secure(r *result.Run) {
	r.Load.TLS = &result.TLS{Version: "TLS 1.2", Cipher: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", KeyBits: 2048, Curve: "X25519"}
}

func notFound(r *result.Run) {
	fail(r, result.HTTPStatus, 20)
	r.Load.Statuses = map[string]int64{"404": 15, "302": 5}
	r.Load.Samples = []result.Sample{{Status: 404, Head: "HTTP/1.1 404 Not Found\r\nServer: Apache/2.4 (Debian)\r\n\r\n"}}
}

// everyFailure has three of each class of failure ab knows.
func everyFailure(r *result.Run) {
	for _, k := range []result.FailureKind{result.ConnectRefused, result.Reset, result.BodyDiffers, result.BadResponse} {
		fail(r, k, 3)
	}
	fail(r, result.WriteFailed, 1)
	fail(r, result.RequestTimeout, 1)
	r.Load.FailureDetails = []result.Failure{{Kind: "reset", Phase: "wait", Errno: "ECONNRESET", Count: 3, Example: "read: connection reset\x1b[2J"}}
}

func TestGolden(t *testing.T) {
	tests := []struct {
		name, line string
		edit       func(*result.Run)
	}{
		{"plain", run10, nil},
		{"odd", "-n 21 -c 10 http://127.0.0.1:18090/", nil},
		{"odd-quirks", "--quirks -n 21 -c 10 http://127.0.0.1:18090/", nil},
		{"one", "http://127.0.0.1/", nil},
		{"keepalive", "-k " + run10, keepAlive},
		{"failures", "-r " + run10, everyFailure},
		{"failures-quirks", "-r --quirks " + run10, everyFailure},
		{"failures-plain", "-r --plain " + run10, everyFailure},
		{"failures-verbose", "-r -v 1 " + run10, everyFailure},
		{"aborted", run10, func(r *result.Run) {
			fail(r, result.Reset, 1)
			r.Load.Records, r.Load.EndedBy = r.Load.Records[:5], "abort"
			r.Load.Requests = result.Requests{Asked: 20, Started: 5, Completed: 4, Failed: 1, Unsent: 15}
			r.Load.BodyBytes, r.Load.BytesIn = 24, 4*148
		}},
		{"nothing", run10, func(r *result.Run) {
			fail(r, result.ConnectRefused, 20)
			r.Load.Samples, r.Load.BytesIn, r.Load.BodyBytes = nil, 0, 0
		}},
		{"short", "-S " + run10, nil},
		{"no-percentiles", "-d " + run10, nil},
		{"variable", "-l " + run10, nil},
		{"tls", "-n 20 -c 10 https://example.com:8443/a", secure},
		{"tls-address", "-n 20 -c 10 https://127.0.0.1/a", secure},
		{"non-2xx", run10, notFound},
		{"body", "-p /dev/null " + run10, nil},
		{"proxy", "-X proxy:3128 -n 20 http://example.com/", nil},
		{"verbose", "-v 3 " + run10, notFound},
		{"html", "-w " + run10, nil},
		{"html-failures", "-x border=1 -y a -z b -k -p /dev/null -r " + strings.Replace(run10, "0/", "0/<p>&", 1), everyFailure},
		{"html-quirks", "--quirks -w -r " + run10, everyFailure},
		{"html-non-2xx", "-w " + run10, notFound},
		{"no-records", run10, func(r *result.Run) { r.Load.Records = nil }},
		{"timed", "-t 2 -c 10 http://127.0.0.1/", func(r *result.Run) {
			r.Load.EndedBy, r.Load.DurationUS, r.Load.DrainUS, r.Load.Requests.InWindow = "duration", 2e6, 5e5, 18
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := parse(t, tt.line)
			golden(t, tt.name+".txt", render(t, hello(min(o.Requests, 21), tt.edit), o))
		})
	}
}

// Begin and Report together are Render.
func TestBeginReport(t *testing.T) {
	r, o := hello(20, nil), parse(t, "-v 2 "+run10)
	var b strings.Builder
	if err := ab.Begin(&b, r.Version, o); err != nil {
		t.Fatal(err)
	}
	if err := ab.Report(&b, r, o); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), render(t, r, o); got != want {
		t.Error(firstDifference(got, want))
	}
}

// What the original prints between its banner and its report, we print too.
func TestBeforeReport(t *testing.T) {
	tests := []struct{ file, line, from, to string }{
		{"even.txt", "-n 100 http://127.0.0.1:18798/slow", "\nBenchmarking", "\nServer Software"},
		{"progress.txt", "-n 2000 http://127.0.0.1:18790/", "\nBenchmarking", "\nServer Software"},
		{"keepalive.txt", "-n 1000 -q -k http://127.0.0.1:18790/", "\nBenchmarking", "\nServer Software"},
		{"proxy.txt", "-X 127.0.0.1:18799 http://foo.example/x", "\nBenchmarking", "\nServer Software"},
		{"verbose.txt", "-v 4 http://127.0.0.1:18798/404", "\nBenchmarking", "LOG:"},
		{"html.txt", "-n 20 -w http://127.0.0.1:18798/404", "</p>", "<table"},
		{"html-body.txt", "-w -q -n 200 http://127.0.0.1:18798/vary", "</p>", "<table"},
	}
	between := func(s, from, to string) string {
		i := strings.Index(s, from)
		j := strings.Index(s[i:], to)
		return s[i : i+j]
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			got := between(render(t, hello(20, nil), parse(t, tt.line)), tt.from, tt.to)
			if want := between(original(t, tt.file), tt.from, tt.to); got != want {
				t.Error(firstDifference(got, want))
			}
		})
	}
}

// The banners have as many lines, so that a parser may skip them.
func TestBannerLines(t *testing.T) {
	for _, tt := range []struct{ file, line, to string }{
		{"even.txt", run10, "Benchmarking"}, {"html.txt", "-w " + run10, "</p>"},
	} {
		ours, theirs := render(t, hello(20, nil), parse(t, tt.line)), original(t, tt.file)
		count := func(s string) int { return strings.Count(s[:strings.Index(s, tt.to)], "\n") }
		if got, want := count(ours), count(theirs); got != want {
			t.Errorf("%s: %d lines, want %d", tt.file, got, want)
		}
	}
}

func TestProgress(t *testing.T) {
	var b strings.Builder
	o := parse(t, "-n 2000 -c 10 http://127.0.0.1:18790/")
	told := ab.Progress(&b, o)
	for done := int64(0); done <= 2000; done += 50 {
		told(done)
	}
	r := hello(20, func(r *result.Run) { r.Load.Records, r.Load.Requests.Completed = nil, 2000 })
	if err := ab.Finished(&b, r, o); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), original(t, "progress.stderr.txt"); got != want {
		t.Error(firstDifference(got, want))
	}
}

func TestProgressSteps(t *testing.T) {
	tests := []struct {
		line string
		told []int64
		want string
	}{
		{"-n 150", []int64{150}, ""},
		{"-n 151", []int64{99, 100, 151}, "Completed 100 requests\n"},
		{"-n 151 -q", []int64{151}, ""},
		{"-n 5000", []int64{1700}, "Completed 500 requests\nCompleted 1000 requests\nCompleted 1500 requests\n"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			var b strings.Builder
			told := ab.Progress(&b, parse(t, tt.line+" http://h/"))
			for _, n := range tt.told {
				told(n)
			}
			if got := b.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestRenderWritesFiles(t *testing.T) {
	dir := t.TempDir()
	csv, tsv := filepath.Join(dir, "a.csv"), filepath.Join(dir, "b.tsv")
	o := parse(t, "-e "+csv+" -g "+tsv+" "+run10)
	render(t, hello(20, nil), o)
	golden(t, "plain.csv", read(t, csv))
	golden(t, "plain.tsv", read(t, tsv))
	want := read(t, tsv)
	if err := os.Truncate(tsv, 0); err != nil {
		t.Fatal(err)
	}
	if err := ab.WriteFiles(hello(20, nil), o); err != nil || read(t, tsv) != want {
		t.Errorf("WriteFiles writes another file, or fails: %v", err)
	}
}

func TestRenderFileErrors(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none", "x")
	for option, want := range map[string]string{"-e": "open CSV output file: ", "-g": "open gnuplot output file: "} {
		var b strings.Builder
		err := ab.Render(&b, hello(20, nil), parse(t, option+" "+missing+" "+run10))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", option, err, want)
		}
		if !strings.Contains(b.String(), "Requests per second") {
			t.Errorf("%s: the report is missing", option)
		}
	}
}

// The time zone of the file is the run's.
func TestTSVZone(t *testing.T) {
	r := hello(1, func(r *result.Run) {
		r.Started = r.Started.In(time.FixedZone("", 3600))
		r.Load.Records[0].Connect = 1_500_000
		r.Load.Records[0].Total = 3_499_999
		r.Load.Records[0].FirstByte = 2_999_999
	})
	var b strings.Builder
	if err := ab.TSV(&b, r, parse(t, "http://h/")); err != nil {
		t.Fatal(err)
	}
	want := "starttime\tseconds\tctime\tdtime\tttime\twait\nWed Mar 04 06:06:07 2026\t1772600767\t2\t2\t3\t1\n"
	if got := b.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
