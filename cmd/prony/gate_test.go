package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"prony/internal/compare"
	"prony/internal/report"
	"prony/internal/result"
)

func TestGateFile(t *testing.T) {
	g, err := parseGates("g.yaml", []byte("gates: 1\nbaseline: main.json\nalpha: 1%\ncannot-tell: fail\naccept-differences: true\nmetrics:\n"+
		"  - {metric: rate, margin: 5%}\n  - metric: p99\n    direction: either\n  - {metric: errors, margin: 0.002, direction: up}\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := compare.Options{Gates: []string{"rate", "p99", "errors"}, Margins: map[string]float64{"rate": 0.05, "errors": 0.002}, Alpha: 0.01, AcceptDifferences: true}
	if !reflect.DeepEqual(g.options, want) || !g.strict || g.baseline != "main.json" {
		t.Errorf("got %+v, want %+v", g, want)
	}
	if want := []gateRule{{"rate", "worse"}, {"p99", "either"}, {"errors", "up"}}; !reflect.DeepEqual(g.gates, want) {
		t.Errorf("got %v, want %v", g.gates, want)
	}
}

// TestGateFileMistakes: each has its file and line, and all are told at once.
func TestGateFileMistakes(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"empty", " \n", "g.yaml:1: empty"},
		{"not YAML", "gates: [\n", "g.yaml:"},
		{"a list", "- a\n", "g.yaml:1:1: want a mapping"},
		{"no version", "metrics: [{metric: rate}]\n", "g.yaml:1:1: gates is missing"},
		{"another version", "gates: 2\nmetrics: [{metric: rate}]\n", `g.yaml:1:8: found "2"; want 1`},
		{"no metrics", "gates: 1\n", "g.yaml:1:1: metrics is missing"},
		{"none of them", "gates: 1\nmetrics: []\n", "g.yaml:2:10: metrics: want at least one"},
		{"an unknown key", "gates: 1\nmetric: []\nmetrics: [{metric: rate}]\n", `g.yaml:2:1: unknown key "metric" (allowed: accept-differences, alpha, baseline, cannot-tell, gates, metrics)`},
		{"a key twice", "gates: 1\ngates: 1\nmetrics: [{metric: rate}]\n", "g.yaml:2"},
		{"an unknown metric", "gates: 1\nmetrics:\n  - {metric: speed}\n", `g.yaml:3:14: metric "speed"`},
		{"one without a better", "gates: 1\nmetrics:\n  - {metric: asked}\n", "more of it is neither better nor worse"},
		{"a metric twice", "gates: 1\nmetrics:\n  - {metric: rate}\n  - {metric: rate}\n", "g.yaml:4:14: rate has a gate already"},
		{"no metric", "gates: 1\nmetrics:\n  - {margin: 1%}\n", "g.yaml:3:5: metric is missing"},
		{"a margin below 0", "gates: 1\nmetrics:\n  - {metric: rate, margin: -1%}\n", "g.yaml:3:28: found"},
		{"a margin that is none", "gates: 1\nmetrics:\n  - {metric: rate, margin: NaN}\n", "g.yaml:3:28: found"},
		{"a direction", "gates: 1\nmetrics:\n  - {metric: rate, direction: sideways}\n", "want worse or up or down or either"},
		{"an alias", "gates: 1\nmetrics: &a [*a]\n", "g.yaml:2"},
	}
	for _, tt := range tests {
		if _, err := parseGates("g.yaml", []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
	_, err := parseGates("g.yaml", []byte("gates: 2\nmetrics: [{metric: speed}]\nmore: 1\n"))
	if err == nil || strings.Count(err.Error(), "g.yaml:") != 3 {
		t.Errorf("got %v, want three mistakes", err)
	}
}

func FuzzGateFile(f *testing.F) {
	f.Add([]byte("gates: 1\nmetrics: [{metric: rate, margin: 5%, direction: up}]\n"))
	f.Add([]byte("gates: 1\nmetrics: &a [*a]\n"))
	f.Add([]byte("a: !!binary x\n---\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		g, err := parseGates("g.yaml", text)
		if (g == nil) == (err == nil) {
			t.Fatalf("got %v and %v", g, err)
		}
		if err == nil && (len(g.gates) == 0 || len(g.gates) != len(g.options.Gates)) {
			t.Fatalf("accepted %q without gates", text)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "g.yaml:") {
			t.Fatalf("a mistake without a place: %v", err)
		}
	})
}

// compared is a comparison whose only metric changed from a to b.
func compared(t *testing.T, metric string, a, b []float64, margin float64) *compare.Result {
	t.Helper()
	q, err := compare.Parse(metric)
	if err != nil {
		t.Fatal(err)
	}
	q.Margin = margin
	m := q.Judge(a, b, compare.Setting{})
	m.Gate = true
	return &compare.Result{Comparisons: []compare.Comparison{{A: "main", B: "branch", Metrics: []compare.Metric{m}}}}
}

func TestGateVerdicts(t *testing.T) {
	low, high := []float64{100, 101, 102, 103, 104, 105, 106}, []float64{200, 201, 202, 203, 204, 205, 206}
	tests := []struct {
		name, metric, direction string
		a, b                    []float64
		strict                  bool
		want                    report.GateState
	}{
		{"the rate fell", "rate", "worse", high, low, false, report.Failed},
		{"the rate rose", "rate", "worse", low, high, false, report.Passed},
		{"p99 rose", "p99", "worse", low, high, false, report.Failed},
		{"p99 fell", "p99", "worse", high, low, false, report.Passed},
		{"p99 rose, a fall fails", "p99", "down", low, high, false, report.Passed},
		{"p99 fell, a fall fails", "p99", "down", high, low, false, report.Failed},
		{"the rate rose, a rise fails", "rate", "up", low, high, false, report.Failed},
		{"the rate fell, a rise fails", "rate", "up", high, low, false, report.Passed},
		{"either way, better", "rate", "either", low, high, false, report.Failed},
		{"either way, the same", "rate", "either", low, low, false, report.Passed},
		{"too few runs", "rate", "worse", high[:2], low[:2], false, report.Unclear},
		{"too few runs, strictly", "rate", "worse", high[:2], low[:2], true, report.Failed},
		{"no run", "rate", "worse", high, nil, false, report.Failed},
	}
	for _, tt := range tests {
		g := &gateFile{gates: []gateRule{{tt.metric, tt.direction}}, strict: tt.strict}
		all := g.judge(compared(t, tt.metric, tt.a, tt.b, 0.2))
		if len(all) != 1 || all[0].State != tt.want || all[0].Reason == "" {
			t.Errorf("%s: got %+v, want %s with a reason", tt.name, all, tt.want)
		}
		if got, want := statusOf(g.verdict(all)), map[bool]int{true: exitVerdict, false: exitGood}[tt.want == report.Failed]; got != want {
			t.Errorf("%s: got status %d, want %d", tt.name, got, want)
		}
	}
	g := &gateFile{gates: []gateRule{{"p50", "worse"}}}
	if all := g.judge(compared(t, "rate", low, low, 0.2)); all[0].State != report.Failed {
		t.Errorf("a gate that was not compared: got %+v", all)
	}
}

// TestShareFlags holds a run against a stored baseline and writes its reports, as
// the commands that make results do.
func TestShareFlags(t *testing.T) {
	dir := t.TempDir()
	gates, file := filepath.Join(dir, "g.yaml"), filepath.Join(dir, "g.xml")
	write := func(text string) {
		if err := os.WriteFile(gates, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	f := shareFlags{gate: gates, reports: []string{file, filepath.Join(dir, "r.md")}}
	finish := func(v result.Verdict) (int, error) {
		err := f.finish(storedRun(t, v), nil, nil, dir, streams{})
		return statusOf(err), err
	}
	write("gates: 1\nmetrics: [{metric: rate}]\n")
	if status, err := finish(result.Valid); status != exitUsage || !strings.Contains(err.Error(), "name a baseline") {
		t.Errorf("without a baseline: got %v", err)
	}
	if err := writeReport(filepath.Join(dir, "main.json"), storedRun(t, result.Valid), nil, report.English, streams{}); err != nil {
		t.Fatal(err)
	}
	write("gates: 1\nbaseline: main.json\nmetrics: [{metric: rate}]\n")
	if err := f.check(); err != nil {
		t.Error(err)
	}
	for v, want := range map[result.Verdict]struct {
		status int
		text   string
	}{result.Valid: {exitGood, "<skipped message=\"cannot tell"}, result.Invalid: {exitVerdict, "type=\"gate\""}} {
		status, err := finish(v)
		if b, e := os.ReadFile(file); status != want.status || e != nil || !strings.Contains(string(b), want.text) {
			t.Errorf("one %s run against one: got status %d (%v), want %d and %s in\n%s", v, status, err, want.status, want.text, b)
		}
	}
	for name, bad := range map[string]shareFlags{"a form": {reports: []string{"r.doc"}}, "a folder": {reports: []string{dir + "/none/r.md"}}, "a language": {lang: "tlh"},
		"a baseline alone": {baseline: "last"}, "a file": {gate: dir + "/none.yaml"}} {
		if got := statusOf(bad.check()); got != exitUsage {
			t.Errorf("%s: got status %d, want %d", name, got, exitUsage)
		}
	}
	if err := (&shareFlags{}).finish(storedRun(t, result.Invalid), nil, nil, dir, streams{}); err != nil {
		t.Errorf("nothing asked for: got %v", err)
	}
}

// TestTakeGateFile: --gate of a comparison is a file or the name of a metric.
func TestTakeGateFile(t *testing.T) {
	for value, want := range map[string]bool{"rate": false, "cpu.app": false, "gates.yaml": true, "ci/gates": true, "g.yml": true} {
		if isGateFile(value) != want {
			t.Errorf("%s: got %v, want %v", value, !want, want)
		}
	}
	file := filepath.Join(t.TempDir(), "g.yaml")
	if err := os.WriteFile(file, []byte("gates: 1\nalpha: 1%\nmetrics: [{metric: rate, margin: 5%}, {metric: p99, margin: 7%}]\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	o := compare.Options{Gates: []string{file}, Margins: map[string]float64{"rate": 0.2}, Alpha: 0.05}
	g, err := takeGateFile(&o)
	want := compare.Options{Gates: []string{"rate", "p99"}, Margins: map[string]float64{"rate": 0.2, "p99": 0.07}, Alpha: 0.01}
	if err != nil || g == nil || !reflect.DeepEqual(o, want) {
		t.Errorf("got %+v and %v, want %+v", o, err, want)
	}
	o = compare.Options{Gates: []string{"rate", file}}
	if _, err := takeGateFile(&o); err == nil || !strings.Contains(err.Error(), "stands alone") {
		t.Errorf("a file beside a metric: got %v", err)
	}
	o = compare.Options{Gates: []string{"rate"}}
	if g, err := takeGateFile(&o); g != nil || err != nil {
		t.Errorf("a metric: got %v and %v", g, err)
	}
}
