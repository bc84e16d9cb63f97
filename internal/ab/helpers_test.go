package ab_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"prony/internal/ab"
	"prony/internal/result"
)

var update = flag.Bool("update", false, "write the golden files anew")

const nginxHead = "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nContent-Type: text/plain\r\nContent-Length: 6\r\nConnection: close\r\n\r\n"

// parse parses a command line split at blanks; "~" stands for a blank.
func parse(t testing.TB, line string) ab.Options {
	t.Helper()
	o, err := ab.Parse(words(line))
	if err != nil {
		t.Fatalf("Parse(%q): %v", line, err)
	}
	return o
}

func words(line string) []string {
	fields := strings.Fields(line)
	for i, f := range fields {
		fields[i] = strings.ReplaceAll(f, "~", " ")
	}
	return fields
}

// usage returns the UsageError of a command line.
func usage(t testing.TB, args []string) *ab.UsageError {
	t.Helper()
	_, err := ab.Parse(args)
	var u *ab.UsageError
	if !errors.As(err, &u) {
		t.Fatalf("Parse(%q) = %v, want a UsageError", args, err)
	}
	return u
}

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := read(t, file); got != want {
		t.Errorf("%s:\n%s", name, firstDifference(got, want))
	}
}

func read(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// original reads what the original printed.
func original(t testing.TB, name string) string {
	t.Helper()
	return read(t, filepath.Join("testdata", "real", name))
}

// firstDifference shows the first line in which two texts differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b || i >= len(g) || i >= len(w) {
			return fmt.Sprintf("line %d\n got %q\nwant %q", i+1, a, b)
		}
	}
	return "no difference"
}

func render(t testing.TB, r *result.Run, o ab.Options) string {
	t.Helper()
	var b strings.Builder
	if err := ab.Render(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const ms = int64(time.Millisecond)

// hello is a run of n requests for a body of six bytes. Request i took
// i*10/n + 1 ms, of which 0.3 ms went into the connection if it was new.
func hello(n int, edit func(*result.Run)) *result.Run {
	r := &result.Run{Version: "1.0", Started: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	l := &r.Load
	for i := range n {
		rec := result.Record{Start: r.Started.UnixNano() + int64(i)*ms, Connect: 300_000, Status: 200}
		rec.Total = int64(i)*10*ms/int64(n) + ms
		rec.FirstByte = rec.Total - 100_000
		l.Records = append(l.Records, rec)
	}
	count := int64(n)
	l.EndedBy, l.DurationUS = "count", 161_632
	l.Requests = result.Requests{Asked: count, Started: count, Completed: count, InWindow: count}
	l.Statuses = map[string]int64{"200": count}
	l.Samples = []result.Sample{{Status: 200, Head: nginxHead}}
	l.BytesIn, l.BodyBytes, l.BytesOut = 148*count, 6*count, 127*count
	l.Connections = result.Connections{Asked: 10, Opened: 10, Peak: 10, Connects: count, ClosedByPeer: count}
	if edit != nil {
		edit(r)
	}
	return r
}

// fail turns the first n records into failures of a kind.
func fail(r *result.Run, kind result.FailureKind, n int) {
	for i := range r.Load.Records {
		if rec := &r.Load.Records[i]; n > 0 && rec.Kind == result.NoFailure {
			rec.Kind = kind
			n--
			r.Load.Requests.Completed--
			r.Load.Requests.Failed++
			if r.Load.Failures == nil {
				r.Load.Failures = map[string]int64{}
			}
			r.Load.Failures[kind.String()]++
		}
	}
}
