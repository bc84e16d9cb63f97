package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/store"
)

// series puts a run for each rate, and returns their ids.
func series(t testing.TB, s *store.Store, from int, rates ...float64) []store.RunID {
	t.Helper()
	var ids []store.RunID
	for i, rate := range rates {
		ids = append(ids, put(t, s, load(from+i, rate)))
	}
	return ids
}

func history(t testing.TB, s *store.Store, metric string) store.History {
	t.Helper()
	return must[store.History](t)(s.History(context.Background(), store.Question{Experiment: "checkout", Metric: metric}))
}

func ruleBaseline(t *testing.T, s *store.Store) {
	ctx := context.Background()
	ids := series(t, s, 1, 100, 101, 99, 100, 102, 98)
	other, invalid, elsewhere := load(20, 100), load(21, 100), load(22, 100)
	other.Trial.Plan.Load.Connections = 9
	invalid.Trial.Validity.Verdict = result.Invalid
	elsewhere.Trial.Environment.CPUs = 64
	for name, c := range map[string]struct {
		ids  []store.RunID
		want string
	}{
		"one lucky run":     {ids[:1], "too few runs: 1, want at least 5"},
		"the same run five": {slices.Repeat(ids[:1], 5), "too few runs: 1, want at least 5"},
		"none":              {nil, "too few runs"},
		"other work":        {append(slices.Clone(ids), put(t, s, other)), "did different work"},
		"invalid":           {append(slices.Clone(ids), put(t, s, invalid)), "is invalid"},
		"other machine":     {append(slices.Clone(ids), put(t, s, elsewhere)), "different machines"},
		"unknown":           {[]store.RunID{"0000000000"}, "not in the store"},
	} {
		if _, err := s.Pin(ctx, began, c.ids...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if all := must[[]store.Baseline](t)(s.Baselines(ctx)); len(all) != 0 {
		t.Errorf("got baselines %v, want none", all)
	}
	if b, err := s.Pin(ctx, began, ids[:5]...); err != nil || !slices.Equal(b.Runs, ids[:5]) || b.Experiment != "checkout" {
		t.Errorf("got %+v and %v, want five runs of checkout", b, err)
	}
	if _, err := s.Pin(ctx, began.Add(1), ids[1:]...); err != nil {
		t.Error(err)
	}
	if all := must[[]store.Baseline](t)(s.Baselines(ctx)); len(all) != 1 || !slices.Equal(all[0].Runs, ids[1:]) || !all[0].Pinned.Equal(began.Add(1)) {
		t.Errorf("got baselines %v, want the second in place of the first", all)
	}
	if err := s.Remove(ctx, ids[0], ids[1]); !errors.Is(err, store.ErrBaseline) {
		t.Errorf("got %v, want ErrBaseline", err)
	}
	if row := must[store.Row](t)(s.Row(ctx, ids[0])); row.Baseline {
		t.Error("the first run is in a baseline, want it out of it, and still there")
	}
	if row := must[store.Row](t)(s.Row(ctx, ids[1])); !row.Baseline {
		t.Error("the second run is in no baseline")
	}
	if err := s.Unpin(ctx, "checkout", ""); err != nil {
		t.Error(err)
	}
	if err := s.Unpin(ctx, "checkout", ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v the second time, want ErrNotFound", err)
	}
}

func ruleRemove(t *testing.T, s *store.Store) {
	ctx := context.Background()
	a, b := put(t, s, trial("c1", 1, "a", 1)), put(t, s, trial("c1", 2, "a", 2))
	if err := errors.Join(s.Tag(ctx, a, "x"), s.Name(ctx, a, "n"), s.Note(ctx, a, store.Note{Text: "t"})); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(ctx, a, "0000000000"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if _, err := s.Row(ctx, a); err != nil {
		t.Errorf("got %v, want the run still there", err)
	}
	if err := s.Remove(ctx, a); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"runs", "documents", "findings", "series", "words", "histograms", "logs", "tags", "names", "notes"} {
		column := "run_id"
		if table == "runs" {
			column = "id"
		}
		var n int
		if err := s.Write().QueryRow(`SELECT COUNT(*) FROM `+table+` WHERE `+column+` = $1`, a).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: got %d rows and %v, want none", table, n, err)
		}
	}
	if e := must[*result.Experiment](t)(s.Experiment(ctx, "c1")); len(e.Trials) != 1 || e.Plan == nil {
		t.Errorf("got %+v, want the other trial and the plan", e)
	}
	if err := s.Remove(ctx, b); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Experiment(ctx, "c1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v, want no campaign left", err)
	}
	if put(t, s, trial("c1", 1, "a", 5)) != a {
		t.Error("a trial that was removed cannot be put again under its id")
	}
}

