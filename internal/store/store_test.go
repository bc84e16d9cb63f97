package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"prony/internal/hdr"
	"prony/internal/plan"
	"prony/internal/result"
	"prony/internal/store"
)

// began is when the first run of a test started.
var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// histogram has n values around a number of microseconds.
func histogram(n int, us float64) result.Histogram {
	h := hdr.MustNew(hdr.Config{})
	for i := range n {
		h.Record(int64(us*1000) + int64(i)*997)
	}
	return result.Histogram{Histogram: h}
}

// run is a result with something in every corner.
func run(i int, rate float64) result.Run {
	offered, counted := rate*1.01, int64(990)
	response := histogram(200, 1e6/rate)
	return result.Run{
		Schema: result.Schema, Kind: "load", Version: "1.2.3", Command: []string{"prony", "load", "http://127.0.0.1:8080/"},
		Started: began.Add(time.Duration(i) * time.Minute),
		Validity: result.Validity{Verdict: result.Valid, NotRun: []string{"X1"}, Findings: []result.Finding{
			{Rule: "generator-cpu", ID: "G1", Severity: result.Info, Message: "used 40 % of a core", Evidence: map[string]float64{"busy": 0.4}},
			{Rule: "loopback", ID: "Q1", Severity: result.Note, Where: "host", Message: "over loopback", Confidence: result.Definite}}},
		Bottleneck: &result.Bottleneck{What: "target-cpu", Where: "app[0]", Message: "full"},
		Load: result.Load{Model: "open", Protocol: "http/1.1", Engine: "epoll", EndedBy: "duration", DurationUS: 1e6, Rate: rate, OfferedRate: &offered,
			Connections: result.Connections{Asked: 8, Opened: 8, ConnectTime: histogram(8, 50)},
			Requests:    result.Requests{Asked: 1000, Started: 1000, Completed: 998, Failed: 2}, Failures: map[string]int64{"reset": 2},
			Statuses: map[string]int64{"200": 998}, Samples: []result.Sample{{Status: 200, Head: "HTTP/1.1 200 OK"}},
			Latency:   result.Latency{Response: response, Service: histogram(200, 1e6/rate), Lag: histogram(200, 3), Failed: histogram(2, 9)},
			Intervals: []result.Interval{{LengthUS: 1e6, Started: 1000, Completed: 998, Response: result.Pack(response.Histogram)}}},
		Generator: result.Generator{CPUUSPerRequest: 12.5, CPUs: 2, Unknown: []string{"ports"}},
		Services:  []result.Service{{Name: "app", CPUUSPerRequest: 80, MaxRSSBytes: 1 << 20, Requests: &counted}, {Name: "app", Instance: 1, CPUUSPerRequest: 20, MaxRSSBytes: 1 << 20}},
		Observed: []result.Observed{
			{Kind: result.OfHost, AtUS: []float64{1e6}, LengthUS: []float64{1e6}, Series: map[result.Metric]result.Values{result.HostBusy: {0.123456}}},
			{Kind: result.OfService, Name: "app", Service: "app", Instance: 1, AtUS: []float64{1e6, 2e6}, LengthUS: []float64{1e6, 1e6},
				Series: map[result.Metric]result.Values{result.CPUCores: {0.5, math.NaN()}}, Unknown: map[string]string{"heap": "no JVM"}}},
		Environment: result.Environment{OS: "linux", Kernel: "6.1", CPUModel: "a model", CPUs: 2, Memory: 8 << 30, Hostname: fmt.Sprint("h", i)},
		Hosts:       map[string]result.Environment{"other": {OS: "linux"}},
		Plan:        &plan.Plan{Name: "checkout", Seed: uint64(i), Load: plan.Load{Connections: 8, Seed: uint64(i), Requests: []plan.Request{{Method: "GET", URL: "http://127.0.0.1:8080/"}}}},
	}
}

// load is a run on its own.
func load(i int, rate float64) store.Record {
	return store.Record{Trial: result.Trial{Run: run(i, rate)}}
}

// trial is a run of a campaign.
func trial(campaign string, number int, variant string, rate float64) store.Record {
	return store.Record{Campaign: campaign, Plan: &plan.Experiment{Name: "scaling", Question: "does it?"},
		Trial: result.Trial{Number: number, Block: number, Variant: variant, Values: map[string]string{"instances": variant}, Run: run(number, rate)},
		Logs:  map[string][]byte{"app[0]": []byte("listening\n"), "app[1]": {0xff, 0}}}
}

func open(t testing.TB, address string) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), address, store.Config{})
	if err != nil {
		t.Fatalf("open %s: %v", address, err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func put(t testing.TB, s *store.Store, r store.Record) store.RunID {
	t.Helper()
	id, err := s.Put(context.Background(), r)
	if err != nil {
		t.Fatalf("put: %v", err)
	}
	return id
}

// must takes a value that comes without an error.
func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func asJSON(t testing.TB, v any) []byte {
	t.Helper()
	return must[[]byte](t)(json.Marshal(v))
}

// backends are the databases that the suite runs on.
func backends() map[string]func(testing.TB) string {
	return map[string]func(testing.TB) string{
		"sqlite":   func(t testing.TB) string { return filepath.Join(t.TempDir(), "store.db") },
		"postgres": postgresURL,
	}
}

// onBoth runs a test on both databases.
func onBoth(t *testing.T, test func(t *testing.T, address string)) {
	for name, address := range backends() {
		t.Run(name, func(t *testing.T) { test(t, address(t)) })
	}
}

// TestConformance is what a database must do to be one of ours.
func TestConformance(t *testing.T) {
	rules := map[string]func(*testing.T, *store.Store){
		"a run comes back as it went in":               ruleWhole,
		"a run is kept once":                           ruleOnce,
		"a result never gives way":                     ruleNoOverwrite,
		"words find runs":                              ruleFind,
		"a list has filters":                           ruleFilters,
		"pages join without gaps":                      rulePages,
		"tags, names and notes":                        ruleMarks,
		"a baseline is several comparable runs":        ruleBaseline,
		"a run goes with all its parts":                ruleRemove,
		"a campaign is put together":                   ruleCampaign,
		"distributions merge":                          ruleMerge,
		"text of every kind is taken":                  ruleText,
		"what cannot be kept is refused":               ruleRefused,
		"a history moves when enough runs say so":      ruleHistory,
		"only comparable runs are in a history":        ruleComparable,
		"a cancelled write leaves nothing":             ruleCancelled,
		"many at once in one process":                  ruleParallel,
		"subjects are what histories can be asked for": ruleSubjects,
	}
	onBoth(t, func(t *testing.T, address string) {
		for name, rule := range rules {
			t.Run(name, func(t *testing.T) {
				s := open(t, address)
				t.Cleanup(func() { empty(t, address) })
				rule(t, s)
				if err := s.Check(context.Background()); err != nil {
					t.Errorf("the store is not whole afterwards: %v", err)
				}
			})
		}
	})
}

// empty takes all runs out, so that rules may share a database.
func empty(t testing.TB, address string) {
	t.Helper()
	s := open(t, address)
	ctx := context.Background()
	for _, b := range must[[]store.Baseline](t)(s.Baselines(ctx)) {
		if err := s.Unpin(ctx, b.Experiment, b.Variant); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range must[store.List](t)(s.List(ctx, store.Filter{}, store.Page{Limit: 1000})).Rows {
		if err := s.Remove(ctx, r.ID); err != nil {
			t.Fatal(err)
		}
	}
}

func ruleWhole(t *testing.T, s *store.Store) {
	ctx := context.Background()
	for name, r := range map[string]store.Record{
		"a trial": trial("c1", 1, "2", 1000), "a load": load(2, 500), "next to nothing": {Trial: result.Trial{Run: result.Run{Schema: result.Schema}}},
		"a trial without a result": {Campaign: "c2", Trial: result.Trial{Number: 7, Error: "did not start"}},
	} {
		id := put(t, s, r)
		got := must[store.Record](t)(s.Get(ctx, id))
		// As bytes: what renders from one renders from the other.
		if a, b := asJSON(t, r.Trial), asJSON(t, got.Trial); !bytes.Equal(a, b) {
			t.Errorf("%s: got %s, want %s", name, b, a)
		}
		if got.Campaign != r.Campaign || !bytes.Equal(asJSON(t, got.Plan), asJSON(t, r.Plan)) || !bytes.Equal(asJSON(t, got.Logs), asJSON(t, r.Logs)) {
			t.Errorf("%s: got campaign %q, plan %v, logs %q", name, got.Campaign, got.Plan, got.Logs)
		}
	}
	row := must[store.Row](t)(s.Row(ctx, must[store.RunID](t)(s.Find(ctx, store.Last))))
	if row.Rate != 500 || *row.OfferedRate != 505 || *row.CPUPerRequest != 100 || *row.GeneratorCPU != 12.5 || *row.Errors != 0.002 || *row.P50 < 2000 || *row.P99 < *row.P50 ||
		row.Connections != 8 || row.Verdict != result.Valid || row.Bottleneck != "target-cpu" || !row.Started.Equal(began.Add(2*time.Minute)) {
		t.Errorf("got headline %+v, want the figures of the run", row)
	}
	if row.Reason != "" {
		t.Errorf("got reason %q of a valid run", row.Reason)
	}
	doubted := load(3, 400)
	doubted.Trial.Validity = result.Validity{Verdict: result.Invalid, Findings: []result.Finding{{Rule: "a", Severity: result.Note, Message: "small"},
		{Rule: "b", Severity: result.SuspectLevel, Message: "odd"}, {Rule: "c", Severity: result.InvalidLevel, Message: "full"}}}
	if got := must[store.Row](t)(s.Row(ctx, put(t, s, doubted))).Reason; got != "full" {
		t.Errorf("got reason %q, want the gravest", got)
	}
	got := must[[]result.Observed](t)(s.Series(ctx, row.ID, result.OfService))
	if len(got) != 1 || got[0].Name != "app" || !math.IsNaN(got[0].Series[result.CPUCores][1]) {
		t.Errorf("got series %+v, want those of the service", got)
	}
	if _, err := s.Get(ctx, "0000000000"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v for a run that is not there, want ErrNotFound", err)
	}
}

func ruleOnce(t *testing.T, s *store.Store) {
	ctx := context.Background()
	first := put(t, s, trial("c1", 1, "a", 1000))
	if got := put(t, s, trial("c1", 1, "a", 1000)); got != first {
		t.Errorf("got id %s the second time, want %s", got, first)
	}
	// A copy that has been through JSON, and lost its campaign.
	var again result.Trial
	if err := json.Unmarshal(asJSON(t, trial("c1", 1, "a", 1000).Trial), &again); err != nil {
		t.Fatal(err)
	}
	if got := put(t, s, store.Record{Trial: again}); got != first {
		t.Errorf("got id %s for a copy, want %s", got, first)
	}
	if l := must[store.List](t)(s.List(ctx, store.Filter{}, store.Page{})); l.Total != 1 {
		t.Errorf("got %d runs, want 1", l.Total)
	}
}

func ruleNoOverwrite(t *testing.T, s *store.Store) {
	ctx := context.Background()
	broken := trial("c1", 1, "a", 1)
	broken.Trial.Error = "app did not start"
	id := put(t, s, broken)
	if err := s.Tag(ctx, id, "kept"); err != nil {
		t.Fatal(err)
	}
	if got := put(t, s, trial("c1", 1, "a", 1000)); got != id {
		t.Errorf("got id %s, want %s: a trial without a result gives way", got, id)
	}
	if row := must[store.Row](t)(s.Row(ctx, id)); row.Rate != 1000 || row.Error != "" || !slices.Equal(row.Tags, []string{"kept"}) {
		t.Errorf("got %+v, want the result, with its tag", row)
	}
	if _, err := s.Put(ctx, trial("c1", 1, "a", 1001)); !errors.Is(err, store.ErrDiffers) {
		t.Errorf("got %v for another result, want ErrDiffers", err)
	}
	if row := must[store.Row](t)(s.Row(ctx, id)); row.Rate != 1000 {
		t.Errorf("got rate %v, want 1000 as before", row.Rate)
	}
}

func ruleFind(t *testing.T, s *store.Store) {
	ctx := context.Background()
	if _, err := s.Find(ctx, store.Last); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("got %v for the last of none, want ErrNotFound", err)
	}
	var ids []store.RunID
	for i := range 40 { // more than there are letters, so that two begin alike
		ids = append(ids, put(t, s, load(i, 100)))
	}
	if err := s.Name(ctx, ids[3], "v1.0"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		word string
		want store.RunID
	}{{store.Last, ids[39]}, {"v1.0", ids[3]}, {string(ids[5]), ids[5]}, {string(ids[6][:9]), ids[6]}, {strings.ToUpper(string(ids[7][:9])), ids[7]}, {" " + string(ids[8]), ids[8]}} {
		if got, err := s.Find(ctx, c.word); got != c.want || err != nil {
			t.Errorf("%q: got %s and %v, want %s", c.word, got, err, c.want)
		}
	}
	slices.Sort(ids)
	twice := ""
	for i := range ids[1:] {
		if ids[i][0] == ids[i+1][0] {
			twice = string(ids[i][:1])
		}
	}
	if _, err := s.Find(ctx, twice); !errors.Is(err, store.ErrAmbiguous) {
		t.Errorf("%q: got %v, want ErrAmbiguous", twice, err)
	}
	for _, word := range []string{"", "~", "l", "%", "v1", "\x00", "'; DROP TABLE runs; --"} {
		if got, err := s.Find(ctx, word); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%q: got %s and %v, want ErrNotFound", word, got, err)
		}
	}
}

func ruleFilters(t *testing.T, s *store.Store) {
	ctx := context.Background()
	a, b, c := put(t, s, trial("c1", 1, "1", 100)), put(t, s, trial("c1", 2, "2", 200)), put(t, s, trial("c2", 3, "2", 300))
	bad := load(4, 400)
	plain := load(-1, 50)
	plain.Trial.Plan.Name, plain.Trial.Kind = "ab", "ab"
	e := put(t, s, plain)
	bad.Trial.Kind, bad.Trial.Validity.Verdict = "wrk", result.Invalid
	bad.Trial.Validity.Findings[0].Message = "100%_Full\\stop"
	d := put(t, s, bad)
	if err := errors.Join(s.Tag(ctx, b, "nightly"), s.Name(ctx, c, "best"), s.Note(ctx, a, store.Note{Written: began, Text: "The FIRST one"})); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		filter store.Filter
		want   []store.RunID
	}{
		"all": {store.Filter{}, []store.RunID{d, c, b, a, e}}, "experiment": {store.Filter{Experiment: "scaling"}, []store.RunID{c, b, a}},
		"plan's name": {store.Filter{Experiment: "checkout"}, []store.RunID{d}}, "variant": {store.Filter{Variant: "2"}, []store.RunID{c, b}},
		"campaign": {store.Filter{Campaign: "c1"}, []store.RunID{b, a}}, "kind": {store.Filter{Kind: "wrk"}, []store.RunID{d}},
		"verdict": {store.Filter{Verdict: result.Invalid}, []store.RunID{d}}, "tag": {store.Filter{Tag: "nightly"}, []store.RunID{b}},
		"name": {store.Filter{Name: "best"}, []store.RunID{c}}, "since": {store.Filter{Since: began.Add(3 * time.Minute)}, []store.RunID{d, c}},
		"until": {store.Filter{Until: began.Add(3 * time.Minute)}, []store.RunID{b, a, e}}, "URL in place of a name": {store.Filter{Experiment: "http://127.0.0.1:8080/"}, []store.RunID{e}}, "text of a note": {store.Filter{Text: "first"}, []store.RunID{a}},
		"text of a name": {store.Filter{Text: "BES"}, []store.RunID{c}}, "text of a finding": {store.Filter{Text: "100%_full\\"}, []store.RunID{d}},
		"a pattern is text": {store.Filter{Text: "10%f"}, nil}, "two at once": {store.Filter{Variant: "2", Campaign: "c2"}, []store.RunID{c}},
		"quotes": {store.Filter{Variant: "' OR 1=1 --"}, nil}, "a zero": {store.Filter{Text: "a\x00b", Tag: "\xff"}, nil},
	} {
		l := must[store.List](t)(s.List(ctx, c.filter, store.Page{}))
		var got []store.RunID
		for _, r := range l.Rows {
			got = append(got, r.ID)
		}
		if !slices.Equal(got, c.want) || l.Total != int64(len(c.want)) || l.Next != "" {
			t.Errorf("%s: got %v of %d, want %v", name, got, l.Total, c.want)
		}
	}
}

func rulePages(t *testing.T, s *store.Store) {
	ctx := context.Background()
	var want []store.RunID
	for i := range 7 {
		r := load(i/3, float64(100+i)) // three start at the same moment
		want = append(want, put(t, s, r))
	}
	var got []store.RunID
	at := store.Page{Limit: 2}
	for {
		l := must[store.List](t)(s.List(ctx, store.Filter{Kind: "load"}, at))
		for _, r := range l.Rows {
			got = append(got, r.ID)
		}
		if l.Total < 7 {
			t.Errorf("got total %d, want all", l.Total)
		}
		if at.After = l.Next; l.Next == "" {
			break
		}
		put(t, s, load(100+len(got), 1)) // what comes in between moves nothing
	}
	slices.Sort(want)
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, after := range []string{"x", "-", "1", "x-y", "9999999999999999999999-a"} {
		if _, err := s.List(ctx, store.Filter{}, store.Page{After: after}); err == nil {
			t.Errorf("page %q: got no error, want one", after)
		}
	}
}

func ruleMarks(t *testing.T, s *store.Store) {
	ctx := context.Background()
	a, b := put(t, s, load(1, 1)), put(t, s, load(2, 2))
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	check(s.Tag(ctx, a, "x", "ünï", "x"))
	check(s.Untag(ctx, a, "x", "never"))
	check(s.Name(ctx, a, "one"))
	check(s.Name(ctx, a, "uno"))
	check(s.Name(ctx, b, "one"))
	check(s.Name(ctx, b, "one"))
	if err := s.Name(ctx, b, "uno"); !errors.Is(err, store.ErrTaken) || !strings.Contains(err.Error(), string(a)) {
		t.Errorf("got %v, want ErrTaken and the owner", err)
	}
	check(s.Name(ctx, b, ""))
	check(s.Note(ctx, a, store.Note{Written: began, Text: "first\nline"}))
	check(s.Note(ctx, a, store.Note{Written: began.Add(1), Text: "second"}))
	if row := must[store.Row](t)(s.Row(ctx, a)); row.Name != "uno" || !slices.Equal(row.Tags, []string{"ünï"}) || row.Notes != 2 {
		t.Errorf("got %+v, want uno, ünï and two notes", row)
	}
	if row := must[store.Row](t)(s.Row(ctx, b)); row.Name != "" {
		t.Errorf("got name %q, want none", row.Name)
	}
	if n := must[[]store.Note](t)(s.Notes(ctx, a)); len(n) != 2 || n[0].Text != "first\nline" || !n[1].Written.Equal(began.Add(1)) {
		t.Errorf("got notes %+v", n)
	}
	for name, err := range map[string]error{"last": s.Name(ctx, a, "LAST"), "empty tag": s.Tag(ctx, a, ""), "spaces": s.Tag(ctx, a, "a b"), "a flag": s.Name(ctx, a, "-x"),
		"control": s.Tag(ctx, a, "a\x1b[31m"), "long": s.Tag(ctx, a, strings.Repeat("a", 65)), "empty note": s.Note(ctx, a, store.Note{Text: " \n"})} {
		if err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
	for name, err := range map[string]error{"tag": s.Tag(ctx, "0000000000", "x"), "name": s.Name(ctx, "0000000000", "x"), "note": s.Note(ctx, "0000000000", store.Note{Text: "x"})} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s of no run: got %v, want ErrNotFound", name, err)
		}
	}
}
