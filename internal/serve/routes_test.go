package serve_test

import (
	"archive/zip"
	"net/url"
	"strings"
	"testing"

	"prony/internal/audit"
	"prony/internal/compare"
	"prony/internal/result"
	"prony/internal/serve"
	"prony/internal/store"
)

func TestVersion(t *testing.T) {
	f := start(t, config())
	var got struct {
		Version  string
		API      int
		AllowRun bool `json:"allow_run"`
	}
	f.call(t, "GET", "/api/version", "", 200, &got)
	if got.Version != "1.0.0" || got.API != 1 || got.AllowRun {
		t.Errorf("got %+v", got)
	}
}

func TestSchema(t *testing.T) {
	f := start(t, config())
	if got := f.call(t, "GET", "/api/schema", "", 200, nil).body; got != `{"type":"object"}`+"\n" {
		t.Errorf("got %s", got)
	}
	f = start(t, serve.Config{})
	f.refused(t, "GET", "/api/schema", "", 404, "no schema")
	f.refused(t, "POST", "/api/plan", `{"experiment": ""}`, 404, "no experiments are planned")
}

func TestList(t *testing.T) {
	f := filled(t, config())
	for name, c := range map[string]struct {
		query string
		runs  int
		total int64
	}{
		"all":        {"", 13, 13},
		"a page":     {"?limit=5", 5, 13},
		"variant":    {"?experiment=scaling&variant=instances%3D2", 6, 6},
		"campaign":   {"?campaign=" + campaignID, 12, 12},
		"since":      {"?since=2026-03-01T12:10:00Z", 3, 3},
		"until":      {"?until=2026-03-01", 0, 0},
		"text":       {"?text=CHECKOUT", 1, 1},
		"verdict":    {"?verdict=invalid", 0, 0},
		"no wonders": {"?text=%27%3B+drop+table+runs", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var l store.List
			f.call(t, "GET", "/api/runs"+c.query, "", 200, &l)
			if len(l.Rows) != c.runs || l.Total != c.total {
				t.Errorf("got %d of %d runs, want %d of %d", len(l.Rows), l.Total, c.runs, c.total)
			}
		})
	}
	var first, second store.List
	f.call(t, "GET", "/api/runs?limit=10", "", 200, &first)
	f.call(t, "GET", "/api/runs?limit=10&after="+url.QueryEscape(first.Next), "", 200, &second)
	if len(second.Rows) != 3 || second.Next != "" || second.Rows[2].ID != f.load {
		t.Errorf("got %d runs on the second page, next %q", len(second.Rows), second.Next)
	}
	for query, text := range map[string]string{"limit=0": "limit", "limit=1001": "from 1 to 1000", "limit=x": "limit", "since=yesterday": "since",
		"until=x": "until", "verdict=good": "valid, suspect or invalid", "verdikt=valid": `"verdikt"`, "after=zzz": "page"} {
		f.refused(t, "GET", "/api/runs?"+query, "", 422, text)
	}
}

func TestGet(t *testing.T) {
	f := filled(t, config())
	for _, word := range []string{string(f.trial[2]), string(f.trial[2])[:8]} {
		var got struct {
			Run    store.Row
			Logs   []string
			Result result.Trial
		}
		f.call(t, "GET", "/api/runs/"+word, "", 200, &got)
		if got.Run.ID != f.trial[2] || got.Result.Number != 3 || got.Result.Load.Rate != 1003 || len(got.Logs) != 1 || got.Logs[0] != "app[0]" {
			t.Errorf("got %+v", got)
		}
	}
	var last struct{ Run store.Row }
	f.call(t, "GET", "/api/runs/last", "", 200, &last)
	if last.Run.ID != f.trial[11] {
		t.Errorf("got %s, want the newest", last.Run.ID)
	}
	f.refused(t, "GET", "/api/runs/zzzzzzzzzz", "", 404, "not in the store")
	a := f.call(t, "GET", "/api/runs/"+string(f.load)+"/bundle", "", 200, nil)
	z, err := zip.NewReader(strings.NewReader(a.body), int64(len(a.body)))
	if err != nil || len(z.File) == 0 || a.Header.Get("Content-Disposition") != `attachment; filename="`+string(f.load)+`.prony"` {
		t.Errorf("got %v, %v, %q", z, err, a.Header)
	}
	f.refused(t, "GET", "/api/runs/zzzzzzzzzz/bundle", "", 404, "not in the store")
}

func TestRemove(t *testing.T) {
	f := filled(t, config())
	f.refused(t, "DELETE", "/api/runs/last", "", 409, "its whole id")
	f.refused(t, "DELETE", "/api/runs/"+string(f.load)[:9], "", 409, "its whole id")
	f.call(t, "DELETE", "/api/runs/"+string(f.load), "", 204, nil)
	f.refused(t, "DELETE", "/api/runs/"+string(f.load), "", 404, "not in the store")
}

func TestMarks(t *testing.T) {
	f := filled(t, config())
	run, row := "/api/runs/"+string(f.load), store.Row{}
	f.call(t, "POST", run+"/tags", `{"tags": ["nightly", "a/b:c"]}`, 200, &row)
	if len(row.Tags) != 2 {
		t.Errorf("got %q", row.Tags)
	}
	row = store.Row{}
	f.call(t, "DELETE", run+"/tags/a%2Fb:c", "", 200, &row)
	if len(row.Tags) != 1 || row.Tags[0] != "nightly" {
		t.Errorf("got %q", row.Tags)
	}
	f.call(t, "PUT", run+"/name", `{"name": "v1.4"}`, 200, &row)
	if row.Name != "v1.4" {
		t.Errorf("got %q", row.Name)
	}
	f.refused(t, "PUT", "/api/runs/"+string(f.trial[0])+"/name", `{"name": "v1.4"}`, 409, "taken")
	f.call(t, "POST", run+"/notes", `{"text": "with the new kernel"}`, 200, &row)
	var got struct{ Notes []store.Note }
	f.call(t, "GET", "/api/runs/v1.4", "", 200, &got)
	if len(got.Notes) != 1 || got.Notes[0].Text != "with the new kernel" || !got.Notes[0].Written.Equal(now) {
		t.Errorf("got %+v", got.Notes)
	}
	f.refused(t, "POST", "/api/runs/v1.4/tags", `{"tags": ["x"]}`, 409, "its whole id")
	row = store.Row{}
	f.call(t, "PUT", run+"/name", `{"name": ""}`, 200, &row)
	if row.Name != "" {
		t.Errorf("got %q, want no name", row.Name)
	}
	f.refused(t, "PUT", run+"/name", `{}`, 422, "want a name")
	f.refused(t, "POST", run+"/tags", `{"tags": []}`, 422, "want tags")
	f.refused(t, "POST", run+"/notes", `{"text": ""}`, 422, "")
	f.refused(t, "POST", run+"/notes", `{"txet": ""}`, 400, "unknown field")
	f.refused(t, "POST", run+"/notes", `{"text": "a"} {}`, 400, "one JSON value")
	f.refused(t, "POST", run+"/notes", `{`, 400, "read the body")
}

func TestBaselines(t *testing.T) {
	f := filled(t, config())
	var b store.Baseline
	f.refused(t, "POST", "/api/baselines", asJSON(t, map[string]any{"runs": []string{string(f.trial[0])}}), 422, "too few")
	f.call(t, "POST", "/api/baselines", asJSON(t, map[string]any{"runs": []string{string(f.trial[0])}, "repeats": true}), 200, &b)
	if len(b.Runs) != 6 || b.Experiment != "scaling" || b.Variant != "instances=1" || !b.Pinned.Equal(now) {
		t.Errorf("got %+v", b)
	}
	f.refused(t, "DELETE", "/api/runs/"+string(f.trial[0]), "", 409, "baseline")
	var all struct{ Baselines []store.Baseline }
	f.call(t, "GET", "/api/baselines", "", 200, &all)
	if len(all.Baselines) != 1 {
		t.Errorf("got %+v", all)
	}
	f.call(t, "DELETE", "/api/baselines?experiment=scaling&variant=instances%3D1", "", 204, nil)
	f.refused(t, "DELETE", "/api/baselines?experiment=scaling&variant=instances%3D1", "", 404, "not in the store")
	f.refused(t, "DELETE", "/api/baselines?experimnt=scaling", "", 422, "no parameter")
}

func TestExperiments(t *testing.T) {
	f := filled(t, config())
	var all struct{ Experiments []store.Subject }
	f.call(t, "GET", "/api/experiments", "", 200, &all)
	if len(all.Experiments) != 3 {
		t.Errorf("got %+v, want two variants and a load", all)
	}
	var e result.Experiment
	f.call(t, "GET", "/api/campaigns/last", "", 200, &e)
	if e.ID != campaignID || len(e.Trials) != 12 {
		t.Errorf("got %s with %d trials", e.ID, len(e.Trials))
	}
	f.refused(t, "GET", "/api/campaigns/nothing", "", 404, "not in the store")
}