func ruleCampaign(t *testing.T, s *store.Store) {
	ctx := context.Background()
	for _, n := range []int{10, 2, 1} { // in the order of numbers, not of arrival or text
		put(t, s, trial("20260301-a", n, fmt.Sprint(n), float64(n)))
	}
	last := trial("20260301-b", 1, "x", 9)
	last.Trial.Started = began.Add(time.Hour)
	put(t, s, last)
	put(t, s, load(90, 5))
	for word, want := range map[string]string{"20260301-a": "20260301-a", store.Last: "20260301-b", "20260301-b": "20260301-b"} {
		if e := must[*result.Experiment](t)(s.Experiment(ctx, word)); e.ID != want || e.Plan.Name != "scaling" || e.Schema != result.ExperimentSchema {
			t.Errorf("%q: got campaign %+v, want %s", word, e, want)
		}
	}
	e := must[*result.Experiment](t)(s.Experiment(ctx, "20260301-a"))
	if len(e.Trials) != 3 || e.Trials[0].Number != 1 || e.Trials[2].Number != 10 {
		t.Errorf("got %d trials, want 1, 2 and 10", len(e.Trials))
	}
	if _, err := s.Experiment(ctx, "2026"); !errors.Is(err, store.ErrAmbiguous) {
		t.Errorf("got %v, want ErrAmbiguous", err)
	}
	if _, err := s.Experiment(ctx, ""); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	id := must[store.RunID](t)(s.Find(ctx, store.Last))
	if r := must[[]store.RunID](t)(s.Repeats(ctx, id)); !slices.Equal(r, []store.RunID{id}) {
		t.Errorf("got repeats %v of a load on its own, want itself", r)
	}
	var kept keeper
	if err := s.Export(ctx, "20260301-a", &kept); err != nil || len(kept) != 3 || kept[1] != 2 {
		t.Errorf("got %v and %v, want trials 1, 2, 10 handed over", kept, err)
	}
}

// keeper notes which trials it was given.
type keeper []int

func (k *keeper) Put(t result.Trial, logs map[string][]byte) error {
	if len(logs) != 2 {
		return fmt.Errorf("%d logs, want 2", len(logs))
	}
	*k = append(*k, t.Number)
	return nil
}

func ruleMerge(t *testing.T, s *store.Store) {
	ctx := context.Background()
	ids := series(t, s, 1, 1000, 500, 250)
	want := hdr.MustNew(hdr.Config{})
	for _, rate := range []float64{1000, 500, 250} {
		if err := want.Merge(histogram(200, 1e6/rate).Histogram); err != nil {
			t.Fatal(err)
		}
	}
	got := must[*hdr.Histogram](t)(s.Merged(ctx, store.Response, ids...))
	for _, q := range []hdr.Quantile{hdr.P50, hdr.P99, hdr.Percent(100)} {
		if got.Value(q) != want.Value(q) || got.Count() != want.Count() {
			t.Errorf("quantile %d: got %d of %d, want %d of %d", q, got.Value(q), got.Count(), want.Value(q), want.Count())
		}
	}
	if h, err := s.Merged(ctx, store.FirstByte, ids...); h != nil || err != nil {
		t.Errorf("got %v and %v for what was not recorded, want nothing", h, err)
	}
}

