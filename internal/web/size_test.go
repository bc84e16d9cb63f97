package web_test

import (
	"encoding/json"
	"testing"
	"time"

	"prony/internal/result"
	"prony/internal/web"
)

// kept is what the tests read back from a page.
type kept struct {
	Experiment struct {
		Trials []keptRun `json:"trials"`
	} `json:"experiment"`
	Run     keptRun  `json:"run"`
	LeftOut []string `json:"left_out"`
}

type keptRun struct {
	Number   int             `json:"number"`
	Validity result.Validity `json:"validity"`
	Load     struct {
		Rate     float64         `json:"rate"`
		Requests result.Requests `json:"requests"`
		Latency  struct {
			Response struct {
				Count int64   `json:"count"`
				P99   float64 `json:"p99_us"`
				HDR   string  `json:"hdr"`
			} `json:"response"`
		} `json:"latency"`
		Intervals []struct {
			StartUS   float64 `json:"start_us"`
			LengthUS  float64 `json:"length_us"`
			Completed int64   `json:"completed"`
			Warmup    bool    `json:"warmup"`
			Response  struct {
				Count int64  `json:"count"`
				HDR   string `json:"hdr"`
			} `json:"response"`
		} `json:"intervals"`
	} `json:"load"`
	Observed []result.Observed `json:"observed"`
}

func read(t *testing.T, doc web.Document) (kept, int) {
	t.Helper()
	page := render(t, doc)
	var k kept
	if err := json.Unmarshal([]byte(inside(t, page)), &k); err != nil {
		t.Fatal(err)
	}
	return k, len(page)
}

// A report of 200 trials stays below the bound, and what it leaves out is said.
func TestLargeExperimentFits(t *testing.T) {
	doc := fixtureLarge(200, 15)
	k, size := read(t, doc)
	t.Logf("200 trials of 15 s: %d bytes, left out: %q", size, k.LeftOut)
	if size > web.MostBytes {
		t.Errorf("got %d bytes, want at most %d", size, web.MostBytes)
	}
	if len(k.LeftOut) == 0 {
		t.Error("the page does not say that detail was left out")
	}
	if got, want := len(k.Experiment.Trials), 200; got != want {
		t.Fatalf("got %d trials, want %d", got, want)
	}
	for i, got := range k.Experiment.Trials {
		want := doc.Experiment.Trials[i]
		if got.Validity.Verdict != want.Validity.Verdict || got.Load.Rate != want.Load.Rate || got.Load.Requests != want.Load.Requests {
			t.Fatalf("trial %d: got %+v, want the verdict, the rate and the books of the original", got.Number, got)
		}
		if got.Load.Latency.Response.HDR == "" {
			t.Fatalf("trial %d lost the histogram of its window", got.Number)
		}
	}
}

// Nothing is left out where all fits.
func TestSmallRunIsWhole(t *testing.T) {
	r := fixtureRun(made{seed: 3, seconds: 30, warmup: 5, rate: 5000, typical: time.Millisecond, connections: 8, instances: 1, watched: true, verdict: result.Valid})
	k, _ := read(t, web.Document{Run: &r})
	if len(k.LeftOut) != 0 {
		t.Errorf("left out %q", k.LeftOut)
	}
	if got, want := len(k.Run.Load.Intervals), 35; got != want {
		t.Errorf("got %d seconds, want %d", got, want)
	}
	if got, want := len(k.Run.Observed), len(r.Observed); got != want {
		t.Errorf("got %d watched things, want %d", got, want)
	}
}

// An hour is merged: counts add up to the same, warm-up and window stay apart.
func TestHourIsMerged(t *testing.T) {
	r := fixtureRun(made{seed: 5, seconds: 120, warmup: 30, rate: 500, typical: time.Millisecond, connections: 8, instances: 10, watched: true, java: true, verdict: result.Valid})
	stretch(&r, 30)
	var want int64
	for _, iv := range r.Load.Intervals {
		want += iv.Completed
	}
	k, size := read(t, web.Document{Run: &r})
	if size > web.MostBytes {
		t.Errorf("got %d bytes, want at most %d", size, web.MostBytes)
	}
	var got, counted int64
	end := -30e6 * 30
	for _, iv := range k.Run.Load.Intervals {
		got, counted = got+iv.Completed, counted+iv.Response.Count
		if iv.StartUS != end {
			t.Fatalf("an interval starts at %v, want %v", iv.StartUS, end)
		}
		if end = iv.StartUS + iv.LengthUS; iv.Warmup && end > 0 {
			t.Fatal("warm-up and window were merged")
		}
	}
	if got != want || counted != want {
		t.Errorf("got %d completed and %d in histograms, want %d", got, counted, want)
	}
	if len(k.Run.Load.Intervals) > 600 || len(k.LeftOut) == 0 {
		t.Errorf("got %d seconds, left out %q", len(k.Run.Load.Intervals), k.LeftOut)
	}
}

// stretch repeats the seconds and samples of a run, so that it gets longer
// without more to draw.
func stretch(r *result.Run, times int) {
	var all []result.Interval
	for i, iv := range r.Load.Intervals {
		for n := range times {
			copied := iv
			copied.StartUS = (float64(i*times+n) - 30*float64(times)) * 1e6
			all = append(all, copied)
		}
	}
	r.Load.Intervals = all
	r.Load.DurationUS *= float64(times)
	for i := range r.Observed {
		o := &r.Observed[i]
		n := len(o.AtUS) * times
		o.AtUS, o.LengthUS = make([]float64, n), make([]float64, n)
		for j := range n {
			o.AtUS[j], o.LengthUS[j] = float64(j-30*times)*1e6, 1e6
		}
		for m, v := range o.Series {
			long := make(result.Values, 0, n)
			for _, x := range v {
				for range times {
					long = append(long, x)
				}
			}
			o.Series[m] = long
		}
	}
}

func BenchmarkReport200Trials(b *testing.B) {
	doc := fixtureLarge(200, 15)
	for b.Loop() {
		var size counter
		if err := web.Report(&size, doc); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(size), "bytes")
	}
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }
