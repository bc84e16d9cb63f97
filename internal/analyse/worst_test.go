package analyse_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"prony/internal/hdr"
	"prony/internal/result"
)

// minute is a run of 60 seconds with 1,000 answers of 8 ms in each, but those of
// one second, which took 80 ms, and of another, in which few came.
func minute(slow, few int) *result.Run {
	r := java(watched)()
	var all []result.Interval
	for i := range 60 {
		took, n := 8*time.Millisecond, int64(1000)
		if i == slow {
			took = 80 * time.Millisecond
		}
		if i == few {
			n = 300
		}
		h := hdr.MustNew(hdr.Config{})
		h.RecordN(int64(took), n)
		all = append(all, result.Interval{StartUS: float64(i) * 1e6, LengthUS: 1e6, Planned: n, Started: n, Completed: n, Response: result.Pack(h)})
	}
	r.Load.DurationUS, r.Load.Intervals = 60e6, all
	for k := range r.Observed {
		o := &r.Observed[k]
		o.AtUS, o.LengthUS = nil, nil
		for i := range 60 {
			o.AtUS, o.LengthUS = append(o.AtUS, float64(i+1)*1e6), append(o.LengthUS, 1e6)
		}
		for m, x := range quiet(o.Kind) {
			o.Series[m] = fill(60, x)
		}
	}
	return r
}

func TestWorstSeconds(t *testing.T) {
	r := minute(17, 41)
	find(r, aJVM, "app").Series[result.GCTime][17] = 0.45
	find(r, aHost, "sut").Series[result.HostSteal][17] = 0.08
	find(r, aService, "app").Series[result.Throttled][41] = 0.5
	find(r, aHost, "sut").Series[result.RetransSegments][30] = 900 // in a good second
	judge(r)
	if len(r.Worst) != 2 {
		t.Fatalf("got %+v, want two moments", r.Worst)
	}
	first, second := r.Worst[0], r.Worst[1]
	if first.StartUS != 17e6 || !first.Slow || first.Few || first.P99US < 79_000 {
		t.Errorf("got %+v, want the slow second 17", first)
	}
	want := []string{"garbage collection of app[0] for 45% of the time", "the hypervisor took 8% of sut"}
	if !slices.Equal(first.With, want) {
		t.Errorf("got %q, want %q", first.With, want)
	}
	if second.StartUS != 41e6 || second.Slow || !second.Few || second.Rate != 300 {
		t.Errorf("got %+v, want second 41 with its few answers", second)
	}
	if want := []string{"the quota held app[0] back in 50% of its periods"}; !slices.Equal(second.With, want) {
		t.Errorf("got %q, want %q", second.With, want)
	}
}

func TestEverySignSpeaks(t *testing.T) {
	r := minute(17, -1)
	for k := range r.Observed {
		o := &r.Observed[k]
		for m := range o.Series {
			o.Series[m][17] = 1e6
		}
	}
	judge(r)
	if len(r.Worst) != 1 || len(r.Worst[0].With) < 18 {
		t.Fatalf("got %+v, want one second with nearly everything", r.Worst)
	}
	for _, s := range r.Worst[0].With {
		if strings.Contains(s, "%!") || strings.Contains(s, "BAD") {
			t.Errorf("got %q, want a sentence", s)
		}
	}
}

func TestNoWorstSeconds(t *testing.T) {
	if r := judge(minute(-1, -1)); len(r.Worst) != 0 {
		t.Errorf("got %+v of an even run, want nothing", r.Worst)
	}
	r := minute(17, -1)
	if judge(r); len(r.Worst) != 1 || len(r.Worst[0].With) != 0 {
		t.Errorf("got %+v, want the second without an explanation", r.Worst)
	}
}

// TestTailIsGC: collections that fall into the slow seconds and no others.
func TestTailIsGC(t *testing.T) {
	r := minute(17, -1)
	gc := find(r, aJVM, "app").Series[result.GCTime]
	for i := range gc {
		gc[i] = 0
	}
	for _, i := range []int{17, 33, 52} {
		h := hdr.MustNew(hdr.Config{})
		h.RecordN(int64(90*time.Millisecond), 1000)
		r.Load.Intervals[i].Response = result.Pack(h)
		gc[i] = 0.04
	}
	f := findingOf(t, judge(r), "target-gc")
	if f.Confidence != result.Hint || !strings.Contains(f.Message, "the tail is GC") {
		t.Errorf("got %+v, want a hint that the tail is GC", f)
	}
}