func ruleText(t *testing.T, s *store.Store) {
	ctx := context.Background()
	r := load(1, 10)
	nasty := "<script>\x00\xff\u202e'\"; --" + strings.Repeat("é", 3000)
	r.Trial.Variant, r.Trial.Kind, r.Trial.Load.EndedBy, r.Trial.Plan.Name = nasty, "k"+nasty, nasty, nasty
	r.Trial.Validity.Findings[0] = result.Finding{Rule: nasty, ID: nasty, Severity: result.Severity(nasty), Where: nasty, Message: nasty}
	r.Trial.Observed[0].Name, r.Trial.Bottleneck.What = nasty, nasty
	r.Logs = map[string][]byte{nasty: []byte(nasty)}
	id := put(t, s, r)
	got := must[store.Record](t)(s.Get(ctx, id))
	var want result.Trial // JSON has no bytes that are no UTF-8
	if err := json.Unmarshal(asJSON(t, r.Trial), &want); err != nil {
		t.Fatal(err)
	}
	if a, b := asJSON(t, want), asJSON(t, got.Trial); !bytes.Equal(a, b) {
		t.Error("the result did not come back as it went in")
	}
	if l := must[store.List](t)(s.List(ctx, store.Filter{Experiment: nasty, Variant: nasty, Kind: "k" + nasty}, store.Page{})); l.Total != 1 {
		t.Errorf("got %d runs for the same text, want 1", l.Total)
	}
	if h, err := s.History(ctx, store.Question{Experiment: nasty, Variant: nasty, Metric: "rate"}); err != nil || len(h.Points) != 1 {
		t.Errorf("got %d points and %v, want 1", len(h.Points), err)
	}
	for i, at := range []time.Time{{}, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC)} {
		r := load(2, float64(100+i))
		r.Trial.Started = at
		put(t, s, r)
	}
	if l := must[store.List](t)(s.List(ctx, store.Filter{}, store.Page{})); l.Total != 4 {
		t.Errorf("got %d runs, want 4", l.Total)
	}
}