func TestCompare(t *testing.T) {
	f := filled(t, config())
	one, two := string(f.trial[0]), string(f.trial[1])
	var r compare.Result
	f.call(t, "GET", "/api/compare?campaign=last", "", 200, &r)
	if len(r.Comparisons) != 1 || r.Comparisons[0].RunsA != 6 || r.Verdict != compare.Better {
		t.Errorf("got %+v, want the second variant better", r)
	}
	r = compare.Result{}
	f.call(t, "GET", "/api/compare?repeats=true&side="+one+"&side="+two, "", 200, &r)
	if len(r.Comparisons) != 1 || r.Comparisons[0].RunsB != 6 || r.Verdict != compare.Better {
		t.Errorf("got %+v, want the second side better", r)
	}
	// Three sides share the alpha of one pair.
	r = compare.Result{}
	f.call(t, "GET", "/api/compare?repeats=true&gate=rate&side="+one+"&side="+two+"&side="+two, "", 200, &r)
	if len(r.Comparisons) != 2 || r.Family != 2 || r.Alpha != 0.05 {
		t.Fatalf("got %+v, want two comparisons in one family", r)
	}
	if m := r.Comparisons[0].Metrics[0]; !m.Gate || m.Adjusted < 2*m.P || m.Coverage < 0.975 {
		t.Errorf("got %+v, want p doubled and an interval of 97.5 %%", m)
	}
	r = compare.Result{}
	f.call(t, "GET", "/api/compare?side="+one+"&side="+two+","+string(f.trial[3]), "", 200, &r)
	if r.Verdict != compare.CannotTell {
		t.Errorf("got %q of one run against two, want cannot tell", r.Verdict)
	}
	for query, text := range map[string]string{"": "either a campaign or", "side=" + one: "2 to 10 sides", "campaign=last&side=a&side=b": "either",
		"side=a&side=b&alpha=2": "alpha", "side=a&side=b&gate=sorrow": "gate", "sides=a": "no parameter"} {
		f.refused(t, "GET", "/api/compare?"+query, "", 422, text)
	}
	f.refused(t, "GET", "/api/compare?side=zz&side=zz", "", 404, "not in the store")
}

func TestHistory(t *testing.T) {
	f := filled(t, config())
	var all struct{ Metrics []store.Metric }
	f.call(t, "GET", "/api/metrics", "", 200, &all)
	if len(all.Metrics) == 0 {
		t.Error("got no metrics")
	}
	for _, m := range all.Metrics {
		f.call(t, "GET", "/api/history?experiment=scaling&variant=instances%3D1&metric="+m.Name, "", 200, nil)
	}
	var h store.History
	f.call(t, "GET", "/api/history?experiment=scaling&variant=instances%3D2", "", 200, &h)
	if len(h.Points) != 6 || h.Metric.Name != "rate" || len(h.Levels) != 1 || h.Points[5].Value != 2012 {
		t.Errorf("got %+v", h)
	}
	f.refused(t, "GET", "/api/history?experiment=nothing", "", 404, "not in the store")
	f.refused(t, "GET", "/api/history?experiment=scaling&metric=joy", "", 422, "joy")
	f.refused(t, "GET", "/api/history?experiment=scaling&limit=501", "", 422, "from 1 to 500")
}

const wrkOutput = `$ wrk -t2 -c10 -d10s http://127.0.0.1:8080/
Running 10s test @ http://127.0.0.1:8080/
  2 threads and 10 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   900.00ms    1.00ms 950.00ms   70.00%
    Req/Sec     5.00k   100.00     5.50k    70.00%
  100000 requests in 10.00s, 12.00MB read
Requests/sec:  10000.00
Transfer/sec:      1.20MB
`

func TestAudit(t *testing.T) {
	f := start(t, config())
	var r audit.Report
	f.call(t, "POST", "/api/audit", asJSON(t, map[string]any{"text": wrkOutput, "facts": "audit: 1\nall:\n  cores: 2\n"}), 200, &r)
	if len(r.Results) != 1 || r.Results[0].Tool != "wrk" || r.Verdict != result.Suspect {
		t.Errorf("got %s of %d results, want one that is suspect: 10 connections cannot have 10,000/s at 900 ms", r.Verdict, len(r.Results))
	}
	f.refused(t, "POST", "/api/audit", asJSON(t, map[string]any{"text": "nothing of the kind"}), 422, "no result was recognised")
	f.refused(t, "POST", "/api/audit", asJSON(t, map[string]any{"text": wrkOutput, "facts": "korez: 2\n"}), 422, "korez")
	f.refused(t, "POST", "/api/audit", asJSON(t, map[string]any{"text": wrkOutput, "claims": []string{"all is well"}}), 422, "all is well")
	f.refused(t, "POST", "/api/audit", asJSON(t, map[string]any{"text": wrkOutput, "claims": make([]string, 101)}), 422, "at most 100")
}

func TestPlan(t *testing.T) {
	f := start(t, config())
	var d serve.Draft
	f.call(t, "POST", "/api/plan", `{"experiment": "prony: 1\nname: scaling\n"}`, 200, &d)
	if d.Trials != 1 || d.Plan == "" || len(d.Mistakes) != 0 {
		t.Errorf("got %+v", d)
	}
	d = serve.Draft{}
	f.call(t, "POST", "/api/plan", `{"experiment": "lod: 1\n"}`, 200, &d)
	if len(d.Mistakes) != 1 || d.Mistakes[0].Line != 1 {
		t.Errorf("got %+v", d)
	}
	f.refused(t, "POST", "/api/runs", `{"experiment": "prony: 1\n"}`, 403, "--allow-run")
}
