package ab_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"prony/internal/ab"
	"prony/internal/result"
)

// originalRecords takes the requests of a captured run out of its two files:
// the CSV has every total time to the microsecond (with up to 100 requests),
// the TSV, in the same order, the other times in milliseconds.
func originalRecords(t *testing.T, name string, n int) *result.Run {
	t.Helper()
	totals := make([]int64, n)
	for p, line := range strings.Split(strings.TrimSpace(original(t, name+".csv")), "\n")[1:] {
		_, text, _ := strings.Cut(line, ",")
		ms, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		i := int(0.5 + float64(n*p)/100)
		if p == 100 {
			i = n - 1
		}
		if i < n {
			totals[i] = int64(ms*1000 + 0.5)
		}
	}
	r := &result.Run{Version: "1", Started: time.Now().UTC()}
	for i, line := range strings.Split(strings.TrimSpace(original(t, name+".tsv")), "\n")[1:] {
		r.Load.Records = append(r.Load.Records, originalRecord(t, line, totals[i]))
	}
	count := int64(n)
	if len(r.Load.Records) != n || totals[0] == 0 {
		t.Fatalf("%s: %d records of %d", name, len(r.Load.Records), n)
	}
	r.Load.Requests = result.Requests{Asked: count, Completed: count, InWindow: count}
	r.Load.EndedBy, r.Load.DurationUS = "count", 1e6
	return r
}

// originalRecord finds a connect time that, with the exact total, gives the
// rounded figures of a line.
func originalRecord(t *testing.T, line string, totalUS int64) result.Record {
	t.Helper()
	f := strings.Split(line, "\t")
	var v [6]int64
	for i := 1; i < 6; i++ {
		n, err := strconv.ParseInt(f[i], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		v[i] = n
	}
	for c := max(v[2]*1000-500, 0); c < v[2]*1000+500; c++ {
		if (totalUS-c+500)/1000 == v[3] {
			return result.Record{Start: v[1] * 1e9, Connect: c * 1000, Total: totalUS * 1000, FirstByte: (c + v[5]*1000) * 1000}
		}
	}
	t.Fatalf("no connect time fits %q with %d us", line, totalUS)
	return result.Record{}
}

// From the original's own requests come the original's figures: the line
// Total, all percentiles and both files, for an even and an odd number.
func TestOriginalFigures(t *testing.T) {
	for _, tt := range []struct {
		name string
		n    int
	}{{"even", 100}, {"odd", 99}} {
		t.Run(tt.name, func(t *testing.T) {
			r := originalRecords(t, tt.name, tt.n)
			o := parse(t, fmt.Sprintf("--quirks -n %d http://127.0.0.1/", tt.n))
			got, want := render(t, r, o), original(t, tt.name+".txt")
			cut := regexp.MustCompile(`(?s)\nTotal:.*`)
			if g, w := cut.FindString(got), cut.FindString(want); g != w || g == "" {
				t.Error(firstDifference(g, w))
			}
			compareFiles(t, r, o, tt.name)
		})
	}
}

func compareFiles(t *testing.T, r *result.Run, o ab.Options, name string) {
	t.Helper()
	var csv, tsv strings.Builder
	if err := ab.CSV(&csv, r, o); err != nil {
		t.Fatal(err)
	}
	if want := original(t, name+".csv"); csv.String() != want {
		t.Error(firstDifference(csv.String(), want))
	}
	if err := ab.TSV(&tsv, r, o); err != nil {
		t.Fatal(err)
	}
	if want := original(t, name+".tsv"); tsv.String() != want {
		t.Error(firstDifference(tsv.String(), want))
	}
}

// The original's file of 20 requests has rows from beyond its data; ours has
// the longest time there, is the same elsewhere, and never falls.
func TestCSVOverrun(t *testing.T) {
	r := hello(20, nil)
	var b strings.Builder
	if err := ab.CSV(&b, r, parse(t, "-n 20 http://h/")); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if got := strings.Join(lines[98:], " "); got != "97,10.500 98,10.500 99,10.500 100,10.500" {
		t.Errorf("got %q", got)
	}
	if theirs := strings.Split(original(t, "overrun.csv"), "\n"); theirs[100] == theirs[101] || len(lines) != 102 {
		t.Errorf("the original says %q and %q; %d lines", theirs[100], theirs[101], len(lines))
	}
}

// usersFields reads a report as scripts do: by patterns found in the wild.
func usersFields(text string) map[string]string {
	found := map[string]string{}
	for name, pattern := range map[string]string{
		"rps":      `Requests per second:\s+([\d.]+)`,
		"mean":     `Time per request:\s+([\d.]+) \[ms\] \(mean\)`,
		"across":   `Time per request:\s+([\d.]+) \[ms\] \(mean, across all`,
		"complete": `(?m)^Complete requests:\s+(\d+)$`,
		"failed":   `(?m)^Failed requests:\s+(\d+)$`,
		"seconds":  `Time taken for tests:\s+([\d.]+) sec`,
		"transfer": `Transfer rate:\s+([\d.]+) \[Kbytes/sec\]`,
		"length":   `Document Length:\s+(\d+) bytes`,
		"total":    `(?m)^Total:\s+(\d+)\s+(?:\d+)\s+[\d.]+\s+\d+\s+\d+$`,
		"longest":  `100%\s+(\d+) \(longest request\)`,
	} {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(text); m != nil {
			found[name] = m[1]
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\s+(\d+)%\s+(\d+)`).FindAllStringSubmatch(text, -1) {
		found["p"+m[1]] = m[2]
	}
	return found
}

func TestUsersParsers(t *testing.T) {
	ours := usersFields(render(t, hello(20, nil), parse(t, run10)))
	theirs := usersFields(original(t, "even.txt"))
	if len(ours) != 19 || len(theirs) != 19 {
		t.Fatalf("%d fields in ours, %d in the original", len(ours), len(theirs))
	}
	want := map[string]string{
		"rps": "123.74", "mean": "80.816", "across": "8.082", "complete": "20", "failed": "0", "seconds": "0.162",
		"transfer": "17.88", "length": "6", "total": "1", "longest": "11", "p50": "6", "p90": "10", "p99": "11",
	}
	for name, w := range want {
		if ours[name] != w {
			t.Errorf("%s: got %q, want %q", name, ours[name], w)
		}
	}
}