func ruleRefused(t *testing.T, s *store.Store) {
	ctx := context.Background()
	edit := func(change func(*store.Record)) store.Record {
		r := trial("c1", 1, "a", 1)
		change(&r)
		return r
	}
	for name, c := range map[string]struct {
		record store.Record
		want   string
	}{
		"a schema of tomorrow": {edit(func(r *store.Record) { r.Trial.Schema = "prony.result/2" }), `schema "prony.result/2"`},
		"a path":               {edit(func(r *store.Record) { r.Campaign = "../../etc" }), "campaign"},
		"a hidden folder":      {edit(func(r *store.Record) { r.Campaign = ".ssh" }), "campaign"},
		"trial zero":           {edit(func(r *store.Record) { r.Trial.Number = 0 }), "numbers begin with 1"},
		"an id of its own":     {edit(func(r *store.Record) { r.ID = "last" }), "id"},
		"what JSON cannot say": {edit(func(r *store.Record) { r.Trial.Load.Rate = math.NaN() }), "NaN"},
	} {
		if _, err := s.Put(ctx, c.record); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if l := must[store.List](t)(s.List(ctx, store.Filter{}, store.Page{})); l.Total != 0 {
		t.Errorf("got %d runs, want none", l.Total)
	}
}

func ruleHistory(t *testing.T, s *store.Store) {
	ctx := context.Background()
	steady := []float64{1000, 1004, 996, 1002, 998, 1001, 999, 1003}
	ids := series(t, s, 1, steady...)
	must[store.Baseline](t)(s.Pin(ctx, began, ids[:6]...))
	series(t, s, 10, 2000) // one lucky run
	if h := history(t, s, "rate"); len(h.Levels) != 1 || h.Levels[0].Median < 1000 || h.Levels[0].Median > 1002 || h.Suspicion != nil || h.Against.Judgement != store.CannotTell {
		t.Errorf("got levels %+v, suspicion %v, against %+v: a lucky run moved it", h.Levels, h.Suspicion, h.Against)
	}
	series(t, s, 20, steady...)
	if h := history(t, s, "rate"); len(h.Levels) != 1 || h.Against.Judgement != store.NoneShown {
		t.Errorf("got levels %+v, against %+v, want no change", h.Levels, h.Against)
	}
	series(t, s, 30, 900, 902, 898)
	if h := history(t, s, "rate"); len(h.Levels) != 1 || h.Suspicion == nil || h.Suspicion.Runs != 3 || h.Suspicion.Better || h.Suspicion.Needed != 2 {
		t.Errorf("got levels %+v, suspicion %+v, want three runs under suspicion", h.Levels, h.Suspicion)
	}
	slow := series(t, s, 40, 901, 899, 897)
	h := history(t, s, "rate")
	if len(h.Levels) != 2 || h.Levels[1].From != 17 || h.Levels[1].Runs != 6 || h.Levels[1].Better || math.Abs(h.Levels[1].Change+0.1) > 0.01 || h.Levels[1].P > 0.01 {
		t.Errorf("got levels %+v, want a fall of a tenth at the 18th of 23", h.Levels)
	}
	if h.Against.Judgement != store.Worse || math.Abs(h.Against.Change+0.1) > 0.01 || h.Against.Runs != 6 || h.Against.Baseline.Runs != 6 {
		t.Errorf("got %+v, want worse by a tenth", h.Against)
	}
	if last := h.Points[len(h.Points)-1]; last.Run != slow[2] || last.Value != 897 {
		t.Errorf("got last point %+v, want the last run", last)
	}
	if h := history(t, s, "cpu"); len(h.Levels) != 1 || h.Levels[0].Median != 100 || h.Levels[0].Low != 100 {
		t.Errorf("got %+v for the CPU, want 100 all along", h.Levels)
	}
	if _, err := s.History(ctx, store.Question{Experiment: "checkout", Metric: "speed"}); err == nil || !strings.Contains(err.Error(), "allowed: rate, p50") {
		t.Errorf("got %v, want the metrics", err)
	}
	if _, err := s.History(ctx, store.Question{Experiment: "nothing", Metric: "rate"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func ruleComparable(t *testing.T, s *store.Store) {
	ctx := context.Background()
	edit := func(i int, change func(*store.Record)) store.Record {
		r := load(i, 1000)
		change(&r)
		return r
	}
	for _, r := range []store.Record{
		edit(1, func(r *store.Record) { r.Trial.Plan.Load.Connections = 512 }),
		edit(2, func(r *store.Record) { r.Trial.Environment.CPUModel = "another" }),
		edit(3, func(r *store.Record) { r.Trial.Version = "0.9" }),
		edit(4, func(r *store.Record) { r.Trial.Validity.Verdict = result.Invalid }),
		edit(5, func(r *store.Record) { r.Trial.Error = "no" }),
		edit(6, func(r *store.Record) { r.Trial.Validity.Verdict = result.Suspect }), // in, as it can be used
		edit(7, func(r *store.Record) {
			r.Trial.Plan.Seed, r.Trial.Plan.Load.Seed, r.Trial.Plan.Expect = 99, 98, []plan.Expectation{{}}
		}),
		edit(8, func(r *store.Record) { r.Trial.Services = nil }),
	} {
		put(t, s, r)
	}
	want := map[string]int{"other work": 1, "other machine or version": 2, "invalid": 1, "no result": 1}
	if h := history(t, s, "rate"); len(h.Points) != 3 || fmt.Sprint(h.LeftOut) != fmt.Sprint(want) {
		t.Errorf("got %d points, left out %v, want 3 and %v", len(h.Points), h.LeftOut, want)
	}
	want["not measured"] = 1
	if h := history(t, s, "cpu"); len(h.Points) != 2 || fmt.Sprint(h.LeftOut) != fmt.Sprint(want) {
		t.Errorf("got %d points, left out %v, want 2 and %v", len(h.Points), h.LeftOut, want)
	}
	all := must[store.History](t)(s.History(ctx, store.Question{Experiment: "checkout", Metric: "rate", Any: true}))
	if len(all.Points) != 6 {
		t.Errorf("got %d points of any kind, want 6", len(all.Points))
	}
}

func ruleCancelled(t *testing.T, s *store.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Put(ctx, load(1, 1)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want it cancelled", err)
	}
	put(t, s, load(1, 1)) // the one writer is free
	if l := must[store.List](t)(s.List(context.Background(), store.Filter{}, store.Page{})); l.Total != 1 {
		t.Errorf("got %d runs, want 1", l.Total)
	}
}

func ruleParallel(t *testing.T, s *store.Store) {
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range 10 {
				id, err := s.Put(context.Background(), trial("same", i+1, "a", 100)) // four times each
				if err == nil {
					err = s.Tag(context.Background(), id, fmt.Sprint("w", w))
				}
				if err == nil {
					_, err = s.Get(context.Background(), id)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	l := must[store.List](t)(s.List(context.Background(), store.Filter{Tag: "w3"}, store.Page{}))
	if l.Total != 10 || len(l.Rows[9].Tags) != 4 {
		t.Errorf("got %d runs, want 10 with four tags each", l.Total)
	}
}

func ruleSubjects(t *testing.T, s *store.Store) {
	ctx := context.Background()
	put(t, s, trial("c1", 1, "a", 1))
	put(t, s, trial("c1", 2, "b", 1))
	put(t, s, load(9, 1))
	want := []store.Subject{{Experiment: "checkout", Runs: 1}, {Experiment: "scaling", Variant: "b", Runs: 1}, {Experiment: "scaling", Variant: "a", Runs: 1}}
	if got := must[[]store.Subject](t)(s.Subjects(ctx, "")); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := must[[]store.Subject](t)(s.Subjects(ctx, "scaling")); !slices.Equal(got, want[1:]) {
		t.Errorf("got %v, want %v", got, want[1:])
	}
}
