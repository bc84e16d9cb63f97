package report_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"prony/internal/report"
	"prony/internal/result"
)

// watchedFor ten seconds, from one before the window on, with series that have
// a first value outside the window and then those of two seconds in turn.
func watchedFor(kind, name string, series map[result.Metric][2]float64) result.Observed {
	o := result.Observed{Kind: kind, Name: name, Service: "app", Instance: 1, Series: map[result.Metric]result.Values{}}
	for i := range 11 {
		o.AtUS, o.LengthUS = append(o.AtUS, float64(i)*1e6), append(o.LengthUS, 1e6)
		for m, both := range series {
			x := both[i%2]
			if i == 0 {
				x = 1e15 // before the window
			}
			o.Series[m] = append(o.Series[m], x)
		}
	}
	return o
}

// javaRun is a made-up run against a Java service.
func javaRun(t testing.TB) *result.Run {
	r := madeRun(t, 2000, result.Valid)
	r.Observed = []result.Observed{
		watchedFor(result.OfJVM, "app", map[result.Metric][2]float64{
			result.HeapUsed: {100 << 20, 300 << 20}, result.HeapCapacity: {400 << 20, 400 << 20}, result.HeapMax: {1 << 30, 1 << 30}, result.GCTime: {0, 0.14},
			result.LiveThreads: {230, 231}, result.Runnable: {12, 14}, result.Blocked: {3, 3}, result.Waiting: {200, 202}, result.TimedWaiting: {12, 12}}),
		watchedFor(result.OfPool, "http-nio-8080-exec-*", map[result.Metric][2]float64{result.PoolThreads: {200, 200}, result.PoolBusy: {190, 200}}),
		watchedFor(result.OfPool, "scheduling-*", map[result.Metric][2]float64{result.PoolThreads: {1, 1}, result.PoolBusy: {0, 0}}),
		watchedFor(result.OfThread, "http-nio-8080-e", map[result.Metric][2]float64{result.ThreadMax: {0.4, 0.44}}),
		watchedFor(result.OfThread, "VM Thread", map[result.Metric][2]float64{result.ThreadMax: {0.1, 0.1}}),
	}
	return r
}

// TestJavaParagraph: what a Java service did is a paragraph of the text and an
// item of the document.
func TestJavaParagraph(t *testing.T) {
	const want = "app[1]: heap at most 300 MiB of 1 GiB; garbage collection 7% of the time, at most 140ms within 1s; at most 231 threads; " +
		"on average 13 runnable, 3 blocked, 201 waiting, 12 waiting for a limited time; pool http-nio-8080-exec-*: 195 of 200 threads busy on average, 200 at most; " +
		"busiest thread http-nio-8080-e with 0.42 of a core"
	var text bytes.Buffer
	if err := report.Text(&text, javaRun(t), nil, report.Style{}); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(text.String(), "Java")
	got, _, _ = strings.Cut(got, "expected")
	if joined := strings.Join(strings.Fields(got), " "); joined != want {
		t.Errorf("got %q, want %q", joined, want)
	}
	var doc bytes.Buffer
	if err := report.Markdown(&doc, report.Document{Run: javaRun(t)}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(doc.String(), "Java app\\[1\\]") || !strings.Contains(doc.String(), "garbage collection 7% of the time") {
		t.Errorf("got no item about the machine in\n%s", doc.String())
	}
}

// TestJavaParagraphOfLittle: what is not known is left out, and a run without a
// virtual machine has no paragraph.
func TestJavaParagraphOfLittle(t *testing.T) {
	bare := javaRun(t)
	bare.Observed = bare.Observed[:1]
	for _, m := range []result.Metric{result.Runnable, result.HeapMax, result.LiveThreads} {
		delete(bare.Observed[0].Series, m)
	}
	unknown := javaRun(t)
	unknown.Observed[0].Series = map[result.Metric]result.Values{result.HeapUsed: slices.Repeat(result.Values{math.NaN()}, 11)}
	unknown.Observed = unknown.Observed[:1]
	for _, c := range []struct {
		name string
		run  *result.Run
		want string
	}{
		{"no states, no limit", bare, "app[1]: heap at most 300 MiB of 400 MiB; garbage collection 7% of the time, at most 140ms within 1s"},
		{"nothing", unknown, ""},
		{"no machine", madeRun(t, 2000, result.Valid), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var text bytes.Buffer
			if err := report.Text(&text, c.run, nil, report.Style{}); err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(text.String(), "Java")
			got, _, _ = strings.Cut(got, "expected")
			if joined := strings.Join(strings.Fields(got), " "); joined != c.want {
				t.Errorf("got %q, want %q", joined, c.want)
			}
		})
	}
}
